//! Settings that no host should choose: the library lives with them.

use std::time::Duration;

use dirigent::ports::{Attachment, Identity};
use dirigent::settings::{Heartbeat, Pace, Pacing};
use dirigent::snapshot::{Pause, PhaseKind};
use dirigent::{CallError, ChatMessage, Mode, Settings};
use dirigent_testkit::memory_discord::Fault;
use dirigent_verify::stage::{Setup, Stage};

const SECOND: Duration = Duration::from_secs(1);

fn hosted(change: impl FnOnce(&mut Settings)) -> Stage {
    let lines = Setup::new().hosted("a", ["a1".into(), "a2".into()]).hosted("b", ["b1".into()]);
    let mut stage = lines.settings(change).stage();
    stage.chat();
    stage
}

/// Paces that are all the same.
fn pacing(burst: usize, window: Duration) -> Pacing {
    let pace = Some(Pace { burst, window });
    let mut pacing = Pacing::off();
    (pacing.channel, pacing.agent, pacing.global) = (pace, pace, pace);
    pacing
}

/// A person's message of nothing but a picture.
fn picture(stage: &mut Stage, text: &str) {
    let (channel, author) = (stage.channel(), stage.person());
    let id = stage.discord().system_message(channel, author, "its place in the history");
    let picture = Attachment::new("cat.png", "https://example.org/cat.png", 3);
    let message =
        ChatMessage { attachments: vec![picture], ..ChatMessage::new(id, channel, author, text) };
    stage.call(move |d| async move { d.message_created(message).await }).unwrap();
}

/// F04
#[test]
fn a_blank_word_neither_stops_nor_resumes() {
    for blank in ["", " ", "\n\t"] {
        let change = |settings: &mut Settings| {
            settings.reading.stop_words = vec![blank.to_owned()];
            settings.reading.resume_words = vec![blank.to_owned()];
        };
        let lines = Setup::new().hosted("a", ["a1".into(), "a2".into()]).hosted("b", ["b1".into()]);
        let mut stage = lines.settings(change).without_pump().stage();
        stage.chat();
        picture(&mut stage, blank);
        stage.until_dormant();
        let before = stage.agent("a").turns().len();
        assert!(before > 0, "{blank:?} stopped it");
        let channel = stage.channel();
        stage.call(move |d| async move { d.channel(channel).stop().await }).unwrap();
        picture(&mut stage, blank);
        stage.advance(SECOND * 60);
        assert_eq!(stage.agent("a").turns().len(), before, "{blank:?} resumed it");
    }
}

/// Whether a channel whose person said this is stopped.
fn stops(text: &str) -> bool {
    let default = Settings::default();
    let mut stage = hosted(|settings| settings.reading.stop_words = default.reading.stop_words);
    stage.say("Hello");
    stage.say(text);
    stage.advance(SECOND);
    stage.status().unwrap().rest == Some(Pause::Stopped)
}

/// F04
#[test]
fn stop_and_resume_work_without_any_setting() {
    for word in ["stop", "STOP", " Stop. ", "Stop!", "stop…", "停", "停止。", "停！"] {
        assert!(stops(word), "{word:?}");
    }
    for text in ["stop it please", "don't stop", "nonstop", "stop, stop", ".", "停车"] {
        assert!(!stops(text), "{text:?}");
    }
    for word in ["resume", "Resume!", "继续", "恢复。"] {
        let default = Settings::default();
        let mut stage =
            hosted(|settings| settings.reading.resume_words = default.reading.resume_words);
        let channel = stage.channel();
        stage.call(move |d| async move { d.channel(channel).stop().await }).unwrap();
        stage.say(word);
        stage.advance(SECOND);
        assert_eq!(stage.status().unwrap().rest, None, "{word:?}");
    }
}

