//! WD1, WD2, WD3, WY9: every word of a person is handed to each agent in one turn that ends well.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::settings::HumanInterrupt;
use dirigent::snapshot::PhaseKind;
use dirigent::{Agent, AgentError, MessageId, Mode, Reply, Turn};
use dirigent_testkit::memory_discord::{Call, Fault, Outage, Permissions, PushFault};
use dirigent_testkit::scripted_agent::{Act, Line};
use dirigent_testkit::worlds::{World, Worlds};
use dirigent_testkit::{Random, ScriptedAgent};
use dirigent_verify::stage::{Setup, Stage};

use super::kit::{HOUR, MINUTE, SECOND, resume, stop};

const NAMES: [&str; 9] = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];

/// How much an agent is handed at once, and how much is kept in memory.
#[derive(Clone, Copy, Debug)]
enum Bounds {
    Default,
    FewMessages,
    FewBytes,
    ShortMemory,
    AllSmall,
}

impl Bounds {
    const ALL: [Self; 5] =
        [Self::Default, Self::FewMessages, Self::FewBytes, Self::ShortMemory, Self::AllSmall];

    fn set(self, settings: &mut dirigent::Settings) {
        if matches!(self, Self::FewMessages | Self::AllSmall) {
            settings.limits.missed_max = 3;
        }
        if matches!(self, Self::FewBytes | Self::AllSmall) {
            settings.limits.missed_bytes_max = 150;
        }
        if matches!(self, Self::ShortMemory | Self::AllSmall) {
            settings.limits.texts_bytes_max = 2_000;
        }
    }
}

/// When people speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    /// The channel sleeps.
    Dormant,
    /// The agents talk, and take what comes during their turns.
    Talking,
    /// The agents talk, and what comes during a turn waits for its end.
    Queued,
    /// The process is down, and has the same store afterwards.
    Down,
    /// Discord answers no request for 10 minutes, and tells of the words all the same.
    Unanswered,
    /// Discord is not there at all for 10 minutes.
    Away,
    /// The channel sleeps, and the moderator is not allowed to see it for 12 seconds.
    Unseen,
    /// The agents talk, and the moderator is not allowed to see it for 12 seconds.
    TalkingUnseen,
}

impl When {
    const ALL: [Self; 8] = [
        Self::Dormant,
        Self::Talking,
        Self::Queued,
        Self::Down,
        Self::Unanswered,
        Self::Away,
        Self::Unseen,
        Self::TalkingUnseen,
    ];

    const fn talks(self) -> bool {
        matches!(self, Self::Talking | Self::Queued | Self::TalkingUnseen)
    }
}

/// Whether the moderator is allowed to see the channel.
fn allow_to_see(stage: &mut Stage, is_allowed: bool) {
    let none = Permissions::NONE;
    let (allow, deny) =
        if is_allowed { (Permissions::TALK, none) } else { (none, Permissions::VIEW_CHANNEL) };
    let channel = stage.discord().channel(stage.channel());
    channel.set_member_overwrite(stage.moderator(), allow, deny);
    // The stage's connection is the host's, which sees everything.
    stage.cut_gateway(!is_allowed);
    stage.settle();
}

/// The right is back, and that is told, as an adapter does that follows permissions.
fn see_again(stage: &mut Stage) {
    allow_to_see(stage, true);
    let (channel, unheard) = (stage.channel(), MessageId::new(u64::MAX));
    stage.call(move |d| async move { d.newest_message(channel, unheard).await }).unwrap();
}

/// So many hosted agents, without ceilings. Each says the given number of lines, a second each, and passes afterwards.
fn cast(agents: usize, lines: usize) -> Setup {
    let lines_of = |name: &str| {
        (0..lines)
            .map(|at| Line::from(format!("{name} says {at:03}").as_str()).taking(SECOND))
            .collect::<Vec<_>>()
    };
    let names = NAMES.iter().take(agents);
    names
        .fold(Setup::new(), |setup, name| setup.hosted(name, lines_of(name)))
        .config(|config| (config.ceilings.chat.turns, config.ceilings.chat.cycles) = (None, None))
        .settings(|settings| settings.reading.skip_repetitions = false)
}

fn many(total: usize) -> Vec<String> {
    (0..total).map(|at| format!("word {at}")).collect()
}

/// All at once, and nothing else happens meanwhile.
fn burst(stage: &mut Stage, words: &[String]) {
    let (channel, person) = (stage.channel(), stage.person());
    for word in words {
        stage.discord().say(channel, person, word.as_str());
    }
}

/// What an agent was handed of people's words, in its turns that were not taken away.
fn handed(stage: &Stage, agent: &str) -> Vec<String> {
    let turns = stage.agent(agent).turns().into_iter().filter(|turn| !turn.cancelled);
    let all = turns.flat_map(|turn| turn.missed.into_iter().chain(turn.injected));
    all.filter(|text| text.starts_with("word ")).collect()
}

/// What is wrong with what an agent was handed; empty if nothing is.
fn wrong(handed: &[String], words: &[String], in_order: bool) -> String {
    let mut wrong = String::new();
    let lost: Vec<_> = words.iter().filter(|word| !handed.contains(word)).collect();
    let mut seen = std::collections::HashSet::new();
    let twice: Vec<_> = handed.iter().filter(|word| !seen.insert(*word)).collect();
    if let (Some(first), Some(last)) = (lost.first(), lost.last()) {
        let _ = write!(wrong, "{} lost ({first} to {last}); ", lost.len());
    }
    if let (Some(first), Some(last)) = (twice.first(), twice.last()) {
        let _ = write!(wrong, "{} again ({first} to {last}); ", twice.len());
    }
    if wrong.is_empty() && in_order && handed != words {
        let at = handed.iter().zip(words).position(|(one, other)| one != other);
        let _ = write!(wrong, "out of order from {at:?}");
    }
    wrong
}

/// Each agent was handed each word once, in order.
fn failures(stage: &Stage, words: &[String], in_order: bool) -> Vec<String> {
    let agents = stage.agents().map(|agent| agent.name().to_string());
    let each = agents.map(|name| (wrong(&handed(stage, &name), words, in_order), name));
    each.filter(|(wrong, _)| !wrong.is_empty())
        .map(|(wrong, name)| format!("{name}: {wrong}"))
        .collect()
}

