//! Beats and commits that are cut off or delayed on their way, there or back: two processes never trust one lease, and what comes
//! too late changes nothing.

mod line;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dirigent::ports::{Certainty, Ownership, Standing};
use dirigent::store::{ChannelStore, CommitError};
use dirigent::{ChannelId, Clock, SystemClock};
use dirigent_cluster::PostgresStore;
use dirigent_cluster::lease::{Shard, shard_of};

use self::line::{BEAT, COMMIT, Fault, Line};
use crate::postgres::leases::{follow, until};
use crate::postgres::place::{Opened, Place};
use crate::shared::commits::{fact, request, stored, turn};

/// A channel of the first shard, which stays where it is when a second process comes.
const HERE: ChannelId = ChannelId::new(100_000_000_000_000_006);

const EPOCHS: &str = "SELECT string_agg(epoch::text, ' ' ORDER BY shard) FROM dirigent.shards";

/// One store behind a line, which holds all shards first, and one without.
struct Two {
    place: Place,
    line: Line,
    far: Opened,
    near: Opened,
    watch: tokio::task::JoinHandle<()>,
    both: Arc<AtomicBool>,
}

fn is_trusting(store: &PostgresStore) -> bool {
    store.standing(HERE) <= Standing::Quiet
}

impl Two {
    async fn start() -> Option<Self> {
        assert_eq!(shard_of(HERE, 8), Shard::new(0));
        let place = Place::new()?;
        let line = Line::to(place.server.folder());
        let (_, name) = place.address.rsplit_once("dbname=").unwrap();
        let address = line.address(name);
        let behind = Place { address, ..place.clone() };
        let far = Opened::new(behind.options()).await;
        follow(&far.store);
        until("alone", || far.store.share() == (8, 1)).await;
        until("held", || far.store.standing(HERE) == Standing::Held).await;
        fact(&far.store, HERE, 0, 1).await;
        let near = Opened::new(place.options()).await;
        follow(&near.store);
        let both_in = || far.store.share() == (4, 2) && near.store.share() == (4, 2);
        until("shared", both_in).await;
        assert_eq!((far.store.taken(), near.store.taken()), (8, 4));
        until("held", || far.store.standing(HERE) == Standing::Held).await;
        let both = Arc::<AtomicBool>::default();
        let watch = tokio::spawn(watch(far.store.clone(), near.store.clone(), Arc::clone(&both)));
        Some(Self { place, line, far, near, watch, both })
    }

    async fn end(self) {
        self.watch.abort();
        assert!(!self.both.load(Ordering::Relaxed), "two processes trusted one lease");
        self.far.close().await;
        self.near.close().await;
    }
}

