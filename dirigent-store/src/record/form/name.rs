//! Writes the values of enumerations without fields by their names.

use dirigent::store::{OutboxKind, ReplyEnd};
use dirigent_core::snapshot::RunFate;
use dirigent_core::view::{Pause, SeatTurn};
use dirigent_core::{Cause, MessageKind, Mode, PhaseKind, ReminderPlace, WakeCause};
use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Error as _, Serializer};

use super::Form;

/// Writes the name of a value. A value without a name is one of a newer version.
fn write<S: Serializer>(name: Option<&'static str>, to: S) -> Result<S::Ok, S::Error> {
    let name = name.ok_or_else(|| S::Error::custom("a value is newer than this store"))?;
    to.serialize_str(name)
}

/// Reads the value with a name.
fn read<'de, T, D: Deserializer<'de>>(
    of: impl Fn(&str) -> Option<T>,
    from: D,
) -> Result<T, D::Error> {
    of(&String::deserialize(from)?).ok_or_else(|| D::Error::custom("an unknown name"))
}

/// Gives the values of enumerations their names, which are written only once here.
macro_rules! named {
    ($($type:ty { $($value:ident = $name:literal,)+ })+) => {
        $(impl Form for $type {
            fn write<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                let names = [$((Self::$value, $name),)+];
                let name = names.into_iter().find(|(value, _)| value == self);
                write(name.map(|(_, name)| name), to)
            }

            fn read<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let of = |name: &str| match name {
                    $($name => Some(Self::$value),)+
                    _ => None,
                };
                read(of, from)
            }
        })+
    };
}

named! {
    Pause { Held = "held", Stopped = "stopped", Finished = "finished", }
    SeatTurn { Ahead = "ahead", Passed = "passed", Spoke = "spoke", Skipped = "skipped", }
    RunFate { Denied = "denied", Ended = "ended", }
    ReminderPlace { Discussion = "discussion", Callback = "callback", }
    ReplyEnd { Finished = "finished", Unfinished = "unfinished", AwaitsHuman = "awaits-human", }
    OutboxKind { Guide = "guide", Result = "result", }
    WakeCause { Operator = "operator", Guide = "guide", Result = "result", Unheard = "unheard", }
    MessageKind {
        Conversation = "conversation",
        System = "system",
        StopWord = "stopWord",
        ResumeWord = "resumeWord",
        Unasked = "unasked",
        OutOfTurn = "outOfTurn",
    }
}

/// Uses the names of the core.
macro_rules! known {
    ($($type:ty = $of:expr;)+) => {
        $(impl Form for $type {
            fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.as_str())
            }

            fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                read($of, from)
            }
        })+
    };
}

known! {
    Mode = |name: &str| name.parse().ok();
    PhaseKind = |name: &str| Self::ALL.iter().copied().find(|kind| kind.as_str() == name);
    Cause = |name: &str| Self::ALL.iter().copied().find(|cause| cause.as_str() == name);
}
