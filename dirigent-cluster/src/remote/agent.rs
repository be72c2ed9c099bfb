//! An agent that lives in another process.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use dirigent::ports::TurnWatch;
use dirigent::{Agent, AgentError, AgentId, Reply, Turn};
use dirigent_relay::QUESTION_MAX;
use tokio::sync::oneshot;

use super::directory::{Directory, Ended, OpenCall};
use super::error::RemoteCallError;
use super::fitting::within;
use super::pace::{ASK_AGAIN, LEASE};
use super::rules::{Announced, BeginAnswer, BeginCall, CallEnd, GivenTurn, SteerCall, Steering};

/// The most bytes of missed messages in the question that begins a call. The other process asks for the rest before it calls
/// the agent.
const MISSED_MAX: usize = QUESTION_MAX / 2;
/// The most bytes of messages in one question, for what comes while the agent runs.
const INJECTED_MAX: usize = QUESTION_MAX / 4;

/// An agent that lives in another process, as the library calls it. Made by [`Guests::agent`](crate::Guests::agent).
///
/// All that a [`Turn`] tells crosses, and what comes while it runs; so does the reply with all that it has but its files, of which only
/// the names cross. Who else is here,
/// and what a discussion is about, crosses as it is when the call begins. Everything that was missed crosses before the agent is
/// called: it takes several requests if it is more than half a MiB. Costs that are reported cross within a second.
///
/// # Errors
///
/// A [`RemoteCallError`].
#[derive(Clone)]
pub struct RemoteAgent {
    pub(super) directory: Arc<Directory>,
    pub(super) agent: AgentId,
}

#[async_trait]
impl Agent for RemoteAgent {
    async fn speak(&self, turn: Turn) -> Result<Reply, AgentError> {
        let (call, ended) = self.open(&turn).await?;
        let host = call.host().clone();
        let carrying = Carrying::new(self, &turn, &call).carry();
        let ended = tokio::select! {
            biased;
            ended = ended => ended,
            error = carrying => return Err(error.into()),
        };
        match ended.unwrap_or_else(|_| Ended::Lost(RemoteCallError::Lost { host })) {
            Ended::There { end, taken } => {
                // The others are for the next agent.
                (0..taken).for_each(|_| drop(turn.take_injected()));
                match end {
                    CallEnd::Reply(reply) => Ok(reply),
                    CallEnd::Failed(text) => Err(RemoteCallError::Agent { text }.into()),
                    CallEnd::Panicked => Err(RemoteCallError::Panicked.into()),
                }
            }
            Ended::Lost(error) => Err(error.into()),
        }
    }

    fn failure_class(&self, error: &AgentError) -> Option<String> {
        let error = error.downcast_ref::<RemoteCallError>()?;
        let is_its_own = matches!(error, RemoteCallError::Agent { .. });
        Some(if is_its_own { "it failed in its own process".to_owned() } else { error.to_string() })
    }
}

impl RemoteAgent {
    /// Opens a call in the process in which the agent lives: where it is not announced now, it may be within 3 s.
    async fn open(
        &self,
        turn: &Turn,
    ) -> Result<(OpenCall, oneshot::Receiver<Ended>), RemoteCallError> {
        let clock = self.directory.client.clock();
        let until = clock.now() + LEASE;
        loop {
            if turn.is_cancelled() {
                return Err(RemoteCallError::Cancelled);
            }
            if let Some(open) = self.directory.open(&self.agent, turn) {
                return Ok(open);
            }
            if clock.now() >= until {
                return Err(RemoteCallError::NoProcess { agent: self.agent.clone() });
            }
            clock.sleep_until(clock.now() + ASK_AGAIN).await;
        }
    }
}

/// Carries a turn to the other process while the agent runs there.
struct Carrying<'c> {
    agent: &'c RemoteAgent,
    turn: &'c Turn,
    call: &'c OpenCall,
    watch: TurnWatch,
    step: u64,
    /// How many of the messages that people wrote meanwhile are there.
    sent: usize,
}

impl<'c> Carrying<'c> {
    fn new(agent: &'c RemoteAgent, turn: &'c Turn, call: &'c OpenCall) -> Self {
        Self { agent, turn, call, watch: turn.watch(), step: 0, sent: 0 }
    }

