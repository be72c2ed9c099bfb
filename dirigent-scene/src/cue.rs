//! The text that an actor gets with its turn.

use std::fmt;
use std::sync::Arc;

use crate::lines::{reads_as_another, write_marked};
use crate::prompt::Prompt;
use crate::protocol::Speech;

/// One thing that an actor hears: another character's spoken words.
///
/// You cannot create one, because it always comes from speech that was really spoken. To test an actor, use
/// [`Cue::for_tests`].
#[derive(Clone, PartialEq, Eq)]
pub struct HeardSpeech {
    pub(crate) speaker: Arc<str>,
    pub(crate) speech: Speech,
    pub(crate) frame: Option<SpeechFrame>,
}

/// The text around another character's speech when an actor hears it. The speech stands between the two parts
/// unchanged, except that each line after its first begins with `>`. Because of this no speech can close its frame and
/// open one for another character.
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
    /// The text before the speech.
    pub before: Arc<str>,
    /// The text after the speech.
    pub behind: Arc<str>,
}

impl SpeechFrame {
    /// Returns the frame of a scene with three or more characters. It adds only the speaker's name.
    pub fn named(speaker: &str) -> Self {
        Self { before: format!("[{speaker}, speaking]: \"").into(), behind: "\"".into() }
    }
}

impl HeardSpeech {
    /// Returns the display name of the character that spoke.
    pub fn speaker(&self) -> &str {
        &self.speaker
    }

    /// Returns the spoken words.
    pub fn speech(&self) -> &str {
        self.speech.as_str()
    }
}

/// Writes the speech as the actor reads it, within its frame if it has one. A turn without words becomes a fixed line.
/// If a line of the speech begins like one of the coordinator's, with a bracket or the words of a prompt, the speech
/// gets a frame in any case.
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

/// Hides all words.
impl fmt::Debug for HeardSpeech {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HeardSpeech({}, {:?})", self.speaker, self.speech)
    }
}

/// The kind of answer that an actor should give.
///
/// ```
/// use dirigent_scene::CueKind;
/// assert_ne!(CueKind::Turn, CueKind::Journal);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CueKind {
    /// A speech that follows the protocol.
    Turn,
    /// Its last output once more, this time following the protocol.
    Correction,
    /// A journal entry, as plain text or as a block of speech.
    Journal,
    /// An answer to a question after the scene, as plain text or as a block of speech.
    Interview,
}

/// A request to an actor: the speeches since its last turn, and one of the fixed [prompts](Prompt). Earlier turns are
/// never sent again, because the actor remembers them.
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
    /// The interviewer's question.
    question: Option<Question>,
}

/// Your question to an actor after the scene.
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

    /// Creates a cue for a test of an actor, as if these characters had said this, without frames.
    pub fn for_tests(kind: CueKind, heard: &[(&str, &str)], prompt: Option<Prompt>) -> Self {
        let heard = heard.iter().map(|(speaker, speech)| HeardSpeech {
            speaker: (*speaker).into(),
            speech: Speech::of_person(speech),
            frame: None,
        });
        Self::new(kind, heard.collect(), prompt)
    }

    /// Returns the kind of answer to give.
    pub const fn kind(&self) -> CueKind {
        self.kind
    }

    /// Returns the speeches since the actor's last turn, oldest first.
    pub fn heard(&self) -> &[HeardSpeech] {
        &self.heard
    }

    /// Returns the coordinator's own words, if there are any.
    pub const fn prompt(&self) -> Option<Prompt> {
        self.prompt
    }

    /// Returns everything as one text: first the speeches, then the prompt or the question, separated by blank lines.
    /// It is empty for the character that speaks first, because the instruction in its briefing is its prompt.
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
