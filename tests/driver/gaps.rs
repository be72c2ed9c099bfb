//! What was said without an event of it, and what else a chat tells of its channels.

use std::time::Duration;

use dirigent::snapshot::PhaseKind;
use dirigent::store::Durability;
use dirigent::{ChannelId, Dirigent, MessageId, Mode};
use dirigent_testkit::memory_discord::{Call, Fault, PushFault};
use dirigent_testkit::scripted_agent::{Act, Line};
use dirigent_verify::stage::{Setup, Stage};

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);

pub(super) fn hosted() -> Setup {
    Setup::new().hosted("a", ["a1".into(), "a2".into()]).hosted("b", ["b1".into()])
}

fn looking_out(every: Duration) -> Setup {
    hosted().settings(|settings| settings.time_limits.backfill = Some(every))
}

/// A person speaks, and no event of it arrives.
pub(super) fn unheard(stage: &mut Stage, channel: ChannelId, text: &str) -> MessageId {
    stage.discord().next_push(PushFault::Dropped);
    stage.say_in(channel, text)
}

fn history_reads(stage: &Stage) -> u64 {
    stage.discord().calls().of(Call::History)
}

fn reconnected(stage: &mut Stage) {
    stage.call(|d| async move { d.reconnected().await }).unwrap();
}

/// F19: after a gap what was missed is read, and wakes whom it would have woken; once.
#[test]
fn what_was_missed_in_a_gap_wakes_once() {
    let mut stage = hosted().stage();
    stage.chat();
    let channel = stage.channel();
    unheard(&mut stage, channel, "Is anybody there?");
    stage.advance(MINUTE);
    assert_eq!(stage.words(), ["Is anybody there?"]);
    for _ in 0..3 {
        reconnected(&mut stage);
        stage.until_dormant();
        assert_eq!(stage.words(), ["Is anybody there?", "a1", "b1", "a2"]);
    }
}

/// F19: a room that has left memory is found in the store, and what comes meanwhile hides nothing.
#[test]
fn a_gap_is_read_in_rooms_that_sleep_too() {
    let mut stage = hosted().rooms(3).stage();
    stage.chat();
    let rooms = stage.rooms().to_vec();
    for room in &rooms {
        stage.say_in(*room, "Hello");
    }
    stage.advance(MINUTE * 15);
    let before: Vec<_> = rooms.iter().map(|room| stage.words_in(*room).len()).collect();
    for room in &rooms {
        unheard(&mut stage, *room, "Missed");
    }
    let slow = Fault::SlowRequest { by: SECOND * 5 };
    stage.discord().inject(|faults| faults.next(Call::History, slow));
    stage.agent("a").then("a3");
    reconnected(&mut stage);
    stage.say_in(rooms[2], "Pushed");
    stage.advance(MINUTE);
    let turns: Vec<_> = stage.agents().flat_map(dirigent_testkit::ScriptedAgent::turns).collect();
    for (room, before) in rooms.iter().zip(before) {
        assert!(stage.words_in(*room).len() > before);
        let heard = turns.iter().filter(|turn| turn.channel == Some(*room));
        let heard: Vec<_> = heard.flat_map(|turn| turn.missed.clone()).collect();
        assert!(heard.contains(&"Missed".to_owned()), "{heard:?}");
    }
}

/// F19: where the chat says what a channel's newest message is, nothing is read unless it is news.
#[test]
fn only_news_is_read() {
    let mut stage = hosted().stage();
    stage.chat();
    let channel = stage.channel();
    let heard = stage.say("Hello");
    stage.until_dormant();
    let newest = stage.discord().messages(channel).last().unwrap().id;
    let reads = history_reads(&stage);
    for id in [heard, newest] {
        stage.call(move |d| async move { d.newest_message(channel, id).await }).unwrap();
        stage.advance(MINUTE);
    }
    assert_eq!(history_reads(&stage), reads);
    let missed = unheard(&mut stage, channel, "Again");
    let nowhere = ChannelId::new(5);
    stage.call(move |d| async move { d.newest_message(nowhere, missed).await }).unwrap();
    assert_eq!(history_reads(&stage), reads);
    stage.agent("a").then("a3");
    stage.call(move |d| async move { d.newest_message(channel, missed).await }).unwrap();
    stage.until_dormant();
    assert!(history_reads(&stage) > reads);
    assert!(stage.words().ends_with(&["Again".to_owned(), "a3".to_owned()]));
}

