//! One probe at a time finds out whether the chat answers again.

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;

/// The moderator's account is down since the time 0.
fn down(pacing: Pacing) -> Admission {
    let mut admission = admission(pacing);
    assert_eq!(admission.admit(at(0), &post(99, 1)), Verdict::Go);
    assert!(admission.report(at(0), &post(99, 1), REFUSED).is_empty());
    admission
}

#[test]
fn three_failures_in_a_row_or_one_refused_connection_make_an_account_down() {
    let mut admission = admission(Pacing::off());
    for (report, verdict) in [
        (HUNG, Verdict::Go),
        (HUNG, Verdict::Go),
        (Report::Answered, Verdict::Go),
        (HUNG, Verdict::Go),
        (HUNG, Verdict::Go),
        (HUNG, AWAY),
        (Report::Answered, Verdict::Go),
        (REFUSED, AWAY),
    ] {
        let _ = admission.report(at(0), &read(2, 1), report);
        assert_eq!(admission.admit(at(0), &read(1, 1)), verdict, "after {report:?}");
    }
}

#[test]
fn another_account_goes_on() {
    let mut admission = down(Pacing::off());
    let of_an_agent = Claim { account: AccountKey::Agent(AgentKey::new(1)), ..post(1, 1) };
    assert_eq!(admission.admit(at(0), &of_an_agent), Verdict::Go);
    assert_eq!(admission.admit(at(0), &post(1, 2)), AWAY);
    assert_eq!(admission.admit(at(0), &claim(1, 3, ClaimKind::Call)), Verdict::Go);
}

#[test]
fn the_oldest_waiting_action_probes_after_1_2_4_8_10_and_10_seconds() {
    let mut admission = down(Pacing::off());
    let mut now = at(0);
    for room in 1..=9 {
        assert_eq!(admission.admit(now, &post(room, 1)), AWAY);
    }
    for (room, seconds) in (1..=6).zip([1, 2, 4, 8, 10, 10]) {
        let next = now + SECOND * seconds;
        assert_eq!(admission.next_deadline(), Some(next));
        assert!(admission.due(now).is_empty());
        now = next;
        assert_eq!(admission.due(now), [try_again(&post(room, 1))]);
        assert_eq!(admission.admit(now, &post(9, 1)), AWAY, "only one");
        assert_eq!(admission.admit(now, &post(room, 1)), Verdict::Go);
        assert_eq!(admission.admit(now, &post(room + 1, 1)), AWAY, "only one");
        assert!(admission.due(now).is_empty());
        assert!(admission.report(now, &post(room, 1), HUNG).is_empty());
    }
}

#[test]
fn the_first_answer_brings_every_waiting_room_back_the_oldest_first() {
    let mut admission = down(Pacing::off());
    for (room, id) in [(3, 1), (1, 1), (3, 2), (2, 1)] {
        assert_eq!(admission.admit(at(0), &post(room, id)), AWAY);
    }
    assert_eq!(admission.due(at(1_000)), [try_again(&post(3, 1))]);
    assert_eq!(admission.admit(at(1_000), &post(3, 1)), Verdict::Go);
    let back = admission.report(at(1_050), &post(3, 1), Report::Answered);
    assert_eq!(back, [chat_back(1), chat_back(3), chat_back(2)]);
    assert_eq!(admission.admit(at(1_050), &post(2, 1)), Verdict::Go);
    assert_eq!(admission.len(), 0);
}

#[test]
fn a_probe_that_is_withdrawn_passes_to_the_next() {
    let mut admission = down(Pacing::off());
    for room in 1..=3 {
        assert_eq!(admission.admit(at(0), &post(room, 1)), AWAY);
    }
    let room = ChannelId::new;
    assert!(admission.withdraw(at(1), room(1), ActionId(1)).is_empty(), "no probe is due");
    assert_eq!(admission.due(at(1_000)), [try_again(&post(2, 1))]);
    assert_eq!(admission.withdraw(at(1_000), room(2), ActionId(1)), [try_again(&post(3, 1))]);
    assert_eq!(admission.admit(at(1_000), &post(3, 1)), Verdict::Go);
}

#[test]
fn a_probe_whose_room_does_not_ask_passes_to_the_next_after_ten_seconds() {
    let mut admission = down(Pacing::off());
    for room in 1..=2 {
        assert_eq!(admission.admit(at(0), &post(room, 1)), AWAY);
    }
    assert_eq!(admission.due(at(1_000)), [try_again(&post(1, 1))]);
    assert_eq!(admission.next_deadline(), Some(at(11_000)));
    assert_eq!(admission.due(at(11_000)), [try_again(&post(2, 1))]);
}

