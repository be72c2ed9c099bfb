//! Performs the actions of a room: one request each, one outcome.

use std::future::{Future, poll_fn};
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::{Arc, PoisonError, RwLock};
use std::task::Poll;

use dirigent_core::{AgentKey, Timestamp};
use futures_util::FutureExt;
use futures_util::future::{AbortRegistration, Abortable};

use super::admission::{Claim, Report};
use super::cell::CellState;
use super::registry::Registry;
use super::room_table::RoomRef;
use crate::ports::agent::TurnLink;
use crate::room::action::{
    Account, Action, ActionId, AgentAnswer, CallRequest, ConsultAnswer, ConsultRequest, Outcome,
    Started, WakeRequest,
};
use crate::room::attempts::{Failure, Trouble};
use crate::room::refused::is_refusal;
use crate::{
    AgentId, AgentWaker, ApiError, Certainty, ChannelId, ChannelStore, Clock, CommitError,
    Consultation, DiscordApi, ErrorKind, LoadError, Orchestrator, Reply, Revision, Settings, Turn,
    WakeCall,
};

/// An action that ended.
pub(super) struct Finished {
    /// Keeps the channel in memory until its outcome is told.
    pub(super) room: RoomRef,
    pub(super) id: ActionId,
    pub(super) claim: Option<Claim>,
    pub(super) outcome: Outcome,
}

/// An action that is about to be polled.
pub(super) struct Begun {
    pub(super) id: ActionId,
    pub(super) prepared: Prepared,
    pub(super) claim: Option<Claim>,
    pub(super) limits: Limits,
}

/// How an action is to be cut short.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    began: Timestamp,
    time_out: Option<Timestamp>,
    not_after: Option<Timestamp>,
}

/// Performs what rooms decide: asks the chat, the store, the host's waker, agents and the orchestrator.
pub(super) struct Performer {
    pub(super) discord: Arc<dyn DiscordApi>,
    pub(super) store: Arc<dyn ChannelStore>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) waker: Option<Arc<dyn AgentWaker>>,
    pub(super) orchestrator: Arc<RwLock<Option<Arc<dyn Orchestrator>>>>,
    pub(super) registry: Arc<Registry>,
    pub(super) settings: Arc<Settings>,
}

impl Performer {
    /// Makes a request. Nothing is awaited between the room's decision and the first poll.
    pub(super) async fn request(
        self: Arc<Self>,
        room: RoomRef,
        (id, claim): (ActionId, Option<Claim>),
        action: Action,
        limits: Limits,
    ) -> Finished {
        let channel = room.id;
        let outcome = match action {
            Action::Commit(commit) => {
                let committed = self.limited(&limits, self.store.commit(commit)).await;
                let committed = committed.unwrap_or_else(|error| Err(CommitError::Store(error)));
                conclude_commit(committed, &room, &limits)
            }
            Action::ReadBack => self.read_back(channel, &limits).await,
            Action::Post { account, post } => match self.chat_of(account) {
                Some(chat) => {
                    let posted = self.limited(&limits, chat.post(post)).await;
                    let posted = posted.and_then(|posted| posted);
                    conclude(posted, channel, "a post", &limits, |posted| {
                        Outcome::Posted(posted.id)
                    })
                }
                None => unknown_account(&limits),
            },
            Action::Delete(message) => {
                let deleted = self.limited(&limits, self.discord.delete(channel, message)).await;
                match deleted.and_then(|deleted| deleted) {
                    // It was removed before: that is what was asked for.
                    Err(error) if error.kind() == ErrorKind::Gone => Outcome::Deleted,
                    deleted => {
                        conclude(deleted, channel, "a deletion", &limits, |()| Outcome::Deleted)
                    }
                }
            }
            Action::Members => {
                // Who is registered during the read is counted by the next one.
                let accounts = self.registry.accounts();
                let read = self.limited(&limits, self.discord.members(channel, accounts)).await;
                let read = read.and_then(|read| read);
                conclude(read, channel, "the member list", &limits, Outcome::Members)
            }
            Action::History { account, request } => match self.chat_of(account) {
                Some(chat) => {
                    let page = self.limited(&limits, chat.history(request)).await;
                    let page = page.and_then(|page| page);
                    conclude(page, channel, "the history", &limits, Outcome::Page)
                }
                None => unknown_account(&limits),
            },
            // In a box of its own: every request would have room for it.
            Action::Wake(request) => Box::pin(self.wake(channel, *request, &limits)).await,
            // Prepared on their own.
            Action::WakeRoom { .. } | Action::Call(_) | Action::Consult(_) => {
                unknown_account(&limits)
            }
        };
        Finished { room, id, claim, outcome }
    }

    /// What the store holds of the channel.
    async fn read_back(&self, channel: ChannelId, limits: &Limits) -> Outcome {
        let read = self.limited(limits, self.store.load(channel)).await;
        match read.map_err(LoadError::from).and_then(|read| read) {
            Ok(found) => Outcome::Record(found.map(Box::new)),
            Err(LoadError::Store(error)) => failed(channel, "the store", &error, limits),
            Err(LoadError::Barred { .. }) => Outcome::Record(None),
        }
    }

