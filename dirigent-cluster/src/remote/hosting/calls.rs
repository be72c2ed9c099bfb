//! A call of an agent of this process, from its beginning until the calling process has its answer.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use dirigent::hooks::TurnId;
use dirigent::ports::{ApiError, Identity, Timestamp, TurnControl, TurnSource};
use dirigent::{Agent, AgentError, AgentId, ChannelId, ChatMessage, Turn, UserId};
use dirigent_relay::{Client, HostId, RelayError};
use futures_util::FutureExt;
use futures_util::future::{AbortHandle, AbortRegistration, Abortable};

use super::HostedAgents;
use super::state::{Lives, Running, order};
use crate::remote::fitting::unanswered;
use crate::remote::pace::{ASK_AGAIN, CHAT_LIMIT};
use crate::remote::rules::{
    BeginCall, CallEnd, CallId, CallMissed, CallTranscript, EndCall, GivenTurn,
};

/// The most characters of an agent's error that cross.
const ERROR_CHARS_MAX: usize = 500;

/// A call that is to run.
pub(super) struct Call {
    shared: Arc<HostedAgents>,
    host: HostId,
    id: CallId,
    agent: Arc<dyn Agent>,
    turn: Turn,
    /// How many messages were missed in all.
    missed_count: usize,
    control: TurnControl,
    cost: Arc<AtomicU64>,
    registration: AbortRegistration,
}

/// Puts a call together, and what steers it.
pub(super) fn call_of(
    shared: &Arc<HostedAgents>,
    host: &HostId,
    question: BeginCall,
    lives: Lives,
    now: Timestamp,
) -> (Call, Running) {
    let (until, cost) = (Arc::new(Mutex::new(None)), Arc::new(AtomicU64::new(0)));
    let order = order(&question);
    let BeginCall { call, channel_id: channel, agent_id, turn, steering, .. } = question;
    let (newest, missed_count) = (turn.newest, turn.missed_count);
    let source = Elsewhere {
        client: shared.client.clone(),
        host: host.clone(),
        call,
        until: Arc::clone(&until),
        cost: Arc::clone(&cost),
    };
    let (turn, control) = given(channel, agent_id, turn).controlled(newest, Arc::new(source));
    let (abort, registration) = AbortHandle::new_pair();
    let mut running = Running {
        call,
        channel,
        order,
        control: control.clone(),
        until,
        cost: Arc::clone(&cost),
        step: 0,
        injected: 0,
        abort,
    };
    running.steer(steering, now);
    let (shared, host, agent) = (Arc::clone(shared), host.clone(), lives.agent);
    let call =
        Call { shared, host, id: call, agent, turn, missed_count, control, cost, registration };
    (call, running)
}

/// The turn as it was when it was given.
fn given(channel: ChannelId, agent: AgentId, turn: GivenTurn) -> Turn {
    let me = turn.me.unwrap_or_else(|| Identity {
        discord_user_id: UserId::new(0),
        agent_id: agent.clone(),
        agent_name: agent.as_str().to_owned(),
    });
    let agents = std::iter::once(me).chain(turn.others).collect();
    let given = Turn::new(channel, agent, TurnId::new(turn.number))
        .with_attempt(turn.attempt)
        .with_missed(turn.missed)
        .with_left_out(turn.left_out, turn.others_left_out)
        .with_repeated(turn.is_repeated)
        .with_late_answer(turn.late_answer.map(Into::into))
        .with_late_embeds(turn.late_embeds)
        .with_post_failure(turn.post_failure)
        .with_late_files(turn.late_files)
        .with_agents(agents);
    let given = if turn.is_after_reminder { given.after_reminder() } else { given };
    if let Some(guide) = turn.guide { given.with_guide(guide) } else { given }
}

impl Call {
    /// Calls the agent, and tells the other process what it answers until that is taken.
    pub(super) async fn run(self) {
        let Self { shared, host, id: call, agent, turn, missed_count, control, cost, registration } =
            self;
        let speaking = async {
            let turn = shared.with_all_missed(&host, call, turn, missed_count).await?;
            agent.speak(turn).await
        };
        let speaking = AssertUnwindSafe(speaking).catch_unwind();
        if let Ok(spoken) = Abortable::new(speaking, registration).await {
            let end = match spoken {
                Ok(Ok(reply)) => CallEnd::Reply(reply),
                Ok(Err(error)) => CallEnd::Failed(text_of(&error)),
                Err(_) => CallEnd::Panicked,
            };
            let (taken, cost) = (control.close(), cost.load(Ordering::Acquire));
            shared.report(&host, EndCall { call, end, taken, cost }).await;
        }
        shared.state().calls.remove(&(host, call));
        shared.over.notify_waiters();
    }
}

impl HostedAgents {
    /// The turn with everything that was missed: it did not all fit into the question that began the call, and the calling
    /// process counts all of it as handed over. Asks until it has all of it, or the call is given up.
    async fn with_all_missed(
        &self,
        host: &HostId,
        call: CallId,
        turn: Turn,
        count: usize,
    ) -> Result<Turn, AgentError> {
        if turn.missed().len() >= count {
            return Ok(turn);
        }
        let mut missed = turn.missed().to_vec();
        while missed.len() < count {
            let question = CallMissed { call, first: missed.len() };
            match self.client.ask(host, &question).await {
                Ok(Some(more)) if !more.is_empty() => {
                    missed.extend(more);
                }
                // The call is over there.
                Ok(_) => return Err("the process that called the agent gave the call up".into()),
                Err(error) if error.is_final() => return Err(error.into()),
                Err(error) => {
                    tracing::debug!(%host, %error, "what an agent missed is asked for again");
                    let clock = self.client.clock();
                    clock.sleep_until(clock.now() + ASK_AGAIN).await;
                }
            }
        }
        Ok(turn.with_missed(missed))
    }

    /// Tells how a call ended until that is taken, or the other process knows the call no more.
    async fn report(&self, host: &HostId, mut end: EndCall) {
        while self.state().calls.contains_key(&(host.clone(), end.call)) {
            match self.client.ask(host, &end).await {
                Ok(_) => return,
                Err(RelayError::TooLarge) => {
                    end.end = CallEnd::Failed("its answer is too large to be carried".to_owned());
                    continue;
                }
                Err(error) => tracing::debug!(%host, %error, "the end of a call is reported again"),
            }
            let clock = self.client.clock();
            clock.sleep_until(clock.now() + ASK_AGAIN).await;
        }
    }
}

fn text_of(error: &AgentError) -> String {
    error.to_string().chars().take(ERROR_CHARS_MAX).collect()
}

/// The process that gave the turn.
struct Elsewhere {
    client: Client,
    host: HostId,
    call: CallId,
    until: Arc<Mutex<Option<Timestamp>>>,
    cost: Arc<AtomicU64>,
}

#[async_trait]
impl TurnSource for Elsewhere {
    async fn transcript(&self, limit: usize) -> Result<Vec<Arc<ChatMessage>>, ApiError> {
        let question = CallTranscript { call: self.call, limit };
        let answer = self.client.ask_within(&self.host, &question, CHAT_LIMIT).await;
        answer.map_err(unanswered)?
    }

    fn time_left(&self) -> Option<Duration> {
        let until = *self.until.lock().unwrap_or_else(PoisonError::into_inner);
        until.map(|until| until.since(self.client.clock().now()))
    }

    fn report_cost(&self, cost: u64) {
        let add = |total: u64| Some(total.saturating_add(cost));
        // The closure always gives a value.
        let _ = self.cost.fetch_update(Ordering::AcqRel, Ordering::Acquire, add);
    }
}