#[test]
fn a_probe_that_is_never_reported_counts_as_failed() {
    let mut admission = down(Pacing::off());
    for room in 1..=2 {
        assert_eq!(admission.admit(at(0), &post(room, 1)), AWAY);
    }
    assert_eq!(admission.due(at(1_000)), [try_again(&post(1, 1))]);
    assert_eq!(admission.admit(at(1_000), &post(1, 1)), Verdict::Go);
    assert_eq!(admission.next_deadline(), Some(at(31_000)));
    assert!(admission.due(at(31_000)).is_empty());
    assert_eq!(admission.due(at(33_000)), [try_again(&post(2, 1))]);
}

#[test]
fn an_action_that_asks_when_a_probe_is_due_and_none_waits_is_the_probe() {
    let mut admission = down(Pacing::off());
    assert_eq!(admission.next_deadline(), None, "nothing waits");
    assert_eq!(admission.admit(at(60_000), &read(1, 1)), Verdict::Go);
    assert_eq!(admission.admit(at(60_000), &read(2, 1)), AWAY);
}

#[test]
fn an_action_that_asks_when_a_probe_is_due_does_not_overtake_an_older_one() {
    let mut admission = down(Pacing::off());
    assert_eq!(admission.admit(at(0), &read(1, 1)), AWAY);
    assert_eq!(admission.admit(at(1_000), &read(2, 1)), AWAY);
    assert_eq!(admission.due(at(1_000)), [try_again(&read(1, 1))]);
}

#[test]
fn a_probe_keeps_to_the_pace() {
    let mut admission = down(only_by_channel(1, SECOND * 3));
    assert_eq!(admission.admit(at(0), &post(99, 2)), AWAY);
    assert_eq!(admission.due(at(1_000)), [try_again(&post(99, 2))]);
    let place = wait(at(3_000));
    assert_eq!(admission.admit(at(1_000), &post(99, 2)), place);
    assert_eq!(admission.admit(at(1_000), &post(1, 1)), AWAY, "the other is the probe");
    assert_eq!(admission.admit(at(3_000), &post(99, 2)), Verdict::Go);
    assert_eq!(admission.report(at(3_000), &post(99, 2), Report::Answered), [chat_back(1)]);
}

#[test]
fn a_rate_limited_action_is_not_the_probe() {
    let mut admission = admission(Pacing::off());
    let limited = Report::RateLimited { until: at(60_000) };
    let _ = admission.report(at(0), &post(1, 1), limited);
    assert_eq!(admission.admit(at(0), &read(1, 2)), Verdict::Go);
    let _ = admission.report(at(0), &read(1, 2), REFUSED);
    let barred = wait(at(60_000));
    assert_eq!(admission.admit(at(1_000), &post(1, 1)), barred);
    assert_eq!(admission.admit(at(1_000), &post(2, 1)), Verdict::Go);
}

#[test]
fn places_of_an_account_that_goes_down_are_given_back() {
    let global = Some(Pace { burst: 1, window: SECOND });
    let mut admission = admission(Pacing { global, ..Pacing::off() });
    assert_eq!(admission.admit(at(0), &post(1, 1)), Verdict::Go);
    for room in 2..=100 {
        assert!(matches!(admission.admit(at(0), &post(room, 1)), Verdict::Wait { .. }));
    }
    let _ = admission.report(at(10), &post(1, 1), REFUSED);
    let of_an_agent = Claim { account: AccountKey::Agent(AgentKey::new(1)), ..post(1, 2) };
    assert_eq!(admission.admit(at(1_000), &of_an_agent), Verdict::Go);
    assert_eq!(admission.len(), 0);
}

#[test]
fn a_probe_comes_no_later_because_the_clock_was_set_back() {
    let mut admission = admission(Pacing::off());
    let _ = admission.report(at(5_000_000), &post(1, 1), REFUSED);
    assert_eq!(admission.admit(at(5_000_000), &post(1, 2)), AWAY);
    assert!(admission.due(at(0)).is_empty());
    assert_eq!(admission.next_deadline(), Some(at(1_000)));
    assert_eq!(admission.due(at(1_000)), [try_again(&post(1, 2))]);
}

