//! How numbers and the ends of texts stand in a file.

use std::fmt;

use dirigent_core::{Tail, Timestamp};
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::ser::{Serialize, Serializer};

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

/// The end of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TailText(pub(crate) Tail);

impl Serialize for TailText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.as_str())
    }
}

impl<'de> Deserialize<'de> for TailText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Scalars).map(Self)
    }
}

struct Scalars;

impl Visitor<'_> for Scalars {
    type Value = Tail;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("at most 64 characters without white space")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Tail, E> {
        // Digested as it stands, it could be taken for a code fence and left out; not so behind a dot.
        let tail = Tail::of(&format!(".{text}")).last(text.chars().count());
        if tail.as_str() == text { Ok(tail) } else { Err(E::custom("not the end of a text")) }
    }
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
        }
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
