//! Discussions from their guide to their result, which is posted exactly once, whatever happens.

use dirigent::operate::Summary;
use std::time::Duration;

use dirigent::hooks::RunReport;
use dirigent::operate::{CreatedChannel, DiscussionState, Opening, PostState, Refusal, ResultPost};
use dirigent::ports::{ChannelRequest, Mentions};
use dirigent::settings::{LostRuns, TriggerCleanup};
use dirigent::snapshot::PhaseKind;
use dirigent::store::{Discussion, Durability, OutboxKind};
use dirigent::{CallError, ChannelId, Config, Dirigent, Mode, Permit};
use dirigent_testkit::memory_discord::{Call, Fault};
use dirigent_testkit::scripted_agent::{Act, Line};
use dirigent_verify::stage::{Setup, Stage};

mod waiting;

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
const GUIDE: &str = "Which plan? Done when one is chosen.";

fn hosted() -> Setup {
    Setup::new().rooms(2).hosted("a", ["a1".into()]).hosted("b", ["b1".into()])
}

/// The discussion's channel, and the one that it was opened from.
fn places(stage: &Stage) -> (ChannelId, ChannelId) {
    (stage.rooms()[0], stage.rooms()[1])
}

fn opening(stage: &Stage, guide: &str) -> CreatedChannel {
    opening_to(stage, places(stage).1, guide)
}

fn opening_to(stage: &Stage, callback: ChannelId, guide: &str) -> CreatedChannel {
    let terms =
        Discussion { callback, callback_guild: Some(stage.guild()), guide: guide.to_owned() };
    CreatedChannel {
        mode: Mode::Discussion,
        members: vec!["a".into(), "b".into()],
        opening: Some(Opening { initiator: "a".into(), terms: Some(terms) }),
    }
}

fn open_with(stage: &mut Stage, guide: &str) {
    let (channel, made) = (places(stage).0, opening(stage, guide));
    stage.call(move |d| async move { d.channel(channel).register(made).await }).unwrap();
}

fn open(setup: Setup) -> Stage {
    let mut stage = setup.stage();
    open_with(&mut stage, GUIDE);
    stage
}

fn conclude(stage: &mut Stage) -> ResultPost {
    let channel = places(stage).0;
    let summary = "/home/a/discussion-summary/plan.md";
    let ask = move |d: Dirigent| async move {
        d.channel(channel).conclude(&"a".into(), Some(Summary::Path(summary.into()))).await
    };
    stage.call(ask).unwrap()
}

fn results(stage: &Stage) -> Vec<String> {
    stage.moderation(places(stage).1)
}

fn result(stage: &Stage) -> String {
    let channel = places(stage).0;
    format!("Discussion <#{channel}> is concluded. Summary: /home/a/discussion-summary/plan.md")
}

fn outbox(stage: &Stage) -> Vec<OutboxKind> {
    let stored = stage.store().stored(places(stage).0).unwrap();
    stored.record.outbox.iter().map(|message| message.kind).collect()
}

/// R143, R144, D83
#[test]
fn the_guide_is_stored_then_posted_then_the_first_speaker_is_woken() {
    let mut stage = hosted().stage();
    let channel = places(&stage).0;
    stage
        .discord()
        .inject(|faults| faults.next(Call::Post, Fault::RateLimited { retry_after: MINUTE }));
    open_with(&mut stage, GUIDE);
    let stored = stage.store().stored(channel).unwrap().record;
    let terms = stored.discussion.unwrap();
    assert_eq!((terms.callback, terms.guide.as_str()), (places(&stage).1, GUIDE));
    assert_eq!(stored.snapshot.state.standing.mode, Mode::Discussion);
    assert_eq!(stage.store().commits()[0].durability, Durability::Fact);
    assert!(stage.moderation(channel).is_empty(), "it is not posted yet");
    assert_eq!(stage.agent("a").turns().len(), 0, "nobody speaks before the guide");
    stage.advance(MINUTE * 2);
    assert_eq!(stage.moderation(channel)[0], GUIDE);
    assert_eq!(stage.words_in(channel), ["a1", "b1"]);
    assert!(outbox(&stage).is_empty());
}