#[test]
fn ten_thousand_rooms_cost_one_request_every_ten_seconds() {
    let mut admission = down(Pacing::default());
    for room in 1..=10_000 {
        assert_eq!(admission.admit(at(0), &post(room, 1)), AWAY);
    }
    let (mut now, mut requests) = (at(0), 0);
    while now < at(3_600_000) {
        now = admission.next_deadline().unwrap();
        for wakeup in admission.due(now) {
            let probe = post(wakeup.room.get(), wakeup.id.unwrap().0);
            assert_eq!(admission.admit(now, &probe), Verdict::Go);
            assert!(admission.report(now, &probe, REFUSED).is_empty());
            assert_eq!(admission.admit(now, &probe), AWAY);
            requests += 1;
        }
    }
    assert!((360..=364).contains(&requests), "{requests} in an hour");
    now = admission.next_deadline().unwrap();
    let first = admission.due(now)[0].room.get();
    assert_eq!(admission.admit(now, &post(first, 1)), Verdict::Go);
    let back = admission.report(now, &post(first, 1), Report::Answered);
    assert_eq!(back.len(), 9_999);
    let verdicts = back.iter().map(|wakeup| admission.admit(now, &post(wakeup.room.get(), 1)));
    let last = verdicts.map(|verdict| match verdict {
        Verdict::Go => now,
        Verdict::Wait { until } => until.unwrap(),
    });
    // 40 in one second for all.
    assert!(last.max().unwrap().since(now) <= SECOND * 250);
}

/// A request of the simulated rooms.
#[derive(Clone, Copy, Debug)]
enum Action {
    /// It asks at this time.
    Asks(Timestamp),
    /// It waits to be woken.
    Waits,
    /// Its request ends then, with this.
    UnderWay(Timestamp, Report),
    Done,
}

/// The chat is away from `begin` to `end`, refuses connections or hangs.
struct Outage {
    begin: Timestamp,
    end: Timestamp,
    refuses: bool,
}

impl Outage {
    fn request(&self, now: Timestamp, chance: &mut Chance) -> Action {
        let soon = now + Duration::from_millis(20 + chance.below(200));
        if now < self.begin || now >= self.end {
            Action::UnderWay(soon, Report::Answered)
        } else if self.refuses {
            Action::UnderWay(now + Duration::from_millis(1), REFUSED)
        } else {
            Action::UnderWay(now + SECOND * 10, HUNG)
        }
    }
}

/// Rooms that each ask until their action is done.
struct Rooms {
    admission: Admission,
    actions: Vec<(Claim, Action, u32)>,
    /// Accounts that are down, as the reports tell, with the failures in a row.
    failures: HashMap<AccountKey, u8>,
    /// Which requests left while their account was down.
    probes: Vec<ActionId>,
    answered: Vec<(AccountKey, Timestamp)>,
    admitted: Vec<(AccountKey, Timestamp)>,
}

impl Rooms {
    fn next_time(&self) -> Option<Timestamp> {
        let times = self.actions.iter().filter_map(|(_, action, _)| match action {
            Action::Asks(at) | Action::UnderWay(at, _) => Some(*at),
            Action::Waits | Action::Done => None,
        });
        times.chain(self.admission.next_deadline()).min()
    }

    fn is_down(&self, account: AccountKey) -> bool {
        self.failures.get(&account).is_some_and(|failures| *failures >= 3)
    }

    fn ask(&mut self, index: usize, now: Timestamp, outage: &Outage, chance: &mut Chance) {
        let (claim, action, _) = &mut self.actions[index];
        let claim = *claim;
        *action = match self.admission.admit(now, &claim) {
            Verdict::Go => outage.request(now, chance),
            Verdict::Wait { until: Some(until) } => Action::Asks(until),
            Verdict::Wait { until: None } => Action::Waits,
        };
        if matches!(action, Action::UnderWay(..)) {
            self.admitted.push((claim.account, now));
            if self.is_down(claim.account) {
                let of_account = |id: &&ActionId| {
                    self.actions.iter().any(|(c, ..)| c.id == **id && c.account == claim.account)
                };
                assert_eq!(self.probes.iter().filter(of_account).count(), 0, "one at a time");
                self.probes.push(claim.id);
            }
        }
    }

    /// The request of an action ended. Returns the rooms to be woken.
    fn end(&mut self, index: usize, now: Timestamp, report: Report) -> Vec<Wakeup> {
        let (claim, action, failed) = &mut self.actions[index];
        self.probes.retain(|id| *id != claim.id);
        if report == Report::Answered {
            *action = Action::Done;
            self.failures.remove(&claim.account);
            self.answered.push((claim.account, now));
        } else {
            let back_off = Duration::from_millis(500) * 2_u32.pow(*failed);
            *action = Action::Asks(now + back_off.min(SECOND * 10));
            *failed = (*failed + 1).min(10);
            let failures = self.failures.entry(claim.account).or_default();
            *failures = if report == REFUSED { 3 } else { failures.saturating_add(1) };
        }
        self.admission.report(now, claim, report)
    }

    fn withdraw(&mut self, index: usize, now: Timestamp) -> Vec<Wakeup> {
        let (claim, action, _) = &mut self.actions[index];
        *action = Action::Done;
        self.admission.withdraw(now, claim.room, claim.id)
    }

