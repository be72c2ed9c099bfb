//! A clock that may be in a hurry.

use std::time::Duration;

use dirigent::ports::Timestamp;
use dirigent::{Clock, SystemClock};

/// The machine's clock, or one that runs a given number of times as fast.
#[derive(Clone, Copy, Debug)]
pub struct FastClock {
    machine: SystemClock,
    started: Timestamp,
    speed: u32,
}

impl FastClock {
    /// A clock of this speed; 1 is the machine's own.
    pub fn new(speed: u32) -> Self {
        let machine = SystemClock::new();
        Self { machine, started: machine.now(), speed: speed.max(1) }
    }
}

#[dirigent::async_trait]
impl Clock for FastClock {
    fn now(&self) -> Timestamp {
        self.started + self.machine.now().since(self.started) * self.speed
    }

    async fn sleep_until(&self, deadline: Timestamp) {
        let millis = Duration::from_millis(1);
        while self.now() < deadline {
            let wait = deadline.since(self.now()) / self.speed;
            self.machine.sleep_until(self.machine.now() + wait.max(millis)).await;
        }
    }
}
