//! The hosts' reports of their agents, and the news for channels.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use dirigent_core::{AgentKey, Input, RunId, Timestamp, TurnId};

use crate::room::Room;
use crate::room::context::Context;
use crate::runtime::Runtime;
use crate::runtime::cell::RoomCell;
use crate::runtime::events::{AgentFailure, EventOrLag, Failed};
use crate::{AgentId, ChannelId};

impl Runtime {
    pub(crate) fn miss_heartbeats(self: &Arc<Self>, now: Timestamp) {
        let silent = self.presence.expire(now);
        for agent in &silent {
            tracing::warn!(agent = %self.registry.log_name(*agent), "an agent's heartbeats are missing: it is offline");
        }
        if !silent.is_empty() {
            self.tell_all();
        }
    }

    /// Handles the end of a hosted agent's call. An agent that fails too often in a row counts as offline.
    pub(crate) fn call_ended(
        self: &Arc<Self>,
        channel: ChannelId,
        (agent, turn, run): (AgentKey, Option<TurnId>, RunId),
        failed: Option<Failed>,
    ) {
        // No lock, because every hosted turn ends here.
        if failed.is_none() && !self.presence.has_failed() {
            return; // The usual case.
        }
        let most = self.settings.hooks.offline_after_failures;
        // A run after a reminder has no turn to show the failure at.
        let of = (agent, turn.map(|turn| (channel, turn)));
        let is_offline = self.presence.call_ended(of, failed.as_ref(), most);
        if let Some(Failed { fault, class }) = failed {
            let agent = self.registry.log_name(agent);
            self.tell_failure(AgentFailure { channel, agent, run, fault, class });
        }
        if is_offline {
            tracing::warn!(agent = %self.registry.log_name(agent), "the calls of an agent fail: it is offline");
            self.tell_all();
        }
    }

    fn tell_failure(&self, failure: AgentFailure) {
        if let Some(hook) = &self.on_agent_error {
            let told = catch_unwind(AssertUnwindSafe(|| hook(&failure)));
            if told.is_err() {
                tracing::error!("the hook for failed agents panicked");
            }
        }
        // It is no error if the host has no listener.
        let _ = self.events.send(EventOrLag::AgentFailed(failure));
    }

    /// Tells every channel in memory, and those that are not and in which something waits for an agent. Otherwise these
    /// would learn it at the next look at the history, which may be never.
    pub(crate) fn tell_all(&self) {
        for room in self.rooms.all_awake() {
            self.tell_news(&room);
        }
        // They come after the others, because a channel that leaves memory in the meantime was told, or is among these.
        self.catch_up.call(self.rooms.awaiting_agents());
    }

    /// Tells a channel in memory its news. The epoch is noted under its lock, so that it misses no change if it leaves
    /// memory in the meantime, and learns of two changes in their order.
    pub(crate) fn tell_news(&self, cell: &Arc<RoomCell>) {
        self.update_cell(cell, None, |state, cx, now| {
            for input in self.presence.news_since(&mut state.epochs.presence) {
                if let Input::Offline(agent) = input {
                    warn_of_turn(&state.room, cx, agent);
                }
                if let (Err(refusal), _) = state.room.input(cx, now, &input, false) {
                    tracing::warn!(channel = %cell.id, %refusal, "a channel refused a change of who is online");
                }
            }
        });
    }
}

/// Warns that an agent goes offline. If it has the floor, its turn is lost.
fn warn_of_turn(room: &Room, cx: &Context<'_>, agent: AgentKey) {
    let view = room.look().machine().view();
    if view.speaker() == Some(agent) {
        let agent = cx.directory.name(agent).map(AgentId::as_str);
        let (was, turn) = (view.phase().as_str(), view.turn().get());
        tracing::warn!(channel = %room.id(), agent, turn, was, "an agent went offline in its turn");
    }
}
