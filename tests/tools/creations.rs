//! How many channels agents may create.

use std::time::Duration;

use dirigent::settings::Pace;
use dirigent::tools::ToolError;
use dirigent_testkit::memory_discord::{Call, Fault};
use dirigent_verify::stage::{Begun, Stage, StoreFault};
use serde_json::{Value, json};

use super::{SECOND, assert_refused, call, desk_with, session, stage_with_channel_manager, terms};

const HOUR: Duration = Duration::from_secs(3_600);

const THREE_AN_HOUR: Option<Pace> = Some(Pace { burst: 3, window: HOUR });

const TOOLS: [&str; 4] = [
    "create-chat-channel",
    "create-report-channel",
    "create-work-channel",
    "create-discussion-channel",
];

fn create(stage: &mut Stage, agent: &str, tool: &'static str) -> Result<Value, ToolError> {
    let arguments = match tool {
        "create-discussion-channel" => terms(stage, &["b"]),
        _ => json!({ "name": "x" }),
    };
    let caller = session(stage, agent);
    call(stage, &caller, tool, arguments)
}

fn work(stage: &mut Stage, agent: &str) -> Result<Value, ToolError> {
    create(stage, agent, "create-work-channel")
}

fn creations(stage: &Stage) -> u64 {
    stage.discord().calls().of(Call::CreateChannel)
}

/// With this limit.
fn limited(to: Option<Pace>) -> Stage {
    desk_with(move |settings| settings.limits.creations = to)
}

#[test]
fn an_agent_creates_five_channels_an_hour_with_whatever_tool() {
    for tool in TOOLS {
        let mut stage = stage_with_channel_manager();
        stage.discord().guild(stage.guild()).set_administrator(stage.moderator(), true);
        for other in TOOLS.into_iter().chain(["create-chat-channel"]) {
            create(&mut stage, "a", other).unwrap();
        }
        let message = assert_refused(create(&mut stage, "a", tool), "creation-limit");
        assert!(message.contains("at most 5 channels within 60 min"), "{message}");
        assert_eq!(creations(&stage), 5, "nothing was asked of Discord");
        create(&mut stage, "b", tool).unwrap();
    }
}

#[test]
fn the_agent_is_told_when_it_may_create_again_and_then_it_may() {
    let mut stage = limited(THREE_AN_HOUR);
    for _ in 0..3 {
        work(&mut stage, "a").unwrap();
        stage.advance(600 * SECOND);
    }
    let Err(ToolError::CreationLimit { retry_after: Some(wait), .. }) = work(&mut stage, "a")
    else {
        panic!("the limit is reached");
    };
    assert_eq!(wait, 1_800 * SECOND, "the first was created half an hour ago");
    stage.advance(1_799 * SECOND);
    assert_refused(work(&mut stage, "a"), "creation-limit");
    stage.advance(SECOND);
    work(&mut stage, "a").unwrap();
    assert_refused(work(&mut stage, "a"), "creation-limit");
}

#[test]
fn what_surely_created_nothing_does_not_count_and_what_is_in_doubt_does() {
    let nothing = [Fault::Forbidden, Fault::RateLimited { retry_after: SECOND }];
    let doubt = [Fault::LostAnswer, Fault::ServerErrorApplied];
    for (faults, code) in [(nothing, "creation-refused"), (doubt, "creation-in-doubt")] {
        let mut stage = limited(THREE_AN_HOUR);
        for fault in faults {
            stage.discord().inject(|faults| faults.next(Call::CreateChannel, fault));
            assert_refused(work(&mut stage, "a"), code);
            stage.advance(SECOND);
        }
        let counted = if code == "creation-in-doubt" { 2 } else { 0 };
        for _ in counted..3 {
            work(&mut stage, "a").unwrap();
        }
        assert_refused(work(&mut stage, "a"), "creation-limit");
    }
}

#[test]
fn a_channel_that_was_created_and_deleted_again_counts() {
    let mut stage = limited(THREE_AN_HOUR);
    stage.store().with_rate(StoreFault::Fails, 1_000, 1);
    for _ in 0..3 {
        assert_refused(work(&mut stage, "a"), "not-stored");
    }
    stage.store().stop_faults();
    assert_refused(work(&mut stage, "a"), "creation-limit");
}

#[test]
fn a_creation_that_is_given_up_counts() {
    let mut stage = limited(THREE_AN_HOUR);
    for _ in 0..2 {
        work(&mut stage, "a").unwrap();
    }
    let slow = Fault::SlowAnswer { by: 20 * SECOND };
    stage.discord().inject(|faults| faults.next(Call::CreateChannel, slow));
    let (caller, guild_api) = (session(&stage, "a"), stage.discord().account(stage.moderator()));
    stage.call(|dirigent| async move {
        let tools = dirigent::tools::Tools::new(dirigent, std::sync::Arc::new(guild_api));
        let arguments = json!({ "name": "x" });
        let call = tools.call(&caller, "create-work-channel", &arguments);
        futures_util::future::select(Box::pin(call), std::future::ready(())).await;
    });
    assert_refused(work(&mut stage, "a"), "creation-limit");
}

#[test]
fn of_two_that_ask_at_once_for_the_last_place_one_gets_it() {
    let mut stage = limited(Some(Pace { burst: 1, window: HOUR }));
    let slow = Fault::SlowAnswer { by: 5 * SECOND };
    stage.discord().inject(|faults| faults.next(Call::CreateChannel, slow));
    let calls: Vec<_> = [(), ()].map(|()| begin_work(&mut stage, "a")).into();
    stage.advance(10 * SECOND);
    let answers: Vec<_> = calls.iter().map(|call| call.take().unwrap().is_ok()).collect();
    assert_eq!(answers, [true, false]);
    assert_eq!(creations(&stage), 1);
}

/// Begins a call of `create-work-channel` and does not wait for its end.
fn begin_work(stage: &mut Stage, agent: &str) -> Begun<Result<Value, ToolError>> {
    let (caller, guild_api) = (session(stage, agent), stage.discord().account(stage.moderator()));
    stage.begin(|dirigent| async move {
        let tools = dirigent::tools::Tools::new(dirigent, std::sync::Arc::new(guild_api));
        tools.call(&caller, "create-work-channel", &json!({ "name": "x" })).await
    })
}

#[test]
fn a_limit_of_nothing_allows_none_and_says_that_waiting_does_not_help() {
    let none = Some(Pace { burst: 0, window: HOUR });
    let mut stage = limited(none);
    let message = assert_refused(work(&mut stage, "a"), "creation-limit");
    assert!(message.contains("will not help"), "{message}");
    assert_eq!(creations(&stage), 0);
}

#[test]
fn without_limits_as_many_channels_are_created_as_are_asked_for() {
    let mut stage = limited(None);
    for _ in 0..60 {
        work(&mut stage, "a").unwrap();
    }
    assert_eq!(creations(&stage), 60);
}
