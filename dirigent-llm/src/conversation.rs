//! Asking a model outside of rooms: a conversation whose every word is the caller's.

use std::fmt;
use std::sync::Arc;

use dirigent::host::IntoShared;
use dirigent::{Clock, SystemClock};

use crate::answer::Wanted;
use crate::ask::{Asking, Question, Said};
use crate::endpoint::Endpoint;
use crate::error::ChatError;
use crate::limits::Limits;
use crate::usage::Usage;
use crate::wire::Role;

type UsageHook = Arc<dyn Fn(&Usage) + Send + Sync>;

/// Asks a model with messages of the caller's, with the endpoints, failures, repetitions and limits of a
/// [`ChatAgent`](crate::ChatAgent), and without a room: no briefing, no names, no tools. It keeps nothing; the caller has
/// the history.
///
/// ```no_run
/// use dirigent_llm::{Conversation, Endpoint, Speaker};
///
/// # async fn ask() -> Result<(), dirigent_llm::ChatError> {
/// let model = Conversation::new(Endpoint::new("http://127.0.0.1:11434/v1", "llama3.2"));
/// let answer = model.ask(&[(Speaker::System, "You are Maria."), (Speaker::Other, "Hello.")]).await?;
/// println!("{answer}");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Conversation {
    endpoints: Vec<Endpoint>,
    limits: Limits,
    on_usage: Option<UsageHook>,
    clock: Arc<dyn Clock>,
}

/// Whose words a message has.
///
/// ```
/// assert_ne!(dirigent_llm::Speaker::Model, dirigent_llm::Speaker::Other);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Speaker {
    /// The caller's, about who the model is.
    System,
    /// Those of the one with whom the model talks.
    Other,
    /// The model's own, from earlier answers.
    Model,
}

impl Conversation {
    /// Creates a conversation with the model of this endpoint. It makes no request.
    pub fn new(endpoint: Endpoint) -> Self {
        Self {
            endpoints: vec![endpoint],
            limits: Limits::default(),
            on_usage: None,
            clock: Arc::new(SystemClock::new()),
        }
    }

    /// Adds a model that is asked when the ones before it fail.
    #[must_use]
    pub fn fall_back_on(mut self, endpoint: Endpoint) -> Self {
        self.endpoints.push(endpoint);
        self
    }

    /// Changes the limits. Those of time, size and repetition count; nothing is left out of a conversation.
    #[must_use]
    pub fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.limits);
        self
    }

    /// Calls this with what each answer used. It must not block.
    #[must_use]
    pub fn on_usage(mut self, hook: impl Fn(&Usage) + Send + Sync + 'static) -> Self {
        self.on_usage = Some(Arc::new(hook));
        self
    }

    /// Sets where time comes from. Default: the [`SystemClock`].
    #[must_use]
    pub fn clock(mut self, clock: impl IntoShared<dyn Clock>) -> Self {
        self.clock = clock.into_shared();
        self
    }

    /// Asks, and returns what the model wrote, without white space around it and without a leading block of `<think>`.
    /// Other tags are the caller's business. The messages are sent as they are, all of them.
    ///
    /// # Errors
    ///
    /// [`ChatError`], the last endpoint's last failure. A failure that may pass was repeated before, as the limits say.
    ///
    /// # Cancellation
    ///
    /// Dropping the future gives up the request.
    pub async fn ask(&self, messages: &[(Speaker, &str)]) -> Result<String, ChatError> {
        let report = |usage: Usage, _: &str| {
            if let Some(hook) = &self.on_usage {
                hook(&usage);
            }
        };
        let asking = Asking {
            turn: None,
            endpoints: &self.endpoints,
            limits: &self.limits,
            clock: &self.clock,
            wanted: Wanted::Written,
            report: &report,
        };
        let role = |speaker| match speaker {
            Speaker::System => Role::System,
            Speaker::Other => Role::User,
            Speaker::Model => Role::Assistant,
        };
        let messages: Vec<(Role, &str)> =
            messages.iter().map(|(speaker, text)| (role(*speaker), *text)).collect();
        let said = Said::Whole(&messages);
        let question = Question { said, tools: &[], tool_tokens: 0, may_call: false };
        Ok(asking.ask(question).await?.text)
    }
}

impl fmt::Debug for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversation")
            .field("endpoints", &self.endpoints)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
