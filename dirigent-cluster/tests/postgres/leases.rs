//! Several stores on one database: who acts for which channels.

use std::time::Duration;

use dirigent::ports::{Ownership, Standing};
use dirigent::store::{ChannelStore, CommitError};
use dirigent::{ChannelId, Clock, SystemClock};
use dirigent_cluster::{PostgresProblem, PostgresStore};

use crate::postgres::place::{Opened, Place};
use crate::shared::commits::{HERE, fact, request, stored};

/// Waits until this is so; a minute at most.
pub(crate) async fn until(what: &str, is_so: impl Fn() -> bool) -> Duration {
    let clock = SystemClock::new();
    let start = clock.now();
    while !is_so() {
        assert!(clock.now().since(start) < Duration::from_secs(60), "{what}: not within a minute");
        clock.sleep_until(clock.now() + Duration::from_millis(5)).await;
    }
    clock.now().since(start)
}

/// The revision that is stored, as soon as the store answers; within a minute.
pub(crate) async fn found(store: &PostgresStore) -> u64 {
    let clock = SystemClock::new();
    let start = clock.now();
    loop {
        match store.load(HERE).await {
            Ok(found) => return found.map_or(0, |found| found.revision.get()),
            Err(error) => {
                assert!(clock.now().since(start) < Duration::from_secs(60), "no answer: {error}");
            }
        }
    }
}

/// Has a store told what changed, as the driver does.
pub(crate) fn follow(store: &PostgresStore) {
    let store = store.clone();
    tokio::spawn(async move {
        loop {
            store.changed().await;
        }
    });
}

async fn joined(place: &Place) -> Opened {
    let opened = Opened::new(place.options()).await;
    follow(&opened.store);
    opened
}

fn channels(count: u64) -> impl Iterator<Item = ChannelId> {
    (0..count).map(|number| ChannelId::new(100_000_000_000_000_000 + (number << 22)))
}