/// F04
#[test]
fn a_stop_word_may_be_addressed_to_the_moderator() {
    let mut stage = hosted(|_| {});
    stage.say("Hello");
    let other = stage.agent("a").user();
    stage.say(&format!("<@{other}> stop"));
    stage.advance(SECOND);
    assert_eq!(stage.status().unwrap().rest, None, "it was said to somebody else");
    let moderator = stage.moderator();
    stage.say(&format!("<@{moderator}> Stop!"));
    stage.advance(SECOND);
    assert_eq!(stage.status().unwrap().rest, Some(Pause::Stopped));
    stage.say(&format!("<@!{moderator}>, resume"));
    stage.advance(SECOND);
    assert_eq!(stage.status().unwrap().rest, None);
}

/// A registry that people edit may name a person's account.
///
/// F04, F02
#[test]
fn a_persons_message_is_a_persons_whatever_the_registry_says() {
    let lines = Setup::new().hosted("a", ["a1".into()]).hosted("b", ["b1".into()]);
    let mut stage = lines.not_started().stage();
    stage
        .identities()
        .add(Identity {
            discord_user_id: stage.person(),
            agent_id: "impostor".into(),
            agent_name: "Impostor".to_owned(),
        })
        .unwrap();
    stage.restart();
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND);
    assert_ne!(stage.status().unwrap().phase, PhaseKind::Dormant, "a person's word wakes it");
    stage.say("stop");
    stage.advance(SECOND);
    assert_eq!(stage.status().unwrap().rest, Some(Pause::Stopped));
    stage.say("resume");
    stage.advance(SECOND);
    assert_eq!(stage.status().unwrap().rest, None);
}

