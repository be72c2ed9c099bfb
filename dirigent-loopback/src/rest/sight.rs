//! Permissions, with Discord's error codes.

use dirigent::ports::GuildId;
use dirigent::{ChannelId, UserId};

use super::refusal::Refusal;
use dirigent_testkit::memory_discord::permissions::Permissions;
use dirigent_testkit::memory_discord::places::Guild;
use dirigent_testkit::memory_discord::room::Room;
use dirigent_testkit::memory_discord::world::World;

/// Returns a channel that the account sees, and its permissions there.
pub(crate) fn seen(
    world: &World,
    channel: ChannelId,
    me: UserId,
) -> Result<(&Room, Permissions), Refusal> {
    let room = world.places.rooms.get(&channel).ok_or_else(Refusal::unknown_channel)?;
    let allowed = world.places.permissions(channel, me);
    if allowed.contains(Permissions::VIEW_CHANNEL) {
        Ok((room, allowed))
    } else {
        Err(Refusal::missing_access())
    }
}

/// Returns a channel that the account sees and has this permission in.
pub(crate) fn seen_with(
    world: &World,
    channel: ChannelId,
    me: UserId,
    right: Permissions,
) -> Result<&Room, Refusal> {
    let (room, allowed) = seen(world, channel, me)?;
    if allowed.contains(right) { Ok(room) } else { Err(Refusal::missing_permissions()) }
}

/// Returns a guild that the account is in.
pub(crate) fn joined(world: &World, guild: GuildId, me: UserId) -> Result<&Guild, Refusal> {
    let found = world.places.guilds.get(&guild).ok_or_else(Refusal::unknown_guild)?;
    if found.members.contains_key(&me) { Ok(found) } else { Err(Refusal::missing_access()) }
}
