//! Which questions to begin a call begin one, and how a call is steered.

use std::sync::atomic::AtomicU64;

use dirigent::hooks::TurnId;
use dirigent::ports::{ApiError, TurnSource};
use dirigent::{ChatMessage, MessageId, Reply, Turn, UserId, agent_fn, async_trait};
use dirigent_testkit::MemoryDiscord;

use super::*;
use crate::remote::rules::GivenTurn;

const ME: u64 = 1;

struct Nothing;

#[async_trait]
impl TurnSource for Nothing {
    async fn transcript(&self, _limit: usize) -> Result<Vec<Arc<ChatMessage>>, ApiError> {
        Ok(Vec::new())
    }

    fn time_left(&self) -> Option<Duration> {
        None
    }

    fn report_cost(&self, _cost: u64) {}
}

fn host(name: &str) -> HostId {
    name.parse().unwrap()
}

fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn steering(step: u64, first: usize, texts: &[&str]) -> Steering {
    let message = |(place, text): (usize, &&str)| {
        let id = MessageId::new(100 + first as u64 + place as u64);
        Arc::new(ChatMessage::new(id, ChannelId::new(7), UserId::new(9), *text))
    };
    Steering {
        step,
        is_cancelled: false,
        is_slow: false,
        is_paused: false,
        time_left_ms: None,
        first,
        messages: texts.iter().enumerate().map(message).collect(),
    }
}

/// The process with the agents, its start, and two starts of the process that calls.
struct HostingStage {
    state: HostedCalls,
    me: Start,
    earlier: Start,
    later: Start,
    announced: u64,
    turns: BTreeMap<u64, Turn>,
}

impl HostingStage {
    fn new() -> Self {
        let mut state = HostedCalls::default();
        let discord = MemoryDiscord::default();
        let agent = Arc::new(agent_fn(|_turn: Turn| async { Ok(Reply::Pass) }));
        let lives = Lives { agent, discord: Arc::new(discord.account(discord.add_bot())) };
        state.agents.insert("poet".into(), lives);
        let [me, earlier, later] = [ME, 10, 20].map(|millis| Start::new(at(millis)));
        let mut new = Self { state, me, earlier, later, announced: 0, turns: BTreeMap::new() };
        new.announce(0);
        new
    }

    fn announce(&mut self, now: u64) -> Announce {
        self.announced += 1;
        self.state.announce(&host("b"), self.me, at(now));
        self.state.announce(&host("a"), self.me, at(now))
    }

    fn question(&self, start: Start, number: u64, turn: u64) -> BeginCall {
        BeginCall {
            call: CallId { start, number },
            announced: Announced { start: self.me, number: self.announced },
            channel_id: ChannelId::new(7),
            agent_id: "poet".into(),
            turn: GivenTurn {
                number: turn,
                is_after_reminder: false,
                attempt: 1,
                newest: None,
                missed: Vec::new(),
                missed_count: 0,
                others_left_out: 0,
                left_out: 0,
                late_answer: None,
                post_failure: None,
                late_embeds: Vec::new(),
                late_files: Vec::new(),
                is_repeated: false,
                me: None,
                others: Vec::new(),
                guide: None,
            },
            steering: steering(1, 0, &[]),
        }
    }

    /// Asks to begin a call; one that begins runs until it is over.
    fn ask(&mut self, name: &str, question: &BeginCall, now: u64) -> String {
        match self.state.begin(&host(name), question, self.me, at(now)) {
            Begin::Known(answer) => format!("{answer:?}"),
            Begin::New(_) => {
                let turn = Turn::new(question.channel_id, "poet".into(), TurnId::new(3));
                let (turn, control) = turn.controlled(None, Arc::new(Nothing));
                self.turns.insert(question.call.number, turn);
                let running = Running {
                    call: question.call,
                    channel: question.channel_id,
                    order: order(question),
                    control,
                    until: Arc::default(),
                    cost: Arc::new(AtomicU64::new(0)),
                    step: 0,
                    injected: 0,
                    abort: AbortHandle::new_pair().0,
                };
                self.state.add(&host(name), running);
                "new".to_owned()
            }
        }
    }

    fn begin(&mut self, number: u64, now: u64) -> String {
        let question = self.question(self.earlier, number, number);
        self.ask("a", &question, now)
    }

    fn end(&mut self, number: u64) {
        let call = CallId { start: self.earlier, number };
        assert!(self.state.calls.remove(&(host("a"), call)).is_some());
    }

