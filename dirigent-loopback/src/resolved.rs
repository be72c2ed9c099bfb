//! The accounts, channels and roles that the options of a command name. They are sent with the interaction.

use dirigent::UserId;
use dirigent::ports::GuildId;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::wire;
use dirigent_testkit::memory_discord::world::World;

/// Discord's numbers for options that name something (interactions/application-commands).
mod kind {
    pub(super) const USER: u64 = 6;
    pub(super) const CHANNEL: u64 = 7;
    pub(super) const ROLE: u64 = 8;
    pub(super) const MENTIONABLE: u64 = 9;
}

/// Returns true if an option of this kind names an account, a channel or a role.
pub(super) const fn names_something(kind: u64) -> bool {
    matches!(kind, kind::USER | kind::CHANNEL | kind::ROLE | kind::MENTIONABLE)
}

/// The accounts, channels and roles that the options of one interaction name, by id.
#[derive(Debug, Default, Serialize)]
pub(super) struct Resolved {
    #[serde(skip_serializing_if = "Map::is_empty")]
    users: Map<String, Value>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    members: Map<String, Value>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    roles: Map<String, Value>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    channels: Map<String, Value>,
}

impl Resolved {
    /// Returns the value of an option as it is sent, which is an id. It may be given as an id, a mention, or a name
    /// with or without its sign. Returns `None` if there is no such thing.
    pub(super) fn add(
        &mut self,
        world: &World,
        guild: Option<GuildId>,
        kind: u64,
        value: &Value,
    ) -> Option<Value> {
        let written = match value {
            Value::String(text) => text.trim().to_owned(),
            Value::Number(number) => number.to_string(),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
        };
        let id = match kind {
            kind::USER => self.user(world, guild, &written),
            kind::CHANNEL => self.channel(world, guild, &written),
            kind::ROLE => self.role(world, guild, &written),
            _ => self.user(world, guild, &written).or_else(|| self.role(world, guild, &written)),
        };
        id.map(Value::from)
    }

    fn user(&mut self, world: &World, guild: Option<GuildId>, written: &str) -> Option<String> {
        let mentioned = inside(written, "<@!").or_else(|| inside(written, "<@"));
        let id = mentioned.unwrap_or(written).parse().ok().map(UserId::new);
        let known = id.filter(|id| world.accounts.get(*id).is_some());
        let name = written.trim_start_matches('@');
        let user = known.or_else(|| {
            let all = world.accounts.iter();
            let named = all.filter(|(_, account)| account.name.eq_ignore_ascii_case(name));
            named.map(|(id, _)| id).min()
        })?;
        let id = user.to_string();
        self.users.insert(id.clone(), wire::user(world, user));
        let member = guild.and_then(|guild| {
            let mut member = wire::member(world, guild, user)?;
            let fields = member.as_object_mut()?;
            fields.retain(|name, _| !matches!(name.as_str(), "user" | "deaf" | "mute"));
            let allowed = world.places.in_guild(guild, user).bits();
            fields.insert("permissions".to_owned(), json!(allowed.to_string()));
            Some(member)
        });
        self.members.extend(member.map(|member| (id.clone(), member)));
        Some(id)
    }

    fn channel(&mut self, world: &World, guild: Option<GuildId>, written: &str) -> Option<String> {
        let asked = inside(written, "<#").unwrap_or(written.trim_start_matches('#'));
        let mut rooms = world.places.rooms.values().filter(|room| room.guild == guild);
        let room = rooms.find(|room| room.id.to_string() == asked || room.name == asked)?;
        let partial = json!({
            "id": room.id.to_string(),
            "name": room.name,
            "type": room.kind,
            "parent_id": room.parent.map(|parent| parent.to_string()),
            "permissions": "0",
        });
        self.channels.insert(room.id.to_string(), partial);
        Some(room.id.to_string())
    }

    fn role(&mut self, world: &World, guild: Option<GuildId>, written: &str) -> Option<String> {
        let asked = inside(written, "<@&").unwrap_or(written.trim_start_matches('@'));
        let id = guild?;
        let roles = wire::roles(world, id, world.places.guilds.get(&id)?);
        let text = |role: &Value, name| role.get(name).and_then(Value::as_str).map(str::to_owned);
        let is_meant = |role: &&Value| {
            ["id", "name"].iter().any(|name| text(role, *name).as_deref() == Some(asked))
        };
        let role = roles.iter().find(is_meant)?;
        let id = text(role, "id")?;
        self.roles.insert(id.clone(), role.clone());
        Some(id)
    }
}

/// Returns the id in a mention.
fn inside<'a>(written: &'a str, begin: &str) -> Option<&'a str> {
    written.strip_prefix(begin)?.strip_suffix('>')
}
