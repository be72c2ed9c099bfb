//! Performs the signals of a room, under its lock.

use std::sync::Arc;

use dirigent_core::{Cause, MessageId, Timestamp, Transition};

use super::Runtime;
use super::cell::CellState;
use crate::room::Room;
use crate::room::action::{Lost, Signal};
use crate::room::commit::news::Announcement;
use crate::room::context::Context;
use crate::room::directory::Directory;
use crate::runtime::events::{ChannelEvent, EventOrLag, LostReply};
use crate::{AgentId, ChannelId};

impl Runtime {
    /// Performs the room's signals. Returns whether there were any.
    pub(super) fn perform_signals(
        &self,
        state: &mut CellState,
        cx: &Context<'_>,
        now: Timestamp,
    ) -> bool {
        // Usually there are none.
        let any = state.room.look().has_signals();
        if any {
            self.perform_all_signals(state, cx, now);
        }
        any
    }

    #[inline(never)] // This keeps the usual case short, in which there are none.
    fn perform_all_signals(&self, state: &mut CellState, cx: &Context<'_>, now: Timestamp) {
        // Looked up once, because publishing costs more than the rest of a transition.
        let has_listeners = self.events.receiver_count() > 0;
        loop {
            while let Some(news) = state.room.next_news() {
                if let Announcement::Transition(transition) = &news {
                    self.count_transition(state, transition);
                }
                self.announce(&state.room, cx.directory, news, has_listeners);
            }
            let Some(signal) = state.room.next_signal() else {
                break;
            };
            match signal {
                Signal::Cancel(id) => {
                    tracing::debug!(channel = %state.room.id(), "a run is cancelled");
                    state.link(id).into_iter().for_each(|link| link.cancel());
                }
                Signal::Leave { id, drop_at } => {
                    tracing::debug!(channel = %state.room.id(), "a run is cancelled: its channel is another process's");
                    if let Some(link) = state.link(id) {
                        link.cancel();
                        self.leaving.add(drop_at, Arc::clone(link));
                        // The room keeps no time for it any more, so the driver must look at its deadline.
                        self.timers.wake();
                    }
                }
                Signal::Drop(id) | Signal::DropConsult(id) => {
                    state.link(id).into_iter().for_each(|link| link.drop_call());
                }
                Signal::Pause { id, waits } => {
                    state.link(id).into_iter().for_each(|link| link.pause(waits));
                }
                Signal::Overrun { agent, turn, ends_at } => {
                    let agent = cx.directory.name(agent).map(AgentId::as_str);
                    let left = ends_at.since(now).as_secs();
                    tracing::warn!(channel = %state.room.id(), agent, turn = turn.get(), "a run is cut off in {left} s, if it does not end before");
                }
                Signal::ReplyLost(lost) => self.publish_lost(state.room.id(), cx.directory, &lost),
                Signal::Slow(id) => state.link(id).into_iter().for_each(|link| link.mark_slow()),
                Signal::Inject { id, agent, messages } => {
                    let link = state.link(id);
                    // An agent that has returned takes no more. Only the ids that it took count.
                    let ids = messages.into_iter().map_while(|message| {
                        let id = message.id;
                        link.is_some_and(|link| link.inject(message)).then_some(id)
                    });
                    let handed: Vec<MessageId> = ids.collect();
                    if let Some(inbox) = state.room.inbox() {
                        inbox.injected(agent, &handed);
                    }
                }
                Signal::TellDeferred { key, turn } => {
                    // The caller may have stopped waiting. The room then wakes the agent in another way.
                    let at = state.deferrals.iter().position(|(known, _)| *known == key);
                    let told =
                        at.is_some_and(|at| state.deferrals.swap_remove(at).1.send(turn).is_ok());
                    state.room.deferral_told(cx, now, told);
                }
                Signal::DropDeferrals(keys) => {
                    state.deferrals.retain(|(key, _)| !keys.contains(key));
                }
            }
        }
    }

    fn count_transition(&self, state: &mut CellState, transition: &Transition) {
        let is_left = transition.from != transition.to;
        // A change within a phase ends no stay in it.
        self.counts.changed(transition, state.phase_since.filter(|_| is_left));
        if is_left {
            state.phase_since = Some(transition.at);
        }
    }

