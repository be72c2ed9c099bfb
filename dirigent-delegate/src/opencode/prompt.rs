//! Performs one task in a session, from its prompt to its answer.
//!
//! Events report what happens, but they can be lost. So the result is read from the server, after an event and from
//! time to time.

use std::sync::Arc;
use std::time::Duration;

use dirigent::Clock;
use dirigent::ports::Timestamp;
use futures_util::{Stream, StreamExt as _};
use http_body_util::BodyExt as _;
use serde_json::{Map, Value, json};
use sse_stream::SseByteStream;

use super::client::{Api, ApiError};
use super::heard::Heard;
use super::wire::{Event, ModelMessage, Pending};
use crate::delegate::{Task, TaskOutcome};
use crate::permission::Decide;
use crate::result::TokenUsage;
use crate::terminal::progress;

/// The pause between two requests while no event comes.
const POLL: Duration = Duration::from_secs(2);
/// The most failures in a row of the server to answer.
const FAILURES: u32 = 3;

/// A task in a session.
pub(super) struct Prompting<'a> {
    api: &'a Api,
    session: &'a str,
    task: &'a Task,
    clock: &'a Arc<dyn Clock>,
    decide: &'a Decide,
    /// True if all of the server's sessions are ours.
    is_own: bool,
}

type Events = std::pin::Pin<Box<dyn Stream<Item = Event> + Send>>;

impl<'a> Prompting<'a> {
    pub(super) fn new(
        api: &'a Api,
        session: &'a str,
        task: &'a Task,
        clock: &'a Arc<dyn Clock>,
        decide: &'a Decide,
        is_own: bool,
    ) -> Self {
        Self { api, session, task, clock, decide, is_own }
    }

    /// Sends the prompt, and waits for the answer.
    ///
    /// # Errors
    ///
    /// Returns an error if the prompt was not accepted. A later failure is an outcome.
    ///
    /// # Cancellation
    ///
    /// Dropping the future aborts the work of the session.
    pub(super) async fn run(&self) -> Result<TaskOutcome, ApiError> {
        let before = self.api.messages(self.session).await?;
        let before = before.last().map(|message| message.info.id.clone());
        // Listen before the prompt is sent, so that no event is missed.
        let events = self.events().await;
        let abort = AbortOnDrop::new(self.api, self.session);
        self.api.prompt(self.session, &self.body()).await?;
        let outcome = self.follow(events, before.as_deref()).await;
        abort.disarm();
        Ok(outcome)
    }

    /// Returns the prompt as opencode reads it.
    fn body(&self) -> Value {
        let mut parts = vec![json!({ "type": "text", "text": self.task.prompt() })];
        for image in self.task.images() {
            parts.push(json!({ "type": "file", "mime": image.mime_type, "url": image.data_url() }));
        }
        let mut body = Map::from_iter([("parts".to_owned(), parts.into())]);
        if let Some((provider, model)) = self.task.model().and_then(|name| name.split_once('/')) {
            let model = json!({ "providerID": provider, "modelID": model });
            body.insert("model".to_owned(), model);
        }
        if let Some(thinking) = self.task.thinking() {
            body.insert("variant".to_owned(), thinking.as_str().into());
        }
        body.into()
    }

    /// Returns the stream of events. It is empty if there is none.
    async fn events(&self) -> Events {
        let Ok(body) = self.api.events().await else {
            return futures_util::stream::empty().boxed();
        };
        let events = SseByteStream::new(body.into_data_stream());
        let events = events.filter_map(|event| async move {
            serde_json::from_str(event.ok()?.data?.as_str()).ok()
        });
        events.boxed()
    }

    async fn follow(&self, mut events: Events, before: Option<&str>) -> TaskOutcome {
        let deadline = self.task.deadline();
        let (mut look_at, mut failures, mut is_open) = (self.clock.now() + POLL, 0, true);
        let mut heard = Heard::default();
        loop {
            if self.clock.now() >= deadline {
                return self.give_up(before, &heard).await;
            }
            tokio::select! {
                biased;
                event = events.next(), if is_open => match event {
                    Some(event) => {
                        if self.concerns(&event) && self.hear(&event, &mut heard) {
                            look_at = self.clock.now();
                        }
                    }
                    None => is_open = false,
                },
                () = self.clock.sleep_until(look_at.min(deadline)) => {}
            }
            if self.clock.now() < look_at {
                continue;
            }
            match self.look(before).await {
                Ok(Some(outcome)) => return outcome,
                Ok(None) => failures = 0,
                Err(error) => {
                    failures += 1;
                    if failures >= FAILURES {
                        let output = heard.said();
                        return TaskOutcome { output, ..TaskOutcome::error(format!("{error}.")) };
                    }
                }
            }
            look_at = self.next_look();
        }
    }

    fn next_look(&self) -> Timestamp {
        self.clock.now() + POLL
    }

    fn concerns(&self, event: &Event) -> bool {
        self.is_own || event.session().is_none_or(|session| session == self.session)
    }

