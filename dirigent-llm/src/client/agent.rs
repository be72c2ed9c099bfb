//! The agent that asks a model in its turns.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use dirigent::host::IntoShared;
use dirigent::{Agent, AgentError, Clock, Reply, Turn};
use futures_util::future::{Either, select};
use serde_json::json;

use crate::calls::ModelToolCall;
use crate::client::ask::Asking;
use crate::client::chat::Chat;
use crate::client::endpoint::Endpoint;
use crate::client::limits::Limits;
use crate::client::prompt::Prompt;
use crate::client::tokens::estimate;
use crate::client::unsaid::{Briefing, passes_with_a_remark};
use crate::error::ChatError;
use crate::question::Question;
use crate::refusal::RefusedRequest;
use crate::toolbox::{Tool, Toolbox};
use crate::usage::{Prices, Usage};

type UsageHook = Arc<dyn Fn(&Turn, &Usage) + Send + Sync>;
type RefusalHook = Arc<dyn Fn(&Turn, &RefusedRequest) + Send + Sync>;

/// A hosted agent that asks a language model when it has the floor. The [crate](crate) describes what it does in a
/// turn.
///
/// ```
/// use dirigent_llm::{ChatAgent, Endpoint};
///
/// let agent = ChatAgent::new(Endpoint::new("http://127.0.0.1:11434/v1", "llama3.2"))
///     .persona("You are a poet. You speak in rhymes, one or two lines at a time.");
/// # let _: Box<dyn dirigent::Agent> = Box::new(agent);
/// ```
#[derive(Clone)]
pub struct ChatAgent {
    chat: Chat,
    persona: String,
    toolboxes: Vec<Arc<dyn Toolbox>>,
    on_usage: Option<UsageHook>,
    on_refusal: Option<RefusalHook>,
}

/// Makes an agent that asks this chat, with its endpoints, limits, prices, clock and hooks.
impl From<Chat> for ChatAgent {
    fn from(chat: Chat) -> Self {
        let (persona, toolboxes) = (String::new(), Vec::new());
        Self { chat, persona, toolboxes, on_usage: None, on_refusal: None }
    }
}

impl ChatAgent {
    /// Creates an agent that asks the model of this endpoint. It makes no request yet.
    pub fn new(endpoint: Endpoint) -> Self {
        Chat::new(endpoint).into()
    }

    /// Sets the text that tells the model who it is. The turn's briefing follows it, so you need not say the agent's
    /// name, who else is here, or how to pass. Empty by default.
    #[must_use]
    pub fn persona(mut self, text: impl Into<String>) -> Self {
        self.persona = text.into();
        self
    }

    /// Adds a model to ask when all models before it fail. Each turn begins with the first one again.
    #[must_use]
    pub fn fall_back_on(mut self, endpoint: Endpoint) -> Self {
        self.chat = self.chat.fall_back_on(endpoint);
        self
    }

    /// Adds tools that the model may call. There are none by default.
    #[must_use]
    pub fn tools(mut self, toolbox: impl Toolbox) -> Self {
        self.toolboxes.push(Arc::new(toolbox));
        self
    }

