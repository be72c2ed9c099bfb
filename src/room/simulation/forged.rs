//! What each invariant must reject: a net that catches nothing would be found out.

use std::time::Duration;

use dirigent_core::{AgentKey, Effect, Input, MessageId, PhaseKind, RunId, Timestamp, TurnId};

use super::super::action::{Account, Action, ActionId, CallRequest, WakeRequest};
use super::super::inbox::TurnMessages;
use super::super::voice::PostItem;
use super::books::{Books, OpenReply};
use super::chat::MODERATOR;
use super::world::World;
use crate::ChannelId;
use crate::ports::discord::Post;
use crate::values::message::Nonce;

fn broken(books: Books) -> String {
    books.broken.unwrap_or_default()
}

const NOW: Timestamp = Timestamp::from_millis(1_000_000);

#[test]
fn a_part_that_is_posted_twice_is_noticed() {
    let mut books = Books::default();
    books.part_leaves("a", 7, 0);
    books.part_landed("a");
    assert!(books.broken.is_none());
    books.part_landed("a");
    assert!(broken(books).contains("posted twice"));
}

#[test]
fn a_part_that_overtakes_another_is_noticed() {
    let mut books = Books::default();
    books.part_leaves("b", 7, 1);
    books.part_landed("b");
    assert!(broken(books).contains("too early"));
}

#[test]
fn a_reply_that_vanishes_is_noticed() {
    let open = OpenReply { agent: AgentKey::new(0), name: 7, parts: 2 };
    let mut kept = Books::default();
    kept.replies(Some(open), |_| false);
    kept.replies(None, |_| true);
    assert!(kept.broken.is_none());
    let mut lost = Books::default();
    lost.replies(Some(open), |_| false);
    lost.replies(None, |_| false);
    assert!(broken(lost).contains("the rest is lost"));
}

#[test]
fn two_actions_of_one_name_are_noticed() {
    let mut books = Books::default();
    books.begun(ActionId(3));
    books.begun(ActionId(3));
    assert!(broken(books).contains("two actions"));
}

#[test]
fn a_cancelled_call_that_goes_on_is_noticed() {
    let mut books = Books::default();
    books.cancelled(ActionId(3), NOW, NOW + Duration::from_secs(10));
    assert!(books.broken.is_none());
    books.cancelled(ActionId(3), NOW, NOW + Duration::from_secs(11));
    assert!(broken(books).contains("not dropped"));
}

fn world() -> World {
    World::new(3, false)
}

fn call() -> Action {
    Action::Call(CallRequest {
        repeated: false,
        agent: AgentKey::new(0),
        turn: Some(TurnId::new(1)),
        run: RunId::new(1),
        attempt: 0,
        newest: None,
        brought: TurnMessages::default(),
        late: None,
        paused: false,
    })
}

fn wake() -> Action {
    Action::Wake(Box::new(WakeRequest {
        agent: AgentKey::new(0),
        turn: TurnId::new(1),
        attempt: 0,
        newest: None,
        brought: TurnMessages::default(),
        repeated: false,
        deferral: None,
    }))
}

fn post(account: Account) -> Action {
    let post = Post::new(ChannelId::new(1), "", Nonce::from_parts(1, 2, 3));
    Action::Post { account, post }
}

#[test]
fn what_starts_before_its_cause_is_stored_is_noticed() {
    let agent = Account::Agent(AgentKey::new(0));
    let actions = [call(), wake(), post(agent), post(Account::Moderator)];
    for action in actions {
        let mut world = world();
        world.check_start(&action);
        assert!(world.books.broken.is_some_and(|why| why.contains("no record")), "{action:?}");
    }
}

#[test]
fn what_starts_after_a_stop_is_noticed() {
    for action in [call(), wake()] {
        let mut world = world();
        world.input(&Input::Stop, true);
        world.books.broken = None;
        world.check_start(&action);
        let why = world.books.broken.unwrap_or_default();
        assert!(why.contains("rests"), "{why}");
    }
}