/// Looks whether both trust the lease of one shard.
async fn watch(far: PostgresStore, near: PostgresStore, both: Arc<AtomicBool>) {
    let clock = SystemClock::new();
    loop {
        // It was so all the time while the other was looked at.
        if is_trusting(&far) && is_trusting(&near) && is_trusting(&far) {
            both.store(true, Ordering::Relaxed);
        }
        clock.sleep_until(clock.now() + Duration::from_millis(1)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_lost_gives_nothing_and_costs_nothing() {
    let Some(two) = Two::start().await else { return };
    let before = two.place.sql(EPOCHS);
    for (revision, bytes) in (1..).zip([0, 1, 60]) {
        let met = two.line.met() + 6;
        two.line.fail(BEAT, Fault::AnswerCut(bytes), 6);
        until("cut", || two.line.met() == met).await;
        until("held", || two.far.store.standing(HERE) == Standing::Held).await;
        // The connection may just be made again.
        let made = loop {
            match two.far.store.commit(request(HERE, revision, 10)).await {
                Err(CommitError::Store(error)) if error.certainty() == Certainty::NotDone => {}
                other => break other,
            }
        };
        assert_eq!(made.unwrap().get(), revision + 1);
    }
    assert_eq!(two.place.sql(EPOCHS), before, "the leases were renewed all the time");
    two.end().await;
}

/// What a lost answer has taken belongs to this process in the table, and expires only a TTL later.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_lost_answer_has_taken_is_taken_again_at_once() {
    let Some(place) = Place::new() else { return };
    let line = Line::to(place.server.folder());
    let (_, name) = place.address.rsplit_once("dbname=").unwrap();
    // The first beat asks who is there, and only then it is known how much to take.
    line.fail(BEAT, Fault::AnswerLate(Duration::ZERO), 1);
    line.fail(BEAT, Fault::AnswerCut(0), 3);
    let behind = Place { address: line.address(name), ..place.clone() };
    let opened = Opened::new(behind.options().ttl(Duration::from_secs(30))).await;
    follow(&opened.store);
    let took = until("held", || opened.store.share().0 == 8).await;
    assert_eq!((line.met(), place.sql("SELECT max(epoch) FROM dirigent.shards")), (4, "4".into()));
    assert!(took < Duration::from_secs(20), "{took:?}");
    opened.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_cannot_renew_stops_before_another_begins_and_shares_again_later() {
    for fault in [Fault::RequestCut, Fault::AnswerLate(Duration::from_secs(3))] {
        let Some(two) = Two::start().await else { return };
        two.line.fail(BEAT, fault, usize::MAX);
        if fault == Fault::RequestCut {
            until("lapsed", || two.far.store.standing(HERE) == Standing::Lapsed).await;
            until("taken over", || two.near.store.standing(HERE) == Standing::Held).await;
            turn(&two.near.store, HERE, 1, 2).await;
            let refused = two.far.store.commit(request(HERE, 1, 666)).await;
            assert!(refused.is_err(), "{refused:?}");
            assert_eq!(stored(&two.near.store, HERE).await, Some((2, 2)));
        } else {
            // The table is told in time, so that no other takes over; but who does not know must not trust it.
            until("lapsed", || two.far.store.standing(HERE) == Standing::Lapsed).await;
            assert_eq!(two.near.store.standing(HERE), Standing::Elsewhere);
        }
        two.line.heal();
        until("shared", || two.far.store.share() == (4, 2) && two.near.store.share() == (4, 2))
            .await;
        let holder = || {
            let both = [&two.far.store, &two.near.store];
            both.into_iter().find(|store| store.standing(HERE) == Standing::Held)
        };
        until("held", || holder().is_some()).await;
        let (revision, _) = stored(&two.near.store, HERE).await.unwrap();
        turn(holder().unwrap(), HERE, revision, 3).await;
        two.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renewal_that_arrives_after_the_take_over_changes_nothing() {
    let Some(two) = Two::start().await else { return };
    two.line.fail(BEAT, Fault::RequestLate(Duration::from_millis(3_500)), usize::MAX);
    until("taken over", || two.near.store.standing(HERE) == Standing::Held).await;
    let before = two.place.sql(EPOCHS);
    let delivered = two.line.delivered();
    until("late", || {
        assert_eq!(two.near.store.standing(HERE), Standing::Held);
        two.line.delivered() >= delivered + 2
    })
    .await;
    turn(&two.near.store, HERE, 1, 2).await;
    assert_eq!(two.place.sql(EPOCHS), before);
    two.line.heal();
    two.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_arrives_after_the_take_over_changes_nothing() {
    let Some(two) = Two::start().await else { return };
    two.line.fail(COMMIT, Fault::RequestLate(Duration::from_secs(4)), 1);
    let (near, line) = (&two.near.store, &two.line);
    let late = two.far.store.commit(request(HERE, 1, 666));
    let other = async {
        until("on its way", || line.met() == 1).await;
        line.fail(BEAT, Fault::RequestCut, usize::MAX);
        until("taken over", || near.standing(HERE) == Standing::Held).await;
        assert_eq!(line.delivered(), 0, "the commit came too early for this test");
        // It names the revision that is stored, and the epoch that was.
        until("late", || line.delivered() == 1).await;
        let epoch_alone = stored(near, HERE).await;
        turn(near, HERE, 1, 2).await;
        epoch_alone
    };
    let (late, epoch_alone) = tokio::join!(late, other);
    assert!(matches!(&late, Err(CommitError::Store(_) | CommitError::Elsewhere)), "{late:?}");
    assert_eq!(epoch_alone, Some((1, 1)));
    assert_eq!(stored(near, HERE).await, Some((2, 2)));
    two.line.heal();
    two.end().await;
}