    /// Changes the limits of a turn.
    ///
    /// ```
    /// # use dirigent_llm::{ChatAgent, Endpoint};
    /// # let endpoint = Endpoint::new("http://127.0.0.1:11434/v1", "llama3.2");
    /// let agent = ChatAgent::new(endpoint).limits(|limits| limits.prompt_tokens = 30_000);
    /// # let _ = agent;
    /// ```
    #[must_use]
    pub fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        self.chat = self.chat.limits(change);
        self
    }

    /// Sets what models cost, for the channel's budget ([`BudgetRules::cost`](dirigent::settings::BudgetRules::cost)).
    /// Without prices the budget counts tokens.
    #[must_use]
    pub fn prices(mut self, prices: Prices) -> Self {
        self.chat = self.chat.prices(prices);
        self
    }

    /// Calls this hook with the usage of each answer, even if the answer could not be posted, because you pay for those
    /// as well. The hook must not block.
    #[must_use]
    pub fn on_usage(mut self, hook: impl Fn(&Turn, &Usage) + Send + Sync + 'static) -> Self {
        self.on_usage = Some(Arc::new(hook));
        self
    }

    /// Calls this hook each time an endpoint refuses a request, even if the request is then repeated. You read there
    /// what the endpoint said, because those words are in no log. The hook must not block.
    #[must_use]
    pub fn on_refusal(
        mut self,
        hook: impl Fn(&Turn, &RefusedRequest) + Send + Sync + 'static,
    ) -> Self {
        self.on_refusal = Some(Arc::new(hook));
        self
    }

    /// Sets the clock. By default it is the [`SystemClock`](dirigent::SystemClock); set another one in tests.
    #[must_use]
    pub fn clock(mut self, clock: impl IntoShared<dyn Clock>) -> Self {
        self.chat = self.chat.clock(clock);
        self
    }

    /// Takes the turn: asks the model, performs the calls that it makes, and asks again until it says something.
    async fn answer(&self, turn: &Turn) -> Result<String, ChatError> {
        let limits = &self.chat.limits;
        let offers = self.offers();
        let tools: Arc<[Tool]> = offers.iter().map(|(tool, _)| tool.clone()).collect();
        let of_tool = |tool| serde_json::to_string(tool).map_or(0, |json| estimate(&json));
        let tool_tokens = tools.iter().map(of_tool).sum();
        let report = |usage: &Usage| self.report(turn, usage);
        let refused =
            |refusal: &RefusedRequest| self.on_refusal.iter().for_each(|hook| hook(turn, refusal));
        let asking =
            Asking { chat: &self.chat, turn: Some(turn), report: &report, refused: &refused };
        let briefing = Briefing::of(turn);
        let mut prompt = Prompt::of(turn, &self.persona, limits).await;
        for round in 0..=limits.tool_rounds {
            turn.resumed().await;
            while let Some(message) = turn.take_injected() {
                prompt.hear(&message);
            }
            let may_call = round < limits.tool_rounds;
            let question = Question::new(prompt.messages(limits, tool_tokens));
            let question = Question { may_call, ..question.tools(Arc::clone(&tools)) };
            let answer = asking.ask(&question).await?;
            // In the last round its text is the answer, even if it also calls tools.
            if answer.calls.is_empty() || (!may_call && !answer.text.is_empty()) {
                let said = prompt.names.take_off(&answer.text).trim();
                if briefing.is_repeated_by(said) {
                    return Err(ChatError::Parroted);
                }
                let said = if passes_with_a_remark(said) { "" } else { said };
                return Ok(said.to_owned());
            }
            if may_call {
                let mut answers = Vec::with_capacity(answer.calls.len());
                for call in &answer.calls {
                    answers.push(self.call(turn, &offers, call).await);
                }
                prompt.add_round(answer.text, answer.calls, answers);
            }
        }
        Err(ChatError::ToolRounds { rounds: limits.tool_rounds })
    }

    /// Returns the tools that may be called in this turn. If two have one name, the first is offered.
    fn offers(&self) -> Vec<(Tool, &dyn Toolbox)> {
        let mut offers: Vec<(Tool, &dyn Toolbox)> = Vec::new();
        for toolbox in &self.toolboxes {
            for tool in toolbox.tools() {
                if !offers.iter().any(|(known, _)| known.name == tool.name) {
                    offers.push((tool, toolbox.as_ref()));
                }
            }
        }
        offers
    }

    /// Performs a call. If it is wrong, the model reads why and can make another one.
    async fn call(
        &self,
        turn: &Turn,
        offers: &[(Tool, &dyn Toolbox)],
        call: &ModelToolCall,
    ) -> String {
        let offered = offers.iter().find(|(tool, _)| tool.name == call.name);
        let answer = match (offered, &call.arguments) {
            (Some((_, toolbox)), Some(arguments)) => {
                toolbox.call(turn, &call.name, arguments.clone()).await
            }
            (Some(_), None) => json!({
                "error": "bad-arguments",
                "message": "The arguments are no JSON object. Call the tool again with one.",
            }),
            (None, _) => {
                let names: Vec<&str> = offers.iter().map(|(tool, _)| tool.name.as_str()).collect();
                json!({
                    "error": "unknown-tool",
                    "message": "There is no tool of this name.",
                    "tools": names,
                })
            }
        };
        let text = answer.to_string();
        let most = self.chat.limits.tool_answer_chars;
        match text.char_indices().nth(most) {
            Some((end, _)) => {
                let beginning = text.get(..end).unwrap_or_default();
                format!("{beginning}\n(The rest of the answer is left out.)")
            }
            None => text,
        }
    }

    fn report(&self, turn: &Turn, usage: &Usage) {
        turn.report_cost(usage.cost);
        if let Some(hook) = &self.on_usage {
            hook(turn, usage);
        }
    }
}

#[async_trait]
impl Agent for ChatAgent {
    /// Asks the model. A failure is a [`ChatError`].
    async fn speak(&self, turn: Turn) -> Result<Reply, AgentError> {
        let answering = Box::pin(self.answer(&turn));
        let cancelled = Box::pin(turn.cancelled());
        match select(answering, cancelled).await {
            Either::Left((Ok(text), _)) if text.is_empty() => Ok(Reply::Pass),
            Either::Left((Ok(text), _)) => Ok(Reply::Say(turn.with_mentions(&text).into_owned())),
            Either::Left((Err(error), _)) => Err(error.into()),
            Either::Right(_) => Err(ChatError::Cancelled.into()),
        }
    }

    /// Returns the text of a [`ChatError`], because it contains no secrets.
    fn failure_class(&self, error: &AgentError) -> Option<String> {
        error.downcast_ref::<ChatError>().map(ToString::to_string)
    }
}

/// Hides the persona and the tools.
impl fmt::Debug for ChatAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChatAgent").field("chat", &self.chat).finish_non_exhaustive()
    }
}
