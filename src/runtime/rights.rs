//! Reads who may write in a channel, as far as the chat's adapter knows it without a request.

use std::sync::Arc;

use dirigent_core::{AgentKey, Input, Timestamp};

use crate::ports::write_bar::{ModeratorLacks, WriteBar};
use crate::room::context::{ChatFacts as _, Context};
use crate::runtime::Runtime;
use crate::runtime::cell::{CellState, RoomCell};
use crate::runtime::host_code::caught;
use crate::values::sync::locked;
use crate::{AgentId, ChannelId, UserId};

impl Runtime {
    /// Returns what surely keeps these accounts from writing in the channel.
    pub(crate) fn write_bars(
        &self,
        channel: ChannelId,
        among: &[UserId],
    ) -> Vec<(UserId, WriteBar)> {
        let bars = || self.discord.write_bars(channel, among);
        caught("who may not write", bars).unwrap_or_default()
    }

    /// Returns the permissions that the library's own account surely lacks in the channel.
    pub(crate) fn own_lacks(&self, channel: ChannelId) -> ModeratorLacks {
        let write_bar = self.write_bar(channel, self.registry.directory().moderator());
        let sees = write_bar.is_none_or(WriteBar::sees_channel);
        // A moderator that does not see the channel cannot read its history either, so one lack is enough.
        let is_history_hidden = sees && self.reads_history(channel) == Some(false);
        ModeratorLacks { write_bar, is_history_hidden }
    }

    /// Logs the permissions that the library's own account lacks in the channel, once until that changes. It includes
    /// channels that are not in memory, because a moderator that does not see a channel hears no message that would
    /// load it.
    pub(crate) fn tell_lacks(&self, channel: ChannelId) {
        let keeps_turns = self.rooms.may_keep_turns(channel);
        let lacks = if keeps_turns { self.own_lacks(channel) } else { ModeratorLacks::NONE };
        let told = {
            // The lock ends before the log line, whose subscriber is the host's code.
            let mut told = locked(&self.lacks);
            let was = told.remove(&channel);
            if lacks != ModeratorLacks::NONE {
                told.insert(channel, lacks);
            }
            was
        };
        if lacks != ModeratorLacks::NONE && told != Some(lacks) {
            tracing::warn!(%channel, "{lacks}");
        }
    }

    pub(crate) fn write_bar(&self, channel: ChannelId, user: Option<UserId>) -> Option<WriteBar> {
        let user = user?;
        let bars = self.write_bars(channel, &[user]);
        bars.into_iter().find(|(one, _)| *one == user).map(|(_, bar)| bar)
    }

    /// Handles that permissions in these channels may have changed. Accounts that stopped asking for a while ask again,
    /// and channels look again. A channel that is not in memory looks when it is loaded. If something waits for an
    /// agent there, it is loaded now.
    pub(crate) fn rights_changed(&self, channels: &[ChannelId]) {
        let hosts = self.registry.hosts().into_iter().map(|(_, discord)| discord);
        for account in hosts.chain([Arc::clone(&self.discord)]) {
            caught("changed rights", || account.rights_changed(channels));
        }
        for channel in channels.iter().filter(|channel| self.rooms.is_known(**channel)) {
            if let Some(room) = self.rooms.awake(*channel) {
                self.tell_rights(&room);
            }
            self.tell_lacks(*channel);
        }
        let waits = |channel: &ChannelId| channels.contains(channel);
        self.catch_up.call(self.rooms.awaiting_agents().into_iter().filter(waits));
    }

    pub(crate) fn tell_rights(&self, cell: &Arc<RoomCell>) {
        self.update_cell(cell, None, |state, cx, now| self.look_at_rights(state, cx, now));
    }

    /// Does so under the cell's lock, so that later news is newer.
    pub(super) fn look_at_rights(&self, state: &mut CellState, cx: &Context<'_>, now: Timestamp) {
        let channel = state.room.id();
        if !state.room.look().machine().view().mode().keeps_turns() {
            return;
        }
        let bars = self.write_bars(channel, &cx.directory.accounts());
        let barred = |(user, bar): (UserId, WriteBar)| {
            // An agent that does not see the channel is not in its list.
            let key = cx.directory.of_user(user).filter(|_| bar.sees_channel());
            key.map(|key| (key, bar))
        };
        // The machine's marks are compared with what holds now, so that each change is reported once.
        let barred: Vec<(AgentKey, WriteBar)> = bars.into_iter().filter_map(barred).collect();
        let known = state.room.look().machine().view().may_not_write().to_vec();
        let name = |agent| cx.directory.name(agent).map(AgentId::as_str);
        for agent in known.iter().map(|known| known.agent) {
            if barred.iter().all(|(one, _)| *one != agent) {
                tracing::info!(%channel, agent = name(agent), "an agent may write again");
                submit(state, cx, now, &Input::MayWrite(agent));
            }
        }
        for (agent, bar) in barred {
            let until = bar.until();
            let was = known.iter().find(|known| known.agent == agent);
            if was.is_none() {
                tracing::warn!(%channel, agent = name(agent), "an agent has no turns here for now: {bar}");
            }
            if was.is_none_or(|was| was.until != until) {
                submit(state, cx, now, &Input::MayNotWrite { agent, until });
            }
        }
    }
}

fn submit(state: &mut CellState, cx: &Context<'_>, now: Timestamp, input: &Input) {
    if let (Err(refusal), _) = state.room.input(cx, now, input, false) {
        let channel = state.room.id();
        tracing::warn!(%channel, %refusal, "a channel refused to take in who may write");
    }
}
