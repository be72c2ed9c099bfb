//! Who gave which order, kept in memory for the page.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use dirigent::ChannelId;

use crate::page::look::OrderLook;

/// The most orders that are kept, of all channels.
const KEPT: usize = 500;
/// The most that are shown of one channel.
const SHOWN: usize = 10;

/// The newest orders that this process carried out, or refused.
#[derive(Default)]
pub(crate) struct OrderLog(Mutex<VecDeque<(ChannelId, OrderLook)>>);

impl OrderLog {
    pub(crate) fn add(&self, channel: ChannelId, order: OrderLook) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT {
            kept.pop_front();
        }
        kept.push_back((channel, order));
    }

    /// The newest of one channel, the newest first.
    pub(crate) fn of(&self, channel: ChannelId) -> Vec<OrderLook> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of = kept.iter().rev().filter(|(of, _)| *of == channel);
        of.take(SHOWN).map(|(_, order)| order.clone()).collect()
    }
}
