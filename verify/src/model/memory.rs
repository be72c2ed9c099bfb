//! Which messages and runs a channel remembers (rules 10, 21, 41).

use std::collections::BTreeSet;

use dirigent_core::{MessageId, RunId, Timestamp};

use super::Model;
use super::state::Fate;

/// Message ids remembered at most.
const IDS_MAX: usize = 256;
/// Runs remembered at most.
const RUNS_MAX: usize = 32;

/// What was seen.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    /// The newest message ever seen.
    pub(super) newest: Option<MessageId>,
    /// The most recent ids.
    pub(super) ids: BTreeSet<MessageId>,
    /// Everything not above it counts as seen.
    pub(super) horizon: Option<MessageId>,
    /// The most recent runs, oldest first.
    pub(super) runs: Vec<(RunId, Fate)>,
    /// When something was last remembered.
    pub(super) since: Timestamp,
    /// Whether a reply's piece or its end was kept since the last forgetting.
    pub(super) reply_kept: bool,
}

impl Memory {
    /// Rule 21: whether the message was seen before.
    pub(super) fn has_seen(&self, id: MessageId) -> bool {
        self.ids.contains(&id) || self.horizon.is_some_and(|horizon| id <= horizon)
    }

    /// Rule 73: whether the message is a repetition; what was read late may lie below the horizon.
    pub(super) fn knows(&self, id: MessageId, backfilled: bool) -> bool {
        if backfilled { self.ids.contains(&id) } else { self.has_seen(id) }
    }

    /// Keeps the newest id only.
    pub(super) fn note_newest(&mut self, id: MessageId) {
        self.newest = self.newest.max(Some(id));
    }

    /// Rule 21: remembers an id; beyond the limit the lowest is dropped and becomes the horizon.
    pub(super) fn remember(&mut self, id: MessageId, now: Timestamp) {
        if self.has_seen(id) {
            self.note_newest(id);
        } else {
            self.keep(id, now);
        }
    }

    /// Rule 73: remembers an id, whatever the horizon.
    pub(super) fn keep(&mut self, id: MessageId, now: Timestamp) {
        self.note_newest(id);
        self.ids.insert(id);
        self.since = now;
        if self.ids.len() > IDS_MAX {
            let lowest = self.ids.pop_first();
            self.horizon = self.horizon.max(lowest);
        }
    }

    /// Rule 10: what became of a run.
    pub(super) fn fate(&self, run: RunId) -> Option<Fate> {
        let found = self.runs.iter().find(|(known, _)| *known == run);
        found.map(|(_, fate)| *fate)
    }

    /// Rule 10: remembers a run; the oldest beyond the limit is dropped.
    pub(super) fn remember_run(&mut self, run: RunId, fate: Fate, now: Timestamp) {
        self.runs.retain(|(known, _)| *known != run);
        self.runs.push((run, fate));
        self.since = now;
        if self.runs.len() > RUNS_MAX {
            self.runs.remove(0);
        }
    }

    /// Rule 41: whether there is anything to forget.
    pub(super) fn is_empty(&self) -> bool {
        self.ids.is_empty() && self.runs.is_empty() && !self.reply_kept
    }

    /// Rule 41: forgets all; everything up to the newest id counts as seen from now on.
    pub(super) fn forget(&mut self) {
        self.ids.clear();
        self.runs.clear();
        self.horizon = self.horizon.max(self.newest);
        self.reply_kept = false;
    }
}

impl Model {
    /// Remembers that a run, where it has a name, ended.
    pub(super) fn remember_ended(&mut self, run: Option<RunId>) {
        if let Some(run) = run {
            self.memory.remember_run(run, Fate::Ended, self.now);
        }
    }

    /// Rule 41: when an idle channel forgets.
    pub(super) fn forget_due(&self) -> Option<Timestamp> {
        let idle = self.phase.is_idle() && !self.memory.is_empty();
        let since = self.phase_since.max(self.memory.since);
        idle.then(|| since + self.config.members.forget_after)
    }
}
