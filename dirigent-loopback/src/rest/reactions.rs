//! Reactions to messages.

use std::ops::Bound;

use dirigent::{ChannelId, MessageId, UserId};

use super::ask::Ask;
use super::refusal::Refusal;
use super::reply::Reply;
use super::sight::seen_with;
use crate::wire;
use dirigent_testkit::memory_discord::Emoji;
use dirigent_testkit::memory_discord::marking;
use dirigent_testkit::memory_discord::permissions::Permissions;
use dirigent_testkit::memory_discord::reactions::Reactions;
use dirigent_testkit::memory_discord::world::World;

/// The most emoji in the reactions to a message.
const EMOJI_MAX: usize = 20;

/// Adds a reaction. An emoji that is not there yet needs its own permission, and a guild's emoji needs an
/// account in that guild.
pub(super) fn add(world: &mut World, ask: &Ask) -> Result<Reply, Refusal> {
    let emoji = known(world, ask.me, ask.emoji()?)?;
    let reactions = reactions(world, ask)?;
    let is_new = reactions.is_none_or(|reactions| reactions.users(&emoji).is_none());
    let emojis = reactions.map_or(0, |reactions| reactions.iter().len());
    if is_new {
        seen_with(world, ask.channel(), ask.me, Permissions::ADD_REACTIONS)?;
        if emojis >= EMOJI_MAX {
            return Err(Refusal::too_many_reactions());
        }
    }
    marking::react(world, place(ask), ask.me, &emoji);
    Ok(Reply::nothing())
}

/// Removes the account's own reaction, or with permission that of any account.
pub(super) fn remove(world: &mut World, ask: &Ask, user: UserId) -> Result<Reply, Refusal> {
    let emoji = ask.emoji()?;
    if user != ask.me {
        seen_with(world, ask.channel(), ask.me, Permissions::MANAGE_MESSAGES)?;
    }
    reactions(world, ask)?;
    if marking::take_reaction(world, place(ask), user, &emoji) {
        Ok(Reply::nothing())
    } else {
        Err(Refusal::unknown_emoji())
    }
}

/// Removes all reactions with an emoji, or with `None` all reactions.
pub(super) fn clear(world: &mut World, ask: &Ask, emoji: Option<&Emoji>) -> Result<Reply, Refusal> {
    seen_with(world, ask.channel(), ask.me, Permissions::MANAGE_MESSAGES)?;
    reactions(world, ask)?;
    let cleared = marking::clear_reactions(world, place(ask), emoji);
    if cleared || emoji.is_none() { Ok(Reply::nothing()) } else { Err(Refusal::unknown_emoji()) }
}

/// Returns the accounts that reacted with an emoji, by rising id. There are no paid reactions (`type=1`).
pub(super) fn users(world: &World, ask: &Ask) -> Result<Reply, Refusal> {
    let emoji = ask.emoji()?;
    let limit = ask.limit(25, 100)?;
    let after = ask.number("after")?.map_or(UserId::new(0), UserId::new);
    let is_burst = ask.number("type")? == Some(1);
    let users = reactions(world, ask)?.and_then(|reactions| reactions.users(&emoji));
    let users = users.filter(|_| !is_burst).into_iter();
    let page = users.flat_map(|users| users.range((Bound::Excluded(after), Bound::Unbounded)));
    Ok(Reply::list(page.take(limit).map(|user| wire::user(world, *user))))
}

fn place(ask: &Ask) -> (ChannelId, MessageId) {
    (ask.channel(), ask.message())
}

/// Returns the reactions to a message, or `None` if there are none. It needs permission to read the
/// message.
fn reactions<'a>(world: &'a World, ask: &Ask) -> Result<Option<&'a Reactions>, Refusal> {
    let right = Permissions::READ_MESSAGE_HISTORY;
    let room = seen_with(world, ask.channel(), ask.me, right)?;
    room.messages.find(ask.message()).ok_or_else(Refusal::unknown_message)?;
    let rare = room.messages.details(ask.message()).and_then(|details| details.rare.as_ref());
    Ok(rare.map(|rare| &rare.reactions))
}

/// Returns the emoji with its guild's name for it, if the account may use it.
fn known(world: &World, me: UserId, emoji: Emoji) -> Result<Emoji, Refusal> {
    let Some(id) = emoji.id() else { return Ok(emoji) };
    let mine = world.places.guilds.values().filter(|guild| guild.members.contains_key(&me));
    let name = mine.into_iter().find_map(|guild| guild.emojis.get(&id));
    let name = name.ok_or_else(Refusal::unknown_emoji)?.clone();
    Ok(Emoji::Custom { id, name })
}
