//! Users, members, roles and applications.

use dirigent::ports::{AuthorKind, GuildId};
use dirigent::{ChatMessage, UserId};
use serde_json::{Value, json};

use super::guild::guilds_of;
use crate::managed_roles::{is_bot, managed_role};
use dirigent_testkit::memory_discord::moment;
use dirigent_testkit::memory_discord::permissions::Permissions;
use dirigent_testkit::memory_discord::role::{Role, RoleId};
use dirigent_testkit::memory_discord::webhooks::PostedAs;
use dirigent_testkit::memory_discord::world::World;

/// Returns the digits that once stood after a `#` in a name. People have none, since their names are unique. Webhooks
/// have zeros. A bot never has zeros, because clients use them to tell a bot from a webhook.
fn discriminator(id: UserId, kind: AuthorKind) -> String {
    match kind {
        AuthorKind::Human => "0".to_owned(),
        AuthorKind::Bot => format!("{:04}", id.get() % 9_999 + 1),
        AuthorKind::Bridged | AuthorKind::Webhook | _ => "0000".to_owned(),
    }
}

/// Returns a user.
pub(crate) fn user(world: &World, id: UserId) -> Value {
    let account = world.accounts.get(id);
    let name = account.map_or("unknown", |account| &*account.name);
    let kind = account.map_or(AuthorKind::Human, |account| account.kind);
    json!({
        "id": id.to_string(),
        "username": name,
        "global_name": null,
        "discriminator": discriminator(id, kind),
        "avatar": null,
        "bot": kind != AuthorKind::Human,
        "system": false,
        "public_flags": 0,
        "flags": 0,
        "primary_guild": null,
    })
}

/// Returns the author of a message. A webhook may choose a name and a picture for each message.
pub(super) fn author(world: &World, message: &ChatMessage, guise: Option<&PostedAs>) -> Value {
    let mut author = user(world, message.author);
    let webhook = world.webhooks.get(message.author);
    let avatar = guise.and_then(|guise| guise.avatar.as_ref());
    let avatar = avatar.or_else(|| webhook?.avatar.as_ref());
    let name = guise.and_then(|guise| guise.name.as_ref());
    let Some(fields) = author.as_object_mut() else { return author };
    if let Some(avatar) = avatar {
        fields.insert("avatar".to_owned(), json!(avatar));
    }
    if let Some(name) = name {
        fields.insert("username".to_owned(), json!(name));
    }
    author
}

/// Returns a user, as it sees itself.
pub(crate) fn current_user(world: &World, id: UserId) -> Value {
    let mut user = user(world, id);
    if let Value::Object(fields) = &mut user {
        fields.insert("mfa_enabled".to_owned(), json!(false));
        fields.insert("verified".to_owned(), json!(true));
        fields.insert("locale".to_owned(), json!("en-US"));
        fields.insert("email".to_owned(), Value::Null);
    }
    user
}

/// Returns a member with its user, or `None` if the account is not in the guild.
pub(crate) fn member(world: &World, guild: GuildId, id: UserId) -> Option<Value> {
    let mut member = partial_member(world, guild, id)?;
    member.as_object_mut()?.insert("user".to_owned(), user(world, id));
    Some(member)
}

/// Returns a member without its user, as it comes with messages.
pub(crate) fn partial_member(world: &World, guild: GuildId, id: UserId) -> Option<Value> {
    let member = world.places.guilds.get(&guild)?.members.get(&id)?;
    let until = member.timed_out_until.map(moment::written);
    let managed = is_bot(world, id).then(|| managed_role(guild, id));
    let roles = member.roles.iter().copied().chain(managed);
    Some(json!({
        "roles": roles.map(|role| role.to_string()).collect::<Vec<_>>(),
        "nick": null,
        "avatar": null,
        "banner": null,
        "joined_at": moment::written(member.joined_at),
        "premium_since": null,
        "deaf": false,
        "mute": false,
        "pending": false,
        "flags": 0,
        "communication_disabled_until": until,
    }))
}

/// Returns the role that Discord manages for a bot.
pub(super) fn bot_role(world: &World, id: RoleId, bot: UserId) -> Value {
    let name = world.accounts.get(bot).map_or("unknown", |account| &*account.name).to_owned();
    let mut written = role(id, &Role { name, permissions: Permissions::NONE, position: 1 });
    let Some(fields) = written.as_object_mut() else { return written };
    fields.insert("managed".to_owned(), json!(true));
    fields.insert("tags".to_owned(), json!({ "bot_id": bot.to_string() }));
    written
}

/// Returns a role.
pub(crate) fn role(id: RoleId, role: &Role) -> Value {
    json!({
        "id": id.to_string(),
        "name": role.name,
        "permissions": role.permissions.bits().to_string(),
        "position": role.position,
        "color": 0,
        "colors": { "primary_color": 0, "secondary_color": null, "tertiary_color": null },
        "hoist": false,
        "icon": null,
        "unicode_emoji": null,
        "managed": false,
        "mentionable": false,
        "flags": 0,
    })
}

/// Returns a bot's application, which has the bot's id.
pub(crate) fn application(world: &World, bot: UserId) -> Value {
    let account = world.accounts.get(bot);
    let name = account.map_or("unknown", |account| &*account.name);
    let flags = application_flags(world, bot);
    json!({
        "id": bot.to_string(),
        "name": name,
        "icon": null,
        "description": "An application of the loopback Discord",
        "bot_public": true,
        "bot_require_code_grant": false,
        "verify_key": "0000000000000000000000000000000000000000000000000000000000000000",
        "flags": flags,
        "flags_new": flags.to_string(),
        "type": null,
        "approximate_guild_count": guilds_of(world, bot).len(),
        "approximate_user_install_count": 0,
        "approximate_user_authorization_count": 0,
        "eligible_oauth2_scopes": [],
        "explicit_content_filter": 0,
        "interactions_endpoint_url": null,
        "role_connections_verification_url": null,
        "rpc_origins": [],
        "redirect_uris": [],
        "team": null,
        "bot": user(world, bot),
        "hook": true,
        "owner": user(world, bot),
        "summary": "",
    })
}

/// Returns the application in READY.
pub(crate) fn partial_application(world: &World, bot: UserId) -> Value {
    json!({ "id": bot.to_string(), "flags": application_flags(world, bot) })
}

/// Returns the flags of privileged intents that are switched on, as for a bot in few guilds.
fn application_flags(world: &World, bot: UserId) -> u64 {
    const PRESENCE_LIMITED: u64 = 1 << 13;
    const MEMBERS_LIMITED: u64 = 1 << 15;
    const CONTENT_LIMITED: u64 = 1 << 19;
    world.accounts.get(bot).map_or(0, |account| {
        let members = if account.members_hidden { 0 } else { MEMBERS_LIMITED };
        let content = if account.content_hidden { 0 } else { CONTENT_LIMITED };
        PRESENCE_LIMITED | members | content
    })
}
