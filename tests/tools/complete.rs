//! `discussion-complete`: who may, in which order it is checked, and what comes of it.

use std::sync::Arc;

use dirigent::operate::DiscussionState;
use dirigent::snapshot::PhaseKind;
use dirigent::tools::{Caller, Tools};
use dirigent::{ChannelId, IdentityStore as _, Mode};
use dirigent_testkit::memory_discord::{Call, Fault, Pings};
use dirigent_testkit::scripted_agent::Act;
use dirigent_verify::stage::{Setup, Stage, StoreFault};
use serde_json::{Value, json};

use super::folder::Workspace;
use super::{SECOND, assert_refused, call, id, opened, session, stage_with_admin_moderator, terms};

const TOOL: &str = "discussion-complete";

fn arguments(channel: ChannelId, summary: &str) -> Value {
    json!({ "discussion-channel": channel, "summary": summary })
}

/// The session of an agent with a workspace.
fn at(stage: &Stage, agent: &str, workspace: &Workspace) -> Caller {
    Caller { workspace: Some(workspace.root().to_owned()), ..session(stage, agent) }
}

fn state(stage: &mut Stage, channel: ChannelId) -> DiscussionState {
    stage
        .call(move |d| async move { d.channel(channel).discussion().await })
        .unwrap()
        .unwrap()
        .state
}

/// R149, D87
#[test]
fn only_the_initiator_may_complete_and_anybody_else_changes_nothing() {
    let (mut stage, workspace) = (stage_with_admin_moderator(), Workspace::new());
    workspace.write("discussion-summary/plan.md", "We take both.");
    let channel = opened(&mut stage, &["b"]);
    for agent in ["b", "c", "nobody"] {
        let caller = at(&stage, agent, &workspace);
        let answer =
            call(&mut stage, &caller, TOOL, arguments(channel, "discussion-summary/plan.md"));
        assert_refused(answer, "not-the-initiator");
    }
    assert_eq!(state(&mut stage, channel), DiscussionState::Open);
    assert_eq!(stage.moderation(stage.channel()), [""; 0]);
}

/// R152, D88
#[test]
fn what_is_no_discussion_is_refused_and_a_concluded_one_says_so() {
    let (mut stage, workspace) = (stage_with_admin_moderator(), Workspace::new());
    workspace.write("discussion-summary/plan.md", "We take both.");
    stage.chat();
    let caller = at(&stage, "a", &workspace);
    let path = "discussion-summary/plan.md";
    for channel in [stage.channel(), ChannelId::new(123_456_789_012_345_678)] {
        let answer = call(&mut stage, &caller, TOOL, arguments(channel, path));
        assert_refused(answer, "not-a-discussion");
    }
    let channel = opened(&mut stage, &["b"]);
    call(&mut stage, &caller, TOOL, arguments(channel, path)).unwrap();
    let again = call(&mut stage, &caller, TOOL, arguments(channel, path));
    assert_refused(again, "already-concluded");
    stage.advance(SECOND * 60);
    assert_eq!(stage.moderation(stage.channel()).len(), 1, "and nothing is posted again");
}

/// R152, R154, D88
#[test]
fn of_two_calls_at_once_one_completes_it() {
    let (mut stage, workspace) = (stage_with_admin_moderator(), Workspace::new());
    workspace.write("discussion-summary/plan.md", "We take both.");
    let channel = opened(&mut stage, &["b"]);
    let calls: Vec<_> = (0..2)
        .map(|_| {
            let caller = at(&stage, "a", &workspace);
            let moderator = Arc::new(stage.discord().account(stage.moderator()));
            let arguments = arguments(channel, "discussion-summary/plan.md");
            stage.begin(move |d| async move {
                Tools::new(d, moderator).call(&caller, TOOL, &arguments).await
            })
        })
        .collect();
    stage.settle();
    let mut answers: Vec<_> = calls.iter().map(|call| call.take().unwrap()).collect();
    assert_refused(answers.pop().unwrap(), "already-concluded");
    answers.pop().unwrap().unwrap();
    assert_eq!(stage.moderation(stage.channel()).len(), 1);
}

