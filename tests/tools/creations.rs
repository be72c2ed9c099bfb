//! How many channels agents may create.

use std::time::Duration;

use dirigent::settings::{CreationLimits, Pace};
use dirigent::tools::ToolError;
use dirigent::{ChannelId, Mode, Settings};
use dirigent_testkit::memory_discord::{Call, Fault};
use dirigent_verify::stage::{Begun, Stage, StoreFault};
use serde_json::{Value, json};

use super::{
    SECOND, assert_refused, call, channels_of, desk_with, id, session, stage_with_channel_manager,
    terms,
};

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

/// Nothing but this limit.
fn only(change: impl Fn(&mut CreationLimits)) -> impl FnOnce(&mut Settings) {
    move |settings| {
        settings.creations = CreationLimits::off();
        change(&mut settings.creations);
    }
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
    let mut stage = desk_with(only(|limits| limits.agent = THREE_AN_HOUR));
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
fn all_agents_of_a_guild_share_its_limit() {
    let mut stage = desk_with(only(|limits| limits.guild = THREE_AN_HOUR));
    for agent in ["a", "b", "c"] {
        work(&mut stage, agent).unwrap();
    }
    let message = assert_refused(work(&mut stage, "a"), "creation-limit");
    assert!(message.contains("all agents together in this Discord server"), "{message}");
    assert_eq!(creations(&stage), 3);
    stage.advance(HOUR);
    work(&mut stage, "a").unwrap();
}

#[test]
fn what_surely_created_nothing_does_not_count_and_what_is_in_doubt_does() {
    let nothing = [Fault::Forbidden, Fault::RateLimited { retry_after: SECOND }];
    let doubt = [Fault::LostAnswer, Fault::ServerErrorApplied];
    for (faults, code) in [(nothing, "creation-refused"), (doubt, "creation-in-doubt")] {
        let mut stage = desk_with(only(|limits| limits.agent = THREE_AN_HOUR));
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
    let mut stage = desk_with(only(|limits| limits.agent = THREE_AN_HOUR));
    stage.store().with_rate(StoreFault::Fails, 1_000, 1);
    for _ in 0..3 {
        assert_refused(work(&mut stage, "a"), "not-stored");
    }
    stage.store().stop_faults();
    assert_refused(work(&mut stage, "a"), "creation-limit");
}

#[test]
fn a_creation_that_is_given_up_counts() {
    let mut stage = desk_with(only(|limits| limits.agent = THREE_AN_HOUR));
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
fn no_more_channels_are_open_in_a_guild_than_the_host_allows() {
    let mut stage = desk_with(only(|limits| limits.open = Some(3)));
    stage.discord().guild(stage.guild()).set_administrator(stage.moderator(), true);
    let chat = id(&create(&mut stage, "a", "create-chat-channel").unwrap(), "channelId");
    let discussion =
        id(&create(&mut stage, "a", "create-discussion-channel").unwrap(), "discussionChannel");
    let report = id(&create(&mut stage, "b", "create-report-channel").unwrap(), "channelId");
    for tool in TOOLS {
        let message = assert_refused(create(&mut stage, "c", tool), "open-limit");
        assert!(message.contains("while 3 private channels"), "{message}");
    }
    assert_eq!(creations(&stage), 3, "nothing was asked of Discord");
    // One of each way in which a channel stops being open makes room for one.
    stage.call(move |d| async move { d.channel(discussion).archive().await }).unwrap();
    work(&mut stage, "c").unwrap();
    assert_refused(work(&mut stage, "c"), "open-limit");
    stage.call(move |d| async move { d.channel(report).set_mode(Mode::None).await }).unwrap();
    work(&mut stage, "c").unwrap();
    assert_refused(work(&mut stage, "c"), "open-limit");
    delete(&mut stage, chat);
    work(&mut stage, "c").unwrap();
    assert_refused(work(&mut stage, "c"), "open-limit");
}

fn delete(stage: &mut Stage, channel: ChannelId) {
    use dirigent::ports::GuildApi as _;
    let owner = stage.discord().account(stage.moderator());
    stage.call(move |_| async move { owner.delete_channel(channel).await }).unwrap();
}

#[test]
fn the_open_channels_are_counted_after_a_restart_too() {
    let mut stage = desk_with(only(|limits| limits.open = Some(3)));
    for _ in 0..3 {
        work(&mut stage, "a").unwrap();
    }
    stage.crash();
    stage.restart();
    assert_refused(work(&mut stage, "a"), "open-limit");
}

#[test]
fn a_record_that_cannot_be_used_counts_as_an_open_channel() {
    let mut stage = desk_with(only(|limits| limits.open = Some(1)));
    let channel = id(&work(&mut stage, "a").unwrap(), "channelId");
    stage.crash();
    stage.store().bar(channel, dirigent::store::Barred::Damaged);
    stage.restart();
    assert_refused(work(&mut stage, "a"), "open-limit");
}

#[test]
fn agents_leave_channels_of_a_guild_to_people() {
    let mut stage = desk_with(only(|limits| limits.total = Some(4)));
    stage.discord().guild(stage.guild()).set_administrator(stage.moderator(), true);
    let present = channels_of(&mut stage).len();
    for _ in present..4 {
        let discussion = create(&mut stage, "a", "create-discussion-channel").unwrap();
        let discussion = id(&discussion, "discussionChannel");
        stage.call(move |d| async move { d.channel(discussion).archive().await }).unwrap();
    }
    for tool in TOOLS {
        let message = assert_refused(create(&mut stage, "b", tool), "guild-full");
        assert!(message.contains("has 4 channels or more"), "{message}");
    }
    assert_eq!(channels_of(&mut stage).len(), 4, "what is archived is a channel still");
}

#[test]
fn of_two_that_ask_at_once_for_the_last_place_one_gets_it() {
    let mut stage = desk_with(only(|limits| limits.open = Some(1)));
    let slow = Fault::SlowAnswer { by: 5 * SECOND };
    stage.discord().inject(|faults| {
        faults.next(Call::Channels, slow);
        faults.next(Call::Channels, slow);
    });
    let calls: Vec<_> = ["a", "b"].map(|agent| begin_work(&mut stage, agent)).into();
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
fn what_is_being_created_counts_as_open() {
    let mut stage = desk_with(only(|limits| limits.open = Some(1)));
    let slow = Fault::SlowAnswer { by: 20 * SECOND };
    stage.discord().inject(|faults| faults.next(Call::CreateChannel, slow));
    let first = begin_work(&mut stage, "a");
    stage.settle();
    assert_refused(work(&mut stage, "b"), "open-limit");
    stage.advance(30 * SECOND);
    first.take().unwrap().unwrap();
    assert_eq!(creations(&stage), 1);
}

#[test]
fn where_the_open_channels_cannot_be_counted_nothing_is_created() {
    let mut stage = stage_with_channel_manager();
    stage.discord().inject(|faults| faults.next(Call::Channels, Fault::Forbidden));
    assert_refused(work(&mut stage, "a"), "failed");
    assert_eq!(creations(&stage), 0);
}

#[test]
fn a_limit_of_nothing_allows_none_and_says_that_waiting_does_not_help() {
    let none = Some(Pace { burst: 0, window: HOUR });
    let by_agent = desk_with(only(|limits| limits.agent = none));
    let by_guild = desk_with(only(|limits| limits.guild = none));
    for mut stage in [by_agent, by_guild] {
        let message = assert_refused(work(&mut stage, "a"), "creation-limit");
        assert!(message.contains("will not help"), "{message}");
    }
    let mut stage = desk_with(only(|limits| limits.open = Some(0)));
    assert_refused(work(&mut stage, "a"), "open-limit");
}

#[test]
fn without_limits_as_many_channels_are_created_as_are_asked_for() {
    let mut stage = desk_with(only(|_| {}));
    for _ in 0..60 {
        work(&mut stage, "a").unwrap();
    }
    assert_eq!(stage.discord().calls().of(Call::Channels), 0, "nothing is counted");
}
