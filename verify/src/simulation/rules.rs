//! The configurations that a seed chooses from.

use std::sync::Arc;
use std::time::Duration;

use dirigent_core::Config;
use dirigent_core::config::{
    HumanInterrupt, InterruptPolicy, MentionRule, TriggerCleanup, WakeRule,
};
use dirigent_testkit::Random;

/// A configuration, chosen by chance: often the defaults with something changed, now and then a profile of the library as
/// it stands.
pub(super) fn choose(dice: &mut Random) -> Arc<Config> {
    if dice.hits(60_000) {
        let shipped = [Config::default(), Config::seed_literal(), Config::message_flow()];
        return Arc::new(dice.pick(&shipped).unwrap_or_default());
    }
    let mut config = if dice.hits(120_000) { Config::seed_literal() } else { Config::default() };
    if dice.hits(100_000) {
        config.deadlines.start = None;
    }
    if dice.hits(200_000) {
        config.ceilings.chat.turns = Some(1 + u32::try_from(dice.below(7)).unwrap_or(0));
        config.ceilings.discussion.turns = config.ceilings.chat.turns;
    }
    if dice.hits(200_000) {
        config.ceilings.chat.cycles = Some(1 + u32::try_from(dice.below(3)).unwrap_or(0));
        config.ceilings.discussion.cycles = config.ceilings.chat.cycles;
    }
    if dice.hits(200_000) {
        config.ceilings.discussion.cycles = dice.pick(&[1, 2]);
        config.ceilings.discussion_time = dice.pick(&[5, 300, 3_600]).map(Duration::from_secs);
        config.discussion.overdue_archive_after =
            dice.pick(&[1, 60, 1_800]).map(Duration::from_secs);
    }
    if dice.hits(300_000) {
        config.people.interrupt = InterruptPolicy::AdvanceNormally;
    }
    config.people.bots_qualify = dice.hits(300_000);
    config.order.shuffle_first = dice.hits(300_000);
    config.trigger_cleanup = dice
        .pick(&[
            TriggerCleanup::Immediate,
            TriggerCleanup::OnNext,
            TriggerCleanup::After(Duration::from_secs(90)),
            TriggerCleanup::Never,
        ])
        .unwrap_or(TriggerCleanup::Immediate);
    if dice.hits(300_000) {
        config.confirmation.fingerprint_length = dice.pick(&[0, 1, 8, 64]).unwrap_or(40);
    }
    if dice.hits(200_000) {
        config.confirmation.any_message_fallback = !config.confirmation.any_message_fallback;
    }
    if dice.hits(200_000) {
        config.members.list_fresh = dice
            .pick(&[Duration::ZERO, Duration::from_secs(3_600), Duration::MAX])
            .unwrap_or_default();
    }
    if dice.hits(100_000) {
        config.deadlines.retriggers = u8::try_from(dice.below(4)).unwrap_or(0);
    }
    if dice.hits(150_000) {
        hurry(&mut config, dice);
    }
    policies(&mut config, dice);
    Arc::new(config)
}

/// Every policy by itself, in any combination; in some worlds none.
fn policies(config: &mut Config, dice: &mut Random) {
    if dice.hits(250_000) {
        return;
    }
    if dice.hits(400_000) {
        config.order.continuations = u8::try_from(dice.below(4)).unwrap_or(3);
    }
    if dice.hits(300_000) {
        config.deadlines.turn = dice.pick(&[2, 60, 300]).map(Duration::from_secs);
    }
    if dice.hits(300_000) {
        config.deadlines.slow_after = dice.pick(&[1, 5, 60]).map(Duration::from_secs);
    }
    config.announce_timeouts = dice.hits(500_000);
    config.announce_offline = dice.hits(500_000);
    config.order.auto_requeue = dice.hits(500_000);
    let words = [HumanInterrupt::Inject, HumanInterrupt::Queue, HumanInterrupt::Interrupt];
    config.people.human_interrupt = dice.pick(&words).unwrap_or(HumanInterrupt::Inject);
    if dice.hits(300_000) {
        config.people.consult_deadline = Duration::from_millis(dice.between(1, 5_000));
    }
    if dice.hits(500_000) {
        config.order.wake_rule = WakeRule::NextAfterSender;
    }
    if dice.hits(300_000) {
        config.deadlines.outage_max =
            dice.pick(&[1, 30, 600]).map_or(config.deadlines.outage_max, Duration::from_secs);
    }
    config.order.skip_passed = dice.hits(500_000);
    config.order.skip_last_speaker = dice.hits(700_000);
    config.order.single_agent = dice.hits(300_000);
    let mentions = [MentionRule::Ignored, MentionRule::First, MentionRule::Only];
    config.people.mentions = dice.pick(&mentions).unwrap_or(MentionRule::First);
    if dice.hits(200_000) {
        config.budget.agent_turns_per_hour = dice.pick(&[1, 3, 20]);
    }
    if dice.hits(150_000) {
        config.budget.turns = dice.pick(&[1, 5, 100]);
    }
    if dice.hits(150_000) {
        config.budget.cycles = dice.pick(&[1, 5, 50]);
    }
    if dice.hits(150_000) {
        config.budget.cost = dice.pick(&[1, 500, 20_000]);
    }
}

/// Time-outs of milliseconds: whatever is to race, races.
fn hurry(config: &mut Config, dice: &mut Random) {
    let short = Duration::from_millis(dice.between(1, 500));
    config.confirmation.delivery_timeout = short * 4;
    config.confirmation.quiet_period = short;
    config.confirmation.poll_first = short / 2 + Duration::from_millis(1);
    config.confirmation.poll_interval = short;
    config.confirmation.poll_interval_max = short * 2;
    config.deadlines.start = config.deadlines.start.map(|_| short * 3);
    config.deadlines.run = config.deadlines.run.map(|_| short * 10);
    config.members.refresh_deadline = short;
    config.members.recount_interval = short;
    config.confirmation.late_grace = if dice.hits(500_000) { Duration::ZERO } else { short };
    config.discussion.reminder_interval = if dice.hits(500_000) { Duration::ZERO } else { short };
    config.members.forget_after = short * 20;
}

/// How long a turn may take at most, from the trigger to the end of its confirmation, with the
/// reading of the list before it. `None`: for ever.
pub(super) fn turn_timeout(config: &Config) -> Option<Duration> {
    let (start, run) = (config.deadlines.start?, config.deadlines.run?);
    let parts = start * (u32::from(config.deadlines.retriggers) + 1) + run;
    let continued = (start + run) * u32::from(config.order.continuations);
    let fixed = config.confirmation.delivery_timeout
        + config.members.refresh_deadline
        + config.people.consult_deadline;
    Some(parts + continued + fixed)
}

/// The same configuration where people must be quiet for a while, and may take back what they asked.
pub(super) fn quiet(config: &Config, seed: u64) -> Arc<Config> {
    let settle = [0, 300, 2_000, 60_000];
    let place = usize::try_from(seed / 10 % 4).unwrap_or(0);
    let mut config = config.clone();
    config.people.settle = Duration::from_millis(settle.get(place).copied().unwrap_or(0));
    config.people.withdraw_deleted = seed / 40 % 3 != 0;
    Arc::new(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_can_be_obeyed() {
        let mut dice = Random::new(3);
        assert!((0..2_000).all(|_| choose(&mut dice).validate().is_ok()));
    }
}
