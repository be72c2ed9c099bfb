//! Notices a connection whose other end is gone without a word.

use std::sync::Arc;
use std::time::Duration;

use dirigent::Clock;
use h2::{Ping, PingPong};
use tokio::sync::Notify;

/// How often a connection is pinged.
const INTERVAL: Duration = Duration::from_secs(10);
/// How long the other end has for its answer to a ping.
const PONG_LIMIT: Duration = Duration::from_secs(5);

/// Returns when the other end does not answer a ping in time. It is pinged every 10 s, and at once on suspicion.
pub(super) async fn until_silent(
    pings: Option<PingPong>,
    clock: Arc<dyn Clock>,
    suspicion: &Notify,
) {
    let Some(mut pings) = pings else { return std::future::pending().await };
    loop {
        tokio::select! {
            () = clock.sleep_until(clock.now() + INTERVAL) => {}
            () = suspicion.notified() => {}
        }
        tokio::select! {
            biased;
            pong = pings.ping(Ping::opaque()) => {
                if pong.is_err() {
                    // The connection has ended, which who drives it learns by itself.
                    return std::future::pending().await;
                }
            }
            () = clock.sleep_until(clock.now() + PONG_LIMIT) => return,
        }
    }
}
