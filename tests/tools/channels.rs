//! `create-chat-channel`, `create-report-channel` and `create-work-channel`.

use std::time::Duration;

use dirigent::ports::{AuthorKind, Nonce, Post};
use dirigent::snapshot::TurnState;
use dirigent::tools::Caller;
use dirigent::{DiscordApi, Mode, UserId};
use dirigent_testkit::memory_discord::{Call, Fault};
use dirigent_verify::stage::{Stage, StoreFault};
use serde_json::{Value, json};

use super::{
    SECOND, assert_refused, call, channels_in, channels_of, desk_with, id, ids, session,
    stage_with_channel_manager, user,
};

const TOOLS: [(&str, &str, Mode); 3] = [
    ("create-chat-channel", "participants", Mode::Chat),
    ("create-report-channel", "members", Mode::Report),
    ("create-work-channel", "members", Mode::Work),
];

fn chat(stage: &mut Stage, members: &[UserId]) -> Value {
    let caller = session(stage, "a");
    let arguments = json!({ "name": "tea", "participants": ids(members.iter().copied()) });
    call(stage, &caller, "create-chat-channel", arguments).unwrap()
}

fn creations(stage: &Stage) -> u64 {
    stage.discord().calls().of(Call::CreateChannel)
}

/// R047, R050, R051
#[test]
fn each_tool_creates_a_channel_in_the_callers_guild_and_records_its_mode() {
    let mut stage = stage_with_channel_manager();
    let elsewhere = stage.discord().add_guild(stage.person());
    stage.discord().guild(elsewhere).set_channel_manager(stage.moderator(), true);
    for agent in ["a", "b", "c"] {
        stage.discord().guild(elsewhere).add_member(user(&stage, agent));
    }
    for (tool, list, mode) in TOOLS {
        let caller = Caller { guild: Some(elsewhere), ..Caller::new("a") };
        let arguments = json!({ "name": " the-room ", list: [user(&stage, "b")] });
        let answer = call(&mut stage, &caller, tool, arguments).unwrap();
        let channel = id(&answer, "channelId");
        assert!(channels_in(&mut stage, elsewhere).contains(&channel));
        assert_eq!(stage.status_of(channel).unwrap().mode, mode);
        assert_eq!(answer["mode"], mode.as_str());
        assert_eq!(answer["name"], "the-room");
        assert_eq!(answer["members"], ids([user(&stage, "b"), user(&stage, "a")]));
        assert_eq!(answer["unregistered"], json!([]));
        assert_eq!(answer["callerAdded"], true);
        assert_eq!(answer["warnings"], json!([]));
    }
}

/// R051
#[test]
fn a_work_channel_keeps_its_mode_for_good() {
    let mut stage = stage_with_channel_manager();
    let caller = session(&stage, "a");
    let answer = call(&mut stage, &caller, "create-work-channel", json!({ "name": "x" })).unwrap();
    let channel = id(&answer, "channelId");
    assert!(stage.discord().channel(channel).audience().contains(&user(&stage, "a")));
    let set = stage.call(move |d| async move { d.channel(channel).set_mode(Mode::Chat).await });
    assert!(set.is_err());
}

/// R048, R049, R050
#[test]
fn moderator_caller_and_members_see_the_channel_and_may_write_in_it() {
    let mut stage = desk_with(|settings| settings.limits.creations = None);
    for (tool, list, _) in TOOLS {
        for named in [vec![], vec![user(&stage, "c"), stage.person()]] {
            let caller = session(&stage, "a");
            let arguments = match named.as_slice() {
                [] => json!({ "name": "x" }),
                some => json!({ "name": "x", list: ids(some.iter().copied()) }),
            };
            let channel = id(&call(&mut stage, &caller, tool, arguments).unwrap(), "channelId");
            let mut expected = named.clone();
            expected.extend([stage.moderator(), user(&stage, "a")]);
            for (at, account) in expected.into_iter().enumerate() {
                let api = stage.discord().account(account);
                let nonce = Nonce::from_parts(channel.get(), 0, at.try_into().unwrap());
                let post = Post::new(channel, "I can write here", nonce);
                stage.call(move |_| async move { api.post(post).await }).unwrap();
            }
        }
    }
}

