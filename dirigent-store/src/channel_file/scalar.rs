//! How numbers and the ends of texts stand in a file.

use std::borrow::Cow;
use std::fmt;

use dirigent_core::{Tail, Timestamp};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

/// An id of 64 bits, written as a string of digits: many programs would cut a number of that size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Id(pub(crate) u64);

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Digits).map(Self)
    }
}

struct Digits;

impl Visitor<'_> for Digits {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string of digits")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<u64, E> {
        whole(text).ok_or_else(|| E::custom("not a string of digits"))
    }
}

/// A number as it is written, and in no other way.
pub(crate) fn whole(digits: &str) -> Option<u64> {
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    let padded = digits.len() > 1 && digits.starts_with('0');
    if plain && !padded { digits.parse().ok() } else { None }
}

/// A moment, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Millis(pub(super) Timestamp);

impl Serialize for Millis {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.0.as_millis())
    }
}

impl<'de> Deserialize<'de> for Millis {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        u64::deserialize(deserializer).map(|millis| Self(Timestamp::from_millis(millis)))
    }
}

/// The end of a text. Written as a string where nothing else is known of the text, as it was in files
/// of before the length was kept; else as an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TailText(pub(crate) Tail);

/// The end of a text with what else is known of its message.
#[derive(Debug, Serialize, Deserialize)]
struct DigestFile<'a> {
    end: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    length: Option<u32>,
    #[serde(default, skip_serializing_if = "super::snapshot::is_default")]
    attachment: bool,
}

impl Serialize for TailText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let tail = &self.0;
        let (end, length, attachment) = (tail.as_str(), tail.length(), tail.has_attachment());
        let is_bare = length.is_none() || (end.is_empty() && length == Some(0));
        if is_bare && !attachment {
            return serializer.serialize_str(end);
        }
        DigestFile { end: end.into(), length, attachment }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for TailText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Digest).map(Self)
    }
}

struct Digest;

impl<'de> Visitor<'de> for Digest {
    type Value = Tail;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("at most 64 characters without white space")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Tail, E> {
        whole_end(text, None, false)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Tail, A::Error> {
        let file = DigestFile::deserialize(MapAccessDeserializer::new(map))?;
        whole_end(&file.end, file.length, file.attachment)
    }
}

/// The digest, if the text is an end as it is kept.
fn whole_end<E: Error>(text: &str, length: Option<u32>, attachment: bool) -> Result<Tail, E> {
    let tail = Tail::from_parts(text, length, attachment);
    if tail.as_str() == text { Ok(tail) } else { Err(E::custom("not the end of a text")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_text_comes_back_even_if_it_looks_like_a_code_fence() {
        let texts =
            ["", "```rust", "``` rust x", "````", ".", "the end\n```\nof it", "🎻 e\u{301}"];
        let long = ["```x".repeat(40), "漢".repeat(64), "y".repeat(65)];
        for text in texts.into_iter().chain(long.iter().map(String::as_str)) {
            let tail = TailText(Tail::of(text));
            let json = serde_json::to_string(&tail).unwrap();
            assert_eq!(serde_json::from_str::<TailText>(&json).unwrap(), tail, "{text}");
            let attached = TailText(tail.0.with_attachment());
            let json = serde_json::to_string(&attached).unwrap();
            assert_eq!(serde_json::from_str::<TailText>(&json).unwrap(), attached, "{text}");
        }
    }

    #[test]
    fn an_end_without_a_length_is_read_from_older_files_and_written_as_there() {
        let old = serde_json::from_str::<TailText>("\"```rust\"").unwrap();
        assert_eq!((old.0.as_str(), old.0.length()), ("```rust", None));
        assert_eq!(serde_json::to_string(&old).unwrap(), "\"```rust\"");
    }

    #[test]
    fn what_is_no_end_of_a_text_is_refused() {
        for text in ["two words", "line\\nbreak", &"x".repeat(65)] {
            assert!(serde_json::from_str::<TailText>(&format!("\"{text}\"")).is_err(), "{text}");
        }
    }

    #[test]
    fn an_id_is_written_in_one_way_only() {
        assert_eq!(serde_json::from_str::<Id>("\"18446744073709551615\"").unwrap(), Id(u64::MAX));
        for text in
            ["1", "\"01\"", "\"+1\"", "\"\"", "\" 1\"", "\"18446744073709551616\"", "\"-1\""]
        {
            assert!(serde_json::from_str::<Id>(text).is_err(), "{text}");
        }
    }
}
