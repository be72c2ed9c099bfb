//! The router that you build and ask. All decisions are made by the value in `routing`, and `run` performs them.
//! `places` shares the pool among messages, `circle` detects a router that asks itself, and `event` is what listeners
//! see.

mod builder;
mod circle;
mod event;
mod places;
mod run;

use std::fmt;
use std::future::{Future, pending};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use dirigent::Clock;
use tokio::sync::broadcast;

pub use builder::{RouterBuildError, RouterBuilder};
pub use event::{RouterEvent, RouterEventKind, RouterEvents};

use crate::card::AgentCard;
use crate::config::{OrchestratorConfig, OrchestratorConfigError};
use crate::delegate::Delegate;
use crate::limits::RouterLimits;
use crate::model::RoutingModel;
use crate::plan::Plan;
use crate::request::UserRequest;
use crate::response::Response;
use crate::routing::Routing;
use places::Places;
use run::Run;

/// The orchestrator. It asks the routing model, runs agents, and puts their results together. All clones are one
/// orchestrator.
///
/// ```
/// use dirigent_delegate::config::OrchestratorConfig;
/// use dirigent_delegate::model::{ChatAnswer, ModelError, Question, RoutingModel};
/// use dirigent_delegate::{TaskOutcome, UserRequest, Router, Task, delegate_fn};
///
/// struct Coder;
///
/// #[dirigent::async_trait]
/// impl RoutingModel for Coder {
///     async fn ask(&self, _model: &str, question: &Question<'static>) -> Result<ChatAnswer, ModelError> {
///         let message = question.user_message();
///         Ok(ChatAnswer::call("delegate_to_opencode", serde_json::json!({ "message": message })))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let router = Router::builder(Coder)
///     .config(OrchestratorConfig::new(|config| config.enabled = true))
///     .open_code(delegate_fn(|_: Task| async { TaskOutcome::success("print('hello')") }))
///     .build()?;
/// let response = router.answer(UserRequest::new("session-1", "Write a greeting")).await?;
/// assert_eq!(response.payloads[0].text, "print('hello')");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Router {
    shared: Arc<RouterParts>,
}

/// The answer to an agent that asks the router that delegated to it.
pub(crate) const OWN_QUESTION: &str = "The router was asked by one of its own agents.";

/// The state that all messages of a router share.
struct RouterParts {
    model: Arc<dyn RoutingModel>,
    delegates: Vec<Arc<dyn Delegate>>,
    cards: Vec<AgentCard>,
    product: String,
    limits: RouterLimits,
    is_chained: bool,
    clock: Arc<dyn Clock>,
    plan: RwLock<Arc<Plan>>,
    places: Arc<Places>,
    events: broadcast::Sender<RouterEvent>,
    messages: AtomicU64,
}

/// The orchestrator is off, and you registered no default agent ([`RouterBuilder::embedded`]). Answer the message
/// yourself, as you would without an orchestrator.
///
/// ```
/// assert_eq!(dirigent_delegate::Off.to_string(), "the orchestrator is off, and there is no default agent");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the orchestrator is off, and there is no default agent")]
#[expect(clippy::exhaustive_structs, reason = "there is nothing more to say")]
pub struct Off;

impl Router {
    /// Creates a builder of an orchestrator with this routing model.
    pub fn builder(model: impl RoutingModel) -> RouterBuilder {
        RouterBuilder::new(Arc::new(model))
    }

    /// Answers a message. While the orchestrator is off, the embedded agent gets the message unchanged.
    ///
    /// If one of the router's own agents asks the router, directly or through other routers, the answer is an error at
    /// once. Otherwise the agent would wait for places that are held for its sake. An agent that asks from another task
    /// is not recognised.
    ///
    /// # Errors
    ///
    /// Returns [`Off`] if the orchestrator is off and there is no embedded agent. Any other failure is a payload of the
    /// response.
    ///
    /// # Cancellation
    ///
    /// Dropping the future drops the calls of all agents, and everything that they started. If you want the results so
    /// far, use [`answer_until`](Self::answer_until).
    pub async fn answer(&self, request: UserRequest) -> Result<Response, Off> {
        self.answer_until(request, pending()).await
    }