/// R152, D87
#[test]
fn the_checks_come_in_their_order() {
    let (mut stage, workspace) = (stage_with_admin_moderator(), Workspace::new());
    workspace.write("discussion-summary/plan.md", "We take both.");
    let bad = "../nowhere";
    let nothing = Caller { workspace: None, ..session(&stage, "b") };
    let callback = stage.channel();
    let answer = call(&mut stage, &nothing, TOOL, arguments(callback, bad));
    assert_refused(answer, "not-a-discussion");
    let channel = opened(&mut stage, &["b"]);
    assert_refused(call(&mut stage, &nothing, TOOL, arguments(channel, bad)), "not-the-initiator");
    let initiator = at(&stage, "a", &workspace);
    assert_refused(call(&mut stage, &initiator, TOOL, arguments(channel, bad)), "summary-outside");
    let homeless = session(&stage, "a");
    assert_refused(call(&mut stage, &homeless, TOOL, arguments(channel, bad)), "no-workspace");
    let good = arguments(channel, "discussion-summary/plan.md");
    call(&mut stage, &initiator, TOOL, good).unwrap();
    assert_refused(call(&mut stage, &nothing, TOOL, arguments(channel, bad)), "not-the-initiator");
    let over = call(&mut stage, &homeless, TOOL, arguments(channel, bad));
    assert_refused(over, "already-concluded");
}

/// R152
#[test]
fn a_discussion_that_an_operator_archived_cannot_be_completed() {
    let (mut stage, workspace) = (stage_with_admin_moderator(), Workspace::new());
    workspace.write("discussion-summary/plan.md", "We take both.");
    let channel = opened(&mut stage, &["b"]);
    stage.call(move |d| async move { d.channel(channel).archive().await }).unwrap();
    let caller = at(&stage, "a", &workspace);
    let answer = call(&mut stage, &caller, TOOL, arguments(channel, "discussion-summary/plan.md"));
    assert_refused(answer, "archived");
}

/// R153, R154, D89
#[test]
fn the_discussion_is_archived_and_the_callback_channel_told_where_the_summary_is() {
    let (mut stage, workspace) = (stage_with_admin_moderator(), Workspace::new());
    let file = workspace.write("discussion-summary/plan.md", "We take both.");
    let channel = opened(&mut stage, &["b"]);
    let caller = at(&stage, "a", &workspace);
    let answer =
        call(&mut stage, &caller, TOOL, arguments(channel, file.to_str().unwrap())).unwrap();
    let path = "discussion-summary/plan.md";
    let expected = json!({
        "discussionChannel": channel,
        "summary": path,
        "result": "posted",
        "warnings": [],
    });
    assert_eq!(answer, expected);
    assert_eq!(stage.status_of(channel).unwrap().phase, PhaseKind::Archived);
    let told = stage.moderation(stage.channel());
    assert_eq!(told, [format!("Discussion <#{channel}> is concluded. Summary: {path}")]);
    let mode = stage.call(move |d| async move { d.channel(channel).set_mode(Mode::Chat).await });
    assert!(mode.is_err());
}

/// N3
#[test]
fn an_agent_without_files_gives_the_summary_itself_and_it_is_posted_whole_and_pings_nobody() {
    let long = "We take **both**, <@1> and @everyone agree. ".repeat(80);
    for text in ["We take **both**.\n- now\n- soon", long.trim()] {
        let mut stage = stage_with_admin_moderator();
        let channel = opened(&mut stage, &["b"]);
        let arguments = json!({ "discussion-channel": channel, "summary-text": text });
        let caller = session(&stage, "a");
        let answer = call(&mut stage, &caller, TOOL, arguments).unwrap();
        let expected = json!({ "discussionChannel": channel, "result": "posted", "warnings": [] });
        assert_eq!(answer, expected);
        stage.advance(SECOND * 60);
        let told = stage.moderation(stage.channel());
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let posted = format!("Discussion <#{channel}> is concluded. Summary:\n{text}");
        assert_eq!(words(&told.join(" ")), words(&posted));
        for message in stage.discord().messages(stage.channel()) {
            let pings = stage.discord().channel(stage.channel()).pings(message.id);
            assert_eq!(pings, Some(Pings::default()));
        }
    }
}