    fn announce(
        &self,
        room: &Room,
        directory: &Directory,
        news: Announcement,
        has_listeners: bool,
    ) {
        let channel = room.id();
        match news {
            Announcement::Transition(transition) => {
                // Without a fingerprint no reply can be recognised.
                if room.look().machine().config().confirmation.fingerprint_length > 0 {
                    self.note_recognition(channel, directory, &transition);
                }
                log(channel, directory, &transition);
                if has_listeners {
                    self.publish(channel, directory, &transition);
                }
            }
            Announcement::Missed(changes) => {
                tracing::warn!(%channel, changes, "listeners are not told of older changes: the store took none of them for too long");
                // It is no error if no listener exists.
                let _ = self.events.send(EventOrLag::Lagged(changes));
            }
        }
    }

    fn publish_lost(&self, channel: ChannelId, directory: &Directory, lost: &Lost) {
        let Lost { agent, run, posted, parts, failure } = *lost;
        let agent = directory.name(agent).cloned().unwrap_or_else(|| "unknown".into());
        let lost = LostReply { channel, agent, run, posted, parts, failure };
        // As above.
        let _ = self.events.send(EventOrLag::ReplyLost(lost));
    }

    fn note_recognition(&self, channel: ChannelId, directory: &Directory, transition: &Transition) {
        // An observed agent's host reports no text that could be recognised.
        if transition.agent.is_some_and(|agent| directory.observed(agent).is_some()) {
            return;
        }
        if let Some(replies) = self.recognition.note(transition) {
            let agent = transition.agent.and_then(|key| directory.name(key));
            let agent = agent.map_or("unknown", |name| name.as_str());
            tracing::warn!(
                %channel,
                %agent,
                replies,
                "an agent's replies are not recognised in what it posts: each turn waits until the agent is quiet. \
                 Report the text that is posted, or the ids of the messages"
            );
        }
    }

    fn publish(&self, channel: ChannelId, directory: &Directory, transition: &Transition) {
        let agent = transition.agent.and_then(|key| directory.name(key)).cloned();
        let event = ChannelEvent { channel, agent, transition: *transition };
        let _ = self.events.send(EventOrLag::Transition(event));
    }
}

/// Returns the log line of a cause that an operator should know.
#[expect(clippy::wildcard_enum_match_arm, reason = "what is not named here is no trouble")]
const fn trouble(cause: Cause) -> Option<&'static str> {
    Some(match cause {
        Cause::Retriggered => "an agent has not started in time and is woken once more",
        Cause::StartTimedOut => "an agent has not started in time and is skipped",
        Cause::RunTimedOut => "a run took too long: its agent is skipped",
        Cause::RunFailed => "a run broke off",
        Cause::RunLost => "a run was lost with the process that ran it",
        Cause::SignalMissing => "an agent has not told the end of its turn: it is skipped",
        Cause::DeliveryTimedOut => "a reply was not seen in time: the next agent has its turn",
        Cause::Undelivered => "a reply could not be delivered",
        Cause::Unanswered => "no agent has answered: the channel is dormant",
        _ => return None,
    })
}

/// Returns whether the cause explains why a healthy channel is silent, or what a person did to it. Operators look for
/// these in the log of a silent bot.
const fn is_news(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::Stopped
            | Cause::Held
            | Cause::Resumed
            | Cause::Finished
            | Cause::Concluded
            | Cause::Archived
            | Cause::ModeChanged
            | Cause::AllPassed
            | Cause::Repeated
    )
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the others are named by their cause")]
const fn news(cause: Cause) -> &'static str {
    match cause {
        Cause::AllPassed => {
            "no agent has anything to add: the channel sleeps until a person writes"
        }
        Cause::Repeated => "a reply said nothing new and was held back",
        _ => cause.as_str(),
    }
}

/// Logs a transition. Agents are named by their ids, and `was` shows what an agent was doing.
fn log(channel: ChannelId, directory: &Directory, transition: &Transition) {
    let Transition { from, to, cause, turn, .. } = *transition;
    let agent = || transition.agent.and_then(|key| directory.name(key)).map(AgentId::as_str);
    // The failure of a hosted agent was logged when its call returned.
    let is_told = || {
        cause == Cause::RunFailed
            && transition.agent.is_some_and(|agent| directory.is_hosted(agent))
    };
    if let Some(what) = trouble(cause).filter(|_| !is_told()) {
        let (was, turn) = (from.as_str(), turn.get());
        tracing::warn!(%channel, agent = agent(), turn, was, "{what}");
    } else if is_news(cause) {
        tracing::info!(%channel, agent = agent(), was = from.as_str(), is = to.as_str(), "{}", news(cause));
    } else {
        tracing::debug!(%channel, agent = agent(), turn = turn.get(), was = from.as_str(), is = to.as_str(), "{}", cause.as_str());
    }
}