/// The words are said, and everything is over.
fn world(when: When, bounds: Bounds, agents: usize, words: &[String], at_once: bool) -> Stage {
    let lines = if when.talks() { 4 } else { 0 };
    let mut stage = cast(agents, lines)
        .settings(|settings| bounds.set(settings))
        .config(|config| {
            if when == When::Queued {
                config.people.human_interrupt = HumanInterrupt::Queue;
            }
        })
        .stage();
    stage.chat();
    stage.say("Hello");
    if lines > 0 {
        stage.advance(SECOND * 2 + Duration::from_millis(300));
    } else {
        stage.until_dormant();
    }
    let step = |stage: &mut Stage, by: Duration| {
        if when == When::Down {
            stage.clock().advance(by);
        } else {
            stage.advance(by);
        }
    };
    match when {
        When::Dormant | When::Talking | When::Queued => {}
        When::Down => stage.crash(),
        When::Unseen | When::TalkingUnseen => allow_to_see(&mut stage, false),
        When::Unanswered | When::Away => {
            stage.discord().begin_outage(Outage::refused());
            stage.cut_gateway(when == When::Away);
        }
    }
    if at_once {
        burst(&mut stage, words);
    } else {
        for word in words {
            burst(&mut stage, std::slice::from_ref(word));
            step(&mut stage, SECOND * 10);
        }
    }
    match when {
        When::Dormant | When::Talking | When::Queued => stage.settle(),
        When::Down => stage.restart(),
        When::Unseen | When::TalkingUnseen => {
            stage.advance(SECOND * 12);
            see_again(&mut stage);
        }
        When::Unanswered | When::Away => {
            if at_once {
                stage.advance(MINUTE * 10);
            }
            stage.discord().end_outages();
            stage.cut_gateway(false);
            stage.call(|d| async move { d.reconnected().await }).unwrap();
        }
    }
    stage.advance(MINUTE);
    stage.until_dormant();
    stage.advance(MINUTE * 2);
    stage
}

#[track_caller]
fn all_words_reach_all(total: usize, agents: usize, bounds: &[Bounds], at_once: bool) {
    let words = many(total);
    let mut found = Vec::new();
    for when in When::ALL {
        for bounds in bounds {
            let stage = world(when, *bounds, agents, &words, at_once);
            // What a person says during a turn may overtake what still waits for its place.
            let in_order = when != When::Talking;
            for failure in failures(&stage, &words, in_order) {
                found.push(format!("{when:?}, {bounds:?}: {failure}"));
            }
        }
    }
    assert_eq!(found, [""; 0]);
}

/// WD1
#[test]
fn each_of_fifty_one_words_at_once_reaches_each_of_three_agents_once() {
    all_words_reach_all(51, 3, &Bounds::ALL, true);
}

/// WD1
#[test]
fn each_of_three_hundred_words_at_once_reaches_each_of_three_agents_once() {
    all_words_reach_all(300, 3, &Bounds::ALL, true);
}

/// WD1
#[test]
fn each_of_three_hundred_words_at_once_reaches_each_of_nine_agents_once() {
    all_words_reach_all(300, 9, &[Bounds::Default, Bounds::ShortMemory], true);
}

/// WD1
#[test]
fn each_of_five_thousand_words_at_once_reaches_each_of_three_agents_once() {
    all_words_reach_all(5_000, 3, &[Bounds::Default, Bounds::ShortMemory], true);
}

/// WD1
#[test]
fn each_of_sixty_words_ten_seconds_apart_reaches_each_agent_once() {
    all_words_reach_all(60, 3, &Bounds::ALL, false);
    all_words_reach_all(60, 9, &[Bounds::Default, Bounds::AllSmall], false);
}

/// WD1: the conversation begins anew with a mode that is set anew, and then the member list does not come.
#[test]
fn a_word_reaches_agents_of_an_older_list_although_the_process_ends_before_their_turn() {
    let mut stage = Setup::new().hosted("a", []).hosted("b", []).stage();
    stage.chat();
    stage.say("Hello");
    stage.until_dormant();
    let channel = stage.channel();
    for mode in [Mode::None, Mode::Chat] {
        stage.call(move |d| async move { d.channel(channel).set_mode(mode).await }).unwrap();
    }
    for agent in stage.agents() {
        agent.then(Act::Hang);
    }
    stage.discord().begin_outage(Outage::refused().only(Call::Members));
    stage.say("word 0");
    stage.advance(MINUTE * 2);
    let speaker = stage.status().unwrap().speaker.unwrap();
    let other = if speaker.as_str() == "a" { "b" } else { "a" };
    assert_eq!(handed(&stage, speaker.as_str()), ["word 0"], "it has its turn, and hangs");
    assert_eq!(handed(&stage, other), [""; 0]);
    stage.crash();
    stage.discord().end_outages();
    stage.restart();
    stage.advance(MINUTE * 30);
    stage.until_dormant();
    assert_eq!(handed(&stage, other), ["word 0"]);
}

/// WD2
#[test]
fn a_word_whose_event_was_lost_reaches_each_agent_while_they_talk_on() {
    for every in [15, 150, 300] {
        let backfill = Some(SECOND * every);
        let mut stage =
            cast(3, 334).settings(|settings| settings.time_limits.backfill = backfill).stage();
        stage.chat();
        stage.say("Hello");
        stage.advance(SECOND * 10 + Duration::from_millis(500));
        stage.discord().next_push(PushFault::Dropped);
        stage.say("word 0");
        stage.until_dormant();
        stage.advance(MINUTE);
        assert!(stage.words().len() >= 1_000, "they said {}", stage.words().len());
        assert_eq!(failures(&stage, &many(1), true), [""; 0], "found after {every} s");
    }
}

