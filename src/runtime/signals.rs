//! Performs the instant actions of a room, under its lock.

use dirigent_core::{AgentKey, MessageId, Timestamp, Transition};

use super::Runtime;
use super::cell::CellState;
use crate::ChannelId;
use crate::agent::TurnLink;
use crate::events::ChannelEvent;
use crate::room::action::Signal;
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
                Signal::Cancel(id) => {
                    tracing::debug!(channel = %state.room.id(), "a run is cancelled");
                    state.link(id).into_iter().for_each(TurnLink::cancel);
                }
                Signal::Drop(id) | Signal::DropConsult(id) => state.abort(id),
                Signal::Pause { id, rests } => {
                    state.link(id).into_iter().for_each(|link| link.pause(rests));
                }
                Signal::Slow(id) => state.link(id).into_iter().for_each(TurnLink::mark_slow),
                Signal::Inject { id, agent, messages, is_all } => {
                    let link = state.link(id);
                    let total = messages.len();
                    let ids = messages.into_iter().map_while(|message| {
                        let id = message.id;
                        link.is_some_and(|link| link.inject(message)).then_some(id)
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
