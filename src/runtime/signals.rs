//! Performs the instant actions of a room, under its lock.

use std::sync::Arc;

use dirigent_core::{AgentKey, MessageId, Timestamp, Transition};

use super::Runtime;
use super::cell::CellState;
use crate::ChannelId;
use crate::events::ChannelEvent;
use crate::room::action::{ActionId, Signal};
use crate::room::context::Context;
use crate::room::directory::Directory;

impl Runtime {
    /// Returns whether there were any.
    pub(super) fn perform_signals(
        &self,
        state: &mut CellState,
        cx: &Context<'_>,
        now: Timestamp,
    ) -> bool {
        let mut any = false;
        while let Some(signal) = state.room.next_signal() {
            any = true;
            match signal {
                Signal::Publish(transition) => {
                    self.publish(state.room.id(), cx.directory, transition);
                }
                Signal::Cancel(run) => {
                    tracing::debug!(channel = %state.room.id(), "a run is cancelled");
                    if let Some((.., link)) = state.links.iter().find(|(known, ..)| *known == run) {
                        link.cancel();
                    }
                }
                Signal::Drop(id) | Signal::DropConsult(id) => state.abort(id),
                Signal::Pause(rests) => {
                    if let Some((.., link)) = state.links.last() {
                        link.pause(rests);
                    }
                }
                Signal::Slow => {
                    if let Some((.., link)) = state.links.last() {
                        link.mark_slow();
                    }
                }
                Signal::Inject { agent, messages, is_all } => {
                    let link = state.links.last().map(|(.., link)| Arc::clone(link));
                    let total = messages.len();
                    let ids = messages.into_iter().map_while(|message| {
                        let id = message.id;
                        link.as_ref().is_some_and(|link| link.inject(message)).then_some(id)
                    });
                    let handed: Vec<MessageId> = ids.collect();
                    state.room.injected(agent, &handed, is_all && handed.len() == total);
                }
                Signal::TellDeferred { key, turn } => {
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
        any
    }

    fn publish(&self, channel: ChannelId, directory: &Directory, transition: Transition) {
        tracing::debug!(
            %channel,
            from = transition.from.as_str(),
            to = transition.to.as_str(),
            cause = transition.cause.as_str(),
            agent = transition.agent.map(AgentKey::get),
            turn = transition.turn.get(),
        );
        if self.events.receiver_count() > 0 {
            let agent = transition.agent.and_then(|key| directory.name(key)).cloned();
            // A channel without a listener is fine.
            let _ = self.events.send(ChannelEvent { channel, agent, transition });
        }
    }
}

impl CellState {
    fn abort(&mut self, id: ActionId) {
        if let Some((_, handle)) = self.aborts.iter().find(|(known, _)| *known == id) {
            handle.abort();
        }
    }
}
