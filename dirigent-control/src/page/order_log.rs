//! The log of orders. The newest orders are in memory for the page, and all of them are in your program's store.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use dirigent::ChannelId;
use rustc_hash::FxHashMap;
use tokio::sync::OnceCell;

use crate::page::look::{LoggedOrder, OrderLook};
use crate::page::ports::OrderStore;

/// The most orders in the list of all channels.
const OF_ALL: usize = 500;
/// The most orders in the list of one channel.
const OF_ONE: usize = 10;
/// The most orders that are read from the store.
const READ: usize = 20_000;

/// The newest orders that this process performed or refused, and the changes of the registry from its page.
pub(crate) struct OrderLog {
    store: Option<Arc<dyn OrderStore>>,
    read: OnceCell<()>,
    newest: Mutex<Newest>,
}

/// Lists of orders, each with the newest one at its end.
#[derive(Default)]
struct Newest {
    of_all: VecDeque<LoggedOrder>,
    of_one: FxHashMap<ChannelId, VecDeque<OrderLook>>,
}

impl Newest {
    fn add(&mut self, logged: LoggedOrder) {
        match logged.channel.parse() {
            Ok(channel) => {
                let of_one = self.of_one.entry(channel).or_default();
                push(of_one, logged.order.clone(), OF_ONE);
            }
            Err(_) if logged.channel.is_empty() => {}
            Err(_) => return,
        }
        push(&mut self.of_all, logged, OF_ALL);
    }
}

fn push<T>(to: &mut VecDeque<T>, one: T, most: usize) {
    if to.len() >= most {
        to.pop_front();
    }
    to.push_back(one);
}

impl OrderLog {
    pub(crate) fn new(store: Option<Arc<dyn OrderStore>>) -> Self {
        Self { store, read: OnceCell::new(), newest: Mutex::default() }
    }

    /// Adds an order to a channel. Without a channel it is a change of the registry.
    pub(crate) async fn add(&self, channel: Option<ChannelId>, order: OrderLook) {
        self.read().await;
        let channel = channel.map(|channel| channel.to_string()).unwrap_or_default();
        let logged = LoggedOrder::new(channel, order);
        if let Some(store) = &self.store
            && let Err(error) = store.add(&logged).await
        {
            tracing::warn!(
                channel = logged.channel,
                error,
                "an order could not be logged for good"
            );
        }
        self.newest.lock().unwrap_or_else(PoisonError::into_inner).add(logged);
    }

    /// Returns the newest orders of one channel, the newest one first.
    pub(crate) async fn of(&self, channel: ChannelId) -> Vec<OrderLook> {
        self.read().await;
        let newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        let of_one = newest.of_one.get(&channel);
        of_one.map(|orders| orders.iter().rev().cloned().collect()).unwrap_or_default()
    }

    /// Returns the newest orders of all channels, the newest one first.
    pub(crate) async fn of_all(&self) -> Vec<LoggedOrder> {
        self.read().await;
        let newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        newest.of_all.iter().rev().cloned().collect()
    }

    /// Reads the orders from before the start of this process, but only once.
    async fn read(&self) {
        let Some(store) = &self.store else { return };
        let read = async {
            let orders = store.newest(READ).await?;
            let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
            for order in orders {
                newest.add(order);
            }
            Ok::<(), String>(())
        };
        if let Err(error) = self.read.get_or_try_init(|| read).await {
            tracing::warn!(error, "the log of orders cannot be read");
        }
    }
}
