//! Every policy that a host may choose, in any combination.

use std::time::Duration;

use dirigent_core::Config;
use dirigent_core::config::{HumanInterrupt, MentionRule, WakeRule};
use dirigent_testkit::Random;

/// Chooses each policy by itself, about half of them as they usually are.
pub(super) fn policies(config: &mut Config, number: u64) {
    let mut random = Random::new(number);
    let mut draw = |choices: u64| random.draw() % choices;
    config.order.continuations = of(draw(6), 3, &[0, 1, 2]);
    config.deadlines.turn = of(draw(6), None, &[Some(1), Some(1_500), Some(60_000)]).map(millis);
    config.deadlines.slow_after =
        of(draw(6), None, &[Some(1), Some(1_000), Some(2_000)]).map(millis);
    config.announce_timeouts = draw(2) == 0;
    config.announce_offline = draw(2) == 0;
    config.order.auto_requeue = draw(2) == 0;
    config.people.human_interrupt = of(
        draw(4),
        HumanInterrupt::Inject,
        &[HumanInterrupt::Queue, HumanInterrupt::Interrupt, HumanInterrupt::Interrupt],
    );
    config.people.consult_deadline = millis(of(draw(4), 30_000, &[1, 1_000]));
    config.deadlines.outage_max = millis(of(draw(4), 3_600_000, &[1, 2_000, 60_000]));
    let next_after = draw(2) == 0;
    config.order.wake_rule =
        if next_after { WakeRule::NextAfterSender } else { WakeRule::FirstInList };
    config.order.skip_passed = draw(2) == 0;
    config.people.mentions =
        of(draw(3), MentionRule::First, &[MentionRule::Only, MentionRule::Ignored]);
    config.order.skip_last_speaker = draw(4) != 0;
    config.budget.agent_turns_per_hour = of(draw(6), None, &[Some(1), Some(2), Some(3)]);
    config.budget.turns = of(draw(8), None, &[Some(1), Some(3), Some(20)]);
    config.budget.cycles = of(draw(8), None, &[Some(1), Some(2), Some(10)]);
    config.people.acknowledge = draw(4) != 0;
    config.people.withdraw_deleted = draw(3) == 0;
    config.people.settle = millis(of(draw(4), 0, &[1, 2_000, 60_000]));
    config.budget.cost = of(draw(8), None, &[Some(1), Some(5)]);
    config.order.single_agent = draw(2) == 0;
}

/// A duration in milliseconds.
const fn millis(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// The choice of this number, the usual one when there is none.
fn of<T: Copy>(number: u64, usual: T, others: &[T]) -> T {
    let at = usize::try_from(number).unwrap_or(usize::MAX);
    others.get(at).copied().unwrap_or(usual)
}
