//! The connection that reads. It takes all waiting jobs at once, and loads channels with one statement.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use dirigent::operate::Transition;
use dirigent::ports::Identity;
use dirigent::snapshot::AgentKey;
use dirigent::store::StoredChannel;
use dirigent::{AgentId, ChannelId, UserId};
use dirigent_store::parts::parse_history_line;
use dirigent_store::{Action, BadFile, StoreError};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error};

use super::TableAccess;
use super::known::parse;
use super::lines::Lines;
use super::problem::PostgresProblem;
use super::queue::{Job, LeaseAnswer, Read, answer};
use super::refusal::{away, refused};
use crate::lease::Shard;

/// The most jobs that are read at once.
const AT_ONCE: usize = 512;
/// The time limit for these, if a TTL is not longer. Afterwards the connection counts as dead.
const READ_MAX: Duration = Duration::from_secs(30);

pub(super) const ROWS: &str =
    "SELECT id, revision, checksum, record FROM dirigent.channels WHERE id = ANY ($1)";

impl Lines<'_> {
    /// Reads until the connection is lost.
    pub(super) async fn read_on(&self, client: &Client) {
        loop {
            self.shared.jobs.reads.until_any().await;
            let reading = Reading { shared: self.shared, client };
            let all = async {
                reading.all(self.shared.jobs.reads.take(AT_ONCE)).await;
                Ok(())
            };
            let server = &self.shared.server;
            let limit = server.terms.ttl.max(READ_MAX);
            if server.in_time(limit, all).await.is_err() || client.is_closed() {
                return;
            }
        }
    }
}

/// Reads for jobs and answers them. Its methods return an error, too, if a read failed.
struct Reading<'a> {
    shared: &'a TableAccess,
    client: &'a Client,
}

impl Reading<'_> {
    /// Reads rare jobs one after the other, then all channels at once.
    async fn all(&self, reads: VecDeque<Read>) {
        let mut loads = Vec::new();
        let mut is_lost = false;
        for read in reads {
            match read {
                Read::Load(channel, to) => loads.push((channel, to)),
                other @ (Read::Channels(_)
                | Read::ChannelsOf(..)
                | Read::Agents(_)
                | Read::History(..)
                | Read::Identities(_)
                | Read::Call(..)) => {
                    if is_lost {
                        other.fail(away(&self.shared.server.address));
                    } else {
                        is_lost = self.one(other).await.is_err();
                    }
                }
            }
        }
        // If the connection is gone, the callers get that as their answer.
        let _ = self.load(loads).await;
    }

    async fn one(&self, read: Read) -> Result<(), ()> {
        match read {
            Read::Load(channel, to) => self.load(vec![(channel, to)]).await,
            Read::Channels(to) => self.answer(to, self.channels().await),
            Read::ChannelsOf(shards, to) => self.answer(to, self.channels_of(&shards).await),
            Read::Agents(to) => self.answer(to, self.agents().await),
            Read::History(channel, to) => self.answer(to, self.history(channel).await),
            Read::Identities(to) => self.answer(to, self.identities().await),
            Read::Call(text, to) => self.answer(to, self.call(&text).await),
        }
    }

    fn refused(&self, error: &Error) -> StoreError {
        let refused = refused(&self.shared.server.address, Action::Read, error);
        self.shared.heed(&refused);
        refused
    }

    fn answer<T>(&self, to: LeaseAnswer<T>, with: Result<T, Error>) -> Result<(), ()> {
        let is_read = with.is_ok();
        let with = with.map_err(|error| self.refused(&error));
        answer(to, with);
        if is_read { Ok(()) } else { Err(()) }
    }

    async fn load(
        &self,
        loads: Vec<(ChannelId, LeaseAnswer<Option<StoredChannel>>)>,
    ) -> Result<(), ()> {
        if loads.is_empty() {
            return Ok(());
        }
        let ids: Vec<i64> = loads.iter().map(|(channel, _)| channel.get().cast_signed()).collect();
        match self.client.query_typed(ROWS, &[(&ids, Type::INT8_ARRAY)]).await {
            Ok(rows) => {
                let rows: BTreeMap<i64, _> = rows.iter().map(|row| (row.get(0), row)).collect();
                for (channel, to) in loads {
                    let row = rows.get(&channel.get().cast_signed());
                    let found = row.map(|row| (row.get(1), row.get(2), row.get(3)));
                    answer(to, take_in(self.shared, channel, found));
                }
                Ok(())
            }
            Err(error) => {
                for (_, to) in loads {
                    answer(to, Err(self.refused(&error)));
                }
                Err(())
            }
        }
    }

    async fn channels(&self) -> Result<Vec<ChannelId>, Error> {
        let rows = self.client.query_typed("SELECT id FROM dirigent.channels", &[]).await?;
        Ok(ids(&rows))
    }

    async fn channels_of(&self, shards: &[Shard]) -> Result<Vec<ChannelId>, Error> {
        let shards: Vec<i32> = shards.iter().map(|shard| i32::from(shard.get())).collect();
        let sql = "SELECT id FROM dirigent.channels WHERE shard = ANY ($1)";
        let rows = self.client.query_typed(sql, &[(&shards, Type::INT4_ARRAY)]).await?;
        Ok(ids(&rows))
    }

    async fn agents(&self) -> Result<Vec<AgentId>, Error> {
        read_agents(self.shared, self.client).await?;
        Ok(self.shared.known.with_agents(|agents| agents.names().to_vec()))
    }

    async fn history(&self, channel: ChannelId) -> Result<Vec<Transition>, Error> {
        let max = i64::try_from(self.shared.history_max).unwrap_or(i64::MAX);
        let sql =
            "SELECT change FROM dirigent.history WHERE channel = $1 ORDER BY number DESC LIMIT $2";
        let id = channel.get().cast_signed();
        let rows = self.client.query_typed(sql, &[(&id, Type::INT8), (&max, Type::INT8)]).await?;
        if !rows.is_empty() {
            // Another process may have added agents.
            read_agents(self.shared, self.client).await?;
        }
        Ok(self.shared.known.with_agents(|agents| {
            let lines = rows.iter().rev().map(|row| row.get::<_, &str>(0).as_bytes());
            lines.filter_map(|line| parse_history_line(line, agents)).collect()
        }))
    }

    async fn call(&self, text: &str) -> Result<(), Error> {
        let call = "SELECT pg_notify('dirigent', $1)";
        self.client.query_typed(call, &[(&text, Type::TEXT)]).await.map(drop)
    }

    async fn identities(&self) -> Result<Vec<Identity>, Error> {
        let sql = "SELECT account, agent, name FROM dirigent.identities ORDER BY place";
        let rows = self.client.query_typed(sql, &[]).await?;
        let identity = |row: &tokio_postgres::Row| Identity {
            discord_user_id: UserId::new(row.get::<_, i64>(0).cast_unsigned()),
            agent_id: AgentId::from(from_json(row.get(1))),
            agent_name: from_json(row.get(2)),
        };
        Ok(rows.iter().map(identity).collect())
    }
}

