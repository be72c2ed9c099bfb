//! What may leave when.

use super::*;

const START: Timestamp = Timestamp::from_millis(1_000_000);
const POST: RouteKey = RouteKey::new("create message", 7);

fn headers(limit: u32, remaining: u32, reset_after_ms: u64) -> LimitHeaders {
    LimitHeaders {
        bucket: Some("b".to_owned()),
        limit: Some(limit),
        remaining: Some(remaining),
        reset_after: Some(Duration::from_millis(reset_after_ms)),
    }
}

fn answer(pace: &mut Pace, at: Timestamp, limit: u32, remaining: u32, reset_after_ms: u64) {
    let seat = pace.leave(at, POST);
    let outcome = Outcome::Answered(headers(limit, remaining, reset_after_ms));
    pace.came_back(at, POST, &seat, &outcome);
}

/// R283: what the headers say is kept, though they carry no scope.
#[test]
fn an_empty_bucket_waits_for_its_reset() {
    let mut pace = Pace::new(50);
    assert_eq!(pace.wait(START, POST), None, "nothing is known yet");
    answer(&mut pace, START, 1, 0, 1_500);
    assert_eq!(pace.wait(START, POST), Some(Duration::from_millis(1_500)));
    let elsewhere = RouteKey::new("create message", 8);
    assert_eq!(pace.wait(START, elsewhere), None, "another channel has its own");
    assert_eq!(pace.wait(START + Duration::from_millis(1_499), POST).unwrap().as_millis(), 1);
    assert_eq!(pace.wait(START + Duration::from_millis(1_500), POST), None);
}

/// R283: requests under way have their places.
#[test]
fn requests_under_way_count() {
    let mut pace = Pace::new(50);
    answer(&mut pace, START, 3, 2, 5_000);
    let seats: Vec<_> = (0..2).map(|_| pace.leave(START, POST)).collect();
    assert_eq!(pace.wait(START, POST), Some(Duration::from_secs(5)));
    let outcome = Outcome::Answered(headers(3, 1, 5_000));
    pace.came_back(START, POST, &seats[0], &outcome);
    assert!(pace.wait(START, POST).is_some(), "one is still under way");
    pace.came_back(START, POST, &seats[1], &Outcome::Lost);
    assert!(pace.wait(START, POST).is_some(), "the lost one may have counted");
    assert_eq!(pace.wait(START + Duration::from_secs(5), POST), None);
}

/// R283: an older answer that arrives late gives nothing back.
#[test]
fn answers_out_of_order_free_no_place() {
    let mut pace = Pace::new(50);
    answer(&mut pace, START, 5, 0, 4_000);
    answer(&mut pace, START, 5, 1, 4_100);
    assert!(pace.wait(START, POST).is_some());
}

/// A bucket that refills a little with every answer is not held to the first one's count.
#[test]
fn a_sliding_window_is_followed() {
    let mut pace = Pace::new(50);
    for n in 0..20_u64 {
        let now = START + Duration::from_millis(n * 1_200);
        assert_eq!(pace.wait(now, POST), None, "{n}");
        answer(&mut pace, now, 5, 4, 5_000);
    }
}

/// After a reset the first requests go out together, and no more than fit.
#[test]
fn a_fresh_window_takes_its_limit_and_no_more() {
    let mut pace = Pace::new(50);
    answer(&mut pace, START, 2, 0, 1_000);
    let now = START + SECOND;
    for _ in 0..2 {
        assert_eq!(pace.wait(now, POST), None);
        pace.leave(now, POST);
    }
    assert_eq!(pace.wait(now, POST), Some(Duration::from_millis(250)));
}

/// Globally no second holds more than allowed, whatever the routes.
#[test]
fn no_second_holds_more_than_the_global_limit() {
    let mut pace = Pace::new(50);
    let (mut now, mut sent) = (START, Vec::new());
    for n in 0..2_000_u64 {
        now = now + Duration::from_millis(7);
        let route = RouteKey::new("get channel", n);
        if pace.wait(now, route).is_none() {
            pace.leave(now, route);
            sent.push(now);
        }
    }
    assert!(sent.len() > 600, "{}", sent.len());
    for second in sent.windows(51) {
        assert!(second[50].since(second[0]) >= SECOND);
    }
}

/// R120: each scope of a 429 stops what it must and nothing else.
#[test]
fn a_429_bars_its_scope() {
    let wait = Duration::from_secs(3);
    let (other_route, other_channel) =
        (RouteKey::new("get messages", 7), RouteKey::new("create message", 8));
    for (scope, with_bucket, others_wait) in [
        (Scope::User, true, false),
        (Scope::User, false, false),
        (Scope::Shared, true, false),
        (Scope::Shared, false, false),
        (Scope::Global, false, true),
        (Scope::Unsaid, false, true),
    ] {
        let mut pace = Pace::new(50);
        let seat = pace.leave(START, POST);
        let limits = if with_bucket { headers(5, 0, 100) } else { LimitHeaders::default() };
        let outcome = Outcome::Refused(limits, TooMany { scope, wait });
        pace.came_back(START, POST, &seat, &outcome);
        assert_eq!(pace.wait(START, POST), Some(wait), "{scope:?}");
        for other in [other_route, other_channel] {
            assert_eq!(pace.wait(START, other).is_some(), others_wait, "{scope:?}");
        }
        assert_eq!(pace.wait(START + wait, POST), None, "{scope:?}");
    }
}

