//! One probe at a time finds out whether the chat answers again.

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;

/// The moderator's account is down since the time 0.
fn down(pacing: Pacing) -> Admission {
    let mut admission = admission(pacing);
    let refused = admission.admit(at(0), post(99)).unwrap();
    admission.report(at(0), &refused, REFUSED);
    assert_eq!(admission.next(at(0)), None);
    admission
}

#[test]
fn three_failures_in_a_row_or_one_refused_connection_make_an_account_down() {
    let mut admission = admission(Pacing::off());
    let request = admission.admit(at(0), read(2)).unwrap();
    for (report, answer) in [
        (HUNG, GO),
        (HUNG, GO),
        (Report::Answered, GO),
        (HUNG, GO),
        (HUNG, GO),
        (HUNG, LINE),
        (Report::Answered, GO),
        (REFUSED, LINE),
    ] {
        admission.report(at(0), &request, report);
        assert_eq!(admission.ask(at(0), read(1)), answer, "after {report:?}");
    }
}

#[test]
fn another_account_goes_on() {
    let mut admission = down(Pacing::off());
    assert_eq!(admission.ask(at(0), by_agent(1, post(1))), GO);
    assert_eq!(admission.ask(at(0), post(1)), LINE);
    assert_eq!(admission.ask(at(0), claim(1, ClaimKind::Call)), GO);
}

#[test]
fn the_oldest_waiting_room_probes_after_1_2_4_8_10_and_10_seconds() {
    let mut admission = down(Pacing::off());
    let mut now = at(0);
    for room in 1..=9 {
        assert_eq!(admission.ask(now, post(room)), LINE);
    }
    for (room, seconds) in (1..=6).zip([1, 2, 4, 8, 10, 10]) {
        let next = now + SECOND * seconds;
        assert_eq!(admission.next_deadline(), Some(next));
        assert_eq!(admission.next(now), None);
        now = next;
        assert_eq!(admission.next_for_chat(now), Some(room));
        assert_eq!(admission.ask(now, post(9)), LINE, "only one");
        let probe = admission.admit(now, post(room)).unwrap();
        assert_eq!(admission.ask(now, post(room + 1)), LINE, "only one");
        assert_eq!((admission.next(now), admission.next_deadline()), (None, None));
        admission.report(now, &probe, HUNG);
    }
}

#[test]
fn the_first_answer_brings_every_waiting_room_back_the_oldest_first() {
    let mut admission = down(Pacing::off());
    for room in [3, 1, 3, 2] {
        assert_eq!(admission.ask(at(0), post(room)), LINE);
    }
    assert_eq!(admission.next_for_chat(at(1_000)), Some(3));
    let probe = admission.admit(at(1_000), post(3)).unwrap();
    assert_eq!(admission.ask(at(1_000), read(3)), LINE, "something else of the same room");
    admission.report(at(1_050), &probe, Report::Answered);
    assert_eq!(admission.ask(at(1_050), post(2)), GO);
    assert_eq!(admission.next_deadline(), Some(Timestamp::default()), "at once");
    let back = [(); 4].map(|()| admission.next_for_chat(at(1_050)));
    assert_eq!(back, [Some(1), Some(2), Some(3), None]);
    assert_eq!(admission.len(), 0);
}

#[test]
fn a_room_that_does_not_probe_when_its_turn_comes_passes_it_to_the_next() {
    let mut admission = down(Pacing::off());
    for room in 1..=3 {
        assert_eq!(admission.ask(at(0), post(room)), LINE);
    }
    assert_eq!(admission.next_for_chat(at(1_000)), Some(1));
    assert_eq!(admission.next_for_chat(at(1_000)), Some(2));
    assert_eq!(admission.ask(at(1_000), post(2)), GO);
    assert_eq!(admission.next(at(1_000)), None);
    assert_eq!(admission.len(), 2, "the probe, and one that waits");
}

#[test]
fn a_request_that_left_before_the_account_went_down_is_not_the_probe() {
    let mut admission = admission(Pacing::off());
    let slow = admission.admit(at(0), read(2)).unwrap();
    let refused = admission.admit(at(0), post(99)).unwrap();
    admission.report(at(0), &refused, REFUSED);
    let probe = admission.admit(at(1_000), post(1)).unwrap();
    admission.report(at(1_500), &slow, HUNG);
    assert_eq!(admission.ask(at(5_000), post(2)), LINE, "the probe is still under way");
    admission.report(at(6_000), &probe, HUNG);
    assert_eq!(admission.next_deadline(), Some(at(8_000)), "it failed once");
}