/// WD2
#[test]
fn words_that_the_moderator_was_not_allowed_to_see_reach_each_agent_while_they_talk_on() {
    for is_told in [true, false] {
        let backfill = Some(SECOND * 15);
        let mut stage =
            cast(3, 20).settings(|settings| settings.time_limits.backfill = backfill).stage();
        stage.chat();
        stage.say("Hello");
        stage.advance(SECOND * 10 + Duration::from_millis(500));
        allow_to_see(&mut stage, false);
        let words = many(12);
        for word in &words {
            burst(&mut stage, std::slice::from_ref(word));
            stage.advance(SECOND);
        }
        let said = stage.words().len();
        if is_told {
            see_again(&mut stage);
            stage.advance(SECOND * 2);
            let heard = |agent: &ScriptedAgent| handed(&stage, agent.name().as_str());
            let is_heard = stage.agents().any(|agent| !heard(agent).is_empty());
            assert!(is_heard, "the channel is read at once");
        } else {
            allow_to_see(&mut stage, true);
        }
        stage.until_dormant();
        stage.advance(MINUTE);
        assert!(stage.words().len() > said, "they talked on: {:?}", stage.words());
        assert_eq!(failures(&stage, &words, true), [""; 0], "told: {is_told}");
    }
}

/// WD2
#[test]
fn a_word_whose_event_was_lost_comes_once_although_it_is_read_with_others_that_left_memory() {
    let backfill = Some(SECOND * 15);
    let mut stage = cast(3, 0)
        .settings(|settings| {
            (settings.limits.texts_bytes_max, settings.time_limits.backfill) = (0, backfill);
        })
        .stage();
    stage.chat();
    stage.say("Hello");
    stage.until_dormant();
    stage.discord().next_push(PushFault::Dropped);
    stage.say("word 0");
    stage.say("word 1");
    stage.advance(MINUTE * 2);
    assert_eq!(failures(&stage, &many(2), false), [""; 0]);
}

/// WD2
#[test]
fn a_word_that_comes_late_brings_a_running_agent_nothing_again() {
    let takes = |seconds| Line::from(Act::Pass).taking(SECOND * seconds);
    let mut stage = Setup::new().hosted("a", [takes(0), takes(20)]).hosted("b", []).stage();
    stage.chat();
    stage.say("Hello");
    stage.until_dormant();
    stage.discord().next_push(PushFault::Dropped);
    stage.say("word 0");
    stage.say("word 1");
    stage.advance(SECOND);
    assert_eq!(handed(&stage, "a"), ["word 1"], "it runs");
    stage.cut_gateway(true);
    stage.say("word 2");
    stage.cut_gateway(false);
    stage.call(|d| async move { d.reconnected().await }).unwrap();
    stage.until_dormant();
    stage.advance(MINUTE);
    assert_eq!(failures(&stage, &many(3), false), [""; 0]);
    assert_eq!(handed(&stage, "a"), ["word 1", "word 0", "word 2"]);
}

/// WD3
#[test]
fn a_word_of_a_stopped_channel_reaches_agents_that_posted_since_and_a_restart() {
    for (is_killed, posts, pause) in
        [false, true].into_iter().flat_map(|k| [(k, 1, SECOND), (k, 3, SECOND), (k, 1, HOUR)])
    {
        let mut stage = cast(3, 0).stage();
        stage.chat();
        stage.say("Hello");
        stage.until_dormant();
        stop(&mut stage);
        stage.say("word 0");
        let channel = stage.channel();
        for at in 0..posts {
            for name in ["a", "b", "c"] {
                let user = stage.agent(name).user();
                stage.discord().say(channel, user, format!("{name} by itself {at}"));
                stage.settle();
            }
        }
        stage.advance(pause);
        if is_killed {
            stage.crash();
            stage.restart();
        }
        resume(&mut stage);
        stage.advance(MINUTE);
        let place = format!("killed: {is_killed}, {posts} posts each, {pause:?}");
        assert_eq!(failures(&stage, &many(1), true), [""; 0], "{place}");
    }
}

/// What an agent does with a call.
#[derive(Clone, Copy, Debug)]
enum Does {
    Fail,
    Pass,
    /// Answers only when the turn is cancelled.
    Hang,
    /// Takes nothing that comes during these two seconds, and passes.
    TakesNothing,
    /// Takes all that came within two seconds, then hangs.
    TakesAndHangs,
    /// Takes all that came within two seconds, and fails.
    TakesAndFails,
}

/// What a turn brought.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TurnMessages {
    words: Vec<String>,
    taken: Vec<String>,
    left_out: usize,
    is_cancelled: bool,
}

/// An agent that writes down what each turn brought, and does as it is told.
#[derive(Clone)]
struct Reads {
    clock: dirigent_testkit::ManualClock,
    plan: Arc<Mutex<VecDeque<Does>>>,
    brought: Arc<Mutex<Vec<TurnMessages>>>,
}

impl Reads {
    fn host(stage: &Stage, name: &str, plan: impl IntoIterator<Item = Does>) -> Self {
        let plan = Arc::new(Mutex::new(plan.into_iter().collect()));
        let reads = Self { clock: stage.clock().clone(), plan, brought: Arc::default() };
        reads.host_again(stage, name);
        reads
    }

    fn host_again(&self, stage: &Stage, name: &str) {
        let account = Arc::new(stage.discord().account(stage.agent(name).user()));
        stage.dirigent().host(name, self.clone(), account);
    }

    fn brought(&self) -> Vec<TurnMessages> {
        self.brought.lock().unwrap().clone()
    }

    fn times(&self, word: &str) -> usize {
        let brought = self.brought();
        let all = brought.iter().flat_map(|turn| turn.words.iter().chain(&turn.taken));
        all.filter(|known| *known == word).count()
    }
}

#[async_trait::async_trait]
impl Agent for Reads {
    async fn speak(&self, turn: Turn) -> Result<Reply, AgentError> {
        use dirigent::Clock as _;
        let texts = turn.missed().iter().filter(|said| said.is_by_person());
        let words = texts.map(|said| said.content.to_string()).collect();
        let does = self.plan.lock().unwrap().pop_front().unwrap_or(Does::Pass);
        let left_out = turn.left_out();
        let at = {
            let mut brought = self.brought.lock().unwrap();
            brought.push(TurnMessages { words, taken: Vec::new(), left_out, is_cancelled: false });
            brought.len() - 1
        };
        let wait = || async { self.clock.sleep_until(self.clock.now() + SECOND * 2).await };
        let take = || {
            let taken = std::iter::from_fn(|| turn.take_injected());
            let taken = taken.map(|said| said.content.to_string());
            self.brought.lock().unwrap()[at].taken.extend(taken);
        };
        match does {
            Does::Fail => return Err("it fails".into()),
            Does::Pass => {}
            Does::TakesNothing => wait().await,
            Does::Hang => turn.cancelled().await,
            Does::TakesAndHangs => {
                wait().await;
                take();
                turn.cancelled().await;
            }
            Does::TakesAndFails => {
                wait().await;
                take();
                return Err("it fails".into());
            }
        }
        self.brought.lock().unwrap()[at].is_cancelled = turn.is_cancelled();
        Ok(Reply::Pass)
    }
}

