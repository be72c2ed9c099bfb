//! What goes wrong: every kind in one of twenty cases.

use std::time::Duration;

use dirigent_loopback::{GatewayFault, GatewayFaults, RestFault, RestFaults, Scope};
use dirigent_testkit::memory_discord::PushFault;

/// In thousandths.
const RATE: u32 = 50;

/// Of requests.
pub(crate) fn rest(seed: u64) -> RestFaults {
    let second = Duration::from_secs(1);
    let limited = |scope| RestFault::RateLimited { scope, retry_after: second };
    let kinds = [
        RestFault::LostAnswer,
        RestFault::NotDelivered,
        RestFault::SlowAnswer { by: second * 3 },
        RestFault::SlowRequest { by: second * 3 },
        RestFault::ServerError { status: 500, is_applied: true },
        RestFault::ServerError { status: 502, is_applied: false },
        limited(Scope::User),
        limited(Scope::Global),
        limited(Scope::Shared),
    ];
    let faults = RestFaults::new(seed);
    kinds.into_iter().fold(faults, |faults, kind| faults.with_rate(None, kind, RATE))
}

/// Of events, and of the connections that bring them.
pub(crate) fn gateway(seed: u64) -> GatewayFaults {
    let second = Duration::from_secs(1);
    let faults = GatewayFaults::new(seed)
        .with_event_rate(PushFault::Dropped, RATE)
        .with_event_rate(PushFault::Duplicated, RATE)
        .with_event_rate(PushFault::HeldBack { events: 1, at_most: second * 60 }, RATE)
        .with_event_rate(PushFault::Delayed { by: second * 5 }, RATE);
    let kinds = [
        GatewayFault::Cut,
        GatewayFault::Reconnect,
        GatewayFault::InvalidSession { resumable: true },
        GatewayFault::InvalidSession { resumable: false },
    ];
    kinds.into_iter().fold(faults, |faults, kind| faults.with_rate(kind, RATE))
}