/// R144, D83
#[test]
fn a_long_guide_is_split_and_wakes_after_its_last_part() {
    let mut stage = hosted().stage();
    let guide = "Think about it. ".repeat(300);
    open_with(&mut stage, &guide);
    stage.until_dormant();
    let (channel, _) = places(&stage);
    let messages = stage.discord().messages(channel);
    let first_word = messages.iter().position(|message| &*message.content == "a1").unwrap();
    assert_eq!(first_word, 3, "three parts before the first word");
    let read: String = stage.moderation(channel)[..3].join(" ");
    assert_eq!(read.split_whitespace().count(), guide.split_whitespace().count());
}

/// R142, R144, F19
#[test]
fn a_guide_that_was_cut_off_goes_on_after_a_restart() {
    let mut stage = hosted().stage();
    stage.discord().inject(|faults| faults.next(Call::Post, Fault::LostAnswer));
    let (channel, made) = (places(&stage).0, opening(&stage, GUIDE));
    stage.begin(move |d| async move { d.channel(channel).register(made).await });
    stage.advance(SECOND);
    stage.crash();
    stage.clock().advance(MINUTE * 60);
    stage.restart();
    stage.advance(MINUTE);
    assert_eq!(stage.moderation(channel)[0], GUIDE);
    assert_eq!(stage.moderation(channel).iter().filter(|text| *text == GUIDE).count(), 1);
    assert_eq!(stage.words_in(channel), ["a1", "b1"]);
}

/// R154, D89
#[test]
fn the_result_is_in_the_callback_channel_when_the_call_returns() {
    let mut stage = open(hosted());
    stage.until_dormant();
    assert_eq!(conclude(&mut stage), ResultPost::Posted);
    assert_eq!(results(&stage), [result(&stage)]);
    assert!(outbox(&stage).is_empty());
    let channel = places(&stage).0;
    let status =
        stage.call(move |d| async move { d.channel(channel).discussion().await }).unwrap().unwrap();
    assert_eq!(status.state, DiscussionState::Concluded);
    assert_eq!(status.initiator, Some("a".into()));
    assert_eq!(status.outbox, []);
}

/// R154, D89
#[test]
fn a_result_that_cannot_be_posted_is_kept_and_posted_later() {
    let mut stage = open(hosted());
    stage.until_dormant();
    let (_, callback) = places(&stage);
    let moderator = stage.moderator();
    stage.discord().channel(callback).set_read_only(moderator, true);
    assert_eq!(conclude(&mut stage), ResultPost::Queued);
    assert_eq!(outbox(&stage), [OutboxKind::Result]);
    stage.advance(MINUTE * 30);
    let before = stage.discord().calls();
    stage.advance(MINUTE * 60);
    let tries = stage.discord().calls().since(&before).of(Call::Post);
    assert!((1..=12).contains(&tries), "{tries} attempts in an hour");
    stage.discord().channel(callback).set_read_only(moderator, false);
    stage.advance(MINUTE * 11);
    assert_eq!(results(&stage), [result(&stage)]);
    assert!(outbox(&stage).is_empty());
}

/// R154, D89
#[test]
fn a_result_survives_restarts_and_is_posted_once() {
    let mut stage = open(hosted());
    stage.until_dormant();
    let (_, callback) = places(&stage);
    let moderator = stage.moderator();
    stage.discord().channel(callback).set_read_only(moderator, true);
    conclude(&mut stage);
    for _ in 0..3 {
        stage.crash();
        stage.clock().advance(MINUTE * 60);
        stage.restart();
        stage.advance(SECOND);
    }
    stage.discord().channel(callback).set_read_only(moderator, false);
    stage.crash();
    stage.restart();
    stage.advance(MINUTE);
    assert_eq!(results(&stage), [result(&stage)]);
    stage.crash();
    stage.restart();
    stage.advance(MINUTE * 60);
    assert_eq!(results(&stage).len(), 1, "not again");
}

/// R154, D89
#[test]
fn a_result_whose_answer_was_lost_before_a_long_night_is_found_and_not_doubled() {
    let mut stage = open(hosted());
    stage.until_dormant();
    let channel = places(&stage).0;
    stage.discord().next_post(Fault::LostAnswer);
    stage.begin(move |d| async move {
        d.channel(channel).conclude(&"a".into(), Some(Summary::Path("x.md".into()))).await.map(drop)
    });
    stage.settle();
    stage.crash();
    assert_eq!(results(&stage).len(), 1, "it was posted, and nobody knows");
    assert_eq!(outbox(&stage), [OutboxKind::Result]);
    stage.clock().advance(MINUTE * 600);
    stage.restart();
    stage.advance(MINUTE);
    assert_eq!(results(&stage).len(), 1);
    assert!(outbox(&stage).is_empty());
}

