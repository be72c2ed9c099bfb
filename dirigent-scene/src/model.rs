//! Actors that ask a language model, each with a history of its own.

use std::fmt;
use std::path::PathBuf;

use async_trait::async_trait;
use dirigent_llm::{Chat, ModelMessage, Question};
use serde::{Deserialize, Serialize};

use crate::actor::{Actor, ActorError, ActorFactory, CastRole, Output, Restored};
use crate::briefing::Briefing;
use crate::cue::{Cue, CueKind};
use crate::files::{Appender, create_folder, read_if_there};
use crate::prompt::Prompt;

/// Creates actors that ask a model. Each has a history of its own: its briefing, its cues and its answers. Histories
/// are neither shared nor shortened. If the model's context is full, the actor fails and the scene ends as aborted.
///
/// ```
/// use dirigent_llm::{Chat, Endpoint};
/// use dirigent_scene::ModelActors;
///
/// let model = Chat::new(Endpoint::new("http://127.0.0.1:11434/v1", "llama3.2"));
/// let actors = ModelActors::new(model).saved_in("scene-001/actors");
/// # let _ = actors;
/// ```
#[derive(Clone)]
pub struct ModelActors {
    model: Chat,
    saved_in: Option<PathBuf>,
}

impl ModelActors {
    /// A grammar for llama.cpp that forces a model's output to follow the protocol. Set it with
    /// `Endpoint::field("grammar", ModelActors::LLAMA_GRAMMAR)` if your model is too small to follow the form by
    /// itself.
    pub const LLAMA_GRAMMAR: &'static str = "root ::= \"<thinking>\\n\" text \"\\n</thinking>\\n\\n<speech>\\n\" text \
                                             \"\\n</speech>\"\ntext ::= [^<\\n] [^<]{0,200}\n";

    /// Creates a factory of actors that ask this model.
    pub const fn new(model: Chat) -> Self {
        Self { model, saved_in: None }
    }

    /// Saves each actor's history in this folder, as `SLUG.jsonl`, so that you can resume a killed scene. A history
    /// contains everything that its actor read, heard, thought and said. By default histories are not saved.
    #[must_use]
    pub fn saved_in(mut self, folder: impl Into<PathBuf>) -> Self {
        self.saved_in = Some(folder.into());
        self
    }

    fn file(&self, role: &CastRole) -> Option<PathBuf> {
        let folder = self.saved_in.as_ref()?;
        Some(folder.join(role.slug().as_str()).with_extension("jsonl"))
    }
}

impl fmt::Debug for ModelActors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelActors").field("model", &self.model).finish_non_exhaustive()
    }
}

/// A line of a saved history.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Entry {
    Briefed(String),
    Exchange { cue: String, answer: String },
}

#[async_trait]
impl ActorFactory for ModelActors {
    async fn spawn(&mut self, role: &CastRole) -> Result<Box<dyn Actor>, ActorError> {
        let file = match self.file(role) {
            None => None,
            Some(path) => {
                path.parent().map_or(Ok(()), create_folder).map_err(ActorError::new)?;
                Some(Appender::cut_at(path, 0).map_err(ActorError::new)?)
            }
        };
        let (model, history) = (self.model.clone(), History::default());
        Ok(Box::new(ModelActor { model, history, file }))
    }

    async fn restore(&mut self, role: &CastRole) -> Result<Option<Restored>, ActorError> {
        let Some(path) = self.file(role) else {
            return Ok(None);
        };
        let Some(bytes) = read_if_there(&path).map_err(ActorError::new)? else {
            return Ok(None);
        };
        let mut history = History::default();
        let mut whole = 0;
        // If the kill cut the last line, that answer was not saved.
        for line in
            bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"))
        {
            let entry = serde_json::from_slice(line);
            history.take(entry.map_err(|_| ActorError::new("the saved history is damaged"))?);
            whole += line.len() as u64;
        }
        if history.system.is_none() {
            return Ok(None);
        }
        let file = Some(Appender::cut_at(path, whole).map_err(ActorError::new)?);
        let answered = u32::try_from(history.exchanges.len()).unwrap_or(u32::MAX);
        let last = history.exchanges.last().map(|(_, answer)| Output::text(answer.as_str()));
        let actor = ModelActor { model: self.model.clone(), history, file };
        Ok(Some(Restored::new(actor, answered, last)))
    }
}

/// The memory of one actor.
#[derive(Default)]
struct History {
    system: Option<String>,
    exchanges: Vec<(String, String)>,
}

impl History {
    fn take(&mut self, entry: Entry) {
        match entry {
            Entry::Briefed(system) => self.system = Some(system),
            Entry::Exchange { cue, answer } => self.exchanges.push((cue, answer)),
        }
    }
}

/// An actor that asks a model.
struct ModelActor {
    model: Chat,
    history: History,
    file: Option<Appender>,
}

impl ModelActor {
    /// Saves first, so that the actor remembers exactly what would be restored.
    fn remember(&mut self, entry: Entry) -> Result<(), ActorError> {
        if let Some(file) = &mut self.file {
            let mut line = serde_json::to_vec(&entry).map_err(ActorError::new)?;
            line.push(b'\n');
            file.append(&line).map_err(ActorError::new)?;
        }
        self.history.take(entry);
        Ok(())
    }
}

#[async_trait]
impl Actor for ModelActor {
    async fn brief(&mut self, briefing: Briefing) -> Result<(), ActorError> {
        self.remember(Entry::Briefed(briefing.text()))
    }

    async fn respond(&mut self, cue: Cue) -> Result<Output, ActorError> {
        let kind = cue.kind();
        let mut cue = cue.text();
        if self.history.exchanges.is_empty() {
            // The model must read the instruction first.
            let instruction = Prompt::Instruction.as_str();
            cue = if cue.is_empty() {
                instruction.to_owned()
            } else {
                format!("{instruction}\n\n{cue}")
            };
        }
        let system = self.history.system.as_deref().unwrap_or_default();
        let mut messages = vec![ModelMessage::system(system)];
        for (cue, answer) in &self.history.exchanges {
            messages.push(ModelMessage::user(cue));
            messages.push(ModelMessage::assistant(answer));
        }
        messages.push(ModelMessage::user(&cue));
        let question = Question::new(messages).keep_tags();
        let answer = self.model.ask(&question).await.map_err(ActorError::new)?.text;
        let output = Output::text(answer.as_str());
        if kind != CueKind::Interview {
            self.remember(Entry::Exchange { cue, answer })?;
        }
        Ok(output)
    }
}