/// F19: a chat that cannot be read now is asked again.
#[test]
fn a_gap_that_cannot_be_read_is_tried_again() {
    let mut stage = hosted().stage();
    stage.chat();
    let channel = stage.channel();
    unheard(&mut stage, channel, "Hello");
    stage.discord().inject(|faults| {
        for _ in 0..8 {
            faults.next(Call::History, Fault::NotDelivered);
        }
    });
    reconnected(&mut stage);
    stage.advance(SECOND * 5);
    assert_eq!(stage.words(), ["Hello"]);
    stage.advance(MINUTE * 5);
    assert_eq!(stage.words(), ["Hello", "a1", "b1", "a2"]);
}

/// F19: an event that was lost for no reason is made up for by looking now and then.
#[test]
fn a_lost_event_is_made_up_for() {
    let mut stage = looking_out(MINUTE * 5).stage();
    stage.chat();
    let channel = stage.channel();
    unheard(&mut stage, channel, "Hello");
    stage.advance(MINUTE * 4);
    assert_eq!(stage.words(), ["Hello"]);
    stage.advance(MINUTE * 2);
    assert_eq!(stage.words(), ["Hello", "a1", "b1", "a2"]);
    // Also in a room that has left memory.
    stage.advance(MINUTE * 30);
    unheard(&mut stage, channel, "Again");
    stage.agent("a").then("a3");
    stage.advance(MINUTE * 6);
    assert!(stage.words().ends_with(&["Again".to_owned(), "a3".to_owned()]));
}

/// F04: a stop that no event told of is heard too.
#[test]
fn a_lost_stop_word_stops_nevertheless() {
    let setup = Setup::new().hosted("a", [Act::Hang.into()]).hosted("b", []);
    let every = Some(MINUTE);
    let mut stage = setup.settings(|settings| settings.time_limits.backfill = every).stage();
    stage.chat();
    stage.say("Hello");
    let channel = stage.channel();
    unheard(&mut stage, channel, "stop");
    stage.say("Well?");
    stage.advance(MINUTE);
    assert!(stage.status().unwrap().rest.is_some());
}

/// A person's message that was heard of after a newer one is handed over all the same.
#[test]
fn what_was_heard_late_is_handed_over() {
    let mut stage = looking_out(MINUTE).stage();
    stage.chat();
    let channel = stage.channel();
    unheard(&mut stage, channel, "First");
    stage.say("Second");
    stage.until_dormant();
    stage.agent("a").then("a3");
    stage.advance(MINUTE * 2);
    let turns = stage.agent("a").turns();
    let given = turns.iter().filter(|turn| turn.missed.contains(&"First".to_owned())).count();
    assert_eq!(given, 1);
    let second = turns.iter().filter(|turn| turn.missed.contains(&"Second".to_owned())).count();
    assert_eq!(second, 1);
}

