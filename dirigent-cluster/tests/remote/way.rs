//! A way between processes that loses, doubles and delays what it carries, and that can be cut.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::{Clock, async_trait};
use dirigent_relay::{CarryError, HostId, InProcess, Relay};
use dirigent_testkit::{ManualClock, Random};

use super::fixture::named;

/// What befalls questions and answers, out of a thousand.
#[derive(Clone, Copy, Default)]
pub(crate) struct Faults {
    pub(crate) lost: u64,
    pub(crate) doubled: u64,
    pub(crate) delayed: u64,
}

/// All ways of the processes. Clones share the state.
#[derive(Clone)]
pub(crate) struct Ways {
    relay: InProcess,
    clock: ManualClock,
    state: Arc<Mutex<WayFaults>>,
}

struct WayFaults {
    random: Random,
    faults: Faults,
    /// Processes from and to which nothing goes.
    cut: BTreeSet<HostId>,
}

/// What becomes of one question.
#[derive(Clone, Copy)]
struct Fate {
    is_question_lost: bool,
    is_answer_lost: bool,
    is_doubled: bool,
    there: Duration,
    back: Duration,
}

impl Ways {
    pub(crate) fn new(relay: &InProcess, clock: &ManualClock, seed: u64) -> Self {
        let (random, faults) = (Random::new(seed), Faults::default());
        let state = Arc::new(Mutex::new(WayFaults { random, faults, cut: BTreeSet::new() }));
        Self { relay: relay.clone(), clock: clock.clone(), state }
    }

    /// The way of one process to all others.
    pub(crate) fn of(&self, name: &str) -> Arc<dyn Relay> {
        Arc::new(Way { ways: self.clone(), from: named(name) })
    }

    pub(crate) fn set(&self, faults: Faults) {
        self.state.lock().unwrap().faults = faults;
    }

    /// Nothing reaches the process, and nothing leaves it.
    pub(crate) fn cut(&self, name: &str) {
        self.state.lock().unwrap().cut.insert(named(name));
    }

    pub(crate) fn mend(&self, name: &str) {
        self.state.lock().unwrap().cut.remove(&named(name));
    }

    fn is_cut(&self, one: &HostId, other: &HostId) -> bool {
        let state = self.state.lock().unwrap();
        state.cut.contains(one) || state.cut.contains(other)
    }

    fn fate(&self) -> Fate {
        let mut state = self.state.lock().unwrap();
        let Faults { lost, doubled, delayed } = state.faults;
        let random = &mut state.random;
        let is_question_lost = random.below(1_000) < lost;
        let is_answer_lost = random.below(1_000) < lost;
        let is_doubled = random.below(1_000) < doubled;
        let mut delay = || {
            let is_delayed = random.below(1_000) < delayed;
            Duration::from_millis(if is_delayed { random.between(1, 2_500) } else { 0 })
        };
        let (there, back) = (delay(), delay());
        Fate { is_question_lost, is_answer_lost, is_doubled, there, back }
    }

    async fn wait(&self, by: Duration) {
        if !by.is_zero() {
            self.clock.sleep_until(self.clock.now() + by).await;
        }
    }
}

struct Way {
    ways: Ways,
    from: HostId,
}

#[async_trait]
impl Relay for Way {
    async fn carry(&self, to: &HostId, rule: &str, bytes: Vec<u8>) -> Result<Vec<u8>, CarryError> {
        let ways = self.ways.clone();
        let fate = ways.fate();
        if fate.is_question_lost || ways.is_cut(&self.from, to) {
            return std::future::pending().await;
        }
        let (to, rule, from) = (to.clone(), rule.to_owned(), self.from.clone());
        // What is under way arrives whether it is waited for or not.
        let carrying = tokio::spawn(async move {
            ways.wait(fate.there).await;
            if ways.is_cut(&from, &to) {
                return std::future::pending().await;
            }
            let answer = ways.relay.carry(&to, &rule, bytes.clone()).await;
            if fate.is_doubled {
                ways.wait(fate.back).await;
                let _ = ways.relay.carry(&to, &rule, bytes).await;
            }
            ways.wait(fate.back).await;
            if fate.is_answer_lost || ways.is_cut(&from, &to) {
                return std::future::pending().await;
            }
            answer
        });
        carrying.await.unwrap_or_else(|_| Err(CarryError::no_answer("the process ended")))
    }
}
