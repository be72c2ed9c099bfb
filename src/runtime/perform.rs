//! Performs the actions of a room. Each is one request with one outcome.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use dirigent_core::{AgentKey, Timestamp};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::Runtime;
use super::events::{AgentFault, Failed};
use super::host_code::{caught, no_answer};
use super::pastes::Pastes;
use super::registry::{Hosted, Registry};
use super::request::{Asked, STORE, Spare};
use super::room_table::RoomRef;
use super::steps::{SpawnCalls, elsewhere, watched};
use super::tally::Request as Asks;
use crate::admission::Report;
use crate::ports::orchestrator::Consultation;
use crate::ports::turn::Said;
use crate::ports::turn_link::TurnLink;
use crate::ports::waker::WakeCall;
use crate::room::action::{
    Account, Action, AgentAnswer, CallRequest, ConsultAnswer, ConsultRequest, Outcome, WakeRequest,
};
use crate::room::attempts::Trouble;
use crate::room::inbox::TurnMessages;
use crate::values::error::{ApiError, Certainty, ErrorKind};
use crate::values::extras::Extras;
use crate::values::load_error::LoadError;
use crate::values::reply_error::ReplyError;
use crate::values::shown::cut_line;
use crate::{Agent, AgentError, AgentId, ChannelId, DiscordApi, Reply, Turn};