/// N3
#[test]
fn a_summary_is_a_path_or_a_text_that_says_something() {
    let (mut stage, workspace) = (stage_with_admin_moderator(), Workspace::new());
    workspace.write("discussion-summary/plan.md", "We take both.");
    let channel = opened(&mut stage, &["b"]);
    let caller = at(&stage, "a", &workspace);
    let path = "discussion-summary/plan.md";
    let wrong = [
        (json!({ "summary": path, "summary-text": "We take both." }), "two-summaries"),
        (json!({}), "missing-argument"),
        (json!({ "summary-text": "" }), "summary-text"),
        (json!({ "summary-text": "\u{200B} \n" }), "summary-text"),
        (json!({ "summary-text": "é".repeat(6_001) }), "summary-text"),
        (json!({ "summary-text": 7 }), "wrong-kind"),
    ];
    for (mut arguments, code) in wrong {
        arguments["discussion-channel"] = json!(channel);
        assert_refused(call(&mut stage, &caller, TOOL, arguments), code);
    }
    assert_eq!(state(&mut stage, channel), DiscussionState::Open);
    let arguments = json!({ "discussion-channel": channel, "summary-text": "é".repeat(6_000) });
    call(&mut stage, &caller, TOOL, arguments).unwrap();
}

/// R154
#[test]
fn a_files_name_is_posted_as_text_and_shows_no_folder_of_the_host() {
    let names = [
        ("[prize](https:evil.example)", r"\[prize\](https\:evil.example)"),
        ("discord.gg/x", r"discord\.gg/x"),
        ("@everyone <@&5> <#7>", r"\@everyone \<\@&5\> \<\#7\>"),
        ("**a**_b_~~c~~||d||", r"\*\*a\*\*\_b\_\~\~c\~\~\|\|d\|\|"),
    ];
    for (name, posted) in names {
        let (mut stage, workspace) = (stage_with_admin_moderator(), Workspace::new());
        let file = workspace.write(&format!("discussion-summary/{name}"), "We take both.");
        let channel = opened(&mut stage, &["b"]);
        let caller = at(&stage, "a", &workspace);
        let arguments = arguments(channel, file.to_str().unwrap());
        let answer = call(&mut stage, &caller, TOOL, arguments).unwrap();
        assert_eq!(answer["summary"], format!("discussion-summary/{name}"));
        let told = stage.moderation(stage.channel()).pop().unwrap();
        let expected = format!("concluded. Summary: discussion-summary/{posted}");
        assert!(told.ends_with(&expected), "{told}");
        assert!(!told.contains(workspace.root().to_str().unwrap()), "{told}");
    }
}

/// R153
#[test]
fn completing_in_the_middle_of_a_turn_ends_it_at_once() {
    let workspace = Workspace::new();
    workspace.write("discussion-summary/plan.md", "We take both.");
    let mut stage = Setup::new().hosted("a", []).hosted("b", [Act::Hang.into()]).stage();
    stage.discord().guild(stage.guild()).set_administrator(stage.moderator(), true);
    let channel = opened(&mut stage, &["b"]);
    assert_eq!(stage.status_of(channel).unwrap().phase, PhaseKind::Running);
    let caller = at(&stage, "a", &workspace);
    call(&mut stage, &caller, TOOL, arguments(channel, "discussion-summary/plan.md")).unwrap();
    assert_eq!(stage.status_of(channel).unwrap().phase, PhaseKind::Archived);
    assert!(stage.agent("b").turns()[0].cancelled);
}

/// R154, D89
#[test]
fn a_result_that_cannot_be_posted_is_queued_and_posted_once_after_a_restart() {
    let (mut stage, workspace) = (stage_with_admin_moderator(), Workspace::new());
    workspace.write("discussion-summary/plan.md", "We take both.");
    let channel = opened(&mut stage, &["b"]);
    stage.advance(SECOND * 60);
    stage.discord().inject(|faults| {
        for _ in 0..8 {
            faults.next(Call::Post, Fault::ServerErrorNotApplied);
        }
    });
    let caller = at(&stage, "a", &workspace);
    let answer =
        call(&mut stage, &caller, TOOL, arguments(channel, "discussion-summary/plan.md")).unwrap();
    assert_eq!(answer["result"], "queued");
    assert_eq!(state(&mut stage, channel), DiscussionState::Concluded);
    assert!(stage.moderation(stage.channel()).is_empty());
    stage.crash();
    stage.restart();
    stage.advance(SECOND * 3_600);
    assert_eq!(stage.moderation(stage.channel()).len(), 1);
    stage.restart();
    stage.advance(SECOND * 3_600);
    assert_eq!(stage.moderation(stage.channel()).len(), 1);
}

