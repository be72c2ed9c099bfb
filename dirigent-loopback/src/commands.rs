//! Slash commands from a person's side: using one, and reading the answers.

use std::fmt;

use dirigent::ports::GuildId;
use dirigent::{ChannelId, MessageId, UserId};
use serde_json::{Map, Value, json};

use super::resolved::{Resolved, names_something};
use super::{LoopbackDiscord, wire};
use dirigent_testkit::memory_discord::Event;
use dirigent_testkit::memory_discord::applications::{Answered, FIRST_ANSWER, Interaction};
use dirigent_testkit::memory_discord::permissions::Permissions;
use dirigent_testkit::memory_discord::world::World;

/// The id of an interaction, which is one use of a command.
///
/// ```
/// use dirigent_loopback::InteractionId;
/// assert_eq!(InteractionId::new(7).to_string(), "7");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InteractionId(u64);

impl InteractionId {
    /// Wraps the number.
    pub const fn new(id: u64) -> Self {
        Self(id)
    }

    /// Returns the number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for InteractionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Why a command cannot be used.
///
/// ```
/// use dirigent_loopback::CommandError;
/// assert_eq!(CommandError::NoCommand.to_string(), "the application has no such command here");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CommandError {
    /// The application has no such command there.
    NoCommand,
    /// The account may not use it. It cannot see the channel, may not use commands, or lacks permissions that the
    /// command needs.
    NotAllowed,
    /// The command has no such option.
    NoOption(String),
    /// The command requires this option.
    MissingOption(String),
    /// The option does not accept this value, because it has another kind or is not among its choices.
    BadValue(String),
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCommand => f.write_str("the application has no such command here"),
            Self::NotAllowed => f.write_str("this account may not use the command here"),
            Self::NoOption(name) => write!(f, "the command has no option {name}"),
            Self::MissingOption(name) => write!(f, "the command takes the option {name}"),
            Self::BadValue(name) => write!(f, "the option {name} does not take this value"),
        }
    }
}

impl std::error::Error for CommandError {}

/// An answer to a command, as its user sees it.
///
/// ```no_run
/// # use dirigent_loopback::{InteractionId, LoopbackDiscord};
/// # fn example(loopback: &LoopbackDiscord, used: InteractionId) {
/// for answer in loopback.answers(used) {
///     assert!(!answer.is_private);
/// }
/// # }
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShownAnswer {
    /// The id of the answer's message.
    pub id: MessageId,
    /// The text. It is empty while the answer is deferred.
    pub content: String,
    /// True if only the user sees it.
    pub is_private: bool,
}

impl fmt::Debug for ShownAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShownAnswer")
            .field("id", &self.id)
            .field("is_private", &self.is_private)
            .finish_non_exhaustive()
    }
}