/// R154
#[test]
fn while_nobody_can_tell_whether_a_result_was_posted_it_is_not_posted_again() {
    let mut stage = open(hosted());
    stage.until_dormant();
    let (channel, callback) = places(&stage);
    stage.say_in(callback, "We shall see what they find");
    stage.discord().next_post(Fault::LostAnswer);
    stage.begin(move |d| async move {
        d.channel(channel).conclude(&"a".into(), Some(Summary::Path("x.md".into()))).await.map(drop)
    });
    stage.settle();
    stage.crash();
    let moderator = stage.moderator();
    stage.discord().channel(callback).set_history_hidden(moderator, true);
    stage.clock().advance(MINUTE * 600);
    stage.restart();
    stage.advance(MINUTE * 30);
    assert_eq!(results(&stage).len(), 1);
    assert_eq!(outbox(&stage), [OutboxKind::Result], "it is still to be seen to");
    stage.discord().channel(callback).set_history_hidden(moderator, false);
    stage.advance(MINUTE * 11);
    assert_eq!(results(&stage).len(), 1);
    assert!(outbox(&stage).is_empty());
}

/// R154
#[test]
fn a_callback_channel_that_is_gone_costs_one_attempt_a_start() {
    let mut stage = open(hosted());
    stage.until_dormant();
    let (_, callback) = places(&stage);
    stage.discord().channel(callback).delete();
    assert_eq!(conclude(&mut stage), ResultPost::Queued);
    let before = stage.discord().calls();
    stage.advance(MINUTE * 600);
    let since = stage.discord().calls().since(&before);
    assert_eq!(since.of(Call::Post) + since.of(Call::History), 0);
    assert_eq!(outbox(&stage), [OutboxKind::Result], "an operator can see it");
}

/// WY15: the record of a discussion does not say it, and each look at it may load that.
#[test]
fn a_result_whose_callback_channel_is_gone_is_shown_as_given_up() {
    let mut stage = open(hosted());
    stage.until_dormant();
    let (channel, callback) = places(&stage);
    stage.discord().channel(callback).delete();
    conclude(&mut stage);
    let shown = |stage: &mut Stage| {
        let asked = stage.call(move |d| async move { d.channel(channel).discussion().await });
        asked.unwrap().unwrap().outbox.iter().map(|entry| entry.state).collect::<Vec<_>>()
    };
    for _ in 0..3 {
        stage.advance(MINUTE * 30);
        assert_eq!(shown(&mut stage), [PostState::GivenUp]);
    }
    stage.crash();
    stage.restart();
    for _ in 0..3 {
        stage.advance(MINUTE);
        assert_eq!(shown(&mut stage), [PostState::GivenUp]);
    }
}

fn request(stage: &mut Stage, request: ChannelRequest) -> Result<(), CallError> {
    let channel = places(stage).0;
    stage.call(move |d| async move { d.channel(channel).request(&request).await.map(drop) })
}

/// A stage with a result that the chat does not take.
fn undelivered() -> Stage {
    let mut stage = open(hosted().rooms(3));
    stage.until_dormant();
    let (moderator, callback) = (stage.moderator(), places(&stage).1);
    stage.discord().channel(callback).set_read_only(moderator, true);
    assert_eq!(conclude(&mut stage), ResultPost::Queued);
    stage.advance(MINUTE * 30);
    assert_eq!(outbox(&stage), [OutboxKind::Result]);
    stage
}

/// PG10: an operator who has mended the cause does not wait for the next attempt.
#[test]
fn a_result_that_could_not_be_delivered_is_tried_again_when_an_operator_says_so() {
    let mut stage = undelivered();
    let (moderator, callback) = (stage.moderator(), places(&stage).1);
    stage.discord().channel(callback).set_read_only(moderator, false);
    request(&mut stage, ChannelRequest::RetryPosts).unwrap();
    stage.advance(SECOND);
    assert_eq!(results(&stage), [result(&stage)]);
    let again = request(&mut stage, ChannelRequest::RetryPosts);
    assert!(matches!(again, Err(CallError::Refused(Refusal::UnknownTicket))), "{again:?}");
}