#[test]
fn the_librarys_own_account_is_no_agents_whatever_the_registry_says() {
    let mut stage = Setup::new().hosted("a", []).hosted("b", []).not_started().stage();
    let identity = Identity {
        discord_user_id: stage.moderator(),
        agent_id: "impostor".into(),
        agent_name: "Impostor".to_owned(),
    };
    stage.identities().add(identity).unwrap();
    stage.restart();
    stage.chat();
    stage.say("Hello");
    stage.until_dormant();
    let list = stage.status().unwrap().list;
    assert_eq!(list.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
}

/// However often it is told to wait a little, it goes on, and no number overflows.
#[test]
fn a_hundred_short_rate_limits_in_a_row_are_waited_for() {
    let mut stage = hosted(|_| {});
    for _ in 0..100 {
        stage.discord().next_post(Fault::RateLimited { retry_after: SECOND / 100 });
    }
    stage.say("Hello");
    stage.until_dormant();
    assert_eq!(stage.words(), ["Hello", "a1", "b1", "a2"]);
}

#[test]
fn counts_and_deadlines_at_their_upper_ends_change_no_turn() {
    let mut stage = hosted(|settings| {
        settings.limits.poll_limit = u8::MAX;
        (settings.limits.missed_max, settings.limits.calls_max) = (usize::MAX, usize::MAX);
        settings.limits.agent_calls_max = Some(usize::MAX);
        (settings.time_limits.call, settings.time_limits.missed_wake_max) =
            (Duration::MAX, Duration::MAX);
        settings.limits.pacing = pacing(usize::MAX, Duration::MAX);
    });
    stage.say("Hello");
    stage.until_dormant();
    assert_eq!(stage.words(), ["Hello", "a1", "b1", "a2"]);
    stage.crash();
    stage.restart();
    stage.say("And again");
    stage.until_dormant();
    assert_eq!(stage.words().last().unwrap(), "And again");
}

#[test]
fn counts_of_nothing_are_taken_for_one_or_none() {
    let mut stage = hosted(|settings| {
        settings.limits.poll_limit = 0;
        (settings.limits.missed_max, settings.limits.calls_max) = (0, 0);
        settings.limits.agent_calls_max = Some(0);
        settings.time_limits.missed_wake_max = Duration::ZERO;
        settings.limits.pacing = pacing(0, Duration::ZERO);
    });
    stage.say("Hello");
    stage.until_dormant();
    assert_eq!(stage.words(), ["Hello", "a1", "b1", "a2"]);
    assert!(stage.agent("b").turns().iter().all(|turn| turn.missed.len() <= 1));
}

/// Nobody may ever speak again, and still the channel is held by nobody.
#[test]
fn a_pace_without_end_costs_replies_and_holds_no_turn() {
    let mut stage = hosted(|settings| settings.limits.pacing = pacing(1, Duration::MAX));
    stage.say("Hello");
    stage.until_dormant();
    assert_eq!(stage.words(), ["Hello", "a1"]);
}

#[test]
fn deadlines_of_nothing_are_told_as_calls_without_an_answer() {
    let mut stage = Setup::new().hosted("a", ["a1".into()]).hosted("b", ["b1".into()]);
    stage = stage.settings(|settings| {
        (settings.time_limits.request, settings.time_limits.call) =
            (Duration::ZERO, Duration::ZERO);
    });
    let mut stage = stage.stage();
    let channel = stage.channel();
    let answer = stage.call(move |d| async move { d.channel(channel).set_mode(Mode::Chat).await });
    assert!(matches!(answer, Err(CallError::NotStored)), "{answer:?}");
    stage.say("Hello");
    stage.advance(SECOND * 3_600);
    assert!(stage.take_end().is_none(), "the driver has ended");
}

type SetWait = fn(&mut Settings, Duration);

/// Every wait among the settings.
const WAITS: [(&str, SetWait); 7] = [
    ("request", |it, wait| it.time_limits.request = wait),
    ("call", |it, wait| it.time_limits.call = wait),
    ("missed_wake_max", |it, wait| it.time_limits.missed_wake_max = wait),
    ("pacing", |it, wait| it.limits.pacing = pacing(10_000, wait)),
    ("creations", |it, wait| {
        it.limits.creations = Some(Pace { burst: 1, window: wait });
    }),
    ("heartbeat", |it, wait| {
        it.hooks.heartbeat = Some(Heartbeat { period: wait, misses: u32::MAX });
    }),
    ("backfill", |it, wait| it.time_limits.backfill = Some(wait)),
];

/// Turns, a rate limit, lost answers, a heartbeat, a gap, a kill and more turns; the words that were said.
fn a_hard_day(change: impl FnOnce(&mut Settings)) -> Vec<String> {
    let lines = Setup::new().hosted("a", ["a1".into(), "a2".into()]).hosted("b", ["b1".into()]);
    let mut stage = lines.settings(change).stage();
    let channel = stage.channel();
    let _ = stage.call(move |d| async move { d.channel(channel).set_mode(Mode::Chat).await });
    stage.discord().next_post(Fault::RateLimited { retry_after: SECOND });
    stage.discord().next_post(Fault::LostAnswer);
    stage.say("Hello");
    stage.advance(SECOND * 100);
    let _ = stage.call(|d| async move { d.heartbeat(&"a".into()).await });
    let _ = stage.call(|d| async move { d.reconnected().await });
    stage.advance(SECOND * 700);
    stage.crash();
    stage.restart();
    stage.say("And again");
    stage.advance(SECOND * 100);
    assert!(stage.take_end().is_none(), "the driver has ended");
    stage.words()
}

#[test]
fn no_wait_at_its_ends_overflows() {
    let usual = a_hard_day(|_| {});
    assert_eq!(usual, ["Hello", "a1", "b1", "a2", "And again"]);
    for (field, set) in WAITS {
        for wait in [Duration::ZERO, SECOND / 1_000] {
            a_hard_day(|settings| set(settings, wait));
        }
        let words = a_hard_day(|settings| set(settings, Duration::MAX));
        assert_eq!(words, usual, "{field} of the longest wait");
    }
    for wait in [Duration::ZERO, Duration::MAX] {
        a_hard_day(|settings| WAITS.iter().for_each(|(_, set)| set(settings, wait)));
    }
}
