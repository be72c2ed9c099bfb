//! Makes many commits with one statement, each under its fence: the shard's epoch and the channel's revision.

use std::collections::{BTreeMap, BTreeSet};

use dirigent::ChannelId;
use dirigent::store::{Commit, Revision};
use dirigent_store::parts::{LARGEST, history_line, record_checksum};
use dirigent_store::{Action, StoreError};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error, Row};

use super::TableAccess;
use super::queue::{Committed, Fenced, LeaseAnswer, answer};
use super::reader::{ROWS, take_in};
use super::refusal::{is_late, refused, same};
use crate::lease::shard_of;

/// A shard with a locked row cannot get another owner before this statement has ended, and a shard with another owner
/// is not found. So a commit comes as a whole before a take-over, or not at all.
///
/// Old lines of a history are found by index, channel by channel. With a plain join the planner reads all histories,
/// because it does not know how few lines are too old.
const COMMIT: &str = "
WITH held AS MATERIALIZED (
    SELECT s.shard FROM dirigent.shards s
    JOIN unnest($1::int4[], $2::int8[]) AS fence (shard, epoch) ON s.shard = fence.shard AND s.epoch = fence.epoch
    WHERE s.owner = $3 ORDER BY s.shard FOR SHARE OF s
), given AS MATERIALIZED (
    SELECT g.* FROM unnest($4::int8[], $5::int4[], $6::int8[], $7::int8[], $8::text[], $9::text[], $10::text[])
        AS g (id, shard, stored, revision, checksum, record, damage)
    WHERE g.shard IN (SELECT shard FROM held)
), kept AS (
    INSERT INTO dirigent.corrupt (channel, reason, revision, checksum, record)
    SELECT c.id, g.damage, c.revision, c.checksum, c.record
    FROM dirigent.channels c JOIN given g ON c.id = g.id AND c.revision = g.stored WHERE g.damage IS NOT NULL
    RETURNING channel
), made AS (
    UPDATE dirigent.channels c SET revision = g.revision, checksum = g.checksum, record = g.record
    FROM given g WHERE c.id = g.id AND c.revision = g.stored RETURNING c.id
), born AS (
    INSERT INTO dirigent.channels (id, shard, revision, checksum, record)
    SELECT g.id, g.shard, g.revision, g.checksum, g.record FROM given g WHERE g.stored IS NULL
    ON CONFLICT DO NOTHING RETURNING id
), done AS (
    SELECT id FROM made UNION ALL SELECT id FROM born
), last AS MATERIALIZED (
    SELECT d.id, coalesce((SELECT max(h.number) FROM dirigent.history h WHERE h.channel = d.id), 0) AS number FROM done d
), lines AS (
    INSERT INTO dirigent.history (channel, number, change)
    SELECT l.id, l.number + t.place, t.change
    FROM unnest($11::int8[], $12::int8[], $13::text[]) AS t (id, place, change) JOIN last l ON l.id = t.id
    RETURNING channel, number
), newest AS MATERIALIZED (
    SELECT channel, max(number) AS number FROM lines GROUP BY channel
), cut AS (
    DELETE FROM dirigent.history WHERE ctid = ANY (ARRAY(
        SELECT old.line FROM newest n CROSS JOIN LATERAL (
            SELECT h.ctid AS line FROM dirigent.history h
            WHERE h.channel = n.channel AND h.number <= n.number - $14 ORDER BY h.number LIMIT 1000
        ) old
    ))
)
SELECT 'done' AS what, id FROM done UNION ALL SELECT 'held', shard::int8 FROM held";

