//! Reads the arguments of a call, each by its name in both spellings. Errors say what to do.

use std::str::FromStr;

use serde_json::{Map, Value};

use super::ToolError;
use crate::text::plain::is_name;
use crate::values::id::{BadSnowflake, GuildId};
use crate::{ChannelId, UserId};

const NAME_CHARS_MAX: usize = 100;

/// The arguments of one call. Unknown ones are ignored.
#[derive(Debug)]
pub(super) struct Fields<'a>(&'a Map<String, Value>);

/// Discord's ids.
pub(super) trait Snowflake: FromStr<Err = BadSnowflake> {}

impl Snowflake for ChannelId {}
impl Snowflake for GuildId {}
impl Snowflake for UserId {}

impl<'a> Fields<'a> {
    pub(super) fn of(arguments: &'a Value) -> Result<Self, ToolError> {
        arguments.as_object().map(Self).ok_or(ToolError::NotAnObject)
    }

    pub(super) fn text(&self, argument: &'static str) -> Result<Option<String>, ToolError> {
        let wrong = ToolError::WrongKind { argument, expected: "a string" };
        match self.find(argument)? {
            None => Ok(None),
            Some(value) => value.as_str().map(|text| Some(text.to_owned())).ok_or(wrong),
        }
    }

    pub(super) fn id<T: Snowflake>(&self, argument: &'static str) -> Result<Option<T>, ToolError> {
        let value = self.find(argument)?;
        value.map(|value| read_id(argument, value, "a Discord id as a string")).transpose()
    }

    pub(super) fn ids(&self, argument: &'static str) -> Result<Option<Vec<UserId>>, ToolError> {
        const EXPECTED: &str = "a list of Discord ids, each a string";
        let Some(value) = self.find(argument)? else {
            return Ok(None);
        };
        let list = value.as_array();
        let list = list.ok_or(ToolError::WrongKind { argument, expected: EXPECTED })?;
        list.iter()
            .map(|value| read_id(argument, value, EXPECTED))
            .collect::<Result<_, _>>()
            .map(Some)
    }

    /// Returns the argument's value. `None` if it is null or missing.
    fn find(&self, argument: &'static str) -> Result<Option<&'a Value>, ToolError> {
        let present = |name: &str| self.0.get(name).filter(|value| !value.is_null());
        let other = other_spelling(argument);
        match (present(argument), other.and_then(|other| present(&other))) {
            // The two values may differ, and no rule could tell which one the model means.
            (Some(_), Some(_)) => Err(ToolError::ArgumentTwice { argument }),
            (found, other) => Ok(found.or(other)),
        }
    }
}

pub(super) fn needed<T>(argument: &'static str, found: Option<T>) -> Result<T, ToolError> {
    found.ok_or(ToolError::MissingArgument { argument })
}

/// Returns a name without white space around it, if it is a name.
pub(super) fn plain_name(argument: &'static str, name: &str) -> Result<String, ToolError> {
    let name = name.trim();
    let is_short = name.chars().nth(NAME_CHARS_MAX).is_none();
    if is_short && is_name(name) {
        Ok(name.to_owned())
    } else {
        Err(ToolError::BadName { argument })
    }
}

fn read_id<T: Snowflake>(
    argument: &'static str,
    value: &Value,
    expected: &'static str,
) -> Result<T, ToolError> {
    match value {
        Value::String(text) => text.parse().map_err(|_| ToolError::BadId { argument }),
        // Many programs read JSON numbers with 53 bits, so the last digits may be wrong.
        Value::Number(_) => Err(ToolError::IdAsNumber { argument }),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            Err(ToolError::WrongKind { argument, expected })
        }
    }
}

/// Returns the other spelling, for example `callbackGuild` for `callback-guild` and `discord-user-id` for
/// `discordUserId`.
fn other_spelling(name: &str) -> Option<String> {
    let mut other = String::with_capacity(name.len() + 2);
    let mut after_hyphen = false;
    for c in name.chars() {
        match c {
            '-' => after_hyphen = true,
            _ if after_hyphen => {
                other.push(c.to_ascii_uppercase());
                after_hyphen = false;
            }
            _ if c.is_ascii_uppercase() => {
                other.push('-');
                other.push(c.to_ascii_lowercase());
            }
            _ => other.push(c),
        }
    }
    (other != name).then_some(other)
}
