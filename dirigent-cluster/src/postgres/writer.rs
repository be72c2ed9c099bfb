//! The connection that writes: heartbeats first, then all waiting commits with one statement, then rare jobs.

use std::collections::{HashSet, VecDeque};
use std::sync::{MutexGuard, PoisonError};

use dirigent::AgentId;
use dirigent::ports::Identity;
use dirigent::snapshot::AgentKey;
use dirigent_store::parts::quoted;
use dirigent_store::{Action, StoreError};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error};

use super::beat;
use super::commits::{CommitGroup, CommitJob};
use super::lines::{Ended, Lines};
use super::problem::PostgresProblem;
use super::queue::{Job, Registered, Write, answer};
use super::reader::{from_json, read_agents};
use super::refusal::{away, is_late, no_answer, refused};
use super::repeated::Repeated;
use crate::lease::SameName;

/// The most commits in one statement.
const GROUP_MAX: usize = 1_024;

impl Lines<'_> {
    /// Writes until the connection is lost or the store is closed.
    pub(super) async fn write_on(&self, client: &Client) -> Ended {
        if let Err(error) = read_agents(self.shared, client).await {
            self.beats_failed(&refused(&self.shared.server.address, Action::Read, &error));
            return Ended::Lost;
        }
        loop {
            if let Some(beat) = self.shared.desk.next_heartbeat()
                && !self.beat(client, &beat).await
            {
                return Ended::Lost;
            }
            // Between two heartbeats waiting jobs are written, however often the leases are looked at.
            let jobs = self.shared.jobs.writes.take(GROUP_MAX);
            if !jobs.is_empty() {
                if !self.serve(client, jobs).await {
                    return Ended::Lost;
                }
                continue;
            }
            if self.shared.desk.is_over() {
                return Ended::Over;
            }
            tokio::select! {
                biased;
                () = self.shared.desk.called.notified() => {}
                () = self.shared.jobs.writes.until_any() => {}
                () = self.until_beat() => {}
            }
        }
    }

    async fn until_beat(&self) {
        match self.shared.desk.next_deadline() {
            Some(at) => self.shared.server.clock.sleep_until(at).await,
            None => std::future::pending().await,
        }
    }

    /// Sends a heartbeat. Returns whether the connection can still be used.
    async fn beat(&self, client: &Client, beat: &crate::lease::LeaseHeartbeat) -> bool {
        let server = &self.shared.server;
        let asked = async {
            let refused = |error| refused(&server.address, Action::Write, &error);
            let process = (self.process, server.process.as_str());
            let asked = beat::ask(client, process, &server.terms, beat).await.map_err(refused)?;
            if !server.process.is_empty() {
                // Only names: the leases count without them, and the next look reads them again.
                if let Ok(owners) = beat::owners(client).await {
                    self.shared.desk.looked(owners);
                }
            }
            Ok(asked)
        };
        match server.in_time(server.terms.ttl / 2, asked).await {
            Ok(told) => {
                let before = self.shared.desk.namesake();
                let was_ahead = self.shared.desk.ahead() > 0;
                self.shared.desk.answered(beat.number, &told.answer);
                if !was_ahead && self.shared.desk.ahead() > 0 {
                    self.shared.problems.push(PostgresProblem::ClockSetBack);
                }
                self.shared.registry.looked(told.registry);
                self.report_namesake(before, self.shared.desk.namesake());
                self.beats().succeeded("the leases are renewed again");
                true
            }
            Err(error) => {
                self.beats_failed(&error);
                self.shared.desk.failed(beat.number);
                // A statement that the server refused was answered, so the connection is sound.
                !client.is_closed() && error.certainty() == dirigent::ports::Certainty::NotDone
            }
        }
    }

    fn beats(&self) -> MutexGuard<'_, Repeated> {
        self.beats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn beats_failed(&self, error: &StoreError) {
        self.shared.heed(error);
        self.beats().failed("the leases could not be renewed", error);
    }

    /// Reports that another process has this one's name, or that an earlier one is gone.
    fn report_namesake(&self, before: Option<SameName>, now: Option<SameName>) {
        let name = &self.shared.server.process;
        match now {
            Some(which) if before != now => {
                self.shared.problems.push(PostgresProblem::SameName { name: name.clone(), which });
            }
            None if before == Some(SameName::Earlier) => {
                tracing::info!(%name, "the other process of this name is gone: this one takes its share");
            }
            _ => {}
        }
    }

    /// Makes the first commits together, or does one other job, and puts the rest back. Returns whether the connection
    /// can still be used.
    async fn serve(&self, client: &Client, jobs: VecDeque<Write>) -> bool {
        let mut group = Vec::new();
        let mut channels = HashSet::new();
        let mut rest = VecDeque::new();
        for job in jobs {
            match job {
                // The group ends before a job of another kind, and before the second commit of a channel.
                Write::Commit(commit, fence, to)
                    if rest.is_empty() && channels.insert(commit.channel) =>
                {
                    group.push(CommitJob { commit, fence, to });
                }
                other @ (Write::Commit(..)
                | Write::Delete(..)
                | Write::AddAgent(..)
                | Write::Register(..)
                | Write::Unregister(..)) => rest.push_back(other),
            }
        }
        if !group.is_empty() {
            self.shared.jobs.writes.put_back(rest);
            return CommitGroup { shared: self.shared, client, process: self.process }
                .make(group)
                .await;
        }
        // The first job is no commit.
        let Some(first) = rest.pop_front() else {
            return true;
        };
        self.shared.jobs.writes.put_back(rest);
        self.one(client, first).await
    }

    async fn one(&self, client: &Client, write: Write) -> bool {
        let server = &self.shared.server;
        let writing = Writing { lines: self, client };
        match write {
            // `serve` has grouped every commit.
            Write::Commit(..) => {
                write.fail(away(&server.address));
                true
            }
            Write::Delete(channel, fence, to) => {
                let group = CommitGroup { shared: self.shared, client, process: self.process };
                writing.answer(to, group.delete(channel, fence)).await
            }
            Write::AddAgent(agent, to) => writing.answer(to, writing.add_agent(&agent)).await,
            Write::Register(identity, to) => writing.answer(to, writing.register(&identity)).await,
            Write::Unregister(agent, to) => {
                let removed = async {
                    let sql = "DELETE FROM dirigent.identities WHERE agent = $1";
                    let name = quoted(agent.as_str());
                    let removed = writing.client.execute_typed(sql, &[(&name, Type::TEXT)]).await;
                    removed.map(|count| count > 0).map_err(|error| writing.refused(&error))
                };
                writing.answer(to, removed).await
            }
        }
    }
}

