//! What an actor is given with its turn.

use std::fmt;
use std::sync::Arc;

use crate::lines::{reads_as_another, write_marked};
use crate::prompt::Prompt;
use crate::protocol::Speech;

/// One thing that an actor hears: what another character said aloud, in the words of that character.
///
/// A host makes none of these: they come of speech that was spoken. [`Cue::for_tests`] makes a cue for tests of actors.
#[derive(Clone, PartialEq, Eq)]
pub struct HeardSpeech {
    pub(crate) speaker: Arc<str>,
    pub(crate) speech: Speech,
    pub(crate) frame: Option<SpeechFrame>,
}

/// What stands before and behind the speech of another character when an actor hears it. The speech itself stands
/// between the two, unchanged but for a `>` before each of its lines that is not its first: so no speech can end its frame and
/// begin one for another character.
///
/// ```
/// use dirigent_scene::SpeechFrame;
///
/// let frame = SpeechFrame::named("Maria");
/// assert_eq!((&*frame.before, &*frame.behind), ("[Maria, speaking]: \"", "\""));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "hosts build it, and it has two ends")]
pub struct SpeechFrame {
    /// What stands before the speech.
    pub before: Arc<str>,
    /// What stands behind it.
    pub behind: Arc<str>,
}

impl SpeechFrame {
    /// The frame that a scene of three or more uses: it adds the speaker's name and nothing else.
    pub fn named(speaker: &str) -> Self {
        Self { before: format!("[{speaker}, speaking]: \"").into(), behind: "\"".into() }
    }
}

impl HeardSpeech {
    /// Returns the display name of the character that spoke.
    pub fn speaker(&self) -> &str {
        &self.speaker
    }

    /// Returns what was said.
    pub fn speech(&self) -> &str {
        self.speech.as_str()
    }
}

/// As the actor reads it: framed where it is framed, and a fixed line for a turn without words. A speech without a frame
/// has one all the same where one of its lines begins like one of the coordinator's: with a bracket or the words of a
/// prompt.
impl fmt::Display for HeardSpeech {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.speech.is_empty() {
            return write!(f, "[{} says nothing.]", self.speaker);
        }
        let speech = self.speech.as_str();
        let named;
        let SpeechFrame { before, behind } = match &self.frame {
            Some(frame) => frame,
            None if reads_as_another(speech) => {
                named = SpeechFrame::named(&self.speaker);
                &named
            }
            None => return f.write_str(speech),
        };
        f.write_str(before)?;
        write_marked(f, speech)?;
        f.write_str(behind)
    }
}

/// Shows no word of it.
impl fmt::Debug for HeardSpeech {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HeardSpeech({}, {:?})", self.speaker, self.speech)
    }
}

/// What is asked of an actor.
///
/// ```
/// use dirigent_scene::CueKind;
/// assert_ne!(CueKind::Turn, CueKind::Journal);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CueKind {
    /// To speak, in the protocol's form.
    Turn,
    /// To bring the last output into the protocol's form.
    Correction,
    /// A journal entry, as plain text or as a block of speech.
    Journal,
    /// An answer to a question that is asked after the scene, as plain text or as a block of speech.
    Interview,
}

/// What an actor is given when it is asked for something: what was said since its last turn, and one of the fixed
/// [prompts](Prompt). Earlier turns are never given again; the actor remembers them.
///
/// ```
/// use dirigent_scene::{Cue, CueKind, Prompt};
///
/// let cue = Cue::for_tests(CueKind::Turn, &[("Sam", "Hello.")], Some(Prompt::WindDown));
/// assert!(cue.text().starts_with("Hello.\n\nYou sense the natural end"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cue {
    kind: CueKind,
    heard: Vec<HeardSpeech>,
    prompt: Option<Prompt>,
    /// What an interviewer asks.
    question: Option<Question>,
}

/// A host's question to an actor after the scene.
#[derive(Clone, PartialEq, Eq)]
struct Question(Arc<str>);

impl fmt::Debug for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Question({} bytes)", self.0.len())
    }
}

impl Cue {
    pub(crate) const fn new(
        kind: CueKind,
        heard: Vec<HeardSpeech>,
        prompt: Option<Prompt>,
    ) -> Self {
        Self { kind, heard, prompt, question: None }
    }

    pub(crate) fn interview(question: &str) -> Self {
        let question = Some(Question(question.into()));
        Self { kind: CueKind::Interview, heard: Vec::new(), prompt: None, question }
    }

    /// Makes a cue for a test of an actor, as if these characters had said this, without frames.
    pub fn for_tests(kind: CueKind, heard: &[(&str, &str)], prompt: Option<Prompt>) -> Self {
        let heard = heard.iter().map(|(speaker, speech)| HeardSpeech {
            speaker: (*speaker).into(),
            speech: Speech::of_person(speech),
            frame: None,
        });
        Self::new(kind, heard.collect(), prompt)
    }

    /// Returns what is asked.
    pub const fn kind(&self) -> CueKind {
        self.kind
    }

    /// Returns what was said since the actor's last turn, oldest first.
    pub fn heard(&self) -> &[HeardSpeech] {
        &self.heard
    }

    /// Returns the coordinator's own words, where there are any.
    pub const fn prompt(&self) -> Option<Prompt> {
        self.prompt
    }

    /// Returns everything as one text: what was heard, then the prompt or the question, with a blank line between two.
    /// It is empty for the character that speaks first: the instruction of its briefing is its prompt.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut add = |part: &str| {
            if !text.is_empty() {
                text.push_str("\n\n");
            }
            text.push_str(part);
        };
        self.heard.iter().for_each(|heard| add(&heard.to_string()));
        if let Some(prompt) = self.prompt {
            add(prompt.as_str());
        }
        if let Some(Question(question)) = &self.question {
            add(question);
        }
        text
    }
}
