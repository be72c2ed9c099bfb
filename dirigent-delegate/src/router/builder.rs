//! Puts an orchestrator together.

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, RwLock};

use dirigent::host::IntoShared;
use dirigent::{Clock, SystemClock};
use tokio::sync::broadcast;

use super::places::Places;
use super::{Router, RouterParts};
use crate::card::AgentCard;
use crate::config::{OrchestratorConfig, OrchestratorConfigError};
use crate::delegate::Delegate;
use crate::limits::RouterLimits;
use crate::model::RoutingModel;
use crate::plan::Plan;
use crate::result::AgentKind;

/// The number of events after which a slow listener loses the oldest.
const EVENTS: usize = 1_024;

/// Builds a [`Router`].
///
/// ```
/// use dirigent_delegate::{AgentCard, TaskOutcome, Router, Task, delegate_fn};
/// # use dirigent_delegate::model::{ChatAnswer, ModelError, Question, RoutingModel};
/// # struct Silent;
/// # #[dirigent::async_trait]
/// # impl RoutingModel for Silent {
/// #     async fn ask(&self, _: &str, _: &Question<'static>) -> Result<ChatAnswer, ModelError> { Ok(ChatAnswer::text("Hello!")) }
/// # }
///
/// let translator = AgentCard::new("translator", "Translator").uses("translations");
/// let router = Router::builder(Silent)
///     .agent(translator, delegate_fn(|task: Task| async move { TaskOutcome::success(task.message()) }))
///     .build()?;
/// assert_eq!(router.agents()[0].tool(), "delegate_to_translator");
/// # Ok::<(), dirigent_delegate::RouterBuildError>(())
/// ```
pub struct RouterBuilder {
    model: Arc<dyn RoutingModel>,
    config: OrchestratorConfig,
    product: String,
    open_code: Option<Arc<dyn Delegate>>,
    research: Option<Arc<dyn Delegate>>,
    embedded: Option<Arc<dyn Delegate>>,
    host: Vec<(AgentCard, Arc<dyn Delegate>)>,
    limits: RouterLimits,
    is_chained: bool,
    clock: Arc<dyn Clock>,
}

impl RouterBuilder {
    pub(super) fn new(model: Arc<dyn RoutingModel>) -> Self {
        Self {
            model,
            config: OrchestratorConfig::default(),
            product: "Moltbot".to_owned(),
            open_code: None,
            research: None,
            embedded: None,
            host: Vec::new(),
            limits: RouterLimits::default(),
            is_chained: false,
            clock: Arc::new(SystemClock::new()),
        }
    }

    /// Sets the configuration. The default is [`OrchestratorConfig::default`], which is off.
    #[must_use]
    pub fn config(mut self, config: OrchestratorConfig) -> Self {
        self.config = config;
        self
    }

    /// Sets your product's name. The embedded agent and its tool have this name, too. Default `Moltbot`.
    #[must_use]
    pub fn product(mut self, name: impl Into<String>) -> Self {
        self.product = name.into();
        self
    }

    /// Registers the coding agent, which is usually [`OpenCode`](crate::OpenCode).
    #[must_use]
    pub fn open_code(mut self, agent: impl Delegate) -> Self {
        self.open_code = Some(Arc::new(agent));
        self
    }

    /// Registers the search agent.
    #[must_use]
    pub fn research(mut self, agent: impl Delegate) -> Self {
        self.research = Some(Arc::new(agent));
        self
    }

    /// Registers your own agent. It is also the default agent, so it gets every message while the orchestrator is off,
    /// and when no routing model answers.
    #[must_use]
    pub fn embedded(mut self, agent: impl Delegate) -> Self {
        self.embedded = Some(Arc::new(agent));
        self
    }

    /// Registers a further agent. The system prompt lists these agents in the order of registration, after the three
    /// that the configuration knows.
    #[must_use]
    pub fn agent(mut self, card: AgentCard, agent: impl Delegate) -> Self {
        self.host.push((card, Arc::new(agent)));
        self
    }

    /// Changes the limits.
    #[must_use]
    pub fn limits(mut self, change: impl FnOnce(&mut RouterLimits)) -> Self {
        change(&mut self.limits);
        self
    }

    /// Gives each agent the results of the agents before it ([`Task::previous`](crate::Task::previous)). Delegations
    /// then run one after the other, whatever the configuration says. By default each agent knows only its own message.
    #[must_use]
    pub fn chain(mut self) -> Self {
        self.is_chained = true;
        self
    }

    /// Sets the clock. By default it is the [`SystemClock`]; set another one in tests.
    #[must_use]
    pub fn clock(mut self, clock: impl IntoShared<dyn Clock>) -> Self {
        self.clock = clock.into_shared();
        self
    }

    /// Builds the orchestrator. It starts no agent yet.
    ///
    /// # Errors
    ///
    /// Returns an error if the configuration cannot be used, or if two agents have one kind or one tool. It also fails
    /// if a model cannot be asked, for example because no provider has its name. One usable routing model is enough,
    /// but every enabled agent's model must be usable.
    pub fn build(self) -> Result<Router, RouterBuildError> {
        self.config.check()?;
        let standard = [
            (AgentCard::open_code(), self.open_code),
            (AgentCard::research(), self.research),
            (AgentCard::embedded(&self.product), self.embedded),
        ];
        let standard = standard.into_iter().filter_map(|(card, agent)| Some((card, agent?)));
        let (cards, delegates): (Vec<AgentCard>, Vec<_>) = standard.chain(self.host).unzip();
        check_names(&cards)?;
        let cap = self.config.max_parallel_agents.get() as usize;
        let (limits, is_chained, product) = (self.limits, self.is_chained, self.product);
        let plan = Plan::new(Arc::new(self.config), limits, is_chained, &product, &cards);
        plan.check_models(&*self.model, &delegates)?;
        let shared = RouterParts {
            model: self.model,
            delegates,
            cards,
            product,
            limits,
            is_chained,
            clock: self.clock,
            plan: RwLock::new(Arc::new(plan)),
            places: Arc::new(Places::new(cap, limits.queue)),
            events: broadcast::Sender::new(EVENTS),
            messages: AtomicU64::new(0),
        };
        Ok(Router { shared: Arc::new(shared) })
    }
}

fn check_names(cards: &[AgentCard]) -> Result<(), RouterBuildError> {
    let (mut kinds, mut tools) = (HashSet::from([&AgentKind::Orchestrator]), HashSet::new());
    for card in cards {
        if !kinds.insert(card.kind()) || !tools.insert(card.tool()) {
            return Err(RouterBuildError::SameName { kind: card.kind().clone() });
        }
    }
    Ok(())
}

impl fmt::Debug for RouterBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RouterBuilder")
            .field("product", &self.product)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// Why an orchestrator cannot be built.
///
/// ```
/// use dirigent_delegate::{AgentKind, RouterBuildError};
/// let error = RouterBuildError::SameName { kind: AgentKind::Research };
/// assert_eq!(error.to_string(), "another agent already has the kind or the tool name of research");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RouterBuildError {
    /// A field of the configuration cannot be used.
    #[error(transparent)]
    Config(#[from] OrchestratorConfigError),
    /// Another agent already has this kind or its tool. The kind `orchestrator` is reserved for the routing model.
    #[error("another agent already has the kind or the tool name of {kind}")]
    SameName {
        /// The agent's kind.
        kind: AgentKind,
    },
}
