//! One request with a known route.

use std::collections::BTreeMap;
use std::sync::Arc;

use dirigent::ports::GuildId;
use dirigent::{ChannelId, MessageId, UserId};
use serde_json::{Map, Value};

use super::refusal::Refusal;
use super::upload::{Body, Upload};
use crate::alterations::{Alterations, AlteredRequest};
use crate::endpoint::Matched;
use crate::parts::AllParts;
use crate::state::ServerContext;
use crate::wire::View;
use dirigent_testkit::memory_discord::Emoji;
use dirigent_testkit::memory_discord::world::World;

/// One request.
#[derive(Debug)]
pub(crate) struct Ask {
    pub(crate) matched: Matched,
    account: Option<UserId>,
    /// The account of the token. Answers to commands come without one, and belong to their
    /// application.
    pub(crate) me: UserId,
    query: BTreeMap<String, String>,
    body: Body,
    /// The parts of messages that the world does not store.
    pub(crate) parts: Arc<AllParts>,
}

impl Ask {
    pub(crate) fn new(
        state: &ServerContext,
        matched: Matched,
        account: Option<UserId>,
        (query, body): (&str, Body),
    ) -> Self {
        let query = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        let parts = Arc::clone(&state.parts);
        let ask =
            Self { matched, account, me: account.unwrap_or(UserId::new(0)), query, body, parts };
        ask.altered(&state.alterations)
    }

    /// Returns the chat as an account sees it, for example the one that asks.
    pub(crate) fn view<'a>(&'a self, world: &'a World, account: UserId) -> View<'a> {
        View::over_rest(world, &self.parts, account)
    }

    /// Returns the request with the changes of a test.
    fn altered(mut self, alterations: &Alterations) -> Self {
        let (endpoint, account) = (self.matched.endpoint, self.account);
        let (query, body) = (std::mem::take(&mut self.query), self.body.json.take());
        (self.query, self.body.json) =
            alterations.change_request(AlteredRequest { endpoint, account, query, body });
        self
    }

    /// Returns a number in the path.
    pub(crate) fn id(&self, place: usize) -> u64 {
        self.matched.ids.get(place).copied().unwrap_or(0)
    }

    pub(crate) fn channel(&self) -> ChannelId {
        ChannelId::new(self.id(0))
    }

    pub(crate) fn guild(&self) -> GuildId {
        GuildId::new(self.id(0))
    }

    pub(crate) fn user(&self, place: usize) -> UserId {
        UserId::new(self.id(place))
    }

    pub(crate) fn message(&self) -> MessageId {
        MessageId::new(self.id(1))
    }

    /// Returns a text of the query.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str)
    }

    /// Returns a number of the query.
    pub(crate) fn number(&self, name: &str) -> Result<Option<u64>, Refusal> {
        let wrong = || Refusal::invalid(name, "NUMBER_TYPE_COERCE", "Value is not a number.");
        self.text(name).map(|text| text.parse().map_err(|_| wrong())).transpose()
    }

    /// Returns the limit of entries that the query asks for.
    pub(crate) fn limit(&self, usual: usize, highest: usize) -> Result<usize, Refusal> {
        let asked = self
            .number("limit")?
            .map_or(usual, |asked| usize::try_from(asked).unwrap_or(usize::MAX));
        if (1..=highest).contains(&asked) {
            return Ok(asked);
        }
        Err(Refusal::out_of_bounds("limit", 1, u64::try_from(highest).unwrap_or(u64::MAX)))
    }

    /// Returns true if the query switches this on.
    pub(crate) fn wants(&self, name: &str) -> bool {
        matches!(self.text(name), Some("true" | "1" | "True"))
    }

    /// Returns the body, which must be an object with only these fields. Other fields must be empty.
    pub(crate) fn fields(&self, known: &[&str]) -> Result<&Map<String, Value>, Refusal> {
        let fields = object(&self.body.json, "body")?;
        only(fields, known)?;
        Ok(fields)
    }

    /// Returns the files of the body.
    pub(super) fn files(&self) -> &[Upload] {
        &self.body.files
    }

    /// Returns the emoji in the path.
    pub(crate) fn emoji(&self) -> Result<Emoji, Refusal> {
        Emoji::read(&self.matched.text).ok_or_else(Refusal::unknown_emoji)
    }

    /// Returns the body, which must be a list.
    pub(crate) fn list(&self) -> Result<&[Value], Refusal> {
        let list = self.body.json.as_array().map(Vec::as_slice);
        list.ok_or_else(|| Refusal::invalid("body", "LIST_TYPE_CONVERT", "Only lists may be used."))
    }
}

/// Returns a value that must be an object.
pub(crate) fn object<'a>(value: &'a Value, name: &str) -> Result<&'a Map<String, Value>, Refusal> {
    let wrong = || Refusal::invalid(name, "DICT_TYPE_CONVERT", "Only dictionaries may be used.");
    value.as_object().ok_or_else(wrong)
}

/// Refuses fields that are not among these, unless they are empty.
pub(crate) fn only(fields: &Map<String, Value>, known: &[&str]) -> Result<(), Refusal> {
    let unknown =
        fields.iter().find(|(name, value)| !known.contains(&name.as_str()) && says(value));
    match unknown {
        Some((name, _)) => Err(Refusal::lacking(name)),
        None => Ok(()),
    }
}

/// Returns true if a value is not empty.
fn says(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Bool(true) => true,
        Value::Number(number) => number.as_u64() != Some(0),
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
    }
}

/// Returns a text of a body.
pub(crate) fn text<'a>(
    fields: &'a Map<String, Value>,
    name: &str,
) -> Result<Option<&'a str>, Refusal> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => {
            Err(Refusal::invalid(name, "BASE_TYPE_BAD_TYPE", "Could not convert to string."))
        }
    }
}

/// Returns a text of a body with a length in these bounds.
pub(crate) fn text_of<'a>(
    fields: &'a Map<String, Value>,
    name: &str,
    (lowest, highest): (usize, usize),
) -> Result<Option<&'a str>, Refusal> {
    let found = text(fields, name)?;
    match found {
        Some(text) if !(lowest..=highest).contains(&text.chars().count()) => {
            Err(Refusal::wrong_length(name, lowest, highest))
        }
        _ => Ok(found),
    }
}

/// Returns a number of a body, written as a number or as a string of digits.
pub(crate) fn number(fields: &Map<String, Value>, name: &str) -> Result<Option<u64>, Refusal> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => as_number(value).map(Some).ok_or_else(|| {
            let message = format!("Value \"{name}\" is not snowflake.");
            Refusal::invalid(name, "NUMBER_TYPE_COERCE", &message)
        }),
    }
}

/// Returns true if a switch in a body is on.
pub(crate) fn is_on(fields: &Map<String, Value>, name: &str) -> bool {
    fields.get(name) == Some(&Value::Bool(true))
}

pub(crate) fn as_number(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}
