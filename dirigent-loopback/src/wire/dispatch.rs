//! Events as the gateway pushes them.

use dirigent::ports::GuildId;
use dirigent::{ChannelId, ChatMessage, UserId};
use serde_json::{Value, json};

use super::channel::{channel, pushed_channel, thread_member};
use super::guild::guild_create;
use super::intent;
use super::marks;
use super::message::pushed_message;
use super::people::{bot_role, member, role, user};
use super::view::View;
use crate::managed_roles::{is_bot, managed_role};
use dirigent_testkit::memory_discord::Event;
use dirigent_testkit::memory_discord::permissions::Permissions;
use dirigent_testkit::memory_discord::role::RoleId;
use dirigent_testkit::memory_discord::world::World;

/// An event as the gateway pushes it.
#[derive(Clone, Debug)]
pub(crate) struct Dispatch {
    /// The name, for example `MESSAGE_CREATE`.
    pub(crate) name: &'static str,
    /// The data for one account.
    pub(crate) data: Value,
    /// The intents. A session needs one of them; 0 needs none.
    pub(crate) intents: u64,
}

/// Returns an event as the gateway pushes it to this account. Returns `None` if the gateway does not
/// push it, or if its subject no longer exists.
pub(crate) fn dispatch(view: View<'_>, event: &Event) -> Option<Dispatch> {
    let View { world, account, .. } = view;
    let made = |name, intents, data| Some(Dispatch { name, data, intents });
    match event {
        Event::MessageCreated(message) => Some(talk(view, "MESSAGE_CREATE", message)),
        Event::MessageEdited(message) => Some(talk(view, "MESSAGE_UPDATE", message)),
        Event::MessageDeleted { channel, message } => {
            let data = json!({ "id": message.get().to_string() });
            Some(deletion(world, "MESSAGE_DELETE", *channel, data))
        }
        Event::MessagesDeleted { channel, messages } => {
            let ids: Vec<_> = messages.iter().map(|id| id.get().to_string()).collect();
            Some(deletion(world, "MESSAGE_DELETE_BULK", *channel, json!({ "ids": ids })))
        }
        Event::MessageMarked { channel, message } => marks::marked(view, (*channel, *message)),
        Event::ReactionAdded { channel, message, user, emoji } => {
            marks::reaction(world, (*channel, *message), *user, emoji, true)
        }
        Event::ReactionRemoved { channel, message, user, emoji } => {
            marks::reaction(world, (*channel, *message), *user, emoji, false)
        }
        Event::ReactionsCleared { channel, message, emoji } => {
            Some(marks::cleared(world, (*channel, *message), emoji.as_ref()))
        }
        Event::PinsChanged { channel } => marks::pins(world, *channel),
        Event::WebhooksChanged { channel } => marks::webhooks(world, *channel),
        Event::TypingStarted { channel, user } => typing(world, *channel, *user),
        Event::MemberJoined { .. } | Event::MemberLeft { .. } => None,
        Event::ChannelCreated { channel, .. } => room(world, account, *channel, true),
        Event::ChannelChanged { channel, .. } => room(world, account, *channel, false),
        Event::ChannelDeleted { channel, guild, kind, parent } => {
            let data = json!({ "id": channel.to_string(), "type": kind, "name": "deleted",
                "parent_id": parent.map(|parent| parent.to_string()) });
            made(name_of_deletion(*kind), intent::GUILDS, within(*guild, data))
        }
        Event::ThreadMembersChanged { thread, guild, added, removed } => {
            thread_members(world, account, *thread, *guild, (added, removed))
        }
        Event::GuildMemberAdded { guild, user } => member_added(world, account, *guild, *user),
        Event::GuildMemberChanged { guild, user } => member_changed(world, account, *guild, *user),
        Event::GuildMemberRemoved { guild, user } => {
            Some(member_removed(world, account, *guild, *user))
        }
        Event::RoleCreated { guild, role } => role_told(world, "GUILD_ROLE_CREATE", *guild, *role),
        Event::RoleChanged { guild, role } => role_told(world, "GUILD_ROLE_UPDATE", *guild, *role),
        Event::RoleDeleted { guild, role } => {
            let data = json!({ "role_id": role.to_string() });
            made("GUILD_ROLE_DELETE", intent::GUILDS, within(Some(*guild), data))
        }
        Event::InteractionCreated { interaction, .. } => {
            made("INTERACTION_CREATE", 0, world.applications.written(*interaction)?)
        }
        unknown => {
            tracing::error!(?unknown, "the loopback Discord does not push this");
            None
        }
    }
}

/// Returns the event about the role that Discord manages for a bot. It comes or goes before its bot.
pub(crate) fn managed_role_told(view: View<'_>, event: &Event) -> Option<Dispatch> {
    let (Event::GuildMemberAdded { guild, user } | Event::GuildMemberRemoved { guild, user }) =
        event
    else {
        return None;
    };
    if *user == view.account || !is_bot(view.world, *user) {
        return None;
    }
    let role = managed_role(*guild, *user);
    let (name, data) = if matches!(event, Event::GuildMemberAdded { .. }) {
        ("GUILD_ROLE_CREATE", json!({ "role": bot_role(view.world, role, *user) }))
    } else {
        ("GUILD_ROLE_DELETE", json!({ "role_id": role.to_string() }))
    };
    Some(Dispatch { name, data: within(Some(*guild), data), intents: intent::GUILDS })
}

/// Returns the name of a deletion, which is different for threads. `kind` is Discord's number.
const fn name_of_deletion(kind: u8) -> &'static str {
    if matches!(kind, 10..=12) { "THREAD_DELETE" } else { "CHANNEL_DELETE" }
}