    async fn wake(&self, channel: ChannelId, request: WakeRequest, limits: &Limits) -> Outcome {
        let WakeRequest { agent, turn, attempt, newest, missed, deferral } = request;
        let (Some(waker), Some(agent)) = (&self.waker, self.registry.name(agent)) else {
            return Outcome::Woken(crate::Woken::PostTrigger);
        };
        let call = WakeCall { channel, agent, turn, attempt, newest, missed, deferral };
        let woken = self.limited(limits, waker.wake(call)).await.and_then(|woken| woken);
        conclude(woken, channel, "the waker", limits, Outcome::Woken)
    }

    /// Calls a hosted agent. `returned` is told whether that failed, unless it was cancelled.
    pub(super) async fn call(
        &self,
        room: &RoomRef,
        request: CallRequest,
        link: Arc<TurnLink>,
        registration: AbortRegistration,
        returned: impl FnOnce(bool),
    ) -> Outcome {
        let (agent, run) = (request.agent, request.run);
        let Some((name, hosted)) = self.registry.hosted(agent) else {
            return answered(AgentAnswer::Failed, true);
        };
        let turn = turn_of(room.id, name, request, &link);
        // As many of them are under way as there are talking channels: each part stands in them once.
        let speaking = async { hosted.agent.speak(turn).await };
        let speaking = pin!(AssertUnwindSafe(speaking).catch_unwind());
        let spoken = if self.settings.typing {
            let discord = hosted.discord.as_ref();
            let typing = Box::pin(self.while_typing(room.id, &link, discord, speaking));
            Abortable::new(typing, registration).await
        } else {
            Abortable::new(speaking, registration).await
        };
        let took_all = link.close();
        if let Ok(spoken) = &spoken {
            let failed = !matches!(spoken, Ok(Ok(_)));
            // An agent may end a call with an error because it was cancelled.
            if !failed || !link.is_cancelled() {
                returned(failed);
            }
        }
        let answer = match spoken {
            Ok(Ok(Ok(Reply::Say(text)))) => match self.settings.reply(&text) {
                Some((words, end)) => AgentAnswer::Say { words: words.into(), end },
                None => AgentAnswer::Pass,
            },
            Ok(Ok(Ok(Reply::Pass))) => AgentAnswer::Pass,
            Ok(Ok(Err(_)) | Err(_)) => {
                let agent = self.registry.log_name(agent);
                tracing::warn!(channel = %room.id, %agent, run = run.get(), "a hosted agent failed");
                AgentAnswer::Failed
            }
            Err(_) => {
                let agent = self.registry.log_name(agent);
                tracing::warn!(channel = %room.id, %agent, "a cancelled call is dropped");
                AgentAnswer::Failed
            }
        };
        answered(answer, took_all)
    }

    /// Asks the orchestrator.
    pub(super) async fn consult(
        &self,
        channel: ChannelId,
        request: ConsultRequest,
        registration: AbortRegistration,
    ) -> Outcome {
        let orchestrator = self.orchestrator.read().unwrap_or_else(PoisonError::into_inner).clone();
        let (Some(orchestrator), Some(agent)) = (orchestrator, self.registry.name(request.agent))
        else {
            return Outcome::Consulted(ConsultAnswer::Failed);
        };
        let ConsultRequest { turn, messages, .. } = request;
        let asked = Consultation { channel, agent, turn, messages };
        let answering = AssertUnwindSafe(async { orchestrator.answer(asked).await }).catch_unwind();
        Outcome::Consulted(match Abortable::new(answering, registration).await {
            Ok(Ok(Ok(Reply::Say(text)))) => ConsultAnswer::Say(text),
            Ok(Ok(Ok(Reply::Pass))) => ConsultAnswer::Pass,
            Ok(Ok(Err(_)) | Err(_)) => {
                tracing::warn!(%channel, "the orchestrator failed");
                ConsultAnswer::Failed
            }
            Err(_) => ConsultAnswer::Failed,
        })
    }

    /// The chat as this account sees it.
    fn chat_of(&self, account: Account) -> Option<Arc<dyn DiscordApi>> {
        match account {
            Account::Moderator => Some(Arc::clone(&self.discord)),
            Account::Agent(agent) => self.registry.hosted(agent).map(|(_, hosted)| hosted.discord),
        }
    }

    async fn limited<T>(
        &self,
        limits: &Limits,
        request: impl Future<Output = T>,
    ) -> Result<T, ApiError> {
        limits.keep(self.clock.as_ref(), request).await
    }
}

impl Limits {
    /// Polls a request until its time is over. It is polled at least once before anything waits.
    pub(super) async fn keep<T>(
        &self,
        clock: &dyn Clock,
        request: impl Future<Output = T>,
    ) -> Result<T, ApiError> {
        let mut request = pin!(request);
        let polled = poll_fn(|context| {
            // The machine may have slept: beyond this the chat may have forgotten the nonce.
            if self.not_after.is_some_and(|limit| clock.now() >= limit) {
                return Poll::Ready(Err(ApiError::new(ErrorKind::NoAnswer)));
            }
            request.as_mut().poll(context).map(Ok)
        });
        let mut polled = pin!(polled);
        if let Some(done) = polled.as_mut().now_or_never() {
            return done;
        }
        let Some(time_out) = self.time_out else {
            return polled.await;
        };
        tokio::select! {
            biased;
            done = polled => done,
            () = clock.sleep_until(time_out) => Err(ApiError::new(ErrorKind::NoAnswer)),
        }
    }
}

