//! The tables, and the work on them inside a transaction.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::Path;

use dirigent::operate::Transition;
use dirigent::snapshot::AgentKey;
use dirigent::store::{Commit, Revision, StoredChannel};
use dirigent::{AgentId, ChannelId};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row, Statement, params};

use super::problem::SqliteProblem;
use super::refusal::refused;
use crate::error::{Action, BadFile, StoreError};
use crate::json::channels::agents::{self, Agents};
use crate::json::channels::history;
use crate::record::{
    Extras, LARGEST, WrittenRecord, parse_sound_record, record_checksum, record_text,
};

/// The tables, with the facts that are known about them. If a function here fails because of the
/// database, the transaction must be undone, and then everything must be [forgotten](Self::forget).
pub(super) struct Tables<'c> {
    pub(super) conn: &'c Connection,
    pub(super) path: &'c Path,
    history_max: usize,
    pub(super) run: Statements<'c>,
    agents: Agents,
    /// The channels that were read or written.
    known: HashMap<ChannelId, Known>,
    /// The number of the newest change for each channel whose history was written.
    last_changes: HashMap<ChannelId, i64>,
    /// The unreadable data that this transaction found.
    pub(super) found: Vec<SqliteProblem>,
}

struct Known {
    revision: Revision,
    /// The fields that a newer version wrote into the record, if there are any.
    extras: Option<Box<Extras>>,
}

