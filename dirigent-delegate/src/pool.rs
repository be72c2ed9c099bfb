//! Decides who may run next, as a value. It knows tickets and askers, but not their purpose.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// The number of a request for a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Ticket(u64);

/// The answer to a request for a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// The asker may run now.
    Granted,
    /// The asker waits in the queue.
    Waiting,
    /// The queue is full.
    Full,
}

/// The places of a router: at most `cap` run, and at most `queue` wait. Several askers share both fairly.
///
/// A free place goes to the asker with the fewest running, and among equals in turn. If the queue is full, an asker
/// with few gets room at the cost of one with many. Each asker's tickets get places in the order of asking. There is
/// one exception: a ticket for an agent that does one thing at a time for an asker waits without a place while another
/// of them runs.
#[derive(Debug)]
pub(crate) struct Pool {
    cap: usize,
    queue: usize,
    next: u64,
    running: HashMap<Ticket, (Arc<str>, Option<Single>)>,
    waiting: HashMap<Ticket, (Arc<str>, Option<Single>)>,
    askers: HashMap<Arc<str>, Asker>,
    /// Askers that wait for a free place, by the number of their running tickets and then in turn.
    line: BTreeMap<(usize, u64), Arc<str>>,
    /// Askers that wait, by the number of their waiting tickets.
    crowds: BTreeSet<(usize, Arc<str>)>,
}

/// An agent that does one thing at a time for an asker.
pub(crate) type Single = usize;

/// The tickets of one asker.
#[derive(Debug, Default)]
struct Asker {
    running: usize,
    /// Waiting tickets in the order of asking, which is also the order of their numbers.
    waiting: BTreeSet<(Ticket, Option<Single>)>,
    /// Agents of this kind that work for the asker now.
    busy: BTreeSet<Single>,
    /// The asker with the smallest number comes first.
    turn: u64,
}

impl Asker {
    fn is_busy(&self, single: Option<Single>) -> bool {
        single.is_some_and(|single| self.busy.contains(&single))
    }

    /// Returns the first ticket that could run.
    fn first(&self) -> Option<(Ticket, Option<Single>)> {
        self.waiting.iter().copied().find(|(_, single)| !self.is_busy(*single))
    }

    fn start(&mut self, single: Option<Single>) {
        self.running += 1;
        self.busy.extend(single);
    }
}

impl Pool {
    pub(crate) fn new(cap: usize, queue: usize) -> Self {
        let (running, waiting, askers) = (HashMap::new(), HashMap::new(), HashMap::new());
        let (line, crowds) = (BTreeMap::new(), BTreeSet::new());
        Self { cap, queue, next: 0, running, waiting, askers, line, crowds }
    }

    /// Changes how many may run, without stopping any. Returns those that may start now.
    pub(crate) fn set_cap(&mut self, cap: usize) -> Vec<Ticket> {
        self.cap = cap;
        self.grant()
    }

    /// Asks for a place. Also returns the ticket that lost its place in the queue to this one, if there is one.
    pub(crate) fn claim(
        &mut self,
        who: &Arc<str>,
        single: Option<Single>,
    ) -> (Ticket, Claim, Option<Ticket>) {
        let ticket = Ticket(self.number());
        let is_busy = self.askers.get(who).is_some_and(|asker| asker.is_busy(single));
        if self.running.len() < self.cap && self.line.is_empty() && !is_busy {
            self.running.insert(ticket, (Arc::clone(who), single));
            self.change(who, |asker| asker.start(single));
            return (ticket, Claim::Granted, None);
        }
        let is_full = self.waiting.len() >= self.queue;
        let displaced = if is_full { self.displace_for(who) } else { None };
        if is_full && displaced.is_none() {
            return (ticket, Claim::Full, None);
        }
        let turn = self.number();
        self.waiting.insert(ticket, (Arc::clone(who), single));
        self.change(who, |asker| {
            if asker.waiting.is_empty() {
                asker.turn = turn;
            }
            asker.waiting.insert((ticket, single));
        });
        (ticket, Claim::Waiting, displaced)
    }

    /// Removes the newest ticket of the asker with the most from the queue, if that is fairer.
    fn displace_for(&mut self, who: &Arc<str>) -> Option<Ticket> {
        let own = self.askers.get(who).map_or(0, |asker| asker.waiting.len());
        let (most, crowd) = self.crowds.last().cloned()?;
        // If they differ by one, the two would only swap roles.
        if own + 2 > most {
            return None;
        }
        let (displaced, _) = self.change(&crowd, |asker| asker.waiting.pop_last())?;
        self.waiting.remove(&displaced);
        Some(displaced)
    }

    /// Returns true if this ticket has its place.
    #[cfg(test)]
    pub(crate) fn is_granted(&self, ticket: Ticket) -> bool {
        self.running.contains_key(&ticket)
    }

