//! How the values of enumerations stand in a file: by name.

use std::fmt;
use std::marker::PhantomData;

use dirigent::{LetterKind, ReplyEnd};
use dirigent_core::{Cause, Mode, PhaseKind, ReminderPlace, Rest, RunFate, SeatTurn};
use serde::de::{Deserialize, Deserializer, Visitor};
use serde::ser::{Error as _, Serialize, Serializer};

/// An enumeration whose values have names.
pub(crate) trait Named: Copy + 'static {
    /// The value's name; none for one that is newer than this crate.
    fn name(self) -> Option<&'static str>;

    /// The value of this name.
    fn of(name: &str) -> Option<Self>;
}

/// A value that is written as its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Name<T>(pub(crate) T);

impl<T: Named> Serialize for Name<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.name() {
            Some(name) => serializer.serialize_str(name),
            None => Err(S::Error::custom("a value is newer than this store")),
        }
    }
}

impl<'de, T: Named> Deserialize<'de> for Name<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Word(PhantomData)).map(Self)
    }
}

struct Word<T>(PhantomData<T>);

impl<T: Named> Visitor<'_> for Word<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<T, E> {
        T::of(name).ok_or_else(|| E::custom("an unknown name"))
    }
}

/// Gives the values of an enumeration their names, each once.
macro_rules! named {
    ($($type:ty { $($value:ident = $name:literal,)+ })+) => {
        $(impl Named for $type {
            fn name(self) -> Option<&'static str> {
                let names = [$((Self::$value, $name),)+];
                names.into_iter().find(|(value, _)| *value == self).map(|(_, name)| name)
            }

            fn of(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$value),)+
                    _ => None,
                }
            }
        })+
    };
}

named! {
    Rest { Held = "held", Stopped = "stopped", Finished = "finished", }
    SeatTurn { Ahead = "ahead", Passed = "passed", Spoke = "spoke", Skipped = "skipped", }
    RunFate { Denied = "denied", Ended = "ended", }
    ReminderPlace { Discussion = "discussion", Callback = "callback", }
    ReplyEnd { Finished = "finished", Unfinished = "unfinished", AwaitsHuman = "awaits-human", }
    LetterKind { Guide = "guide", Result = "result", }
}

impl Named for Mode {
    fn name(self) -> Option<&'static str> {
        Some(self.as_str())
    }

    fn of(name: &str) -> Option<Self> {
        name.parse().ok()
    }
}

impl Named for PhaseKind {
    fn name(self) -> Option<&'static str> {
        Some(self.as_str())
    }

    fn of(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.as_str() == name)
    }
}

impl Named for Cause {
    fn name(self) -> Option<&'static str> {
        Some(self.as_str())
    }

    fn of(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|cause| cause.as_str() == name)
    }
}
