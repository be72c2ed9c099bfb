//! Counts the recent failures of each address.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use dirigent::ports::Timestamp;
use rustc_hash::FxHashMap;

/// The number of failures within [`WINDOW`] after which an address is blocked.
const FAILURES_MAX: usize = 10;
const WINDOW: Duration = Duration::from_secs(60);
/// The most addresses that are remembered. If there are more, the addresses that failed longest ago
/// are forgotten.
const ADDRESSES_MAX: usize = 4_096;

/// The failures by address. If your program sets no addresses, all visitors share one.
#[derive(Default)]
pub(super) struct Attempts {
    failures: FxHashMap<Option<IpAddr>, VecDeque<Timestamp>>,
}

impl Attempts {
    /// Returns the time for which tokens from this address are not compared.
    pub(super) fn barred_for(&self, now: Timestamp, address: Option<IpAddr>) -> Option<Duration> {
        let failures = self.failures.get(&network(address))?;
        let tenth = failures.len().checked_sub(FAILURES_MAX).and_then(|at| failures.get(at))?;
        let over_at = *tenth + WINDOW;
        (now < over_at).then(|| over_at.since(now))
    }

    pub(super) fn failed(&mut self, now: Timestamp, address: Option<IpAddr>) {
        let address = network(address);
        if self.failures.len() >= ADDRESSES_MAX && !self.failures.contains_key(&address) {
            self.forget(now);
        }
        let failures = self.failures.entry(address).or_default();
        if failures.len() == FAILURES_MAX {
            failures.pop_front();
        }
        failures.push_back(now);
    }

    /// Forgets half of them at once, so that a failure stays cheap even with many addresses.
    fn forget(&mut self, now: Timestamp) {
        let mut newest: Vec<_> =
            self.failures.values().filter_map(|failures| failures.back().copied()).collect();
        newest.sort_unstable();
        let middle = newest.get(newest.len() / 2).copied().unwrap_or(now);
        let mut kept = 0;
        self.failures.retain(|_, failures| {
            let last = failures.back().copied().unwrap_or_default();
            let stays = kept < ADDRESSES_MAX / 2 && now.since(last) < WINDOW && last >= middle;
            kept += usize::from(stays);
            stays
        });
    }
}

/// Returns the network of an IPv6 address as one address, because one visitor has the whole
/// network.
fn network(address: Option<IpAddr>) -> Option<IpAddr> {
    address.map(|address| match address.to_canonical() {
        IpAddr::V6(v6) => {
            let [a, b, c, d, ..] = v6.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        v4 @ IpAddr::V4(_) => v4,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_millis(seconds * 1_000)
    }

    #[test]
    fn a_network_of_ipv6_counts_as_one_address() {
        let mut attempts = Attempts::default();
        for host in 0..10 {
            attempts.failed(at(1), Some(format!("2001:db8:1:2::{host:x}").parse().unwrap()));
        }
        let neighbour = Some("2001:db8:1:2:ffff::9".parse().unwrap());
        assert_eq!(attempts.barred_for(at(1), neighbour), Some(WINDOW));
        let other = Some("2001:db8:1:3::1".parse().unwrap());
        assert_eq!(attempts.barred_for(at(1), other), None);
    }

    #[test]
    fn an_address_written_as_ipv6_is_the_same_address() {
        let mut attempts = Attempts::default();
        for _ in 0..10 {
            attempts.failed(at(1), Some("::ffff:192.0.2.1".parse().unwrap()));
        }
        assert!(attempts.barred_for(at(1), Some("192.0.2.1".parse().unwrap())).is_some());
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut attempts = Attempts::default();
        for host in 0..20_000_u32 {
            attempts.failed(at(1), Some(IpAddr::V4(host.into())));
        }
        assert!((ADDRESSES_MAX / 2..=ADDRESSES_MAX).contains(&attempts.failures.len()));
    }
}
