//! Asking until an answer comes: again after failures that may pass, and other endpoints where one fails.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use dirigent::{Clock, Turn};
use serde_json::Value;

use crate::answer::{Answer, Wanted};
use crate::client::Sender;
use crate::endpoint::Endpoint;
use crate::error::ChatError;
use crate::limits::Limits;
use crate::prompt::Prompt;
use crate::tokens::estimate;
use crate::usage::Usage;
use crate::wire::{Message, Request, Role, StreamOptions};

/// Asks the endpoints of an agent during a turn.
pub(crate) struct Asking<'a> {
    /// The turn that it is for; none outside of rooms.
    pub(crate) turn: Option<&'a Turn>,
    pub(crate) endpoints: &'a [Endpoint],
    pub(crate) limits: &'a Limits,
    pub(crate) clock: &'a Arc<dyn Clock>,
    /// What of an answer is wanted.
    pub(crate) wanted: Wanted,
    /// Told what each answer used.
    pub(crate) report: &'a (dyn Fn(Usage, &str) + Send + Sync),
}

/// What is asked.
#[derive(Clone, Copy)]
pub(crate) struct Question<'a> {
    pub(crate) said: Said<'a>,
    /// The tools as a request has them.
    pub(crate) tools: &'a [Value],
    /// The tools' estimated tokens.
    pub(crate) tool_tokens: usize,
    /// Whether the model may call them.
    pub(crate) may_call: bool,
}

/// What a model is told.
#[derive(Clone, Copy)]
pub(crate) enum Said<'a> {
    /// A room's prompt, of which that is sent which fits.
    Prompt(&'a Prompt),
    /// A conversation, all of it.
    Whole(&'a [(Role, &'a str)]),
}

impl<'a> Said<'a> {
    fn messages(self, limits: &Limits, others: usize) -> Vec<Message<'a>> {
        match self {
            Self::Prompt(prompt) => prompt.messages(limits, others),
            Self::Whole(messages) => {
                messages.iter().map(|(role, text)| Message::new(*role, *text)).collect()
            }
        }
    }
}

impl Question<'_> {
    /// The body of a request.
    pub(crate) fn body(&self, endpoint: &Endpoint, limits: &Limits) -> Result<Bytes, ChatError> {
        let is_streaming = endpoint.is_streaming();
        let is_forbidden = !self.may_call && !self.tools.is_empty();
        let request = Request {
            model: endpoint.model(),
            messages: self.said.messages(limits, self.tool_tokens),
            stream: is_streaming,
            stream_options: is_streaming.then_some(StreamOptions { include_usage: true }),
            tools: self.tools,
            tool_choice: is_forbidden.then_some("none"),
            fields: endpoint.fields(),
        };
        let said: usize = request.messages.iter().map(Message::len).sum();
        let mut body = Vec::with_capacity(said + said / 4 + 1_024);
        serde_json::to_writer(&mut body, &request).map_err(|_| ChatError::BadEndpoint)?;
        Ok(body.into())
    }
}

impl Asking<'_> {
    /// The first answer that comes.
    ///
    /// # Errors
    ///
    /// The last endpoint's last failure.
    pub(crate) async fn ask(&self, question: Question<'_>) -> Result<Answer, ChatError> {
        let mut failed = ChatError::BadEndpoint;
        for (at, endpoint) in self.endpoints.iter().enumerate() {
            let has_others = at + 1 < self.endpoints.len();
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
        question: Question<'_>,
        has_others: bool,
    ) -> Result<Answer, ChatError> {
        let sender = Sender { clock: self.clock, limits: self.limits, wanted: self.wanted };
        let body = question.body(endpoint, self.limits)?;
        let mut attempt = 0;
        loop {
            let outcome = sender.send(endpoint, body.clone()).await;
            if let Some(mut usage) = outcome.usage {
                if usage.is_estimated {
                    usage.prompt_tokens = std::str::from_utf8(&body).map_or(0, estimate) as u64;
                }
                (self.report)(usage, endpoint.model());
            }
            let error = match outcome.answer {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let wait = self.wait_after(&error, attempt, has_others);
            tracing::warn!(
                channel = self.turn.map(|turn| tracing::field::display(turn.channel())),
                agent = self.turn.map(|turn| tracing::field::display(turn.agent())), model = endpoint.model(), attempt,
                is_repeated = wait.is_some(), %error, "a model gave no answer"
            );
            let Some(wait) = wait else {
                return Err(error);
            };
            self.clock.sleep_until(self.clock.now() + wait).await;
            attempt += 1;
        }
    }

    /// How long is waited before the request is repeated, if it is.
    fn wait_after(&self, error: &ChatError, attempt: u32, has_others: bool) -> Option<Duration> {
        if !error.is_retryable() || attempt >= self.limits.retries {
            return None;
        }
        let own = self.limits.retry_wait.saturating_mul(2_u32.saturating_pow(attempt));
        let wait = error.retry_after().unwrap_or(own);
        let left = self.turn.and_then(Turn::time_left);
        let most = match left {
            Some(left) if has_others => left.min(self.limits.retry_wait_max),
            Some(left) => left,
            None => self.limits.retry_wait_max,
        };
        (wait <= most && left.is_none_or(|left| wait < left)).then_some(wait)
    }
}
