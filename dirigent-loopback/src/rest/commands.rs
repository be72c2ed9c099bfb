//! An application's commands, global or in one guild.

use dirigent::UserId;
use dirigent::ports::GuildId;
use serde_json::{Map, Value, json};

use super::ask::{Ask, as_number, number, object, only, text, text_of};
use super::refusal::Refusal;
use super::reply::Reply;
use super::sight::joined;
use dirigent_testkit::memory_discord::world::World;

/// The most commands of one kind in one place.
const COMMANDS_MAX: usize = 100;

/// The most options of a command.
const OPTIONS_MAX: usize = 25;

/// The bounds of a command's name and description, in characters.
const NAME: (usize, usize) = (1, 32);
const DESCRIPTION: (usize, usize) = (1, 100);

/// The fields of a command. Clients may send back those that the server writes.
const FIELDS: [&str; 15] = [
    "id",
    "application_id",
    "guild_id",
    "version",
    "name",
    "name_localizations",
    "description",
    "description_localizations",
    "options",
    "type",
    "default_member_permissions",
    "dm_permission",
    "default_permission",
    "contexts",
    "nsfw",
];

/// The application of commands, and their guild.
type Scope = (UserId, Option<GuildId>);

/// Returns the scope of the request, which must be the account's own application, and the place of the
/// command's id in the path.
fn scope(world: &World, ask: &Ask) -> Result<(Scope, usize), Refusal> {
    if ask.user(0) != ask.me {
        return Err(Refusal::missing_access());
    }
    if !ask.matched.endpoint.path().contains("/guilds/") {
        return Ok(((ask.me, None), 1));
    }
    let guild = GuildId::new(ask.id(1));
    joined(world, guild, ask.me).map_err(|_| Refusal::missing_access())?;
    Ok(((ask.me, Some(guild)), 2))
}

pub(super) fn list(world: &World, ask: &Ask) -> Result<Reply, Refusal> {
    let (scope, _) = scope(world, ask)?;
    Ok(Reply::list(world.applications.commands.get(&scope).into_iter().flatten().cloned()))
}

pub(super) fn one(world: &World, ask: &Ask) -> Result<Reply, Refusal> {
    let (scope, place) = scope(world, ask)?;
    let mut commands = world.applications.commands.get(&scope).into_iter().flatten();
    let found = commands.find(|command| id_of(command) == Some(ask.id(place)));
    found.cloned().map(Reply::json).ok_or_else(Refusal::unknown_command)
}

/// Adds a command. It replaces one with the same name and kind.
pub(super) fn create(world: &mut World, ask: &Ask) -> Result<Reply, Refusal> {
    let (scope, _) = scope(world, ask)?;
    let fields = known_fields(ask)?;
    let command = read(world, scope, fields)?;
    let commands = world.applications.commands.entry(scope).or_default();
    let before = commands.len();
    put(commands, command.clone());
    let is_new = commands.len() > before;
    check_number(commands)
        .inspect_err(|_| drop(world.applications.commands.get_mut(&scope).and_then(Vec::pop)))?;
    Ok(if is_new { Reply::created(command) } else { Reply::json(command) })
}

/// Replaces all commands.
pub(super) fn set(world: &mut World, ask: &Ask) -> Result<Reply, Refusal> {
    let (scope, _) = scope(world, ask)?;
    let mut commands = Vec::new();
    for given in ask.list()? {
        let fields = object(given, "body")?;
        only(fields, &with_integrations())?;
        let command = read(world, scope, fields)?;
        let count = commands.len();
        put(&mut commands, command);
        if commands.len() == count {
            let message = "Application command names must be unique";
            return Err(Refusal::invalid("name", "APPLICATION_COMMANDS_DUPLICATE_NAME", message));
        }
    }
    check_number(&commands)?;
    world.applications.commands.insert(scope, commands.clone());
    Ok(Reply::list(commands))
}

pub(super) fn update(world: &mut World, ask: &Ask) -> Result<Reply, Refusal> {
    let (scope, place) = scope(world, ask)?;
    let given = known_fields(ask)?.clone();
    let mut known = world.applications.commands.get(&scope).into_iter().flatten();
    let old = known.find(|command| id_of(command) == Some(ask.id(place))).cloned();
    let Some(Value::Object(mut fields)) = old else {
        return Err(Refusal::unknown_command());
    };
    fields.extend(given);
    let changed = read(world, scope, &fields)?;
    let commands = world.applications.commands.entry(scope).or_default();
    commands.retain(|command| id_of(command) != Some(ask.id(place)));
    commands.push(changed.clone());
    Ok(Reply::json(changed))
}