impl LoopbackDiscord {
    /// Lets an account use a command of a bot's application, as with a client. The bot's gateway sessions get the
    /// interaction, and have three seconds for a first answer. Name a subcommand with both names, for example
    /// `talk stop`.
    ///
    /// If an option names an account, a channel or a role, give it as an id, a mention or a name. The bot gets the id,
    /// and the resolved object beside the options.
    ///
    /// # Errors
    ///
    /// Returns the [`CommandError`] for which a client would not send the command, for example because an option is
    /// missing or the account may not use it.
    pub fn use_command(
        &self,
        channel: ChannelId,
        user: UserId,
        bot: UserId,
        command: &str,
        options: &[(&str, Value)],
    ) -> Result<InteractionId, CommandError> {
        let mut world = self.state.discord.world();
        let room = world.places.rooms.get(&channel).ok_or(CommandError::NotAllowed)?;
        let guild = room.guild;
        let mut names = command.split(' ');
        let name = names.next().unwrap_or_default();
        let found = world.applications.command(bot, guild, name).cloned();
        let found = found.ok_or(CommandError::NoCommand)?;
        let allowed = world.places.permissions(channel, user);
        if !may_use(&found, allowed, guild) {
            return Err(CommandError::NotAllowed);
        }
        let mut resolved = Resolved::default();
        let mut resolve = |kind, value: &Value| resolved.add(&world, guild, kind, value);
        let given = given_options(&found, names, options, &mut resolve)?;
        let resolved = serde_json::to_value(resolved).unwrap_or_default();
        let id = world.next_id();
        let token = format!("loopback-{id}-{:016x}", id.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let data = json!({
            "id": found.get("id"),
            "name": name,
            "type": 1,
            "guild_id": found.get("guild_id"),
            "options": given,
            "resolved": Some(resolved).filter(|it| it.as_object().is_some_and(|it| !it.is_empty())),
        });
        let written = interaction(&world, id, (channel, user, bot), &token, data);
        let kept = Interaction {
            application: bot,
            token,
            made_at: world.clock.now(),
            channel,
            user,
            command: name.to_owned(),
            written,
            answered: Answered::Not,
            whispers: Vec::new(),
            messages: Vec::new(),
        };
        world.applications.interactions.insert(id, kept);
        world.publish(Event::InteractionCreated { application: bot, interaction: id });
        Ok(InteractionId(id))
    }

    /// Returns the name of a command's option, if the bot has the command there and it has exactly one option.
    pub fn only_option(&self, channel: ChannelId, bot: UserId, command: &str) -> Option<String> {
        let world = self.state.discord.world();
        let guild = world.places.rooms.get(&channel)?.guild;
        let command = world.applications.command(bot, guild, command)?;
        match command.get("options")?.as_array()?.as_slice() {
            [only] => only.get("name")?.as_str().map(str::to_owned),
            _ => None,
        }
    }

    /// Returns true if the bot did not answer within three seconds. A client then shows that the application did not
    /// respond, and later answers are refused.
    pub fn is_unanswered(&self, used: InteractionId) -> bool {
        let world = self.state.discord.world();
        let now = world.clock.now();
        world.applications.interactions.get(&used.0).is_some_and(|found| {
            found.answered == Answered::Not && now.since(found.made_at) > FIRST_ANSWER
        })
    }

    /// Returns all answers to a command so far, oldest first.
    pub fn answers(&self, used: InteractionId) -> Vec<ShownAnswer> {
        let world = self.state.discord.world();
        let Some(found) = world.applications.interactions.get(&used.0) else {
            return Vec::new();
        };
        let room = world.places.rooms.get(&found.channel);
        let whispers = found.whispers.iter().map(|whisper| ShownAnswer {
            id: whisper.message.id,
            content: whisper.message.content.to_string(),
            is_private: true,
        });
        let messages = found.messages.iter().filter_map(|id| room?.messages.find(*id));
        let messages = messages.map(|message| ShownAnswer {
            id: message.id,
            content: message.content.to_string(),
            is_private: false,
        });
        let mut answers: Vec<_> = whispers.chain(messages).collect();
        answers.sort_by_key(|answer| answer.id);
        answers
    }
}

/// Returns true if an account with these permissions may use a command.
fn may_use(command: &Value, allowed: Permissions, guild: Option<GuildId>) -> bool {
    if guild.is_none() {
        return allowed.contains(Permissions::VIEW_CHANNEL);
    }
    let needed = command.get("default_member_permissions").and_then(Value::as_str);
    let needed = needed.and_then(|bits| bits.parse().ok()).map(Permissions::from_bits);
    let is_administrator = allowed.contains(Permissions::ADMINISTRATOR);
    let basic = Permissions::VIEW_CHANNEL | Permissions::USE_APPLICATION_COMMANDS;
    // No permission in the list means that only administrators may use it.
    let suits = needed.is_none_or(|needed| !needed.is_empty() && allowed.contains(needed));
    is_administrator || (allowed.contains(basic) && suits)
}

/// Returns the options as the application gets them, checked against the command.
fn given_options<'a>(
    command: &Value,
    mut inner: impl Iterator<Item = &'a str>,
    options: &[(&str, Value)],
    resolve: &mut dyn FnMut(u64, &Value) -> Option<Value>,
) -> Result<Vec<Value>, CommandError> {
    let defined = command.get("options").and_then(Value::as_array);
    let defined = defined.map_or(&[][..], Vec::as_slice);
    let named = |name: &str| {
        defined.iter().find(|option| option.get("name").and_then(Value::as_str) == Some(name))
    };
    if let Some(name) = inner.next() {
        let found = named(name).filter(|option| matches!(kind_of(option), Some(1 | 2)));
        let found = found.ok_or(CommandError::NoCommand)?;
        let options = given_options(found, inner, options, resolve)?;
        return Ok(vec![json!({ "name": name, "type": kind_of(found), "options": options })]);
    }
    for option in defined {
        let name = option.get("name").and_then(Value::as_str).unwrap_or_default();
        let is_given = options.iter().any(|(given, _)| *given == name);
        if option.get("required") == Some(&Value::Bool(true)) && !is_given {
            return Err(CommandError::MissingOption(name.to_owned()));
        }
    }
    let mut given = Vec::new();
    for (name, value) in options {
        let option = named(name).ok_or_else(|| CommandError::NoOption((*name).to_owned()))?;
        let named = kind_of(option).filter(|kind| names_something(*kind));
        let value = match named {
            Some(kind) => resolve(kind, value),
            None => Some(value.clone()).filter(|value| takes(option, value)),
        };
        let value = value.ok_or_else(|| CommandError::BadValue((*name).to_owned()))?;
        given.push(json!({ "name": name, "type": kind_of(option), "value": value }));
    }
    Ok(given)
}

