//! A heartbeat as one statement.

use std::time::Duration;

use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error};

use super::owners::Owners;
use crate::lease::{
    AheadRow, Epoch, HeldShard, LeaseAnswer, LeaseHeartbeat, LeaseRow, SameName, Shard, Terms,
};

/// One atomic step. It locks rows before it reads the time, and skips rows that another process has locked. It takes no
/// shard that it holds or gives back here, because one statement must not change a row twice. A row that expires too
/// late is named by the transaction that wrote it, so a renewed row is another one.
///
/// A process of this name counts once it has renewed after this one began, as a later one has with its first heartbeat.
/// So the row that a killed process left does not count, although it stays until it expires.
const BEAT: &str = "
WITH member AS (
    INSERT INTO dirigent.members AS m (process, expires_at, name)
    SELECT $1, clock_timestamp() + $2 * interval '1 millisecond', $10 WHERE $3
    ON CONFLICT (process) DO UPDATE SET expires_at = excluded.expires_at, since = least(m.since, excluded.since)
    RETURNING m.process, m.since
), gone AS (
    DELETE FROM dirigent.members
    WHERE (process = $1 AND NOT $3) OR (process <> $1 AND (expires_at < clock_timestamp()
        OR (process, xmin::text::int8) IN (SELECT key, version FROM unnest($11::bool[], $12::int8[], $13::int8[], $14::bool[]) AS watched (is_shard, key, version, is_over) WHERE is_over AND NOT is_shard)
    ))
    RETURNING process
), mine AS MATERIALIZED (
    SELECT s.shard FROM dirigent.shards s
    JOIN unnest($4::int4[], $5::int8[]) AS held (shard, epoch) ON s.shard = held.shard AND s.epoch = held.epoch
    WHERE $6 AND s.owner = $1 ORDER BY s.shard FOR UPDATE OF s
), renewed AS (
    UPDATE dirigent.shards s SET expires_at = clock_timestamp() + $2 * interval '1 millisecond'
    FROM mine WHERE s.shard = mine.shard RETURNING s.shard, s.epoch
), released AS (
    UPDATE dirigent.shards s SET owner = NULL, expires_at = clock_timestamp()
    FROM unnest($7::int4[], $8::int8[]) AS back (shard, epoch)
    WHERE s.shard = back.shard AND s.epoch = back.epoch AND s.owner = $1 RETURNING s.shard
), free AS MATERIALIZED (
    SELECT shard FROM dirigent.shards
    WHERE (owner IS NULL OR owner = $1 OR expires_at < clock_timestamp()
            OR (shard, xmin::text::int8) IN (SELECT key, version FROM unnest($11::bool[], $12::int8[], $13::int8[], $14::bool[]) AS watched (is_shard, key, version, is_over) WHERE is_over AND is_shard)
        )
        AND shard <> ALL ($4::int4[] || $7::int4[])
    ORDER BY shard LIMIT $9 FOR UPDATE SKIP LOCKED
), taken AS (
    UPDATE dirigent.shards s
    SET owner = $1, epoch = s.epoch + 1, expires_at = clock_timestamp() + $2 * interval '1 millisecond'
    FROM free WHERE s.shard = free.shard RETURNING s.shard, s.epoch
)
SELECT 'renewed' AS what, shard, epoch, 0::int8 AS version FROM renewed
UNION ALL SELECT 'taken', shard, epoch, 0 FROM taken
UNION ALL SELECT 'others', count(*)::int4, count(*) FILTER (WHERE process < $1), 0 FROM dirigent.members
    WHERE process <> $1 AND expires_at >= clock_timestamp()
        AND (process, xmin::text::int8) NOT IN (SELECT key, version FROM unnest($11::bool[], $12::int8[], $13::int8[], $14::bool[]) AS watched (is_shard, key, version, is_over) WHERE is_over AND NOT is_shard)
UNION ALL SELECT 'registry', 0, registry, 0 FROM dirigent.cluster
UNION ALL SELECT CASE WHEN m.since < o.since OR (m.since = o.since AND m.process < o.process)
        THEN 'later' ELSE 'earlier' END, 0, 0, 0
    FROM dirigent.members o LEFT JOIN member m ON true
    WHERE o.name = $10 AND $10 <> '' AND o.process <> $1 AND o.expires_at >= clock_timestamp()
        AND (m.since IS NULL OR o.expires_at > m.since + $2 * interval '1 millisecond')
        AND o.expires_at <= clock_timestamp() + $15 * interval '1 millisecond'
        AND (o.process, o.xmin::text::int8) NOT IN (SELECT key, version FROM unnest($11::bool[], $12::int8[], $13::int8[], $14::bool[]) AS watched (is_shard, key, version, is_over) WHERE NOT is_shard)
UNION ALL SELECT 'shard ahead', shard, 0, xmin::text::int8 FROM dirigent.shards
    WHERE owner <> $1 AND (expires_at > clock_timestamp() + $15 * interval '1 millisecond'
        OR (shard, xmin::text::int8) IN (SELECT key, version FROM unnest($11::bool[], $12::int8[], $13::int8[], $14::bool[]) AS watched (is_shard, key, version, is_over) WHERE is_shard)
    )
UNION ALL SELECT 'member ahead', 0, process, xmin::text::int8 FROM dirigent.members
    WHERE process <> $1 AND (expires_at > clock_timestamp() + $15 * interval '1 millisecond'
        OR (process, xmin::text::int8) IN (SELECT key, version FROM unnest($11::bool[], $12::int8[], $13::int8[], $14::bool[]) AS watched (is_shard, key, version, is_over) WHERE NOT is_shard)
    )";

