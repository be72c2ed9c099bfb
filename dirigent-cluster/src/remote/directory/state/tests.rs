//! What announcements say, in any order in which they come.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dirigent::hooks::TurnId;
use dirigent::ports::{ApiError, TurnSource};
use dirigent::{ChannelId, ChatMessage, async_trait};

use super::*;
use crate::remote::rules::RunningCall;

fn host(name: &str) -> HostId {
    name.parse().unwrap()
}

fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

/// Adds up what a call cost.
#[derive(Default)]
struct Costs(AtomicU64);

#[async_trait]
impl TurnSource for Costs {
    async fn transcript(&self, _limit: usize) -> Result<Vec<Arc<ChatMessage>>, ApiError> {
        Ok(Vec::new())
    }

    fn time_left(&self) -> Option<Duration> {
        None
    }

    fn report_cost(&self, cost: u64) {
        self.0.fetch_add(cost, Ordering::SeqCst);
    }
}

/// The process that calls, started at 0, and the first start of the process `one`.
struct GuestBookStage {
    state: GuestBook,
    me: Start,
    one: Start,
    costs: Arc<Costs>,
}

impl GuestBookStage {
    fn new() -> Self {
        let (me, one) = (Start::new(at(0)), Start::new(at(1)));
        Self { state: GuestBook::new(at(0)), me, one, costs: Arc::default() }
    }

    /// A call that was made; `begun_at`: the announcement after which it is named.
    fn call(&mut self, of: &str, begun_at: Option<u64>) -> (u64, oneshot::Receiver<Ended>) {
        let turn = Turn::new(ChannelId::new(7), "poet".into(), TurnId::new(3));
        let (turn, _control) = turn.controlled(None, Arc::clone(&self.costs) as _);
        let (done, ended) = oneshot::channel();
        let number = self.state.next_call();
        let live = LiveCall { begun_at, ..LiveCall::new(host(of), turn, done) };
        self.state.calls.insert(number, live);
        (number, ended)
    }

    /// Hears an announcement of the poet, and of these calls with their costs.
    fn hear(
        &mut self,
        now: u64,
        of: (&str, Start),
        number: u64,
        calls: &[(u64, u64)],
    ) -> AnnounceAnswer {
        self.hear_of(now, of, number, &["poet"], calls)
    }

    fn hear_of(
        &mut self,
        now: u64,
        (name, start): (&str, Start),
        number: u64,
        agents: &[&str],
        calls: &[(u64, u64)],
    ) -> AnnounceAnswer {
        let running = |(number, cost): &(u64, u64)| RunningCall {
            call: CallId { start: self.me, number: *number },
            cost: *cost,
        };
        let announce = Announce {
            announced: Announced { start, number },
            agents: agents.iter().map(|agent| AgentId::from(*agent)).collect(),
            calls: calls.iter().map(running).collect(),
        };
        self.state.heard(&host(name), announce, self.me, at(now)).0
    }

    fn of_poet(&self) -> Option<HostId> {
        self.state.host_of(&"poet".into())
    }
}

fn lost(ended: &mut oneshot::Receiver<Ended>) -> Option<String> {
    match ended.try_recv().ok()? {
        Ended::Lost(error) => Some(error.to_string()),
        Ended::There { .. } => None,
    }
}

#[test]
fn an_older_announcement_says_nothing_and_lengthens_nothing() {
    let mut stage = GuestBookStage::new();
    stage.hear(100, ("one", stage.one), 2, &[]);
    stage.hear_of(2_000, ("one", stage.one), 1, &[], &[]);
    stage.hear_of(2_000, ("one", stage.one), 2, &[], &[]);
    assert_eq!(stage.of_poet(), Some(host("one")));
    assert_eq!(stage.state.announced(&host("one")).unwrap().number, 2);
    assert_eq!(stage.state.next_lapse(at(2_000)), Some(at(3_000)), "an agent may still come");
    assert_eq!(stage.state.next_lapse(at(3_000)), Some(at(3_100)));
    stage.state.lapse(at(3_099));
    assert_eq!(stage.of_poet(), Some(host("one")));
    stage.state.lapse(at(3_100));
    assert_eq!(stage.of_poet(), None);
    assert_eq!(stage.state.next_lapse(at(3_100)), None);
}