/// WY9
#[test]
fn an_agent_that_fails_each_time_gets_the_same_word_four_times_and_is_told_that_it_does_without() {
    for lines in [0, 2] {
        let mut stage = cast(3, lines).stage();
        let fails = Reads::host(&stage, "a", [Does::Fail; 13]);
        stage.chat();
        stage.say("word 0");
        stage.until_dormant();
        // Others' turns go on, and the agent is asked with each of these.
        for at in 0..12 {
            stage.say(&format!("more {at}"));
            stage.until_dormant();
        }
        let times = fails.times("word 0");
        assert_eq!(times, 4, "{lines} lines: {:?}", fails.brought());
        for name in ["b", "c"] {
            assert_eq!(handed(&stage, name), ["word 0"], "{name}");
        }
        stage.say("the last of all");
        stage.until_dormant();
        let brought = fails.brought();
        let well = &brought[13];
        assert!(well.left_out > 0, "{lines} lines: {brought:?}");
        // Each word that was said until then is either handed with it or counted.
        let until_then = brought[..=13].iter().flat_map(|turn| &turn.words);
        let said: std::collections::BTreeSet<_> = until_then.collect();
        assert_eq!(well.left_out + well.words.len(), said.len(), "{lines} lines: {brought:?}");
        let rest: Vec<_> = brought[14..].iter().flat_map(|turn| &turn.words).collect();
        let new: std::collections::BTreeSet<_> = rest.iter().copied().collect();
        assert_eq!(rest.len(), new.len(), "{lines} lines, again: {brought:?}");
        assert_eq!(said.len() + new.len(), 14, "{lines} lines, lost: {brought:?}");
        let failed = brought.len() - 1;
        stage.say("afterwards");
        stage.until_dormant();
        let last = fails.brought();
        let after: Vec<_> = last[failed + 1..].iter().flat_map(|turn| &turn.words).collect();
        assert_eq!(after, ["afterwards"], "{lines} lines");
        assert!(last[failed + 1..].iter().all(|turn| turn.left_out == 0), "told twice: {last:?}");
    }
}

/// WY9
#[test]
fn an_agent_that_failed_three_times_is_handed_the_word_and_nothing_is_left_out() {
    let mut stage = cast(3, 0).stage();
    let fails = Reads::host(&stage, "a", [Does::Fail; 3]);
    stage.chat();
    stage.say("word 0");
    stage.until_dormant();
    for at in 0..4 {
        stage.say(&format!("more {at}"));
        stage.until_dormant();
    }
    assert_eq!(fails.times("word 0"), 4, "{:?}", fails.brought());
    assert!(fails.brought().iter().all(|turn| turn.left_out == 0), "{:?}", fails.brought());
}

/// WY9
#[test]
fn an_agent_that_fails_once_in_each_process_is_handed_the_word_until_a_turn_ends_well() {
    let mut stage = cast(3, 0).stage();
    let fails = Reads::host(&stage, "a", [Does::Fail]);
    stage.chat();
    stage.say("word 0");
    stage.until_dormant();
    for at in 0..7 {
        stage.crash();
        stage.restart();
        fails.host_again(&stage, "a");
        fails.plan.lock().unwrap().push_back(if at < 6 { Does::Fail } else { Does::Pass });
        stage.say(&format!("more {at}"));
        stage.until_dormant();
    }
    stage.say("the last");
    stage.until_dormant();
    let brought = fails.brought();
    let (well, later) = (&brought[7], &brought[8..]);
    assert_eq!((&*well.words[0], well.words.len(), well.left_out), ("word 0", 8, 0), "{brought:?}");
    assert!(later.iter().all(|turn| turn.words.len() < 2), "nothing comes again: {brought:?}");
}

/// How a turn is taken away.
#[derive(Clone, Copy, Debug)]
enum Cut {
    Stop,
    Mute,
    Deadline,
    Crash,
}

/// A turn of "a" with "word 0" is cut off two and a half seconds after it began; "word 1" was said in its midst. Then "a"
/// is asked again.
fn cut_off(does: Does, cut: Cut) -> (Reads, Stage) {
    let mut stage = cast(3, 0).config(|config| config.deadlines.run = Some(SECOND * 10)).stage();
    let reads = Reads::host(&stage, "a", [does]);
    stage.chat();
    stage.say("word 0");
    stage.advance(SECOND);
    stage.say("word 1");
    stage.advance(Duration::from_millis(1_500));
    let channel = stage.channel();
    match cut {
        Cut::Stop => {
            stop(&mut stage);
            stage.advance(SECOND);
            resume(&mut stage);
        }
        Cut::Mute => {
            stage.call(move |d| async move { d.channel(channel).mute(&"a".into()).await }).unwrap();
            stage.advance(SECOND);
            stage
                .call(move |d| async move { d.channel(channel).unmute(&"a".into()).await })
                .unwrap();
        }
        Cut::Deadline => stage.advance(SECOND * 12),
        Cut::Crash => {
            stage.crash();
            stage.restart();
            reads.host_again(&stage, "a");
        }
    }
    stage.advance(MINUTE);
    stage.say("word 2");
    stage.until_dormant();
    (reads, stage)
}