/// Writes what is rare.
struct Writing<'a> {
    lines: &'a Lines<'a>,
    client: &'a Client,
}

impl Writing<'_> {
    fn refused(&self, error: &Error) -> StoreError {
        refused(&self.lines.shared.server.address, Action::Write, error)
    }

    async fn answer<T>(
        &self,
        to: super::queue::LeaseAnswer<T>,
        work: impl Future<Output = Result<T, StoreError>>,
    ) -> bool {
        let server = &self.lines.shared.server;
        let done = server.in_time(server.terms.ttl, work).await;
        let is_sound = !matches!(&done, Err(error) if is_late(error));
        if let Err(error) = &done {
            self.lines.shared.heed(error);
        }
        answer(to, done);
        is_sound && !self.client.is_closed()
    }

    /// Gives an agent a key, unless it has one. It retries because another process may take that key, too.
    async fn add_agent(&self, agent: &AgentId) -> Result<AgentKey, StoreError> {
        const TRIES: u32 = 64;
        let shared = self.lines.shared;
        let known = || shared.known.with_agents(|agents| agents.key(agent));
        if let Some(key) = known() {
            return Ok(key);
        }
        let sql = "INSERT INTO dirigent.agents (key, name)
            SELECT coalesce(max(key) + 1, 0), $1 FROM dirigent.agents ON CONFLICT DO NOTHING";
        let name = quoted(agent.as_str());
        for _ in 0..TRIES {
            let added = self.client.execute_typed(sql, &[(&name, Type::TEXT)]).await;
            added.map_err(|error| self.refused(&error))?;
            read_agents(shared, self.client).await.map_err(|error| self.refused(&error))?;
            if let Some(key) = known() {
                return Ok(key);
            }
        }
        Err(no_answer(&shared.server.address))
    }

    async fn register(&self, identity: &Identity) -> Result<Registered, StoreError> {
        let account = identity.discord_user_id.get().cast_signed();
        let agent = quoted(identity.agent_id.as_str());
        let name = quoted(&identity.agent_name);
        if let Some(owner) = self.owner_of(account).await?.filter(|owner| *owner != agent) {
            return Ok(Registered::Taken(from_json(&owner).into()));
        }
        let sql = "INSERT INTO dirigent.identities AS i (account, agent, name) VALUES ($1, $2, $3)
            ON CONFLICT (agent) DO UPDATE SET account = excluded.account, name = excluded.name
            WHERE i.account <> excluded.account OR i.name <> excluded.name";
        let row =
            [(&account as _, Type::INT8), (&agent as _, Type::TEXT), (&name as _, Type::TEXT)];
        match self.client.execute_typed(sql, &row).await {
            Ok(_) => Ok(Registered::Done),
            // Another process registered the account first.
            Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => {
                match self.owner_of(account).await? {
                    Some(owner) => Ok(Registered::Taken(from_json(&owner).into())),
                    None => Err(self.refused(&error)),
                }
            }
            Err(error) => Err(self.refused(&error)),
        }
    }

    async fn owner_of(&self, account: i64) -> Result<Option<String>, StoreError> {
        let sql = "SELECT agent FROM dirigent.identities WHERE account = $1";
        let rows = self.client.query_typed(sql, &[(&account, Type::INT8)]).await;
        let rows = rows.map_err(|error| self.refused(&error))?;
        Ok(rows.first().map(|row| row.get(0)))
    }
}
