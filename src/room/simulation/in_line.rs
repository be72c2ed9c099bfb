//! A room that must wait for others, which share its accounts and its pace.

use std::time::Duration;

use super::super::outbox::entry::PostState;
use super::chat::ROOM;
use super::world::World;
use crate::ChannelId;
use crate::admission::{AccountKey, Admission, Claim, ClaimKind, Limits, Report, Wait};
use crate::settings::{Pace, Pacing};

/// A discussion in which nothing was stored yet and everything works.
fn discussion() -> World {
    let world =
        (1..200).map(|seed| World::new(seed, false)).find(|world| world.fixed.is_discussion);
    let mut world = world.expect("a world with a discussion");
    world.calm_down();
    world
}

/// What became of the guide, until it is posted.
fn guide(world: &World) -> Option<PostState> {
    world.room.look().unposted().next().map(|entry| entry.state)
}

/// What another room asks for.
fn other(kind: ClaimKind) -> Claim {
    Claim::new(ChannelId::new(999), AccountKey::Moderator, kind)
}

/// Another room finds out that the moderator's account does not reach the chat.
fn refuse(world: &mut World) {
    let refused = world.admission.admit(world.now, other(ClaimKind::Read)).unwrap();
    world.admission.report(world.now, &refused, Report::Away { refused: true });
}

#[test]
fn what_was_told_to_wait_in_line_is_tried_when_the_rooms_turn_comes() {
    let mut world = discussion();
    refuse(&mut world);
    let began = world.now;
    while guide(&world).is_some() && world.now.since(began).as_secs() < 60 {
        world.step_calmly();
    }
    let took = world.now.since(began);
    assert!((1..10).contains(&took.as_secs()), "the guide is posted after {took:?}");
}

#[test]
fn what_waited_for_the_pace_has_its_place_although_the_driver_is_late_and_others_wait_behind_it() {
    let mut world = discussion();
    let (burst, window) = (1, Duration::from_secs(10));
    let pacing = Pacing { channel: Some(Pace { burst, window }), ..Pacing::off() };
    world.admission =
        Admission::new(Limits { pacing, calls_max: 1, agent_calls_max: None, consults_max: 1 });
    let here = |room| Claim { room: ChannelId::new(room), target: ROOM, ..other(ClaimKind::Post) };
    assert!(world.admission.admit(world.now, here(998)).is_ok());
    let at = world.now + window;
    while guide(&world) != Some(PostState::Waiting(Some(at))) && world.now < at {
        world.step_calmly();
    }
    assert!(world.now < at, "the guide waits for its pace");
    assert_eq!(world.admission.admit(world.now, here(999)), Err(Wait::Until(at + window)));
    world.now = at + Duration::from_millis(500);
    while guide(&world).is_some() && world.now < at + window {
        world.pass();
        world.serve();
        world.step_calmly();
    }
    assert!(world.now < at + window / 2, "it is posted at {:?}", world.now);
}