    /// Gives up a place, or the wait for one. Returns the tickets that may start now.
    pub(crate) fn leave(&mut self, ticket: Ticket) -> Vec<Ticket> {
        if let Some((who, single)) = self.running.remove(&ticket) {
            self.change(&who, |asker| {
                asker.running = asker.running.saturating_sub(1);
                asker.busy.retain(|busy| Some(*busy) != single);
            });
        } else if let Some((who, single)) = self.waiting.remove(&ticket) {
            self.change(&who, |asker| asker.waiting.remove(&(ticket, single)));
        }
        self.grant()
    }

    fn grant(&mut self) -> Vec<Ticket> {
        let mut granted = Vec::new();
        while self.running.len() < self.cap {
            let Some(who) = self.line.values().next().cloned() else {
                break;
            };
            let turn = self.number();
            let ticket = self.change(&who, |asker| {
                let (ticket, single) = asker.first()?;
                asker.waiting.remove(&(ticket, single));
                asker.turn = turn;
                asker.start(single);
                Some(ticket)
            });
            // Each asker in this line has a ticket that could run.
            let Some((ticket, held)) = ticket.and_then(|it| self.waiting.remove_entry(&it)) else {
                break;
            };
            self.running.insert(ticket, held);
            granted.push(ticket);
        }
        granted
    }