/// R283: looking costs a bounded number of requests, and nothing where nobody keeps turns.
#[test]
fn looking_out_is_bounded_and_reaches_every_room() {
    let mut stage = looking_out(MINUTE).rooms(131).stage();
    stage.chat();
    let rooms = stage.rooms().to_vec();
    let off = rooms[130];
    stage.call(move |d| async move { d.channel(off).set_mode(Mode::None).await }).unwrap();
    stage.advance(MINUTE * 20);
    for asleep in [true, false] {
        let reads = history_reads(&stage);
        stage.advance(MINUTE * 6);
        let reads = history_reads(&stage) - reads;
        assert!((350..=600).contains(&reads), "{asleep}: {reads}");
        for (room, lines) in rooms[..130].iter().zip(1..) {
            unheard(&mut stage, *room, "Hello");
            stage.agent("a").then(format!("{asleep} {lines}").as_str());
        }
        unheard(&mut stage, off, "Hello");
        stage.advance(MINUTE * 10);
        let mut heard = 0;
        for room in &rooms[..130] {
            let agents = stage.words_in(*room).iter().filter(|word| *word != "Hello").count();
            heard += usize::from(agents > 0);
        }
        assert_eq!(heard, 130, "{asleep}");
        assert_eq!(stage.words_in(off).last().unwrap(), "Hello");
    }
}

/// Without looking out, no time is waited for and nothing is read.
#[test]
fn without_looking_out_nothing_is_read() {
    let mut stage = hosted().stage();
    stage.chat();
    stage.say("Hello");
    stage.until_dormant();
    let reads = history_reads(&stage);
    stage.advance(MINUTE * 600);
    assert_eq!(history_reads(&stage), reads);
    assert_eq!(stage.clock().waiting(), 0);
}

/// What was said before a channel was given its mode is nothing that was missed.
#[test]
fn what_was_said_before_the_mode_wakes_nobody() {
    let mut stage = looking_out(MINUTE).without_pump().stage();
    let (channel, person) = (stage.channel(), stage.person());
    stage.discord().say(channel, person, "Before");
    stage.advance(SECOND * 30);
    stage.chat();
    stage.advance(MINUTE * 3);
    reconnected(&mut stage);
    stage.advance(MINUTE * 3);
    assert_eq!(stage.words(), ["Before"]);
    stage.discord().say(channel, person, "After");
    stage.advance(MINUTE * 2);
    assert_eq!(stage.words(), ["Before", "After", "a1", "b1", "a2"]);
}

/// What was said while nobody kept turns is nothing that was missed, though it was not stored.
#[test]
fn what_was_said_under_another_mode_wakes_nobody() {
    for pause in [SECOND, MINUTE * 11] {
        let mut stage = looking_out(MINUTE).stage();
        stage.chat();
        let channel = stage.channel();
        stage.say("Hello");
        stage.until_dormant();
        let words = stage.words().len();
        stage
            .call(move |d| async move { d.channel(channel).set_mode(Mode::Report).await })
            .unwrap();
        stage.advance(pause);
        stage.say("Between");
        stage.advance(MINUTE);
        stage.agent("a").then("a3");
        stage.call(move |d| async move { d.channel(channel).set_mode(Mode::Chat).await }).unwrap();
        stage.advance(MINUTE * 3);
        reconnected(&mut stage);
        stage.advance(MINUTE * 3);
        assert_eq!(stage.words().len(), words + 1, "{pause:?}");
        unheard(&mut stage, channel, "After");
        stage.advance(MINUTE * 2);
        assert_eq!(stage.words().last().unwrap(), "a3");
    }
}

/// A message that was deleted is handed to nobody, and an edited one as it stands.
#[test]
fn agents_are_handed_what_stands_in_the_channel() {
    let mut stage = Setup::new()
        .hosted("a", [Line::from("a1").taking(SECOND * 20)])
        .hosted("b", ["b1".into()])
        .stage();
    stage.chat();
    stage.say("Hello");
    let (channel, taken_back) = (stage.channel(), stage.say("Oh no"));
    let corrected = stage.say("Good moaning");
    assert!(stage.discord().delete_message(channel, taken_back));
    assert!(stage.discord().edit(channel, corrected, "Good morning"));
    stage.until_dormant();
    let heard = &stage.agent("b").turns()[0].missed;
    assert_eq!(heard, &["Hello", "Good morning", "a1"]);
}

