//! Claims that you can make about rules.

use std::fmt;
use std::str::FromStr;

/// A claim about your rules, which [`Inquiry::ask`](crate::Inquiry::ask) tries to break. You write it as on the command line.
///
/// ```
/// use dirigent_lab::Claim;
///
/// assert_eq!("answered-within=2".parse::<Claim>()?, Claim::AnsweredWithin(2));
/// assert!("answered".parse::<Claim>().is_err());
/// # Ok::<(), dirigent_lab::BadClaim>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Claim {
    /// `heard`: each word of a person reaches each agent before the channel becomes dormant. A word reaches an agent if its run begins
    /// after the word, if the driver hands it the word, or if it is asked and does not answer.
    Heard,
    /// `addressed-next`: an agent that a person addresses has the next turn, or gets the word during its own. If a person addresses
    /// another agent before that, only the newest word counts.
    AddressedNext,
    /// `calls-without-person=N`: agents are called at most N times between two words of people. A turn that was given before the word
    /// counts, too, if its agent begins after the word.
    CallsWithoutPerson(u32),
    /// `waits=N`: while the channel is awake, no agent waits for more than N turns of others.
    Waits(u32),
    /// `rests`: the channel becomes dormant by itself within 1,000 turns. This must hold if all agents pass from some moment on, if
    /// they all stop answering, and if each of them always has something to say or always names another one.
    Rests,
    /// `answered-within=N`: one of the next N turns takes a person's word. A turn takes a word if its agent knows the word, and speaks
    /// or passes. A turn that breaks off takes no word.
    AnsweredWithin(u32),
}

/// The error for a text that is not a claim.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no claim: write {}", FORMS)]
#[non_exhaustive]
pub struct BadClaim {
    /// The text that was given.
    pub text: String,
}

const FORMS: &str =
    "heard, addressed-next, calls-without-person=12, waits=4, rests or answered-within=2";

impl Claim {
    /// Returns the last line of a counterexample.
    pub(crate) fn complaint(self) -> String {
        match self {
            Self::Heard => "an agent was never asked, nor handed the word".to_owned(),
            Self::AddressedNext => "the addressed agent is not next".to_owned(),
            Self::CallsWithoutPerson(calls) => {
                format!("that is call {} without a person", calls.saturating_add(1))
            }
            Self::Waits(turns) => format!("an agent has waited for more than {turns} turns"),
            Self::Rests => "the channel does not become dormant".to_owned(),
            Self::AnsweredWithin(turns) => {
                format!(
                    "{turns} turns did not take the word, or the channel becomes dormant over it"
                )
            }
        }
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Heard => f.write_str("heard"),
            Self::AddressedNext => f.write_str("addressed-next"),
            Self::CallsWithoutPerson(calls) => write!(f, "calls-without-person={calls}"),
            Self::Waits(turns) => write!(f, "waits={turns}"),
            Self::Rests => f.write_str("rests"),
            Self::AnsweredWithin(turns) => write!(f, "answered-within={turns}"),
        }
    }
}

impl FromStr for Claim {
    type Err = BadClaim;

    fn from_str(text: &str) -> Result<Self, BadClaim> {
        let bad = || BadClaim { text: text.to_owned() };
        let (name, number) = match text.split_once('=') {
            Some((name, number)) => (name, Some(number.parse().map_err(|_| bad())?)),
            None => (text, None),
        };
        match (name, number) {
            ("heard", None) => Ok(Self::Heard),
            ("addressed-next", None) => Ok(Self::AddressedNext),
            ("calls-without-person", Some(calls)) => Ok(Self::CallsWithoutPerson(calls)),
            ("waits", Some(turns)) => Ok(Self::Waits(turns)),
            ("rests", None) => Ok(Self::Rests),
            ("answered-within", Some(turns)) => Ok(Self::AnsweredWithin(turns)),
            _ => Err(bad()),
        }
    }
}
