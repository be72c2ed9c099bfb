//! A model, with all that it takes to ask it.

use std::fmt;
use std::sync::Arc;

use dirigent::host::IntoShared;
use dirigent::{Clock, SystemClock};

use crate::client::ask::Asking;
use crate::client::endpoint::Endpoint;
use crate::client::limits::Limits;
use crate::error::ChatError;
use crate::question::{ChatAnswer, Question};
use crate::refusal::RefusedRequest;
use crate::usage::{Prices, Usage};

type UsageHook = Arc<dyn Fn(&Usage) + Send + Sync>;
type RefusalHook = Arc<dyn Fn(&RefusedRequest) + Send + Sync>;

/// Asks a model with messages that you choose. A [`ChatAgent`](crate::ChatAgent) uses it in its turns. You use it
/// directly in code that is no agent in a room, for example an actor, a router, a judge or a summary. It knows the
/// endpoints, repeats failed requests and keeps the limits, but has no history.
///
/// ```no_run
/// use dirigent_llm::{Chat, Endpoint, ModelMessage, Question};
///
/// # async fn ask() -> Result<(), dirigent_llm::ChatError> {
/// let chat = Chat::new(Endpoint::new("http://127.0.0.1:11434/v1", "llama3.2"));
/// let question = Question::new([ModelMessage::system("You are Maria."), ModelMessage::user("Good morning.")]);
/// println!("{}", chat.ask(&question).await?.text);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Chat {
    pub(crate) endpoints: Vec<Endpoint>,
    pub(crate) limits: Limits,
    pub(crate) prices: Prices,
    pub(crate) clock: Arc<dyn Clock>,
    on_usage: Option<UsageHook>,
    pub(crate) on_refusal: Option<RefusalHook>,
}

impl Chat {
    /// Creates a chat with the model of this endpoint. It makes no request yet.
    pub fn new(endpoint: Endpoint) -> Self {
        Self {
            endpoints: vec![endpoint],
            limits: Limits::default(),
            prices: Prices::default(),
            clock: Arc::new(SystemClock::new()),
            on_usage: None,
            on_refusal: None,
        }
    }

    /// Adds a model to ask when all models before it fail. Each question begins with the first one again.
    #[must_use]
    pub fn fall_back_on(mut self, endpoint: Endpoint) -> Self {
        self.endpoints.push(endpoint);
        self
    }

    /// Changes the limits. Outside a turn only those of time, size and repetition apply, because a question is always
    /// sent whole.
    #[must_use]
    pub fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.limits);
        self
    }

    /// Sets what models cost ([`Usage::cost`]). Without prices the cost is the number of tokens.
    #[must_use]
    pub fn prices(mut self, prices: Prices) -> Self {
        self.prices = prices;
        self
    }

    /// Calls this hook with the usage of each answer, even if the answer is of no use. The hook must not block.
    #[must_use]
    pub fn on_usage(mut self, hook: impl Fn(&Usage) + Send + Sync + 'static) -> Self {
        self.on_usage = Some(Arc::new(hook));
        self
    }

    /// Calls this hook each time an endpoint refuses a request, even if the request is then repeated. You read there
    /// what the endpoint said, because those words are in no log. The hook must not block.
    #[must_use]
    pub fn on_refusal(mut self, hook: impl Fn(&RefusedRequest) + Send + Sync + 'static) -> Self {
        self.on_refusal = Some(Arc::new(hook));
        self
    }

    /// Sets the clock. By default it is the [`SystemClock`]; set another one in tests.
    #[must_use]
    pub fn clock(mut self, clock: impl IntoShared<dyn Clock>) -> Self {
        self.clock = clock.into_shared();
        self
    }

    /// Asks the model, and returns the first usable answer, trimmed.
    ///
    /// # Errors
    ///
    /// Returns the last failure of the last endpoint. A failure that may pass was retried first, as often as
    /// [`Limits::retries`] allows.
    ///
    /// # Cancellation
    ///
    /// Dropping the future ends the request.
    pub async fn ask(&self, question: &Question<'_>) -> Result<ChatAnswer, ChatError> {
        Asking { chat: self, turn: None, report: &|_| (), refused: &|_| () }.ask(question).await
    }

    /// Sets the cost of an answer, and passes its usage to the hook.
    pub(crate) fn count(&self, usage: &mut Usage, model: &str) {
        let price = self.prices.find([&usage.model, model]);
        usage.cost = price.map_or_else(|| usage.total(), |price| price.of(usage));
        if let Some(hook) = &self.on_usage {
            hook(usage);
        }
    }
}

impl fmt::Debug for Chat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chat")
            .field("endpoints", &self.endpoints)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
