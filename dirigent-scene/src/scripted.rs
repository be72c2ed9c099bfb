//! Scripted actors, for tests and demonstrations.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use crate::actor::{Actor, ActorError, Output};
use crate::briefing::Briefing;
use crate::cue::{Cue, CueKind};

/// An actor that gives prepared outputs, one for each turn or correction, whatever it hears. It fails once they are
/// used up.
///
/// ```
/// use dirigent_scene::{Actor, Cue, CueKind, ScriptedActor};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let mut maria = ScriptedActor::new(["Hello.", "<thinking></thinking><speech>Hello.</speech>"]).journal("Dear diary.");
/// let turn = maria.respond(Cue::for_tests(CueKind::Turn, &[], None)).await.unwrap();
/// assert_eq!(turn.as_str(), "Hello.");
/// # }
/// ```
#[derive(Clone)]
pub struct ScriptedActor {
    outputs: VecDeque<Arc<str>>,
    journal: Arc<str>,
    answer: Arc<str>,
}

impl ScriptedActor {
    /// Creates an actor with these outputs.
    pub fn new<T: Into<Arc<str>>>(outputs: impl IntoIterator<Item = T>) -> Self {
        let outputs = outputs.into_iter().map(Into::into).collect();
        Self {
            outputs,
            journal: "It is over.".into(),
            answer: "I have said what I have to say.".into(),
        }
    }

    /// Sets the journal entry. A short one is the default.
    #[must_use]
    pub fn journal(mut self, entry: impl Into<Arc<str>>) -> Self {
        self.journal = entry.into();
        self
    }

    /// Sets the answer to every question after the scene. A short one is the default.
    #[must_use]
    pub fn interview(mut self, answer: impl Into<Arc<str>>) -> Self {
        self.answer = answer.into();
        self
    }
}

#[async_trait]
impl Actor for ScriptedActor {
    async fn brief(&mut self, _: Briefing) -> Result<(), ActorError> {
        Ok(())
    }

    async fn respond(&mut self, cue: Cue) -> Result<Output, ActorError> {
        let text = match cue.kind() {
            CueKind::Journal => Arc::clone(&self.journal),
            CueKind::Interview => Arc::clone(&self.answer),
            CueKind::Turn | CueKind::Correction => {
                let next = self.outputs.pop_front();
                next.ok_or_else(|| ActorError::new("the script is at its end"))?
            }
        };
        Ok(Output::text(text))
    }
}

/// Hides the outputs.
impl fmt::Debug for ScriptedActor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ScriptedActor({} outputs left)", self.outputs.len())
    }
}
