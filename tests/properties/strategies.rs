//! Settings, conversations that make sense and inputs that do not, as proptest draws and shrinks them.

use std::fmt;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;
use std::time::Duration;

use dirigent_core::Config;
use dirigent_core::config::{
    HumanInterrupt, InterruptPolicy, MentionRule, TriggerCleanup, WakeRule,
};
use dirigent_verify::check::Step;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// One generated case; what it holds is shown by the failure, not by `Debug`.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) config: Arc<Config>,
    pub(crate) seed: u64,
    pub(crate) steps: Vec<Step>,
}

impl Case {
    /// Any rules and seed with such steps.
    pub(crate) fn of(steps: impl Strategy<Value = Vec<Step>>) -> impl Strategy<Value = Self> {
        (config(), any::<u64>(), steps).prop_map(|(config, seed, steps)| Self {
            config: Arc::new(config),
            seed,
            steps,
        })
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed {} and {} steps", self.seed, self.steps.len())
    }
}

fn millis(count: impl Strategy<Value = u64>) -> impl Strategy<Value = Duration> {
    count.prop_map(Duration::from_millis)
}

/// The defaults, the seed's rules, and rules at the edge of what is allowed.
pub(crate) fn config() -> impl Strategy<Value = Config> {
    let odd = combined(policies(lists(deadlines(confirmation(Just(Config::default()))))));
    prop_oneof![
        2 => Just(Config::default()),
        2 => Just(Config::seed_literal()),
        2 => combined(Just(Config::default())),
        6 => odd,
    ]
}

fn confirmation(base: impl Strategy<Value = Config>) -> impl Strategy<Value = Config> {
    let waits = (
        millis(select(vec![1, 2, 1_001, 15_000])),
        millis(select(vec![0, 1, 1_500, 20_000])),
        millis(select(vec![1, 300, 16_000])),
        millis(select(vec![1, 333, 1_000])),
    );
    let lengths = select(vec![0_usize, 1, 3, 40, 64]);
    (base, lengths, any::<bool>(), waits).prop_map(|(mut config, length, fallback, waits)| {
        config.confirmation.fingerprint_length = length;
        config.confirmation.any_message_fallback = fallback;
        (
            config.confirmation.delivery_timeout,
            config.confirmation.quiet_period,
            config.confirmation.poll_first,
            config.confirmation.poll_interval,
        ) = waits;
        config
    })
}

fn deadlines(base: impl Strategy<Value = Config>) -> impl Strategy<Value = Config> {
    let start = option::of(millis(select(vec![1, 1_000, 45_000])));
    let run = option::of(millis(select(vec![1, 2_000, 600_000])));
    let grace = millis(select(vec![0, 1, 30_000]));
    let forget = millis(select(vec![1, 3_000, 600_000]));
    (base, start, run, 0..3_u8, grace, forget).prop_map(
        |(mut config, start, run, retriggers, grace, forget)| {
            config.deadlines.start = start;
            config.deadlines.run = run;
            config.deadlines.retriggers = retriggers;
            config.confirmation.late_grace = grace;
            config.members.forget_after = forget;
            config
        },
    )
}

fn lists(base: impl Strategy<Value = Config>) -> impl Strategy<Value = Config> {
    let refresh = millis(select(vec![1, 100, 10_000]));
    let fresh = millis(select(vec![0, 1, 60_000]));
    let recount = millis(select(vec![1, 30_000]));
    let ceilings = (option::of(1..5_u32), option::of(1..4_u32));
    let ends = (
        option::of(1..3_u32),
        option::of(millis(select(vec![1, 5_000, 120_000]))),
        option::of(millis(select(vec![1, 2_000, 60_000]))),
    );
    (base, refresh, fresh, recount, any::<bool>(), ceilings, ends).prop_map(
        |(mut config, refresh, fresh, recount, shuffle, ceilings, ends)| {
            config.ceilings.discussion.cycles = ends.0;
            config.ceilings.discussion_time = ends.1;
            config.discussion.overdue_archive_after = ends.2;
            config.members.refresh_deadline = refresh;
            config.members.list_fresh = fresh;
            config.members.recount_interval = recount;
            config.order.shuffle_first = shuffle;
            (config.ceilings.chat.turns, config.ceilings.chat.cycles) = ceilings;
            config.ceilings.discussion.turns = ceilings.0.map(|most| most + 1);
            config
        },
    )
}