    /// Returns a new number that no ticket and no turn has had.
    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Changes an asker, and updates its places in both orders.
    fn change<T>(&mut self, who: &Arc<str>, change: impl FnOnce(&mut Asker) -> T) -> T {
        let asker = self.askers.entry(Arc::clone(who)).or_default();
        if !asker.waiting.is_empty() {
            self.line.remove(&(asker.running, asker.turn));
            self.crowds.remove(&(asker.waiting.len(), Arc::clone(who)));
        }
        let changed = change(asker);
        if asker.first().is_some() {
            self.line.insert((asker.running, asker.turn), Arc::clone(who));
        }
        if !asker.waiting.is_empty() {
            self.crowds.insert((asker.waiting.len(), Arc::clone(who)));
        } else if asker.running == 0 {
            self.askers.remove(who);
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn who(number: usize) -> Arc<str> {
        format!("channel-{number}").into()
    }

    #[test]
    fn places_are_given_in_the_order_of_asking() {
        let mut pool = Pool::new(1, 2);
        let claims: Vec<(Ticket, Claim, _)> = (0..4).map(|_| pool.claim(&who(0), None)).collect();
        let answers: Vec<Claim> = claims.iter().map(|(_, claim, _)| *claim).collect();
        assert_eq!(answers, [Claim::Granted, Claim::Waiting, Claim::Waiting, Claim::Full]);
        assert_eq!(pool.leave(claims[0].0), [claims[1].0]);
        assert!(pool.is_granted(claims[1].0) && !pool.is_granted(claims[2].0));
        assert_eq!(pool.leave(claims[2].0), [], "it only waited");
        assert_eq!(pool.leave(claims[1].0), []);
        assert_eq!(pool.claim(&who(0), None).1, Claim::Granted);
    }

    #[test]
    fn a_greater_cap_lets_those_run_that_wait() {
        let mut pool = Pool::new(1, 9);
        let tickets: Vec<Ticket> = (0..4).map(|_| pool.claim(&who(0), None).0).collect();
        assert_eq!(pool.set_cap(3), tickets[1..3]);
        assert_eq!(pool.set_cap(1), []);
        assert_eq!(pool.leave(tickets[0]), [], "two run still");
    }

    /// DG3: who comes later with little waits for one place, and not for all of who came first with much.
    #[test]
    fn places_go_in_turn_from_asker_to_asker() {
        let mut pool = Pool::new(2, 99);
        let much: Vec<Ticket> = (0..6).map(|_| pool.claim(&who(0), None).0).collect();
        let little: Vec<Ticket> = (0..3).map(|_| pool.claim(&who(1), None).0).collect();
        let third = pool.claim(&who(2), None).0;
        assert_eq!(pool.leave(much[0]), [little[0]], "it has none that runs");
        assert_eq!(pool.leave(much[1]), [much[2]], "of two that have none it came first");
        assert_eq!(pool.leave(much[2]), [third], "it had its turn");
        assert_eq!(pool.leave(third), [much[3]]);
        assert_eq!(pool.leave(little[0]), [little[1]], "the other has one that runs");
        assert_eq!(pool.leave(little[1]), [little[2]]);
        assert_eq!(pool.leave(little[2]), [much[4]]);
    }

    /// DG3: a queue that one asker has filled is not full for another.
    #[test]
    fn in_a_full_queue_there_is_room_for_who_has_less() {
        let mut pool = Pool::new(1, 4);
        let much: Vec<Ticket> = (0..5).map(|_| pool.claim(&who(0), None).0).collect();
        let (one, claim, displaced) = pool.claim(&who(1), None);
        assert_eq!((claim, displaced), (Claim::Waiting, Some(much[4])), "the newest makes room");
        let (_, claim, displaced) = pool.claim(&who(1), None);
        assert_eq!((claim, displaced), (Claim::Waiting, Some(much[3])));
        assert_eq!(pool.claim(&who(1), None).1, Claim::Full, "it has as many now");
        assert_eq!(pool.claim(&who(0), None).1, Claim::Full);
        assert_eq!(pool.claim(&who(2), None).1, Claim::Waiting, "but this one has none");
        assert_eq!(pool.leave(much[0]), [much[1]]);
        assert_eq!(pool.leave(much[1]), [one]);
        assert!(pool.leave(much[4]).is_empty(), "one that made room has nothing to give back");
    }

    /// DG3: tasks of one session of opencode's server are carried out one after the other, and hold no place meanwhile.
    #[test]
    fn what_waits_for_its_own_agent_holds_no_place() {
        let mut pool = Pool::new(2, 9);
        let [first, second, third] = [(); 3].map(|()| pool.claim(&who(0), Some(7)));
        assert_eq!([first.1, second.1, third.1], [Claim::Granted, Claim::Waiting, Claim::Waiting]);
        let other = pool.claim(&who(0), Some(8));
        assert_eq!(other.1, Claim::Granted, "the place is free for another agent");
        let stranger = pool.claim(&who(1), Some(7));
        assert_eq!(stranger.1, Claim::Waiting, "all places are taken");
        assert_eq!(pool.leave(other.0), [stranger.0], "and the two before it wait for the first");
        assert_eq!(pool.leave(second.0), [], "it only waited");
        assert_eq!(pool.leave(first.0), [third.0]);
    }

    type Held = (usize, Ticket, Option<Single>);

    proptest! {
        /// DG3
        #[test]
        fn the_cap_and_the_queue_hold_and_every_asker_has_a_fair_part(
            cap in 1_usize..5,
            queue in 0_usize..5,
            steps in prop::collection::vec((any::<Option<u8>>(), 0_usize..4, prop::option::of(0_usize..2)), 0..80),
        ) {
            let mut pool = Pool::new(cap, queue);
            let (mut running, mut waiting) = (Vec::new(), Vec::new());
            let count = |all: &[Held], asker| all.iter().filter(|(who, ..)| *who == asker).count();
            let is_busy = |all: &[Held], (who, _, single): Held| single.is_some() && all.iter().any(|other| (other.0, other.2) == (who, single));
            for (step, asker, single) in steps {
                match step {
                    None => {
                        let own = count(&waiting, asker);
                        let most = (0..4).map(|other| count(&waiting, other)).max().unwrap_or(0);
                        let (ticket, claim, displaced) = pool.claim(&who(asker), single);
                        if let Some(displaced) = displaced {
                            let at = waiting.iter().position(|(_, other, _)| *other == displaced).unwrap();
                            let (crowd, ..) = waiting.remove(at);
                            prop_assert_eq!((count(&waiting, crowd) + 1, waiting.len() + 1), (most, queue));
                            prop_assert!(own + 2 <= most && claim == Claim::Waiting);
                            prop_assert!(waiting.iter().all(|(who, other, _)| *who != crowd || *other < displaced));
                        }
                        match claim {
                            Claim::Granted => running.push((asker, ticket, single)),
                            Claim::Waiting => waiting.push((asker, ticket, single)),
                            Claim::Full => prop_assert!(waiting.len() == queue && own + 2 > most),
                        }
                    }
                    Some(at) => {
                        let all: Vec<Ticket> =
                            running.iter().chain(&waiting).map(|(_, ticket, _)| *ticket).collect();
                        if all.is_empty() {
                            continue;
                        }
                        let left = all[usize::from(at) % all.len()];
                        let granted = pool.leave(left);
                        running.retain(|(_, ticket, _)| *ticket != left);
                        waiting.retain(|(_, ticket, _)| *ticket != left);
                        for ticket in granted {
                            let at = waiting.iter().position(|(_, other, _)| *other == ticket).unwrap();
                            let (asker, ..) = waiting[at];
                            let mut before = waiting[..at].iter().filter(|(other, ..)| *other == asker);
                            let is_first = before.all(|held| is_busy(&running, *held));
                            prop_assert!(is_first, "an asker's own go in order");
                            let able = waiting.iter().filter(|held| !is_busy(&running, **held));
                            let fewest = able.map(|(who, ..)| count(&running, *who)).min();
                            prop_assert_eq!(Some(count(&running, asker)), fewest, "who has least is next");
                            running.push(waiting.remove(at));
                        }
                    }
                }
                prop_assert!(running.len() <= cap && waiting.len() <= queue);
                let able = waiting.iter().any(|held| !is_busy(&running, *held));
                prop_assert!(!able || running.len() == cap, "no place stays empty");
                let singles: Vec<_> = running.iter().filter_map(|(who, _, single)| single.map(|it| (who, it))).collect();
                prop_assert_eq!(singles.len(), singles.iter().collect::<BTreeSet<_>>().len());
                prop_assert!(running.iter().all(|(_, ticket, _)| pool.is_granted(*ticket)));
                prop_assert!(waiting.iter().all(|(_, ticket, _)| !pool.is_granted(*ticket)));
                let askers = (0..4).filter(|asker| count(&running, *asker) + count(&waiting, *asker) > 0);
                prop_assert_eq!(pool.askers.len(), askers.count(), "who has nothing is forgotten");
            }
        }
    }
}