const DELETE: &str = "
WITH held AS MATERIALIZED (
    SELECT shard FROM dirigent.shards WHERE shard = $1 AND epoch = $2 AND owner = $3 FOR SHARE
), channel AS (
    DELETE FROM dirigent.channels WHERE id = $4 AND EXISTS (SELECT 1 FROM held) RETURNING 1
), corrupt AS (
    DELETE FROM dirigent.corrupt WHERE channel = $4 AND EXISTS (SELECT 1 FROM held) RETURNING 1
), history AS (
    DELETE FROM dirigent.history WHERE channel = $4 AND EXISTS (SELECT 1 FROM held) RETURNING 1
)
SELECT EXISTS (SELECT 1 FROM held),
    EXISTS (SELECT 1 FROM channel) OR EXISTS (SELECT 1 FROM corrupt) OR EXISTS (SELECT 1 FROM history)";

/// A commit that waits for its answer.
pub(super) struct CommitJob {
    pub(super) commit: Box<Commit>,
    pub(super) fence: Fenced,
    pub(super) to: LeaseAnswer<Committed>,
}

/// A commit that is ready to be made, without the record that it was made from.
struct Ready {
    channel: ChannelId,
    fence: Fenced,
    revision: Revision,
    to: LeaseAnswer<Committed>,
}

/// The parameters of the statement, by columns.
#[derive(Default)]
struct Columns {
    ids: Vec<i64>,
    shards: Vec<i32>,
    stored: Vec<Option<i64>>,
    revisions: Vec<i64>,
    checksums: Vec<String>,
    records: Vec<String>,
    damages: Vec<Option<String>>,
    line_ids: Vec<i64>,
    line_places: Vec<i64>,
    lines: Vec<String>,
}

/// A channel's state in the table.
struct Found {
    /// The revision in the row, if there is one.
    stored: Option<i64>,
    revision: Revision,
    damage: Option<String>,
}

pub(super) struct CommitGroup<'a> {
    pub(super) shared: &'a TableAccess,
    pub(super) client: &'a Client,
    pub(super) process: i64,
}