    fn wake(&mut self, now: Timestamp, wakeups: Vec<Wakeup>) {
        for wakeup in wakeups {
            let mut found = false;
            for (claim, action, _) in &mut self.actions {
                let is_meant =
                    claim.room == wakeup.room && wakeup.id.is_none_or(|id| id == claim.id);
                if is_meant && !matches!(action, Action::UnderWay(..) | Action::Done) {
                    (*action, found) = (Action::Asks(now), true);
                }
            }
            assert!(found, "a room is woken only while it waits: {wakeup:?}");
        }
    }
}

/// Runs until every action is done or withdrawn.
fn run(seed: u64, pacing: Pacing, outage: &Outage, begins: u64) -> Rooms {
    let mut chance = Chance(seed);
    let actions = (0..40).map(|id| {
        let kind = if chance.below(3) == 0 { ClaimKind::Read } else { ClaimKind::Post };
        let key = u32::try_from(chance.below(3)).unwrap();
        let account = key
            .checked_sub(1)
            .map_or(AccountKey::Moderator, |key| AccountKey::Agent(AgentKey::new(key)));
        let claim = Claim { account, ..claim(chance.below(20), id, kind) };
        (claim, Action::Asks(at(chance.below(begins))), 0)
    });
    let mut rooms = Rooms {
        actions: actions.collect(),
        admission: admission(pacing),
        failures: HashMap::new(),
        probes: Vec::new(),
        answered: Vec::new(),
        admitted: Vec::new(),
    };
    while rooms.actions.iter().any(|(_, action, _)| !matches!(action, Action::Done)) {
        let now = rooms.next_time().expect("nothing waits for ever");
        assert!(now < outage.end + SECOND * 600, "nothing waits for ever");
        let woken = rooms.admission.due(now);
        rooms.wake(now, woken);
        for index in 0..rooms.actions.len() {
            match rooms.actions[index].1 {
                Action::Asks(at) if at <= now => rooms.ask(index, now, outage, &mut chance),
                Action::UnderWay(at, report) if at <= now => {
                    let woken = rooms.end(index, now, report);
                    rooms.wake(now, woken);
                }
                Action::Asks(_) | Action::Waits if chance.below(2_000) == 0 => {
                    let woken = rooms.withdraw(index, now);
                    rooms.wake(now, woken);
                }
                Action::Asks(_) | Action::Waits | Action::UnderWay(..) | Action::Done => {}
            }
        }
    }
    assert_eq!(rooms.admission.len(), 0, "nothing is left behind");
    rooms
}

proptest! {
    #[test]
    fn after_an_outage_of_any_length_every_action_is_admitted_soon(
        seed: u64,
        begin in 0..60_000_u64,
        length in prop_oneof![0..3_000_u64, 0..120_000_u64, 0..3_600_000_u64],
        refuses: bool,
        is_paced: bool,
    ) {
        let outage = Outage { begin: at(begin), end: at(begin + length), refuses };
        let pacing = if is_paced { Pacing::default() } else { Pacing::off() };
        let rooms = run(seed, pacing, &outage, begin + length.min(90_000));
        // At most 40 posts, 5 in 5 s in a channel.
        let pace = SECOND * if is_paced { 40 } else { 0 };
        // A request that left during the outage may hang, and is repeated after it.
        let hung = outage.end + SECOND * if refuses { 0 } else { 10 };
        let begun = at(begin + length.min(90_000));
        for (account, asked) in &rooms.admitted {
            let answers = rooms.answered.iter().filter(|(of, at)| of == account && *at >= outage.end);
            let Some(first) = answers.map(|(_, at)| *at).min() else { continue };
            let latest = first.max(hung).max(begun) + SECOND * 10 + pace;
            prop_assert!(*asked <= latest, "{:?} is later than {:?}", asked, latest);
            // The last request that hangs, and the wait before the next probe.
            let latest = hung.max(begun) + SECOND * 11 + pace;
            prop_assert!(first <= latest, "{:?} is later than {:?}", first, latest);
        }
    }
}

#[test]
fn a_probe_that_lasts_as_long_as_an_attempt_may_is_waited_for() {
    let mut admission = within(Pacing::off(), SECOND * 120);
    let (probe, other) = (post(1, 1), post(2, 1));
    assert!(admission.report(at(0), &post(99, 1), REFUSED).is_empty());
    assert_eq!(admission.admit(at(0), &probe), AWAY);
    assert_eq!(admission.admit(at(0), &other), AWAY);
    assert_eq!(admission.due(at(1_000)), [try_again(&probe)]);
    assert_eq!(admission.admit(at(1_000), &probe), Verdict::Go);
    assert!(admission.due(at(121_000)).is_empty(), "its answer may still come");
    assert_eq!(admission.report(at(121_000), &probe, Report::Answered), [chat_back(2)]);
}
