//! The three connections, each made again when it is lost.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Mutex;
use std::time::Duration;

use super::TableAccess;
use super::connect::Session;
use super::refusal::away;
use super::repeated::Repeated;

/// The first wait before a connection is made again; it doubles.
const AGAIN: Duration = Duration::from_millis(50);
/// The longest such wait is the TTL divided by this. Shards may be taken over that much later.
const AGAIN_PARTS: u32 = 5;

pub(super) struct Lines<'a> {
    pub(super) shared: &'a TableAccess,
    /// The random number of this start of this process in the tables.
    pub(super) process: i64,
    /// The failures of heartbeats, and of the connection that writes.
    pub(super) beats: Mutex<Repeated>,
}

/// The end of a connection's work.
pub(super) enum Ended {
    /// The store is closed.
    Over,
    /// The connection failed.
    Lost,
}

impl<'a> Lines<'a> {
    pub(super) fn new(shared: &'a TableAccess) -> Self {
        let now = shared.server.clock.now().as_millis();
        let drawn = RandomState::new().hash_one((now, std::process::id()));
        Self { shared, process: drawn.cast_signed(), beats: Mutex::default() }
    }

    /// Writes until the store is closed.
    pub(super) async fn write(&self) {
        let mut wait = AGAIN;
        loop {
            match self.shared.server.connect().await {
                Ok(Session { client, mut pump, .. }) => {
                    let mut work = std::pin::pin!(self.write_on(&client));
                    let ended = tokio::select! {
                        biased;
                        ended = &mut work => ended,
                        () = &mut pump => {
                            // Requests under way fail now. The heartbeat makes the idle work notice it, too.
                            self.shared.desk.look_now();
                            work.await
                        }
                    };
                    if matches!(ended, Ended::Over) {
                        return;
                    }
                    wait = AGAIN;
                }
                Err(error) => self.beats_failed(&error),
            }
            if self.shared.desk.is_ending() {
                return;
            }
            let address = &self.shared.server.address;
            self.shared.jobs.writes.fail_all(|| away(address));
            self.pause(&mut wait).await;
        }
    }

    /// Reads until it is dropped.
    pub(super) async fn read(&self) {
        let mut failures = Repeated::default();
        let mut wait = AGAIN;
        loop {
            match self.shared.server.connect().await {
                Ok(Session { client, mut pump, .. }) => {
                    failures.succeeded("the connection that reads is made again");
                    wait = AGAIN;
                    tokio::select! {
                        biased;
                        () = self.read_on(&client) => {}
                        () = &mut pump => {}
                    }
                }
                Err(error) => {
                    failures.failed("the connection that reads could not be made", &error);
                }
            }
            let address = &self.shared.server.address;
            self.shared.jobs.reads.fail_all(|| away(address));
            self.pause(&mut wait).await;
        }
    }

    /// Listens until it is dropped.
    pub(super) async fn listen(&self) {
        let mut failures = Repeated::default();
        let mut wait = AGAIN;
        loop {
            match self.shared.server.connect().await {
                Ok(mut session) => {
                    failures.succeeded("the connection that listens is made again");
                    let mut pump =
                        std::mem::replace(&mut session.pump, Box::pin(std::future::pending()));
                    tokio::select! {
                        biased;
                        // If listening is refused, the tables are looked at instead.
                        _ = self.listen_on(&mut session) => {}
                        () = &mut pump => {}
                    }
                }
                Err(error) => {
                    failures.failed("the connection that listens could not be made", &error);
                }
            }
            self.pause(&mut wait).await;
        }
    }

    async fn pause(&self, wait: &mut Duration) {
        let clock = &self.shared.server.clock;
        clock.sleep_until(clock.now() + *wait).await;
        *wait = (self.shared.server.terms.ttl / AGAIN_PARTS).min(*wait * 2);
    }
}
