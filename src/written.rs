//! The written form of the core's values between processes, for serde's `with`. It is here because the core has no
//! dependency, so its types cannot implement serde's traits. It is hidden, because it may change with each version.

use std::error::Error;
use std::fmt::Display;
use std::time::Duration;

use dirigent_core::{MessageId, Mode, Outcome, Refusal, RunId, Tail, Timestamp, UnknownMode};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A value that is written as another value.
pub trait Written: Sized {
    /// The form that it is written in.
    type Form: Serialize + DeserializeOwned;
    /// The reason why a form is not such a value.
    type Bad: Display;

    /// Converts the value to its form.
    fn form(&self) -> Self::Form;

    /// Reads the value from its form, with the checks of its constructor.
    ///
    /// # Errors
    ///
    /// Fails if no value has this form.
    fn read(form: Self::Form) -> Result<Self, Self::Bad>;
}

/// Writes one value, with `#[serde(with = "dirigent::written")]`.
///
/// # Errors
///
/// Fails with the error of the serializer.
pub fn serialize<T: Written, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    value.form().serialize(serializer)
}

/// Reads one value.
///
/// # Errors
///
/// Fails if the value is missing, or with [`Written::Bad`].
pub fn deserialize<'de, T: Written, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    T::read(T::Form::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// A value that may be absent.
pub mod optional {
    use super::{Deserialize, Deserializer, Serialize, Serializer, Written};
    use serde::de::Error as _;

    pub fn serialize<T: Written, S: Serializer>(
        value: &Option<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.as_ref().map(T::form).serialize(serializer)
    }

    pub fn deserialize<'de, T: Written, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<T>, D::Error> {
        let form = Option::<T::Form>::deserialize(deserializer)?;
        form.map(T::read).transpose().map_err(D::Error::custom)
    }
}

/// Values in order.
pub mod list {
    use super::{Deserialize, Deserializer, Serializer, Written};
    use serde::de::Error as _;

    pub fn serialize<T: Written, S: Serializer>(
        values: &[T],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(values.iter().map(T::form))
    }

    pub fn deserialize<'de, T: Written, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<T>, D::Error> {
        let forms = Vec::<T::Form>::deserialize(deserializer)?;
        forms.into_iter().map(T::read).collect::<Result<_, _>>().map_err(D::Error::custom)
    }
}

/// Written as text, because a number in JSON would lose digits.
impl Written for MessageId {
    type Form = String;
    type Bad = std::num::ParseIntError;

    fn form(&self) -> String {
        self.get().to_string()
    }

    fn read(form: String) -> Result<Self, Self::Bad> {
        form.parse().map(Self::new)
    }
}

/// A run's id as text. An id that this library made is a decimal number. Any other text of another program is a valid
/// id, too.
impl Written for RunId {
    type Form = String;
    type Bad = std::convert::Infallible;

    fn form(&self) -> String {
        self.get().to_string()
    }

    fn read(form: String) -> Result<Self, Self::Bad> {
        Ok(form.parse().map_or_else(|_| Self::from_text(&form), Self::new))
    }
}

/// In Unix milliseconds.
impl Written for Timestamp {
    type Form = u64;
    type Bad = std::convert::Infallible;

    fn form(&self) -> u64 {
        self.as_millis()
    }

    fn read(form: u64) -> Result<Self, Self::Bad> {
        Ok(Self::from_millis(form))
    }
}

/// In milliseconds.
impl Written for Duration {
    type Form = u64;
    type Bad = std::convert::Infallible;

    fn form(&self) -> u64 {
        u64::try_from(self.as_millis()).unwrap_or(u64::MAX)
    }

    fn read(form: u64) -> Result<Self, Self::Bad> {
        Ok(Self::from_millis(form))
    }
}

/// The text of an error's source.
impl Written for Box<dyn Error + Send + Sync> {
    type Form = String;
    type Bad = std::convert::Infallible;

