//! What the recording server answers: a guild with a few channels, two pages of everything that has pages.
//!
//! The answers are whole, as Discord's are, and are checked against the document as the requests are.

use check_contract::{Answer, Request};
use serde_json::{Value, json};

pub(crate) const GUILD: u64 = 100;
pub(crate) const TEXT: u64 = 700;
pub(crate) const ANNOUNCEMENTS: u64 = 701;
pub(crate) const THREAD: u64 = 710;
pub(crate) const PRIVATE_THREAD: u64 = 711;
pub(crate) const DIRECT: u64 = 720;
pub(crate) const GROUP: u64 = 721;
const ME: u64 = 500;
const MOMENT: &str = "2026-01-01T00:00:00.000000+00:00";

/// Answers a request as Discord would.
pub(crate) fn answer(request: &Request) -> Answer {
    let path = request.path().strip_prefix("/api/v10/").unwrap_or_default();
    let parts: Vec<&str> = path.split('/').collect();
    let said = match (request.method(), parts.as_slice()) {
        ("GET", ["users", "@me"]) => (200, me()),
        ("GET", ["users", "@me", "guilds"]) => (200, page(request, 203, guild_of_mine)),
        ("GET" | "DELETE", ["channels", id]) => (200, channel(number(id))),
        ("GET", ["channels", id, "messages"]) => (200, json!([message(number(id), 900)])),
        ("POST", ["channels", id, "messages"]) => (200, message(number(id), 901)),
        ("GET", ["channels", id, "thread-members"]) => {
            let thread = number(id);
            (200, page(request, 103, |user| thread_member(thread, user)))
        }
        ("GET", ["channels", id, "thread-members", user]) => {
            (200, thread_member(number(id), number(user)))
        }
        ("POST", ["channels", _, "typing"] | ["interactions", _, _, "callback"])
        | ("DELETE", ["channels", _, "messages", _] | ["webhooks", _, _, "messages", "903"])
        | ("PUT", ["channels", _, "permissions", _]) => {
            return Answer { status: 204, body: Vec::new() };
        }
        ("GET", ["guilds", id]) => (200, guild(number(id))),
        ("GET", ["guilds", _, "channels"]) => (200, channels()),
        ("POST", ["guilds", _, "channels"]) => (201, channel(TEXT)),
        ("GET", ["guilds", _, "members"]) => (200, page(request, 1_003, member)),
        ("GET", ["guilds", _, "members", "search"]) => (200, json!([member(7)])),
        ("GET", ["guilds", _, "members", user]) => (200, member(number(user))),
        ("GET", ["applications" | "oauth2", .., "@me"]) => (200, application()),
        ("GET", ["gateway", "bot"]) => {
            let starts =
                json!({"total": 1_000, "remaining": 999, "reset_after": 1, "max_concurrency": 1});
            (200, json!({"url": "wss://gateway", "shards": 1, "session_start_limit": starts}))
        }
        ("GET", ["applications", _, "guilds", _, "commands"]) => (200, json!([command("another")])),
        ("POST", ["applications", _, "guilds", guild, "commands"]) => {
            let mut made = command("set-channel-mode");
            add(&mut made, json!({"guild_id": guild}));
            (201, made)
        }
        ("PATCH", ["webhooks", _, _, "messages", "@original"]) => (200, message(TEXT, 902)),
        ("GET", ["channels", _, "webhooks"]) => (200, json!([webhook()])),
        ("POST", ["channels", _, "webhooks"]) | ("PATCH", ["webhooks", _]) => (200, webhook()),
        ("POST", ["webhooks", ..]) | ("PATCH", ["webhooks", _, _, "messages", _]) => {
            let thread = number(asked(request, "thread_id").unwrap_or_default());
            (200, message(if thread == 0 { TEXT } else { thread }, 903))
        }
        ("DELETE", ["webhooks", _, _, "messages", "1"]) => {
            (404, json!({"message": "Unknown Message", "code": 10_008}))
        }
        ("GET", ["channels", id, "messages", _]) => (200, message(number(id), 904)),
        _ => (404, json!({"message": "404: Not Found", "code": 0})),
    };
    Answer { status: said.0, body: said.1.to_string().into_bytes() }
}