/// Memory follows the channels that talk.
#[test]
fn what_is_over_is_forgotten() {
    let mut pace = Pace::new(50);
    for n in 0..20_000_u64 {
        let now = START + Duration::from_millis(n * 100);
        let route = RouteKey::new("create message", n);
        let seat = pace.leave(now, route);
        let outcome = Outcome::Answered(headers(5, 4, 5_000));
        pace.came_back(now, route, &seat, &outcome);
        pace.wait(now, route);
    }
    assert!(pace.routes.len() <= SWEEP_AT && pace.buckets.len() <= SWEEP_AT);
}

/// P1: far more lost requests than places, with no window known: the next one leaves at once.
#[test]
fn lost_requests_take_no_place_for_ever() {
    for lost in [Outcome::Lost, Outcome::NotSent, Outcome::Answered(LimitHeaders::default())] {
        let mut pace = Pace::new(50);
        answer(&mut pace, START, 5, 4, 5_000);
        for n in 0..100_u64 {
            let now = START + Duration::from_secs(60 + 9 * n);
            assert_eq!(pace.wait(now, POST), None, "{lost:?}");
            let seat = pace.leave(now, POST);
            pace.came_back(now + SECOND, POST, &seat, &lost);
        }
    }
}

/// P1: a refused connection takes no place, neither in its bucket nor globally.
#[test]
fn a_refused_connection_takes_no_place() {
    let mut pace = Pace::new(5);
    answer(&mut pace, START, 5, 4, 5_000);
    let now = START + SECOND;
    for _ in 0..100 {
        assert_eq!(pace.wait(now, POST), None);
        let seat = pace.leave(now, POST);
        pace.came_back(now, POST, &seat, &Outcome::NotSent);
    }
}

/// P1: requests that hang hold no place of a window that began after they left.
#[test]
fn hanging_requests_hold_their_places_for_a_window_at_most() {
    let mut pace = Pace::new(50);
    answer(&mut pace, START, 2, 1, 5_000);
    let now = START + Duration::from_secs(60);
    let seats = [pace.leave(now, POST), pace.leave(now, POST)];
    assert!(pace.wait(now, POST).is_some());
    let back = now + Duration::from_secs(5);
    assert_eq!(pace.wait(back, POST), None);
    answer(&mut pace, back, 2, 1, 5_000);
    for seat in &seats {
        pace.came_back(back, POST, seat, &Outcome::Lost);
    }
    assert_eq!(pace.wait(back, POST), None, "they left before this window");
}

/// What may happen to the requests of a route.
#[derive(Clone, Debug)]
enum Step {
    Leave,
    Answer { limit: u32, remaining: u32, reset_after_ms: u64 },
    AnswerWithoutLimits,
    Refuse,
    Lose,
    Pass { millis: u64 },
}

fn step() -> impl proptest::strategy::Strategy<Value = Step> {
    use proptest::prelude::*;
    prop_oneof![
        4 => Just(Step::Leave),
        2 => (1_u32..6, 0_u32..6, 0..=WINDOW_MAX_MS).prop_map(|(limit, remaining, reset_after_ms)| {
            Step::Answer { limit, remaining: remaining.min(limit), reset_after_ms }
        }),
        1 => Just(Step::AnswerWithoutLimits),
        2 => Just(Step::Refuse),
        3 => Just(Step::Lose),
        2 => (0..2 * WINDOW_MAX_MS).prop_map(|millis| Step::Pass { millis }),
    ]
}

const WINDOW_MAX_MS: u64 = 5_000;

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config {
        cases: 1_024,
        rng_seed: proptest::test_runner::RngSeed::Fixed(7_701),
        failure_persistence: None,
        ..proptest::test_runner::Config::default()
    })]

    /// P1: whatever was answered, refused, lost or still hangs, the next request is let through within a
    /// window's length.
    #[test]
    fn after_any_faults_a_request_leaves_within_a_window(
        steps in proptest::collection::vec(step(), 0..40),
    ) {
        let (mut pace, mut now, mut under_way) = (Pace::new(50), START, VecDeque::new());
        for step in steps {
            let outcome = match step {
                Step::Leave => {
                    // As the adapter does: what must wait does not leave.
                    if pace.wait(now, POST).is_none() {
                        under_way.push_back(pace.leave(now, POST));
                    }
                    continue;
                }
                Step::Pass { millis } => {
                    now = now + Duration::from_millis(millis);
                    continue;
                }
                Step::Answer { limit, remaining, reset_after_ms } => {
                    Outcome::Answered(headers(limit, remaining, reset_after_ms))
                }
                Step::AnswerWithoutLimits => Outcome::Answered(LimitHeaders::default()),
                Step::Refuse => Outcome::NotSent,
                Step::Lose => Outcome::Lost,
            };
            if let Some(seat) = under_way.pop_front() {
                pace.came_back(now, POST, &seat, &outcome);
            }
        }
        let (began, longest) = (now, Duration::from_millis(WINDOW_MAX_MS));
        while let Some(wait) = pace.wait(now, POST) {
            now = now + wait;
            proptest::prop_assert!(now.since(began) <= longest, "{pace:?}");
        }
    }
}

/// What waits for the limit of a second comes back one after the other, and not all at once when the first place is free.
#[test]
fn each_request_that_is_one_too_many_is_promised_a_place_of_its_own() {
    let mut pace = Pace::new(2);
    let after = |millis| START + Duration::from_millis(millis);
    pace.leave(START, POST);
    pace.leave(after(10), POST);
    let other = |number| RouteKey::new("create message", number);
    let waits: Vec<_> = (8..13)
        .map(|number| pace.wait(after(20), other(number)).unwrap().as_millis() + 20)
        .collect();
    assert_eq!(waits, [1_000, 1_010, 2_000, 2_010, 3_000]);
    for millis in [1_000, 1_010, 2_000, 2_010, 3_000] {
        assert_eq!(pace.wait(after(millis), POST), None, "after {millis} ms");
        pace.leave(after(millis), POST);
    }
}