    fn form(&self) -> String {
        self.to_string()
    }

    fn read(form: String) -> Result<Self, Self::Bad> {
        Ok(form.into())
    }
}

impl Written for Mode {
    type Form = String;
    type Bad = UnknownMode;

    fn form(&self) -> String {
        self.as_str().to_owned()
    }

    fn read(form: String) -> Result<Self, Self::Bad> {
        form.parse()
    }
}

impl Written for Refusal {
    type Form = String;
    type Bad = UnknownRefusal;

    fn form(&self) -> String {
        self.as_str().to_owned()
    }

    fn read(form: String) -> Result<Self, Self::Bad> {
        Self::named(&form).ok_or(UnknownRefusal)
    }
}

/// The error of a text that names no refusal.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("not a refusal that is known here")]
#[non_exhaustive]
pub struct UnknownRefusal;

/// The end of a run, as a machine-readable `isEmpty` and the details. Another program may leave out the details.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct OutcomeForm {
    is_empty: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    outcome: Option<OutcomeKind>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tail: Option<TailForm>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum OutcomeKind {
    Unfinished,
    AwaitsHuman,
    Repeated,
    Failed,
}

/// The end of a text, without the text. `Debug` shows no part of it.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TailForm {
    /// The last characters of the text, at most 64.
    end: String,
    /// The number of characters of the whole text, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    length: Option<u32>,
    /// `true` if a file belongs to the text.
    #[serde(default)]
    attachment: bool,
}

impl std::fmt::Debug for TailForm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TailForm").field("length", &self.length).finish_non_exhaustive()
    }
}

/// The error of an `isEmpty` and an `outcome` that contradict each other.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("isEmpty and outcome contradict each other")]
#[non_exhaustive]
pub struct ContradictoryOutcome;

impl Written for Outcome {
    type Form = OutcomeForm;
    type Bad = ContradictoryOutcome;

    fn form(&self) -> OutcomeForm {
        let (is_empty, outcome, tail) = match self {
            Self::Pass => (true, None, None),
            Self::Spoke { tail } => (false, None, Some(tail)),
            Self::Unfinished { tail } => (false, Some(OutcomeKind::Unfinished), Some(tail)),
            Self::AwaitsHuman { tail } => (false, Some(OutcomeKind::AwaitsHuman), Some(tail)),
            Self::Repeated => (true, Some(OutcomeKind::Repeated), None),
            // An outcome that only a newer machine knows does not count as a text either.
            Self::Failed | _ => (true, Some(OutcomeKind::Failed), None),
        };
        let tail = tail.map(|tail| TailForm {
            end: tail.as_str().to_owned(),
            length: tail.length(),
            attachment: tail.has_attachment(),
        });
        OutcomeForm { is_empty, outcome, tail }
    }

    fn read(form: OutcomeForm) -> Result<Self, Self::Bad> {
        // Without a tail any message of the agent counts as its text.
        let tail = form
            .tail
            .map_or(Tail::EMPTY, |tail| Tail::from_parts(&tail.end, tail.length, tail.attachment));
        match (form.is_empty, form.outcome) {
            (true, None) => Ok(Self::Pass),
            (false, None) => Ok(Self::Spoke { tail }),
            (false, Some(OutcomeKind::Unfinished)) => Ok(Self::Unfinished { tail }),
            (false, Some(OutcomeKind::AwaitsHuman)) => Ok(Self::AwaitsHuman { tail }),
            (true, Some(OutcomeKind::Repeated)) => Ok(Self::Repeated),
            (true, Some(OutcomeKind::Failed)) => Ok(Self::Failed),
            (true, Some(OutcomeKind::Unfinished | OutcomeKind::AwaitsHuman))
            | (false, Some(OutcomeKind::Repeated | OutcomeKind::Failed)) => {
                Err(ContradictoryOutcome)
            }
        }
    }
}