#[test]
fn a_probe_of_an_earlier_outage_says_nothing_of_the_next() {
    let mut admission = down(Pacing::off());
    let old = admission.admit(at(1_000), post(1)).unwrap();
    // An answer that was late ends the outage, and the next one begins.
    admission.report(at(1_100), &Admitted { probe: None, ..old }, Report::Answered);
    let refused = admission.admit(at(1_200), post(99)).unwrap();
    admission.report(at(1_200), &refused, REFUSED);
    let probe = admission.admit(at(2_200), post(2)).unwrap();
    admission.report(at(2_300), &old, HUNG);
    assert_eq!(admission.ask(at(9_000), post(3)), LINE, "the probe is still under way");
    admission.report(at(9_000), &probe, HUNG);
    assert_eq!(admission.next_deadline(), Some(at(11_000)));
}

#[test]
fn a_room_that_asks_when_a_probe_is_due_and_none_waits_is_the_probe() {
    let mut admission = down(Pacing::off());
    assert_eq!(admission.next_deadline(), None, "nothing waits");
    assert_eq!(admission.ask(at(60_000), read(1)), GO);
    assert_eq!(admission.ask(at(60_000), read(2)), LINE);
}

#[test]
fn a_room_that_asks_when_a_probe_is_due_does_not_overtake_an_older_one() {
    let mut admission = down(Pacing::off());
    assert_eq!(admission.ask(at(0), read(1)), LINE);
    assert_eq!(admission.ask(at(1_000), read(2)), LINE);
    assert_eq!(admission.next_for_chat(at(1_000)), Some(1));
}

#[test]
fn a_probe_keeps_to_the_pace_and_its_room_keeps_its_turn() {
    let mut admission = down(only_by_channel(1, SECOND * 3));
    assert_eq!(admission.ask(at(0), post(99)), LINE);
    assert_eq!(admission.ask(at(0), read(2)), LINE);
    assert_eq!(admission.next_for_chat(at(1_000)), Some(99));
    assert_eq!(admission.ask(at(1_000), post(99)), wait(at(3_000)));
    assert_eq!(admission.ask(at(1_000), post(1)), LINE, "the other is the probe");
    assert_eq!((admission.next(at(2_999)), admission.next_deadline()), (None, Some(at(3_000))));
    assert_eq!(admission.ask(at(3_000), again(post(99))), LINE, "the line moves by turns alone");
    assert_eq!(admission.next_for_chat(at(3_000)), Some(99));
    let probe = admission.admit(at(3_000), again(post(99))).unwrap();
    admission.report(at(3_000), &probe, Report::Answered);
    assert_eq!([(); 2].map(|()| admission.next_for_chat(at(3_000))), [Some(2), Some(1)]);
}

#[test]
fn a_rate_limited_post_is_not_the_probe() {
    let mut admission = admission(Pacing::off());
    let limited = admission.admit(at(0), post(1)).unwrap();
    let refused = admission.admit(at(0), read(1)).unwrap();
    admission.report(at(0), &limited, Report::RateLimited { until: at(60_000) });
    admission.report(at(0), &refused, REFUSED);
    assert_eq!(admission.ask(at(500), read(1)), LINE);
    assert_eq!(admission.next_for_chat(at(1_000)), Some(1));
    assert_eq!(admission.ask(at(1_000), post(1)), wait(at(60_000)));
    assert_eq!(admission.ask(at(1_000), read(1)), GO, "it is still its turn");
    assert_eq!(admission.ask(at(1_000), read(2)), LINE);
}

#[test]
fn places_of_an_account_that_goes_down_are_given_back() {
    let global = Some(Pace { burst: 1, window: SECOND });
    let mut admission = admission(Pacing { global, ..Pacing::off() });
    let refused = admission.admit(at(0), post(1)).unwrap();
    for room in 2..=100 {
        assert!(matches!(admission.ask(at(0), post(room)), Err(Wait::Until(_))));
    }
    admission.report(at(10), &refused, REFUSED);
    assert_eq!(admission.ask(at(1_000), by_agent(1, post(1))), GO);
    assert_eq!(admission.len(), 0);
}

#[test]
fn a_place_is_given_back_where_its_room_stands_in_line_meanwhile() {
    let global = Some(Pace { burst: 1, window: SECOND });
    let mut admission = down(Pacing { global, ..Pacing::off() });
    assert_eq!(admission.ask(at(1_000), by_agent(1, post(3))), GO);
    assert_eq!(admission.ask(at(1_000), post(1)), wait(at(2_000)), "the probe");
    let other = admission.admit(at(1_000), read(2));
    assert_eq!(other, Err(Wait::Line));
    assert_eq!(admission.next_for_chat(at(2_000)), Some(1));
    assert_eq!(admission.ask(at(2_000), read(1)), GO, "it reads instead");
    assert_eq!(admission.ask(at(2_000), again(post(1))), LINE);
    assert_eq!(admission.places.len(), 0);
    assert_eq!(admission.ask(at(2_000), by_agent(1, post(3))), GO);
}