/// Returns the event of a new member. An account that joins gets the whole guild.
fn member_added(world: &World, account: UserId, guild: GuildId, user: UserId) -> Option<Dispatch> {
    let (name, intents, data) = if user == account {
        ("GUILD_CREATE", intent::GUILDS, guild_create(world, guild, account)?)
    } else {
        let member = within(Some(guild), member(world, guild, user)?);
        ("GUILD_MEMBER_ADD", intent::MEMBERS, member)
    };
    Some(Dispatch { name, data, intents })
}

fn member_changed(
    world: &World,
    account: UserId,
    guild: GuildId,
    user: UserId,
) -> Option<Dispatch> {
    let data = within(Some(guild), member(world, guild, user)?);
    // An account always gets the event about itself.
    let intents = if user == account { intent::GUILDS } else { intent::MEMBERS };
    Some(Dispatch { name: "GUILD_MEMBER_UPDATE", data, intents })
}

fn member_removed(world: &World, account: UserId, guild: GuildId, gone: UserId) -> Dispatch {
    if gone == account {
        let data = json!({ "id": guild.to_string() });
        return Dispatch { name: "GUILD_DELETE", data, intents: intent::GUILDS };
    }
    let data = within(Some(guild), json!({ "user": user(world, gone) }));
    Dispatch { name: "GUILD_MEMBER_REMOVE", data, intents: intent::MEMBERS }
}

pub(super) fn talk(view: View<'_>, name: &'static str, message: &ChatMessage) -> Dispatch {
    let (_, intents) = place(view.world, message.channel);
    Dispatch { name, data: pushed_message(view, message), intents }
}

fn role_told(world: &World, name: &'static str, guild: GuildId, id: RoleId) -> Option<Dispatch> {
    let found = world.places.guilds.get(&guild)?.roles.get(&id)?;
    let data = within(Some(guild), json!({ "role": role(id, found) }));
    Some(Dispatch { name, data, intents: intent::GUILDS })
}

fn deletion(world: &World, name: &'static str, channel: ChannelId, mut data: Value) -> Dispatch {
    let (guild, intents) = place(world, channel);
    if let Some(fields) = data.as_object_mut() {
        fields.insert("channel_id".to_owned(), json!(channel.to_string()));
    }
    Dispatch { name, data: within(guild, data), intents }
}

fn typing(world: &World, channel: ChannelId, who: UserId) -> Option<Dispatch> {
    let guild = world.places.rooms.get(&channel)?.guild;
    let mut data = json!({
        "channel_id": channel.to_string(),
        "user_id": who.to_string(),
        "timestamp": world.clock.now().as_millis() / 1_000,
    });
    if let Some(guild) = guild {
        let member = member(world, guild, who)?;
        data.as_object_mut()?.insert("member".to_owned(), member);
    }
    let intents = if guild.is_some() { intent::GUILD_TYPING } else { intent::DIRECT_TYPING };
    Some(Dispatch { name: "TYPING_START", data: within(guild, data), intents })
}

/// Returns the event of a new or changed channel. Only accounts that see a thread get its events.
fn room(world: &World, account: UserId, id: ChannelId, is_new: bool) -> Option<Dispatch> {
    let found = world.places.rooms.get(&id)?;
    let (name, mut data) = if found.is_thread() {
        let allowed = world.places.permissions(id, account);
        if !allowed.contains(Permissions::VIEW_CHANNEL) {
            return None;
        }
        let name = if is_new { "THREAD_CREATE" } else { "THREAD_UPDATE" };
        (name, channel(world, account, found))
    } else {
        let name = if is_new { "CHANNEL_CREATE" } else { "CHANNEL_UPDATE" };
        (name, pushed_channel(world, account, found))
    };
    if found.is_thread() && is_new {
        data.as_object_mut()?.insert("newly_created".to_owned(), json!(true));
    }
    let intents = if found.guild.is_some() { intent::GUILDS } else { intent::DIRECT_MESSAGES };
    Some(Dispatch { name, data, intents })
}

/// Returns the event of accounts added to a thread. Without the members intent an account gets it only
/// about itself.
fn thread_members(
    world: &World,
    account: UserId,
    id: ChannelId,
    guild: GuildId,
    (added, removed): (&[UserId], &[UserId]),
) -> Option<Dispatch> {
    let thread = world.places.rooms.get(&id)?;
    let members = added.iter().filter_map(|user| thread_member(world, thread, *user, true));
    let removed_ids: Vec<_> = removed.iter().map(UserId::to_string).collect();
    let data = json!({
        "id": id.to_string(),
        "member_count": thread.added.len().min(50),
        "added_members": members.collect::<Vec<_>>(),
        "removed_member_ids": removed_ids,
    });
    let concerns = added.contains(&account) || removed.contains(&account);
    let intents = if concerns { intent::GUILDS } else { intent::MEMBERS };
    Some(Dispatch { name: "THREAD_MEMBERS_UPDATE", data: within(Some(guild), data), intents })
}

/// Returns the guild of a channel, and the intent for its messages.
fn place(world: &World, channel: ChannelId) -> (Option<GuildId>, u64) {
    let guild = world.places.rooms.get(&channel).and_then(|room| room.guild);
    let intents = if guild.is_some() { intent::GUILD_MESSAGES } else { intent::DIRECT_MESSAGES };
    (guild, intents)
}

/// Returns the data with the guild's id.
pub(super) fn within(guild: Option<GuildId>, mut data: Value) -> Value {
    if let (Some(guild), Some(fields)) = (guild, data.as_object_mut()) {
        fields.insert("guild_id".to_owned(), json!(guild.to_string()));
    }
    data
}
