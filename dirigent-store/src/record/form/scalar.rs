//! The form of numbers and of the ends of texts in a file.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use dirigent::ports::{GuildId, Nonce, ReplyFile, RoleId};
use dirigent::{AgentId, ChannelId, UserId};
use dirigent_core::{AgentKey, MessageId, RunId, Tail, Ticket, Timestamp, TurnId};
use serde::de::{Deserializer, Error};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use super::{Form, is_default};

/// Values that have serde's own form in a file.
macro_rules! plain {
    ($($type:ty)+) => {$(
        impl Form for $type {
            fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                self.serialize(to)
            }

            fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                Self::deserialize(from)
            }
        }
    )+};
}

// A file is stored as its name alone.
plain! { bool u8 u16 u32 u64 usize String Duration AgentId ReplyFile }

impl Form for Arc<str> {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        str::serialize(self, to)
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from).map(Self::from)
    }
}

/// Values that are stored as a number or as its digits.
macro_rules! numbers {
    ($($type:ty = $number:ty, $new:path, $get:path, $write:path, $read:path;)+) => {$(
        impl Form for $type {
            fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                $write(&$get(*self), to)
            }

            fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                $read(from).map($new)
            }
        }
    )+};
}

numbers! {
    AgentKey = u32, Self::new, Self::get, Form::write, u32::read;
    TurnId = u64, Self::new, Self::get, Form::write, u64::read;
    Ticket = u64, Self::new, Self::get, Form::write, u64::read;
    Timestamp = u64, Self::from_millis, Self::as_millis, Form::write, u64::read;
    MessageId = u64, Self::new, Self::get, digits::serialize, digits::deserialize;
    RunId = u64, Self::new, Self::get, digits::serialize, digits::deserialize;
    ChannelId = u64, Self::new, Self::get, digits::serialize, digits::deserialize;
    GuildId = u64, Self::new, Self::get, digits::serialize, digits::deserialize;
    UserId = u64, Self::new, Self::get, digits::serialize, digits::deserialize;
    RoleId = u64, Self::new, Self::get, digits::serialize, digits::deserialize;
}

/// Writes numbers of 64 bits as strings of digits, because many programs would round a number of that
/// size.
pub(crate) mod digits {
    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::Serializer;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde asks")]
    pub(crate) fn serialize<S: Serializer>(number: &u64, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(number)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        let text = String::deserialize(from)?;
        super::whole(&text).ok_or_else(|| D::Error::custom("not a string of digits"))
    }
}

/// Parses a number. For example, it refuses leading zeros, because they are never written.
pub(crate) fn whole(digits: &str) -> Option<u64> {
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    let padded = digits.len() > 1 && digits.starts_with('0');
    if plain && !padded { digits.parse().ok() } else { None }
}

impl Form for BTreeMap<AgentKey, AgentId> {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.iter().map(|(key, agent)| (key.get(), agent)))
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let agents = BTreeMap::<u32, AgentId>::deserialize(from)?;
        Ok(agents.into_iter().map(|(key, agent)| (AgentKey::new(key), agent)).collect())
    }
}

impl Form for Nonce {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

/// The end of a text with the other facts about its message.
#[derive(Debug, Serialize, Deserialize)]
struct DigestFile<'a> {
    end: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    length: Option<u32>,
    #[serde(default, skip_serializing_if = "is_default")]
    attachment: bool,
}

/// The end of a text. It is a string if no other fact about the text is known, as in files from
/// before the length was stored. Otherwise it is an object.
impl Form for Tail {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (end, length, attachment) = (self.as_str(), self.length(), self.has_attachment());
        let is_bare = length.is_none() || (end.is_empty() && length == Some(0));
        if is_bare && !attachment {
            return to.serialize_str(end);
        }
        DigestFile { end: end.into(), length, attachment }.serialize(to)
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let DigestFile { end, length, attachment } = match TailFile::deserialize(from)? {
            TailFile::End(end) => DigestFile { end: end.into(), length: None, attachment: false },
            TailFile::Digest(file) => file,
        };
        let tail = Tail::from_parts(&end, length, attachment);
        // Otherwise the text is no end in its stored form.
        if tail.as_str() == end { Ok(tail) } else { Err(D::Error::custom("not the end of a text")) }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum TailFile {
    End(String),
    Digest(DigestFile<'static>),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(tail: &Tail) -> String {
        let mut json = Vec::new();
        tail.write(&mut serde_json::Serializer::new(&mut json)).unwrap();
        String::from_utf8(json).unwrap()
    }

    fn read<T: Form>(json: &str) -> serde_json::Result<T> {
        T::read(&mut serde_json::Deserializer::from_str(json))
    }

    #[test]
    fn the_end_of_a_text_comes_back_even_if_it_looks_like_a_code_fence() {
        let texts =
            ["", "```rust", "``` rust x", "````", ".", "the end\n```\nof it", "🎻 e\u{301}"];
        let long = ["```x".repeat(40), "漢".repeat(64), "y".repeat(65)];
        for text in texts.into_iter().chain(long.iter().map(String::as_str)) {
            for tail in [Tail::of(text), Tail::of(text).with_attachment()] {
                assert_eq!(read::<Tail>(&written(&tail)).unwrap(), tail, "{text}");
            }
        }
    }

    #[test]
    fn an_end_without_a_length_is_read_from_older_files_and_written_as_there() {
        let old = read::<Tail>("\"```rust\"").unwrap();
        assert_eq!((old.as_str(), old.length()), ("```rust", None));
        assert_eq!(written(&old), "\"```rust\"");
    }

    #[test]
    fn what_is_no_end_of_a_text_is_refused() {
        for text in ["two words", "line\\nbreak", &"x".repeat(65)] {
            assert!(read::<Tail>(&format!("\"{text}\"")).is_err(), "{text}");
        }
    }

    #[test]
    fn an_id_is_written_in_one_way_only() {
        let largest = read::<MessageId>("\"18446744073709551615\"").unwrap();
        assert_eq!(largest, MessageId::new(u64::MAX));
        for text in
            ["1", "\"01\"", "\"+1\"", "\"\"", "\" 1\"", "\"18446744073709551616\"", "\"-1\""]
        {
            assert!(read::<MessageId>(text).is_err(), "{text}");
        }
    }
}
