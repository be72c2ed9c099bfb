//! Presence against naive maps.

use std::collections::BTreeMap;
use std::time::Duration;

use dirigent_core::{AgentKey, Input, Timestamp};
use proptest::prelude::*;

use super::{Heartbeat, Presence};

const AGENTS: u32 = 3;
const HEARTBEAT: Heartbeat = Heartbeat { period: Duration::from_millis(10), misses: 3 };

#[derive(Clone, Copy, Debug)]
enum Op {
    Offline(AgentKey),
    Online(AgentKey),
    Heartbeat(AgentKey),
    SignOfLife(AgentKey),
    /// Time passes.
    Pass(u64),
    /// The channel that is not always in memory leaves it.
    Park,
    /// It is read again.
    Read,
    /// An agent that came back has turns again, in both channels.
    Assign(AgentKey),
}

fn op() -> impl Strategy<Value = Op> {
    let agent = || (0..AGENTS).prop_map(AgentKey::new);
    prop_oneof![
        1 => agent().prop_map(Op::Offline),
        1 => agent().prop_map(Op::Online),
        3 => agent().prop_map(Op::Heartbeat),
        2 => agent().prop_map(Op::SignOfLife),
        3 => (0..31_u64).prop_map(Op::Pass),
        1 => Just(Op::Park),
        1 => Just(Op::Read),
        1 => agent().prop_map(Op::Assign),
    ]
}

/// What a channel stores of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Offline,
    Unassigned,
}

/// The marks of a channel.
type Marks = BTreeMap<AgentKey, Mark>;

fn tell(marks: &mut Marks, input: &Input) {
    if let Input::Offline(agent) = input {
        marks.insert(*agent, Mark::Offline);
    } else if let Input::Online(agent) = input {
        if let Some(mark) = marks.get_mut(agent) {
            *mark = Mark::Unassigned;
        }
    } else {
        panic!("nothing to tell: {input:?}");
    }
}

/// Whether each agent is online, and the newest sign of life of those that are watched.
#[derive(Debug, Default)]
struct Naive {
    is_online: BTreeMap<AgentKey, bool>,
    signs: BTreeMap<AgentKey, u64>,
}

impl Naive {
    fn offline(&mut self, agent: AgentKey) -> Input {
        self.is_online.insert(agent, false);
        self.signs.remove(&agent);
        Input::Offline(agent)
    }

    fn online(&mut self, agent: AgentKey) -> Input {
        self.is_online.insert(agent, true);
        Input::Online(agent)
    }

    /// What is to be told, by the shortest reading of the rules.
    fn apply(&mut self, op: Op, now: u64) -> Vec<Input> {
        match op {
            Op::Offline(agent) => vec![self.offline(agent)],
            Op::Online(agent) => vec![self.online(agent)],
            Op::Heartbeat(agent) => {
                self.signs.insert(agent, now);
                let is_back = self.is_online.get(&agent) != Some(&true);
                if is_back { vec![self.online(agent)] } else { Vec::new() }
            }
            Op::SignOfLife(agent) => {
                self.signs.entry(agent).and_modify(|sign| *sign = now);
                Vec::new()
            }
            Op::Pass(_) => {
                let silent = (0..AGENTS).map(AgentKey::new);
                let silent =
                    silent.filter(|agent| self.signs.get(agent).is_some_and(|s| s + 30 <= now));
                silent.collect::<Vec<_>>().into_iter().map(|agent| self.offline(agent)).collect()
            }
            Op::Park | Op::Read | Op::Assign(_) => Vec::new(),
        }
    }
}

