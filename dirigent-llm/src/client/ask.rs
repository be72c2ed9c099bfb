//! Asks until an answer comes: repeats requests after failures that may pass, and turns to the next endpoint if one
//! fails.

use std::borrow::Cow;
use std::time::Duration;

use bytes::Bytes;
use dirigent::Turn;
use serde_json::{Map, Value};

use crate::calls::ModelToolCall;
use crate::client::chat::Chat;
use crate::client::endpoint::Endpoint;
use crate::client::json;
use crate::client::limits::Limits;
use crate::client::sender::Sender;
use crate::client::tokens::{OF_AN_IMAGE, estimate};
use crate::client::wire::{Request, StreamOptions};
use crate::error::ChatError;
use crate::message::{Image, ModelMessage};
use crate::question::{ChatAnswer, Question, Thinking};
use crate::refusal::RefusedRequest;
use crate::usage::Usage;

/// Asks the endpoints of a chat.
pub(crate) struct Asking<'a> {
    pub(crate) chat: &'a Chat,
    /// The turn that asks, or `None` outside of rooms.
    pub(crate) turn: Option<&'a Turn>,
    /// Receives the usage of each answer, in addition to the chat's own hook.
    pub(crate) report: &'a (dyn Fn(&Usage) + Send + Sync),
    /// Receives each refusal of an endpoint, in addition to the chat's own hook.
    pub(crate) refused: &'a (dyn Fn(&RefusedRequest) + Send + Sync),
}

impl<'q> Question<'q> {
    /// Returns the messages for this endpoint, and whether they contain unread fields of earlier calls. Those fields
    /// are included only if `keeps` is true and this endpoint sent them.
    fn messages_for(
        &self,
        endpoint: &Endpoint,
        keeps: bool,
    ) -> (Cow<'_, [ModelMessage<'q>]>, bool) {
        let (mut messages, identity) =
            (Cow::Borrowed(self.messages.as_slice()), endpoint.identity());
        let mut has_kept = false;
        for (at, message) in self.messages.iter().enumerate() {
            let ModelMessage::Assistant { calls, .. } = message else {
                continue;
            };
            let goes = |call: &ModelToolCall| {
                call.kept.as_ref().is_none_or(|kept| keeps && kept.from == identity)
            };
            if calls.iter().all(goes) {
                has_kept |= calls.iter().any(|call| call.kept.is_some());
                continue;
            }
            if let Some(ModelMessage::Assistant { calls, .. }) = messages.to_mut().get_mut(at) {
                for call in calls.to_mut().iter_mut().filter(|call| !goes(call)) {
                    call.kept = None;
                }
            }
        }
        (messages, has_kept)
    }

    /// Returns the body of a request as JSON, and whether it contains unread fields of earlier calls.
    fn body(&self, endpoint: &Endpoint, keeps: bool) -> Result<(Bytes, bool), ChatError> {
        let (messages, has_kept) = self.messages_for(endpoint, keeps);
        let messages = json::of_messages(&messages).map_err(|_| ChatError::BadEndpoint)?;
        let is_streaming = endpoint.is_streaming();
        let is_forbidden = !self.may_call && !self.tools.is_empty();
        let request = Request {
            model: endpoint.model(),
            stream: is_streaming,
            stream_options: is_streaming.then_some(StreamOptions { include_usage: true }),
            tools: &self.tools,
            tool_choice: is_forbidden.then_some("none"),
            fields: &self.fields(endpoint),
        };
        let mut body = Vec::with_capacity(messages.len() + 1_024);
        serde_json::to_writer(&mut body, &request).map_err(|_| ChatError::BadEndpoint)?;
        // Drop the closing brace, because the messages follow.
        body.pop();
        body.extend_from_slice(b",\"messages\":");
        body.extend_from_slice(&messages);
        body.push(b'}');
        Ok((body.into(), has_kept))
    }

    /// Returns the endpoint's own fields, and how much the model is asked to think.
    fn fields<'e>(&self, endpoint: &'e Endpoint) -> Cow<'e, Map<String, Value>> {
        let mut fields = Cow::Borrowed(endpoint.fields());
        if let Some(thinking) = self.thinking.filter(|thinking| *thinking != Thinking::Off) {
            fields.to_mut().insert("reasoning_effort".to_owned(), thinking.as_str().into());
        }
        fields
    }

    fn images(&self) -> impl Iterator<Item = &Image> {
        self.messages.iter().flat_map(ModelMessage::images)
    }

    fn image_bytes(&self) -> usize {
        self.images().map(|image| image.data.len()).sum()
    }

    /// Estimates the tokens of the prompt from this body.
    fn estimate(&self, body: &Bytes) -> u64 {
        let words = std::str::from_utf8(body).map_or(0, estimate);
        let words = words.saturating_sub(self.image_bytes() / 4);
        (words + self.images().count() * OF_AN_IMAGE) as u64
    }
}

