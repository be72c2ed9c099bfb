//! What was seen before: message ids and runs, so that a repetition has no effect.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::{MessageId, RunId};

/// How many message ids are remembered one by one.
pub(crate) const MESSAGES_MAX: usize = 256;
/// How many runs are remembered.
pub(crate) const RUNS_MAX: usize = 32;

/// The ids and runs of late. An idle channel has forgotten all but two numbers.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Seen {
    /// Everything up to here counts as seen, unless it was read late from the history.
    horizon: Option<MessageId>,
    /// The newest message, of any author.
    newest: Option<MessageId>,
    /// What is remembered one by one; none when everything was forgotten.
    recent: Option<Box<Recent>>,
}

/// What is remembered one by one.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Recent {
    /// Ids, ascending.
    pub(crate) messages: VecDeque<MessageId>,
    /// Runs that were answered, oldest first.
    pub(crate) runs: VecDeque<(RunId, RunFate)>,
}

/// What became of a run that can no longer speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a run that cannot speak either did or never may")]
pub enum RunFate {
    /// It was denied.
    Denied,
    /// It ended, was replaced, or was cancelled.
    Ended,
}

impl Seen {
    pub(crate) const fn newest(&self) -> Option<MessageId> {
        self.newest
    }

    pub(crate) const fn horizon(&self) -> Option<MessageId> {
        self.horizon
    }

    pub(crate) const fn is_forgotten(&self) -> bool {
        self.recent.is_none()
    }

    /// Notes that this message exists, without remembering it as seen.
    pub(crate) fn note(&mut self, id: MessageId) {
        self.newest = self.newest.max(Some(id));
    }

    /// Remembers a message; `false` when it was seen before. In order of arrival this appends. What
    /// was read late from the history may lie below the horizon.
    pub(crate) fn remember(&mut self, id: MessageId, backfilled: bool) -> bool {
        if !backfilled && self.horizon >= Some(id) {
            return false;
        }
        self.note(id);
        let messages = &mut self.recent.get_or_insert_default().messages;
        let Err(at) = messages.binary_search(&id) else {
            return false;
        };
        if messages.len() < MESSAGES_MAX {
            messages.insert(at, id);
        } else if at == 0 {
            self.horizon = self.horizon.max(Some(id));
        } else {
            self.horizon = self.horizon.max(messages.pop_front());
            messages.insert(at - 1, id);
        }
        true
    }

    pub(crate) fn run(&self, run: RunId) -> Option<RunFate> {
        let runs = &self.recent.as_ref()?.runs;
        runs.iter().rev().find(|(known, _)| *known == run).map(|(_, fate)| *fate)
    }

    /// Remembers what became of a run; the newest word counts.
    pub(crate) fn remember_run(&mut self, run: RunId, fate: RunFate) {
        let known = self.run(run);
        if known == Some(fate) {
            return;
        }
        let runs = &mut self.recent.get_or_insert_default().runs;
        if known.is_some() {
            runs.retain(|(other, _)| *other != run);
        } else if runs.len() >= RUNS_MAX {
            runs.pop_front();
        }
        runs.push_back((run, fate));
    }

    /// Gives the memory back: everything up to the newest message counts as seen.
    pub(crate) fn forget(&mut self) {
        self.recent = None;
        self.horizon = self.newest;
    }

    pub(crate) fn messages(&self) -> impl Iterator<Item = MessageId> + '_ {
        self.recent.iter().flat_map(|recent| recent.messages.iter().copied())
    }

    /// Writes down what is remembered one by one, reusing the buffers.
    pub(crate) fn write(&self, messages: &mut Vec<MessageId>, runs: &mut Vec<(RunId, RunFate)>) {
        messages.clear();
        runs.clear();
        if let Some(recent) = &self.recent {
            let (front, back) = recent.messages.as_slices();
            messages.reserve(recent.messages.len());
            messages.extend_from_slice(front);
            messages.extend_from_slice(back);
            let (front, back) = recent.runs.as_slices();
            runs.reserve(recent.runs.len());
            runs.extend_from_slice(front);
            runs.extend_from_slice(back);
        }
    }

    pub(crate) fn from_parts(
        horizon: Option<MessageId>,
        newest: Option<MessageId>,
        recent: Option<Recent>,
    ) -> Self {
        Self { horizon, newest, recent: recent.map(Box::new) }
    }
}
