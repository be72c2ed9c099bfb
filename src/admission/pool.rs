//! Limits how many actions of a kind run at once, in all and for each agent.

use rustc_hash::FxHashMap;

use super::claim::AccountKey;
use super::line::Line;
use crate::ChannelId;

/// Places for actions that run at once, with a line before them.
#[derive(Debug)]
pub(super) struct Pool {
    places: Places,
    /// The rooms that wait, each with the account that it waits for.
    line: Line<AccountKey>,
}

#[derive(Debug)]
struct Places {
    max: usize,
    /// The most places of one account. `None` if this is not limited.
    each_max: Option<usize>,
    taken: usize,
    /// The number of places that each account has. It is empty if this is not limited.
    taken_by: FxHashMap<AccountKey, usize>,
}

impl Places {
    fn has_one_for(&self, account: AccountKey) -> bool {
        let taken_by = || self.taken_by.get(&account).copied().unwrap_or_default();
        self.taken < self.max && self.each_max.is_none_or(|max| taken_by() < max)
    }
}

impl Pool {
    pub(super) fn new(max: usize, each_max: Option<usize>) -> Self {
        let each_max = each_max.map(|max| max.max(1));
        let places = Places { max: max.max(1), each_max, taken: 0, taken_by: FxHashMap::default() };
        Self { places, line: Line::default() }
    }

    /// Takes a place, or puts the room in line. A room that waits for an account without a free place does not delay
    /// other accounts.
    pub(super) fn admit(&mut self, room: ChannelId, account: AccountKey) -> bool {
        let Self { places, line } = self;
        let may_go =
            places.has_one_for(account) && line.passes(room, |account| places.has_one_for(account));
        if !may_go {
            line.join(room, account);
            return false;
        }
        places.taken += 1;
        if places.each_max.is_some() {
            *places.taken_by.entry(account).or_default() += 1;
        }
        true
    }

    pub(super) fn release(&mut self, account: AccountKey) {
        let Places { taken, taken_by, .. } = &mut self.places;
        *taken = taken.saturating_sub(1);
        if let Some(by) = taken_by.get_mut(&account) {
            *by = by.saturating_sub(1);
            // Memory depends on the agents that run now, and not on those that ever did.
            if *by == 0 {
                taken_by.remove(&account);
            }
        }
    }

    /// Returns the room that is first in line, if there is a place for it.
    pub(super) fn next(&mut self) -> Option<ChannelId> {
        let Self { places, line } = self;
        line.next(|account| places.has_one_for(account))
    }

    /// Returns whether it is the turn of a room.
    pub(super) fn moves(&self) -> bool {
        self.line.first(|account| self.places.has_one_for(account)).is_some()
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.places.taken + self.line.len()
    }
}
