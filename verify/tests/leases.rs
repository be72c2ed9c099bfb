//! Every order of events around one shard: processes with their leases, a table, a record and a chat, on a network that
//! loses and delays, with crashes, pauses, partitions, resignations, and clocks that do not run alike.
//!
//! The leases are the real ones; the table, the record and the chat are a few lines each. A commit and a post take as long
//! as they like in every world; a beat that is slow, lost or late is a fault, of which a setting has a number. A lease lasts
//! four ticks of time. Worlds that differ only in which process is which are one.

mod events;
mod fleet;
mod process;
mod promises;
mod setting;
mod table;
mod world;

use promises::{Promise, breaks, explore};
use setting::{Rule, Setting};

/// Goes through each world, which has at least so many thousand states where it lives no longer than usual.
fn explore_all(worlds: impl IntoIterator<Item = (Setting, usize)>) {
    for (setting, thousands) in worlds {
        println!("{setting:?}");
        let (states, broken) = explore(setting);
        assert!(broken.is_empty(), "{broken:?}");
        assert!(states >= thousands * 1_000, "the world has become too small: {states}");
    }
}

/// Each fault beside a request that is lost or late, and two of those.
#[test]
fn every_order_of_events_around_a_shard_of_two_processes() {
    let of = || Setting::of(2).longer();
    explore_all([
        (of().crash().late(), 215),
        (of().pause().late(), 134),
        (of().partition().late(), 216),
        (of().drift().late(), 28),
        (of().late().late(), 102),
    ]);
}

#[test]
fn every_order_of_events_around_a_shard_of_three_processes() {
    let of = || Setting::of(3);
    explore_all([
        (of().crash().late(), 267),
        (of().pause().late(), 124),
        (of().partition().late(), 219),
        (of().drift().late(), 32),
        (of().late().late(), 97),
    ]);
}

/// One or both give back what they have, while something goes wrong: what is late arrives before, between and after renewal,
/// resignation and take-over.
#[test]
fn every_order_of_events_around_a_shard_that_one_of_two_processes_gives_back() {
    let of = || Setting::of(2).longer().resignation();
    explore_all([
        (of().late(), 150),
        (of().crash(), 140),
        (of().pause(), 60),
        (of().partition(), 95),
        (of().drift(), 18),
        (of().resignation(), 23),
        (Setting::of(2).resignation().resignation().late(), 500),
    ]);
}

#[test]
fn every_order_of_events_around_a_shard_that_one_of_three_processes_gives_back() {
    let of = || Setting::of(3).resignation();
    explore_all([
        (of().late(), 280),
        (of().crash(), 270),
        (of().pause(), 120),
        (of().partition(), 180),
        (of().drift(), 43),
        (of().resignation(), 96),
    ]);
}

/// A process dies, or cannot renew, when the table's clock is set back: another takes over, and not while the first trusts its
/// lease.
#[test]
fn every_order_of_events_around_a_shard_while_the_clock_of_the_table_is_set_back() {
    let of = || Setting::of(2).set_back();
    explore_all([(of().crash(), 145), (of().partition(), 100), (of().late(), 185)]);
}

/// The clock of one process stands still while time goes by: leases promise nothing then, and the fence is enough.
#[test]
fn the_fence_holds_where_a_clock_does_not_run() {
    let stands = |setting: Setting| Setting { lags_max: 5, ..setting.loss() };
    explore_all([(stands(Setting::of(2).longer()), 161), (stands(Setting::of(3)), 211)]);
}

/// Each rule is needed: a world of three processes without it breaks a promise. That a renewal names the owner, too, and what is
/// given back the epoch, makes no difference in these worlds: an epoch has one owner, and a process that has given its shard
/// back takes none again.
#[test]
fn without_any_of_its_rules_the_leases_break_a_promise() {
    let (slow, late) = (Setting::of(3).loss(), Setting::of(3).late());
    let resigns = Setting::of(3).resignation();
    for (world, rule, promise) in [
        (&late.clone().pause(), Rule::CommitNamesTheEpoch, Promise::OnlyTheHolderChangesTheRecord),
        (
            &resigns.clone().late(),
            Rule::CommitNamesTheOwner,
            Promise::OnlyTheHolderChangesTheRecord,
        ),
        (&slow, Rule::StoreBeforeEffect, Promise::WhatIsPostedWasStored),
        (&late, Rule::LoadAfterRefusal, Promise::WhatIsPostedWasStored),
        (&slow.clone().drift(), Rule::Margin, Promise::OneTrusts),
        (&slow, Rule::Margin, Promise::ATurnBeginsWhileTheLeaseLasts),
        (&slow, Rule::TrustFromTheStart, Promise::ATurnBeginsWhileTheLeaseLasts),
        (&slow, Rule::QuietEnd, Promise::ATurnBeginsWhileTheLeaseLasts),
        (&late, Rule::RenewalNamesTheTerm, Promise::OneTrusts),
        (&resigns.clone().late(), Rule::RenewalNamesTheEpoch, Promise::OnlyTheHolderChangesALease),
        (
            &resigns.clone().late(),
            Rule::ResignationNamesTheTerm,
            Promise::OnlyTheHolderChangesALease,
        ),
        (&slow.clone().drift(), Rule::TakeOverAfterTheEnd, Promise::OneTrusts),
        (&slow, Rule::NextEpoch, Promise::EachOwnerHasANewEpoch),
        (&Setting::of(3).set_back(), Rule::AheadIsWatched, Promise::OneTrusts),
        (&Setting::of(2).set_back().late(), Rule::ExpiredNamesTheRow, Promise::OneTrusts),
        (&resigns, Rule::ResignFirst, Promise::WhatIsGivenBackIsNotInUse),
        (&resigns, Rule::DrainBeforeTheEnd, Promise::WhatIsGivenBackIsNotInUse),
    ] {
        println!("without {rule:?}");
        assert!(breaks(world.clone().without(rule), promise), "{rule:?}");
    }
}
