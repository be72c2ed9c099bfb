//! The data with which a client begins a session (docs: events/gateway-events, identify).

use serde_json::Value;

use super::close::Close;
use super::intents::Intents;
use super::shard::Shard;

/// The default number of members that makes a guild large.
const LARGE_THRESHOLD: u64 = 50;

/// A request for a new session.
pub(super) struct Identify {
    pub(super) token: String,
    pub(super) intents: Intents,
    pub(super) shard: Shard,
    /// True if large payloads may be packed one by one.
    pub(super) packed: bool,
    /// The number of members that makes a guild too large to be listed in full.
    pub(super) large_threshold: u64,
}

impl Identify {
    pub(super) fn read(data: &Value) -> Result<Self, Close> {
        let token = data.get("token").and_then(Value::as_str).ok_or(Close::DecodeError)?;
        if !data.get("properties").is_some_and(Value::is_object) {
            return Err(Close::DecodeError);
        }
        let intents = data.get("intents").and_then(Value::as_u64).and_then(Intents::from_bits);
        Ok(Self {
            token: token.to_owned(),
            intents: intents.ok_or(Close::InvalidIntents)?,
            shard: read_shard(data.get("shard"))?,
            packed: data.get("compress").and_then(Value::as_bool).unwrap_or(false),
            large_threshold: read_threshold(data.get("large_threshold"))?,
        })
    }
}

fn read_shard(shard: Option<&Value>) -> Result<Shard, Close> {
    let Some(shard) = shard.filter(|shard| !shard.is_null()) else {
        return Ok(Shard::ONLY);
    };
    let pair = shard.as_array().map(Vec::as_slice);
    let Some([id, count]) = pair else {
        return Err(Close::InvalidShard);
    };
    let shard = id.as_u64().zip(count.as_u64()).and_then(|(id, count)| Shard::new(id, count));
    shard.ok_or(Close::InvalidShard)
}

fn read_threshold(threshold: Option<&Value>) -> Result<u64, Close> {
    let Some(threshold) = threshold.filter(|threshold| !threshold.is_null()) else {
        return Ok(LARGE_THRESHOLD);
    };
    threshold.as_u64().filter(|members| (50..=250).contains(members)).ok_or(Close::DecodeError)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn code(data: &Value) -> u16 {
        Identify::read(data).err().unwrap().code()
    }

    #[test]
    fn a_wish_is_read_as_a_whole_or_refused() {
        let good = json!({ "token": "t", "intents": 513, "properties": {}, "shard": [1, 2] });
        let read = Identify::read(&good).unwrap();
        assert_eq!(read.intents.bits(), 513);
        assert_eq!(read.shard.pair(), [1, 2]);
        assert_eq!((read.packed, read.large_threshold), (false, 50));
        assert_eq!(code(&json!({ "intents": 1, "properties": {} })), 4002);
        assert_eq!(code(&json!({ "token": "t", "intents": 1 })), 4002);
        assert_eq!(code(&json!({ "token": "t", "properties": {} })), 4013);
        assert_eq!(code(&json!({ "token": "t", "intents": 1 << 30, "properties": {} })), 4013);
        let shard =
            |shard: Value| json!({ "token": "t", "intents": 1, "properties": {}, "shard": shard });
        assert_eq!(code(&shard(json!([2, 2]))), 4010);
        assert_eq!(code(&shard(json!([0]))), 4010);
        assert_eq!(code(&shard(json!("0/1"))), 4010);
    }
}