/// PG10: also one that was given up for this start.
#[test]
fn a_result_that_was_given_up_is_tried_again_when_an_operator_says_so() {
    let mut stage = open(hosted());
    stage.until_dormant();
    let moderator = stage.moderator();
    stage.discord().inject(|faults| faults.next_by(moderator, Call::Post, Fault::Gone));
    assert_eq!(conclude(&mut stage), ResultPost::Queued);
    stage.advance(MINUTE * 600);
    assert!(results(&stage).is_empty(), "it was given up");
    request(&mut stage, ChannelRequest::RetryPosts).unwrap();
    stage.advance(SECOND);
    assert_eq!(results(&stage), [result(&stage)]);
}

/// PG10: what was dismissed is posted never, whatever happens.
#[test]
fn a_result_that_an_operator_dismisses_is_gone_for_good() {
    let mut stage = undelivered();
    request(&mut stage, ChannelRequest::DismissResult).unwrap();
    assert!(outbox(&stage).is_empty(), "stored before it is answered");
    let (moderator, callback) = (stage.moderator(), places(&stage).1);
    stage.discord().channel(callback).set_read_only(moderator, false);
    stage.advance(MINUTE * 30);
    stage.crash();
    stage.restart();
    stage.advance(MINUTE * 30);
    assert!(results(&stage).is_empty());
    for late in [ChannelRequest::DismissResult, ChannelRequest::SendResult { to: callback }] {
        let late = request(&mut stage, late);
        assert!(matches!(late, Err(CallError::Refused(Refusal::UnknownTicket))), "{late:?}");
    }
}

/// PG10: a result is sent elsewhere exactly once, whole, and wakes the channel that it is sent to.
#[test]
fn a_result_that_an_operator_sends_elsewhere_is_there_once_and_wakes_that_channel() {
    let mut stage = undelivered();
    let elsewhere = stage.rooms()[2];
    stage.call(move |d| async move { d.channel(elsewhere).set_mode(Mode::Chat).await }).unwrap();
    stage.until_dormant();
    request(&mut stage, ChannelRequest::SendResult { to: elsewhere }).unwrap();
    let stored = stage.store().stored(places(&stage).0).unwrap();
    assert!(stored.record.outbox.iter().all(|message| message.to == elsewhere), "stored first");
    stage.crash();
    stage.restart();
    stage.advance(MINUTE);
    let is_result = |text: &&String| **text == result(&stage);
    assert_eq!(stage.moderation(elsewhere).iter().filter(is_result).count(), 1);
    let (moderator, callback) = (stage.moderator(), places(&stage).1);
    stage.discord().channel(callback).set_read_only(moderator, false);
    stage.advance(MINUTE * 30);
    assert!(results(&stage).is_empty() && outbox(&stage).is_empty());
    let said = stage.discord().messages(elsewhere);
    assert!(said.iter().any(|message| &*message.content == "a1"), "it was woken: {said:?}");
}

/// R148, D84
#[test]
fn the_initiator_is_told_that_it_runs_because_of_the_reminder() {
    let mut stage = open(hosted());
    stage.until_dormant();
    stage.advance(MINUTE);
    let reminded = |name: &str| {
        let turns = stage.agent(name).turns();
        turns.iter().filter(|turn| turn.after_reminder).count()
    };
    assert_eq!((reminded("a"), reminded("b")), (1, 0));
    assert!(!stage.agent("a").turns()[0].after_reminder);
}

/// R156, D90
#[test]
fn the_result_wakes_a_callback_channel_that_keeps_turns_with_the_initiator() {
    let mut stage = hosted().stage();
    let (_, callback) = places(&stage);
    stage.call(move |d| async move { d.channel(callback).set_mode(Mode::Chat).await }).unwrap();
    stage.advance(SECOND);
    open_with(&mut stage, GUIDE);
    stage.until_dormant();
    let turns = stage.agent("a").turns().len();
    let dormant = stage.status_of(callback).unwrap();
    assert_eq!((dormant.phase, dormant.turn.get()), (PhaseKind::Dormant, 0));
    conclude(&mut stage);
    stage.advance(SECOND * 30);
    let first = &stage.agent("a").turns()[turns];
    assert_eq!(first.channel, Some(callback));
    assert!(stage.status_of(callback).unwrap().turn.get() >= 2);
}