/// Some of the ids from 1 on, as `limit` and `after` ask for them.
fn page(request: &Request, count: u64, one: impl Fn(u64) -> Value) -> Value {
    let number = |name: &str| asked(request, name)?.parse().ok();
    let (after, limit) = (number("after").unwrap_or(0), number("limit").unwrap_or(1));
    (after + 1..=count.min(after + limit)).map(one).collect()
}

/// What a request's query says.
fn asked<'a>(request: &'a Request, name: &str) -> Option<&'a str> {
    let mut pairs = request.query().into_iter().flat_map(|query| query.split('&'));
    pairs.find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
}

fn webhook() -> Value {
    json!({
        "id": "77",
        "type": 1,
        "guild_id": GUILD.to_string(),
        "channel_id": TEXT.to_string(),
        "user": user(ME),
        "name": "Critic",
        "avatar": null,
        "token": "a-webhooks-token",
        "application_id": ME.to_string(),
        "url": "https://discord.com/api/webhooks/77/a-webhooks-token",
    })
}

fn me() -> Value {
    let mut me = user(ME);
    add(&mut me, json!({"mfa_enabled": false, "locale": "en-US", "verified": true, "email": null}));
    me
}

fn user(id: u64) -> Value {
    json!({
        "id": id.to_string(),
        "username": format!("bot{id}"),
        "discriminator": "0001",
        "global_name": null,
        "avatar": null,
        "bot": true,
        "public_flags": 0,
        "flags": 0,
        "primary_guild": null,
    })
}

fn guild_of_mine(id: u64) -> Value {
    json!({
        "id": id.to_string(),
        "name": "A guild",
        "icon": null,
        "banner": null,
        "owner": false,
        "permissions": "2147483647",
        "features": [],
    })
}

fn member(id: u64) -> Value {
    json!({
        "user": user(id),
        "nick": null,
        "avatar": null,
        "banner": null,
        "roles": [],
        "joined_at": MOMENT,
        "premium_since": null,
        "pending": false,
        "communication_disabled_until": null,
        "mute": false,
        "deaf": false,
        "flags": 0,
    })
}

fn thread_member(thread: u64, user: u64) -> Value {
    json!({
        "id": thread.to_string(),
        "user_id": user.to_string(),
        "join_timestamp": MOMENT,
        "flags": 0,
        "member": member(user),
    })
}

fn message(channel: u64, id: u64) -> Value {
    json!({
        "id": id.to_string(),
        "channel_id": channel.to_string(),
        "author": user(ME),
        "type": 0,
        "content": "hello",
        "timestamp": MOMENT,
        "edited_timestamp": null,
        "tts": false,
        "pinned": false,
        "mention_everyone": false,
        "mentions": [],
        "mention_roles": [],
        "attachments": [],
        "embeds": [],
        "components": [],
        "flags": 0,
        "nonce": "0000",
    })
}

fn application() -> Value {
    json!({
        "id": ME.to_string(),
        "name": "bot",
        "icon": null,
        "description": "",
        "type": null,
        "verify_key": "00",
        "flags": 0,
        "flags_new": "0",
        "redirect_uris": [],
        "interactions_endpoint_url": null,
        "role_connections_verification_url": null,
        "owner": user(1),
        "approximate_guild_count": 1,
        "approximate_user_install_count": 0,
        "approximate_user_authorization_count": 0,
        "explicit_content_filter": 0,
        "team": null,
        "eligible_oauth2_scopes": [],
    })
}

fn command(name: &str) -> Value {
    json!({
        "id": "800",
        "application_id": ME.to_string(),
        "version": "801",
        "type": 1,
        "name": name,
        "description": "Does something",
        "default_member_permissions": null,
    })
}

/// What the gateway pushes when a person uses the slash command.
pub(crate) fn command_used(id: u64) -> Value {
    json!({"op": 0, "s": id, "t": "INTERACTION_CREATE", "d": {
        "id": id.to_string(),
        "application_id": ME.to_string(),
        "type": 2,
        "token": format!("a.token-of_{id}"),
        "version": 1,
        "guild_id": GUILD.to_string(),
        "channel_id": TEXT.to_string(),
        "member": {"user": user(1), "permissions": "16", "roles": []},
        "data": {
            "id": "800",
            "type": 1,
            "name": "set-channel-mode",
            "options": [{"type": 3, "name": "mode", "value": "chat"}],
        },
    }})
}

