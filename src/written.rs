//! How values of the core are written between processes, for serde's `with`: the core has no dependency, so none of its types can say
//! it itself. Hidden, since it may change with each version.

use std::error::Error;
use std::fmt::Display;
use std::time::Duration;

use dirigent_core::{MessageId, Mode, Outcome, Refusal, RunId, Tail, Timestamp, UnknownMode};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A value that is written as another one.
pub trait Written: Sized {
    /// What it is written as.
    type Form: Serialize + DeserializeOwned;
    /// Why a form is none of such a value.
    type Bad: Display;

    /// Writes it.
    fn form(&self) -> Self::Form;

    /// Reads it, with the checks of its constructor.
    ///
    /// # Errors
    ///
    /// The form is that of no value.
    fn read(form: Self::Form) -> Result<Self, Self::Bad>;
}

/// Writes one value: `#[serde(with = "dirigent::written")]`.
///
/// # Errors
///
/// As the serializer fails.
pub fn serialize<T: Written, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    value.form().serialize(serializer)
}

/// Reads one value.
///
/// # Errors
///
/// It is missing, or [`Written::Bad`].
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

/// As text: a number in JSON would lose digits.
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

/// A run's id as text. One that this library made is a decimal number; any other text of a foreign asker names a run, too.
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

/// What caused an error: its text.
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

/// The text names no refusal.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("not a refusal that is known here")]
#[non_exhaustive]
pub struct UnknownRefusal;

/// How a run ended: a machine-readable `isEmpty`, and what that does not say. A foreign asker may leave the rest away.
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

/// The end of a text, without the text. `Debug` shows nothing of it.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TailForm {
    /// Its last characters, at most 64.
    end: String,
    /// How many characters the whole text has, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    length: Option<u32>,
    /// Whether a file belongs to it.
    #[serde(default)]
    attachment: bool,
}

impl std::fmt::Debug for TailForm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TailForm").field("length", &self.length).finish_non_exhaustive()
    }
}

/// `isEmpty` and `outcome` contradict each other.
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
            // Of what a newer machine may know nothing is taken for a text either.
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
        // Without a tail any message of the agent is taken for its text.
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