/// R154, D89
#[test]
fn while_the_store_fails_the_answer_is_doubt_and_later_it_is_concluded_once() {
    let (mut stage, workspace) = (stage_with_admin_moderator(), Workspace::new());
    workspace.write("discussion-summary/plan.md", "We take both.");
    let channel = opened(&mut stage, &["b"]);
    stage.advance(SECOND * 60);
    stage.store().with_rate(StoreFault::Fails, 1_000, 1);
    let caller = at(&stage, "a", &workspace);
    let answer = call(&mut stage, &caller, TOOL, arguments(channel, "discussion-summary/plan.md"));
    let message = assert_refused(answer, "failed");
    assert!(message.contains("may have been done"), "{message}");
    assert!(stage.moderation(stage.channel()).is_empty(), "nothing is posted before it is stored");
    stage.store().stop_faults();
    stage.advance(SECOND * 60);
    let again = call(&mut stage, &caller, TOOL, arguments(channel, "discussion-summary/plan.md"));
    assert_refused(again, "already-concluded");
    assert_eq!(stage.moderation(stage.channel()).len(), 1);
}

/// R149
#[test]
fn an_initiator_that_is_not_registered_any_more_is_told_to_register() {
    let (mut stage, workspace) = (stage_with_admin_moderator(), Workspace::new());
    workspace.write("discussion-summary/plan.md", "We take both.");
    let channel = opened(&mut stage, &["b"]);
    let identities = stage.identities().clone();
    stage.call(move |d| async move {
        identities.remove("a".into()).await.unwrap();
        d.identities_changed().await.unwrap();
    });
    let caller = at(&stage, "a", &workspace);
    let answer = call(&mut stage, &caller, TOOL, arguments(channel, "discussion-summary/plan.md"));
    assert_refused(answer, "caller-unregistered");
    assert_eq!(state(&mut stage, channel), DiscussionState::Open);
}

/// R155
#[test]
fn the_completed_discussion_says_that_it_is_closed() {
    let (mut stage, workspace) = (stage_with_admin_moderator(), Workspace::new());
    workspace.write("discussion-summary/plan.md", "We take both.");
    let channel = opened(&mut stage, &["b"]);
    let caller = at(&stage, "a", &workspace);
    call(&mut stage, &caller, TOOL, arguments(channel, "discussion-summary/plan.md")).unwrap();
    stage.say_in(channel, "One more thing");
    stage.settle();
    let last = stage.moderation(channel).pop().unwrap();
    assert_eq!(last, "This discussion is closed.");
}

/// R156, D90
#[test]
fn a_callback_channel_that_keeps_turns_is_woken_with_the_initiator() {
    let (mut stage, workspace) = (stage_with_admin_moderator(), Workspace::new());
    workspace.write("discussion-summary/plan.md", "We take both.");
    stage.chat();
    let caller = at(&stage, "c", &workspace);
    let terms = terms(&stage, &["b"]);
    let opened = call(&mut stage, &caller, "create-discussion-channel", terms).unwrap();
    let channel = id(&opened, "discussionChannel");
    stage.advance(SECOND * 600);
    assert!(stage.words().is_empty(), "nobody has spoken in the callback channel yet");
    call(&mut stage, &caller, TOOL, arguments(channel, "discussion-summary/plan.md")).unwrap();
    stage.until_dormant();
    assert_eq!(stage.words()[0], "c1", "{:?}", stage.words());
}

/// R151, D87
#[test]
fn an_empty_summary_is_accepted_with_a_warning() {
    let (mut stage, workspace) = (stage_with_admin_moderator(), Workspace::new());
    workspace.write("discussion-summary/plan.md", "");
    let channel = opened(&mut stage, &["b"]);
    let caller = at(&stage, "a", &workspace);
    let answer =
        call(&mut stage, &caller, TOOL, arguments(channel, "discussion-summary/plan.md")).unwrap();
    assert_eq!(answer["warnings"], json!(["The summary file is empty."]));
    assert_eq!(state(&mut stage, channel), DiscussionState::Concluded);
}
