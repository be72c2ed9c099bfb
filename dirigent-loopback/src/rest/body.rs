//! The content of a message that is posted.

use dirigent::ports::Timestamp;
use dirigent::{MessageId, UserId};
use serde::Deserialize as _;
use serde_json::{Map, Value};

use super::ask::{as_number, is_on, number, object, only};
use super::components::IS_COMPONENTS_V2;
use super::refusal::Refusal;
use crate::poll::{BadPoll, Poll, PollRequest};
use crate::stickers::{STICKERS_MAX, StickerItem, Stickers};
use dirigent_testkit::memory_discord::details::{Allowed, Details};
use dirigent_testkit::memory_discord::pings::AllowedMentions;
use dirigent_testkit::memory_discord::role::RoleId;

/// The longest content of a message, in characters.
pub(super) const CONTENT_MAX: usize = 2_000;

/// The longest nonce, in characters.
const NONCE_MAX: usize = 25;

/// The flags that a poster may set and this server stores: no previews, no push messages, only components.
pub(super) const SETTABLE_FLAGS: u64 = 1 << 2 | 1 << 12 | IS_COMPONENTS_V2;

/// The flag of an answer that only the user of a command sees.
pub(super) const EPHEMERAL: u64 = 1 << 6;

/// The fields of every message.
pub(super) const FIELDS: [&str; 6] =
    ["content", "allowed_mentions", "flags", "embeds", "attachments", "components"];

/// The fields of a new message.
pub(super) const NEW_FIELDS: [&str; 7] =
    ["content", "allowed_mentions", "flags", "embeds", "attachments", "components", "poll"];

/// Returns the content, trimmed, or `None` if there is none.
pub(super) fn read_content(content: &Value, max: usize) -> Result<Option<String>, Refusal> {
    let text = match content {
        Value::Null => return Ok(None),
        Value::String(text) => text,
        // Discord writes these as text.
        Value::Number(number) => &number.to_string(),
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            let message = "Could not convert to string.";
            return Err(Refusal::invalid("content", "BASE_TYPE_BAD_TYPE", message));
        }
    };
    if text.chars().count() > max {
        let message = format!("Must be {max} or fewer in length.");
        return Err(Refusal::invalid("content", "BASE_TYPE_MAX_LENGTH", &message));
    }
    let trimmed = text.trim();
    Ok(Some(trimmed.to_owned()).filter(|trimmed| !trimmed.is_empty()))
}

/// Returns the flags. Only some can be set.
pub(super) fn read_flags(fields: &Map<String, Value>, settable: u64) -> Result<u64, Refusal> {
    let flags = number(fields, "flags")?.unwrap_or(0);
    if flags & !settable == 0 {
        Ok(flags)
    } else {
        Err(Refusal::lacking("these flags of a message"))
    }
}

/// Returns the accounts that a message may ping, and its flags.
pub(super) fn read_details(fields: &Map<String, Value>, settable: u64) -> Result<Details, Refusal> {
    let allowed = read_allowed(fields)?.map(Box::new);
    let allowed = allowed.map_or(Allowed::Named, Allowed::Listed);
    let mut details = Details { allowed, rare: None };
    let flags = read_flags(fields, settable)?;
    if flags != 0 {
        details.rare_mut().flags = flags;
    }
    Ok(details)
}

/// Returns the nonce as text, or `None` if there is none.
pub(super) fn read_nonce(fields: &Map<String, Value>) -> Result<Option<String>, Refusal> {
    let text = match fields.get("nonce") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        Some(_) => {
            let message = "Could not convert to string.";
            return Err(Refusal::invalid("nonce", "BASE_TYPE_BAD_TYPE", message));
        }
    };
    let length = text.chars().count();
    if length > NONCE_MAX {
        let message = format!("Must be {NONCE_MAX} or fewer in length.");
        return Err(Refusal::invalid("nonce", "BASE_TYPE_MAX_LENGTH", &message));
    }
    if text.len() > NONCE_MAX {
        return Err(Refusal::lacking("a nonce of more than 25 bytes"));
    }
    Ok(Some(text).filter(|text| !text.is_empty()))
}