/// R052, D21
#[test]
fn nobody_else_sees_the_channel() {
    let mut stage = stage_with_channel_manager();
    let outsider = stage.discord().add_human();
    stage.discord().guild(stage.guild()).add_member(outsider);
    for (tool, list, _) in TOOLS {
        let caller = session(&stage, "a");
        let arguments = json!({ "name": "x", list: [user(&stage, "b")] });
        let channel = id(&call(&mut stage, &caller, tool, arguments).unwrap(), "channelId");
        let mut expected =
            vec![stage.moderator(), stage.person(), user(&stage, "a"), user(&stage, "b")];
        expected.sort_unstable();
        assert_eq!(
            stage.discord().channel(channel).audience(),
            expected,
            "the person owns the guild"
        );
    }
}

/// R053
#[test]
fn when_discord_refuses_nothing_is_recorded() {
    let refusals = [
        (Fault::Forbidden, "creation-refused"),
        (Fault::Gone, "creation-refused"),
        (Fault::Unauthorized, "creation-refused"),
        (Fault::RateLimited { retry_after: SECOND * 3 }, "creation-refused"),
        (Fault::NotDelivered, "creation-in-doubt"),
        (Fault::ServerErrorNotApplied, "creation-in-doubt"),
    ];
    for (tool, _, _) in TOOLS {
        for (fault, code) in refusals {
            let mut stage = stage_with_channel_manager();
            let before = channels_of(&mut stage);
            stage.discord().inject(|faults| faults.next(Call::CreateChannel, fault));
            let caller = session(&stage, "a");
            let message =
                assert_refused(call(&mut stage, &caller, tool, json!({ "name": "x" })), code);
            if let Fault::RateLimited { .. } = fault {
                assert!(message.contains("3000 ms") && message.contains("later"), "{message}");
            }
            assert_eq!(creations(&stage), 1, "a creation is not repeated");
            assert_eq!(channels_of(&mut stage), before);
            assert!(stage.store().known().is_empty());
        }
    }
}

/// R053
#[test]
fn a_moderator_without_the_permission_creates_nothing() {
    let mut stage = stage_with_channel_manager();
    stage.discord().guild(stage.guild()).set_channel_manager(stage.moderator(), false);
    let caller = session(&stage, "a");
    let answer = call(&mut stage, &caller, "create-chat-channel", json!({ "name": "x" }));
    let message = assert_refused(answer, "creation-refused");
    assert!(message.contains("permission"), "{message}");
    assert!(stage.store().known().is_empty());
}

/// R053
#[test]
fn a_lost_answer_is_told_as_doubt_with_the_channels_name() {
    let lost =
        [Fault::LostAnswer, Fault::ServerErrorApplied, Fault::SlowAnswer { by: SECOND * 40 }];
    for fault in lost {
        let mut stage = stage_with_channel_manager();
        stage.discord().inject(|faults| faults.next(Call::CreateChannel, fault));
        let caller = session(&stage, "a");
        let arguments = json!({ "name": "tea room" });
        let answer = call(&mut stage, &caller, "create-chat-channel", arguments);
        let message = assert_refused(answer, "creation-in-doubt");
        assert!(message.contains("\"tea room\" may exist"), "{message}");
        assert_eq!(creations(&stage), 1);
        assert!(stage.store().known().is_empty());
    }
}

/// R054, D24
#[test]
fn when_the_mode_cannot_be_stored_the_channel_is_removed_again() {
    for (tool, _, _) in TOOLS {
        let mut stage = stage_with_channel_manager();
        let before = channels_of(&mut stage);
        stage.store().with_rate(StoreFault::Fails, 1_000, 1);
        let caller = session(&stage, "a");
        assert_refused(call(&mut stage, &caller, tool, json!({ "name": "x" })), "not-stored");
        assert_eq!(creations(&stage), 1);
        assert_eq!(channels_of(&mut stage), before);
    }
}

/// R054, D24
#[test]
fn removing_it_is_repeated_where_that_helps() {
    for fault in [Fault::ServerErrorNotApplied, Fault::LostAnswer] {
        let mut stage = stage_with_channel_manager();
        let before = channels_of(&mut stage);
        stage.store().with_rate(StoreFault::Fails, 1_000, 1);
        stage.discord().inject(|faults| faults.next(Call::DeleteChannel, fault));
        let caller = session(&stage, "a");
        let answer = call(&mut stage, &caller, "create-work-channel", json!({ "name": "x" }));
        assert_refused(answer, "not-stored");
        assert_eq!(channels_of(&mut stage), before);
    }
}

/// R054, D24
#[test]
fn a_channel_that_cannot_be_removed_is_named() {
    let mut stage = stage_with_channel_manager();
    let before = channels_of(&mut stage);
    stage.store().with_rate(StoreFault::Fails, 1_000, 1);
    stage.discord().inject(|faults| faults.next(Call::DeleteChannel, Fault::Forbidden));
    let caller = session(&stage, "a");
    let answer = call(&mut stage, &caller, "create-chat-channel", json!({ "name": "x" }));
    let message = assert_refused(answer, "left-behind");
    let left = channels_of(&mut stage);
    let orphan = left.into_iter().find(|channel| !before.contains(channel)).unwrap();
    assert!(message.contains(&orphan.to_string()), "{message}");
}