/// What the admission is told of a request that ended.
pub(crate) fn report_of(outcome: &Outcome, now: Timestamp) -> Report {
    let Outcome::Failed(failure) = outcome else {
        return Report::Answered;
    };
    match failure.trouble() {
        Trouble::Definite => Report::Answered,
        Trouble::Limited(wait) => Report::RateLimited { until: now + wait },
        Trouble::Away => {
            let refused =
                failure.kind == ErrorKind::Unavailable && failure.certainty == Certainty::NotDone;
            Report::Away { refused }
        }
    }
}

/// What an action needs to run.
pub(super) enum Prepared {
    /// A request to the chat or the store.
    Request(Action),
    Call(CallRequest, Arc<TurnLink>, AbortRegistration),
    Consult(Box<ConsultRequest>, AbortRegistration),
    /// The callback room of a discussion is woken; this agent speaks first.
    WakeRoom(ChannelId, Option<AgentKey>),
}

/// What a hosted agent is called with.
fn turn_of(channel: ChannelId, name: AgentId, request: CallRequest, link: &Arc<TurnLink>) -> Turn {
    let CallRequest { turn, attempt, newest, missed, late, .. } = request;
    let given = Turn::linked(channel, name, turn, Arc::clone(link)).with_attempt(attempt);
    given.with_missed(newest, missed).with_late_answer(late)
}

const fn answered(answer: AgentAnswer, took_all: bool) -> Outcome {
    Outcome::Answered { answer, took_all }
}

fn conclude_commit(
    committed: Result<Revision, CommitError>,
    room: &RoomRef,
    limits: &Limits,
) -> Outcome {
    let channel = room.id;
    match committed {
        Ok(revision) => Outcome::Committed(revision),
        Err(CommitError::Conflict { .. }) => Outcome::Conflict,
        Err(CommitError::Barred(barred)) => {
            tracing::error!(%channel, %barred, "the record cannot be replaced");
            Outcome::Conflict
        }
        Err(CommitError::Store(error)) if is_refusal(error.kind()) => {
            // Said once, and not with each of the attempts that follow.
            if room.lock().room.commit().refused_since().is_none() {
                tracing::error!(
                    %channel,
                    %error,
                    "the store refuses the channel's record as it is: nothing of the channel is stored, and no agent is \
                     called there, until it takes it. It is tried again later and later, and after each command"
                );
            }
            failure(&error, limits)
        }
        Err(CommitError::Store(error)) => failed(channel, "the store", &error, limits),
    }
}

/// The account has no connection to the chat any more.
const fn unknown_account(limits: &Limits) -> Outcome {
    Outcome::Failed(Failure {
        kind: ErrorKind::Unauthorized,
        certainty: Certainty::NotDone,
        retry_after: None,
        began: limits.began,
    })
}

fn conclude<T>(
    result: Result<T, ApiError>,
    channel: ChannelId,
    what: &'static str,
    limits: &Limits,
    done: impl FnOnce(T) -> Outcome,
) -> Outcome {
    match result {
        Ok(value) => done(value),
        Err(error) => failed(channel, what, &error, limits),
    }
}

pub(super) fn failed(
    channel: ChannelId,
    what: &'static str,
    error: &ApiError,
    limits: &Limits,
) -> Outcome {
    tracing::warn!(%channel, %error, "a request failed: {what}");
    failure(error, limits)
}

fn failure(error: &ApiError, limits: &Limits) -> Outcome {
    Outcome::Failed(Failure {
        kind: error.kind(),
        certainty: error.certainty(),
        retry_after: error.retry_after(),
        began: limits.began,
    })
}

impl CellState {
    /// Puts in place what the action needs: the link to an agent, the handle to drop it by.
    pub(super) fn prepare(&mut self, started: Started, began: Timestamp) -> Begun {
        let Started { id, action, claim, time_out, not_after } = started;
        let prepared = match action {
            Action::Call(request) => {
                let link = Arc::<TurnLink>::default();
                link.pause(request.paused);
                let registration = self.call(id, Some(Arc::clone(&link)));
                Prepared::Call(request, link, registration)
            }
            Action::Consult(request) => Prepared::Consult(request, self.call(id, None)),
            Action::WakeRoom { room, first } => Prepared::WakeRoom(room, first),
            action @ (Action::Commit(_)
            | Action::ReadBack
            | Action::Post { .. }
            | Action::Wake(_)
            | Action::Delete(_)
            | Action::Members
            | Action::History { .. }) => Prepared::Request(action),
        };
        Begun { id, prepared, claim, limits: Limits { began, time_out, not_after } }
    }
}
