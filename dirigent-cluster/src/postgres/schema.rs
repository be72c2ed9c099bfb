//! Makes the tables, brings them to this version, and checks them.

use std::time::Duration;

use dirigent::ports::Timestamp;
use dirigent_store::{Action, BadFile, OpenError, StoreError};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error, Transaction};

use super::connect::Server;
use super::problem::PostgresProblem;
use super::refusal::{no_answer, refused, unfit};

/// The version of the tables that the first migration makes. Earlier tables are refused, because records there have
/// other names for some fields.
const FIRST: usize = 5;

/// Each migration brings the tables to the next version; the first one makes them. A released one is never changed.
///
/// A trigger raises the number of the registry, so that a change counts even if an older version or a person made it. A
/// member has the time since when it is one, because of two processes of one name the later one waits.
///
/// Ids and revisions are signed integers, from 2^63 on negative. Names are JSON, because text cannot hold U+0000. Rows
/// of channels and shards change all the time, so half of each of their pages is left free for that (`fillfactor`).
const MIGRATIONS: [&str; 1] = ["
CREATE TABLE dirigent.cluster (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    name text NOT NULL,
    shards integer NOT NULL,
    ttl_ms bigint NOT NULL,
    registry bigint NOT NULL DEFAULT 0
);
CREATE TABLE dirigent.channels (
    id bigint PRIMARY KEY,
    shard integer NOT NULL,
    revision bigint NOT NULL,
    checksum text NOT NULL,
    record text NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX channels_shard ON dirigent.channels (shard);
CREATE TABLE dirigent.corrupt (
    place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    channel bigint NOT NULL,
    reason text NOT NULL,
    revision bigint NOT NULL,
    checksum text NOT NULL,
    record text NOT NULL
);
CREATE TABLE dirigent.agents (key integer PRIMARY KEY, name text NOT NULL UNIQUE);
CREATE TABLE dirigent.identities (
    place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account bigint NOT NULL UNIQUE,
    agent text NOT NULL UNIQUE,
    name text NOT NULL
);
CREATE TABLE dirigent.history (
    channel bigint NOT NULL,
    number bigint NOT NULL,
    change text NOT NULL,
    PRIMARY KEY (channel, number)
);
CREATE TABLE dirigent.shards (
    shard integer PRIMARY KEY,
    owner bigint,
    epoch bigint NOT NULL DEFAULT 0,
    expires_at timestamptz NOT NULL DEFAULT '-infinity'
) WITH (fillfactor = 50);
CREATE TABLE dirigent.members (
    process bigint PRIMARY KEY,
    expires_at timestamptz NOT NULL,
    name text NOT NULL DEFAULT '',
    since timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE FUNCTION dirigent.registry_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE dirigent.cluster SET registry = registry + 1;
    PERFORM pg_notify('dirigent', 'look');
    RETURN NULL;
END
$$;
CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE ON dirigent.identities
    FOR EACH ROW EXECUTE FUNCTION dirigent.registry_changed();
"];

/// The version that the migrations lead to.
const NEWEST: usize = FIRST + MIGRATIONS.len() - 1;

/// The advisory lock by which two processes make the tables one after the other.
const LOCK: i64 = 0x6469_7267;

/// The longest wait for the lock, in TTLs.
const OPEN_TTLS: u32 = 3;
/// The time limit for an answer beyond that. Only the wait for the lock depends on the TTL.
const ANSWER_MAX: Duration = Duration::from_secs(30);
/// The interval between tries to get the lock.
const LOCK_EVERY: Duration = Duration::from_millis(100);
/// The oldest server that knows the statements, by its number.
const OLDEST: i32 = 130_000;

/// Makes the tables, or checks them. Returns a problem that may end by itself.
pub(super) async fn prepare(server: &Server) -> Result<Option<PostgresProblem>, OpenError> {
    let mut session = server.connect().await?;
    let limit = server.clock.now() + server.terms.ttl * OPEN_TTLS;
    let address = &server.address;
    let mut preparing = std::pin::pin!(prepare_on(server, &mut session.client, limit));
    tokio::select! {
        biased;
        prepared = &mut preparing => prepared,
        // Every request then gets an error, perhaps with the server's last words.
        () = &mut session.pump => preparing.await,
        // Later than the limit for the lock, so that its own error is reported.
        () = server.clock.sleep_until(limit + ANSWER_MAX) => Err(no_answer(address).into()),
    }
}

async fn prepare_on(
    server: &Server,
    client: &mut Client,
    limit: Timestamp,
) -> Result<Option<PostgresProblem>, OpenError> {
    let failed = |error: Error| refused(&server.address, Action::Read, &error);
    // The lock, and a transaction, only if there is something to make.
    if version_of(server, client).await?.is_none_or(|version| version < NEWEST) {
        migrate(server, client, limit).await?;
    }
    if let Some(found) = same_cluster(server, client).await.map_err(failed)? {
        return Err(OpenError::OtherCluster { path: server.address.clone(), found });
    }
    may_write(server, client).await
}

/// Returns the version of the tables, if there are any.
async fn version_of(server: &Server, client: &Client) -> Result<Option<usize>, OpenError> {
    let failed = |error: Error| refused(&server.address, Action::Read, &error);
    // `to_regclass` would answer from the session's cache, though another process has made the tables since.
    let found = "SELECT current_setting('server_version_num')::int4, EXISTS (
        SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = 'dirigent' AND tablename = 'version')";
    let rows = client.query_typed(found, &[]).await.map_err(failed)?;
    let row = rows.first();
    if let Some(number) = row.map(|row| row.get::<_, i32>(0))
        && is_too_old(number)
    {
        let why = format!("the server is PostgreSQL {}: 13 or newer is needed", number / 10_000);
        return Err(unfit(&server.address, why).into());
    }
    if !row.is_some_and(|row| row.get::<_, bool>(1)) {
        return Ok(None);
    }
    let rows =
        client.query_typed("SELECT number FROM dirigent.version", &[]).await.map_err(failed)?;
    let version = rows.first().map_or(0, |row| row.get::<_, i32>(0));
    let version = usize::try_from(version).unwrap_or_default();
    if !(FIRST..=NEWEST).contains(&version) {
        let number = |version| u64::try_from(version).unwrap_or(u64::MAX);
        let source = BadFile::OtherVersion { found: number(version), reads: number(NEWEST) };
        return Err(StoreError::BadFile { path: server.address.clone(), source }.into());
    }
    Ok(Some(version))
}

const fn is_too_old(number: i32) -> bool {
    number < OLDEST
}

async fn migrate(server: &Server, client: &mut Client, limit: Timestamp) -> Result<(), OpenError> {
    let failed = |error: Error| refused(&server.address, Action::Write, &error);
    let transaction = client.transaction().await.map_err(failed)?;
    locked(server, &transaction, limit).await?;
    let version = version_of(server, transaction.client()).await?;
    make(server, transaction, version).await.map_err(|error| failed(error).into())
}

async fn locked(
    server: &Server,
    transaction: &Transaction<'_>,
    limit: Timestamp,
) -> Result<(), OpenError> {
    let failed = |error: Error| refused(&server.address, Action::Read, &error);
    let mut is_said = false;
    loop {
        let lock = "SELECT pg_try_advisory_xact_lock($1)";
        let rows = transaction.query_typed(lock, &[(&LOCK, Type::INT8)]).await.map_err(failed)?;
        if rows.first().is_some_and(|row| row.get(0)) {
            return Ok(());
        }
        if server.clock.now() >= limit {
            let why = format!(
                "another session makes the tables, or holds the lock for it, for too long: end it (advisory lock {LOCK} in pg_locks)"
            );
            return Err(unfit(&server.address, why).into());
        }
        if !std::mem::replace(&mut is_said, true) {
            tracing::info!("another process makes the tables in the database: waiting for it");
        }
        server.clock.sleep_until(server.clock.now() + LOCK_EVERY).await;
    }
}

async fn make(
    server: &Server,
    transaction: Transaction<'_>,
    version: Option<usize>,
) -> Result<(), Error> {
    let done = version.map_or(0, |version| version + 1 - FIRST);
    if version.is_none() {
        let first = "CREATE SCHEMA IF NOT EXISTS dirigent;
            CREATE TABLE dirigent.version (number integer NOT NULL);
            INSERT INTO dirigent.version VALUES (0);";
        transaction.batch_execute(first).await?;
    }
    for migration in MIGRATIONS.iter().skip(done) {
        transaction.batch_execute(migration).await?;
    }
    let newest = i32::try_from(NEWEST).unwrap_or(i32::MAX);
    let set = "UPDATE dirigent.version SET number = $1";
    transaction.query_typed(set, &[(&newest, Type::INT4)]).await?;
    if done == 0 {
        let shards = i32::from(server.shards);
        let name = "INSERT INTO dirigent.cluster (name, shards, ttl_ms) VALUES ($1, $2, $3)";
        let ttl = ttl_ms(server);
        let parameters = [
            (&server.cluster as _, Type::TEXT),
            (&shards as _, Type::INT4),
            (&ttl as _, Type::INT8),
        ];
        transaction.query_typed(name, &parameters).await?;
        let all = "INSERT INTO dirigent.shards (shard) SELECT generate_series(0, $1 - 1)";
        transaction.query_typed(all, &[(&shards, Type::INT4)]).await?;
    }
    transaction.commit().await
}

/// Checks that the role may write what every process writes, because otherwise it would never hold a lease. A read-only
/// server is a problem, but no error: it may take writes later, for example a standby.
async fn may_write(server: &Server, client: &Client) -> Result<Option<PostgresProblem>, OpenError> {
    let failed = |error: Error| refused(&server.address, Action::Read, &error);
    let sql = "SELECT current_setting('transaction_read_only') = 'on', (
        SELECT min(needs.name) FROM (VALUES ('channels', 'INSERT'), ('channels', 'UPDATE'), ('corrupt', 'INSERT'), ('history', 'INSERT'),
            ('history', 'DELETE'), ('members', 'INSERT'), ('members', 'UPDATE'), ('members', 'DELETE'), ('shards', 'UPDATE')) AS needs (name, may)
        WHERE NOT has_table_privilege('dirigent.' || needs.name, needs.may))";
    let rows = client.query_typed(sql, &[]).await.map_err(failed)?;
    let Some(row) = rows.first() else { return Ok(None) };
    if let Some(table) = row.get::<_, Option<String>>(1) {
        let why = format!(
            "the role may not write the table dirigent.{table}: grant it INSERT, UPDATE and DELETE on all tables of the schema"
        );
        return Err(unfit(&server.address, why).into());
    }
    let is_read_only: bool = row.get(0);
    Ok(is_read_only.then(PostgresProblem::read_only))
}

/// Returns the cluster of the tables, if it is not the one in the options.
async fn same_cluster(server: &Server, client: &Client) -> Result<Option<String>, Error> {
    let rows = client.query_typed("SELECT name, shards, ttl_ms FROM dirigent.cluster", &[]).await?;
    let Some(row) = rows.first() else {
        return Ok(Some("none".to_owned()));
    };
    let (name, shards, ttl): (String, i32, i64) = (row.get(0), row.get(1), row.get(2));
    let is_same =
        name == server.cluster && shards == i32::from(server.shards) && ttl == ttl_ms(server);
    Ok((!is_same).then(|| format!("{name}, with {shards} shards and a TTL of {ttl} ms")))
}

fn ttl_ms(server: &Server) -> i64 {
    i64::try_from(server.terms.ttl.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::is_too_old;

    #[test]
    fn servers_before_postgresql_13_are_refused() {
        assert!(
            is_too_old(90_624)
                && is_too_old(120_022)
                && !is_too_old(130_000)
                && !is_too_old(180_001)
        );
    }
}