/// D19: a channel that is deleted lets go of whoever ran in it, for good.
#[test]
fn a_deleted_channel_keeps_no_turns() {
    let mut stage = Setup::new().hosted("a", [Act::Hang.into()]).hosted("b", []).stage();
    stage.chat();
    stage.say("Hello");
    let channel = stage.channel();
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Running);
    for _ in 0..2 {
        stage.call(move |d| async move { d.channel_deleted(channel).await }).unwrap();
        assert!(stage.agent("a").turns()[0].cancelled);
        assert_eq!(stage.status(), None);
        let stored = stage.store().commits().last().unwrap().durability;
        assert_eq!(stored, Durability::Fact);
    }
    stage.crash();
    stage.restart();
    assert_eq!(stage.status(), None);
    let nowhere = ChannelId::new(5);
    stage.call(move |d| async move { d.channel_deleted(nowhere).await }).unwrap();
    assert!(stage.status_of(nowhere).is_none());
}

/// A hosted agent is seen typing while it runs, if the host wants that, and no longer.
#[test]
fn an_agent_is_seen_typing_while_it_runs() {
    for (typing, shown) in [(true, 3), (false, 0)] {
        let mut stage = Setup::new()
            .hosted("a", [Line::from("a1").taking(SECOND * 20)])
            .hosted("b", [Act::Pass.into()])
            .settings(|settings| settings.typing = typing)
            .stage();
        stage.chat();
        stage.say("Hello");
        stage.until_dormant();
        stage.advance(MINUTE);
        assert_eq!(stage.words(), ["Hello", "a1"]);
        assert_eq!(stage.discord().calls().of(Call::Typing), shown);
    }
}

/// What goes wrong with showing it is nobody's business; where it is forbidden it is asked once.
#[test]
fn typing_that_fails_disturbs_nothing() {
    for (fault, shown) in [
        (Fault::Forbidden, 1),
        (Fault::RateLimited { retry_after: SECOND * 15 }, 2),
        (Fault::NotDelivered, 3),
        (Fault::SlowAnswer { by: MINUTE * 10 }, 1),
    ] {
        let mut stage = Setup::new()
            .hosted("a", [Line::from("a1").taking(SECOND * 20)])
            .hosted("b", [])
            .settings(|settings| settings.typing = true)
            .stage();
        stage.chat();
        stage.discord().inject(|faults| faults.next(Call::Typing, fault));
        stage.say("Hello");
        stage.until_dormant();
        assert_eq!(stage.words(), ["Hello", "a1"]);
        assert_eq!(stage.discord().calls().of(Call::Typing), shown, "{fault:?}");
    }
}

/// A run that was taken away is not shown as typing any more.
#[test]
fn a_cancelled_run_is_not_typing() {
    let mut stage = Setup::new()
        .hosted("a", [Act::Deaf.into()])
        .hosted("b", [])
        .settings(|settings| settings.typing = true)
        .stage();
    stage.chat();
    stage.say("Hello");
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).stop().await }).unwrap();
    let shown = stage.discord().calls().of(Call::Typing);
    stage.advance(MINUTE * 10);
    assert_eq!(stage.discord().calls().of(Call::Typing), shown);
}

/// Who is asked for, by the adapter, costs no call of the store.
#[test]
fn who_is_an_agent_and_what_is_known_is_told_at_once() {
    let mut stage = hosted().stage();
    stage.chat();
    let dirigent: Dirigent = stage.dirigent();
    assert!(
        dirigent.channel(stage.channel()).is_known()
            && !dirigent.channel(ChannelId::new(5)).is_known()
    );
    let mut accounts = dirigent.agent_accounts();
    accounts.sort_unstable();
    let mut agents: Vec<_> = stage.agents().map(dirigent_testkit::ScriptedAgent::user).collect();
    agents.sort_unstable();
    assert_eq!(accounts, agents);
}