impl CommitGroup<'_> {
    /// Makes all of them, and answers. Each channel must occur once. Returns whether the connection can still be used.
    pub(super) async fn make(&self, jobs: Vec<CommitJob>) -> bool {
        let server = &self.shared.server;
        let wanted = jobs.iter().filter(|job| self.is_unknown(&job.commit));
        let wanted: Vec<_> = wanted.map(|job| job.commit.channel).collect();
        let rows = server.in_time(server.terms.ttl, self.rows(&wanted)).await;
        let rows = match rows {
            Ok(rows) => rows,
            Err(error) => return self.fail(jobs.into_iter().map(|job| job.to), &error),
        };
        let mut columns = Columns::default();
        let mut ready = Vec::with_capacity(jobs.len());
        for CommitJob { commit, fence, to } in jobs {
            match self.prepare(&mut columns, &rows, &commit, fence) {
                Ok(Ok(revision)) => {
                    let channel = commit.channel;
                    // The caller uses the commit's memory again, so drop its texts before the answer.
                    drop(commit);
                    ready.push(Ready { channel, fence, revision, to });
                }
                Ok(Err(found)) => answer(to, Ok(Committed::Conflict(found))),
                Err(error) => {
                    drop(commit);
                    answer(to, Err(error));
                }
            }
        }
        if ready.is_empty() {
            return true;
        }
        let made = server.in_time(server.terms.ttl, self.write(&columns, &ready));
        match made.await {
            Ok(rows) => self.conclude(&rows, ready).await,
            Err(error) => self.fail(ready.into_iter().map(|ready| ready.to), &error),
        }
    }

    /// Returns whether the row must be read before.
    fn is_unknown(&self, commit: &Commit) -> bool {
        let is_first = commit.expected == Revision::default();
        let is_known = self.shared.known.is_at(commit.channel, commit.expected);
        !is_known || is_first || commit.replaces_damaged
    }

    async fn rows(&self, channels: &[ChannelId]) -> Result<BTreeMap<ChannelId, Row>, StoreError> {
        if channels.is_empty() {
            return Ok(BTreeMap::new());
        }
        let ids: Vec<i64> = channels.iter().map(|channel| channel.get().cast_signed()).collect();
        let rows = self.client.query_typed(ROWS, &[(&ids, Type::INT8_ARRAY)]).await;
        let rows = rows.map_err(|error| self.refused(Action::Read, &error))?;
        let id = |row: &Row| ChannelId::new(row.get::<_, i64>(0).cast_unsigned());
        Ok(rows.into_iter().map(|row| (id(&row), row)).collect())
    }

    /// Adds a commit to the columns. Returns its revision, or the stored one if it expected another.
    fn prepare(
        &self,
        columns: &mut Columns,
        rows: &BTreeMap<ChannelId, Row>,
        commit: &Commit,
        fence: Fenced,
    ) -> Result<Result<Revision, Revision>, StoreError> {
        let Commit { channel, expected, record, transitions, .. } = commit;
        let found = self.found(rows, commit)?;
        if found.revision != *expected {
            return Ok(Err(found.revision));
        }
        let address = &self.shared.server.address;
        let text = self.shared.known.text(*channel, record);
        let unwritable = |source| StoreError::Unwritable { path: address.clone(), source };
        let text = text.map_err(unwritable)?;
        if text.len() > LARGEST {
            return Err(StoreError::TooLarge { path: address.clone(), limit: LARGEST });
        }
        let revision = found.revision.next();
        columns.checksums.push(record_checksum(*channel, revision, &text));
        let text = String::from_utf8(text).map_err(|_| {
            StoreError::not_done(Action::Write, address, std::io::ErrorKind::InvalidData.into())
        })?;
        let id = channel.get().cast_signed();
        columns.ids.push(id);
        columns.shards.push(i32::from(fence.shard.get()));
        columns.stored.push(found.stored);
        columns.revisions.push(revision.get().cast_signed());
        columns.records.push(text);
        columns.damages.push(found.damage);
        let kept = transitions.len().saturating_sub(self.shared.history_max);
        self.shared.known.with_agents(|agents| {
            for (place, change) in (1..).zip(transitions.iter().skip(kept)) {
                let line = history_line(change, agents);
                columns.line_ids.push(id);
                columns.line_places.push(place);
                columns.lines.push(String::from_utf8_lossy(&line).trim_end().to_owned());
            }
        });
        Ok(Ok(revision))
    }

    /// Returns the state in the table, from the row that was read or from the cache.
    fn found(&self, rows: &BTreeMap<ChannelId, Row>, commit: &Commit) -> Result<Found, StoreError> {
        let channel = commit.channel;
        if !self.is_unknown(commit) {
            let revision = commit.expected;
            let stored = Some(revision.get().cast_signed());
            return Ok(Found { stored, revision, damage: None });
        }
        let row = rows.get(&channel).map(|row| (row.get(1), row.get(2), row.get(3)));
        let stored = row.map(|(revision, _, _)| revision);
        match take_in(self.shared, channel, row) {
            Ok(loaded) => {
                let revision = loaded.map_or_else(Revision::default, |loaded| loaded.revision);
                Ok(Found { stored, revision, damage: None })
            }
            Err(error) if commit.replaces_damaged && error.is_damaged_record() => {
                let reason = std::error::Error::source(&error).map(ToString::to_string);
                Ok(Found {
                    stored,
                    revision: Revision::default(),
                    damage: reason.or(Some(String::new())),
                })
            }
            Err(error) => Err(error),
        }
    }

    async fn write(&self, columns: &Columns, ready: &[Ready]) -> Result<Vec<Row>, StoreError> {
        let fences: BTreeSet<_> =
            ready.iter().map(|ready| (ready.fence.shard, ready.fence.epoch)).collect();
        let (shards, epochs): (Vec<i32>, Vec<i64>) = fences
            .into_iter()
            .map(|(shard, epoch)| (i32::from(shard.get()), epoch.get().cast_signed()))
            .unzip();
        let max = i64::try_from(self.shared.history_max).unwrap_or(i64::MAX);
        let rows = self
            .client
            .query_typed(
                COMMIT,
                &[
                    (&shards, Type::INT4_ARRAY),
                    (&epochs, Type::INT8_ARRAY),
                    (&self.process, Type::INT8),
                    (&columns.ids, Type::INT8_ARRAY),
                    (&columns.shards, Type::INT4_ARRAY),
                    (&columns.stored, Type::INT8_ARRAY),
                    (&columns.revisions, Type::INT8_ARRAY),
                    (&columns.checksums, Type::TEXT_ARRAY),
                    (&columns.records, Type::TEXT_ARRAY),
                    (&columns.damages, Type::TEXT_ARRAY),
                    (&columns.line_ids, Type::INT8_ARRAY),
                    (&columns.line_places, Type::INT8_ARRAY),
                    (&columns.lines, Type::TEXT_ARRAY),
                    (&max, Type::INT8),
                ],
            )
            .await;
        rows.map_err(|error| self.refused(Action::Write, &error))
    }

    /// Answers each commit. Returns whether the connection can still be used.
    async fn conclude(&self, rows: &[Row], ready: Vec<Ready>) -> bool {
        let all = |what: &str| -> BTreeSet<i64> {
            rows.iter().filter(|row| row.get::<_, &str>(0) == what).map(|row| row.get(1)).collect()
        };
        let (done, held) = (all("done"), all("held"));
        let mut beaten = Vec::new();
        for Ready { channel, fence, revision, to } in ready {
            if done.contains(&channel.get().cast_signed()) {
                self.shared.known.wrote(channel, revision);
                answer(to, Ok(Committed::Done(revision)));
            } else if held.contains(&i64::from(fence.shard.get())) {
                beaten.push((channel, to));
            } else {
                self.shared.known.forget(channel);
                answer(to, Ok(Committed::Elsewhere));
            }
        }
        if beaten.is_empty() {
            return true;
        }
        // Another process changed these rows after they were read.
        let channels: Vec<_> = beaten.iter().map(|(channel, _)| *channel).collect();
        match self.rows(&channels).await {
            Ok(rows) => {
                for (channel, to) in beaten {
                    self.shared.known.forget(channel);
                    let found = rows.get(&channel).map_or(0, |row| row.get::<_, i64>(1));
                    answer(to, Ok(Committed::Conflict(Revision::new(found.cast_unsigned()))));
                }
                true
            }
            Err(error) => self.fail(beaten.into_iter().map(|(_, to)| to), &error),
        }
    }

    /// Answers all of them with this failure. Returns whether the connection can still be used.
    fn fail(&self, jobs: impl Iterator<Item = LeaseAnswer<Committed>>, error: &StoreError) -> bool {
        self.shared.heed(error);
        for to in jobs {
            answer(to, Err(same(error)));
        }
        !is_late(error) && !self.client.is_closed()
    }

    fn refused(&self, action: Action, error: &Error) -> StoreError {
        refused(&self.shared.server.address, action, error)
    }

    /// Deletes everything stored of a channel. Returns `None` if another process owns it, else whether there was any.
    pub(super) async fn delete(
        &self,
        channel: ChannelId,
        fence: Fenced,
    ) -> Result<Option<bool>, StoreError> {
        let rows = self.rows(&[channel]).await?;
        let row = rows.get(&channel).map(|row| (row.get(1), row.get(2), row.get(3)));
        match take_in(self.shared, channel, row) {
            // This version must not delete the record of a newer one.
            Err(error) if !error.is_damaged_record() => return Err(error),
            Ok(_) | Err(_) => {}
        }
        let shard = i32::from(shard_of(channel, self.shared.shards).get());
        let (epoch, id) = (fence.epoch.get().cast_signed(), channel.get().cast_signed());
        let asked = [
            (&shard as _, Type::INT4),
            (&epoch as _, Type::INT8),
            (&self.process as _, Type::INT8),
            (&id as _, Type::INT8),
        ];
        let rows = self.client.query_typed(DELETE, &asked).await;
        let rows = rows.map_err(|error| self.refused(Action::Remove, &error))?;
        self.shared.known.forget(channel);
        Ok(rows.first().filter(|row| row.get(0)).map(|row| row.get(1)))
    }
}
