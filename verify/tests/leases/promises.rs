//! What must hold in every world, and what must happen in some.

use stateright::{Checker, Expectation, HasDiscoveries, Model, Property};

use super::events::Event;
use super::setting::Setting;
use super::world::World;

/// What must hold. All but the first two are looked at in the moment in which something happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Promise {
    OneTrusts,
    InOrder,
    WhatIsPostedWasStored,
    OnlyTheHolderChangesTheRecord,
    OnlyTheHolderChangesALease,
    EachOwnerHasANewEpoch,
    ATurnBeginsWhileTheLeaseLasts,
    WhatIsGivenBackIsNotInUse,
}

impl Promise {
    const ALL: [Self; 8] = [
        Self::OneTrusts,
        Self::InOrder,
        Self::WhatIsPostedWasStored,
        Self::OnlyTheHolderChangesTheRecord,
        Self::OnlyTheHolderChangesALease,
        Self::EachOwnerHasANewEpoch,
        Self::ATurnBeginsWhileTheLeaseLasts,
        Self::WhatIsGivenBackIsNotInUse,
    ];

    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::OneTrusts => "one process at a time trusts its lease",
            Self::InOrder => "each turn is announced once, and in order",
            Self::WhatIsPostedWasStored => "nothing is posted that was not stored before",
            Self::OnlyTheHolderChangesTheRecord => "who holds the epoch alone changes the record",
            Self::OnlyTheHolderChangesALease => {
                "who holds the epoch alone changes a lease that lasts"
            }
            Self::EachOwnerHasANewEpoch => "each owner has a new epoch",
            Self::ATurnBeginsWhileTheLeaseLasts => {
                "a turn begins while the lease lasts, by the clock of the table, longer than the quiet end"
            }
            Self::WhatIsGivenBackIsNotInUse => {
                "a process that gives a shard back has nothing under way in it"
            }
        }
    }

    fn holds(self, setting: &Setting, world: &World) -> bool {
        match self {
            // A clock that lags by more than the margin is not promised anything but the fence.
            Self::OneTrusts => world.spent.lag > setting.lag_promised || world.trusting() <= 1,
            Self::InOrder => (1..).zip(&world.chat).all(|(place, turn)| place == *turn),
            Self::WhatIsPostedWasStored
            | Self::OnlyTheHolderChangesTheRecord
            | Self::OnlyTheHolderChangesALease
            | Self::EachOwnerHasANewEpoch
            | Self::ATurnBeginsWhileTheLeaseLasts
            | Self::WhatIsGivenBackIsNotInUse => world.broken != Some(self),
        }
    }
}

fn holds<const PLACE: usize>(setting: &Setting, world: &World) -> bool {
    Promise::ALL[PLACE].holds(setting, world)
}

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
        let holds: [fn(&Self, &World) -> bool; 8] = [
            holds::<0>, holds::<1>, holds::<2>, holds::<3>, holds::<4>, holds::<5>, holds::<6>,
            holds::<7>,
        ];
        let always = Promise::ALL.iter().zip(holds);
        let always = always.map(|(promise, holds)| Property::always(promise.text(), holds));
        let sometimes = [
            Property::sometimes("a lease is taken over, and its new owner posts", |_, world| {
                World::is_posted_by_a_successor(world)
            }),
            Property::sometimes("a commit comes too late", |setting: &Self, world| {
                !setting.has_faults() || World::has_commit_of_an_earlier_term(world)
            }),
            Property::sometimes(
                "a shard is taken as soon as it is given back",
                |setting: &Self, world| setting.resigns_max == 0 || World::is_taken_early(world),
            ),
        ];
        always.chain(sometimes).collect()
    }
}

/// Goes through all states; returns how many there are, and which promises are broken.
pub(super) fn explore(setting: Setting) -> (usize, Vec<&'static str>) {
    explore_until(setting, HasDiscoveries::All)
}

/// Goes through the states until this promise is broken; returns whether it is.
pub(super) fn breaks(setting: Setting, promise: Promise) -> bool {
    let end = HasDiscoveries::AnyOf([promise.text()].into());
    explore_until(setting, end).1.contains(&promise.text())
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
    let (states, depth) = (checker.unique_state_count(), checker.max_depth());
    println!("{states} states, depth {depth}");
    (states, broken)
}
