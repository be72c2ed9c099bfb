//! P5, P6: a discussion starts, and it ends.

use dirigent::IdentityStore as _;
use dirigent::snapshot::PhaseKind;
use dirigent_testkit::memory_discord::{Call, Fault, Outage};
use dirigent_testkit::scripted_agent::{Act, Line};
use dirigent_verify::stage::{Setup, Stage};

use super::kit::{
    HOUR, Halt, MILLI, MINUTE, REMINDER, RETURN, SECOND, open_discussion, reminders, resume, runs,
    stop,
};

const GUIDE: &str = "Which plan? Done when one is chosen.";

fn setup() -> Setup {
    Setup::new()
        .rooms(2)
        .settings(|settings| REMINDER.clone_into(&mut settings.texts.idle_reminder))
}

fn results(stage: &Stage) -> Vec<String> {
    stage.moderation(stage.rooms()[1])
}

/// P5
#[test]
fn an_initiator_whose_run_after_the_reminder_fails_is_reminded_again_and_may_still_conclude() {
    for failure in [Act::Fail, Act::Panic] {
        let mut stage = setup()
            .hosted("a", ["a1".into(), Act::Pass.into(), failure.clone().into()])
            .hosted("b", ["b1".into()])
            .stage();
        stage.agent("a").then(Act::Conclude("that is it".to_owned()));
        open_discussion(&mut stage, GUIDE, &["a", "b"]);
        stage.advance(HOUR * 2);
        assert!(reminders(&stage) >= 2, "{failure:?}: reminded once");
        assert_eq!(stage.status().unwrap().phase, PhaseKind::Archived, "{failure:?}");
        assert_eq!(results(&stage).len(), 1, "{failure:?}");
        assert!(results(&stage)[0].contains("summary.md"), "{:?}", results(&stage));
    }
}

/// P5
#[test]
fn an_initiator_whose_run_after_the_reminder_is_lost_in_a_restart_is_reminded_again() {
    let mut stage = setup()
        .hosted("a", ["a1".into(), Act::Pass.into(), Act::Hang.into()])
        .hosted("b", ["b1".into()])
        .stage();
    stage.agent("a").then(Act::Conclude("that is it".to_owned()));
    open_discussion(&mut stage, GUIDE, &["a", "b"]);
    stage.until("the initiator runs after its reminder", |stage| {
        stage.agent("a").turns().last().is_some_and(|turn| turn.after_reminder)
    });
    stage.crash();
    stage.restart();
    stage.advance(HOUR * 2);
    assert!(reminders(&stage) >= 2);
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Archived);
}

/// Its run is permitted, and its deadline runs: what was said before is not waited for.
#[test]
fn an_initiator_is_called_after_its_reminder_although_histories_cannot_be_read() {
    let mut stage =
        setup().hosted("a", ["a1".into(), Act::Pass.into()]).hosted("b", ["b1".into()]).stage();
    open_discussion(&mut stage, GUIDE, &["a", "b"]);
    stage.until("b spoke", |stage| stage.words().contains(&"b1".to_owned()));
    stage.until_dormant();
    stage.advance(SECOND * 5);
    stage.crash();
    stage.discord().begin_outage(Outage::refused().only(Call::History));
    stage.restart();
    let before = runs(&stage);
    stage.advance(HOUR);
    assert!(runs(&stage) > before, "{:?}", stage.status());
}

/// A discussion at a ceiling is not idle: its agents would go on.
#[test]
fn at_a_ceiling_the_reminder_does_not_say_that_the_discussion_is_idle() {
    let talk = |name: &str| (1..9).map(|n| format!("{name}{n}").into()).collect::<Vec<Line>>();
    let mut stage = Setup::new()
        .rooms(2)
        .hosted("a", talk("a"))
        .hosted("b", talk("b"))
        .config(|config| config.ceilings.discussion.cycles = Some(2))
        .stage();
    open_discussion(&mut stage, GUIDE, &["a", "b"]);
    stage.until("b spoke twice", |stage| stage.words().contains(&"b2".to_owned()));
    stage.until_dormant();
    stage.advance(SECOND * 5);
    let said = stage.moderation(stage.channel());
    let reminds = |words: &str| said.iter().filter(|text| text.ends_with(words)).count();
    assert_eq!(reminds(dirigent::settings::Texts::CEILING_REMINDER), 1, "{said:?}");
    assert_eq!(reminds(dirigent_core::text::IDLE_REMINDER), 0, "{said:?}");
}