    fn is_cancelled(&self, number: u64) -> bool {
        self.turns[&number].is_cancelled()
    }
}

/// While it runs it is known; when it is over, and its answer taken, it stays so.
#[test]
fn a_call_begins_once() {
    let mut stage = HostingStage::new();
    assert_eq!(stage.begin(1, 0), "new");
    assert!(stage.begin(1, 0).starts_with("Begun"));
    stage.end(1);
    assert_eq!(stage.begin(1, 0), "Over");
    assert_eq!(stage.begin(2, 0), "new");
}

/// Of 4,096 numbers each is remembered; what is older counts as begun.
#[test]
fn a_call_begins_once_however_many_began_since() {
    let mut stage = HostingStage::new();
    for number in (2..=2 * (CALLS_MAX as u64 + 10)).step_by(2) {
        assert_eq!(stage.begin(number, 0), "new");
        stage.end(number);
    }
    for number in [1, 2, 3, 20, 22, 4_096] {
        assert_eq!(stage.begin(number, 0), "Over", "{number}");
    }
    // It was on its way for a while.
    assert_eq!(stage.begin(4_095, 0), "new");
}

#[test]
fn a_question_begins_a_call_for_three_seconds_after_its_announcement() {
    let mut stage = HostingStage::new();
    assert_eq!(stage.begin(1, 2_999), "new");
    assert_eq!(stage.begin(2, 3_000), "NotNow");
    // Another start of this process sent the announcement that it names.
    let mut question = stage.question(stage.earlier, 2, 2);
    question.announced.start = stage.later;
    assert_eq!(stage.ask("a", &question, 0), "NotNow");
}

#[test]
fn of_a_caller_the_later_start_counts_and_ends_the_calls_of_the_earlier_one() {
    let mut stage = HostingStage::new();
    let first = stage.question(stage.later, 1, 1);
    assert_eq!(stage.ask("a", &first, 0), "new");
    let old = stage.question(stage.earlier, 2, 2);
    assert_eq!(stage.ask("a", &old, 0), "NotNow");
    assert!(!stage.is_cancelled(1));

    let mut stage = HostingStage::new();
    let mut other = stage.question(stage.earlier, 3, 1);
    other.channel_id = ChannelId::new(8);
    assert_eq!(stage.ask("b", &other, 0), "new");
    assert_eq!(stage.begin(1, 0), "new");
    // In another channel, so that it does not take the floor from them.
    let mut next = stage.question(stage.later, 2, 1);
    next.channel_id = ChannelId::new(9);
    assert_eq!(stage.ask("a", &next, 0), "new");
    assert_eq!([1, 2, 3].map(|number| stage.is_cancelled(number)), [true, false, false]);
    assert_eq!(stage.state.calls.len(), 2);
    // The numbers of the new start are its own.
    let again = stage.question(stage.later, 1, 1);
    assert_eq!(stage.ask("a", &again, 0), "new");
}

/// It looks like a question of an earlier start: what tells it from one is that the known start asks no more.
#[test]
fn a_caller_whose_clock_was_set_back_is_taken_when_its_earlier_start_is_gone() {
    let mut stage = HostingStage::new();
    let lease = u64::try_from(LEASE.as_millis()).unwrap();
    let first = stage.question(stage.later, 1, 1);
    assert_eq!(stage.ask("a", &first, 0), "new");
    // The process is started anew, and hears the announcements from now on.
    let next = |stage: &mut HostingStage, now| {
        stage.announce(now);
        let question = stage.question(stage.earlier, 1, 2);
        let announced = question.announced;
        stage.state.prove(&host("a"), announced, stage.me);
        let answer = stage.ask("a", &question, now);
        (answer, question)
    };
    assert_eq!(next(&mut stage, lease - 1).0, "NotNow", "its earlier start may still live");
    assert_eq!(next(&mut stage, lease).0, "NotNow", "a call of it runs");
    assert!(!stage.is_cancelled(1));
    stage.state.forget(&host("a"), &[first.call]);
    let old = stage.question(stage.earlier, 2, 3);
    let (answer, question) = next(&mut stage, lease + 1);
    assert_eq!(answer, "new");
    // It is a start as any: its calls begin once, and those of the other one do not end them.
    assert!(stage.ask("a", &question, lease + 1).starts_with("Begun"));
    assert_eq!(stage.ask("a", &old, 2 * lease), "NotNow", "an announcement that is too old");
    let other = stage.question(stage.later, 2, 9);
    assert_eq!(stage.ask("a", &other, lease + 2), "new", "the later start counts");
    assert!(stage.is_cancelled(1));
}

