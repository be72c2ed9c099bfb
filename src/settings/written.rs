//! The written form of a setting in a file. A setting is read over the value that holds without it, so that a file
//! names only what it changes.

use std::borrow::Cow;
use std::time::Duration;

use dirigent_core::config::{
    HumanInterrupt, InterruptPolicy, MentionRule, TriggerCleanup, WakeRule,
};
use dirigent_core::text::{CompletionPolicy, HumanMarker, Signal, SilencePolicy};
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{DeserializeSeed, Error as _, IntoDeserializer, MapAccess, Visitor};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Heartbeat, LostRuns, Pace};

/// A value that a file may name.
pub(super) trait Setting: Sized {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error>;

    fn read_over<'de, D: Deserializer<'de>>(&mut self, from: D) -> Result<(), D::Error>;
}

/// A value that you can switch off.
pub(super) trait Blank: Setting {
    /// Returns the value to read over if there was none before.
    fn blank() -> Self;
}

/// Writes a setting.
pub(super) struct As<'a, T>(pub(super) &'a T);

impl<T: Setting> Serialize for As<'_, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.write(to)
    }
}

/// Reads over a setting.
pub(super) struct Over<'a, T>(pub(super) &'a mut T);

impl<'de, T: Setting> DeserializeSeed<'de> for Over<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        self.0.read_over(from)
    }
}

/// The name of one of these settings. An unknown name is an error, because a misspelt limit would have no effect.
pub(super) struct Name(pub(super) &'static [&'static str]);

impl<'de> DeserializeSeed<'de> for Name {
    type Value = &'static str;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<&'static str, D::Error> {
        let name = Cow::<str>::deserialize(from)?;
        let known = self.0.iter().find(|known| **known == name);
        known.copied().ok_or_else(|| D::Error::unknown_field(&name, self.0))
    }
}

/// Defines a group of settings, which is a table of their names. The field of a setting has its name, or the name
/// behind `=`.
macro_rules! groups {
    ($($group:ident { $($name:ident $(= $outer:ident.$inner:ident)?,)+ })+) => {
        $(impl Setting for $group {
            fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                let mut table = to.serialize_map(None)?;
                $(table.serialize_entry(
                    stringify!($name),
                    &As(&groups!(@place self, $name $(, $outer.$inner)?)),
                )?;)+
                table.end()
            }

            fn read_over<'de, D: Deserializer<'de>>(&mut self, from: D) -> Result<(), D::Error> {
                struct Table<'a>(&'a mut $group);

                impl<'de> Visitor<'de> for Table<'_> {
                    type Value = ();

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("a table of settings")
                    }

                    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<(), A::Error> {
                        const NAMES: &[&str] = &[$(stringify!($name),)+];
                        let mut read = Vec::new();
                        while let Some(name) = table.next_key_seed(Name(NAMES))? {
                            if read.contains(&name) {
                                return Err(A::Error::duplicate_field(name));
                            }
                            read.push(name);
                            $(if name == stringify!($name) {
                                let place = &mut groups!(@place self.0, $name $(, $outer.$inner)?);
                                table.next_value_seed(Over(place))?;
                            })+
                        }
                        Ok(())
                    }
                }

                from.deserialize_map(Table(self))
            }
        })+
    };
    (@place $it:expr, $name:ident) => { $it.$name };
    (@place $it:expr, $name:ident, $outer:ident.$inner:ident) => { $it.$outer.$inner };
}

pub(super) use groups;

/// Implements values that every format has.
macro_rules! plain {
    ($($of:ty),+) => {
        $(impl Setting for $of {
            fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                self.serialize(to)
            }

            fn read_over<'de, D: Deserializer<'de>>(&mut self, from: D) -> Result<(), D::Error> {
                *self = Self::deserialize(from)?;
                Ok(())
            }
        })+
    };
}

plain!(bool, u8, u32, u64, usize, String, Vec<String>);

macro_rules! blank {
    ($($of:ty = $blank:expr,)+) => {
        $(impl Blank for $of {
            fn blank() -> Self {
                $blank
            }
        })+
    };
}

blank! {
    u8 = 0,
    u32 = 0,
    u64 = 0,
    usize = 0,
    Duration = Self::ZERO,
    HumanMarker = Self::default(),
    Heartbeat = Self::default(),
    // Every pace has a default, so no pace is ever in force with this part because a host did not name it.
    Pace = Self { burst: 1, window: Duration::from_secs(1) },
}

/// Defines choices, each with the name that it has in a file.
macro_rules! choices {
    ($($of:ident { $($choice:ident = $name:literal,)+ })+) => {
        $(impl Setting for $of {
            fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                $(if *self == Self::$choice {
                    return to.serialize_str($name);
                })+
                Err(S::Error::custom("a choice that has no name yet"))
            }

            fn read_over<'de, D: Deserializer<'de>>(&mut self, from: D) -> Result<(), D::Error> {
                let name = Cow::<str>::deserialize(from)?;
                *self = match &*name {
                    $($name => Self::$choice,)+
                    _ => return Err(D::Error::unknown_variant(&name, &[$($name,)+])),
                };
                Ok(())
            }
        })+
    };
}