/// Applies the operation and returns the inputs for a channel in memory.
fn apply(presence: &mut Presence, op: Op, now: Timestamp) -> Vec<Input> {
    let told = presence.epoch();
    match op {
        Op::Offline(agent) => presence.offline(agent),
        Op::Online(agent) => presence.online(agent),
        Op::Heartbeat(agent) => {
            let is_news = presence.heartbeat(agent, now);
            assert_eq!(is_news, presence.epoch() > told, "each change is news");
        }
        Op::SignOfLife(agent) => presence.sign_of_life(agent, now),
        Op::Pass(_) => {
            let _ = presence.expire(now);
        }
        Op::Park | Op::Read | Op::Assign(_) => {}
    }
    presence.news_since(told)
}

/// Marks that channels stored before the process was started.
fn marks_from_before() -> impl Strategy<Value = Marks> {
    let mark = prop_oneof![Just(Mark::Offline), Just(Mark::Unassigned)];
    prop::collection::btree_map((0..AGENTS).prop_map(AgentKey::new), mark, 0..=AGENTS as usize)
}

proptest! {
    /// It tells what the naive maps tell, and its deadline is the first at which that changes.
    #[test]
    fn presence_is_what_two_maps_say(ops in prop::collection::vec(op(), 0..60)) {
        let (mut presence, mut naive) = (Presence::new(Some(HEARTBEAT)), Naive::default());
        let mut now = 1_000;
        for op in ops {
            if let Op::Pass(by) = op {
                now += by;
            }
            let told = apply(&mut presence, op, Timestamp::from_millis(now));
            prop_assert_eq!(told, naive.apply(op, now), "{:?}", op);
            let due = naive.signs.values().min().map(|sign| Timestamp::from_millis(sign + 30));
            prop_assert_eq!(presence.next_silence(), due);
        }
    }

    /// A channel that leaves memory and is read again has the marks of one that was always there.
    #[test]
    fn a_channel_that_was_away_is_told_what_it_missed(
        before in marks_from_before(),
        ops in prop::collection::vec(op(), 0..60),
    ) {
        let mut presence = Presence::new(Some(HEARTBEAT));
        let (mut always, mut parked, mut away) = (before.clone(), before, Some(0));
        let mut now = 1_000;
        for op in ops {
            if let Op::Pass(by) = op {
                now += by;
            }
            for input in apply(&mut presence, op, Timestamp::from_millis(now)) {
                tell(&mut always, &input);
                if away.is_none() {
                    tell(&mut parked, &input);
                }
            }
            match (op, away) {
                (Op::Park, None) => away = Some(presence.epoch()),
                (Op::Read, Some(epoch)) => {
                    presence.news_since(epoch).iter().for_each(|input| tell(&mut parked, input));
                    away = None;
                }
                (Op::Assign(agent), None) if always.get(&agent) == Some(&Mark::Unassigned) => {
                    always.remove(&agent);
                    parked.remove(&agent);
                }
                _ => {}
            }
            if away.is_none() {
                prop_assert_eq!(&parked, &always, "{:?}", op);
            }
        }
    }
}

#[test]
fn without_a_heartbeat_setting_no_agent_is_watched() {
    let (mut presence, agent) = (Presence::new(None), AgentKey::new(0));
    assert!(presence.heartbeat(agent, Timestamp::from_millis(0)), "it may be marked from before");
    assert_eq!(presence.news_since(0), [Input::Online(agent)]);
    assert!(!presence.heartbeat(agent, Timestamp::from_millis(1)));
    assert_eq!(presence.next_silence(), None);
    assert_eq!(presence.expire(Timestamp::from_millis(u64::MAX)), []);
}

#[test]
fn a_channel_that_was_told_everything_is_told_nothing_when_it_is_read_again() {
    let mut presence = Presence::new(Some(HEARTBEAT));
    let [a, b] = [0, 1].map(AgentKey::new);
    presence.online(a);
    presence.offline(b);
    let told = presence.epoch();
    assert_eq!(presence.news_since(told), []);
    presence.online(b);
    assert_eq!(presence.news_since(told), [Input::Online(b)]);
    assert_eq!(presence.news_since(0), [Input::Online(a), Input::Offline(b), Input::Online(b)]);
}