#[test]
fn a_room_that_waits_without_a_deadline_is_noticed() {
    let mut world = world();
    world.books.broken = None;
    (world.ready, world.due) = (false, None);
    world.watch();
    assert!(world.books.broken.is_some_and(|why| why.contains("without a deadline")));
}

#[test]
fn a_room_that_says_that_another_process_has_it_is_noticed() {
    let mut world = world();
    world.room.abandon(world.now);
    world.watch();
    assert!(world.books.broken.is_some_and(|why| why.contains("another process")));
}

#[test]
fn a_word_that_nobody_is_handed_is_noticed() {
    // A world in which every agent is called by the library and is given all that was said.
    let seed = (1..200).find(|seed| {
        let world = World::new(*seed, false);
        let hosted = (0..world.fixed.agents).all(|agent| world.is_hosted(AgentKey::new(agent)));
        hosted && world.fixed.settings.limits.missed_max > 10 && !world.fixed.is_discussion
    });
    let mut world = World::new(seed.unwrap_or(1), false);
    for _ in 0..20 {
        world.step_calmly();
    }
    // The message exists nowhere, so that no agent can get it.
    world.books.spoken(MessageId::new(u64::MAX), world.now);
    world.end();
    assert!(world.books.broken.is_some_and(|why| why.contains("handed to no agent")));
}

#[test]
fn a_deletion_of_what_a_person_wrote_is_noticed() {
    let mut world = world();
    world.person();
    let id = world.chat.said[0].id;
    world.check_start(&Action::Delete { message: id, is_own: true });
    assert!(world.books.broken.is_some_and(|why| why.contains("another account")));
}

#[test]
fn a_removal_of_what_no_observed_agent_wrote_is_noticed() {
    let mut world = world();
    world.person();
    let id = world.chat.said[0].id;
    world.check_start(&Action::Delete { message: id, is_own: false });
    assert!(world.books.broken.is_some_and(|why| why.contains("no pass word")));
}

#[test]
fn a_deletion_of_a_trigger_that_is_still_owed_is_noticed() {
    let owed = |world: &World| {
        let stored =
            world.store.record.as_ref().map(|record| record.snapshot.pending.effects.clone());
        stored.unwrap_or_default().into_iter().find_map(|pending| match pending.effect {
            Effect::Trigger { ticket, .. } => Some(world.room.turns.nonce(ticket, pending.since)),
            _ => None,
        })
    };
    let found = (1..50).find_map(|seed| {
        let mut world = World::new(seed, false);
        let nonce = (0..100).find_map(|_| {
            world.step_calmly();
            owed(&world)
        });
        nonce.map(|nonce| (world, nonce))
    });
    let (mut world, nonce) = found.expect("a world in which an agent is triggered");
    world.person();
    let said = world.chat.said.last_mut().expect("what a person said");
    let id = said.id;
    said.author = MODERATOR;
    said.nonce = Some(nonce);
    world.check_start(&Action::Delete { message: id, is_own: true });
    assert!(world.books.broken.is_some_and(|why| why.contains("still owes it")));
}

#[test]
fn a_reply_that_the_machine_waits_for_and_the_room_does_not_have_is_given_up() {
    let found = (1..50).find_map(|seed| {
        let mut world = World::new(seed, false);
        let delivers = |world: &World| {
            let active = world.room.active.as_ref();
            active.is_some_and(|active| active.reply.is_some())
                && world.room.look().machine().view().phase() == PhaseKind::Delivering
        };
        let is_found = (0..200).any(|_| {
            world.step_calmly();
            delivers(&world)
        });
        is_found.then_some(world)
    });
    let mut world = found.expect("a world in which a reply is delivered");
    if let Some(active) = &mut world.room.active {
        active.reply = None;
        active.voice.withdraw(PostItem::Reply);
    }
    let turn = world.room.look().machine().view().turn();
    (0..200).for_each(|_| world.step_calmly());
    let view = world.room.look().machine().view();
    assert!(view.phase() != PhaseKind::Delivering || view.turn() != turn, "it waits for ever");
}