choices! {
    InterruptPolicy { RestartCycle = "restart_cycle", AdvanceNormally = "advance_normally", }
    HumanInterrupt { Inject = "inject", Queue = "queue", Interrupt = "interrupt", }
    WakeRule { FirstInList = "first_in_list", NextAfterSender = "next_after_sender", }
    MentionRule { First = "first", Only = "only", Ignored = "ignored", }
    SilencePolicy { Tolerant = "tolerant", Strict = "strict", OpenClaw = "openclaw", LastLine = "last_line", }
    LostRuns { Skip = "skip", Rerun = "rerun", Keep = "keep", }
}

/// Durations like `45s` or `1h 30m`. A number alone would leave the unit open.
impl Setting for Duration {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&humantime::format_duration(*self))
    }

    fn read_over<'de, D: Deserializer<'de>>(&mut self, from: D) -> Result<(), D::Error> {
        struct Time;

        impl Visitor<'_> for Time {
            type Value = Duration;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a time with its unit, such as \"45s\", \"300ms\" or \"1h 30m\"")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Duration, E> {
                humantime::parse_duration(text)
                    .map_err(|_| E::invalid_value(serde::de::Unexpected::Str(text), &self))
            }
        }

        *self = from.deserialize_str(Time)?;
        Ok(())
    }
}

/// A value, or `none`, because TOML has no null.
impl<T: Blank> Setting for Option<T> {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Some(value) => value.write(to),
            None => to.serialize_str("none"),
        }
    }

    fn read_over<'de, D: Deserializer<'de>>(&mut self, from: D) -> Result<(), D::Error> {
        let before = self.take().unwrap_or_else(T::blank);
        *self = from.deserialize_any(WordOr { word: "none", before })?;
        Ok(())
    }
}

/// Reads a word that stands for no value, or a value over the one before.
struct WordOr<T> {
    word: &'static str,
    before: T,
}

impl<T: Setting> WordOr<T> {
    fn value<'de, D: Deserializer<'de>>(mut self, from: D) -> Result<Option<T>, D::Error> {
        self.before.read_over(from)?;
        Ok(Some(self.before))
    }
}

impl<'de, T: Setting> Visitor<'de> for WordOr<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "\"{}\" or a value", self.word)
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Option<T>, E> {
        Ok(None)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Option<T>, E> {
        if text == self.word { Ok(None) } else { self.value(StrDeserializer::new(text)) }
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Option<T>, E> {
        self.value(value.into_deserializer())
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Option<T>, E> {
        self.value(number.into_deserializer())
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Option<T>, E> {
        self.value(number.into_deserializer())
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Option<T>, E> {
        self.value(number.into_deserializer())
    }

    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<Option<T>, A::Error> {
        self.value(MapAccessDeserializer::new(table))
    }
}

/// A word, or the time after which a trigger is deleted.
impl Setting for TriggerCleanup {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Immediate => to.serialize_str("immediate"),
            Self::OnNext => to.serialize_str("on_next"),
            Self::Never => to.serialize_str("never"),
            Self::After(time) => time.write(to),
            _ => Err(S::Error::custom("a choice that has no name yet")),
        }
    }

    fn read_over<'de, D: Deserializer<'de>>(&mut self, from: D) -> Result<(), D::Error> {
        let word = Cow::<str>::deserialize(from)?;
        *self = match &*word {
            "immediate" => Self::Immediate,
            "on_next" => Self::OnNext,
            "never" => Self::Never,
            time => {
                let mut after = Duration::ZERO;
                after.read_over(StrDeserializer::<D::Error>::new(time))?;
                Self::After(after)
            }
        };
        Ok(())
    }
}

/// `run_end`, or the table of a signal.
impl Setting for CompletionPolicy {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::RunEnd => to.serialize_str("run_end"),
            Self::Signal(signal) => signal.write(to),
            _ => Err(S::Error::custom("a choice that has no name yet")),
        }
    }

    fn read_over<'de, D: Deserializer<'de>>(&mut self, from: D) -> Result<(), D::Error> {
        let before =
            if let Self::Signal(signal) = self { signal.clone() } else { Signal::default() };
        let signal = from.deserialize_any(WordOr { word: "run_end", before })?;
        *self = signal.map_or(Self::RunEnd, Self::Signal);
        Ok(())
    }
}

/// The mark, or the words of a signal.
impl Setting for Cow<'static, str> {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self)
    }

    fn read_over<'de, D: Deserializer<'de>>(&mut self, from: D) -> Result<(), D::Error> {
        *self = String::deserialize(from)?.into();
        Ok(())
    }
}

impl Setting for HumanMarker {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.write(to)
    }

    fn read_over<'de, D: Deserializer<'de>>(&mut self, from: D) -> Result<(), D::Error> {
        self.0.read_over(from)
    }
}
