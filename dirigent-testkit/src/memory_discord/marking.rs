//! Changes of an existing message besides its text, which are reactions and pins, and their events.

use dirigent::ports::ChatKind;
use dirigent::{ChannelId, ChatMessage, MessageId, UserId};

use super::details::{Allowed, Details};
use super::emoji::Emoji;
use super::event::Event;
use super::world::World;

/// Discord's number for the message that announces a pin.
const PINNED: u8 = 6;

/// Adds an account's reaction. Returns true if it is new.
pub fn react(
    world: &mut World,
    (channel, message): (ChannelId, MessageId),
    user: UserId,
    emoji: &Emoji,
) -> bool {
    let added = change(world, channel, message, |it| it.rare_mut().reactions.add(emoji, user));
    if added {
        let emoji = emoji.clone();
        world.publish(Event::ReactionAdded { channel, message, user, emoji });
    }
    added
}

/// Removes an account's reaction. Returns true if it existed.
pub fn take_reaction(
    world: &mut World,
    (channel, message): (ChannelId, MessageId),
    user: UserId,
    emoji: &Emoji,
) -> bool {
    let taken = change(world, channel, message, |it| it.rare_mut().reactions.remove(emoji, user));
    if taken {
        let emoji = emoji.clone();
        world.publish(Event::ReactionRemoved { channel, message, user, emoji });
    }
    taken
}

/// Removes all reactions with an emoji, or with `None` all reactions. Returns true if there were
/// any.
pub fn clear_reactions(
    world: &mut World,
    (channel, message): (ChannelId, MessageId),
    emoji: Option<&Emoji>,
) -> bool {
    let cleared = change(world, channel, message, |it| it.rare_mut().reactions.clear(emoji));
    if cleared {
        world.publish(Event::ReactionsCleared { channel, message, emoji: emoji.cloned() });
    }
    cleared
}

/// Pins a message, and announces it with a message of Discord's own. Returns true if it was not
/// pinned.
pub fn pin(world: &mut World, (channel, message): (ChannelId, MessageId), user: UserId) -> bool {
    let now = world.clock.now();
    let room = world.places.rooms.get_mut(&channel);
    let pinned = room
        .is_some_and(|room| room.messages.find(message).is_some() && room.pins.add(message, now));
    if !pinned {
        return false;
    }
    world.publish(Event::MessageMarked { channel, message });
    world.publish(Event::PinsChanged { channel });
    let mut details = Details { allowed: Allowed::None, rare: None };
    details.rare_mut().kind = Some(PINNED);
    details.rare_mut().reply_to = Some(message);
    let told = ChatMessage {
        author_kind: world.accounts.kind_of(user),
        kind: ChatKind::System,
        ..ChatMessage::new(MessageId::new(world.next_id()), channel, user, "")
    };
    world.append(told, details);
    true
}

/// Removes a pin. Returns true if there was one.
pub fn unpin(world: &mut World, (channel, message): (ChannelId, MessageId)) -> bool {
    let room = world.places.rooms.get_mut(&channel);
    let unpinned = room.is_some_and(|room| room.pins.remove(message));
    if unpinned {
        world.publish(Event::MessageMarked { channel, message });
        world.publish(Event::PinsChanged { channel });
    }
    unpinned
}

/// Changes the details of a message, if it exists.
fn change(
    world: &mut World,
    channel: ChannelId,
    message: MessageId,
    change: impl FnOnce(&mut Details) -> bool,
) -> bool {
    let room = world.places.rooms.get_mut(&channel);
    let room = room.filter(|room| room.messages.find(message).is_some());
    room.and_then(|room| room.messages.details_mut(message)).is_some_and(change)
}
