//! The shortest way to a failure.

use std::sync::Arc;

use dirigent_core::Config;
use dirigent_testkit::worlds::shrink;

use super::Step;
use super::trace::Trace;
use super::walk::Walk;

/// Leaves out steps, pauses and unusual rules as long as the rest still fails, and returns what is left with its failure. Steps
/// that depend on those before them become the inputs that they came to, because otherwise few could be left out.
///
/// `fails` says how a list of steps fails, and `None` if it does not. The result is `None` if the whole does not fail.
///
/// ```
/// use std::sync::Arc;
/// use dirigent_core::{Config, Input};
/// use dirigent_verify::check::{Step, check, minimize};
///
/// let usual = Arc::new(Config::default());
/// let steps = [Step::Restart, Step::DeadlineTick, Step::Restart];
/// let ticks = |config: &Arc<Config>, seed, steps: &[Step]| {
///     let report = check(config, seed, steps).ok()?;
///     (report.count("phase", "disabled") > 0).then_some("it ticks")
/// };
/// let (_, shortest, why) = minimize(&usual, 1, &steps, ticks).expect("it ticks");
/// assert_eq!((shortest, why), (vec![Step::input(0, Input::Tick)], "it ticks"));
///
/// let differs = |config: &Arc<Config>, seed, steps: &[Step]| check(config, seed, steps).err();
/// assert!(minimize(&usual, 1, &steps, differs).is_none());
/// ```
pub fn minimize<F>(
    config: &Arc<Config>,
    seed: u64,
    steps: &[Step],
    fails: impl Fn(&Arc<Config>, u64, &[Step]) -> Option<F>,
) -> Option<(Arc<Config>, Vec<Step>, F)> {
    let failure = fails(config, seed, steps)?;
    let mut shortest =
        Shortest { config: Arc::clone(config), seed, steps: steps.to_vec(), failure, fails };
    loop {
        let before = (Arc::clone(&shortest.config), shortest.steps.clone());
        shortest.leave_out_steps();
        shortest.write_out();
        shortest.leave_out_pauses();
        shortest.leave_out_rules();
        if before == (Arc::clone(&shortest.config), shortest.steps.clone()) {
            return Some((shortest.config, shortest.steps, shortest.failure));
        }
    }
}

/// What still fails.
struct Shortest<F, C> {
    config: Arc<Config>,
    seed: u64,
    steps: Vec<Step>,
    failure: F,
    fails: C,
}

impl<F, C: Fn(&Arc<Config>, u64, &[Step]) -> Option<F>> Shortest<F, C> {
    /// Takes these instead if they fail as well.
    fn offer(&mut self, config: Config, steps: Vec<Step>) {
        let config = Arc::new(config);
        if let Some(failure) = (self.fails)(&config, self.seed, &steps) {
            (self.config, self.steps, self.failure) = (config, steps, failure);
        }
    }

    /// Leaves out steps until each that is left is needed.
    fn leave_out_steps(&mut self) {
        let Self { config, seed, steps, failure, fails } = self;
        *steps = shrink(std::mem::take(steps), |fewer| {
            *failure = fails(config, *seed, fewer)?;
            Some(fewer.len())
        });
    }

    /// Makes inputs of the steps that depend on those before them.
    fn write_out(&mut self) {
        let mut walk = Walk::new(&self.config, self.seed, Trace::off());
        let steps: Result<_, _> = self.steps.iter().map(|step| walk.write_out(step)).collect();
        if let Ok(steps) = steps {
            self.offer((*self.config).clone(), steps);
        }
    }

    /// Lets steps follow at once.
    fn leave_out_pauses(&mut self) {
        for at in 0..self.steps.len() {
            let mut steps = self.steps.clone();
            match steps.get_mut(at) {
                Some(Step::Input { after, .. } | Step::Act { after, .. }) if *after != 0 => {
                    *after = 0;
                }
                _ => continue,
            }
            self.offer((*self.config).clone(), steps);
        }
    }

    /// Goes back to the usual rules, one by one.
    fn leave_out_rules(&mut self) {
        let usual = Config::default();
        for reset in RESETS {
            let mut config = (*self.config).clone();
            reset(&mut config, &usual);
            // One rule may have to go back before another one can: the next round tries both again.
            if config != *self.config && config.validate().is_ok() {
                self.offer(config, self.steps.clone());
            }
        }
    }
}

