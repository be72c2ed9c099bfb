//! A rate limit bars one account in one channel.

use super::*;

#[test]
fn a_rate_limit_holds_this_accounts_posts_in_this_channel_until_its_end() {
    let mut admission = admission(Pacing::off());
    let limited = Report::RateLimited { until: at(30_000) };
    assert!(admission.report(at(0), &post(1, 1), limited).is_empty());
    let barred = wait(at(30_000));
    assert_eq!(admission.admit(at(10), &post(1, 2)), barred);
    let of_an_agent = Claim { account: AccountKey::Agent(AgentKey::new(1)), ..post(1, 3) };
    assert_eq!(admission.admit(at(10), &of_an_agent), Verdict::Go);
    assert_eq!(admission.admit(at(10), &post(2, 4)), Verdict::Go);
    assert_eq!(admission.admit(at(10), &read(1, 5)), Verdict::Go, "reads are not posts");
    assert_eq!(admission.admit(at(30_000), &post(1, 2)), Verdict::Go);
    assert_eq!(admission.len(), 0);
}

#[test]
fn a_rate_limit_that_begins_during_a_paced_wait_gives_the_place_back() {
    let mut admission = admission(only_by_channel(1, SECOND));
    assert_eq!(admission.admit(at(0), &post(1, 1)), Verdict::Go);
    assert_eq!(admission.admit(at(0), &post(1, 2)), wait(at(1_000)));
    let limited = Report::RateLimited { until: at(5_000) };
    assert!(admission.report(at(100), &post(1, 1), limited).is_empty());
    let barred = wait(at(5_000));
    assert_eq!(admission.admit(at(1_000), &post(1, 2)), barred);
    assert_eq!(admission.admit(at(5_000), &post(1, 2)), Verdict::Go);
}

#[test]
fn a_rate_limit_ends_when_the_clock_is_set_back() {
    let mut admission = admission(Pacing::off());
    let limited = Report::RateLimited { until: at(5_030_000) };
    assert!(admission.report(at(5_000_000), &post(1, 1), limited).is_empty());
    assert_eq!(admission.admit(at(0), &post(1, 2)), Verdict::Go, "asking tells");
}

#[test]
fn no_more_rate_limits_are_kept_than_the_bound() {
    let mut admission = admission(Pacing::off());
    let limited = Report::RateLimited { until: at(60_000) };
    for room in 0..5_000 {
        assert!(admission.report(at(0), &post(room, 1), limited).is_empty());
    }
    assert_eq!(admission.len(), 4_096);
    assert_eq!(admission.admit(at(0), &post(4_999, 2)), Verdict::Go, "found out by asking");
    assert!(admission.report(at(60_000), &post(1, 1), limited).is_empty());
    assert_eq!(admission.len(), 1, "limits that are over make room");
}

#[test]
fn a_rate_limit_of_a_read_or_a_deletion_bars_no_post() {
    let mut admission = admission(Pacing::off());
    let limited = Report::RateLimited { until: at(30_000) };
    assert!(admission.report(at(0), &read(1, 1), limited).is_empty());
    assert_eq!(admission.admit(at(10), &post(1, 2)), Verdict::Go);
    assert_eq!(admission.len(), 0);
}