/// WD1
#[test]
fn a_turn_that_was_taken_away_brings_its_words_again() {
    let mut found = Vec::new();
    for cut in [Cut::Stop, Cut::Mute, Cut::Deadline, Cut::Crash] {
        for does in [Does::Hang, Does::TakesAndHangs] {
            let (reads, stage) = cut_off(does, cut);
            let brought = reads.brought();
            let well = brought.iter().skip(1).filter(|turn| !turn.is_cancelled);
            // After the restart the scripted agent may have been called first.
            let mut words = handed(&stage, "a");
            words.extend(well.flat_map(|turn| [&turn.words[..], &turn.taken].concat()));
            if words != many(3) {
                found.push(format!("{cut:?}, {does:?}: {brought:?}"));
            }
            for name in ["b", "c"] {
                let wrong = wrong(&handed(&stage, name), &many(3), true);
                if !wrong.is_empty() {
                    found.push(format!("{cut:?}, {does:?}, {name}: {wrong}"));
                }
            }
        }
    }
    assert_eq!(found, [""; 0]);
}

/// WD1
#[test]
fn a_word_that_a_turn_did_not_take_comes_again_and_one_that_it_took_does_not() {
    for does in [Does::TakesNothing, Does::TakesAndFails] {
        let mut stage = cast(3, 0).stage();
        let reads = Reads::host(&stage, "a", [does]);
        stage.chat();
        stage.say("word 0");
        stage.advance(SECOND);
        stage.say("word 1");
        stage.until_dormant();
        stage.say("word 2");
        stage.until_dormant();
        let brought = reads.brought();
        let later: Vec<_> = brought[1..].iter().flat_map(|turn| turn.words.clone()).collect();
        let expected =
            if matches!(does, Does::TakesNothing) { &many(3)[1..] } else { &many(3)[..] };
        assert_eq!(later, expected, "{does:?}: {brought:?}");
        for name in ["b", "c"] {
            assert_eq!(wrong(&handed(&stage, name), &many(3), true), "", "{does:?}, {name}");
        }
    }
    // The scripted agent takes all.
    let mut stage = Setup::new()
        .hosted("a", [Line::from(Act::Pass).taking(SECOND * 2)])
        .hosted("b", [])
        .stage();
    stage.chat();
    stage.say("word 0");
    stage.advance(SECOND);
    stage.say("word 1");
    stage.until_dormant();
    stage.say("word 2");
    stage.until_dormant();
    assert_eq!(failures(&stage, &many(3), true), [""; 0]);
    assert_eq!(stage.agent("a").turns()[0].injected, ["word 1"]);
}

/// A stopped channel in which these words were said and nobody was handed them.
fn stopped(memory: usize, total: usize) -> (Stage, Vec<Reads>, Vec<MessageId>) {
    let mut stage =
        cast(3, 0).settings(|settings| settings.limits.texts_bytes_max = memory).stage();
    let reads = ["a", "b", "c"].map(|name| Reads::host(&stage, name, [])).to_vec();
    stage.chat();
    stage.say("Hello");
    stage.until_dormant();
    stop(&mut stage);
    let ids = many(total).iter().map(|word| stage.say(word)).collect();
    (stage, reads, ids)
}

fn brought_since(reads: &Reads, first: usize) -> (Vec<String>, usize) {
    let brought = reads.brought();
    let since = &brought[first..];
    (
        since
            .iter()
            .flat_map(|turn| turn.words.clone())
            .filter(|w| w.starts_with("word "))
            .collect(),
        since.iter().map(|turn| turn.left_out).sum(),
    )
}

/// WD1
#[test]
fn deleted_words_are_not_handed_and_not_counted() {
    for memory in [2_000, 64 << 20] {
        for total in [10, 120] {
            let (mut stage, reads, ids) = stopped(memory, total);
            let before: Vec<_> = reads.iter().map(|reads| reads.brought().len()).collect();
            let channel = stage.channel();
            for id in ids.iter().step_by(2) {
                assert!(stage.discord().delete_message(channel, *id));
                stage.settle();
            }
            resume(&mut stage);
            stage.advance(MINUTE);
            let expected: Vec<_> = many(total).into_iter().skip(1).step_by(2).collect();
            for (reads, before) in reads.iter().zip(before) {
                let got = brought_since(reads, before);
                assert_eq!(got, (expected.clone(), 0), "memory {memory}, {total} words");
            }
        }
    }
}

/// WD1
#[test]
fn words_that_the_chat_lost_while_they_were_not_in_memory_are_counted() {
    for total in [10, 120] {
        let (mut stage, reads, ids) = stopped(500, total);
        let before: Vec<_> = reads.iter().map(|reads| reads.brought().len()).collect();
        let channel = stage.channel();
        // The library does not hear of it.
        stage.advance(SECOND * 40);
        stage.cut_gateway(true);
        for id in ids.iter().take(total / 2) {
            assert!(stage.discord().delete_message(channel, *id));
            stage.settle();
        }
        stage.cut_gateway(false);
        resume(&mut stage);
        stage.advance(MINUTE);
        let expected: Vec<_> = many(total).into_iter().skip(total / 2).collect();
        for (reads, before) in reads.iter().zip(before) {
            let (words, left_out) = brought_since(reads, before);
            assert_eq!(words, expected, "{total} words");
            // The newest may have been in memory still, but those are not among the deleted.
            assert_eq!(left_out, total / 2, "{total} words");
        }
    }
}

/// WD1
#[test]
fn a_word_that_is_edited_is_handed_once_with_the_text_that_it_has_then() {
    for memory in [0, 64 << 20] {
        let mut stage =
            cast(3, 0).settings(|settings| settings.limits.texts_bytes_max = memory).stage();
        stage.chat();
        stage.say("Hello");
        stage.until_dormant();
        stop(&mut stage);
        let ids = ["word 0", "word 1"].map(|word| stage.say(word));
        let channel = stage.channel();
        let edit = |stage: &mut Stage, text: &str| {
            assert!(stage.discord().edit(channel, ids[0], text));
            stage.settle();
        };
        edit(&mut stage, "word 0, I mean");
        let mut expected = vec!["word 0, I mean".to_owned(), "word 1".to_owned()];
        resume(&mut stage);
        stage.advance(MINUTE);
        assert_eq!(failures(&stage, &expected, true), [""; 0], "memory {memory}");
        edit(&mut stage, "word 0 at last");
        stage.say("word 2");
        stage.until_dormant();
        expected.push("word 2".to_owned());
        assert_eq!(failures(&stage, &expected, true), [""; 0], "memory {memory}");
    }
}

