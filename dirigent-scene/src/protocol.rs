//! The protocol: an actor's output is one block of thinking, then one block of speech.

use std::fmt;
use std::sync::Arc;

use dirigent_llm::has_reasoning;

/// The thoughts and the speech of an actor, in the order of its output.
///
/// ```
/// use dirigent_scene::{Malformed, parse_output};
///
/// let turn = parse_output("<thinking>\nWho is it?\n</thinking>\n\n<speech>\nCome in.\n</speech>")?;
/// assert_eq!(turn.speech.as_str(), "Come in.");
/// assert!(parse_output("Come in.").is_err());
/// # Ok::<(), Malformed>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parsed {
    /// The character's thinking. It goes only into the event log.
    pub thinking: Thoughts,
    /// The character's speech.
    pub speech: Speech,
}

/// The thinking of a character. It cannot be turned into a [`Speech`] or a [`Cue`](crate::Cue), so no other actor can
/// ever read it. `Debug` hides it.
///
/// ```
/// let turn = dirigent_scene::parse_output("<thinking>Hm.</thinking><speech>Yes.</speech>").unwrap();
/// assert_eq!(format!("{:?}", turn.thinking), "Thoughts(3 bytes)");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Thoughts(Arc<str>);

impl Thoughts {
    /// Returns the words, for the `think` event.
    pub(crate) fn into_event(self) -> Arc<str> {
        self.0
    }

    /// Returns a person's thoughts, which they do not write down.
    pub(crate) fn none() -> Self {
        Self("".into())
    }

    /// Reads the thoughts from a `think` event.
    pub(crate) fn from_event(text: &Arc<str>) -> Self {
        Self(Arc::clone(text))
    }
}

impl fmt::Debug for Thoughts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Thoughts({} bytes)", self.0.len())
    }
}

/// The spoken words of a character, exactly as they stand between the tags, but trimmed. `Debug` hides them.
///
/// ```
/// let turn = dirigent_scene::parse_output("<thinking></thinking><speech> Yes. </speech>").unwrap();
/// assert_eq!(turn.speech.as_str(), "Yes.");
/// assert!(!turn.speech.is_empty());
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Speech(Arc<str>);

impl Speech {
    /// Creates a speech from a person's words, which have no tags.
    pub(crate) fn of_person(text: &str) -> Self {
        Self(text.trim().into())
    }

    /// Reads the speech from a `speak` event.
    pub(crate) fn from_event(text: &Arc<str>) -> Self {
        Self(Arc::clone(text))
    }

    /// Returns the words.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }

    /// Returns true if the character says nothing. That is a turn like any other.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Speech {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Speech({} bytes)", self.0.len())
    }
}

/// Why an output does not follow the protocol. The actor is asked to reformat it, and no part of it is routed.
///
/// ```
/// use dirigent_scene::{Malformed, parse_output};
/// assert_eq!(parse_output("<thinking>Hm."), Err(Malformed::ThinkingNotClosed));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// The output does not begin with `<thinking>`.
    #[error("the output does not begin with <thinking>")]
    NoThinking,
    /// `</thinking>` is missing.
    #[error("<thinking> is not closed")]
    ThinkingNotClosed,
    /// `<speech>` does not follow directly after `</thinking>`.
    #[error("<speech> does not follow the thinking")]
    NoSpeech,
    /// `</speech>` is missing.
    #[error("<speech> is not closed")]
    SpeechNotClosed,
    /// There is text after `</speech>`.
    #[error("something stands behind </speech>")]
    TextAfter,
    /// A block contains a tag of the protocol, in whatever spelling.
    #[error("a tag stands inside of a block")]
    TagInside,
    /// The speech contains thinking, or something that may be thinking, in a tag of any name.
    #[error("the speech holds what may be thinking")]
    ThinkingInside,
}

/// Reads an output. The form is `<thinking>`, a text, `</thinking>`, `<speech>`, a text, `</speech>`, with only white
/// space around the blocks. The tags are in lower case and have no attributes. Both texts may be empty.
///
/// Neither text may contain one of these tags, in any case or with any spaces, slashes or attributes. The speech may
/// also contain no other mark of thinking ([`has_reasoning`]), so that carelessly marked thinking is never spoken.
///
/// # Errors
///
/// Returns [`Malformed`], which names the first problem.
pub fn parse_output(output: &str) -> Result<Parsed, Malformed> {
    let rest = output.trim().strip_prefix("<thinking>").ok_or(Malformed::NoThinking)?;
    let (thinking, rest) = rest.split_once("</thinking>").ok_or(Malformed::ThinkingNotClosed)?;
    if has_tag(thinking) {
        return Err(Malformed::TagInside);
    }
    let rest = rest.trim_start().strip_prefix("<speech>").ok_or(Malformed::NoSpeech)?;
    let (speech, rest) = rest.split_once("</speech>").ok_or(Malformed::SpeechNotClosed)?;
    if has_tag(speech) {
        return Err(Malformed::TagInside);
    }
    if has_reasoning(speech) {
        return Err(Malformed::ThinkingInside);
    }
    if !rest.trim().is_empty() {
        return Err(Malformed::TextAfter);
    }
    let (thinking, speech) = (Thoughts(thinking.trim().into()), Speech(speech.trim().into()));
    Ok(Parsed { thinking, speech })
}

/// The names of the protocol's tags.
const TAGS: [&str; 2] = ["thinking", "speech"];

/// Returns true if a free text, such as a journal entry, contains a tag of the protocol or another mark of thinking.
pub(crate) fn is_marked(text: &str) -> bool {
    has_tag(text) || has_reasoning(text)
}

/// Returns true if any part of a text could pass for a tag of the protocol.
fn has_tag(text: &str) -> bool {
    let mut rest = text;
    while let Some((_, behind)) = rest.split_once('<') {
        let word = behind.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
        let is_tag = TAGS.iter().any(|tag| {
            let (Some(name), Some(after)) = (word.get(..tag.len()), word.get(tag.len()..)) else {
                return false;
            };
            name.eq_ignore_ascii_case(tag) && !after.starts_with(|c: char| c.is_alphanumeric())
        });
        if is_tag {
            return true;
        }
        rest = behind;
    }
    false
}