#[test]
fn an_earlier_start_says_nothing_until_the_later_one_is_lost() {
    let mut stage = GuestBookStage::new();
    let later = Start::new(at(50));
    stage.hear(100, ("one", later), 1, &[]);
    stage.hear_of(200, ("one", stage.one), 9, &[], &[]);
    assert_eq!(stage.state.announced(&host("one")).unwrap().start, later);
    // The clock of that machine was set back.
    stage.hear(3_100, ("one", stage.one), 9, &[]);
    assert_eq!(stage.state.announced(&host("one")).unwrap().start, stage.one);
    assert_eq!(stage.of_poet(), Some(host("one")));
}

#[test]
fn a_call_is_given_up_by_a_later_announcement_of_its_process_that_does_not_name_it() {
    let mut stage = GuestBookStage::new();
    stage.hear(0, ("one", stage.one), 1, &[]);
    stage.hear_of(0, ("two", stage.one), 1, &["critic"], &[]);
    let (begun, mut of_begun) = stage.call("one", Some(2));
    let (_, mut of_other) = stage.call("one", Some(2));
    let (_, mut unbegun) = stage.call("one", None);
    let (_, mut of_two) = stage.call("two", Some(2));
    // Written before the calls began.
    stage.hear(100, ("one", stage.one), 2, &[]);
    assert_eq!(stage.state.calls.len(), 4);
    stage.hear(200, ("one", stage.one), 3, &[(begun, 0)]);
    assert_eq!(stage.state.calls.len(), 3);
    let why = lost(&mut of_other).unwrap();
    assert!(why.starts_with("one gave the call up"), "{why}");
    for live in [&mut of_begun, &mut unbegun, &mut of_two] {
        assert!(live.try_recv().is_err(), "it goes on");
    }
}

#[test]
fn a_new_start_has_lost_the_calls_that_had_begun_and_no_others() {
    let mut stage = GuestBookStage::new();
    stage.hear(0, ("one", stage.one), 1, &[]);
    let (_, mut of_begun) = stage.call("one", Some(1));
    let (new, mut unbegun) = stage.call("one", None);
    let (two, mut of_two) = stage.call("two", Some(1));
    stage.hear(100, ("one", Start::new(at(90))), 1, &[]);
    assert_eq!(lost(&mut of_begun).unwrap(), "one was started anew during the call");
    assert!(unbegun.try_recv().is_err() && of_two.try_recv().is_err());
    assert_eq!(stage.state.calls.keys().copied().collect::<Vec<_>>(), [new, two]);
}

#[test]
fn a_process_that_is_not_heard_of_for_three_seconds_has_lost_its_calls_and_no_others() {
    let mut stage = GuestBookStage::new();
    stage.hear(0, ("one", stage.one), 1, &[]);
    stage.hear_of(1_000, ("two", stage.one), 1, &["critic"], &[]);
    let (_, mut of_one) = stage.call("one", None);
    let (_, mut of_two) = stage.call("two", Some(1));
    stage.state.lapse(at(2_999));
    assert!(of_one.try_recv().is_err());
    stage.state.lapse(at(3_000));
    let why = lost(&mut of_one).unwrap();
    assert!(why.starts_with("one was not heard of for 3 s"), "{why}");
    assert!(of_two.try_recv().is_err());
    let status = stage.state.status();
    let status: Vec<_> = status.iter().map(|guest| (guest.is_lost, guest.calls)).collect();
    assert_eq!(status, [(true, 0), (false, 1)]);
}

/// An answer is taken from the process in which the call runs, and for a call of this start.
#[test]
fn a_call_is_known_to_its_process_and_its_start_only() {
    let mut stage = GuestBookStage::new();
    let (number, _ended) = stage.call("one", None);
    let call = |start, number| CallId { start, number };
    let is_known = |name, call| stage.state.is_known(&host(name), call, stage.me);
    assert!(is_known("one", call(stage.me, number)));
    assert!(!is_known("two", call(stage.me, number)));
    assert!(!is_known("one", call(stage.me, number + 1)));
    assert!(!is_known("one", call(Start::new(at(70)), number)));
}