/// Makes one rule what it is in other rules.
type Reset = fn(&mut Config, &Config);

/// Every rule by itself.
const RESETS: [Reset; 48] = [
    |to, from| *to = from.clone(),
    |to, from| to.confirmation.fingerprint_length = from.confirmation.fingerprint_length,
    |to, from| to.confirmation.delivery_timeout = from.confirmation.delivery_timeout,
    |to, from| to.confirmation.quiet_period = from.confirmation.quiet_period,
    |to, from| to.confirmation.any_message_fallback = from.confirmation.any_message_fallback,
    |to, from| to.confirmation.poll_first = from.confirmation.poll_first,
    |to, from| to.confirmation.poll_interval = from.confirmation.poll_interval,
    |to, from| to.confirmation.poll_interval_max = from.confirmation.poll_interval_max,
    |to, from| to.deadlines.start = from.deadlines.start,
    |to, from| to.deadlines.retriggers = from.deadlines.retriggers,
    |to, from| to.deadlines.run = from.deadlines.run,
    |to, from| to.confirmation.late_grace = from.confirmation.late_grace,
    |to, from| to.members.refresh_deadline = from.members.refresh_deadline,
    |to, from| to.members.list_fresh = from.members.list_fresh,
    |to, from| to.members.recount_interval = from.members.recount_interval,
    |to, from| to.order.shuffle_first = from.order.shuffle_first,
    |to, from| to.people.interrupt = from.people.interrupt,
    |to, from| to.people.bots_qualify = from.people.bots_qualify,
    |to, from| to.trigger_cleanup = from.trigger_cleanup,
    |to, from| to.ceilings.chat.turns = from.ceilings.chat.turns,
    |to, from| to.ceilings.chat.cycles = from.ceilings.chat.cycles,
    |to, from| to.ceilings.discussion.turns = from.ceilings.discussion.turns,
    |to, from| to.ceilings.discussion.cycles = from.ceilings.discussion.cycles,
    |to, from| to.ceilings.discussion_time = from.ceilings.discussion_time,
    |to, from| to.discussion.overdue_archive_after = from.discussion.overdue_archive_after,
    |to, from| to.discussion.reminder_interval = from.discussion.reminder_interval,
    |to, from| to.members.forget_after = from.members.forget_after,
    |to, from| to.order.continuations = from.order.continuations,
    |to, from| to.deadlines.turn = from.deadlines.turn,
    |to, from| to.deadlines.slow_after = from.deadlines.slow_after,
    |to, from| to.announce_timeouts = from.announce_timeouts,
    |to, from| to.announce_offline = from.announce_offline,
    |to, from| to.order.auto_requeue = from.order.auto_requeue,
    |to, from| to.order.single_agent = from.order.single_agent,
    |to, from| to.people.human_interrupt = from.people.human_interrupt,
    |to, from| to.people.consult_deadline = from.people.consult_deadline,
    |to, from| to.deadlines.outage_max = from.deadlines.outage_max,
    |to, from| to.order.wake_rule = from.order.wake_rule,
    |to, from| to.order.skip_passed = from.order.skip_passed,
    |to, from| to.order.skip_last_speaker = from.order.skip_last_speaker,
    |to, from| to.people.mentions = from.people.mentions,
    |to, from| to.budget.agent_turns_per_hour = from.budget.agent_turns_per_hour,
    |to, from| to.budget.turns = from.budget.turns,
    |to, from| to.budget.cycles = from.budget.cycles,
    |to, from| to.budget.cost = from.budget.cost,
    |to, from| to.people.acknowledge = from.people.acknowledge,
    |to, from| to.people.settle = from.people.settle,
    |to, from| to.people.withdraw_deleted = from.people.withdraw_deleted,
];

#[cfg(test)]
mod tests {
    use super::super::config_from_bytes;
    use super::*;
    use dirigent_testkit::Random;

    #[test]
    fn every_rule_can_go_back_by_itself() {
        let mut random = Random::new(1);
        for _ in 0..1_000 {
            let mut config = config_from_bytes(random.draw().to_le_bytes());
            config.confirmation.poll_interval_max += config.confirmation.poll_interval;
            let usual = Config::default();
            for reset in RESETS.iter().skip(1) {
                reset(&mut config, &usual);
            }
            assert_eq!(config, usual);
        }
    }
}