macro_rules! statements {
    ($($(#[$doc:meta])* $name:ident: $sql:literal,)+) => {
        /// The statements on the tables, ready to run.
        pub(super) struct Statements<'c> {
            $($(#[$doc])* pub(super) $name: Statement<'c>,)+
        }

        impl<'c> Statements<'c> {
            fn new(conn: &'c Connection) -> rusqlite::Result<Self> {
                Ok(Self { $($name: conn.prepare($sql)?,)+ })
            }
        }
    };
}

statements! {
    begin: "BEGIN",
    commit: "COMMIT",
    rollback: "ROLLBACK",
    channels: "SELECT id FROM channels",
    load: "SELECT revision, checksum, record FROM channels WHERE id = ?1",
    save: "INSERT INTO channels (id, revision, checksum, record) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT (id) DO UPDATE SET revision = excluded.revision,
        checksum = excluded.checksum, record = excluded.record",
    keep: "INSERT INTO corrupt (channel, reason, revision, checksum, record)
        SELECT id, ?2, revision, checksum, record FROM channels WHERE id = ?1",
    delete: "DELETE FROM channels WHERE id = ?1",
    delete_corrupt: "DELETE FROM corrupt WHERE channel = ?1",
    delete_history: "DELETE FROM history WHERE channel = ?1",
    agents: "SELECT key, name FROM agents",
    add_agent: "INSERT INTO agents (key, name) VALUES (?1, ?2)",
    last_change: "SELECT max(number) FROM history WHERE channel = ?1",
    add_change: "INSERT INTO history (channel, number, change) VALUES (?1, ?2, ?3)",
    cut_changes: "DELETE FROM history WHERE channel = ?1 AND number <= ?2",
    changes: "SELECT change FROM history WHERE channel = ?1 ORDER BY number DESC",
    identities: "SELECT account, agent, name FROM identities ORDER BY place",
    owner: "SELECT agent FROM identities WHERE account = ?1",
    register: "INSERT INTO identities (account, agent, name) VALUES (?1, ?2, ?3)
        ON CONFLICT (agent) DO UPDATE SET account = excluded.account, name = excluded.name
        WHERE account <> excluded.account OR name <> excluded.name",
    unregister: "DELETE FROM identities WHERE agent = ?1",
}

impl<'c> Tables<'c> {
    /// Opens the tables of a database that has them.
    pub(super) fn new(
        conn: &'c Connection,
        path: &'c Path,
        history_max: usize,
    ) -> Result<Self, StoreError> {
        let run = Statements::new(conn).map_err(|error| refused(path, Action::Read, &error))?;
        let mut tables = Self {
            conn,
            path,
            history_max,
            run,
            agents: Agents::default(),
            known: HashMap::new(),
            last_changes: HashMap::new(),
            found: Vec::new(),
        };
        tables.agents = tables.read_agents()?;
        Ok(tables)
    }

    /// Forgets everything that an undone transaction may have changed.
    pub(super) fn forget(&mut self) -> Result<(), StoreError> {
        self.known.clear();
        self.last_changes.clear();
        self.found.clear();
        self.agents = self.read_agents()?;
        Ok(())
    }

    /// Returns the record of a channel. If it cannot be read, it stays in its place and the channel
    /// cannot be used.
    pub(super) fn load(&mut self, channel: ChannelId) -> Result<Option<StoredChannel>, StoreError> {
        let id = signed(channel.get());
        let row = self.run.load.query_row([id], |row| Ok(parse(channel, row)));
        let row = row.optional().map_err(|error| refused(self.path, Action::Read, &error))?;
        match row {
            None => Ok(None),
            Some(Ok((revision, WrittenRecord { record, extras, .. }))) => {
                let extras = (!extras.is_empty()).then(|| Box::new(extras));
                self.known.insert(channel, Known { revision, extras });
                Ok(Some(StoredChannel { revision, record }))
            }
            Some(Err(reason)) => Err(self.bar(channel, reason)),
        }
    }

    /// Marks a channel as unusable. Its facts are forgotten, and its record stays.
    fn bar(&mut self, channel: ChannelId, reason: BadFile) -> StoreError {
        self.known.remove(&channel);
        let bars = reason.bars();
        self.found.push(SqliteProblem::BadRecord { channel, reason: reason.clone(), bars });
        StoreError::BadRecord { path: self.path.to_owned(), channel, source: reason }
    }

    /// Copies a damaged record into its own table before it is replaced.
    fn keep(&mut self, channel: ChannelId, reason: &StoreError) -> Result<(), StoreError> {
        let reason = std::error::Error::source(reason).map(ToString::to_string);
        let kept =
            self.run.keep.execute(params![signed(channel.get()), reason.unwrap_or_default()]);
        kept.map(drop).map_err(|error| refused(self.path, Action::KeepAside, &error))
    }

    /// Replaces the record of a channel. Returns the stored revision as an error if the commit was made from another one.
    pub(super) fn commit(
        &mut self,
        commit: &Commit,
    ) -> Result<Result<Revision, Revision>, StoreError> {
        let Commit { channel, expected, record, transitions, .. } = commit;
        let (found, damage) = match self.revision(*channel) {
            Err(error) if commit.replaces_damaged && error.is_damaged_record() => {
                (Revision::default(), Some(error))
            }
            found => (found?, None),
        };
        if found != *expected {
            return Ok(Err(found));
        }
        let none = Extras::default();
        let known = self.known.get(channel).and_then(|known| known.extras.as_deref());
        let extras = known.unwrap_or(&none);
        let unwritable = |source| StoreError::Unwritable { path: self.path.to_owned(), source };
        let text = record_text(record, &self.agents.of(record), extras).map_err(unwritable)?;
        if text.len() > LARGEST {
            return Err(StoreError::TooLarge { path: self.path.to_owned(), limit: LARGEST });
        }
        let revision = found.next();
        let checksum = record_checksum(*channel, revision, &text);
        if let Some(damage) = damage {
            self.keep(*channel, &damage)?;
        }
        let written = self.run.save.execute(params![
            signed(channel.get()),
            signed(revision.get()),
            checksum,
            // JSON is always UTF-8, and a check would cost as much as writing it.
            Text(&text),
        ]);
        written.map_err(|error| refused(self.path, Action::Write, &error))?;
        self.append(*channel, transitions)?;
        match self.known.get_mut(channel) {
            Some(known) => known.revision = revision,
            None => drop(self.known.insert(*channel, Known { revision, extras: None })),
        }
        Ok(Ok(revision))
    }

    /// Deletes all data of a channel. Returns false if there is none.
    pub(super) fn delete(&mut self, channel: ChannelId) -> Result<bool, StoreError> {
        // This version may not delete the record of a newer version.
        match self.load(channel) {
            Err(error) if !error.is_damaged_record() => return Err(error),
            Ok(_) | Err(_) => {}
        }
        let Statements { delete, delete_corrupt, delete_history, .. } = &mut self.run;
        let id = [signed(channel.get())];
        let statements = [delete, delete_corrupt, delete_history];
        let deleted: rusqlite::Result<usize> =
            statements.into_iter().map(|statement| statement.execute(id)).sum();
        let deleted = deleted.map_err(|error| refused(self.path, Action::Remove, &error))?;
        self.known.remove(&channel);
        self.last_changes.remove(&channel);
        Ok(deleted > 0)
    }

    fn revision(&mut self, channel: ChannelId) -> Result<Revision, StoreError> {
        match self.known.get(&channel) {
            Some(known) => Ok(known.revision),
            None => Ok(self.load(channel)?.map_or_else(Revision::default, |found| found.revision)),
        }
    }

    fn append(&mut self, channel: ChannelId, changes: &[Transition]) -> Result<(), StoreError> {
        if changes.is_empty() || self.history_max == 0 {
            return Ok(());
        }
        let written = self.append_changes(channel, changes);
        written.map_err(|error| refused(self.path, Action::Write, &error))
    }

    fn append_changes(
        &mut self,
        channel: ChannelId,
        changes: &[Transition],
    ) -> rusqlite::Result<()> {
        let id = signed(channel.get());
        let mut number = match self.last_changes.get(&channel) {
            Some(number) => *number,
            None => self
                .run
                .last_change
                .query_row([id], |row| row.get::<_, Option<i64>>(0))?
                .unwrap_or(0),
        };
        for change in changes {
            number = number.saturating_add(1);
            let line = history::line(change, &self.agents);
            self.run.add_change.execute(params![id, number, Text(&line)])?;
        }
        let max = i64::try_from(self.history_max).unwrap_or(i64::MAX);
        if number > max {
            self.run.cut_changes.execute([id, number.saturating_sub(max)])?;
        }
        self.last_changes.insert(channel, number);
        Ok(())
    }

    /// Returns the newest transitions of a channel, the oldest one first. Skips those that cannot
    /// be read.
    pub(super) fn history(&mut self, channel: ChannelId) -> Result<Vec<Transition>, StoreError> {
        let found = self.newest(signed(channel.get()));
        found.map_err(|error| refused(self.path, Action::Read, &error))
    }

    fn newest(&mut self, channel: i64) -> rusqlite::Result<Vec<Transition>> {
        let mut newest = Vec::new();
        let mut rows = self.run.changes.query([channel])?;
        while newest.len() < self.history_max {
            let Some(row) = rows.next()? else { break };
            newest.extend(history::parse(bytes(row.get_ref(0)?), &self.agents));
        }
        newest.reverse();
        Ok(newest)
    }

    /// Returns all agents that have keys, in their order.
    pub(super) fn agents(&self) -> Vec<AgentId> {
        self.agents.names().to_vec()
    }

    /// Gives an agent a key, unless it has one.
    pub(super) fn add_agent(&mut self, agent: &AgentId) -> Result<AgentKey, StoreError> {
        if let Some(key) = self.agents.key(agent) {
            return Ok(key);
        }
        let no_more = || io::Error::other("no more agent keys");
        let key = self.agents.add(agent.clone());
        let key = key.ok_or_else(|| StoreError::not_done(Action::Write, self.path, no_more()))?;
        let added = self.run.add_agent.execute(params![key.get(), agent.as_str()]);
        added.map_err(|error| refused(self.path, Action::Write, &error))?;
        Ok(key)
    }

    /// Reads the agents. If rows were removed from outside, their keys keep their places.
    fn read_agents(&mut self) -> Result<Agents, StoreError> {
        let row = |row: &Row<'_>| Ok((row.get::<_, u32>(0)?, row.get::<_, String>(1)?));
        let rows = self.run.agents.query_map([], row);
        let rows = rows.and_then(Iterator::collect::<rusqlite::Result<Vec<_>>>);
        let rows = rows.map_err(|error| refused(self.path, Action::Read, &error))?;
        let names: BTreeMap<_, _> =
            rows.into_iter().map(|(key, name)| (AgentKey::new(key), AgentId::from(name))).collect();
        if names.keys().zip(0..).all(|(key, place)| key.get() == place) {
            Ok(Agents::new(names.into_values().collect()))
        } else {
            Ok(agents::rebuild(&names))
        }
    }
}

/// Returns all channels that have a record, in order.
pub(super) fn channels(tables: &mut Tables<'_>) -> Result<Vec<ChannelId>, StoreError> {
    let ids = tables.run.channels.query_map([], |row| row.get(0).map(unsigned));
    let ids = ids.and_then(Iterator::collect::<rusqlite::Result<Vec<_>>>);
    let ids = ids.map_err(|error| refused(tables.path, Action::Read, &error))?;
    let mut channels: Vec<_> = ids.into_iter().map(ChannelId::new).collect();
    channels.sort_unstable();
    Ok(channels)
}

/// JSON text that was just written.
struct Text<'a>(&'a [u8]);

impl rusqlite::ToSql for Text<'_> {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        Ok(rusqlite::types::ToSqlOutput::Borrowed(ValueRef::Text(self.0)))
    }
}

