//! A rate limit bars one account in one channel.

use super::*;

/// A post was rate limited.
fn limit(admission: &mut Admission, now: Timestamp, claim: Claim, until: Timestamp) {
    let admitted = admission.admit(now, claim).unwrap();
    admission.report(now, &admitted, Report::RateLimited { until });
}

#[test]
fn a_rate_limit_holds_this_accounts_posts_in_this_channel_until_its_end() {
    let mut admission = admission(Pacing::off());
    limit(&mut admission, at(0), post(1), at(30_000));
    assert_eq!(admission.ask(at(10), post(1)), wait(at(30_000)));
    assert_eq!(admission.ask(at(10), by_agent(1, post(1))), GO);
    assert_eq!(admission.ask(at(10), post(2)), GO);
    assert_eq!(admission.ask(at(10), read(1)), GO, "reads are not posts");
    assert_eq!(admission.ask(at(30_000), post(1)), GO);
    assert_eq!(admission.len(), 0);
}

#[test]
fn a_rate_limit_that_begins_during_a_paced_wait_gives_the_place_back() {
    let mut admission = admission(only_by_channel(1, SECOND));
    let first = admission.admit(at(0), post(1)).unwrap();
    assert_eq!(admission.ask(at(0), post(1)), wait(at(1_000)));
    admission.report(at(100), &first, Report::RateLimited { until: at(5_000) });
    assert_eq!(admission.ask(at(1_000), again(post(1))), wait(at(5_000)));
    assert_eq!(admission.len(), 1, "the limit, and no place");
    assert_eq!(admission.ask(at(5_000), post(1)), GO);
}

#[test]
fn a_rate_limit_ends_when_the_clock_is_set_back() {
    let mut admission = admission(Pacing::off());
    limit(&mut admission, at(5_000_000), post(1), at(5_030_000));
    assert_eq!(admission.ask(at(0), post(1)), GO, "asking tells");
}

#[test]
fn no_more_rate_limits_are_kept_than_the_bound() {
    let mut admission = admission(Pacing::off());
    for room in 0..5_000 {
        limit(&mut admission, at(0), post(room), at(60_000));
    }
    assert_eq!(admission.len(), 4_096);
    let beyond = admission.admit(at(0), post(4_999)).expect("it is found out by asking");
    admission.report(at(60_000), &beyond, Report::RateLimited { until: at(90_000) });
    assert_eq!(admission.len(), 1, "limits that are over make room");
}

#[test]
fn a_rate_limit_of_a_read_or_a_deletion_bars_no_post() {
    let mut admission = admission(Pacing::off());
    limit(&mut admission, at(0), read(1), at(30_000));
    assert_eq!(admission.ask(at(10), post(1)), GO);
    assert_eq!(admission.len(), 0);
}