/// Takes the row of a channel that was read. A row that cannot be used stays in its place and bars the channel.
pub(super) fn take_in(
    shared: &TableAccess,
    channel: ChannelId,
    row: Option<(i64, &str, &str)>,
) -> Result<Option<StoredChannel>, StoreError> {
    let Some((revision, checksum, text)) = row else {
        shared.known.forget(channel);
        return Ok(None);
    };
    match parse(channel, revision, checksum, text) {
        Ok((revision, written)) => {
            shared.known.learn(channel, revision, written.extras);
            Ok(Some(StoredChannel { revision, record: written.record }))
        }
        Err(reason) => Err(bar(shared, channel, reason)),
    }
}

fn bar(shared: &TableAccess, channel: ChannelId, reason: BadFile) -> StoreError {
    shared.known.forget(channel);
    let bars = reason.bars();
    shared.problems.push(PostgresProblem::BadRecord { channel, reason: reason.clone(), bars });
    StoreError::BadRecord { path: shared.server.address.clone(), channel, source: reason }
}

pub(super) async fn read_agents(shared: &TableAccess, client: &Client) -> Result<(), Error> {
    let rows = client.query_typed("SELECT key, name FROM dirigent.agents", &[]).await?;
    let named = |row: &tokio_postgres::Row| {
        let key = u32::try_from(row.get::<_, i32>(0)).unwrap_or_default();
        (AgentKey::new(key), AgentId::from(from_json(row.get(1))))
    };
    shared.known.set_agents(rows.iter().map(named).collect());
    Ok(())
}

fn ids(rows: &[tokio_postgres::Row]) -> Vec<ChannelId> {
    let id = |row: &tokio_postgres::Row| ChannelId::new(row.get::<_, i64>(0).cast_unsigned());
    let mut ids: Vec<_> = rows.iter().map(id).collect();
    ids.sort_unstable();
    ids
}

/// Reads a name of the tables. A name that is not JSON, because a person edited it, stands for itself.
pub(super) fn from_json(text: &str) -> String {
    serde_json::from_str(text).unwrap_or_else(|_| text.to_owned())
}