fn policies(base: impl Strategy<Value = Config>) -> impl Strategy<Value = Config> {
    let interrupts = vec![InterruptPolicy::RestartCycle, InterruptPolicy::AdvanceNormally];
    let cleanups = vec![
        TriggerCleanup::Immediate,
        TriggerCleanup::OnNext,
        TriggerCleanup::After(Duration::ZERO),
        TriggerCleanup::After(Duration::from_secs(2)),
        TriggerCleanup::Never,
    ];
    let idle = millis(select(vec![0, 1_000, 600_000]));
    (base, select(interrupts), select(cleanups), any::<bool>(), idle).prop_map(
        |(mut config, interrupt, cleanup, bots, idle)| {
            config.people.interrupt = interrupt;
            config.trigger_cleanup = cleanup;
            config.people.bots_qualify = bots;
            config.discussion.reminder_interval = idle;
            config
        },
    )
}

/// Every policy on top of the turns, in any combination.
fn combined(base: impl Strategy<Value = Config>) -> impl Strategy<Value = Config> {
    combined_words(combined_turns(base))
}

/// How long turns last, and who has them.
fn combined_turns(base: impl Strategy<Value = Config>) -> impl Strategy<Value = Config> {
    let end = option::of(millis(select(vec![1, 1_500, 45_000, 90_000])));
    let slow = option::of(millis(select(vec![1, 1_000, 2_000])));
    let flags = any::<[bool; 6]>();
    (base, 0..4_u8, end, slow, flags).prop_map(|(mut config, continuations, end, slow, flags)| {
        config.order.continuations = continuations;
        config.deadlines.turn = end;
        config.deadlines.slow_after = slow;
        [
            config.announce_timeouts,
            config.announce_offline,
            config.order.auto_requeue,
            config.order.skip_passed,
            config.order.skip_last_speaker,
            config.order.single_agent,
        ] = flags;
        config
    })
}

/// What humans' words do, and what is spent.
fn combined_words(base: impl Strategy<Value = Config>) -> impl Strategy<Value = Config> {
    let words = vec![HumanInterrupt::Inject, HumanInterrupt::Queue, HumanInterrupt::Interrupt];
    let wakes = vec![WakeRule::FirstInList, WakeRule::NextAfterSender];
    let consult = millis(select(vec![1, 2_000, 30_000]));
    let outage = millis(select(vec![1, 5_000, 3_600_000]));
    let mentions = vec![MentionRule::Ignored, MentionRule::First, MentionRule::Only];
    let consult = (consult, outage, select(mentions));
    let budgets = (option::of(1..6_u32), option::of(1..4_u32), option::of(1..6_u64));
    let cap = option::weighted(0.3, 1..4_u8);
    let some = option::weighted(0.3, budgets);
    (base, select(words), select(wakes), consult, cap, some).prop_map(
        |(mut config, words, wake, consult, cap, budgets)| {
            config.people.human_interrupt = words;
            config.order.wake_rule = wake;
            (config.people.consult_deadline, config.deadlines.outage_max, config.people.mentions) =
                consult;
            config.budget.agent_turns_per_hour = cap;
            (config.budget.turns, config.budget.cycles, config.budget.cost) =
                budgets.unwrap_or_default();
            config
        },
    )
}

/// What a step is, by its first byte: see [`Step::sequence_from_bytes`].
const ACTS: Range<u8> = 0..128;
const TICKS: Range<u8> = 128..160;
const RESTARTS: Range<u8> = 160..165;
const INPUTS: RangeInclusive<u8> = 165..=255;
const CREATIONS: Range<u8> = 249..252;

/// A channel that is created and then mostly led on.
pub(crate) fn conversation() -> impl Strategy<Value = Vec<Step>> {
    let next = prop_oneof![12 => ACTS, 3 => TICKS, 3 => INPUTS, 1 => RESTARTS];
    (steps(CREATIONS, 1..2), steps(next, 0..120))
        .prop_map(|(opening, then)| [opening, then].concat())
}

/// Inputs that know nothing of each other.
pub(crate) fn nonsense() -> impl Strategy<Value = Vec<Step>> {
    steps(prop_oneof![12 => INPUTS, 2 => TICKS, 1 => RESTARTS], 0..150)
}

/// Steps out of any bytes.
pub(crate) fn any_bytes() -> impl Strategy<Value = Vec<Step>> {
    steps(any::<u8>(), 0..200)
}

/// Steps of these kinds, made by the one generator that the fuzzers and the seeded walks use, too.
fn steps(
    kinds: impl Strategy<Value = u8>,
    count: Range<usize>,
) -> impl Strategy<Value = Vec<Step>> {
    vec((kinds, any::<[u8; 7]>()), count).prop_map(|records| {
        let records = records.into_iter().map(|(kind, details)| [&[kind][..], &details].concat());
        Step::sequence_from_bytes(&records.flatten().collect::<Vec<u8>>())
    })
}
