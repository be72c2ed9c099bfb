//! Who of those that want to run may: a value. It knows tickets, not what they are for.

use std::collections::{BTreeSet, HashSet};

/// A place that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Ticket(u64);

/// The answer to who asks for a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// It may run now.
    Granted,
    /// It stands in the queue.
    Waiting,
    /// The queue is full.
    Full,
}

/// The places of a router: at most `cap` run, at most `queue` wait, and they get their places in the order in which they asked.
#[derive(Debug)]
pub(crate) struct Pool {
    cap: usize,
    queue: usize,
    next: u64,
    running: HashSet<Ticket>,
    /// In the order of asking, which is the order of their numbers.
    waiting: BTreeSet<Ticket>,
}

impl Pool {
    pub(crate) fn new(cap: usize, queue: usize) -> Self {
        let (running, waiting) = (HashSet::new(), BTreeSet::new());
        Self { cap, queue, next: 0, running, waiting }
    }

    /// Changes how many may run. Those that run go on; returns who may run now.
    pub(crate) fn set_cap(&mut self, cap: usize) -> Vec<Ticket> {
        self.cap = cap;
        self.grant()
    }

    /// Asks for a place.
    pub(crate) fn claim(&mut self) -> (Ticket, Claim) {
        let ticket = Ticket(self.next);
        self.next += 1;
        let claim = if self.running.len() < self.cap && self.waiting.is_empty() {
            self.running.insert(ticket);
            Claim::Granted
        } else if self.waiting.len() < self.queue {
            self.waiting.insert(ticket);
            Claim::Waiting
        } else {
            Claim::Full
        };
        (ticket, claim)
    }

    /// Whether this ticket has its place.
    #[cfg(test)]
    pub(crate) fn is_granted(&self, ticket: Ticket) -> bool {
        self.running.contains(&ticket)
    }

    /// Gives up a place, or the wait for one; returns who may run now.
    pub(crate) fn leave(&mut self, ticket: Ticket) -> Vec<Ticket> {
        if !self.running.remove(&ticket) {
            self.waiting.remove(&ticket);
        }
        self.grant()
    }

    fn grant(&mut self) -> Vec<Ticket> {
        let mut granted = Vec::new();
        while self.running.len() < self.cap {
            let Some(ticket) = self.waiting.pop_first() else {
                break;
            };
            self.running.insert(ticket);
            granted.push(ticket);
        }
        granted
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn places_are_given_in_the_order_of_asking() {
        let mut pool = Pool::new(1, 2);
        let claims: Vec<(Ticket, Claim)> = (0..4).map(|_| pool.claim()).collect();
        let answers: Vec<Claim> = claims.iter().map(|(_, claim)| *claim).collect();
        assert_eq!(answers, [Claim::Granted, Claim::Waiting, Claim::Waiting, Claim::Full]);
        assert_eq!(pool.leave(claims[0].0), [claims[1].0]);
        assert!(pool.is_granted(claims[1].0) && !pool.is_granted(claims[2].0));
        assert_eq!(pool.leave(claims[2].0), [], "it only waited");
        assert_eq!(pool.leave(claims[1].0), []);
        assert_eq!(pool.claim().1, Claim::Granted);
    }

    #[test]
    fn a_greater_cap_lets_those_run_that_wait() {
        let mut pool = Pool::new(1, 9);
        let tickets: Vec<Ticket> = (0..4).map(|_| pool.claim().0).collect();
        assert_eq!(pool.set_cap(3), tickets[1..3]);
        assert_eq!(pool.set_cap(1), []);
        assert_eq!(pool.leave(tickets[0]), [], "two run still");
    }

    proptest! {
        #[test]
        fn the_cap_and_the_queue_hold_and_no_ticket_is_forgotten(
            cap in 1_usize..5,
            queue in 0_usize..5,
            steps in prop::collection::vec(any::<Option<u8>>(), 0..80),
        ) {
            let mut pool = Pool::new(cap, queue);
            let (mut running, mut waiting) = (Vec::new(), VecDeque::new());
            for step in steps {
                match step {
                    None => match pool.claim() {
                        (ticket, Claim::Granted) => running.push(ticket),
                        (ticket, Claim::Waiting) => waiting.push_back(ticket),
                        (_, Claim::Full) => prop_assert_eq!(waiting.len(), queue),
                    },
                    Some(at) => {
                        let all: Vec<Ticket> = running.iter().chain(&waiting).copied().collect();
                        if all.is_empty() {
                            continue;
                        }
                        let left = all[usize::from(at) % all.len()];
                        let granted = pool.leave(left);
                        running.retain(|ticket| *ticket != left);
                        waiting.retain(|ticket| *ticket != left);
                        for ticket in granted {
                            prop_assert_eq!(waiting.pop_front(), Some(ticket), "in order");
                            running.push(ticket);
                        }
                    }
                }
                prop_assert!(running.len() <= cap && waiting.len() <= queue);
                prop_assert!(waiting.is_empty() || running.len() == cap, "no place stays empty");
                prop_assert!(running.iter().all(|ticket| pool.is_granted(*ticket)));
                prop_assert!(waiting.iter().all(|ticket| !pool.is_granted(*ticket)));
            }
        }
    }
}