/// P5
#[test]
fn a_discussion_whose_initiator_always_fails_is_reminded_a_few_times_and_then_closed_as_overdue() {
    let failures = std::iter::repeat_with(|| Line::from(Act::Fail)).take(100);
    let mut stage = setup()
        .hosted("a", [Line::from("a1"), Act::Pass.into()].into_iter().chain(failures))
        .hosted("b", ["b1".into()])
        .stage();
    open_discussion(&mut stage, GUIDE, &["a", "b"]);
    stage.advance(HOUR * 72);
    assert_eq!(reminders(&stage), 3, "reminders");
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Archived);
    let [result] = &results(&stage)[..] else { panic!("one result: {:?}", results(&stage)) };
    let channel = stage.channel();
    assert!(result.contains(&format!("<#{channel}>")), "{result}");
    assert!(result.contains("did not conclude it in time"), "it does not say why: {result}");
}

/// P6
#[test]
fn a_discussion_made_with_one_agent_starts_when_the_second_joins() {
    for after in [SECOND, MINUTE, HOUR * 3] {
        for killed in [false, true] {
            let mut stage = setup().hosted("a", ["a1".into()]).hosted("b", ["b1".into()]).stage();
            let (channel, b) = (stage.channel(), stage.agent("b").user());
            stage.discord().leave(channel, b);
            open_discussion(&mut stage, GUIDE, &["a"]);
            stage.advance(after);
            assert_eq!(stage.words(), [""; 0], "one agent alone has no turns");
            if killed {
                stage.crash();
                stage.restart();
            }
            stage.discord().join(channel, b);
            stage.advance(MINUTE);
            assert_eq!(stage.words(), ["a1", "b1"], "after {after:?}, killed: {killed}");
        }
    }
}

/// P6
#[test]
fn a_discussion_that_was_stopped_before_its_guide_starts_when_it_is_resumed() {
    for killed in [false, true] {
        let mut stage = setup().hosted("a", ["a1".into()]).hosted("b", ["b1".into()]).stage();
        stage.discord().next_post(Fault::RateLimited { retry_after: MINUTE });
        open_discussion(&mut stage, GUIDE, &["a", "b"]);
        stop(&mut stage);
        stage.advance(MINUTE * 5);
        let posted = stage.moderation(stage.channel());
        assert!(posted.contains(&GUIDE.to_owned()), "a guide is posted all the same");
        assert_eq!(stage.words(), [""; 0]);
        if killed {
            stage.crash();
            stage.restart();
        }
        resume(&mut stage);
        stage.advance(MINUTE);
        assert_eq!(stage.words(), ["a1", "b1"], "killed: {killed}");
    }
}

#[test]
fn a_result_that_waited_through_an_outage_is_posted_when_the_chat_is_back() {
    for lasts in [MINUTE, MINUTE * 20, MINUTE * 50] {
        let mut stage = Setup::new().hosted("a", []).hosted("b", []).rooms(2).stage();
        open_discussion(&mut stage, "Speak.", &["a", "b"]);
        stage.advance(MINUTE);
        let (channel, callback) = (stage.rooms()[0], stage.rooms()[1]);
        let before = stage.moderation(callback).len();
        let moderator = stage.moderator();
        stage.discord().begin_outage(Outage::refused().of(moderator));
        let _archived = stage.begin(move |d| async move { d.channel(channel).archive().await });
        stage.advance(lasts);
        assert_eq!(stage.moderation(callback).len(), before);
        stage.discord().end_outages();
        stage.advance(RETURN);
        assert!(stage.moderation(callback).len() > before, "after {lasts:?}");
    }
}

