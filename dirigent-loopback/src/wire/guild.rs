//! Guilds in the form of Discord's API.

use dirigent::UserId;
use dirigent::ports::GuildId;
use serde_json::{Value, json};

use super::channel::{channel, pushed_channel};
use super::media::guild_emoji;
use super::people::{bot_role, member, role};
use crate::managed_roles::managed_roles;
use dirigent_testkit::memory_discord::moment;
use dirigent_testkit::memory_discord::permissions::Permissions;
use dirigent_testkit::memory_discord::places::Guild;
use dirigent_testkit::memory_discord::world::World;

/// Returns a guild.
pub(crate) fn guild(world: &World, id: GuildId, guild: &Guild, with_counts: bool) -> Value {
    let roles = roles(world, id, guild);
    let mut written = json!({
        "id": id.to_string(),
        "name": guild.name,
        "icon": null,
        "splash": null,
        "discovery_splash": null,
        "owner_id": guild.owner.to_string(),
        "afk_channel_id": null,
        "afk_timeout": 300,
        "widget_enabled": false,
        "widget_channel_id": null,
        "verification_level": 0,
        "default_message_notifications": 0,
        "explicit_content_filter": 0,
        "roles": roles,
        "emojis": guild.emojis.iter().map(|(id, name)| guild_emoji(*id, name)).collect::<Vec<_>>(),
        "features": [],
        "mfa_level": 0,
        "application_id": null,
        "system_channel_id": null,
        "system_channel_flags": 0,
        "rules_channel_id": null,
        "max_presences": null,
        "max_members": 500_000,
        "vanity_url_code": null,
        "description": null,
        "banner": null,
        "premium_tier": 0,
        "premium_subscription_count": 0,
        "preferred_locale": "en-US",
        "public_updates_channel_id": null,
        "max_video_channel_users": 25,
        "max_stage_video_channel_users": 50,
        "nsfw": false,
        "nsfw_level": 0,
        "stickers": [],
        "premium_progress_bar_enabled": false,
        "safety_alerts_channel_id": null,
        "home_header": null,
        "incidents_data": null,
        "region": "us-west",
    });
    if let (true, Some(fields)) = (with_counts, written.as_object_mut()) {
        fields.insert("approximate_member_count".to_owned(), json!(guild.members.len()));
        fields.insert("approximate_presence_count".to_owned(), json!(guild.members.len()));
    }
    written
}

/// Returns the roles of a guild, including those that Discord manages.
pub(crate) fn roles(world: &World, id: GuildId, guild: &Guild) -> Vec<Value> {
    let own = guild.roles.iter().map(|(id, found)| role(*id, found));
    let managed = managed_roles(world, id, guild);
    own.chain(managed.map(|(role, bot)| bot_role(world, role, bot))).collect()
}

/// Returns a guild in the list of an account's guilds.
pub(crate) fn listed_guild(world: &World, id: GuildId, guild: &Guild, viewer: UserId) -> Value {
    json!({
        "id": id.to_string(),
        "name": guild.name,
        "icon": null,
        "banner": null,
        "owner": guild.owner == viewer,
        "permissions": world.places.in_guild(id, viewer).bits().to_string(),
        "features": [],
        "approximate_member_count": guild.members.len(),
        "approximate_presence_count": guild.members.len(),
    })
}

/// Returns the guilds of an account.
pub(crate) fn guilds_of(world: &World, account: UserId) -> Vec<GuildId> {
    let guilds = world.places.guilds.iter();
    guilds.filter(|(_, guild)| guild.members.contains_key(&account)).map(|(id, _)| *id).collect()
}

/// Returns the data of a `GUILD_CREATE` for an account, or `None` if it is not in the guild.
///
/// It contains only the account itself as a member, as without the presences intent.
pub(crate) fn guild_create(world: &World, id: GuildId, viewer: UserId) -> Option<Value> {
    let found = world.places.guilds.get(&id)?;
    let joined = found.members.get(&viewer)?;
    let rooms = || found.channels.iter().filter_map(|id| world.places.rooms.get(id));
    let channels = rooms().filter(|room| !room.is_thread());
    let channels: Vec<_> = channels.map(|room| pushed_channel(world, viewer, room)).collect();
    let sees = |id| world.places.permissions(id, viewer).contains(Permissions::VIEW_CHANNEL);
    let threads = rooms().filter(|room| room.is_thread() && !room.archived && sees(room.id));
    let threads: Vec<_> = threads.map(|room| channel(world, viewer, room)).collect();
    let mut written = guild(world, id, found, false);
    let fields = written.as_object_mut()?;
    let more = json!({
        "joined_at": moment::written(joined.joined_at),
        "large": found.members.len() > 250,
        "unavailable": false,
        "member_count": found.members.len(),
        "voice_states": [],
        "members": [member(world, id, viewer)?],
        "channels": channels,
        "threads": threads,
        "presences": [],
        "stage_instances": [],
        "guild_scheduled_events": [],
        "soundboard_sounds": [],
    });
    if let Value::Object(more) = more {
        fields.extend(more);
    }
    Some(written)
}