/// Performs the decisions of rooms: asks the chat, the store, the host's waker, agents and the orchestrator.
impl Runtime {
    /// Makes a request. Nothing is awaited between the room's decision and the first poll.
    pub(super) fn perform<'p>(
        &'p self,
        channel: ChannelId,
        action: Action,
        spare: &mut Option<Spare<'p>>,
    ) -> Asked<'p> {
        match action {
            Action::Commit(commit) => {
                // A store that is written without `async_trait` may panic before it gives a future.
                let asked = catch_unwind(AssertUnwindSafe(|| self.store.commit(commit)));
                let asked = asked.unwrap_or_else(|payload| {
                    let error = no_answer(STORE, &*payload);
                    Box::pin(std::future::ready(Err(error.into())))
                });
                Asked::Commit(asked)
            }
            Action::ReadBack => Asked::other(STORE, spare, self.read_back(channel)),
            Action::Post { account, post } => {
                self.counts.asked(Asks::Post);
                let chat = self.chat_of(account);
                Asked::other("a post", spare, async move {
                    let chat = chat?;
                    // Such an adapter would post the words without the files, and the room could not know it.
                    if !post.files.is_empty() && !chat.sends_files() {
                        return Err(ApiError::new(ErrorKind::Unsupported));
                    }
                    Ok(Outcome::Posted(chat.post(post).await?.id))
                })
            }
            Action::Delete { message, is_own } => {
                self.counts.asked(Asks::Delete);
                Asked::other("a deletion", spare, async move {
                    let deleted = if is_own {
                        self.discord.delete(channel, message).await
                    } else {
                        self.discord.delete_of_other(channel, message).await
                    };
                    match deleted {
                        // It was removed before, which is all that was wanted.
                        Err(error) if error.kind() != ErrorKind::Gone => Err(error),
                        Ok(()) | Err(_) => Ok(Outcome::Deleted),
                    }
                })
            }
            Action::Members => {
                self.counts.asked(Asks::Members);
                // An agent that is registered during the read is in the next list.
                let accounts = self.registry.directory().accounts();
                Asked::other("the member list", spare, async move {
                    Ok(Outcome::Members(self.discord.members(channel, accounts).await?))
                })
            }
            Action::History { account, request } => {
                self.counts.asked(Asks::History);
                let chat = self.chat_of(account);
                Asked::other("the history", spare, async move {
                    let page = chat?.history(request).await?;
                    // An agent's account may see other messages, which proves nothing about the moderator's intents.
                    if account == Account::Moderator {
                        self.sight.look_at_page(&page);
                    }
                    Ok(Outcome::Page(page))
                })
            }
            Action::Wake(request) => {
                Asked::other("the waker", spare, self.call_waker(channel, *request))
            }
            // The loop begins these itself.
            Action::WakeRoom { .. } | Action::Call(_) | Action::Consult(_) => {
                Asked::other("a call", spare, async { Err(unknown_account()) })
            }
        }
    }

    async fn read_back(&self, channel: ChannelId) -> Result<Outcome, ApiError> {
        match self.store.load(channel).await {
            Ok(found) => Ok(Outcome::Record(found.map(Box::new))),
            Err(LoadError::Store(error)) => Err(error),
            Err(LoadError::Barred { .. }) => Ok(Outcome::Record(None)),
        }
    }

    async fn call_waker(
        &self,
        channel: ChannelId,
        request: WakeRequest,
    ) -> Result<Outcome, ApiError> {
        let WakeRequest { agent, turn, attempt, newest, brought, repeated, deferral } = request;
        let (Some(waker), Some(agent)) = (self.waker.get(), self.registry.name(agent)) else {
            // Without a waker, or for an agent that has left, the trigger is posted as usual.
            return Ok(Outcome::WakeOutcome(crate::ports::waker::WakeOutcome::PostTrigger));
        };
        let TurnMessages { messages: mut missed, lost: left_out, left_out: others_left_out } =
            brought;
        self.pastes.read_into(&mut missed).await;
        let call = WakeCall {
            channel,
            agent,
            turn,
            attempt,
            newest,
            missed,
            left_out,
            others_left_out,
            repeated,
            deferral,
        };
        waker.wake(call).await.map(Outcome::WakeOutcome)
    }

    /// Calls a hosted agent. `returned` gets the call's error, if there is one, unless the call was cancelled.
    pub(super) async fn call_agent(
        self: &Arc<Self>,
        room: &RoomRef,
        (request, began): (CallRequest, Timestamp),
        link: Arc<TurnLink>,
        returned: impl FnOnce(Option<Failed>),
    ) -> Outcome {
        let (agent, run) = (request.agent, request.run);
        // The agent is hosted no more, and the machine must not wait for it.
        let Some((name, hosted)) = self.registry.hosted(agent) else {
            return answered(AgentAnswer::Failed, true);
        };
        let turn = self.turn_of(room.id, name, request, &link);
        // Each agent that runs has one of these futures, so each part is in it once, and rare parts are boxed.
        let speaking = async {
            let spoken = if let Some(spawn) = &self.spawn_calls {
                self.speak_elsewhere(spawn, (room.id, agent), &hosted, turn)
            } else if Pastes::are_among(turn.missed()) {
                self.speak_after_pastes(&hosted, turn)
            } else {
                hosted.agent.speak(turn)
            };
            spoken.await
        };
        let speaking = pin!(AssertUnwindSafe(speaking).catch_unwind());
        let speaking = watched(&*self.clock, &self.counts, Some(began), speaking, |took| {
            blocked(&self.registry, room.id, agent, took);
        });
        let spoken = if self.settings.typing {
            let discord = hosted.discord.as_ref();
            let typing = Box::pin(self.while_typing(room.id, &link, discord, speaking));
            link.unless_dropped(typing).await
        } else {
            link.unless_dropped(speaking).await
        };
        // Closed before anything else, so that no message is injected that the agent cannot take.
        let took_all = link.close();
        let Some(spoken) = spoken else {
            let agent = self.registry.log_name(agent);
            tracing::warn!(channel = %room.id, %agent, "a cancelled call is dropped");
            return answered(AgentAnswer::Failed, took_all);
        };
        let answer = match spoken {
            Ok(Ok(Reply::Say(text))) => Ok(self.say(&text, None)),
            Ok(Ok(Reply::Rich(text, extras))) => self.say_richly(&text, extras),
            Ok(Ok(Reply::Pass)) => Ok(AgentAnswer::Pass),
            Ok(Err(error)) => {
                let class = class_of(&*hosted.agent, &error);
                Err(Failed { fault: AgentFault::Error(error.into()), class })
            }
            Err(_) => Err(Failed { fault: AgentFault::Panic, class: Some("it panicked".into()) }),
        };
        // An agent may return an error because it was cancelled. That is no failure of its own.
        if answer.is_ok() || !link.is_cancelled() {
            returned(answer.as_ref().err().cloned());
        }
        let answer = answer.unwrap_or_else(|Failed { class, .. }| {
            let agent = self.registry.log_name(agent);
            tracing::warn!(channel = %room.id, %agent, run = run.get(), class = class.as_deref(), "a hosted agent failed");
            AgentAnswer::Failed
        });
        answered(answer, took_all)
    }

    /// Calls the agent after the pastes of its messages were read.
    #[cold]
    fn speak_after_pastes<'a>(
        &'a self,
        hosted: &'a Hosted,
        mut turn: Turn,
    ) -> BoxFuture<'a, Result<Reply, AgentError>> {
        async move {
            self.pastes.read_into(turn.missed_mut()).await;
            hosted.agent.speak(turn).await
        }
        .boxed()
    }

    /// Calls the agent on a task of the host.
    #[cold]
    fn speak_elsewhere<'a>(
        &'a self,
        spawn: &'a SpawnCalls,
        (channel, agent): (ChannelId, AgentKey),
        hosted: &Hosted,
        mut turn: Turn,
    ) -> BoxFuture<'a, Result<Reply, AgentError>> {
        let speaker = Arc::clone(&hosted.agent);
        let (registry, clock) = (Arc::clone(&self.registry), Arc::clone(&self.clock));
        let counts = Arc::clone(&self.counts);
        async move {
            self.pastes.read_into(turn.missed_mut()).await;
            let call = async move {
                let speaking = pin!(async { speaker.speak(turn).await });
                let told = |took| blocked(&registry, channel, agent, took);
                watched(&*clock, &counts, None, speaking, told).await
            };
            elsewhere(spawn, call.boxed()).await?
        }
        .boxed()
    }

    /// Returns the part of a reply with extras that is delivered, or the reason why the chat would refuse it.
    #[cold]
    fn say_richly(&self, text: &str, mut extras: Box<Extras>) -> Result<AgentAnswer, Failed> {
        if let Err(error) = extras.check_shown() {
            tracing::warn!(%error, "a reply cannot be posted");
            return Err(unpostable(error));
        }
        let limited = extras.limit_files();
        let extras = Some(extras).filter(|extras| !extras.is_empty());
        match (self.say(text, extras.map(Arc::from)), limited) {
            // Nothing is left to post, so the agent must learn it as an error.
            (AgentAnswer::Pass, Err(error)) => {
                tracing::warn!(%error, "the files of a reply without words cannot be posted");
                Err(unpostable(error))
            }
            (answer, limited) => {
                // The words never wait for a file. The agent learns the file's name with its next turn.
                if let Err(error) = limited {
                    tracing::warn!(%error, "a reply is posted without a file");
                }
                Ok(answer)
            }
        }
    }

    #[inline]
    fn say(&self, text: &str, extras: Option<Arc<Extras>>) -> AgentAnswer {
        let has_more = extras.as_ref().is_some_and(|extras| extras.shows());
        match self.settings.reading.reply(text, has_more) {
            Some((words, end)) => {
                AgentAnswer::Say { said: Said { words: words.into(), extras }, end }
            }
            None => AgentAnswer::Pass,
        }
    }

    fn turn_of(
        self: &Arc<Self>,
        channel: ChannelId,
        name: AgentId,
        request: CallRequest,
        link: &Arc<TurnLink>,
    ) -> Turn {
        let CallRequest { turn, attempt, newest, brought, late, repeated, .. } = request;
        // Only weak, because a turn may live on after the driver.
        let (link, around) = (Arc::clone(link), Arc::downgrade(self));
        let TurnMessages { messages, lost, left_out } = brought;
        let handed = (newest, messages, (lost, left_out));
        let given = Turn::linked(channel, name, turn, handed, late, link, around);
        given.with_attempt(attempt).with_repeated(repeated)
    }

    pub(super) async fn ask_orchestrator(
        &self,
        channel: ChannelId,
        request: ConsultRequest,
        link: &TurnLink,
    ) -> Outcome {
        let named = (self.registry.orchestrator(), self.registry.name(request.agent));
        let (Some(orchestrator), Some(agent)) = named else {
            return Outcome::Consulted(ConsultAnswer::Failed);
        };
        let ConsultRequest { turn, mut messages, .. } = request;
        let blocked = move |took: Duration| {
            tracing::warn!(
                %channel,
                took_ms = took.as_millis(),
                "the orchestrator blocked its thread: what does that belongs into tokio::task::spawn_blocking"
            );
        };
        let answering = AssertUnwindSafe(async {
            self.pastes.read_into(&mut messages).await;
            let asked = Consultation { channel, agent, turn, messages };
            let (clock, counts) = (Arc::clone(&self.clock), Arc::clone(&self.counts));
            let answer = async move {
                let answer = pin!(orchestrator.answer(asked));
                watched(&*clock, &counts, None, answer, blocked).await
            };
            match &self.spawn_calls {
                Some(spawn) => elsewhere(spawn, answer.boxed()).await?,
                None => answer.await,
            }
        })
        .catch_unwind();
        let answering = pin!(answering);
        Outcome::Consulted(match link.unless_dropped(answering).await {
            Some(Ok(Ok(Reply::Say(text)))) => ConsultAnswer::Say { text, extras: None },
            // An answer that the chat would refuse counts as failed, so that the agent gets the messages.
            Some(Ok(Ok(Reply::Rich(text, mut extras)))) if extras.check_shown().is_ok() => {
                if let Err(error) = extras.limit_files() {
                    tracing::warn!(%channel, %error, "an answer is posted without a file");
                }
                ConsultAnswer::Say { text, extras: Some(Arc::from(extras)) }
            }
            Some(Ok(Ok(Reply::Pass))) => ConsultAnswer::Pass,
            Some(Ok(_) | Err(_)) => {
                tracing::warn!(%channel, "the orchestrator failed");
                ConsultAnswer::Failed
            }
            None => ConsultAnswer::Failed,
        })
    }

    fn chat_of(&self, account: Account) -> Result<Arc<dyn DiscordApi>, ApiError> {
        match account {
            Account::Moderator => Ok(Arc::clone(&self.discord)),
            Account::Agent(agent) => self.registry.account(agent).ok_or_else(unknown_account),
        }
    }
}