    /// Begins the call and tells what changes, for ever. Returns why it does not run.
    async fn carry(mut self) -> RemoteCallError {
        if let Err(error) = self.begin().await {
            return error;
        }
        let mut has_more = self.watch.waiting().len() > self.sent;
        loop {
            if !has_more {
                self.watch.changed().await;
            }
            let before = self.sent;
            self.steer().await;
            has_more = self.sent > before && self.watch.waiting().len() > self.sent;
        }
    }

    async fn begin(&mut self) -> Result<(), RemoteCallError> {
        let host = self.call.host();
        let Some(announced) = self.announced() else {
            return Err(RemoteCallError::NoProcess { agent: self.agent.agent.clone() });
        };
        let mut question = BeginCall {
            call: self.call.call(),
            announced,
            channel_id: self.turn.channel(),
            agent_id: self.agent.agent.clone(),
            turn: self.given_turn(),
            steering: self.steering(),
        };
        loop {
            match self.agent.directory.client.ask(host, &question).await {
                Ok(BeginAnswer::Begun { announced, injected }) => {
                    self.call.begun(announced);
                    self.sent = injected;
                    return Ok(());
                }
                Ok(BeginAnswer::Over) => {
                    return Err(RemoteCallError::GivenUp { host: host.clone() });
                }
                Ok(BeginAnswer::NoSuchAgent) => {
                    return Err(RemoteCallError::NoProcess { agent: self.agent.agent.clone() });
                }
                Err(error) if error.is_final() => return Err(error.into()),
                Ok(BeginAnswer::NotNow) | Err(_) => {}
            }
            if self.turn.is_cancelled() {
                return Err(RemoteCallError::Cancelled);
            }
            self.wait().await;
            question.announced = self.announced().unwrap_or(question.announced);
            question.steering = self.steering();
        }
    }

    /// Tells how the turn stands now, until the other process knows.
    async fn steer(&mut self) {
        let host = self.call.host();
        while let Some(announced) = self.announced() {
            let steering = self.steering();
            let question = SteerCall { call: self.call.call(), announced, steering };
            match self.agent.directory.client.ask(host, &question).await {
                Ok(answer) => {
                    // Where the call does not run any more, its end is on the way.
                    self.sent = answer.injected.unwrap_or(self.sent);
                    return;
                }
                Err(error) if error.is_final() => return,
                Err(_) => self.wait().await,
            }
        }
    }

    async fn wait(&self) {
        let clock = self.agent.directory.client.clock();
        clock.sleep_until(clock.now() + ASK_AGAIN).await;
    }

    fn announced(&self) -> Option<Announced> {
        self.agent.directory.state().announced(self.call.host())
    }

    fn steering(&mut self) -> Steering {
        self.step += 1;
        let millis = |left: Duration| u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
        let waiting = self.watch.waiting();
        Steering {
            step: self.step,
            is_cancelled: self.turn.is_cancelled(),
            is_slow: self.turn.is_slow(),
            is_paused: self.turn.is_paused(),
            time_left_ms: self.turn.time_left().map(millis),
            first: self.sent,
            messages: within(waiting.iter().skip(self.sent), INJECTED_MAX),
        }
    }

    fn given_turn(&self) -> GivenTurn {
        let turn = self.turn;
        GivenTurn {
            number: turn.turn().get(),
            is_after_reminder: turn.is_after_reminder(),
            attempt: turn.attempt(),
            newest: turn.newest(),
            missed: within(turn.missed().iter(), MISSED_MAX),
            missed_count: turn.missed().len(),
            left_out: turn.left_out(),
            others_left_out: turn.others_left_out(),
            late_answer: turn.late_answer().map(str::to_owned),
            late_embeds: turn.late_embeds().to_vec(),
            post_failure: turn.post_failure(),
            late_files: turn.late_files().map(str::to_owned).collect(),
            is_repeated: turn.is_repeated(),
            // An agent that is not registered any more has no account.
            me: Some(turn.me()).filter(|me| me.discord_user_id.get() != 0),
            others: turn.others(),
            guide: turn.guide(),
        }
    }
}

impl fmt::Debug for RemoteAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteAgent").field("agent", &self.agent).finish_non_exhaustive()
    }
}