#[test]
fn a_caller_that_asked_of_late_may_still_live() {
    let mut stage = HostingStage::new();
    let lease = u64::try_from(LEASE.as_millis()).unwrap();
    for (number, now) in [(1, 0), (2, lease)] {
        stage.announce(now);
        let question = stage.question(stage.later, number, number);
        assert_eq!(stage.ask("a", &question, now), "new");
        stage.state.forget(&host("a"), &[question.call]);
    }
    stage.announce(2 * lease - 1);
    let question = stage.question(stage.earlier, 1, 3);
    assert_eq!(stage.ask("a", &question, 2 * lease - 1), "NotNow");
    assert_eq!(stage.ask("a", &question, 2 * lease), "new");
}

/// Nothing says that a question is new that was given up long ago where it was asked.
#[test]
fn an_old_question_of_an_earlier_start_takes_nothing_from_the_later_one() {
    let mut stage = HostingStage::new();
    let lease = u64::try_from(LEASE.as_millis()).unwrap();
    let old = stage.question(stage.earlier, 5, 5);
    let first = stage.question(stage.later, 1, 1);
    assert_eq!(stage.ask("a", &first, 0), "new");
    stage.state.forget(&host("a"), &[first.call]);
    assert_eq!(stage.ask("a", &old, lease), "NotNow");
    stage.announce(lease);
    let again = stage.question(stage.later, 1, 1);
    assert_eq!(stage.ask("a", &again, lease), "Over", "its calls are still known");
}

/// Whichever process calls: the later turn of a channel has the floor.
#[test]
fn a_later_turn_of_the_channel_takes_the_floor_and_an_earlier_one_does_not() {
    let mut stage = HostingStage::new();
    assert_eq!(stage.begin(4, 0), "new");
    let earlier = stage.question(stage.later, 3, 3);
    assert_eq!(stage.ask("b", &earlier, 0), "NotNow");
    assert!(!stage.is_cancelled(4));
    let mut again = stage.question(stage.later, 5, 4);
    again.turn.attempt = 0;
    assert_eq!(stage.ask("b", &again, 0), "NotNow", "an earlier attempt at the same turn");
    let later = stage.question(stage.later, 6, 5);
    assert_eq!(stage.ask("b", &later, 0), "new");
    assert!(stage.is_cancelled(4) && !stage.is_cancelled(6));
    // A run after a reminder has no place in that order, and is the newest wish of the channel's owner.
    let mut reminded = stage.question(stage.later, 7, 1);
    reminded.turn.is_after_reminder = true;
    assert_eq!(stage.ask("b", &reminded, 0), "new");
    assert!(stage.is_cancelled(6));
}

#[test]
fn a_process_that_drains_begins_nothing_and_knows_what_runs() {
    let mut stage = HostingStage::new();
    assert_eq!(stage.begin(1, 0), "new");
    stage.state.is_draining = true;
    assert!(stage.begin(1, 0).starts_with("Begun"));
    assert_eq!(stage.begin(2, 0), "NotNow");
    stage.state.is_draining = false;
    stage.state.agents.clear();
    assert_eq!(stage.begin(2, 0), "NoSuchAgent");
}

/// A call ends 3 s after the newest announcement that its caller is known to have heard.
#[test]
fn the_calls_of_a_caller_that_may_not_have_heard_of_the_process_are_over() {
    let mut stage = HostingStage::new();
    assert_eq!(stage.begin(1, 500), "new");
    assert_eq!(stage.state.next_lapse(), Some(at(3_000)));
    stage.announce(1_000);
    stage.state.lapse(at(2_999));
    assert!(!stage.is_cancelled(1), "the announcement named in the question was heard");
    let announced = |start, number| Announced { start, number };
    stage.state.prove(&host("a"), announced(stage.later, 2), stage.me);
    assert_eq!(stage.state.next_lapse(), Some(at(3_000)), "of another start");
    stage.state.prove(&host("a"), announced(stage.me, 2), stage.me);
    stage.state.prove(&host("a"), announced(stage.me, 1), stage.me);
    assert_eq!(stage.state.next_lapse(), Some(at(4_000)));
    stage.state.lapse(at(3_999));
    assert!(!stage.is_cancelled(1));
    stage.state.lapse(at(4_000));
    assert!(stage.is_cancelled(1) && stage.state.calls.is_empty());
}