#[test]
fn a_probe_comes_no_later_because_the_clock_was_set_back() {
    let mut admission = admission(Pacing::off());
    let refused = admission.admit(at(5_000_000), post(1)).unwrap();
    admission.report(at(5_000_000), &refused, REFUSED);
    assert_eq!(admission.ask(at(5_000_000), post(1)), LINE);
    assert_eq!(admission.next(at(0)), None);
    assert_eq!(admission.next_deadline(), Some(at(1_000)));
    assert_eq!(admission.next_for_chat(at(1_000)), Some(1));
}

#[test]
fn a_probe_under_way_when_the_clock_is_set_back_is_not_waited_for() {
    let mut admission = admission(Pacing::off());
    let refused = admission.admit(at(5_000_000), post(1)).unwrap();
    admission.report(at(5_000_000), &refused, REFUSED);
    let probe = admission.admit(at(5_001_000), post(1)).unwrap();
    assert_eq!(admission.ask(at(0), post(2)), LINE);
    assert_eq!(admission.next_for_chat(at(1_000)), Some(2));
    let next = admission.admit(at(1_000), post(2)).unwrap();
    admission.report(at(1_500), &probe, HUNG);
    assert_eq!(admission.ask(at(1_500), post(3)), LINE, "the other is the probe by now");
    admission.report(at(2_000), &next, Report::Answered);
    assert_eq!(admission.next_for_chat(at(2_000)), Some(3));
}

#[test]
fn ten_thousand_rooms_cost_one_request_every_ten_seconds() {
    let mut admission = down(Pacing::default());
    for room in 1..=10_000 {
        assert_eq!(admission.ask(at(0), post(room)), LINE);
    }
    let (mut now, mut requests) = (at(0), 0);
    while now < at(3_600_000) {
        now = admission.next_deadline().unwrap();
        while let Some(room) = admission.next_for_chat(now) {
            let probe = admission.admit(now, post(room)).unwrap();
            admission.report(now, &probe, REFUSED);
            assert_eq!(admission.ask(now, post(room)), LINE);
            requests += 1;
        }
    }
    assert!((360..=364).contains(&requests), "{requests} in an hour");
    now = admission.next_deadline().unwrap();
    let first = admission.next_for_chat(now).unwrap();
    let probe = admission.admit(now, post(first)).unwrap();
    admission.report(now, &probe, Report::Answered);
    let (mut back, mut last) = (0, now);
    while let Some(room) = admission.next_for_chat(now) {
        back += 1;
        match admission.ask(now, post(room)) {
            Ok(()) => {}
            Err(Wait::Until(until)) => last = last.max(until),
            Err(Wait::Line) => panic!("the chat is back"),
        }
    }
    assert_eq!(back, 9_999);
    // 40 in one second for all.
    assert!(last.since(now) <= SECOND * 250);
}

/// A request of the simulated rooms.
#[derive(Clone, Copy, Debug)]
enum Action {
    /// It asks at this time.
    Asks(Timestamp),
    /// It stands in line.
    Waits,
    /// Its request ends then, with this.
    UnderWay(Timestamp, Report, Admitted),
    Done,
}

/// The chat is away from `begin` to `end`, refuses connections or hangs.
struct Outage {
    begin: Timestamp,
    end: Timestamp,
    refuses: bool,
}

impl Outage {
    fn request(&self, now: Timestamp, chance: &mut Chance) -> (Timestamp, Report) {
        let soon = now + Duration::from_millis(20 + chance.below(200));
        if now < self.begin || now >= self.end {
            (soon, Report::Answered)
        } else if self.refuses {
            (now + Duration::from_millis(1), REFUSED)
        } else {
            (now + SECOND * 10, HUNG)
        }
    }
}

/// Rooms that each ask until their actions are done.
struct Rooms {
    admission: Admission,
    chance: Chance,
    outage: Outage,
    actions: Vec<(Claim, Action, u32)>,
    /// Accounts that are down, as the reports tell, with the failures in a row.
    failures: HashMap<AccountKey, u8>,
    /// Which requests left while their account was down.
    probes: Vec<usize>,
    answered: Vec<(AccountKey, Timestamp)>,
    admitted: Vec<(AccountKey, Timestamp)>,
}

