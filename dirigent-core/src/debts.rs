//! Effects that were asked for and not settled yet.

use alloc::vec::Vec;

use crate::{Effect, Ticket, Timestamp};

/// How many owed effects are remembered; the oldest is forgotten first.
pub(crate) const DEBTS_MAX: usize = 32;

/// An owed effect with the moment it was asked for, from which a nonce can be derived.
///
/// ```
/// use dirigent_core::{Debt, Effect, Ticket, Timestamp};
/// let effect = Effect::FetchMembers { ticket: Ticket::new(1) };
/// let debt = Debt { effect, since: Timestamp::from_millis(9) };
/// assert_eq!(debt.effect.ticket(), Some(Ticket::new(1)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data of a snapshot")]
pub struct Debt {
    /// What is owed.
    pub effect: Effect,
    /// When it was asked for.
    pub since: Timestamp,
}

/// The owed effects, oldest first. Holds no memory while nothing is owed for long.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Debts {
    open: Vec<Debt>,
}

impl Debts {
    pub(crate) const fn from_vec(open: Vec<Debt>) -> Self {
        Self { open }
    }

    pub(crate) fn push(&mut self, effect: Effect, since: Timestamp) {
        if self.open.len() >= DEBTS_MAX {
            self.open.remove(0);
        }
        self.open.push(Debt { effect, since });
    }

    pub(crate) fn settle(&mut self, ticket: Ticket) -> Option<Debt> {
        // What is settled was mostly asked for last.
        let at = self.open.iter().rposition(|debt| debt.effect.ticket() == Some(ticket))?;
        Some(self.open.remove(at))
    }

    pub(crate) fn as_slice(&self) -> &[Debt] {
        &self.open
    }

    /// Gives memory back that is not needed.
    pub(crate) fn shrink(&mut self) {
        self.open.shrink_to_fit();
    }
}
