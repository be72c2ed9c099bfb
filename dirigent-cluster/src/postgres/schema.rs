//! The tables: made, brought to this version, and checked.

use dirigent_store::{Action, BadFile, OpenError, StoreError};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error};

use super::connect::Server;
use super::refusal::refused;

/// The version of the tables that the first migration makes. Records of versions before have other names for some fields, so their
/// tables are refused.
const FIRST: usize = 5;

/// Each brings the tables to the next version; the first makes them. One that was released is never changed.
///
/// Whatever changes the registry raises its number: also a process of an older version, and a person. A member has the time since
/// when it is one, because of two of one name the later one waits.
///
/// Ids and revisions stand there as integers with a sign: one from 2^63 on is negative. Names stand as JSON, since a text may
/// not hold U+0000.
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

/// Two processes that make the tables at once do it one after the other.
const LOCK: i64 = 0x6469_7267;

/// Makes the tables, or checks them.
pub(super) async fn prepare(server: &Server) -> Result<(), OpenError> {
    let mut session = server.connect().await?;
    let refused = |error: Error| refused(&server.address, Action::Read, &error);
    tokio::select! {
        biased;
        prepared = migrate(server, &mut session.client) => {
            prepared.map_err(refused)?.map_err(|bad| StoreError::BadFile {
                path: server.address.clone(),
                source: bad,
            })?;
        }
        // Whatever was asked is answered with an error then.
        () = &mut session.pump => return Err(super::refusal::away(&server.address, Action::Read).into()),
    }
    tokio::select! {
        biased;
        found = same_cluster(server, &session.client) => match found.map_err(refused)? {
            None => Ok(()),
            Some(found) => Err(OpenError::OtherCluster { path: server.address.clone(), found }),
        },
        () = &mut session.pump => Err(super::refusal::away(&server.address, Action::Read).into()),
    }
}

/// Brings the tables to this version.
async fn migrate(server: &Server, client: &mut Client) -> Result<Result<(), BadFile>, Error> {
    let transaction = client.transaction().await?;
    let lock = "SELECT pg_advisory_xact_lock($1)";
    transaction.query_typed(lock, &[(&LOCK, Type::INT8)]).await?;
    let found = "SELECT to_regclass('dirigent.version')::text";
    let row = transaction.query_typed(found, &[]).await?;
    let exists = row.first().and_then(|row| row.get::<_, Option<String>>(0)).is_some();
    let version = if exists {
        let rows = transaction.query_typed("SELECT number FROM dirigent.version", &[]).await?;
        rows.first().map_or(0, |row| row.get::<_, i32>(0))
    } else {
        0
    };
    let version = usize::try_from(version).unwrap_or_default();
    let newest = FIRST + MIGRATIONS.len() - 1;
    if version == newest {
        return Ok(Ok(()));
    }
    if exists && (version < FIRST || version > newest) {
        let number = |version| u64::try_from(version).unwrap_or(u64::MAX);
        return Ok(Err(BadFile::OtherVersion { found: number(version), reads: number(newest) }));
    }
    let done = if exists { version + 1 - FIRST } else { 0 };
    if !exists {
        let first = "CREATE SCHEMA IF NOT EXISTS dirigent;
            CREATE TABLE dirigent.version (number integer NOT NULL);
            INSERT INTO dirigent.version VALUES (0);";
        transaction.batch_execute(first).await?;
    }
    for migration in MIGRATIONS.iter().skip(done) {
        transaction.batch_execute(migration).await?;
    }
    let newest = i32::try_from(newest).unwrap_or(i32::MAX);
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
    transaction.commit().await.map(Ok)
}

/// What the tables are of, where that is not what the options say.
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
