//! P2: what has not been sent does not leave after a stop, a hold, a change of mode, an archive or a
//! passed deadline, whatever it waited for.

use std::sync::Arc;
use std::time::Duration;

use dirigent::ports::Mentions;
use dirigent::settings::{HumanInterrupt, Pace};
use dirigent::snapshot::Pause;
use dirigent::{Clock, UserId};
use dirigent_testkit::memory_discord::{Call, Fault, PostRecord};
use dirigent_testkit::scripted_agent::{Act, Line};
use dirigent_verify::stage::{Setup, Stage, StoreFault};

use super::kit::{
    Answers, Halt, MILLI, MINUTE, REMINDER, SECOND, open_discussion, reminders, resume,
};

/// What a post waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    /// The end of a rate limit.
    RateLimit,
    /// A repetition after an error of the server.
    Repetition,
    /// Its pace.
    Pace,
}

const WAITS: [Wait; 3] = [Wait::RateLimit, Wait::Repetition, Wait::Pace];

impl Wait {
    /// One post of a channel at once, the next 10 s later.
    fn prepare(self, setup: Setup) -> Setup {
        let pace = Pace { burst: 1, window: SECOND * 10 };
        setup.settings(move |settings| {
            settings.limits.pacing.channel = (self == Self::Pace).then_some(pace);
        })
    }

    /// Lets the next post of this account wait.
    fn next_of(self, stage: &Stage, account: UserId) {
        let fault = match self {
            Self::RateLimit => Fault::RateLimited { retry_after: SECOND * 8 },
            Self::Repetition => Fault::ServerErrorNotApplied,
            Self::Pace => return,
        };
        stage.discord().inject(|faults| faults.next_by(account, Call::Post, fault));
    }
}

/// What was tried to be posted by this account, or to wake it, since the last look.
fn tried(stage: &Stage, account: UserId) -> Vec<PostRecord> {
    let posts = stage.discord().take_posts().into_iter();
    posts.filter(|p| p.author == account || p.mentions == Mentions::User(account)).collect()
}

fn parts() -> [String; 2] {
    ["1", "2"].map(|part| part.repeat(2_000))
}

/// A room in which the reply of the hosted agent "a", or its second part, waits.
fn waiting_reply(wait: Wait) -> Stage {
    let setup = Setup::new().hosted("a", [parts().concat().into()]).hosted("b", []);
    let mut stage = wait.prepare(setup).stage();
    stage.agent("a").say_once();
    stage.chat();
    wait.next_of(&stage, stage.agent("a").user());
    stage.say("Hello");
    stage.advance(MILLI);
    assert!(stage.words().len() < 3, "{wait:?}: it does not wait");
    stage
}

/// P2
#[test]
fn a_reply_that_waits_does_not_leave_after_a_stop_a_hold_a_mode_change_or_an_archive() {
    for wait in WAITS {
        for halt in Halt::ALL {
            let mut stage = waiting_reply(wait);
            halt.act(&mut stage);
            let a = stage.agent("a").user();
            let (_, words) = (tried(&stage, a), stage.words());
            stage.advance(MINUTE * 2);
            assert_eq!(tried(&stage, a), [], "{wait:?}, {halt:?}: an attempt left");
            assert_eq!(stage.words(), words, "{wait:?}, {halt:?}");
        }
    }
}

/// P2
#[test]
fn a_reply_that_waited_through_a_hold_leaves_once_after_the_resume() {
    for wait in WAITS {
        let mut stage = waiting_reply(wait);
        Halt::Hold.act(&mut stage);
        stage.advance(MINUTE * 2);
        assert!(stage.words().len() < 3, "{wait:?}: it left on hold");
        resume(&mut stage);
        stage.advance(SECOND * 30);
        let [first, second] = parts();
        assert_eq!(stage.words(), ["Hello".to_owned(), first, second], "{wait:?}");
    }
}

/// A room in which the trigger for a hooked agent waits, and that agent.
fn waiting_trigger(wait: Wait) -> (Stage, &'static str) {
    let setup = Setup::new().hooked("a", ["a1".into()]).hooked("b", ["b1".into()]);
    let mut stage = wait.prepare(setup).stage();
    stage.chat();
    wait.next_of(&stage, stage.moderator());
    stage.say("Hello");
    stage.advance(MILLI);
    // The first trigger needs no pace.
    let waits = if wait == Wait::Pace { "b" } else { "a" };
    let speaker = stage.status().unwrap().speaker;
    assert_eq!(speaker, Some(waits.into()), "{wait:?}");
    assert_eq!(stage.agent(waits).turns().len(), 0, "{wait:?}: it does not wait");
    (stage, waits)
}