pub(super) fn delete(world: &mut World, ask: &Ask) -> Result<Reply, Refusal> {
    let (scope, place) = scope(world, ask)?;
    let commands = world.applications.commands.entry(scope).or_default();
    let before = commands.len();
    commands.retain(|command| id_of(command) != Some(ask.id(place)));
    if commands.len() == before { Err(Refusal::unknown_command()) } else { Ok(Reply::nothing()) }
}

fn known_fields(ask: &Ask) -> Result<&Map<String, Value>, Refusal> {
    ask.fields(&with_integrations())
}

/// Returns the fields, with one that says where an application is installed. It has no effect here.
fn with_integrations() -> Vec<&'static str> {
    FIELDS.into_iter().chain(["integration_types"]).collect()
}

fn id_of(command: &Value) -> Option<u64> {
    command.get("id").and_then(as_number)
}

fn name_and_kind(command: &Value) -> (Option<&str>, Option<u64>) {
    (command.get("name").and_then(Value::as_str), command.get("type").and_then(Value::as_u64))
}

/// Adds a command, or replaces one with its name and kind.
fn put(commands: &mut Vec<Value>, command: Value) {
    let same = commands.iter_mut().find(|known| name_and_kind(known) == name_and_kind(&command));
    match same {
        Some(known) => *known = command,
        None => commands.push(command),
    }
}

fn check_number(commands: &[Value]) -> Result<(), Refusal> {
    for kind in 1..=3 {
        let of_kind = commands.iter().filter(|command| name_and_kind(command).1 == Some(kind));
        if of_kind.count() > COMMANDS_MAX {
            let message = "Maximum number of application commands reached (100)";
            return Err(Refusal::new(400, 30032, message));
        }
    }
    Ok(())
}

/// Reads a command, in the form that is stored and returned.
fn read(world: &mut World, scope: Scope, fields: &Map<String, Value>) -> Result<Value, Refusal> {
    let required = |name| Refusal::invalid(name, "BASE_TYPE_REQUIRED", "This field is required");
    // Some clients still send the old field with its default value.
    if fields.get("default_permission") == Some(&Value::Bool(false)) {
        return Err(Refusal::lacking("a command that is off by default (default_permission)"));
    }
    let kind = number(fields, "type")?.unwrap_or(1);
    let name = text_of(fields, "name", NAME)?.ok_or_else(|| required("name"))?;
    let description = if kind == 1 {
        check_name(name)?;
        text_of(fields, "description", DESCRIPTION)?.ok_or_else(|| required("description"))?
    } else {
        text(fields, "description")?.unwrap_or_default()
    };
    let options = fields.get("options").and_then(Value::as_array).cloned().unwrap_or_default();
    if options.len() > OPTIONS_MAX {
        return Err(Refusal::wrong_length("options", 0, OPTIONS_MAX));
    }
    for (place, option) in options.iter().enumerate() {
        let within = format!("options.{place}");
        let option = object(option, &within)?;
        check_name(text_of(option, "name", NAME)?.ok_or_else(|| required("options.name"))?)?;
        number(option, "type")?.ok_or_else(|| required("options.type"))?;
    }
    let known = world.applications.commands.get(&scope).into_iter().flatten();
    let mut same = known.filter(|known| name_and_kind(known) == (Some(name), Some(kind)));
    let old_id = fields.get("id").and_then(as_number).or_else(|| same.next().and_then(id_of));
    let (application, guild) = scope;
    let version = world.next_id();
    let id = old_id.unwrap_or(version);
    let or_null = |name: &str| fields.get(name).cloned().unwrap_or(Value::Null);
    let mut command = json!({
        "id": id.to_string(),
        "application_id": application.to_string(),
        "version": version.to_string(),
        "type": kind,
        "name": name,
        "name_localizations": or_null("name_localizations"),
        "description": description,
        "description_localizations": or_null("description_localizations"),
        "options": options,
        "default_member_permissions": or_null("default_member_permissions"),
        "nsfw": fields.get("nsfw").and_then(Value::as_bool).unwrap_or(false),
        "integration_types": [0],
        "contexts": or_null("contexts"),
    });
    let more = command.as_object_mut();
    if let Some((guild, more)) = guild.zip(more) {
        more.insert("guild_id".to_owned(), json!(guild.to_string()));
    }
    Ok(command)
}

/// Checks that a name has only lower-case letters, digits, hyphens and underscores.
fn check_name(name: &str) -> Result<(), Refusal> {
    let is_good = |letter: char| {
        matches!(letter, '-' | '_' | '\'') || (letter.is_alphanumeric() && !letter.is_uppercase())
    };
    if name.chars().all(is_good) {
        return Ok(());
    }
    let message = "Command name is invalid";
    Err(Refusal::invalid("name", "APPLICATION_COMMAND_INVALID_NAME", message))
}
