//! Requests for a guild's members over the gateway (docs: events/gateway-events, request guild
//! members).

use dirigent::UserId;
use dirigent::ports::GuildId;
use serde_json::{Value, json};

use super::close::Close;

/// The most members in one answer.
const CHUNK_MAX: usize = 1_000;

/// The most members of a request by name or prefix.
const NAMED_MAX: usize = 100;

/// The longest nonce of the answers, in bytes.
const NONCE_BYTES_MAX: usize = 32;

/// A client's request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MembersRequest {
    pub(super) guild: GuildId,
    pub(super) wanted: Wanted,
    /// True if it asks for presences.
    pub(super) presences: bool,
    /// The nonce that the answers repeat.
    pub(super) nonce: Option<String>,
}

/// The members to return.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// All members.
    All,
    /// The members with names that begin with this text, up to a limit.
    Named { prefix: String, limit: usize },
    /// The members with these accounts.
    Users(Vec<UserId>),
}

impl MembersRequest {
    pub(super) fn read(data: &Value) -> Result<Self, Close> {
        let guild = data.get("guild_id").and_then(read_guild).ok_or(Close::DecodeError)?;
        let flag = data.get("presences").and_then(Value::as_bool);
        let nonce = data.get("nonce").and_then(Value::as_str);
        Ok(Self {
            guild: GuildId::new(guild),
            wanted: read_wanted(data).ok_or(Close::DecodeError)?,
            presences: flag.unwrap_or(false),
            nonce: nonce.filter(|nonce| nonce.len() <= NONCE_BYTES_MAX).map(str::to_owned),
        })
    }
}

fn read_wanted(data: &Value) -> Option<Wanted> {
    if let Some(users) = data.get("user_ids").filter(|users| !users.is_null()) {
        let ids = match users.as_array() {
            Some(users) => users.iter().map(read_id).collect::<Option<Vec<u64>>>()?,
            None => vec![read_id(users)?],
        };
        let is_allowed = ids.len() <= NAMED_MAX;
        return is_allowed.then(|| Wanted::Users(ids.into_iter().map(UserId::new).collect()));
    }
    let prefix = data.get("query").and_then(Value::as_str)?;
    let limit = usize::try_from(data.get("limit").and_then(Value::as_u64)?).ok()?;
    if prefix.is_empty() && limit == 0 {
        return Some(Wanted::All);
    }
    let limit = if limit == 0 { NAMED_MAX } else { limit.min(NAMED_MAX) };
    Some(Wanted::Named { prefix: prefix.to_owned(), limit })
}

/// Returns the guild. Some clients write it as a list with one entry.
fn read_guild(guild: &Value) -> Option<u64> {
    match guild.as_array().map(Vec::as_slice) {
        Some([guild]) => read_id(guild),
        Some(_) => None,
        None => read_id(guild),
    }
}

/// Reads an id. Discord writes it as text, and also accepts a number.
fn read_id(id: &Value) -> Option<u64> {
    id.as_u64().or_else(|| id.as_str()?.parse().ok())
}

/// Returns the data of the answers, which are pages of members, at least one.
pub(super) fn chunks(
    guild: GuildId,
    members: &[Value],
    not_found: &[UserId],
    nonce: Option<&str>,
) -> Vec<Value> {
    let pages: Vec<&[Value]> =
        if members.is_empty() { vec![&[]] } else { members.chunks(CHUNK_MAX).collect() };
    let not_found: Vec<String> = not_found.iter().map(ToString::to_string).collect();
    let count = pages.len();
    let page = |(index, page): (usize, &[Value])| {
        let mut chunk = json!({
            "guild_id": guild.to_string(), "members": page, "chunk_index": index, "chunk_count": count,
            "not_found": not_found, "presences": [],
        });
        if let (Some(nonce), Some(fields)) = (nonce, chunk.as_object_mut()) {
            fields.insert("nonce".to_owned(), nonce.into());
        }
        chunk
    };
    pages.into_iter().enumerate().map(page).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_read() {
        let read = |data: Value| MembersRequest::read(&data).map(|request| request.wanted);
        let all = read(json!({ "guild_id": "5", "query": "", "limit": 0 }));
        assert_eq!(all.unwrap(), Wanted::All);
        let one = read(json!({ "guild_id": 5, "user_ids": "7", "limit": 0 }));
        assert_eq!(one.unwrap(), Wanted::Users(vec![UserId::new(7)]));
        let listed = read(json!({ "guild_id": ["5"], "query": "", "limit": 0 }));
        assert_eq!(listed.unwrap(), Wanted::All);
        let two = read(json!({ "guild_id": ["5", "6"], "query": "", "limit": 0 }));
        assert_eq!(two.unwrap_err().code(), 4002);
        let named = read(json!({ "guild_id": "5", "query": "ad", "limit": 3 }));
        assert_eq!(named.unwrap(), Wanted::Named { prefix: "ad".to_owned(), limit: 3 });
        assert_eq!(read(json!({ "guild_id": "5" })).unwrap_err().code(), 4002);
        assert_eq!(read(json!({ "query": "", "limit": 0 })).unwrap_err().code(), 4002);
    }

    #[test]
    fn members_come_a_thousand_at_a_time() {
        let members = vec![json!({}); 2_001];
        let chunks = chunks(GuildId::new(5), &members, &[], Some("w"));
        let sizes: Vec<usize> =
            chunks.iter().map(|chunk| chunk["members"].as_array().unwrap().len()).collect();
        assert_eq!(sizes, [1_000, 1_000, 1]);
        assert_eq!(chunks[2]["chunk_index"], 2);
        assert_eq!(chunks[0]["chunk_count"], 3);
        assert_eq!(chunks[1]["nonce"], "w");
        assert_eq!(super::chunks(GuildId::new(5), &[], &[], None).len(), 1);
    }
}
