//! Steps and rules out of any bytes.

use std::time::Duration;

use dirigent_core::Config;
use dirigent_core::config::{InterruptPolicy, TriggerCleanup};
use dirigent_testkit::Random;

use super::step::Step;

mod acts;
mod combined;
mod inputs;
mod words;

/// Bytes that make one step.
const RECORD: usize = 8;

impl Step {
    /// Draws this many steps, legal and illegal ones.
    ///
    /// ```
    /// use dirigent_testkit::Random;
    /// use dirigent_verify::check::Step;
    /// let steps = || Step::sequence(&mut Random::new(7), 5);
    /// assert_eq!(steps(), steps());
    /// ```
    pub fn sequence(random: &mut Random, count: usize) -> Vec<Self> {
        Self::sequence_from_bytes(&random.bytes(count * RECORD))
    }

    /// Any bytes as steps, legal and illegal ones, eight bytes a step. What is left over at the
    /// end is ignored. Total, and the same bytes give the same steps.
    ///
    /// The first byte of a step says what it is: below 128 an [`Act`](super::Act) that fits what is going on, below 160 a
    /// tick at the next deadline, below 165 a restart, from there on an input (249 to 251 create the channel).
    ///
    /// ```
    /// use dirigent_verify::check::Step;
    /// assert_eq!(Step::sequence_from_bytes(&[0; 17]).len(), 2);
    /// assert!(Step::sequence_from_bytes(&[]).is_empty());
    /// ```
    pub fn sequence_from_bytes(bytes: &[u8]) -> Vec<Self> {
        let records = bytes.chunks_exact(RECORD);
        let whole = records.filter_map(|record| record.try_into().ok());
        whole.map(Self::from_record).collect()
    }

    /// One step: what, two bytes of delay, and five bytes of details.
    fn from_record(record: [u8; RECORD]) -> Self {
        let [kind, unit, amount, details @ ..] = record;
        let after = words::delay(unit, amount);
        match kind {
            0..=127 => acts::act(kind, after, details),
            128..=159 => Self::DeadlineTick,
            160..=164 => Self::Restart,
            165..=255 => Self::input(after, inputs::input(kind - 165, details)),
        }
    }
}

/// Rules out of any bytes: the defaults, the seed's, tiny ceilings, every kind of clean-up and
/// whatever else a host may choose. Always valid.
///
/// ```
/// use dirigent_verify::check::config_from_bytes;
/// assert!(config_from_bytes([0; 8]).validate().is_ok());
/// assert!(config_from_bytes([255; 8]).validate().is_ok());
/// ```
pub fn config_from_bytes(bytes: [u8; 8]) -> Config {
    let [base, text, wait, starts, lists, policy, ceilings, idle] = bytes;
    let mut config = match base % 8 {
        0 => Config::seed_literal(),
        4 => Config::message_flow(),
        _ => Config::default(),
    };
    if base >= 64 {
        combined::policies(&mut config, u64::from_le_bytes(bytes));
    }
    if base % 4 < 2 {
        return config;
    }
    words_and_waits(&mut config, text, wait);
    deadlines_and_lists(&mut config, starts, lists);
    let advance = policy & 1 != 0;
    config.people.interrupt =
        if advance { InterruptPolicy::AdvanceNormally } else { InterruptPolicy::RestartCycle };
    config.people.bots_qualify = policy & 2 != 0;
    let cleanups = [
        TriggerCleanup::OnNext,
        TriggerCleanup::After(Duration::from_secs(3)),
        TriggerCleanup::After(Duration::ZERO),
        TriggerCleanup::Never,
    ];
    config.trigger_cleanup = pick(policy / 4, TriggerCleanup::Immediate, &cleanups);
    config.ceilings.chat.turns = pick(ceilings, Some(60), &[Some(1), Some(2), Some(5), None]);
    config.ceilings.chat.cycles = pick(ceilings / 8, Some(12), &[Some(1), Some(2), None]);
    config.ceilings.discussion.turns =
        pick(ceilings, Some(160), &[Some(1), Some(2), Some(5), None]);
    config.ceilings.discussion.cycles = pick(policy / 32, Some(40), &[Some(1), Some(2), None]);
    config.ceilings.discussion_time =
        pick(ceilings / 4, None, &[Some(1), Some(30_000)]).map(millis);
    config.discussion.overdue_archive_after =
        pick(ceilings / 64, None, &[Some(1), Some(5_000)]).map(millis);
    config.discussion.reminder_interval = millis(pick(idle, 600_000, &[0, 1_000]));
    config.members.forget_after = millis(pick(idle / 32, 600_000, &[1, 5_000]));
    config
}

/// What a reply must look like, and how long it is awaited.
fn words_and_waits(config: &mut Config, text: u8, wait: u8) {
    config.confirmation.fingerprint_length = pick(text, 40, &[0, 1, 5, 64]);
    config.confirmation.any_message_fallback = text < 160;
    config.confirmation.quiet_period = millis(pick(wait, 1_500, &[0, 1, 20_000]));
    config.confirmation.delivery_timeout = millis(pick(wait / 4, 15_000, &[1, 1_001, 4_000]));
    config.confirmation.poll_first = millis(pick(wait / 16, 300, &[1, 20_000]));
    config.confirmation.poll_interval = millis(pick(wait / 32, 1_000, &[1, 333, 700]));
}

/// How long an agent may take, and how old a list may be.
fn deadlines_and_lists(config: &mut Config, starts: u8, lists: u8) {
    config.deadlines.start = pick(starts, Some(45_000), &[None, Some(1_000)]).map(millis);
    config.deadlines.retriggers = pick(starts / 4, 1, &[0, 3]);
    config.deadlines.run = pick(starts / 16, Some(600_000), &[None, Some(2_000)]).map(millis);
    config.confirmation.late_grace = millis(pick(starts / 64, 30_000, &[0, 1_000]));
    config.members.refresh_deadline = millis(pick(lists, 10_000, &[1, 100]));
    config.members.list_fresh = millis(pick(lists / 4, 60_000, &[0, 600_000]));
    config.members.recount_interval = millis(pick(lists / 16, 30_000, &[1, 5_000]));
    config.order.shuffle_first = lists >= 128;
}

/// A duration in milliseconds.
const fn millis(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// One of these, the first when the byte is none of the others.
fn pick<T: Copy>(byte: u8, first: T, others: &[T]) -> T {
    let at = usize::from(byte) % (others.len() + 1);
    others.get(at).copied().unwrap_or(first)
}
