//! The number of requests that a self-test may send.

use super::trouble::Trouble;

/// The right to send one request. Only a [`Budget`] makes it, and sending uses it up.
pub(crate) struct Ticket(());

impl Ticket {
    /// Uses it up.
    pub(crate) const fn spend(self) {
        let Self(()) = self;
    }
}

/// What is left of the requests.
pub(crate) struct Budget {
    left: u32,
}

impl Budget {
    /// The number of requests of one self-test, its clean-up included.
    pub(crate) const REQUESTS_MAX: u32 = 60;

    pub(crate) const fn new() -> Self {
        Self { left: Self::REQUESTS_MAX }
    }

    /// Takes the right to one request.
    pub(crate) const fn take(&mut self) -> Result<Ticket, Trouble> {
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                Ok(Ticket(()))
            }
            None => Err(Trouble::BudgetSpent),
        }
    }

    /// How many were taken and not given back.
    pub(crate) const fn used(&self) -> u32 {
        Self::REQUESTS_MAX - self.left
    }

    /// Takes a ticket back that was not used.
    pub(crate) const fn give_back(&mut self, Ticket(()): Ticket) {
        self.left += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_ticket_is_left_after_the_last_one() {
        let mut budget = Budget::new();
        let tickets: Vec<_> = (0..Budget::REQUESTS_MAX).map(|_| budget.take().unwrap()).collect();
        assert!(budget.take().is_err());
        tickets.into_iter().take(1).for_each(|ticket| budget.give_back(ticket));
        assert!(budget.take().is_ok());
        assert!(budget.take().is_err());
    }
}