/// P13
#[test]
fn a_stop_word_is_acknowledged_within_a_second_whatever_waits() {
    let is_acknowledged = |stage: &mut Stage, what: &str| {
        let (began, channel) = (stage.clock().now(), stage.channel());
        stage.say("Stop.");
        while !stage
            .moderation(channel)
            .iter()
            .any(|word| word == dirigent::settings::Texts::STOPPED_NOTICE)
        {
            assert!(stage.clock().now() < began + SECOND, "{what}: no acknowledgement");
            stage.advance(MILLI * 50);
        }
        assert_eq!(stage.status().unwrap().rest, Some(Pause::Stopped), "{what}");
    };
    let long = Line::from("a1").taking(MINUTE);
    let mut running = Setup::new().hosted("a", [long]).hosted("b", []).stage();
    running.chat();
    running.say("Hello");
    running.advance(SECOND);
    is_acknowledged(&mut running, "a run");
    // Where Discord limits the moderator itself, or its pace is spent, nothing of it can be posted.
    for wait in [Wait::RateLimit, Wait::Repetition] {
        is_acknowledged(&mut waiting_reply(wait), &format!("a reply, {wait:?}"));
    }
    is_acknowledged(&mut waiting_trigger(Wait::Repetition).0, "a trigger");
    let mut hanging = Setup::new().hooked("a", []).hooked("b", []).stage();
    hanging.chat();
    hanging.discord().next_post(Fault::SlowRequest { by: SECOND * 9 });
    hanging.say("Hello");
    hanging.advance(SECOND / 2);
    is_acknowledged(&mut hanging, "the post of a trigger that hangs");
    // It arrives all the same: its agent is denied, and it is removed.
    hanging.advance(SECOND * 20);
    assert_eq!(hanging.moderation(hanging.channel()), [dirigent::settings::Texts::STOPPED_NOTICE]);
}

/// P2, M4
#[test]
fn a_trigger_that_waits_does_not_leave_after_a_stop_a_hold_a_mode_change_or_an_archive() {
    for wait in WAITS {
        for halt in Halt::ALL {
            let (mut stage, waits) = waiting_trigger(wait);
            halt.act(&mut stage);
            let account = stage.agent(waits).user();
            tried(&stage, account);
            stage.advance(MINUTE * 2);
            assert_eq!(tried(&stage, account), [], "{wait:?}, {halt:?}: an attempt left");
            assert_eq!(stage.agent(waits).turns().len(), 0, "{wait:?}, {halt:?}");
        }
    }
}

/// P2, M4
#[test]
fn a_trigger_that_waited_through_a_hold_leaves_after_the_resume() {
    for wait in WAITS {
        let (mut stage, waits) = waiting_trigger(wait);
        Halt::Hold.act(&mut stage);
        stage.advance(MINUTE * 2);
        assert_eq!(stage.agent(waits).turns().len(), 0, "{wait:?}: it left on hold");
        resume(&mut stage);
        stage.advance(SECOND * 30);
        assert!(!stage.agent(waits).turns().is_empty(), "{wait:?}: it never left");
    }
}

/// P2
#[test]
fn a_trigger_whose_turn_is_over_does_not_leave() {
    for wait in [SECOND * 4, SECOND * 9, SECOND * 20] {
        // A turn lasts for longer than a step: what had the floor is seen.
        let silence = || (0..9).map(|_| Line::from("").taking(SECOND));
        let mut stage = Setup::new()
            .hooked("a", silence())
            .hooked("b", silence())
            .config(|config| {
                config.deadlines.start = Some(SECOND * 3);
                config.deadlines.retriggers = 0;
            })
            .stage();
        stage.chat();
        stage.discord().next_post(Fault::RateLimited { retry_after: wait });
        stage.say("Hello");
        let until = stage.clock().now() + MINUTE;
        let mut triggers = 0;
        let mut before = None;
        loop {
            let speaker = stage.status().unwrap().speaker;
            let speaker = speaker.map(|name| stage.agent(name.as_str()).user());
            for post in stage.discord().take_posts() {
                let Mentions::User(woken) = post.mentions else { continue };
                let is_posted = post.message.is_some();
                triggers += u32::from(is_posted);
                // Its turn may have ended, or have begun, with the step.
                let has_turn = [before, speaker].contains(&Some(woken));
                assert!(!is_posted || has_turn, "{wait:?}: its turn was over");
            }
            before = speaker;
            if !stage.step(until) {
                break;
            }
        }
        assert!(triggers > 0, "{wait:?}: the room stood still");
    }
}

