//! The shortest way to a failure.

use std::sync::Arc;

use dirigent_core::Config;

use super::trace::Trace;
use super::{Failure, Step, attempt, check};

/// Leaves out steps, pauses and unusual rules as long as the check still fails, and returns what is
/// left with its failure; `None` when the steps do not fail at all.
///
/// ```
/// use std::sync::Arc;
/// use dirigent_core::Config;
/// use dirigent_verify::check::{Step, minimize};
/// assert!(minimize(&Arc::new(Config::default()), 1, &[Step::DeadlineTick]).is_none());
/// ```
pub fn minimize(
    config: &Arc<Config>,
    seed: u64,
    steps: &[Step],
) -> Option<(Arc<Config>, Vec<Step>, Failure)> {
    let failure = attempt(config, seed, steps, Trace::off()).err()?;
    let mut shortest =
        Shortest { config: Arc::clone(config), seed, steps: steps.to_vec(), failure };
    loop {
        let before = (Arc::clone(&shortest.config), shortest.steps.clone());
        shortest.leave_out_steps();
        shortest.leave_out_pauses();
        shortest.leave_out_rules();
        if before == (Arc::clone(&shortest.config), shortest.steps.clone()) {
            let traced = check(&shortest.config, seed, &shortest.steps).err();
            return Some((shortest.config, shortest.steps, traced.unwrap_or(shortest.failure)));
        }
    }
}

/// What still fails.
struct Shortest {
    config: Arc<Config>,
    seed: u64,
    steps: Vec<Step>,
    failure: Failure,
}

impl Shortest {
    /// Takes these instead if they fail as well.
    fn offer(&mut self, config: Config, steps: Vec<Step>) -> bool {
        let config = Arc::new(config);
        let Err(failure) = attempt(&config, self.seed, &steps, Trace::off()) else {
            return false;
        };
        self.config = config;
        self.steps = steps;
        self.steps.truncate(failure.step + 1);
        self.failure = failure;
        true
    }

    /// Leaves out halves, quarters and so on, down to single steps.
    fn leave_out_steps(&mut self) {
        let mut chunk = self.steps.len().div_ceil(2).max(1);
        loop {
            let mut start = 0;
            while start < self.steps.len() {
                let kept = self.steps.iter().take(start);
                let rest = self.steps.iter().skip(start + chunk);
                let shorter = kept.chain(rest).cloned().collect();
                if !self.offer((*self.config).clone(), shorter) {
                    start += chunk;
                }
            }
            if chunk == 1 {
                return;
            }
            chunk = chunk.div_ceil(2);
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
const RESETS: [Reset; 47] = [
    |to, from| *to = from.clone(),
    |to, from| to.fingerprint_length = from.fingerprint_length,
    |to, from| to.delivery_timeout = from.delivery_timeout,
    |to, from| to.quiet_period = from.quiet_period,
    |to, from| to.any_message_fallback = from.any_message_fallback,
    |to, from| to.poll_first = from.poll_first,
    |to, from| to.poll_interval = from.poll_interval,
    |to, from| to.poll_interval_max = from.poll_interval_max,
    |to, from| to.start_deadline = from.start_deadline,
    |to, from| to.retriggers = from.retriggers,
    |to, from| to.run_deadline = from.run_deadline,
    |to, from| to.late_grace = from.late_grace,
    |to, from| to.refresh_deadline = from.refresh_deadline,
    |to, from| to.list_fresh = from.list_fresh,
    |to, from| to.recount_interval = from.recount_interval,
    |to, from| to.shuffle_first = from.shuffle_first,
    |to, from| to.interrupt = from.interrupt,
    |to, from| to.bots_qualify = from.bots_qualify,
    |to, from| to.trigger_cleanup = from.trigger_cleanup,
    |to, from| to.turns_max = from.turns_max,
    |to, from| to.cycles_max = from.cycles_max,
    |to, from| to.discussion_turns_max = from.discussion_turns_max,
    |to, from| to.discussion_cycles_max = from.discussion_cycles_max,
    |to, from| to.discussion_time_max = from.discussion_time_max,
    |to, from| to.overdue_archive_after = from.overdue_archive_after,
    |to, from| to.reminder_interval = from.reminder_interval,
    |to, from| to.farewell = from.farewell,
    |to, from| to.bot_notice_interval = from.bot_notice_interval,
    |to, from| to.forget_after = from.forget_after,
    |to, from| to.continuations = from.continuations,
    |to, from| to.turn_deadline = from.turn_deadline,
    |to, from| to.slow_after = from.slow_after,
    |to, from| to.announce_timeouts = from.announce_timeouts,
    |to, from| to.announce_offline = from.announce_offline,
    |to, from| to.auto_requeue = from.auto_requeue,
    |to, from| to.human_interrupt = from.human_interrupt,
    |to, from| to.consult_deadline = from.consult_deadline,
    |to, from| to.outage_max = from.outage_max,
    |to, from| to.wake_rule = from.wake_rule,
    |to, from| to.skip_passed = from.skip_passed,
    |to, from| to.skip_last_speaker = from.skip_last_speaker,
    |to, from| to.mentions = from.mentions,
    |to, from| to.agent_turns_per_hour = from.agent_turns_per_hour,
    |to, from| to.budget_turns = from.budget_turns,
    |to, from| to.budget_cycles = from.budget_cycles,
    |to, from| to.budget_cost = from.budget_cost,
    |to, from| to.acknowledge = from.acknowledge,
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
            config.poll_interval_max += config.poll_interval;
            let usual = Config::default();
            for reset in RESETS.iter().skip(1) {
                reset(&mut config, &usual);
            }
            assert_eq!(config, usual);
        }
    }
}