/// R178: whom to ask for a channel. A process without a name is asked nothing.
#[tokio::test(flavor = "multi_thread")]
async fn each_named_process_knows_by_name_which_one_acts_for_a_channel() {
    let Some(place) = Place::new() else { return };
    let first = Opened::new(place.options().process("bot-1")).await;
    let second = Opened::new(place.options().process("bot-2")).await;
    let nameless = joined(&place).await;
    follow(&first.store);
    follow(&second.store);
    let names = |store: &PostgresStore| {
        store.processes().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    until("each knows both", || {
        [&first, &second].iter().all(|opened| names(&opened.store) == ["bot-1", "bot-2"])
    })
    .await;
    assert!(names(&nameless.store).is_empty());
    let is_true = |channel: ChannelId| {
        let owners = [&first, &second].map(|opened| opened.store.owner(channel));
        let of = |opened: &Opened, name: &str| {
            let holds = opened.store.standing(channel) != Standing::Elsewhere;
            owners.iter().all(|owner| (owner.as_deref() == Some(name)) == holds)
        };
        of(&first, "bot-1") && of(&second, "bot-2")
    };
    until("it is so of every channel", || channels(200).all(is_true)).await;
    first.store.resign();
    first.store.close().await;
    until("one is gone", || names(&second.store) == ["bot-2"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_share_the_shards_and_hand_them_over_when_one_comes_or_goes() {
    let Some(place) = Place::new() else { return };
    let first = joined(&place).await;
    until("alone", || first.store.share() == (8, 1)).await;
    fact(&first.store, HERE, 0, 1).await;
    let second = joined(&place).await;
    until("shared by two", || first.store.share() == (4, 2) && second.store.share() == (4, 2))
        .await;
    for channel in channels(200) {
        let both = [&first.store, &second.store].map(|store| store.standing(channel));
        assert!(both.contains(&Standing::Elsewhere), "{both:?}");
    }
    let third = joined(&place).await;
    let shares = || [&first, &second, &third].map(|opened| opened.store.share().0);
    until("shared by three", || {
        shares().iter().all(|share| (2..=3).contains(share)) && shares().iter().sum::<usize>() == 8
    })
    .await;
    // In order, what one leaves is the others' at once.
    first.close().await;
    let took = until("taken over", || second.store.share().0 + third.store.share().0 == 8).await;
    assert!(took < Duration::from_millis(1_500), "{took:?}");
    second.close().await;
    until("alone again", || third.store.share() == (8, 1)).await;
    assert_eq!(stored(&third.store, HERE).await, Some((1, 1)));
    fact(&third.store, HERE, 1, 2).await;
    third.close().await;
    assert_eq!(place.sql("SELECT count(*) FROM dirigent.shards WHERE owner IS NULL"), "8");
    assert_eq!(place.sql("SELECT count(*) FROM dirigent.members"), "0");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_killed_process_held_is_taken_over_within_the_ttl_and_a_fifth() {
    let Some(place) = Place::new() else { return };
    let first = joined(&place).await;
    until("alone", || first.store.share() == (8, 1)).await;
    fact(&first.store, HERE, 0, 1).await;
    let second = joined(&place).await;
    until("shared", || second.store.share() == (4, 2)).await;
    let (store, start) = (first.store.clone(), SystemClock::new().now());
    first.kill().await;
    assert_eq!(store.standing(HERE), Standing::Elsewhere);
    assert!(store.load(HERE).await.is_err(), "a store without its link answers");
    until("taken over", || second.store.standing(HERE) == Standing::Held).await;
    let took = SystemClock::new().now().since(start);
    assert!(took < Duration::from_millis(2_600), "{took:?}");
    fact(&second.store, HERE, 1, 2).await;
    second.close().await;
}

/// By the clock of the database: a shard that is taken expires one TTL after it was taken.
#[tokio::test(flavor = "multi_thread")]
async fn a_lease_is_taken_over_when_it_has_expired_and_not_earlier() {
    let Some(place) = Place::new() else { return };
    place.open().await.close().await;
    place.sql("UPDATE dirigent.shards SET owner = 7, expires_at = clock_timestamp() + interval '2 seconds'");
    let expired = place.sql("SELECT max(expires_at) FROM dirigent.shards");
    let opened = joined(&place).await;
    until("taken", || opened.store.share().0 == 8).await;
    let ttl = Place::TTL.as_millis();
    let early = format!(
        "SELECT count(*) FROM dirigent.shards WHERE expires_at - {ttl} * interval '1 millisecond' < '{expired}'"
    );
    assert_eq!(place.sql(&early), "0");
    opened.close().await;
}

/// The others are called: they do not wait for their next look, which is a minute away here.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_process_gives_back_is_taken_at_once() {
    let Some(place) = Place::new() else { return };
    let options = || place.options().ttl(Duration::from_secs(600));
    let first = Opened::new(options()).await;
    follow(&first.store);
    until("alone", || first.store.share() == (8, 1)).await;
    let second = Opened::new(options()).await;
    follow(&second.store);
    let both_know = || first.store.share().1 == 2 && second.store.share() == (0, 2);
    let took = until("known", both_know).await;
    assert!(took < Duration::from_secs(10), "{took:?}");
    first.close().await;
    let took = until("taken", || second.store.share() == (8, 1)).await;
    assert!(took < Duration::from_secs(5), "{took:?}");
    second.close().await;
}

/// A commit that the database is slow with keeps its shard until it is over: it is there before the next owner is.
#[tokio::test(flavor = "multi_thread")]
async fn a_take_over_waits_for_the_commit_that_is_under_way() {
    let Some(place) = Place::new() else { return };
    let opened = place.open().await;
    fact(&opened.store, HERE, 0, 1).await;
    place.sql(
        "CREATE FUNCTION slow() RETURNS trigger AS $$ BEGIN PERFORM pg_sleep(0.8); RETURN NEW; END $$ LANGUAGE plpgsql;
         CREATE TRIGGER slow BEFORE UPDATE ON dirigent.channels FOR EACH ROW EXECUTE FUNCTION slow()",
    );
    let taking = tokio::task::spawn_blocking({
        let place = place.clone();
        move || {
            let begun = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' \
                AND datname = current_database()";
            while place.sql(begun) == "0" {}
            place.sql("UPDATE dirigent.shards SET owner = 1, epoch = epoch + 1");
            place.sql("SELECT revision FROM dirigent.channels")
        }
    });
    let made = opened.store.commit(request(HERE, 1, 2)).await;
    assert_eq!(taking.await.unwrap(), "2", "the record changed after the take-over");
    assert_eq!(made.unwrap().get(), 2);
    assert!(matches!(opened.store.commit(request(HERE, 2, 3)).await, Err(CommitError::Elsewhere)));
    opened.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn leases_are_renewed_while_more_commits_wait_than_are_ever_done() {
    let Some(place) = Place::new() else { return };
    let opened = place.open().await;
    follow(&opened.store);
    let clock = SystemClock::new();
    let end = clock.now() + 2 * Place::TTL;
    // One statement makes at most 1,024 of them: others wait at all times.
    let commits = channels(2_500).map(|channel| {
        let (store, clock) = (&opened.store, &clock);
        async move {
            for revision in 0.. {
                if clock.now() > end {
                    return;
                }
                store.commit(request(channel, revision, 1)).await.unwrap();
                assert_ne!(store.standing(channel), Standing::Lapsed);
            }
        }
    });
    futures_util::future::join_all(commits).await;
    opened.close().await;
}

/// Renewing and giving back name owner and epoch: where either has changed, they change nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_lost_its_shards_neither_renews_nor_gives_back_what_is_anothers() {
    for change in ["owner = 1", "owner = 1, epoch = epoch + 1", "epoch = epoch + 1"] {
        let Some(place) = Place::new() else { return };
        let opened = Opened::new(place.options().ttl(Duration::from_secs(600))).await;
        follow(&opened.store);
        until("alone", || opened.store.share() == (8, 1)).await;
        let hour = "expires_at = clock_timestamp() + interval '1 hour'";
        place.sql(&format!("UPDATE dirigent.shards SET {change}, {hour}"));
        let rows = "SELECT string_agg(format('%s %s %s', owner, epoch, expires_at), ',' ORDER BY shard) \
            FROM dirigent.shards";
        let before = place.sql(rows);
        // Its last beat gives back what it believes to have.
        opened.close().await;
        assert_eq!(place.sql(rows), before, "{change}");
    }
}

/// As above, with the beats of a process that goes on.
#[tokio::test(flavor = "multi_thread")]
async fn a_renewal_leaves_alone_what_has_another_owner() {
    for change in ["owner = 1", "owner = 1, epoch = epoch + 1"] {
        let Some(place) = Place::new() else { return };
        let opened = place.open().await;
        follow(&opened.store);
        let hour = "expires_at = clock_timestamp() + interval '1 hour'";
        place.sql(&format!("UPDATE dirigent.shards SET {change}, {hour}"));
        let rows = "SELECT string_agg(format('%s %s %s', owner, epoch, expires_at), ',' ORDER BY shard) \
            FROM dirigent.shards";
        let before = place.sql(rows);
        until("noticed", || opened.store.share().0 == 0).await;
        assert_eq!(opened.store.standing(HERE), Standing::Elsewhere);
        assert_eq!(place.sql(rows), before, "{change}");
        opened.close().await;
    }
}

/// A term that this process does not know of is not renewed, though it is its own: it is taken anew, and told.
#[tokio::test(flavor = "multi_thread")]
async fn a_renewal_leaves_alone_what_has_another_epoch() {
    let Some(place) = Place::new() else { return };
    let opened = place.open().await;
    follow(&opened.store);
    // One transaction: nothing is renewed between the two.
    place.sql(
        "CREATE TABLE renewed (shard integer);
         CREATE FUNCTION note() RETURNS trigger AS $$ BEGIN INSERT INTO renewed VALUES (NEW.shard); RETURN NULL; END $$
             LANGUAGE plpgsql;
         CREATE TRIGGER note AFTER UPDATE ON dirigent.shards FOR EACH ROW
             WHEN (OLD.epoch = 100 AND NEW.epoch = 100) EXECUTE FUNCTION note();
         UPDATE dirigent.shards SET epoch = 100",
    );
    let taken_anew = || place.sql("SELECT min(epoch) FROM dirigent.shards") == "101";
    until("taken anew", taken_anew).await;
    assert_eq!(place.sql("SELECT count(*) FROM renewed"), "0");
    until("held again", || opened.store.standing(HERE) == Standing::Held).await;
    opened.close().await;
}

/// A renewal may have to wait for a row; the TTL begins when it has it.
#[tokio::test(flavor = "multi_thread")]
async fn a_lease_expires_one_ttl_after_the_renewal_got_its_row() {
    const TTL: Duration = Duration::from_secs(6);
    let Some(place) = Place::new() else { return };
    let opened = place.open_as(place.options().ttl(TTL)).await;
    follow(&opened.store);
    let least = "SELECT min(expires_at) FROM dirigent.shards";
    // Holds the rows until half a second after the renewal has begun to wait for them.
    let hold = "DO $$ BEGIN
            PERFORM 1 FROM dirigent.shards FOR UPDATE;
            WHILE NOT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid)))
                LOOP PERFORM pg_sleep(0.01); END LOOP;
            PERFORM pg_sleep(0.5);
        END $$;
        SELECT clock_timestamp(), min(expires_at) FROM dirigent.shards";
    let answer = place.sql(hold);
    let (freed, before) = answer.split_once('|').unwrap();
    until("renewed", || place.sql(least) != before).await;
    let rest = format!(
        "SELECT min(expires_at) >= '{freed}'::timestamptz + {} * interval '1 second' FROM dirigent.shards",
        TTL.as_secs()
    );
    assert_eq!(place.sql(&rest), "t");
    opened.close().await;
}

/// A process that ended without giving back leaves its row among the members.
#[tokio::test(flavor = "multi_thread")]
async fn a_member_that_is_gone_counts_for_nothing_and_its_row_is_removed() {
    let Some(place) = Place::new() else { return };
    let opened = place.open().await;
    follow(&opened.store);
    // As long as the trigger is there the row cannot be removed.
    place.sql(
        "CREATE FUNCTION kept() RETURNS trigger AS $$ BEGIN RETURN NULL; END $$ LANGUAGE plpgsql;
         CREATE TRIGGER kept BEFORE DELETE ON dirigent.members FOR EACH ROW WHEN (OLD.process = 7)
             EXECUTE FUNCTION kept();
         INSERT INTO dirigent.members VALUES (7, clock_timestamp() - interval '1 second')",
    );
    let last_beat = || place.sql("SELECT max(expires_at) FROM dirigent.members");
    for _ in 0..3 {
        let before = last_beat();
        until("the next beat", || last_beat() != before).await;
        assert_eq!(opened.store.share(), (8, 1));
    }
    let gone = "SELECT count(*) FROM dirigent.members WHERE process = 7";
    assert_eq!(place.sql(gone), "1");
    place.sql("DROP TRIGGER kept ON dirigent.members");
    until("removed", || place.sql(gone) == "0").await;
    opened.close().await;
}

/// Whoever resigns starts nothing new, and still stores what is under way.
#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_resigned_is_quiet_and_stores_until_it_is_closed() {
    let Some(place) = Place::new() else { return };
    let opened = joined(&place).await;
    until("alone", || opened.store.standing(HERE) == Standing::Held).await;
    opened.store.resign();
    assert_eq!(opened.store.standing(HERE), Standing::Quiet);
    until("known", || place.sql("SELECT count(*) FROM dirigent.members") == "0").await;
    fact(&opened.store, HERE, 0, 1).await;
    let store = opened.store.clone();
    opened.close().await;
    assert!(matches!(store.commit(request(HERE, 1, 2)).await, Err(CommitError::Elsewhere)));
}

