//! Finds the endpoint of a provider.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use dirigent::host::IntoShared;
use dirigent::{Clock, SystemClock};
use dirigent_llm::{Chat, ChatAnswer, ChatError, Endpoint, Limits, Question};

use crate::model::{ModelError, ModelErrorKind, RoutingModel};

/// Your providers, by the names before the slash in `provider/model`. It is also a [`RoutingModel`] that asks their
/// models. `Debug` shows no key.
///
/// ```
/// use dirigent_delegate::llm::Providers;
/// use dirigent_delegate::Router;
/// use dirigent_llm::Endpoint;
///
/// let providers = Providers::new()
///     .provider("openai", Endpoint::new("https://api.openai.com/v1", "").key("sk-…"))
///     .provider("local", Endpoint::new("http://127.0.0.1:11434/v1", ""));
/// let router = Router::builder(providers);
/// # drop(router);
/// ```
#[derive(Clone, Debug)]
pub struct Providers {
    endpoints: BTreeMap<String, Endpoint>,
    limits: Limits,
    clock: SharedClock,
}

#[derive(Clone)]
struct SharedClock(Arc<dyn Clock>);

impl std::fmt::Debug for SharedClock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Clock")
    }
}

impl Default for Providers {
    fn default() -> Self {
        Self::new()
    }
}

impl Providers {
    /// Creates an empty table. Every model fails until you add its provider.
    pub fn new() -> Self {
        let clock = SharedClock(Arc::new(SystemClock::new()));
        Self { endpoints: BTreeMap::new(), limits: Limits::default(), clock }
    }

    /// Adds a provider. The endpoint's address, key, headers and fields are used; its model is replaced by the one that
    /// is asked.
    #[must_use]
    pub fn provider(mut self, name: impl Into<String>, endpoint: Endpoint) -> Self {
        self.endpoints.insert(name.into(), endpoint);
        self
    }

    /// Changes the limits of one request, for example the time to the first byte or the length of an answer. Requests
    /// are never repeated, because the next fall-back is asked at once.
    #[must_use]
    pub fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.limits);
        self
    }

    /// Sets the clock. By default it is the [`SystemClock`]; set another one in tests.
    #[must_use]
    pub fn clock(mut self, clock: impl IntoShared<dyn Clock>) -> Self {
        self.clock = SharedClock(clock.into_shared());
        self
    }

    /// Returns the chat with a model, `provider/model`. The model's name is everything after the first slash, so it may
    /// contain slashes.
    fn chat(&self, name: &str) -> Option<Chat> {
        let (provider, model) = name.split_once('/').filter(|(_, model)| !model.is_empty())?;
        let chat = Chat::new(self.endpoints.get(provider)?.with_model(model));
        let chat = chat.clock(Arc::clone(&self.clock.0)).limits(|limits| {
            limits.clone_from(&self.limits);
            // After a failure the next fall-back is asked at once.
            limits.retries = 0;
        });
        Some(chat)
    }

    /// Returns an error that says why a model of this name cannot be asked.
    pub(super) fn check(&self, name: &str) -> Result<(), String> {
        if self.chat(name).is_some() {
            return Ok(());
        }
        let known: Vec<&str> = self.endpoints.keys().map(String::as_str).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Err(
            match name
                .split_once('/')
                .filter(|(provider, model)| !provider.is_empty() && !model.is_empty())
            {
                Some((provider, _)) => {
                    format!(
                        "the model {name} needs the provider {provider}, which is not known (known: {known})"
                    )
                }
                None => format!(
                    "the model {name} is not named as provider/model (known providers: {known})"
                ),
            },
        )
    }

    pub(super) async fn answer(
        &self,
        model: &str,
        question: &Question<'_>,
    ) -> Result<ChatAnswer, ModelError> {
        let chat = self.chat(model).ok_or(ModelErrorKind::UnknownProvider)?;
        chat.ask(question).await.map_err(|error| ModelError::new(kind(&error), error))
    }
}

#[async_trait]
impl RoutingModel for Providers {
    async fn ask(
        &self,
        model: &str,
        question: &Question<'static>,
    ) -> Result<ChatAnswer, ModelError> {
        self.answer(model, question).await
    }

    fn check_model(&self, model: &str) -> Result<(), String> {
        self.check(model)
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the errors of another crate may become more")]
fn kind(error: &ChatError) -> ModelErrorKind {
    match error {
        ChatError::BadEndpoint | ChatError::Refused { .. } => ModelErrorKind::Refused,
        ChatError::Unreachable => ModelErrorKind::Unreachable,
        ChatError::RateLimited { .. } => ModelErrorKind::RateLimited,
        ChatError::Unavailable { .. } | ChatError::Reported { .. } => ModelErrorKind::Unavailable,
        ChatError::NoFirstByte { .. } | ChatError::Stalled { .. } | ChatError::TooSlow { .. } => {
            ModelErrorKind::TimedOut
        }
        ChatError::Withheld | ChatError::OnlyReasoning { .. } => ModelErrorKind::Empty,
        ChatError::Broken | ChatError::NotChat | ChatError::TooLong { .. } => {
            ModelErrorKind::Unusable
        }
        _ => ModelErrorKind::Other,
    }
}
