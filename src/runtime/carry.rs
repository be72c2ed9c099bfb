//! Work of the process that acts for the channel, which may be this one or another.

use std::sync::Arc;
use std::time::Duration;

use dirigent_core::Timestamp;

use super::Runtime;
use crate::ports::neighbours::OtherProcesses;
use crate::values::carried::Carried;

const CARRY_AGAIN: Duration = Duration::from_millis(100);

/// Carries something out in this process, or, if `here` returns `None`, in the process that acts for the channel. The
/// call waits for that process until then. While the channel changes hands it tries again, but not if it may have been
/// carried out.
pub(crate) async fn carried<T, H, C>(
    runtime: &Runtime,
    until: Timestamp,
    here: impl Fn() -> H,
    there: impl Fn(Arc<dyn OtherProcesses>, Duration) -> C,
) -> Carried<T>
where
    H: Future<Output = Option<T>>,
    C: Future<Output = Carried<T>>,
{
    loop {
        if let Some(answer) = here().await {
            return Carried::Answered(answer);
        }
        let Some(neighbours) = runtime.neighbours.clone() else {
            return Carried::NoWay;
        };
        let left = until.since(runtime.clock.now());
        let carried = runtime.within(left, there(neighbours, left)).await;
        let carried = carried.unwrap_or(Carried::InDoubt);
        let again = runtime.clock.now() + CARRY_AGAIN;
        // In doubt it is not repeated, because a tool could create a channel twice.
        if !matches!(carried, Carried::NoOwner | Carried::NotCarried) || again >= until {
            return carried;
        }
        runtime.clock.sleep_until(again).await;
    }
}