/// All agents were muted when the guide arrived, and some stay so.
#[test]
fn a_discussion_in_which_no_agent_could_speak_at_first_ends() {
    for (held, unmuted) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut stage = setup().hosted("a", ["a1".into()]).hosted("b", ["b1".into()]).stage();
        stage.discord().begin_outage(Outage::refused().only(Call::Post));
        open_discussion(&mut stage, GUIDE, &["a", "b"]);
        let channel = stage.channel();
        for name in ["a", "b"] {
            stage
                .call(move |d| async move { d.channel(channel).mute(&name.into()).await })
                .unwrap();
        }
        stage.discord().end_outages();
        stage.advance(MINUTE);
        if held {
            Halt::Hold.act(&mut stage);
            stage.advance(MINUTE);
        }
        if unmuted {
            for name in ["a", "b"] {
                stage
                    .call(move |d| async move { d.channel(channel).unmute(&name.into()).await })
                    .unwrap();
            }
        }
        if held {
            resume(&mut stage);
        }
        stage.advance(HOUR * 4);
        let (status, case) = (stage.status().unwrap(), (held, unmuted));
        assert_eq!(status.phase, PhaseKind::Archived, "held, unmuted: {case:?}");
        assert_eq!(stage.words().is_empty(), !unmuted, "held, unmuted: {case:?}");
        assert_eq!(results(&stage).len(), 1, "held, unmuted: {case:?}");
    }
}

/// Its initiator was removed while it talked.
#[test]
fn a_discussion_whose_initiator_is_no_agent_any_more_is_closed_as_overdue() {
    let mut stage = setup().hosted("a", ["a1".into()]).hosted("b", ["b1".into()]).stage();
    open_discussion(&mut stage, GUIDE, &["a", "b"]);
    stage.advance(SECOND);
    let identities = stage.identities().clone();
    stage.call(move |_| async move { identities.remove("a".into()).await }).unwrap();
    stage.call(|d| async move { d.identities_changed().await }).unwrap();
    stage.advance(HOUR * 4);
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Archived, "{:?}", results(&stage));
}

/// A hold comes between the reminder and its post.
#[test]
fn an_initiator_whose_reminder_was_held_back_is_reminded_after_the_hold() {
    let slow = Line::from("a1").taking(SECOND * 5);
    let mut stage = setup().hosted("a", [slow]).hosted("b", ["b1".into()]).stage();
    open_discussion(&mut stage, GUIDE, &["a", "b"]);
    stage.advance(SECOND);
    let (moderator, limited) = (stage.moderator(), Fault::RateLimited { retry_after: MINUTE });
    stage.discord().inject(|faults| faults.next_by(moderator, Call::Post, limited));
    stage.until_dormant();
    Halt::Hold.act(&mut stage);
    stage.advance(HOUR);
    assert_eq!(reminders(&stage), 0);
    resume(&mut stage);
    stage.advance(HOUR * 4);
    assert!(reminders(&stage) > 0);
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Archived);
}

/// A discussion of "a" and "b" that became idle; the answer to the post of its reminder is on its way for 8 s.
fn reminded_slowly() -> Stage {
    let slow = Line::from("a1").taking(SECOND * 5);
    let mut stage = setup()
        .hosted("a", [slow])
        .hosted("b", [Act::Pass.into()])
        .config(|config| config.members.list_fresh = MILLI)
        .stage();
    open_discussion(&mut stage, GUIDE, &["a", "b"]);
    stage.advance(SECOND);
    let (moderator, slow) = (stage.moderator(), Fault::SlowAnswer { by: SECOND * 8 });
    stage.discord().inject(|faults| faults.next_by(moderator, Call::Post, slow));
    stage.until("the reminder is in the channel", |stage| reminders(stage) == 1);
    stage.advance(SECOND); // the list of agents is no longer fresh
    stage
}

/// WD14: a channel that keeps no turns allows everything at its gate, and nothing runs by that.
#[test]
fn an_initiator_whose_permit_is_gone_when_its_reminder_is_answered_for_is_not_called() {
    let mut stage = reminded_slowly();
    let before = runs(&stage);
    let (channel, b) = (stage.channel(), stage.agent("b").user());
    stage.discord().leave(channel, b);
    stage.say("Hello");
    stage.advance(SECOND * 2);
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Disabled);
    stage.advance(MINUTE);
    assert_eq!(runs(&stage), before, "a is called, although no turns are kept");
}

/// WD14: the run after a reminder is not the run of a turn.
#[test]
fn an_initiator_that_has_the_floor_when_its_reminder_is_answered_for_is_called_for_its_turn() {
    let mut stage = reminded_slowly();
    let before = stage.agent("a").turns().len();
    stage.say("Hello");
    stage.advance(SECOND * 20);
    let turns = stage.agent("a").turns();
    let [turn] = &turns[before..] else { panic!("{turns:?}") };
    assert!(!turn.after_reminder, "{turn:?}");
    assert_eq!(turn.missed.last().map(String::as_str), Some("Hello"));
}
