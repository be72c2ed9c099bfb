//! The plan of a router for messages under one configuration.

use std::sync::Arc;
use std::time::Duration;

use crate::card::AgentCard;
use crate::config::{OrchestratorConfig, OrchestratorConfigError};
use crate::delegate::Delegate;
use crate::limits::RouterLimits;
use crate::model::{RoutingModel, Tool};
use crate::prompt::system_prompt;
use crate::response::Schedule;
use crate::result::AgentKind;

/// Everything that is decided before a message comes. A new configuration makes a new plan.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) config: Arc<OrchestratorConfig>,
    pub(crate) limits: RouterLimits,
    /// True if each agent gets the results of those before it.
    pub(crate) is_chained: bool,
    /// The routing models. They are asked in this order.
    pub(crate) models: Vec<String>,
    pub(crate) system: String,
    pub(crate) tools: Arc<[Tool]>,
    pub(crate) agents: Vec<PlannedAgent>,
}

/// An agent under a configuration. Its index is the same as in the registry.
#[derive(Debug)]
pub(crate) struct PlannedAgent {
    pub(crate) card: AgentCard,
    pub(crate) is_enabled: bool,
    pub(crate) model: Option<String>,
    pub(crate) timeout: Duration,
}

impl Plan {
    pub(crate) fn new(
        config: Arc<OrchestratorConfig>,
        limits: RouterLimits,
        is_chained: bool,
        product: &str,
        cards: &[AgentCard],
    ) -> Self {
        let agents: Vec<PlannedAgent> =
            cards.iter().map(|card| planned(card, &config, &limits)).collect();
        let enabled = agents.iter().filter(|agent| agent.is_enabled);
        let offered: Vec<AgentCard> = enabled.map(|agent| agent.card.clone()).collect();
        let mut models = vec![config.model.clone()];
        models.extend(config.fallbacks.iter().cloned());
        Self {
            system: system_prompt(product, &offered),
            tools: offered.iter().map(AgentCard::offer).collect(),
            config,
            limits,
            is_chained,
            models,
            agents,
        }
    }

    /// Checks the names of all models in use. Each agent's model must be usable, and at least one routing model. The
    /// log names routing models that are not.
    pub(crate) fn check_models(
        &self,
        model: &dyn RoutingModel,
        delegates: &[Arc<dyn Delegate>],
    ) -> Result<(), OrchestratorConfigError> {
        for (agent, delegate) in self.agents.iter().zip(delegates) {
            let (kind, enabled) = (agent.card.kind(), self.config.enabled);
            // If the orchestrator is off, the default agent gets all messages.
            let is_used = if enabled { agent.is_enabled } else { *kind == AgentKind::Embedded };
            if is_used {
                let problem = delegate.check_model(agent.model.as_deref());
                problem.map_err(|problem| {
                    OrchestratorConfigError::new(
                        format!("orchestrator.agents.{kind}.model"),
                        problem,
                    )
                })?;
            }
        }
        if !self.config.enabled {
            return Ok(());
        }
        let wrong: Vec<String> =
            self.models.iter().filter_map(|name| model.check_model(name).err()).collect();
        if wrong.len() == self.models.len() {
            return Err(OrchestratorConfigError::new("orchestrator.model", wrong.join("; ")));
        }
        for problem in wrong {
            tracing::warn!(problem, "a routing model cannot be asked");
        }
        Ok(())
    }

    /// Returns whether delegations run at the same time or one by one.
    pub(crate) fn schedule(&self) -> Schedule {
        if self.config.parallel_execution && !self.is_chained {
            Schedule::Parallel
        } else {
            Schedule::Sequential
        }
    }

    /// Returns the agent with this tool.
    pub(crate) fn find(&self, tool: &str) -> Option<(usize, &PlannedAgent)> {
        self.agents.iter().enumerate().find(|(_, agent)| agent.card.tool() == tool)
    }

    /// Returns the embedded agent, if it is registered.
    pub(crate) fn embedded(&self) -> Option<(usize, &PlannedAgent)> {
        let mut agents = self.agents.iter().enumerate();
        agents.find(|(_, agent)| *agent.card.kind() == AgentKind::Embedded)
    }
}

fn planned(card: &AgentCard, config: &OrchestratorConfig, limits: &RouterLimits) -> PlannedAgent {
    let agents = &config.agents;
    let (is_enabled, model, timeout) = match card.kind() {
        AgentKind::OpenCode => {
            let config = &agents.opencode;
            (config.enabled, config.model.clone(), config.timeout())
        }
        AgentKind::Research => {
            (agents.research.enabled, agents.research.model.clone(), limits.delegate)
        }
        AgentKind::Embedded => {
            (agents.embedded.enabled, agents.embedded.model.clone(), limits.delegate)
        }
        AgentKind::Host(_) | AgentKind::Orchestrator => (true, None, limits.delegate),
    };
    PlannedAgent { card: card.clone(), is_enabled, model, timeout }
}