const CLASS_CHARS_MAX: usize = 200;

/// Returns the part of an agent's error that people may read. It is one short line, because it is shown in the log, in
/// `/why` and on the page.
#[cold]
fn class_of(agent: &dyn Agent, error: &AgentError) -> Option<Arc<str>> {
    let class = caught("an agent's failure class", || agent.failure_class(error)).flatten()?;
    Some(cut_line(&class, CLASS_CHARS_MAX)).filter(|class| !class.is_empty())
}

#[cold]
fn blocked(registry: &Registry, channel: ChannelId, agent: AgentKey, took: Duration) {
    let agent = registry.log_name(agent);
    tracing::warn!(
        %channel,
        %agent,
        took_ms = took.as_millis(),
        "an agent blocked its thread; the driver and all channels wait meanwhile where it runs the agent's calls. Put what blocks into \
         tokio::task::spawn_blocking, or let Builder::spawn_calls run the calls elsewhere"
    );
}

#[cold]
fn unpostable(error: ReplyError) -> Failed {
    let class = Some(error.to_string().into());
    Failed { fault: AgentFault::Error(Arc::new(error)), class }
}

fn unknown_account() -> ApiError {
    ApiError::new(ErrorKind::Unauthorized)
}

/// The report to the admission about a request that ended.
pub(crate) fn report_of(outcome: &Outcome, now: Timestamp) -> Report {
    let Outcome::Failed(failure) = outcome else {
        return Report::Answered;
    };
    match failure.trouble() {
        // A refusal is an answer, so the account is healthy.
        Trouble::Definite => Report::Answered,
        Trouble::Limited(wait) => Report::RateLimited { until: now + wait },
        Trouble::Away => {
            // A refused connection has used no place in a rate limit.
            let refused =
                failure.kind == ErrorKind::Unavailable && failure.certainty == Certainty::NotDone;
            Report::Away { refused }
        }
    }
}

/// Returns the outcome of a call that is not made, because another process may act for the channel.
#[cold]
pub(super) fn not_called(link: &TurnLink) -> Outcome {
    answered(AgentAnswer::Failed, link.close())
}

const fn answered(answer: AgentAnswer, took_all: bool) -> Outcome {
    Outcome::Answered { answer, took_all }
}