/// WD1
#[test]
fn a_deleted_word_brings_no_agent_anything_again() {
    for is_killed in [false, true] {
        let mut stage = Setup::new()
            .hosted("a", [Line::from(Act::Pass).taking(SECOND * 2)])
            .hosted("b", [])
            .hosted("c", [])
            .config(|config| config.people.human_interrupt = HumanInterrupt::Queue)
            .stage();
        stage.chat();
        stage.say("word 0");
        stage.advance(SECOND);
        stage.say("word 1");
        let newest = stage.say("word 2");
        assert!(stage.discord().delete_message(stage.channel(), newest));
        stage.until_dormant();
        if is_killed {
            stage.crash();
            stage.restart();
        } else {
            // It leaves memory.
            stage.advance(HOUR);
        }
        stage.say("word 3");
        stage.until_dormant();
        let left = ["word 0", "word 1", "word 3"].map(str::to_owned);
        assert_eq!(failures(&stage, &left, true), [""; 0], "killed: {is_killed}");
    }
}

/// WD1
#[test]
fn a_stop_word_is_handed_to_no_agent_whether_it_is_in_memory_or_read_again() {
    for memory in [0, 64 << 20] {
        let mut stage =
            cast(3, 0).settings(|settings| settings.limits.texts_bytes_max = memory).stage();
        stage.chat();
        stage.say("Hello");
        stage.until_dormant();
        burst(&mut stage, &["word 0", "stop", "word 1"].map(str::to_owned));
        stage.advance(MINUTE);
        stage.say("resume");
        stage.until_dormant();
        stage.advance(MINUTE);
        assert_eq!(failures(&stage, &many(2), true), [""; 0], "memory {memory}");
        for agent in stage.agents() {
            let mut missed = agent.turns().into_iter().flat_map(|turn| turn.missed);
            assert!(!missed.any(|text| text == "stop"), "memory {memory}");
        }
    }
}

/// WD12
#[test]
fn words_that_did_not_fit_lift_no_ceiling_and_come_with_the_next_questions() {
    let mut stage = cast(3, 0)
        .config(|config| config.ceilings.chat.turns = Some(7))
        .settings(|settings| settings.limits.missed_max = 3)
        .stage();
    let turns = |stage: &Stage| -> usize { stage.agents().map(|agent| agent.turns().len()).sum() };
    stage.chat();
    stage.say("Hello");
    stage.until_dormant();
    let mut words = many(20);
    let before = turns(&stage);
    burst(&mut stage, &words);
    stage.advance(MINUTE * 10);
    let taken = turns(&stage) - before;
    // A turn may have begun before the last of them.
    assert!(taken <= 14, "{taken} turns without a person");
    for at in words.len()..60 {
        if failures(&stage, &words, true).is_empty() {
            break;
        }
        words.push(format!("word {at}"));
        let before = turns(&stage);
        stage.say(&words[at]);
        stage.advance(MINUTE * 10);
        assert!(turns(&stage) - before <= 7, "{words:?}");
    }
    assert_eq!(failures(&stage, &words, true), [""; 0]);
}

/// A channel of agents that the host's own waker calls; "a" does this first.
fn woken(lines: impl IntoIterator<Item = Line>) -> Setup {
    Setup::new()
        .hooked("a", lines)
        .hooked("b", [])
        .hooked("c", [])
        .direct()
        .config(|config| (config.ceilings.chat.turns, config.ceilings.chat.cycles) = (None, None))
}

/// The words of each call of an agent by the waker.
fn called(stage: &Stage, name: &str) -> Vec<Vec<String>> {
    let calls = stage.wake_calls().into_iter().filter(|call| call.agent.as_str() == name);
    let words = |call: dirigent::hooks::WakeCall| {
        let texts = call.missed.iter().map(|said| said.content.to_string());
        texts.filter(|text| text.starts_with("word ")).collect()
    };
    calls.map(words).collect()
}

/// WD1
#[test]
fn an_agent_of_a_waker_whose_run_failed_is_called_with_the_same_words_again() {
    let mut stage = woken([Act::Fail.into(), Act::Fail.into()]).stage();
    stage.chat();
    for word in many(4) {
        stage.say(&word);
        stage.until_dormant();
    }
    let calls: Vec<_> = called(&stage, "a").into_iter().filter(|words| !words.is_empty()).collect();
    assert_eq!(calls, [&many(1)[..], &many(2), &many(3), &many(4)[3..]], "{calls:?}");
    for name in ["b", "c"] {
        assert_eq!(called(&stage, name).concat(), many(4), "{name}");
    }
}

/// WD1
#[test]
fn an_agent_of_a_waker_that_did_not_start_is_called_with_the_same_words_again() {
    let mut stage = Setup::new()
        .hooked("a", [])
        .hooked("b", [])
        .direct()
        .config(|config| {
            (config.deadlines.start, config.deadlines.retriggers) = (Some(SECOND * 5), 0);
        })
        .without_pump()
        .stage();
    stage.chat();
    let (channel, person) = (stage.channel(), stage.person());
    for word in many(3) {
        let id = stage.discord().say(channel, person, word);
        let said = stage.discord().message(channel, id).unwrap();
        stage.call(move |d| async move { d.message_created(said).await }).unwrap();
        stage.advance(MINUTE);
    }
    for name in ["a", "b"] {
        let calls = called(&stage, name);
        assert!(calls.last().is_some_and(|words| *words == many(3)), "{name}: {calls:?}");
    }
}

/// WD1
#[test]
fn three_hundred_words_reach_each_agent_of_a_waker_once() {
    for bounds in Bounds::ALL {
        let mut stage = woken([]).settings(|settings| bounds.set(settings)).stage();
        stage.chat();
        stage.say("Hello");
        stage.until_dormant();
        let words = many(300);
        burst(&mut stage, &words);
        stage.settle();
        stage.until_dormant();
        stage.advance(MINUTE);
        for name in ["a", "b", "c"] {
            let wrong = wrong(&called(&stage, name).concat(), &words, true);
            assert_eq!(wrong, "", "{bounds:?}, {name}");
        }
    }
}