impl Rooms {
    fn next_time(&self) -> Option<Timestamp> {
        let times = self.actions.iter().filter_map(|(_, action, _)| match action {
            Action::Asks(at) | Action::UnderWay(at, ..) => Some(*at),
            Action::Waits | Action::Done => None,
        });
        times.chain(self.admission.next_deadline()).min()
    }

    fn is_down(&self, account: AccountKey) -> bool {
        self.failures.get(&account).is_some_and(|failures| *failures >= 3)
    }

    fn ask(&mut self, index: usize, now: Timestamp) {
        let claim = self.actions[index].0;
        let answer = self.admission.admit(now, claim);
        self.actions[index].0.has_waited = answer.is_err();
        let action = match answer {
            Ok(admitted) => {
                let (ends, report) = self.outage.request(now, &mut self.chance);
                Action::UnderWay(ends, report, admitted)
            }
            Err(Wait::Until(until)) => Action::Asks(until),
            Err(Wait::Line) => Action::Waits,
        };
        self.actions[index].1 = action;
        if matches!(action, Action::UnderWay(..)) {
            self.admitted.push((claim.account, now));
            if self.is_down(claim.account) {
                let of_account = |probe: &&usize| self.actions[**probe].0.account == claim.account;
                assert_eq!(self.probes.iter().filter(of_account).count(), 0, "one at a time");
                self.probes.push(index);
            }
        }
    }

    /// The request of an action ended.
    fn end(&mut self, index: usize, now: Timestamp, report: Report, admitted: &Admitted) {
        let (claim, action, failed) = &mut self.actions[index];
        self.probes.retain(|probe| *probe != index);
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
        self.admission.report(now, admitted, report);
    }

    /// Each room whose turn it is asks for everything that it wants.
    fn move_lines(&mut self, now: Timestamp) {
        while let Some(Next { room, is_for_chat }) = self.admission.next(now) {
            assert!(is_for_chat);
            for index in 0..self.actions.len() {
                let (claim, action, _) = self.actions[index];
                if claim.room == room && matches!(action, Action::Asks(_) | Action::Waits) {
                    self.ask(index, now);
                }
            }
        }
    }
}

/// Runs until every action is done or not wanted any more.
fn run(seed: u64, pacing: Pacing, outage: Outage, begins: u64) -> Rooms {
    let mut chance = Chance(seed);
    let actions = (0..40).map(|_| {
        let kind = if chance.below(3) == 0 { ClaimKind::Read } else { ClaimKind::Post };
        let key = u32::try_from(chance.below(3)).unwrap();
        let account = key
            .checked_sub(1)
            .map_or(AccountKey::Moderator, |key| AccountKey::Agent(AgentKey::new(key)));
        let claim = Claim { account, ..claim(chance.below(20), kind) };
        (claim, Action::Asks(at(chance.below(begins))), 0)
    });
    let mut rooms = Rooms {
        actions: actions.collect(),
        admission: admission(pacing),
        chance: Chance(seed ^ 1),
        outage,
        failures: HashMap::new(),
        probes: Vec::new(),
        answered: Vec::new(),
        admitted: Vec::new(),
    };
    let mut now = at(0);
    while rooms.actions.iter().any(|(_, action, _)| !matches!(action, Action::Done)) {
        now = rooms.next_time().expect("nothing waits for ever").max(now);
        assert!(now < rooms.outage.end + SECOND * 600, "nothing waits for ever");
        rooms.move_lines(now);
        for index in 0..rooms.actions.len() {
            match rooms.actions[index].1 {
                Action::Asks(at) if at <= now => rooms.ask(index, now),
                Action::UnderWay(at, report, admitted) if at <= now => {
                    rooms.end(index, now, report, &admitted);
                    // Now and then the driver has something else to do first.
                    if rooms.chance.below(3) > 0 {
                        rooms.move_lines(now);
                    }
                }
                Action::Asks(_) | Action::Waits if rooms.chance.below(2_000) == 0 => {
                    rooms.actions[index].1 = Action::Done;
                }
                Action::Asks(_) | Action::Waits | Action::UnderWay(..) | Action::Done => {}
            }
        }
    }
    // What is left wants nothing any more.
    let end = now + SECOND * 60;
    while rooms.admission.next(end).is_some() {}
    assert_eq!(rooms.admission.len(), rooms.admission.places.len(), "nothing is left behind");
    assert_eq!(rooms.admission.next_deadline(), None);
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
        let rooms = run(seed, pacing, outage, begin + length.min(90_000));
        let outage = &rooms.outage;
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