/// R055, D22
#[test]
fn without_a_guild_or_the_moderator_in_it_nothing_is_created() {
    for (tool, _, _) in TOOLS {
        let mut stage = stage_with_channel_manager();
        let direct = Caller { guild: None, ..session(&stage, "a") };
        let arguments = json!({ "name": "x" });
        assert_refused(call(&mut stage, &direct, tool, arguments.clone()), "not-in-guild");
        let foreign = stage.discord().add_guild(stage.person());
        let elsewhere = Caller { guild: Some(foreign), ..session(&stage, "a") };
        assert_refused(call(&mut stage, &elsewhere, tool, arguments.clone()), "moderator-missing");
        stage.discord().inject(|faults| faults.next(Call::IsAdministrator, Fault::Forbidden));
        let caller = session(&stage, "a");
        assert_refused(call(&mut stage, &caller, tool, arguments), "moderator-missing");
        assert_eq!(creations(&stage), 0);
        assert!(stage.store().known().is_empty());
    }
}

/// R055
#[test]
fn a_guild_that_does_not_answer_is_asked_again() {
    let mut stage = stage_with_channel_manager();
    stage.discord().inject(|f| f.next(Call::IsAdministrator, Fault::ServerErrorNotApplied));
    let caller = session(&stage, "a");
    call(&mut stage, &caller, "create-chat-channel", json!({ "name": "x" })).unwrap();
    stage.discord().inject(|faults| {
        for _ in 0..10 {
            faults.next(Call::IsAdministrator, Fault::ServerErrorNotApplied);
        }
    });
    let answer = call(&mut stage, &caller, "create-chat-channel", json!({ "name": "x" }));
    assert_refused(answer, "failed");
    assert_eq!(creations(&stage), 1);
}

/// R056, D82
#[test]
fn accounts_named_twice_count_once_and_the_moderator_is_no_member() {
    let mut stage = stage_with_channel_manager();
    let (a, b, moderator) = (user(&stage, "a"), user(&stage, "b"), stage.moderator());
    let answer = chat(&mut stage, &[b, moderator, b, a, b, a]);
    assert_eq!(answer["members"], ids([b, a]));
    assert_eq!(stage.status_of(id(&answer, "channelId")).unwrap().turn_state, TurnState::Normal);
}

/// R049, D82
#[test]
fn people_and_unregistered_accounts_are_members_and_are_reported() {
    let mut stage = stage_with_channel_manager();
    let stranger = stage.discord().add_bot();
    stage.discord().guild(stage.guild()).add_member(stranger);
    let (b, person) = (user(&stage, "b"), stage.person());
    let answer = chat(&mut stage, &[person, b, stranger]);
    assert_eq!(answer["unregistered"], ids([person, stranger]));
    let channel = id(&answer, "channelId");
    assert!(stage.discord().channel(channel).audience().contains(&stranger));
    assert_eq!(stage.status_of(channel).unwrap().list.len(), 2);
}

/// R049
#[test]
fn the_agents_speak_first_in_the_order_in_which_they_were_named() {
    let mut stage = stage_with_channel_manager();
    let named = [user(&stage, "c"), stage.person(), user(&stage, "b")];
    let answer = chat(&mut stage, &named);
    let channel = id(&answer, "channelId");
    stage.say_in(channel, "Good morning");
    stage.until("all have spoken", move |stage| stage.words_in(channel).len() == 4);
    assert_eq!(stage.words_in(channel), ["Good morning", "c1", "b1", "a1"], "the caller is last");
}

/// R051, D20
#[test]
fn a_caller_without_an_identity_is_not_added_and_is_told_so() {
    let mut stage = stage_with_channel_manager();
    for (tool, list, _) in TOOLS {
        let caller = session(&stage, "nobody");
        let arguments = json!({ "name": "x", list: [user(&stage, "b"), user(&stage, "c")] });
        let answer = call(&mut stage, &caller, tool, arguments).unwrap();
        assert_eq!(answer["callerAdded"], false);
        assert_eq!(answer["members"].as_array().unwrap().len(), 2);
    }
}