/// WD1
#[test]
fn an_agent_that_leaves_and_comes_back_is_handed_nothing_twice_and_all_that_was_said_since() {
    let mut stage = cast(3, 0).stage();
    let channel = stage.channel();
    let late = stage.agent("c").user();
    stage.discord().leave(channel, late);
    stage.chat();
    let words = many(6);
    let ask = |stage: &mut Stage, word: &String| {
        stage.say(word);
        stage.until_dormant();
        stage.advance(MINUTE * 2);
    };
    ask(&mut stage, &words[0]);
    stage.discord().join(channel, late);
    stage.settle();
    ask(&mut stage, &words[1]);
    ask(&mut stage, &words[2]);
    stage.discord().leave(channel, late);
    stage.settle();
    ask(&mut stage, &words[3]);
    stage.discord().join(channel, late);
    stage.settle();
    ask(&mut stage, &words[4]);
    ask(&mut stage, &words[5]);
    for name in ["a", "b"] {
        assert_eq!(handed(&stage, name), words, "{name}");
    }
    let got = handed(&stage, "c");
    assert_eq!(got, words, "what was said before it came is its context");
}

/// WD1
#[test]
fn after_a_mode_without_agents_a_new_conversation_begins_with_nothing_of_before() {
    let mut stage = cast(3, 0).stage();
    stage.chat();
    stage.say("Hello");
    stage.until_dormant();
    stop(&mut stage);
    stage.say("word 0");
    let channel = stage.channel();
    let mode = |stage: &mut Stage, mode: Mode| {
        stage.call(move |d| async move { d.channel(channel).set_mode(mode).await }).unwrap();
    };
    mode(&mut stage, Mode::None);
    stage.say("word 1");
    mode(&mut stage, Mode::Chat);
    resume(&mut stage);
    stage.say("word 2");
    stage.until_dormant();
    stage.advance(MINUTE);
    for name in ["a", "b", "c"] {
        assert_eq!(handed(&stage, name), ["word 2"], "{name}");
    }
}

/// WD1
#[test]
fn a_word_that_could_not_be_read_for_a_turn_comes_with_the_next_one_and_once() {
    let mut stage = cast(3, 0).settings(|settings| settings.limits.texts_bytes_max = 500).stage();
    stage.chat();
    stage.say("Hello");
    stage.until_dormant();
    let words = many(60);
    stage.discord().begin_outage(Outage::failing(Fault::Forbidden).only(Call::History));
    burst(&mut stage, &words);
    stage.settle();
    stage.advance(MINUTE * 3);
    stage.discord().end_outages();
    stage.say("Go on");
    stage.until_dormant();
    stage.advance(MINUTE);
    assert_eq!(failures(&stage, &words, false), [""; 0]);
}

/// One thing that happens in a random world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Burst,
    Word,
    Soon,
    Later,
    MuchLater,
    Stop,
    Resume,
    Crash,
    Gap,
    Lost,
    Away,
    Hidden,
    Own,
    Mute,
    Joins,
    Delete,
    Unseen,
}

const EVENTS: [Event; 17] = [
    Event::Burst,
    Event::Word,
    Event::Soon,
    Event::Later,
    Event::MuchLater,
    Event::Stop,
    Event::Resume,
    Event::Crash,
    Event::Gap,
    Event::Lost,
    Event::Away,
    Event::Hidden,
    Event::Own,
    Event::Mute,
    Event::Joins,
    Event::Delete,
    Event::Unseen,
];

/// How many things happen in a world at most.
const STEPS: u64 = 12;

/// A world in which things go wrong by chance.
struct Chance {
    dice: Random,
    /// How many more things happen.
    left: u64,
    stage: Stage,
    words: Vec<String>,
    happened: Vec<Event>,
    deleted: Vec<String>,
    /// Turns that were cut off by the end of the process.
    void: Vec<(String, usize)>,
}

impl Chance {
    fn new(seed: u64) -> Self {
        let mut dice = Random::new(seed);
        let bounds = dice.pick(&Bounds::ALL).unwrap_or(Bounds::Default);
        let takes = dice.one_in(2);
        let lines = |dice: &mut Random| -> Vec<Line> {
            let talks = dice.one_in(2);
            let line = |dice: &mut Random| {
                if talks && dice.one_in(6) {
                    return Line::from(format!("I say {}", dice.draw())).taking(SECOND);
                }
                let takes = if takes {
                    SECOND * u32::try_from(dice.below(3)).unwrap()
                } else {
                    Duration::ZERO
                };
                Line::from(Act::Pass).taking(takes)
            };
            (0..300).map(|_| line(dice)).collect()
        };
        let names = NAMES.iter().take(if dice.one_in(4) { 9 } else { 3 });
        let backfill = Some(SECOND * 15);
        let stage = names
            .fold(Setup::new(), |setup, name| setup.hosted(name, lines(&mut dice)))
            .config(|config| {
                (config.ceilings.chat.turns, config.ceilings.chat.cycles) = (None, None);
                if dice.one_in(2) {
                    config.people.human_interrupt = HumanInterrupt::Queue;
                }
            })
            .settings(|settings| {
                bounds.set(settings);
                settings.time_limits.backfill = backfill;
            })
            .seed(seed)
            .stage();
        let mut world = Self {
            dice,
            left: 0,
            stage,
            words: Vec::new(),
            happened: Vec::new(),
            deleted: Vec::new(),
            void: Vec::new(),
        };
        world.stage.chat();
        world.stage.say("Hello");
        world.stage.advance(SECOND);
        world.left = world.dice.between(1, STEPS);
        world
    }

    fn say(&mut self, total: u64) {
        let first = self.words.len();
        let new: Vec<_> =
            (0..usize::try_from(total).unwrap()).map(|at| format!("word {}", first + at)).collect();
        burst(&mut self.stage, &new);
        self.words.extend(new);
    }

    fn wait(&mut self, millis: u64) {
        let millis = self.dice.between(1, millis);
        self.stage.advance(Duration::from_millis(millis));
    }