#[test]
fn calls_that_are_not_known_are_named_also_to_an_older_announcement() {
    let mut stage = GuestBookStage::new();
    stage.hear(0, ("one", stage.one), 2, &[]);
    let (number, _ended) = stage.call("one", None);
    let answer = stage.hear(100, ("one", stage.one), 1, &[(number, 0), (40, 0)]);
    assert_eq!(answer.unknown, [CallId { start: stage.me, number: 40 }]);
}

#[test]
fn costs_count_once_and_those_of_another_start_not_at_all() {
    let mut stage = GuestBookStage::new();
    stage.hear(0, ("one", stage.one), 1, &[]);
    let (number, _ended) = stage.call("one", None);
    let counted = |stage: &GuestBookStage| stage.costs.0.load(Ordering::SeqCst);
    for (announcement, total, expected) in [(2, 5, 5), (3, 5, 5), (4, 4, 5), (5, 9, 9)] {
        stage.hear(100, ("one", stage.one), announcement, &[(number, total)]);
        assert_eq!(counted(&stage), expected);
    }
    let of_before = RunningCall { call: CallId { start: Start::new(at(70)), number }, cost: 90 };
    let announce = Announce {
        announced: Announced { start: stage.one, number: 6 },
        agents: Vec::new(),
        calls: vec![of_before],
    };
    let (answer, _) = stage.state.heard(&host("one"), announce, stage.me, at(200));
    assert_eq!((answer.unknown, counted(&stage)), (vec![of_before.call], 9));
    let live = stage.state.calls.remove(&number).unwrap();
    live.end(CallEnd::Panicked, 0, 12);
    assert_eq!(counted(&stage), 12);
}

/// The library hears that an agent is offline only when it could have been announced.
#[test]
fn an_agent_that_was_never_announced_is_waited_for() {
    fn news(state: &GuestBook, now: u64) -> Vec<(String, bool, Presence)> {
        let news = state.news(at(now)).into_iter();
        news.map(|news| (news.agent.as_str().to_owned(), news.is_hosted, news.presence)).collect()
    }
    let mut stage = GuestBookStage::new();
    let poet = AgentId::from("poet");
    stage.state.expect(&poet);
    assert_eq!(news(&stage.state, 2_999), []);
    assert_eq!(news(&stage.state, 3_000), [("poet".to_owned(), true, Presence::Offline)]);
    stage.hear(3_000, ("one", stage.one), 1, &[]);
    assert_eq!(news(&stage.state, 3_000), [("poet".to_owned(), true, Presence::Online)]);
    stage.state.told(&poet, Presence::Online);
    assert_eq!(news(&stage.state, 3_000), []);
    stage.state.lapse(at(6_000));
    assert_eq!(news(&stage.state, 6_000), [("poet".to_owned(), true, Presence::Offline)]);
    // One that is not expected is to be hosted first.
    stage.hear_of(6_000, ("two", stage.one), 1, &["critic"], &[]);
    let critic = ("critic".to_owned(), false, Presence::Online);
    assert!(news(&stage.state, 6_000).contains(&critic));
}

#[test]
fn an_agent_that_its_process_announces_no_more_is_free_for_another() {
    let mut stage = GuestBookStage::new();
    stage.hear(0, ("one", stage.one), 1, &[]);
    let answer = stage.hear(0, ("two", stage.one), 1, &[]);
    assert_eq!(answer.refused, [AnnouncedBefore { agent_id: "poet".into(), host: host("one") }]);
    assert_eq!((stage.of_poet(), stage.state.conflicts().len()), (Some(host("one")), 1));
    stage.hear_of(100, ("one", stage.one), 2, &[], &[]);
    let answer = stage.hear(200, ("two", stage.one), 2, &[]);
    assert!(answer.refused.is_empty());
    assert_eq!((stage.of_poet(), stage.state.conflicts().len()), (Some(host("two")), 0));
}