/// Returns the accounts that the text may ping. With `None` it pings everyone it names.
pub(super) fn read_allowed(
    fields: &Map<String, Value>,
) -> Result<Option<AllowedMentions>, Refusal> {
    let Some(said) = fields.get("allowed_mentions").filter(|said| !said.is_null()) else {
        return Ok(None);
    };
    let said = object(said, "allowed_mentions")?;
    only(said, &["parse", "users", "roles", "replied_user"])?;
    let mut allowed =
        AllowedMentions { replied_user: is_on(said, "replied_user"), ..AllowedMentions::default() };
    for kind in list(said, "parse") {
        match kind.as_str() {
            Some("everyone") => allowed.everyone = true,
            Some("users") => allowed.any_user = true,
            Some("roles") => allowed.any_role = true,
            Some(_) | None => {
                let message = "Value must be one of ('everyone', 'roles', 'users').";
                let field = "allowed_mentions.parse";
                return Err(Refusal::invalid(field, "BASE_TYPE_CHOICES", message));
            }
        }
    }
    allowed.users = list(said, "users").iter().filter_map(as_number).map(UserId::new).collect();
    allowed.roles = list(said, "roles").iter().filter_map(as_number).map(RoleId::new).collect();
    let both = (allowed.any_user && !allowed.users.is_empty())
        || (allowed.any_role && !allowed.roles.is_empty());
    if both {
        let message = "parse and ids are mutually exclusive.";
        return Err(Refusal::invalid(
            "allowed_mentions",
            "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE",
            message,
        ));
    }
    Ok(Some(allowed))
}

/// Returns the message that is answered, and whether it must exist.
pub(super) fn read_reference(
    fields: &Map<String, Value>,
) -> Result<Option<(MessageId, bool)>, Refusal> {
    let Some(said) = fields.get("message_reference").filter(|said| !said.is_null()) else {
        return Ok(None);
    };
    let said = object(said, "message_reference")?;
    only(said, &["message_id", "channel_id", "guild_id", "fail_if_not_exists"])?;
    let must_exist = said.get("fail_if_not_exists") != Some(&Value::Bool(false));
    let message = number(said, "message_id")?.map(MessageId::new);
    let required = || {
        let message = "This field is required";
        Refusal::invalid("message_reference.message_id", "BASE_TYPE_REQUIRED", message)
    };
    Ok(Some((message.ok_or_else(required)?, must_exist)))
}

/// Returns the poll, which is open from now on.
pub(super) fn read_poll(
    fields: &Map<String, Value>,
    now: Timestamp,
) -> Result<Option<Poll>, Refusal> {
    let Some(said) = fields.get("poll").filter(|said| !said.is_null()) else { return Ok(None) };
    let asked = PollRequest::deserialize(said)
        .map_err(|error| Refusal::invalid("poll", "DICT_TYPE_CONVERT", &error.to_string()))?;
    let opened = asked.open(now).map_err(|BadPoll { field, bounds: (lowest, highest) }| {
        Refusal::wrong_length(&format!("poll.{field}"), lowest, highest)
    });
    opened.map(Some)
}

/// Returns the stickers. Each must exist.
pub(super) fn read_stickers(
    fields: &Map<String, Value>,
    stickers: &Stickers,
) -> Result<Vec<StickerItem>, Refusal> {
    let ids: Vec<u64> = list(fields, "sticker_ids").iter().filter_map(as_number).collect();
    if ids.len() > STICKERS_MAX {
        return Err(Refusal::wrong_length("sticker_ids", 0, STICKERS_MAX));
    }
    stickers.items(&ids).ok_or_else(Refusal::unknown_sticker)
}

fn list<'a>(fields: &'a Map<String, Value>, name: &str) -> &'a [Value] {
    fields.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