/// It hears its own calls, too.
#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_resigned_does_not_call_itself_without_end() {
    let Some(place) = Place::new() else { return };
    let opened = joined(&place).await;
    until("alone", || opened.store.standing(HERE) == Standing::Held).await;
    opened.store.resign();
    until("known", || place.sql("SELECT count(*) FROM dirigent.members") == "0").await;
    // Each look removes members that are gone, also where there are none.
    place.sql(
        "CREATE TABLE looks (at timestamptz);
         CREATE FUNCTION note() RETURNS trigger AS $$ BEGIN INSERT INTO looks VALUES (clock_timestamp()); RETURN NULL; END $$
             LANGUAGE plpgsql;
         CREATE TRIGGER note AFTER DELETE ON dirigent.members FOR EACH STATEMENT EXECUTE FUNCTION note()",
    );
    let renewed = || place.sql("SELECT max(expires_at) FROM dirigent.shards");
    for _ in 0..2 {
        let before = renewed();
        until("renewed", || renewed() != before).await;
    }
    let looks: u32 = place.sql("SELECT count(*) FROM looks").parse().unwrap();
    assert!((1..30).contains(&looks), "{looks} looks between two renewals");
    opened.close().await;
}

/// Each call has the leases looked at; what waits to be written is written in between.
#[tokio::test(flavor = "multi_thread")]
async fn commits_are_made_while_others_call_without_end() {
    let Some(place) = Place::new() else { return };
    let opened = joined(&place).await;
    until("alone", || opened.store.standing(HERE) == Standing::Held).await;
    // A look takes longer than it takes until the next call.
    place.sql(
        "CREATE TABLE calls (many integer);
         CREATE FUNCTION slow() RETURNS trigger AS $$ BEGIN PERFORM pg_sleep(0.05); RETURN NULL; END $$ LANGUAGE plpgsql;
         CREATE TRIGGER slow BEFORE INSERT ON dirigent.members FOR EACH STATEMENT EXECUTE FUNCTION slow()",
    );
    let (server, address) = (place.server, place.address.clone());
    let calls = tokio::task::spawn_blocking(move || {
        // A number of calls instead of a minute was over too soon where other tests take the processors.
        let call = "DO $$ DECLARE n integer := 0; begun timestamptz := clock_timestamp(); BEGIN LOOP
                n := n + 1;
                PERFORM pg_notify('dirigent', 'look');
                IF n = 100 THEN INSERT INTO calls VALUES (n); END IF;
                COMMIT;
                EXIT WHEN EXISTS (SELECT 1 FROM calls WHERE many = 0) OR clock_timestamp() - begun > interval '1 minute';
            END LOOP; END $$";
        server.sql(&address, call).unwrap()
    });
    until("called", || place.sql("SELECT count(*) FROM calls") == "1").await;
    for revision in 0..3 {
        fact(&opened.store, HERE, revision, revision + 1).await;
    }
    assert!(!calls.is_finished(), "they were made only when the calls had ended");
    place.sql("INSERT INTO calls VALUES (0)");
    calls.await.unwrap();
    opened.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_driver_is_told_which_channels_came_before_they_are_held() {
    let Some(place) = Place::new() else { return };
    let first = place.open().await;
    for channel in channels(200) {
        first.store.commit(request(channel, 0, 1)).await.unwrap();
    }
    let second = Opened::new(place.options()).await;
    follow(&first.store);
    until("handed over", || second.store.share().0 == 4).await;
    assert!(channels(200).all(|channel| second.store.standing(channel) == Standing::Elsewhere));
    let mut came = Vec::new();
    while channels(200).filter(|channel| second.store.standing(*channel) == Standing::Held).count()
        < 50
    {
        came.extend(second.store.changed().await);
    }
    let held: Vec<_> =
        channels(200).filter(|channel| second.store.standing(*channel) == Standing::Held).collect();
    came.sort_unstable();
    assert_eq!(came, held);
    first.close().await;
    second.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_give_an_agent_one_key_and_an_account_one_owner() {
    use dirigent::IdentityStore;
    use dirigent::ports::Identity;
    let Some(place) = Place::new() else { return };
    let (first, second) = (joined(&place).await, joined(&place).await);
    let names: Vec<String> = (0..40).map(|number| format!("agent-{number}")).collect();
    let adds = names.iter().flat_map(|name| {
        [&first.store, &second.store].map(|store| store.add_agent(name.as_str().into()))
    });
    let keys = futures_util::future::try_join_all(adds).await.unwrap();
    let mut firsts = Vec::new();
    for pair in keys.chunks(2) {
        assert_eq!(pair[0], pair[1]);
        firsts.push(pair[0].get());
    }
    firsts.sort_unstable();
    assert_eq!(firsts, (0..40).collect::<Vec<_>>());
    let identity = |agent: &str| Identity {
        discord_user_id: dirigent::UserId::new(123_456_789_012_345_678),
        agent_id: agent.into(),
        agent_name: agent.to_owned(),
    };
    let (one, two) = tokio::join!(
        first.store.register(identity("agent-1")),
        second.store.register(identity("agent-2")),
    );
    assert_eq!(usize::from(one.is_ok()) + usize::from(two.is_ok()), 1, "{one:?} {two:?}");
    assert_eq!(first.store.all().await.unwrap(), second.store.all().await.unwrap());
    first.close().await;
    second.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn notifications_that_arrive_are_no_problem() {
    let Some(place) = Place::new() else { return };
    let opened = joined(&place).await;
    until("alone", || opened.store.share() == (8, 1)).await;
    fact(&opened.store, HERE, 0, 1).await;
    assert!(!opened.store.problems().contains(&PostgresProblem::Silent));
    opened.close().await;
}