impl Asking<'_> {
    /// Returns the first answer that comes.
    ///
    /// # Errors
    ///
    /// Returns the last failure of the last endpoint.
    pub(crate) async fn ask(&self, question: &Question<'_>) -> Result<ChatAnswer, ChatError> {
        let endpoints = &self.chat.endpoints;
        let mut failed = ChatError::BadEndpoint;
        for (at, endpoint) in endpoints.iter().enumerate() {
            let has_others = at + 1 < endpoints.len();
            match self.ask_one(endpoint, question, has_others).await {
                Ok(answer) => return Ok(answer),
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    async fn ask_one(
        &self,
        endpoint: &Endpoint,
        question: &Question<'_>,
        has_others: bool,
    ) -> Result<ChatAnswer, ChatError> {
        let Chat { clock, limits, .. } = self.chat;
        let sender = Sender { clock, limits, keeps_tags: question.keeps_tags };
        let (mut body, mut has_kept) = question.body(endpoint, endpoint.takes_kept())?;
        let (mut attempt, mut was_refused) = (0, false);
        loop {
            let mut outcome = sender.send(endpoint, body.clone()).await;
            if let Some(usage) = &mut outcome.usage {
                if usage.is_estimated {
                    usage.prompt_tokens = question.estimate(&body);
                }
                self.chat.count(usage, endpoint.model());
                (self.report)(usage);
            }
            if let Some(refusal) = &outcome.refusal {
                self.tell(refusal);
            }
            let error = match outcome.answer {
                Ok(answer) => {
                    if was_refused {
                        endpoint.refuse_kept();
                    }
                    return Ok(ChatAnswer { usage: outcome.usage, ..answer });
                }
                Err(error) => error,
            };
            // Some endpoints send reasoning and then refuse to get it back, so send the request once more without it.
            if has_kept && matches!(error, ChatError::Refused { status: 400 | 422, .. }) {
                ((body, has_kept), was_refused) = (question.body(endpoint, false)?, true);
                continue;
            }
            let wait = self.wait_after(limits, &error, attempt, has_others);
            let next = if wait.is_some() { "it is asked again" } else { "it is not asked again" };
            tracing::warn!(
                channel = self.turn.map(|turn| tracing::field::display(turn.channel())),
                agent = self.turn.map(|turn| tracing::field::display(turn.agent())), model = endpoint.model(),
                host = endpoint.host(), attempt = attempt + 1, %error, "a model gave no answer: {next}"
            );
            let Some(wait) = wait else {
                return Err(error);
            };
            clock.sleep_until(clock.now() + wait).await;
            attempt += 1;
        }
    }

    fn tell(&self, refusal: &RefusedRequest) {
        if let Some(hook) = &self.chat.on_refusal {
            hook(refusal);
        }
        (self.refused)(refusal);
    }

    /// Returns how long to wait before the request is repeated, or `None` if it must not be.
    fn wait_after(
        &self,
        limits: &Limits,
        error: &ChatError,
        attempt: u32,
        has_others: bool,
    ) -> Option<Duration> {
        if !error.is_retryable() || attempt >= limits.retries {
            return None;
        }
        let own = limits.retry_wait.saturating_mul(2_u32.saturating_pow(attempt));
        let wait = error.retry_after().unwrap_or(own);
        let left = self.turn.and_then(Turn::time_left);
        let most = match left {
            Some(left) if has_others => left.min(limits.retry_wait_max),
            Some(left) => left,
            None => limits.retry_wait_max,
        };
        (wait <= most && left.is_none_or(|left| wait < left)).then_some(wait)
    }
}
