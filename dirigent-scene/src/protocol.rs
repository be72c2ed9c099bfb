//! The form of an actor's output: one block of thinking, then one block of speech, and nothing else.

use std::fmt;
use std::sync::Arc;

use dirigent_llm::has_reasoning;

/// What an actor said and thought, in the order in which it stands in the output.
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
    /// What the character thinks. It goes into the event log and nowhere else.
    pub thinking: Thoughts,
    /// What the character says.
    pub speech: Speech,
}

/// What a character thinks. Nothing that an actor is given can be made of it: there is no way from here to a
/// [`Speech`] or a [`Cue`](crate::Cue). `Debug` does not show it.
///
/// ```
/// let turn = dirigent_scene::parse_output("<thinking>Hm.</thinking><speech>Yes.</speech>").unwrap();
/// assert_eq!(format!("{:?}", turn.thinking), "Thoughts(3 bytes)");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Thoughts(Arc<str>);

impl Thoughts {
    /// The words, for the `think` event.
    pub(crate) fn into_event(self) -> Arc<str> {
        self.0
    }

    /// What a person is taken to think, who writes none of it down.
    pub(crate) fn none() -> Self {
        Self("".into())
    }

    /// From a `think` event that is read back.
    pub(crate) fn from_event(text: &Arc<str>) -> Self {
        Self(Arc::clone(text))
    }
}

impl fmt::Debug for Thoughts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Thoughts({} bytes)", self.0.len())
    }
}

/// What a character says aloud, byte for byte as it stands between the tags, without the white space around it. `Debug`
/// does not show it.
///
/// ```
/// let turn = dirigent_scene::parse_output("<thinking></thinking><speech> Yes. </speech>").unwrap();
/// assert_eq!(turn.speech.as_str(), "Yes.");
/// assert!(!turn.speech.is_empty());
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Speech(Arc<str>);

impl Speech {
    /// Takes what a person said, who uses no tags.
    pub(crate) fn of_person(text: &str) -> Self {
        Self(text.trim().into())
    }

    /// From a `speak` event that is read back.
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

    /// Returns whether the character says nothing, which is a turn like any other.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Speech {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Speech({} bytes)", self.0.len())
    }
}

/// Why an output does not keep the protocol. The actor is asked to reformat it; nothing of it is routed.
///
/// ```
/// use dirigent_scene::{Malformed, parse_output};
/// assert_eq!(parse_output("<thinking>Hm."), Err(Malformed::ThinkingNotClosed));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// It does not begin with `<thinking>`.
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
    /// Something stands behind `</speech>`.
    #[error("something stands behind </speech>")]
    TextAfter,
    /// A tag of the protocol, in whatever spelling, stands inside of a block.
    #[error("a tag stands inside of a block")]
    TagInside,
    /// The speech holds thinking, in a tag of whatever name, or something that may be thinking.
    #[error("the speech holds what may be thinking")]
    ThinkingInside,
}

/// Reads an output. It conforms when it is `<thinking>`, a text, `</thinking>`, `<speech>`, a text, `</speech>`, with only
/// white space around the blocks. Tags are in lower case and have no attributes. Neither text has a tag of these names
/// in it, in any case or with any spaces, slashes or attributes, and the speech has no other mark of thinking either
/// ([`has_reasoning`]): thinking that was marked carelessly is not spoken. Both texts may be empty.
///
/// # Errors
///
/// [`Malformed`], with the first thing that is wrong.
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

/// The words that name a tag of the protocol.
const TAGS: [&str; 2] = ["thinking", "speech"];

/// Whether a text that has no form to keep, such as a journal entry, has a tag of the protocol or another mark of thinking in it.
pub(crate) fn is_marked(text: &str) -> bool {
    has_tag(text) || has_reasoning(text)
}

/// Whether anything in a text could pass for a tag of the protocol.
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
