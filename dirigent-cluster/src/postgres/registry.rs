//! Finds changes of the registry, whatever made them, by a number in the database that each change raises.

use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

/// The news about the registry that the driver does not know yet.
#[derive(Default)]
pub(super) struct RegistryNews {
    numbers: Mutex<Numbers>,
    changed: Notify,
}

/// Both are `None` before the first look. It counts as a change, because the driver may have read the registry before.
#[derive(Default)]
struct Numbers {
    found: Option<i64>,
    told: Option<i64>,
}

impl RegistryNews {
    /// Takes the number that a look at the tables found.
    pub(super) fn looked(&self, found: i64) {
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        numbers.found = Some(found);
        if numbers.told != numbers.found {
            self.changed.notify_one();
        }
    }

    /// Waits until the number differs from the one at the last return.
    pub(super) async fn changed(&self) {
        while !self.tell() {
            self.changed.notified().await;
        }
    }

    fn tell(&self) -> bool {
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let is_news = numbers.told != numbers.found;
        numbers.told = numbers.found;
        is_news
    }
}
