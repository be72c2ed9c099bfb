//! Counts the questions and their outcomes.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::RelayError;

/// The outcome of a question to another process.
///
/// ```
/// use dirigent_relay::AskOutcome;
/// assert_eq!(AskOutcome::NoAnswer.as_str(), "no-answer");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum AskOutcome {
    /// The process answered it.
    Answered,
    /// The process answered that it refuses.
    Refused,
    /// The question surely did not reach the process.
    NotCarried,
    /// There was no answer in time, or none that can be read, so the question may have been carried out.
    NoAnswer,
}

impl AskOutcome {
    /// Returns the word for this outcome.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Refused => "refused",
            Self::NotCarried => "not-carried",
            Self::NoAnswer => "no-answer",
        }
    }

    fn of<T>(answer: &Result<T, RelayError>) -> Self {
        match answer {
            Ok(_) => Self::Answered,
            Err(RelayError::Refused { .. }) => Self::Refused,
            Err(error) if error.is_certain() => Self::NotCarried,
            Err(_) => Self::NoAnswer,
        }
    }
}

/// The number of questions of one rule with one outcome, which a process asked since its start.
/// [`Client::counts`](crate::Client::counts) returns it.
///
/// ```
/// fn lost(client: &dirigent_relay::Client) -> u64 {
///     let counts = client.counts().into_iter();
///     counts.filter(|asked| asked.outcome == dirigent_relay::AskOutcome::NoAnswer).map(|asked| asked.count).sum()
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AskCount {
    /// The rule of the questions.
    pub rule: &'static str,
    /// The outcome of the questions.
    pub outcome: AskOutcome,
    /// The number of questions.
    pub count: u64,
}

/// The counts of a client.
#[derive(Debug, Default)]
pub(crate) struct AskCounts(Mutex<BTreeMap<(&'static str, AskOutcome), u64>>);

impl AskCounts {
    pub(crate) fn count<T>(&self, rule: &'static str, answer: &Result<T, RelayError>) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry((rule, AskOutcome::of(answer))).or_default() += 1;
    }

    pub(crate) fn all(&self) -> Vec<AskCount> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let one = |((rule, outcome), count): (&(&'static str, AskOutcome), &u64)| AskCount {
            rule,
            outcome: *outcome,
            count: *count,
        };
        counts.iter().map(one).collect()
    }
}