/// R154, D90
#[test]
fn the_result_wakes_nobody_where_no_turns_are_kept() {
    let mut stage = open(hosted());
    stage.until_dormant();
    conclude(&mut stage);
    stage.advance(MINUTE);
    let callback = places(&stage).1;
    assert!(stage.status_of(callback).is_none(), "the channel was never managed");
}

/// R155
#[test]
fn whoever_writes_into_a_concluded_discussion_is_told() {
    let mut stage = open(hosted());
    stage.until_dormant();
    conclude(&mut stage);
    stage.advance(MINUTE);
    stage.say("One more thing");
    stage.advance(SECOND);
    let channel = places(&stage).0;
    assert_eq!(stage.moderation(channel).last().unwrap(), "This discussion is closed.");
}

/// F21: whatever stands in a guide, a summary or a name, and whatever the library has to say.
#[test]
fn no_post_of_the_library_pings_more_than_the_agent_that_it_addresses() {
    let loud = "@everyone <@1> <@&2> look";
    let setup = Setup::new()
        .rooms(2)
        .hooked("a", [loud.into(), Act::Hang.into()])
        .hooked("b", [loud.into()])
        .settings(|settings| settings.texts.result_text_template = format!("{loud} {{summary}}"))
        .config(|config| {
            config.announce_timeouts = true;
            config.announce_offline = true;
            config.deadlines.turn = Some(MINUTE);
            config.trigger_cleanup = TriggerCleanup::Never;
        });
    let mut stage = setup.stage();
    open_with(&mut stage, loud);
    stage.until_dormant();
    let channel = places(&stage).0;
    for text in ["Hello", "stop", "resume", "Go on"] {
        stage.say(text);
        stage.advance(SECOND * 90);
    }
    stage.call(move |d| async move { d.agent_offline(&"b".into()).await }).unwrap();
    stage.advance(MINUTE * 30);
    let conclude = move |d: Dirigent| async move {
        d.channel(channel)
            .conclude(&"a".into(), Some(Summary::Text("@here <@1> done".into())))
            .await
    };
    stage.call(conclude).unwrap();
    stage.advance(MINUTE);
    stage.say("One more thing");
    stage.advance(MINUTE);
    let (moderator, posts) = (stage.moderator(), stage.discord().take_posts());
    let own = posts.iter().filter(|post| post.author == moderator);
    let mut said = String::new();
    for post in own.filter(|post| post.message.is_some()) {
        let messages = stage.discord().messages(post.channel);
        let message = messages.iter().find(|message| Some(message.id) == post.message);
        let text = message.map_or("", |message| &*message.content);
        said.push_str(text);
        match post.mentions {
            Mentions::None => {}
            Mentions::User(user) => {
                let agents = [stage.agent("a").user(), stage.agent("b").user()];
                assert!(agents.contains(&user) && text.contains(&format!("<@{user}>")), "{text}");
            }
            Mentions::Allowed(_) | _ => panic!("{text}: {:?}", post.mentions),
        }
    }
    let kinds = [
        "➡️",
        "Stopped",
        "Resumed",
        "timed out",
        "disconnected",
        "idle",
        "look @here",
        "closed",
        "<@&2> look",
    ];
    for kind in kinds {
        assert!(said.contains(kind), "no post of the kind {kind}: {said}");
    }
}

/// D91, D89
#[test]
fn an_operators_archive_tells_the_callback_channel_too() {
    let mut stage = open(hosted());
    stage.until_dormant();
    let channel = places(&stage).0;
    stage.call(move |d| async move { d.channel(channel).archive().await }).unwrap();
    stage.advance(SECOND);
    let closed = format!("Discussion <#{channel}> was closed without a summary.");
    assert_eq!(results(&stage), [closed]);
}

/// F28
#[test]
fn an_overdue_discussion_is_archived_and_its_callback_channel_told() {
    let mut stage = open(hosted().config(|config| {
        config.ceilings.discussion_time = Some(MINUTE * 10);
        config.discussion.overdue_archive_after = Some(MINUTE * 5);
    }));
    stage.until_dormant();
    stage.advance(MINUTE * 14);
    assert!(results(&stage).is_empty());
    stage.advance(MINUTE * 3);
    let channel = places(&stage).0;
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Archived);
    let text = "was closed without a summary: its initiator did not conclude it in time.";
    assert_eq!(results(&stage), [format!("Discussion <#{channel}> {text}")]);
}

