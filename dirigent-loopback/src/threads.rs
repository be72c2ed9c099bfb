//! Threads made from a message. Such a thread has the id of the message, and begins with it.

use dirigent::ports::{ApiError, ChatKind, ErrorKind};
use dirigent::{ChannelId, ChatMessage, MessageId, UserId};

use super::LoopbackDiscord;
use dirigent_testkit::memory_discord::Event;
use dirigent_testkit::memory_discord::details::{Allowed, Details};
use dirigent_testkit::memory_discord::permissions::Permissions;
use dirigent_testkit::memory_discord::room::{Room, kind};
use dirigent_testkit::memory_discord::world::World;

/// The kind of the message at the beginning of such a thread.
const THREAD_STARTER: u8 = 21;

/// The longest name of a thread, in characters.
const NAME_CHARS_MAX: usize = 100;

/// Returns a thread of a channel that contains its creator.
pub(super) fn thread(
    world: &World,
    id: ChannelId,
    maker: UserId,
    (parent, kind, name): (&Room, u8, &str),
) -> Room {
    let mut room = Room::new(id, parent.guild, kind, name.to_owned());
    room.parent = Some(parent.id);
    room.creator = Some(maker);
    room.added = [(maker, world.clock.now())].into();
    room
}

/// Returns the kind of a thread made from a message in a channel of this kind.
pub(super) const fn kind_of_thread(channel: u8) -> Option<u8> {
    match channel {
        kind::TEXT => Some(kind::PUBLIC_THREAD),
        kind::ANNOUNCEMENT => Some(kind::ANNOUNCEMENT_THREAD),
        _ => None,
    }
}

/// Adds the thread of a message. It is shown at the message, and begins with it.
pub(super) fn begin(world: &mut World, (parent, thread): (ChannelId, Room), maker: UserId) {
    let (id, message) = (thread.id, MessageId::new(thread.id.get()));
    world.add_room(thread);
    world.publish(Event::MessageMarked { channel: parent, message });
    let mut details = Details { allowed: Allowed::None, rare: None };
    let rare = details.rare_mut();
    rare.kind = Some(THREAD_STARTER);
    rare.about = Some(parent);
    rare.reply_to = Some(message);
    tell(world, maker, (id, ""), details);
}

/// Adds a message by Discord itself, in the name of a thread's creator.
pub(super) fn tell(
    world: &mut World,
    maker: UserId,
    (channel, content): (ChannelId, &str),
    details: Details,
) {
    let message = ChatMessage {
        author_kind: world.accounts.kind_of(maker),
        kind: ChatKind::System,
        ..ChatMessage::new(MessageId::new(world.next_id()), channel, maker, content)
    };
    world.append(message, details);
}

impl LoopbackDiscord {
    /// Lets an account make a thread from a message, as a person does with a client. Returns the id of the thread,
    /// which is the message's.
    ///
    /// # Errors
    ///
    /// Returns `Gone` if there is no such channel or message, and `Forbidden` if the account may not make threads
    /// there. Returns `Invalid` if the message has a thread, if the channel takes none, or if the name is empty or
    /// longer than 100 characters.
    pub fn start_thread(
        &self,
        channel: ChannelId,
        user: UserId,
        message: MessageId,
        name: &str,
    ) -> Result<ChannelId, ApiError> {
        let mut world = self.state.discord.world();
        let (parent, _) = world.places.seen(channel, user)?;
        let allowed = world.places.permissions(channel, user);
        if !allowed.contains(Permissions::CREATE_PUBLIC_THREADS) {
            return Err(ApiError::new(ErrorKind::Forbidden));
        }
        parent.messages.find(message).ok_or(ApiError::new(ErrorKind::Gone))?;
        let id = ChannelId::new(message.get());
        let is_named = (1..=NAME_CHARS_MAX).contains(&name.chars().count());
        let is_free = is_named && !world.places.rooms.contains_key(&id);
        let kind = kind_of_thread(parent.kind).filter(|_| is_free);
        let kind = kind.ok_or(ApiError::new(ErrorKind::Invalid))?;
        let room = thread(&world, id, user, (parent, kind, name));
        begin(&mut world, (channel, room), user);
        Ok(id)
    }
}
