//! The connection that listens: what it hears only makes the next look come earlier.

use std::time::Duration;

use dirigent_store::{Action, StoreError};

use super::connect::Session;
use super::lines::Lines;
use super::problem::PostgresProblem;
use super::queue::Read;
use super::refusal::refused;

/// How often it is tried whether notifications arrive.
const PROBE_EVERY: Duration = Duration::from_secs(30);

impl Lines<'_> {
    /// Listens as long as the connection lasts.
    pub(super) async fn listen_on(&self, session: &mut Session) -> Result<(), StoreError> {
        let server = &self.shared.server;
        let refused = |error| refused(&server.address, Action::Read, &error);
        session.client.batch_execute("LISTEN dirigent").await.map_err(refused)?;
        // What was told before is not heard.
        self.shared.desk.look_now();
        let mut probes: u64 = 0;
        loop {
            probes += 1;
            let probe = format!("probe {} {probes}", self.process);
            // On another connection: behind a pooler that has only one, the call would be heard where it is made.
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

    /// Has the table looked at with each note of another, until this note comes, or none comes any more.
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
