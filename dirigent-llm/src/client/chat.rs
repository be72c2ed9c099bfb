//! A model with all that it takes to ask it.

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

/// A model that is asked with messages of the caller's: by a [`ChatAgent`](crate::ChatAgent) in its turns, and by code that is no
/// agent in a room: an actor, a router, a judge, a summary. It has the endpoints, the failures, the repetitions and the limits; it
/// keeps no history.
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
    /// Creates a chat with the model of this endpoint. It makes no request.
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

    /// Adds a model that is asked when the ones before it fail. Each question begins with the first again.
    #[must_use]
    pub fn fall_back_on(mut self, endpoint: Endpoint) -> Self {
        self.endpoints.push(endpoint);
        self
    }

    /// Changes the limits. Outside a turn those of time, size and repetition count, and nothing is left out of a question.
    #[must_use]
    pub fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.limits);
        self
    }

    /// Sets what models cost ([`Usage::cost`]). Default: nothing, and the cost is the number of tokens.
    #[must_use]
    pub fn prices(mut self, prices: Prices) -> Self {
        self.prices = prices;
        self
    }

    /// Calls this with what each answer used, also one that is of no use. It must not block.
    #[must_use]
    pub fn on_usage(mut self, hook: impl Fn(&Usage) + Send + Sync + 'static) -> Self {
        self.on_usage = Some(Arc::new(hook));
        self
    }

    /// Calls this with what an endpoint says each time it refuses a request, also one that is repeated then. It must not block, and
    /// is where the words stay: no log has them.
    #[must_use]
    pub fn on_refusal(mut self, hook: impl Fn(&RefusedRequest) + Send + Sync + 'static) -> Self {
        self.on_refusal = Some(Arc::new(hook));
        self
    }

    /// Sets where time comes from. Default: the [`SystemClock`].
    #[must_use]
    pub fn clock(mut self, clock: impl IntoShared<dyn Clock>) -> Self {
        self.clock = clock.into_shared();
        self
    }

    /// Asks, and returns the first usable answer, without white space around it.
    ///
    /// # Errors
    ///
    /// The last endpoint's last failure. One that may pass was repeated before, as the limits say.
    ///
    /// # Cancellation
    ///
    /// Dropping the future ends the request.
    pub async fn ask(&self, question: &Question<'_>) -> Result<ChatAnswer, ChatError> {
        Asking { chat: self, turn: None, report: &|_| (), refused: &|_| () }.ask(question).await
    }

    /// Counts what an answer used: gives it its cost, and tells the host of it.
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
