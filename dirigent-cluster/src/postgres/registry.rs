//! Whether the registry has changed, whatever changed it: by a number in the database that each change raises.

use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

/// What is to be told of the registry.
#[derive(Default)]
pub(super) struct RegistryNews {
    numbers: Mutex<Numbers>,
    changed: Notify,
}

/// Both are missing before the first look, which counts as a change: the driver may have read the registry before it.
#[derive(Default)]
struct Numbers {
    found: Option<i64>,
    told: Option<i64>,
}

impl RegistryNews {
    /// The tables were looked at.
    pub(super) fn looked(&self, found: i64) {
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        numbers.found = Some(found);
        if numbers.told != numbers.found {
            self.changed.notify_one();
        }
    }

    /// Waits until the number is another one than at the last return.
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
