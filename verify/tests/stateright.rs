//! Every order of events in a small room: three agents, one message of a person, a network that
//! loses, repeats and reorders, a process that dies at any step, an operator who archives.
//!
//! The model stands around the real core. `DIRIGENT_STATES` bounds how many states are generated.

use std::sync::Arc;
use std::time::Duration;

use dirigent_core::config::HumanInterrupt;
use dirigent_core::{Config, PhaseKind, TurnId};
use dirigent_testkit::told;
use stateright::{Checker, Model, Property};

mod world;

use world::{Event, Room, World};

impl Model for Room {
    type State = World;
    type Action = Event;

    fn init_states(&self) -> Vec<World> {
        vec![World::begin(self)]
    }

    fn actions(&self, world: &World, events: &mut Vec<Event>) {
        world.plain_events(events, self);
        if world.crashes < self.crashes_max {
            let after = events.clone().into_iter().map(|event| Event::CrashAfter(Box::new(event)));
            events.extend(after.collect::<Vec<_>>());
            events.push(Event::Crash);
        }
    }

    fn next_state(&self, world: &World, event: Event) -> Option<World> {
        let mut next = world.clone();
        next.apply(&event, self, true);
        (next != *world).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("I1: at most one run is allowed", |room: &Self, world: &World| {
                let may =
                    room.keys().filter(|agent| world.channel.explain(*agent).allows()).count();
                world.runs.iter().filter(|run| run.2).count() <= 1 && may <= 1
            }),
            Property::always("I3: nothing waits without a deadline", |_, world: &World| {
                let waits = !matches!(
                    world.channel.view().phase(),
                    PhaseKind::Dormant | PhaseKind::Archived
                );
                let ahead =
                    |deadline: dirigent_core::Deadline| deadline.at > world.channel.snapshot().now;
                world.channel.next_deadline().map_or(!waits, ahead)
            }),
            Property::always("I6: archived is for ever", |_, world: &World| {
                let archived = world.channel.view().phase() == PhaseKind::Archived;
                archived == world.archived && !world.stirred
            }),
            Property::always("T1: triggers are counted", |room: &Self, world: &World| {
                let turns = world.channel.view().turn().get();
                let continued = u64::from(room.config.order.continuations);
                let once = 1 + room.retriggers + continued;
                world.triggers <= turns * once + world.redriven + world.consults
            }),
            Property::always("R1: the audit finds nothing", |_, world: &World| {
                world.channel.audit().is_ok()
            }),
            Property::always("H1: what is held is kept in mind", |_, world: &World| {
                let view = world.channel.view();
                let dormant = view.phase() == PhaseKind::Dormant;
                !dormant || view.queued().is_none() || view.is_wake_pending()
            }),
            Property::always("A1: nobody speaks who is away", |_, world: &World| {
                let view = world.channel.view();
                view.away().iter().all(|away| Some(away.agent) != view.speaker())
            }),
            Property::always(
                "an archived or dormant channel has no turn that rests",
                |_, world: &World| {
                    let view = world.channel.view();
                    view.asked().is_none() || view.phase() == PhaseKind::Waiting
                },
            ),
            Property::sometimes("a whole round is lived through", |room: &Self, world: &World| {
                let view = world.channel.view();
                let dormant = view.phase() == PhaseKind::Dormant;
                view.turn() >= TurnId::new(u64::from(room.agents)) && dormant
            }),
            Property::sometimes("a reply is confirmed", |room: &Self, world: &World| {
                let spoke = |seat: dirigent_core::view::Seat| {
                    seat.turn == dirigent_core::view::SeatTurn::Spoke
                };
                let crashed = room.crashes_max == 0 || world.crashes > 0;
                crashed && world.channel.view().list().any(spoke)
            }),
        ]
    }

    fn within_boundary(&self, world: &World) -> bool {
        world.channel.view().turn().get() <= self.turns_max
    }
}

/// No polls, which would only repeat what a push does.
fn rules() -> Config {
    let mut config = Config::default();
    config.confirmation.poll_first = Duration::from_secs(60);
    config.deadlines.retriggers = 1;
    config
}

/// Goes through the room up to so many generated states.
fn explore(room: Room, states: usize, all: bool) -> (usize, bool) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let builder = room.checker().threads(threads).target_state_count(states);
    // Depth first keeps few states in memory; breadth first reaches each the shortest way.
    if all {
        finish(&builder.spawn_dfs().join(), states)
    } else {
        finish(&builder.spawn_bfs().join(), states)
    }
}

fn finish(checker: &impl Checker<Room>, states: usize) -> (usize, bool) {
    println!(
        "{} states generated, {} unique, depth {}",
        checker.state_count(),
        checker.unique_state_count(),
        checker.max_depth()
    );
    checker.assert_properties();
    (checker.state_count(), checker.state_count() < states)
}

#[test]
fn every_order_of_events_in_a_room_of_three() {
    let states = told("DIRIGENT_STATES");
    let room = Room {
        agents: 3,
        config: Arc::new(rules()),
        turns_max: 4,
        crashes_max: 1,
        repeats_max: 1,
        retriggers: 1,
        words: 1,
        unfinished: false,
        absences_max: 0,
    };
    let (generated, _) = explore(room, states.unwrap_or(600_000), false);
    assert!(generated >= 100_000);
}

#[test]
fn every_order_of_events_in_a_room_of_two_to_the_end() {
    let room = Room {
        agents: 2,
        config: Arc::new(rules()),
        turns_max: 3,
        crashes_max: 0,
        repeats_max: 1,
        retriggers: 1,
        words: 1,
        unfinished: false,
        absences_max: 0,
    };
    let (_, complete) = explore(room, 5_000_000, true);
    assert!(complete, "the room has become too large to go through it all");
}

/// R249-R252, R262-R271, M11, M12
#[test]
fn every_order_of_events_where_turns_rest_go_on_and_break_off() {
    let mut config = rules();
    config.people.human_interrupt = HumanInterrupt::Interrupt;
    config.order.continuations = 1;
    config.order.auto_requeue = true;
    config.deadlines.turn = Some(Duration::from_secs(90));
    let room = Room {
        agents: 2,
        config: Arc::new(config),
        turns_max: 3,
        crashes_max: 1,
        repeats_max: 0,
        retriggers: 1,
        words: 2,
        unfinished: true,
        absences_max: 1,
    };
    let states = told("DIRIGENT_STATES");
    let (generated, _) = explore(room, states.unwrap_or(400_000), false);
    assert!(generated >= 100_000);
}

/// R264, R265, M11
#[test]
fn every_order_of_events_where_words_are_held() {
    let mut config = rules();
    config.people.human_interrupt = HumanInterrupt::Queue;
    config.order.skip_passed = true;
    let room = Room {
        agents: 2,
        config: Arc::new(config),
        turns_max: 3,
        crashes_max: 0,
        repeats_max: 0,
        retriggers: 1,
        words: 2,
        unfinished: true,
        absences_max: 2,
    };
    let states = told("DIRIGENT_STATES");
    let (generated, _) = explore(room, states.unwrap_or(400_000), false);
    assert!(generated >= 100_000);
}