/// R154
#[test]
fn a_discussion_without_a_callback_channel_is_only_archived() {
    let mut stage = hosted().stage();
    let channel = places(&stage).0;
    let made = CreatedChannel {
        mode: Mode::Discussion,
        members: vec!["a".into(), "b".into()],
        opening: Some(Opening { initiator: "a".into(), terms: None }),
    };
    stage.call(move |d| async move { d.channel(channel).register(made).await }).unwrap();
    assert_eq!(conclude(&mut stage), ResultPost::Nowhere);
    stage.advance(MINUTE);
    assert!(results(&stage).is_empty());
}

/// F19, R146, R148
#[test]
fn a_lost_run_after_a_reminder_is_run_again_at_once_where_the_host_wants_that() {
    let slow = Line::from("We take the second plan.").taking(MINUTE);
    let mut stage = open(hosted().settings(|settings| settings.hooks.lost_runs = LostRuns::Rerun));
    stage.until_dormant();
    stage.agent("a").then(slow.clone());
    let reminded =
        |stage: &Stage| stage.agent("a").turns().iter().filter(|turn| turn.after_reminder).count();
    let before = reminded(&stage);
    stage.until("a runs after its reminder", |stage| reminded(stage) > before);
    stage.crash();
    stage.agent("a").then(slow);
    stage.restart();
    stage.advance(SECOND * 10);
    assert_eq!(reminded(&stage), before + 2, "it is called again");
    stage.advance(MINUTE);
    assert_eq!(stage.words_in(places(&stage).0), ["a1", "b1", "We take the second plan."]);
}

/// A discussion that "a" began, whose host gives its runs no names.
fn nameless_initiator() -> Stage {
    let setup = Setup::new().rooms(2).hooked("a", []).hosted("b", []).without_pump();
    let change = |config: &mut Config| {
        // The room stays in memory from one reminder to the next.
        (config.deadlines.run, config.discussion.reminder_interval) = (Some(MINUTE), MINUTE * 3);
    };
    let mut stage = setup.config(change).stage();
    let (channel, mut made) = (places(&stage).0, opening(&stage, GUIDE));
    made.opening = Some(Opening { initiator: "a".into(), terms: None });
    stage.call(move |d| async move { d.channel(channel).register(made).await }).unwrap();
    stage.call(move |d| async move { d.channel(channel).wake(None).await }).unwrap();
    stage
}

/// The permit of a run of "a", if it may run.
fn asks(stage: &mut Stage) -> Option<Permit> {
    let channel = places(stage).0;
    stage.call(move |d| async move { d.channel(channel).may_speak(&"a".into(), None).await.ok() })
}

/// The permit of the run of "a" after its next reminder.
fn asks_after_reminder(stage: &mut Stage) -> Permit {
    for _ in 0..100 {
        let is_dormant = stage.status_of(places(stage).0).unwrap().phase == PhaseKind::Dormant;
        match asks(stage) {
            Some(permit) if is_dormant => return permit,
            Some(permit) => permit.end(RunReport::Pass).unwrap(),
            None => {}
        }
        stage.advance(SECOND * 30);
    }
    panic!("a is not reminded");
}

/// A host that keeps no permit leaves a run without a name to its deadline; the permit of the run after the
/// next reminder ends that run.
///
/// R148
#[test]
fn the_permit_of_a_run_after_a_reminder_ends_it_though_the_run_before_was_kept() {
    let mut stage = nameless_initiator();
    asks_after_reminder(&mut stage).keep();
    stage.settle();
    stage.advance(MINUTE * 2);
    assert!(asks(&mut stage).is_none(), "the run has timed out");
    let permit = asks_after_reminder(&mut stage);
    drop(permit);
    stage.settle();
    assert!(asks(&mut stage).is_none(), "the run has ended with its permit");
}

/// R148
#[test]
fn the_permit_of_a_run_that_has_timed_out_does_not_end_the_run_after_the_next_reminder() {
    let mut stage = nameless_initiator();
    let first = asks_after_reminder(&mut stage);
    stage.advance(MINUTE * 2);
    let second = asks_after_reminder(&mut stage);
    drop(first);
    stage.settle();
    assert_eq!(second.end(RunReport::Pass), Ok(()), "it runs until its own permit ends it");
}