fn kind_of(option: &Value) -> Option<u64> {
    option.get("type").and_then(Value::as_u64)
}

/// Returns true if an option accepts this value, by its kind and its choices.
fn takes(option: &Value, value: &Value) -> bool {
    let is_of_kind = match kind_of(option) {
        Some(4) => value.is_i64() || value.is_u64(),
        Some(5) => value.is_boolean(),
        Some(10) => value.is_number(),
        Some(_) | None => value.is_string(),
    };
    let choices = option.get("choices").and_then(Value::as_array);
    let choices = choices.filter(|choices| !choices.is_empty());
    let is_chosen = choices
        .is_none_or(|choices| choices.iter().any(|choice| choice.get("value") == Some(value)));
    is_of_kind && is_chosen
}

/// Returns the interaction as it is pushed.
fn interaction(
    world: &World,
    id: u64,
    (channel, user, bot): (ChannelId, UserId, UserId),
    token: &str,
    mut data: Value,
) -> Value {
    if let Some(fields) = data.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    let room = world.places.rooms.get(&channel);
    let guild = room.and_then(|room| room.guild);
    let allowed = world.places.permissions(channel, user).bits().to_string();
    let mut written = json!({
        "id": id.to_string(),
        "application_id": bot.to_string(),
        "type": 2,
        "token": token,
        "version": 1,
        "data": data,
        "channel_id": channel.to_string(),
        "channel": room.map(|room| wire::channel(world, bot, room)),
        "app_permissions": world.places.permissions(channel, bot).bits().to_string(),
        "locale": "en-US",
        "entitlements": [],
        "entitlement_sku_ids": [],
        "attachment_size_limit": 26_214_400,
        "authorizing_integration_owners": {},
        "context": u8::from(guild.is_none()),
    });
    let Some(fields) = written.as_object_mut() else { return written };
    if let Some(channel) = fields.get_mut("channel").and_then(Value::as_object_mut) {
        channel.insert("permissions".to_owned(), json!(allowed));
    }
    let mut more = Map::new();
    match guild {
        Some(guild) => {
            let mut member = wire::member(world, guild, user).unwrap_or_default();
            if let Some(member) = member.as_object_mut() {
                member.insert("permissions".to_owned(), json!(allowed));
            }
            let owners = json!({ "0": guild.to_string() });
            let partial = json!({ "id": guild.to_string(), "locale": "en-US", "features": [] });
            more.insert("member".to_owned(), member);
            more.insert("guild_id".to_owned(), json!(guild.to_string()));
            more.insert("guild_locale".to_owned(), json!("en-US"));
            more.insert("guild".to_owned(), partial);
            more.insert("authorizing_integration_owners".to_owned(), owners);
        }
        None => {
            more.insert("user".to_owned(), wire::user(world, user));
        }
    }
    fields.extend(more);
    written
}