    fn crash(&mut self) {
        self.stage.settle();
        // A reply that is being posted outlasts the process.
        let running = self.stage.status().filter(|status| status.phase == PhaseKind::Running);
        if let Some((speaker, turn)) =
            running.and_then(|status| Some((status.speaker?, status.turn)))
        {
            let turns = self.stage.agent(speaker.as_str()).turns();
            // It may wait for its call still.
            if turns.last().is_some_and(|last| last.turn == turn) {
                self.void.push((speaker.to_string(), turns.len()));
            }
        }
        self.stage.crash();
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each event")]
    fn happens(&mut self, event: Event) {
        self.happened.push(event);
        let channel = self.stage.channel();
        match event {
            Event::Burst => {
                let total = self.dice.between(2, 120);
                self.say(total);
                self.stage.settle();
            }
            Event::Word => {
                self.say(1);
                self.stage.settle();
            }
            Event::Soon => self.wait(1_000),
            Event::Later => self.wait(20_000),
            Event::MuchLater => self.wait(3_600_000),
            Event::Stop => {
                let _ = self.stage.call(move |d| async move { d.channel(channel).stop().await });
            }
            Event::Resume => {
                let _ = self.stage.call(move |d| async move { d.channel(channel).resume().await });
            }
            Event::Crash => {
                self.crash();
                let words = self.dice.below(70);
                self.say(words);
                let down = self.dice.below(600);
                self.stage.clock().advance(SECOND * u32::try_from(down).unwrap());
                self.stage.restart();
            }
            Event::Gap => {
                self.stage.cut_gateway(true);
                let words = self.dice.below(70);
                self.say(words);
                self.wait(20_000);
                self.stage.cut_gateway(false);
                self.stage.call(|d| async move { d.reconnected().await }).unwrap();
            }
            Event::Lost => {
                self.stage.discord().next_push(PushFault::Dropped);
                self.say(1);
                self.stage.settle();
            }
            Event::Away => {
                self.stage.discord().begin_outage(Outage::refused());
                let words = self.dice.below(70);
                self.say(words);
                self.wait(120_000);
                self.stage.discord().end_outages();
            }
            Event::Hidden => {
                let refused = Outage::failing(Fault::Refused).only(Call::History);
                self.stage.discord().begin_outage(refused);
                let words = self.dice.below(70);
                self.say(words);
                self.wait(60_000);
                self.stage.discord().end_outages();
            }
            Event::Unseen => {
                allow_to_see(&mut self.stage, false);
                let words = self.dice.below(70);
                self.say(words);
                self.wait(20_000);
                see_again(&mut self.stage);
            }
            Event::Own => {
                let name = self.dice.pick(&["a", "b", "c"]).unwrap_or("a");
                let user = self.stage.agent(name).user();
                self.stage.discord().say(channel, user, "By myself");
                self.stage.settle();
            }
            Event::Mute => {
                let name = self.dice.pick(&["a", "b", "c"]).unwrap_or("a");
                self.stage
                    .call(move |d| async move { d.channel(channel).mute(&name.into()).await })
                    .unwrap();
                self.wait(20_000);
                self.stage
                    .call(move |d| async move { d.channel(channel).unmute(&name.into()).await })
                    .unwrap();
            }
            Event::Delete => {
                let said = self.stage.discord().messages(channel);
                let words = said.iter().filter(|said| said.content.starts_with("word "));
                for word in words.rev().take(5) {
                    self.deleted.push(word.content.to_string());
                    self.stage.discord().delete_message(channel, word.id);
                }
                self.stage.settle();
            }
            Event::Joins => {
                let user = self.stage.agent("c").user();
                self.stage.discord().leave(channel, user);
                self.stage.settle();
                self.wait(20_000);
                self.stage.discord().join(channel, user);
                self.stage.settle();
            }
        }
    }

    /// Everything is well again, and all agents are asked.
    fn come_to_rest(&mut self) {
        self.stage.discord().stop_faults();
        self.happens(Event::Resume);
        self.stage.advance(MINUTE * 20);
        for _ in 0..2 {
            self.happens(Event::Word);
            self.stage.advance(MINUTE);
            self.stage.until_dormant();
        }
        self.stage.advance(MINUTE * 20);
    }

    fn handed(&self, agent: &str) -> Vec<String> {
        let void =
            |turns: usize| self.void.iter().any(|(name, at)| (&**name, *at) == (agent, turns));
        let turns = self.stage.agent(agent).turns().into_iter().enumerate();
        let well = turns.filter(|(at, turn)| !turn.cancelled && !void(at + 1));
        let all = well.flat_map(|(_, turn)| turn.missed.into_iter().chain(turn.injected));
        all.filter(|text| text.starts_with("word ") && !self.deleted.contains(text)).collect()
    }

    fn failures(&self) -> Vec<String> {
        let left = self.words.iter().filter(|word| !self.deleted.contains(word));
        let words: Vec<_> = left.cloned().collect();
        let names: Vec<_> = self.stage.agents().map(|agent| agent.name().to_string()).collect();
        let each = names.into_iter().map(|name| (wrong(&self.handed(&name), &words, false), name));
        let failed = each.filter(|(wrong, _)| !wrong.is_empty());
        failed.map(|(wrong, name)| format!("{name}: {wrong}")).collect()
    }
}

impl World for Chance {
    fn step(&mut self) -> Result<(), String> {
        self.left -= 1;
        let event = self.dice.pick(&EVENTS).unwrap_or(Event::Word);
        self.happens(event);
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.left == 0
    }

    fn end(&mut self) -> Result<(), String> {
        self.come_to_rest();
        let failures = self.failures();
        if failures.is_empty() { Ok(()) } else { Err(failures.join("\n")) }
    }

    fn dice(&mut self) -> Option<&mut Random> {
        Some(&mut self.dice)
    }

    fn story(&mut self) -> Vec<String> {
        self.happened.iter().map(|event| format!("{event:?}")).collect()
    }
}

/// WD1, WD2, WD3
#[test]
fn whatever_happens_each_word_reaches_each_agent_once() {
    let test = "-p dirigent-tests --test all words::whatever_happens_each_word";
    let worlds = Worlds::new(test, 40, STEPS);
    assert_eq!(worlds.live(|number, _| Chance::new(number), |_| 1), worlds.count());
}