/// A discussion whose guide is posted, with the first idle reminder still to come.
fn discussion() -> Stage {
    let mut stage = Setup::new()
        .rooms(2)
        .hosted("a", [Line::from("a1").taking(SECOND)])
        .hosted("b", [])
        .settings(|settings| REMINDER.clone_into(&mut settings.texts.idle_reminder))
        .stage();
    open_discussion(&mut stage, "Which plan?", &["a", "b"]);
    stage
}

/// P2
#[test]
fn a_reminder_that_waits_does_not_leave_after_a_stop_a_hold_or_an_archive() {
    for wait in [Wait::RateLimit, Wait::Repetition] {
        for halt in Halt::OF_DISCUSSIONS {
            let mut stage = discussion();
            wait.next_of(&stage, stage.moderator());
            stage.until_dormant();
            stage.advance(MILLI);
            assert_eq!(reminders(&stage), 0, "{wait:?}: it does not wait");
            halt.act(&mut stage);
            stage.advance(MINUTE * 2);
            assert_eq!(reminders(&stage), 0, "{wait:?}, {halt:?}");
        }
    }
}

/// P2
#[test]
fn a_reminder_that_waits_does_not_leave_after_a_person_wrote() {
    for wait in [Wait::RateLimit, Wait::Repetition] {
        let mut stage = discussion();
        wait.next_of(&stage, stage.moderator());
        stage.until_dormant();
        stage.agent("a").then(Line::from("a2").taking(MINUTE));
        stage.say("One more thing");
        stage.advance(SECOND * 50);
        assert_eq!(reminders(&stage), 0, "{wait:?}: the discussion goes on");
    }
}

/// M1
#[test]
fn a_reminder_behind_a_slow_commit_does_not_leave_after_a_person_wrote() {
    let mut waited = 0;
    // One of the commits before the room is dormant holds the reminder back.
    for slow in 0..24 {
        let mut stage = discussion();
        for _ in 0..slow {
            stage.store().next_commit(StoreFault::TakesSoLong(Duration::ZERO));
        }
        stage.store().next_commit(StoreFault::TakesSoLong(SECOND * 5));
        stage.until_dormant();
        if reminders(&stage) > 0 {
            continue;
        }
        waited += 1;
        stage.agent("a").then(Line::from("a2").taking(MINUTE));
        stage.say("One more thing");
        stage.advance(SECOND * 50);
        assert_eq!(reminders(&stage), 0, "commit {slow}");
    }
    assert!(waited > 0, "no commit held the reminder back");
}

/// P2
#[test]
fn an_orchestrators_answer_that_waits_does_not_leave_after_a_stop_a_hold_a_mode_change_or_an_archive()
 {
    for wait in [Wait::RateLimit, Wait::Repetition] {
        for halt in Halt::ALL {
            let mut stage = Setup::new()
                .hosted("a", [Act::Hang.into()])
                .hosted("b", [])
                .config(|config| config.people.human_interrupt = HumanInterrupt::Interrupt)
                .stage();
            stage.dirigent().set_orchestrator(Some(Arc::new(Answers)));
            stage.chat();
            stage.say("Hello");
            wait.next_of(&stage, stage.moderator());
            stage.say("Is it Friday?");
            stage.advance(MILLI);
            let answers = |stage: &Stage| {
                let posted = stage.moderation(stage.channel());
                posted.iter().filter(|text| text.as_str() == "In a minute.").count()
            };
            assert_eq!(answers(&stage), 0, "{wait:?}: it does not wait");
            halt.act(&mut stage);
            stage.advance(SECOND * 25);
            assert_eq!(answers(&stage), 0, "{wait:?}, {halt:?}");
        }
    }
}

/// Its agent would run because of it.
#[test]
fn a_trigger_that_arrives_after_a_stop_is_removed_although_no_event_tells_of_it() {
    let mut stage = Setup::new().hooked("a", ["a1".into()]).hooked("b", []).stage();
    stage.chat();
    stage.discord().next_post(Fault::SlowRequest { by: SECOND * 9 });
    stage.say("Hello");
    stage.advance(SECOND / 2);
    Halt::Stop.act(&mut stage);
    stage.cut_gateway(true);
    stage.advance(SECOND * 20);
    assert_eq!(stage.moderation(stage.channel()), [""; 0]);
}