/// Parses the row of a channel.
fn parse(channel: ChannelId, row: &Row<'_>) -> Result<(Revision, WrittenRecord), BadFile> {
    let shape = BadFile::WrongShape { expected: "a channel" };
    let (Ok(revision), Ok(checksum), Ok(text)) =
        (row.get(0).map(unsigned), row.get_ref(1), row.get_ref(2))
    else {
        return Err(shape);
    };
    let text = bytes(text);
    if text.len() > LARGEST {
        return Err(BadFile::TooLarge { limit: LARGEST });
    }
    let revision = Revision::new(revision);
    if record_checksum(channel, revision, text).as_bytes() != bytes(checksum) {
        return Err(BadFile::Checksum);
    }
    // The next commit adds one to it.
    if revision.get() == u64::MAX {
        return Err(BadFile::UnknownValue);
    }
    let text = std::str::from_utf8(text).map_err(|_| BadFile::UnknownValue)?;
    Ok((revision, parse_sound_record(text)?))
}

/// Returns the bytes of a column if it is text.
fn bytes(value: ValueRef<'_>) -> &[u8] {
    value.as_bytes().unwrap_or_default()
}

/// SQLite's integers are signed.
pub(super) const fn signed(number: u64) -> i64 {
    number.cast_signed()
}

pub(super) const fn unsigned(number: i64) -> u64 {
    number.cast_unsigned()
}
