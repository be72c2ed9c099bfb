//! The connection that listens. A notification only makes the next look come earlier.

use std::time::Duration;

use dirigent_store::{Action, StoreError};

use super::connect::Session;
use super::lines::Lines;
use super::problem::PostgresProblem;
use super::queue::Read;
use super::refusal::refused;

/// The interval between checks that notifications arrive.
const PROBE_EVERY: Duration = Duration::from_secs(30);

impl Lines<'_> {
    /// Listens until the connection is lost.
    pub(super) async fn listen_on(&self, session: &mut Session) -> Result<(), StoreError> {
        let server = &self.shared.server;
        let refused = |error| refused(&server.address, Action::Read, &error);
        session.client.batch_execute("LISTEN dirigent").await.map_err(refused)?;
        // Earlier notifications were not heard.
        self.shared.desk.look_now();
        let mut probes: u64 = 0;
        loop {
            probes += 1;
            let probe = format!("probe {} {probes}", self.process);
            // On another connection: behind a pooler with a single one, the probe was heard where it was made.
            let called = |answer| Read::Call(probe.clone(), answer);
            self.shared.jobs.read(&server.address, called).await?;
            let heard = server.in_time(server.terms.ttl, async {
                self.until_note(session, Some(&probe)).await;
                Ok(())
            });
            if heard.await.is_err() {
                self.shared.problems.push(PostgresProblem::Silent);
            }
            let next = server.clock.sleep_until(server.clock.now() + PROBE_EVERY);
            tokio::select! {
                biased;
                () = self.until_note(session, None) => return Ok(()),
                () = next => {}
            }
        }
    }

    /// Looks at the table at each call of a process, until the awaited note comes or the connection ends.
    async fn until_note(&self, session: &mut Session, awaited: Option<&str>) {
        while let Some(note) = session.notes.recv().await {
            if awaited == Some(note.as_str()) {
                return;
            }
            if note == "look" {
                self.shared.desk.look_now();
            }
        }
    }
}