    /// Reports progress. Returns true if the server should be asked.
    fn hear(&self, event: &Event, heard: &mut Heard) -> bool {
        if event.session() == Some(self.session) && heard.hear(event) {
            self.task.progress(&progress(heard.latest().as_bytes()));
        }
        let is_question =
            event.kind.starts_with("permission") || event.kind.starts_with("question");
        is_question || matches!(&*event.kind, "session.idle" | "session.error" | "session.status")
    }

    /// Answers open questions, and checks whether the session is done.
    async fn look(&self, before: Option<&str>) -> Result<Option<TaskOutcome>, ApiError> {
        self.answer_questions().await?;
        if self.api.is_busy(self.session).await? {
            return Ok(None);
        }
        let answers = self.answers(before).await?;
        Ok(answers.last().filter(|answer| answer.is_over()).map(|_| outcome(&answers)))
    }

    /// Returns the model's messages since the prompt.
    async fn answers(&self, before: Option<&str>) -> Result<Vec<ModelMessage>, ApiError> {
        let messages = self.api.messages(self.session).await?;
        let known = messages.iter().rposition(|message| Some(&*message.info.id) == before);
        let new = messages.into_iter().skip(known.map_or(0, |at| at + 1));
        Ok(new.filter(ModelMessage::is_answer).collect())
    }

    /// Answers opencode's requests for permission with your policy. A question to the person is rejected, because it
    /// would reach no person.
    async fn answer_questions(&self) -> Result<(), ApiError> {
        let permissions = self.api.permissions().await?;
        let questions = self.api.questions().await.unwrap_or_default();
        if permissions.is_empty() && questions.is_empty() {
            return Ok(());
        }
        let children = self.api.children(self.session).await.unwrap_or_default();
        let is_ours = |pending: &&Pending| {
            pending.session == self.session || children.contains(&pending.session)
        };
        for pending in permissions.iter().filter(is_ours) {
            let reply = (self.decide)(&pending.permission());
            ignore_gone(self.api.permit(&pending.id, reply).await)?;
        }
        for pending in questions.iter().filter(is_ours) {
            ignore_gone(self.api.reject_question(&pending.id).await)?;
        }
        Ok(())
    }

    /// Ends a task that ran out of time, with what was said so far. The server may know less than its events reported.
    async fn give_up(&self, before: Option<&str>, heard: &Heard) -> TaskOutcome {
        let aborted = self.api.abort(self.session).await;
        let answers = self.answers(before).await.unwrap_or_default();
        let known = answers.iter().map(ModelMessage::said).collect::<Vec<_>>().join("\n\n");
        let heard = heard.said();
        let said = if known.len() < heard.len() { heard } else { known };
        let message = match aborted {
            Ok(()) => "opencode did not end in time, and was told to stop.",
            Err(_) => "opencode did not end in time, and could not be told to stop.",
        };
        TaskOutcome::timeout(said.trim(), message)
    }
}

/// Another client may have answered first.
fn ignore_gone(answered: Result<(), ApiError>) -> Result<(), ApiError> {
    match answered {
        Err(ApiError::NotFound) => Ok(()),
        other => other,
    }
}

/// Returns the outcome of the model's messages, which is what it said last.
fn outcome(answers: &[ModelMessage]) -> TaskOutcome {
    let said = answers.iter().rev().map(ModelMessage::said).find(|said| !said.is_empty());
    let failure = answers.iter().rev().find_map(|answer| answer.info.error.as_ref());
    let outcome = match (said, failure) {
        (said, Some(failure)) => TaskOutcome {
            output: said.unwrap_or_default(),
            ..TaskOutcome::error(failure.message())
        },
        (Some(said), None) => TaskOutcome::success(said),
        (None, None) => TaskOutcome::partial("", "opencode ended well and said nothing."),
    };
    let Some(last) = answers.last() else {
        return outcome;
    };
    let input = answers.iter().map(|answer| answer.info.tokens.input).sum();
    let output = answers.iter().map(|answer| answer.info.tokens.output).sum();
    let token_usage = Some(TokenUsage { input: whole(input), output: whole(output) });
    TaskOutcome {
        token_usage,
        model: Some(format!("{}/{}", last.info.provider, last.info.model)),
        ..outcome
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded before")]
fn whole(count: f64) -> u64 {
    count.clamp(0.0, 1e15) as u64
}

/// Aborts a session on drop, so that no work goes on for a task that ended.
struct AbortOnDrop<'a> {
    api: &'a Api,
    session: &'a str,
    is_armed: bool,
}

impl<'a> AbortOnDrop<'a> {
    const fn new(api: &'a Api, session: &'a str) -> Self {
        Self { api, session, is_armed: true }
    }

    fn disarm(mut self) {
        self.is_armed = false;
    }
}

impl Drop for AbortOnDrop<'_> {
    fn drop(&mut self) {
        // `drop` cannot wait for a request, so a new task sends it, if the runtime still exists.
        if let (true, Ok(runtime)) = (self.is_armed, tokio::runtime::Handle::try_current()) {
            let (api, session) = (self.api.clone(), self.session.to_owned());
            runtime.spawn(async move {
                let aborted = api.abort(&session).await;
                if let Err(error) = aborted {
                    tracing::warn!(%error, "a session of opencode could not be aborted");
                }
            });
        }
    }
}