    /// Answers a message as [`answer`](Self::answer) does, until `cancelled` ends. Then the running agents are dropped,
    /// and the response contains what the others returned.
    ///
    /// # Errors
    ///
    /// Returns [`Off`] if the orchestrator is off and there is no embedded agent.
    pub async fn answer_until(
        &self,
        request: UserRequest,
        cancelled: impl Future<Output = ()> + Send,
    ) -> Result<Response, Off> {
        let (plan, now) = (self.plan(), self.shared.clock.now());
        let request = Arc::new(request);
        let session = Arc::from(request.session_id.as_str());
        let routing = if self.is_answering_here() {
            Routing::refused(plan, request, now, OWN_QUESTION)
        } else if plan.config.enabled {
            Routing::new(plan, request, now)
        } else {
            Routing::to_default(plan, request, now).ok_or(Off)?
        };
        let message = self.shared.messages.fetch_add(1, Ordering::Relaxed);
        let run = Run::new(&self.shared, routing, message, session);
        Ok(circle::within(self.address(), run.until(cancelled)).await)
    }

    /// Returns true if the call comes from a delegation of this router.
    pub(crate) fn is_answering_here(&self) -> bool {
        circle::contains(self.address())
    }

    /// Returns a number that no other live router has.
    fn address(&self) -> usize {
        Arc::as_ptr(&self.shared).addr()
    }

    /// Replaces the configuration, from the next message on. Messages in progress keep the old one, except that
    /// [`OrchestratorConfig::max_parallel_agents`] applies to all at once.
    ///
    /// # Errors
    ///
    /// Returns an error if a field or a model cannot be used, as in [`RouterBuilder::build`]. The old configuration
    /// then stays.
    pub fn configure(&self, config: OrchestratorConfig) -> Result<(), OrchestratorConfigError> {
        config.check()?;
        let plan = self.shared.plan_for(config);
        plan.check_models(&*self.shared.model, &self.shared.delegates)?;
        self.replace(plan);
        Ok(())
    }

    /// Switches the orchestrator on or off, from the next message on. If a model cannot be asked, the log names it.
    pub fn set_enabled(&self, enabled: bool) {
        let plan = self.shared.plan_for(OrchestratorConfig { enabled, ..self.config() });
        if let Err(error) = plan.check_models(&*self.shared.model, &self.shared.delegates) {
            tracing::warn!(%error, "a model cannot be asked");
        }
        self.replace(plan);
    }

    fn replace(&self, plan: Plan) {
        let cap = plan.config.max_parallel_agents.get();
        *self.shared.plan.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(plan);
        self.shared.places.set_cap(cap as usize);
    }

    /// Returns true if the orchestrator is on.
    pub fn is_enabled(&self) -> bool {
        self.plan().config.enabled
    }

    /// Returns the configuration for the next message.
    pub fn config(&self) -> OrchestratorConfig {
        (*self.plan().config).clone()
    }

    /// Returns the agents that can get work now, in the order of the system prompt. These are the registered agents
    /// that are not switched off.
    pub fn agents(&self) -> Vec<AgentCard> {
        let plan = self.plan();
        let enabled = plan.agents.iter().filter(|agent| agent.is_enabled);
        enabled.map(|agent| agent.card.clone()).collect()
    }

    /// Returns the system prompt of the next message.
    pub fn system_prompt(&self) -> String {
        self.plan().system.clone()
    }

    /// Returns the events of all messages from now on.
    pub fn events(&self) -> RouterEvents {
        RouterEvents::new(self.shared.events.subscribe())
    }

    fn plan(&self) -> Arc<Plan> {
        Arc::clone(&self.shared.plan.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl RouterParts {
    fn plan_for(&self, config: OrchestratorConfig) -> Plan {
        Plan::new(Arc::new(config), self.limits, self.is_chained, &self.product, &self.cards)
    }
}

impl fmt::Debug for Router {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds: Vec<&str> = self.shared.cards.iter().map(|card| card.kind().as_str()).collect();
        f.debug_struct("Router")
            .field("is_enabled", &self.is_enabled())
            .field("agents", &kinds)
            .finish_non_exhaustive()
    }
}