#[test]
fn calls_that_the_caller_does_not_know_are_over_and_no_others() {
    let mut stage = HostingStage::new();
    for number in [1, 2] {
        assert_eq!(stage.begin(number, 0), "new");
    }
    let call = CallId { start: stage.earlier, number: 2 };
    stage.state.forget(&host("b"), &[call]);
    assert_eq!(stage.state.calls.len(), 2);
    stage.state.forget(&host("a"), &[call]);
    assert_eq!(stage.state.calls.len(), 1);
    assert!(stage.is_cancelled(2));
}

/// The messages that the agent was handed, in order.
fn taken(turn: &Turn) -> Vec<String> {
    let messages = std::iter::from_fn(|| turn.take_injected());
    messages.map(|message| message.content.to_string()).collect()
}

/// Questions that were asked again, that overtook each other, or that leave a gap.
#[test]
fn messages_are_handed_over_once_and_in_order() {
    let mut stage = HostingStage::new();
    assert_eq!(stage.begin(1, 0), "new");
    let call = CallId { start: stage.earlier, number: 1 };
    let mut steer = |step, first, texts: &[&str]| {
        let running = stage.state.running(&host("a"), call).unwrap();
        running.steer(steering(step, first, texts), at(0));
        running.injected
    };
    assert_eq!(steer(1, 0, &["1", "2"]), 2);
    // Asked again with more.
    assert_eq!(steer(2, 0, &["1", "2", "3"]), 3);
    assert_eq!(steer(3, 2, &["3", "4"]), 4);
    // Older than what was taken.
    assert_eq!(steer(2, 4, &["5"]), 4);
    assert_eq!(steer(3, 4, &["5"]), 4);
    // What stands between is missing: it is asked for again from there.
    assert_eq!(steer(4, 6, &["7"]), 4);
    assert_eq!(steer(5, 4, &["5", "6"]), 6);
    assert_eq!(taken(&stage.turns[&1]), ["1", "2", "3", "4", "5", "6"]);
}

#[test]
fn how_a_turn_stands_is_what_the_newest_question_says() {
    let mut stage = HostingStage::new();
    assert_eq!(stage.begin(1, 0), "new");
    let call = CallId { start: stage.earlier, number: 1 };
    let turn = stage.turns[&1].clone();
    let running = stage.state.running(&host("a"), call).unwrap();
    let until = |running: &Running| *running.until.lock().unwrap();
    let mut newest = steering(2, 0, &[]);
    (newest.is_paused, newest.time_left_ms) = (true, Some(500));
    running.steer(newest, at(1_000));
    assert_eq!((turn.is_paused(), until(running)), (true, Some(at(1_500))));
    // Asked before, and on its way for longer.
    let mut older = steering(1, 0, &[]);
    (older.is_cancelled, older.time_left_ms) = (true, Some(9_000));
    running.steer(older, at(1_100));
    assert_eq!((turn.is_cancelled(), turn.is_paused()), (false, true));
    assert_eq!(until(running), Some(at(1_500)));
    let mut next = steering(3, 0, &[]);
    (next.is_slow, next.time_left_ms) = (true, Some(300));
    running.steer(next, at(1_200));
    assert_eq!((turn.is_slow(), turn.is_paused(), until(running)), (true, false, Some(at(1_500))));
    let mut last = steering(4, 0, &[]);
    (last.is_cancelled, last.time_left_ms) = (true, Some(50));
    running.steer(last, at(1_300));
    assert_eq!((turn.is_cancelled(), until(running)), (true, Some(at(1_350))));
}

/// After a restart of the database not all processes are named at once.
#[test]
fn a_process_that_is_not_named_for_a_short_while_is_announced_to() {
    let mut state = HostedCalls::default();
    let names = |state: &mut HostedCalls, now, named: &[&str]| -> Vec<String> {
        let named = named.iter().map(|name| host(name)).collect();
        state.callers(at(now), named).iter().map(|host| host.as_str().to_owned()).collect()
    };
    assert_eq!(names(&mut state, 0, &["a", "b"]), ["a", "b"]);
    assert_eq!(names(&mut state, 9_999, &["b"]), ["a", "b"]);
    assert_eq!(names(&mut state, 10_000, &["b"]), ["b"]);
    assert_eq!(names(&mut state, 10_001, &["a", "b"]), ["a", "b"], "it is back");
    assert_eq!(names(&mut state, 19_998, &["a"]), ["a", "b"]);
}