fn channels() -> Value {
    [TEXT, ANNOUNCEMENTS].into_iter().map(channel).collect()
}

fn channel(id: u64) -> Value {
    let mut channel = json!({"id": id.to_string(), "flags": 0, "last_message_id": null});
    let of_guild = |kind: u8| {
        json!({
            "type": kind,
            "guild_id": GUILD.to_string(),
            "name": "round-table",
            "parent_id": null,
            "position": 0,
            "nsfw": false,
            "topic": null,
            "rate_limit_per_user": 0,
            "permission_overwrites": [
                {"id": GUILD.to_string(), "type": 0, "allow": "0", "deny": "1024"},
                {"id": ME.to_string(), "type": 1, "allow": "68608", "deny": "0"},
            ],
        })
    };
    let thread = |kind: u8| {
        json!({
            "type": kind,
            "guild_id": GUILD.to_string(),
            "name": "aside",
            "parent_id": TEXT.to_string(),
            "owner_id": ME.to_string(),
            "rate_limit_per_user": 0,
            "message_count": 1,
            "member_count": 2,
            "total_message_sent": 1,
            "thread_metadata": {
                "archived": false,
                "archive_timestamp": MOMENT,
                "auto_archive_duration": 1440,
                "locked": false,
                "create_timestamp": MOMENT,
            },
        })
    };
    let more = match id {
        ANNOUNCEMENTS => of_guild(5),
        THREAD => thread(11),
        PRIVATE_THREAD => thread(12),
        DIRECT => json!({"type": 1, "recipients": [user(1)]}),
        GROUP => json!({
            "type": 3,
            "recipients": [user(1), user(2)],
            "name": null,
            "icon": null,
            "owner_id": "1",
        }),
        _ => of_guild(0),
    };
    add(&mut channel, more);
    channel
}

fn guild(id: u64) -> Value {
    let mut guild = json!({
        "id": id.to_string(),
        "name": "A guild",
        "owner_id": "1",
        "region": "us-west",
        "afk_timeout": 300,
        "system_channel_flags": 0,
        "widget_enabled": false,
        "verification_level": 0,
        "default_message_notifications": 0,
        "mfa_level": 0,
        "explicit_content_filter": 0,
        "max_presences": null,
        "max_members": 500_000,
        "max_stage_video_channel_users": 50,
        "max_video_channel_users": 25,
        "premium_tier": 0,
        "premium_subscription_count": 0,
        "preferred_locale": "en-US",
        "premium_progress_bar_enabled": false,
        "nsfw": false,
        "nsfw_level": 0,
        "features": [],
        "emojis": [],
        "stickers": [],
        "roles": [role(id)],
    });
    let empty = [
        "icon",
        "description",
        "home_header",
        "splash",
        "discovery_splash",
        "banner",
        "application_id",
        "afk_channel_id",
        "system_channel_id",
        "widget_channel_id",
        "vanity_url_code",
        "rules_channel_id",
        "safety_alerts_channel_id",
        "public_updates_channel_id",
        "incidents_data",
    ];
    let empty = empty.into_iter().map(|key| (key.to_owned(), Value::Null)).collect();
    add(&mut guild, Value::Object(empty));
    guild
}

/// The role of everyone, which has its guild's id.
fn role(id: u64) -> Value {
    json!({
        "id": id.to_string(),
        "name": "@everyone",
        "permissions": "68608",
        "position": 0,
        "color": 0,
        "colors": {"primary_color": 0, "secondary_color": null, "tertiary_color": null},
        "hoist": false,
        "managed": false,
        "mentionable": false,
        "icon": null,
        "unicode_emoji": null,
        "flags": 0,
    })
}

fn add(object: &mut Value, more: Value) {
    if let (Value::Object(object), Value::Object(more)) = (object, more) {
        object.extend(more);
    }
}

fn number(text: &str) -> u64 {
    text.parse().unwrap_or_default()
}