/// Returns the statement. Watched rows are in it only if there are any, because planning them costs a third of a look.
fn statement(watches: bool) -> String {
    let lines = BEAT.split_inclusive('\n');
    lines.filter(|line| watches || !line.contains("AS watched (")).collect()
}

/// Tells the other processes to look.
const CALL: &str = "SELECT pg_notify('dirigent', 'look')";

/// The answer of the tables.
#[derive(Default)]
pub(super) struct Told {
    /// The answer about leases.
    pub(super) answer: LeaseAnswer,
    /// The number that each change of the registry raises.
    pub(super) registry: i64,
}

/// Sends the heartbeat. `process` is the random number of this start, and `name` may be empty.
pub(super) async fn ask(
    client: &Client,
    (process, name): (i64, &str),
    terms: &Terms,
    beat: &LeaseHeartbeat,
) -> Result<Told, Error> {
    let millis = |time: Duration| time.as_secs_f64() * 1_000.0;
    let (ttl, patience) = (millis(terms.ttl), millis(terms.patience()));
    let ahead = AheadColumns::of(beat);
    let (held, held_epochs) = columns(&beat.held);
    let (back, back_epochs) = columns(&beat.release);
    let take = i64::from(beat.take);
    let rows = client
        .query_typed(
            &statement(!beat.ahead.is_empty()),
            &[
                (&process, Type::INT8),
                (&ttl, Type::FLOAT8),
                (&beat.is_member, Type::BOOL),
                (&held, Type::INT4_ARRAY),
                (&held_epochs, Type::INT8_ARRAY),
                (&beat.renews, Type::BOOL),
                (&back, Type::INT4_ARRAY),
                (&back_epochs, Type::INT8_ARRAY),
                (&take, Type::INT8),
                (&name, Type::TEXT),
                (&ahead.are_shards, Type::BOOL_ARRAY),
                (&ahead.keys, Type::INT8_ARRAY),
                (&ahead.versions, Type::INT8_ARRAY),
                (&ahead.are_over, Type::BOOL_ARRAY),
                (&patience, Type::FLOAT8),
            ],
        )
        .await?;
    let mut told = Told::default();
    let answer = &mut told.answer;
    answer.members = u16::from(beat.is_member);
    for row in rows {
        let (what, number, epoch): (&str, i32, i64) = (row.get(0), row.get(1), row.get(2));
        let number = u16::try_from(number).unwrap_or(u16::MAX);
        let held =
            HeldShard { shard: Shard::new(number), epoch: Epoch::new(epoch.cast_unsigned()) };
        match what {
            "renewed" => answer.renewed.push(held),
            "taken" => answer.taken.push(held),
            "registry" => told.registry = epoch,
            "earlier" => answer.namesake = Some(SameName::Earlier),
            "later" => {
                answer.namesake.get_or_insert(SameName::Later);
            }
            "shard ahead" => answer
                .ahead
                .push(AheadRow { row: LeaseRow::Shard(Shard::new(number)), version: row.get(3) }),
            "member ahead" => {
                answer.ahead.push(AheadRow { row: LeaseRow::Member(epoch), version: row.get(3) });
            }
            _ => {
                answer.members = answer.members.saturating_add(number);
                answer.rank = u16::try_from(epoch).unwrap_or(u16::MAX);
            }
        }
    }
    if beat.is_news() {
        client.query_typed(CALL, &[]).await?;
    }
    Ok(told)
}

/// The names of the shards' holders, and of all processes.
const OWNERS: &str = "
SELECT s.shard, m.name FROM dirigent.shards s JOIN dirigent.members m ON m.process = s.owner
WHERE s.expires_at >= clock_timestamp() AND m.name <> ''
UNION ALL SELECT -1, name FROM dirigent.members WHERE expires_at >= clock_timestamp() AND name <> ''";

pub(super) async fn owners(client: &Client) -> Result<Owners, Error> {
    let mut owners = Owners::default();
    for row in client.query_typed(OWNERS, &[]).await? {
        let (shard, name): (i32, &str) = (row.get(0), row.get(1));
        match u16::try_from(shard) {
            Ok(shard) => owners.holds(Shard::new(shard), name),
            Err(_) => owners.is_here(name),
        }
    }
    Ok(owners)
}

/// The watched rows, by columns.
#[derive(Default)]
struct AheadColumns {
    are_shards: Vec<bool>,
    keys: Vec<i64>,
    versions: Vec<i64>,
    are_over: Vec<bool>,
}

impl AheadColumns {
    fn of(beat: &LeaseHeartbeat) -> Self {
        let mut columns = Self::default();
        for ahead in &beat.ahead {
            let (is_shard, key) = match ahead.row {
                LeaseRow::Shard(shard) => (true, i64::from(shard.get())),
                LeaseRow::Member(process) => (false, process),
            };
            columns.are_shards.push(is_shard);
            columns.keys.push(key);
            columns.versions.push(ahead.version);
            columns.are_over.push(beat.expired.contains(ahead));
        }
        columns
    }
}

fn columns(held: &[HeldShard]) -> (Vec<i32>, Vec<i64>) {
    held.iter().map(|held| (i32::from(held.shard.get()), held.epoch.get().cast_signed())).unzip()
}
