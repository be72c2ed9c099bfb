//! Every order of events around one shard: processes with their leases, a table, a record and a chat, on a network that
//! loses and delays, with crashes, pauses, and clocks that do not run alike.
//!
//! The leases are the real ones; the table, the record and the chat are a few lines each.

mod fleet;
mod setting;
mod world;

use stateright::{Checker, Expectation, HasDiscoveries, Model, Property};

use setting::Setting;
use world::{Event, World};

impl Model for Setting {
    type State = World;
    type Action = Event;

    fn init_states(&self) -> Vec<World> {
        vec![World::begin(self)]
    }

    fn actions(&self, world: &World, events: &mut Vec<Event>) {
        world.events(self, events);
    }

    fn next_state(&self, world: &World, event: Event) -> Option<World> {
        let mut next = world.clone();
        next.apply(self, event);
        (next != *world).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(
                "one process at a time trusts its lease",
                |setting: &Self, world: &World| {
                    // A clock that lags by more than the margin is not promised anything but the fence.
                    world.lag > setting.lag_promised || world.trusting() <= 1
                },
            ),
            Property::always("nothing is posted that was not stored before", |_, world: &World| {
                !world.posted_unstored
            }),
            Property::always(
                "a turn is announced once, and none after a later one",
                |_, world: &World| world.chat.windows(2).all(|pair| pair[0] < pair[1]),
            ),
            Property::always("who holds the epoch alone changes the record", |_, world: &World| {
                !world.changed_behind
            }),
            Property::sometimes("a turn is had by each of two processes", |_, world: &World| {
                world.authors.len() > 1
            }),
            Property::sometimes("a lease is taken over", |_, world: &World| world.epoch() > 1),
            Property::sometimes("a commit comes too late", |_, world: &World| world.refused),
        ]
    }
}

/// Goes through all states; returns how many there are, and which promises are broken.
fn explore(setting: Setting) -> (usize, Vec<&'static str>) {
    explore_until(setting, HasDiscoveries::All)
}

/// Goes through the states until a promise is broken; returns which.
fn break_one(setting: Setting) -> Vec<&'static str> {
    explore_until(setting, HasDiscoveries::AnyFailures).1
}

fn explore_until(setting: Setting, end: HasDiscoveries) -> (usize, Vec<&'static str>) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let checker = setting.checker().threads(threads).finish_when(end).spawn_bfs().join();
    let found = checker.discoveries();
    let properties = checker.model().properties();
    let broken = properties.iter().filter(|property| match property.expectation {
        Expectation::Sometimes => !found.contains_key(property.name),
        Expectation::Always | Expectation::Eventually => found.contains_key(property.name),
    });
    let broken: Vec<_> = broken.map(|property| property.name).collect();
    for name in &broken {
        if let Some(path) = found.get(name) {
            println!("{name}: broken after {:?}", path.clone().into_actions());
        }
    }
    println!("{} states, depth {}", checker.unique_state_count(), checker.max_depth());
    (checker.unique_state_count(), broken)
}

/// How long the world lives: `DIRIGENT_LEASE_TICKS` makes a hunt of it.
fn ticks() -> u8 {
    std::env::var("DIRIGENT_LEASE_TICKS").ok().and_then(|text| text.parse().ok()).unwrap_or(4)
}

/// Requests that are lost or late, a clock that lags, a crash, a pause.
#[test]
fn every_order_of_events_around_a_shard_of_two_processes() {
    let all = Setting { ticks_max: ticks(), ..Setting::of(2) };
    for setting in [
        Setting { late_max: 1, lags_max: 1, ..all.clone() },
        Setting { crashes_max: 1, ..all.clone() },
        Setting { pauses_max: 1, late_max: 1, ..all },
    ] {
        let (states, broken) = explore(setting);
        assert!(broken.is_empty(), "{broken:?}");
        assert!(states > 100_000, "the world has become too small: {states}");
    }
}

#[test]
fn every_order_of_events_around_a_shard_of_three_processes() {
    let (states, broken) = explore(Setting { ticks_max: ticks(), ..Setting::of(3) });
    assert!(broken.is_empty(), "{broken:?}");
    assert!(states > 100_000, "the world has become too small: {states}");
}

/// The clock of one process stands still while time goes by: leases promise nothing then, and the fence is enough.
#[test]
fn the_fence_holds_where_a_clock_does_not_run() {
    let (_, broken) = explore(Setting { lags_max: 5, ticks_max: ticks(), ..Setting::of(2) });
    assert!(broken.is_empty(), "{broken:?}");
}

#[test]
fn without_the_epoch_in_each_commit_a_record_changes_behind_its_owner() {
    let broken = break_one(Setting { fences: false, ..Setting::of(2) });
    assert!(broken.contains(&"who holds the epoch alone changes the record"), "{broken:?}");
}

#[test]
fn with_the_effect_before_the_commit_something_is_posted_that_was_never_stored() {
    let broken = break_one(Setting { stores_first: false, ..Setting::of(2) });
    assert!(broken.contains(&"nothing is posted that was not stored before"), "{broken:?}");
}

#[test]
fn without_a_margin_a_clock_that_lags_has_two_processes_trust_their_leases() {
    let broken = break_one(Setting { margin: 0, lags_max: 1, ..Setting::of(2) });
    assert!(broken.contains(&"one process at a time trusts its lease"), "{broken:?}");
}