#[test]
fn a_chat_with_fewer_than_two_agents_comes_with_a_warning() {
    let mut stage = stage_with_channel_manager();
    let person = stage.person();
    let answer = chat(&mut stage, &[person]);
    assert!(answer["warnings"][0].as_str().unwrap().contains("fewer than two"));
    let channel = id(&answer, "channelId");
    assert_eq!(stage.status_of(channel).unwrap().turn_state, TurnState::Disabled);
    let caller = session(&stage, "a");
    let work = call(&mut stage, &caller, "create-work-channel", json!({ "name": "x" })).unwrap();
    assert_eq!(work["warnings"], json!([]), "nobody is given turns there anyway");
}

/// R056
#[test]
fn more_members_than_a_channel_takes_are_refused_before_anything_is_created() {
    let mut stage = stage_with_channel_manager();
    let many: Vec<_> = (0..64).map(|at| UserId::new(900_000_000_000_000_000 + at)).collect();
    for account in &many {
        stage.discord().add_account(*account, AuthorKind::Human);
        stage.discord().guild(stage.guild()).add_member(*account);
    }
    for (tool, list, _) in TOOLS {
        let caller = session(&stage, "a");
        let arguments = json!({ "name": "x", list: ids(many.iter().copied()) });
        let message =
            assert_refused(call(&mut stage, &caller, tool, arguments), "too-many-members");
        assert!(message.contains("64"), "{message}");
        assert_eq!(creations(&stage), 0);
    }
    let most = &many[..63];
    let named = most.iter().chain(most).copied().chain([stage.moderator()]);
    let named: Vec<_> = named.collect();
    assert_eq!(chat(&mut stage, &named)["members"].as_array().unwrap().len(), 64);
}

/// R053, D82
#[test]
fn accounts_that_are_not_in_the_guild_are_named() {
    let mut stage = stage_with_channel_manager();
    let (one, two) = (stage.discord().add_human(), stage.discord().add_bot());
    let caller = session(&stage, "a");
    let arguments = json!({ "name": "x", "participants": ids([one, user(&stage, "b"), two]) });
    let answer = call(&mut stage, &caller, "create-chat-channel", arguments);
    let message = assert_refused(answer, "strangers");
    assert!(message.contains(&format!(": {one}, {two}.")), "{message}");
    assert!(!message.contains(&user(&stage, "b").to_string()));
    assert!(stage.store().known().is_empty());
}

/// R053, D82
#[test]
fn only_those_are_named_of_whom_it_is_certain() {
    let busy = Fault::ServerErrorNotApplied;
    let fine = Fault::SlowAnswer { by: Duration::ZERO };
    for (known, code) in [(0, "creation-refused"), (1, "strangers")] {
        let mut stage = stage_with_channel_manager();
        let (one, two) = (stage.discord().add_human(), stage.discord().add_bot());
        stage.discord().inject(|faults| {
            // The first look is for the moderator.
            for _ in 0..=known {
                faults.next(Call::IsAdministrator, fine);
            }
            faults.next(Call::IsAdministrator, busy);
        });
        let caller = session(&stage, "a");
        let arguments = json!({ "name": "x", "participants": ids([one, two]) });
        let answer = call(&mut stage, &caller, "create-chat-channel", arguments);
        let message = assert_refused(answer, code);
        assert_eq!(message.contains(&one.to_string()), known == 1, "{message}");
        assert!(!message.contains(&two.to_string()), "{message}");
    }
}

/// R056
#[test]
fn bad_names_and_ids_reach_nobody() {
    let mut stage = stage_with_channel_manager();
    let before = stage.discord().calls().total();
    let caller = session(&stage, "a");
    for (tool, list, _) in TOOLS {
        for name in ["", " ", "a\nb", &"x".repeat(101)] {
            assert_refused(call(&mut stage, &caller, tool, json!({ "name": name })), "bad-name");
        }
        let bad_id = json!({ "name": "x", list: ["12"] });
        assert_refused(call(&mut stage, &caller, tool, bad_id), "bad-id");
    }
    assert_eq!(stage.discord().calls().total(), before, "nothing was asked of Discord");
}

#[test]
fn after_a_shutdown_the_tools_say_that_nothing_runs() {
    let mut stage = stage_with_channel_manager();
    let caller = session(&stage, "a");
    stage.call(|d| async move { d.shutdown(SECOND).await });
    let answer = call(&mut stage, &caller, "create-chat-channel", json!({ "name": "x" }));
    assert_refused(answer, "not-running");
    let arguments = json!({ "discordUserId": user(&stage, "a") });
    assert_refused(call(&mut stage, &caller, "dirigent-register", arguments), "not-running");
    assert_eq!(creations(&stage), 0);
}
