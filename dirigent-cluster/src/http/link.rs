//! The work of a relay, as one future.

use std::fmt;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::sync::mpsc;

use super::connector::Connector;
use super::pool::Order;

/// Makes and keeps the connections of an [`HttpRelay`](crate::http::HttpRelay), which does nothing without it.
pub struct HttpLink {
    orders: mpsc::UnboundedReceiver<Order>,
    connector: Connector,
}

impl HttpLink {
    pub(super) const fn new(orders: mpsc::UnboundedReceiver<Order>, connector: Connector) -> Self {
        Self { orders, connector }
    }

    /// Does the work, until all clones of the relay are dropped and the last question has ended. Run it within a tokio
    /// runtime, for example with `tokio::spawn`.
    ///
    /// # Cancellation
    ///
    /// Dropping the future closes all connections; questions that are under way have no answer.
    pub async fn run(mut self) {
        let mut connections = FuturesUnordered::new();
        let mut is_wanted = true;
        loop {
            tokio::select! {
                order = self.orders.recv(), if is_wanted => match order {
                    Some(order) => connections.push(self.connector.clone().carry_out(order)),
                    None => is_wanted = false,
                },
                Some(()) = connections.next(), if !connections.is_empty() => {}
                else => return,
            }
        }
    }
}

impl fmt::Debug for HttpLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpLink").finish_non_exhaustive()
    }
}
