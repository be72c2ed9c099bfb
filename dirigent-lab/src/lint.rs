//! Advice about settings that have no effect, contradict each other, or are known to hurt.

use std::fmt;
use std::time::Duration;

use dirigent::settings::{CompletionPolicy, HumanInterrupt, MentionRule, Rules};

/// The longest time that a channel waits for people to be quiet.
const SETTLE_MAX: Duration = Duration::from_secs(5);

/// The reason why a setting deserves a second look.
///
/// ```
/// assert_eq!(dirigent_lab::AdviceKind::NoEffect.to_string(), "has no effect");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AdviceKind {
    /// The setting has no effect because of another setting.
    NoEffect,
    /// The setting says the opposite of another one.
    Contradicts,
    /// The setting is known to hurt, for example because agents then talk without an end.
    Hurts,
}

/// Advice about one setting.
///
/// ```
/// fn tell(advice: &dirigent_lab::Advice) {
///     println!("{}: {} ({})", advice.key, advice.what, advice.story);
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Advice {
    /// The whole name of the setting, for example `deadlines.start`.
    pub key: &'static str,
    /// The kind of trouble that you have with it.
    pub kind: AdviceKind,
    /// A sentence about the consequence.
    pub what: String,
    /// The rules of `docs/rules` that say so, or a command that shows it.
    pub story: &'static str,
}

/// The advice so far.
#[derive(Default)]
struct Found(Vec<Advice>);

impl Found {
    fn add(
        &mut self,
        is_so: bool,
        (key, kind): (&'static str, AdviceKind),
        what: impl Into<String>,
        story: &'static str,
    ) {
        if is_so {
            self.0.push(Advice { key, kind, what: what.into(), story });
        }
    }
}

/// Returns advice about the settings of a channel with this number of agents. The result is empty if there is none.
///
/// ```
/// use dirigent::settings::Rules;
///
/// let mut rules = Rules::default();
/// assert!(dirigent_lab::lint(&rules, 3).is_empty());
/// rules.config.deadlines.start = None;
/// assert_eq!(dirigent_lab::lint(&rules, 3)[0].key, "deadlines.retriggers");
/// ```
pub fn lint(rules: &Rules, agents: u32) -> Vec<Advice> {
    let mut found = Found::default();
    deadlines(rules, &mut found);
    ceilings(rules, agents, &mut found);
    people(rules, agents, &mut found);
    found.0
}

fn deadlines(rules: &Rules, found: &mut Found) {
    use AdviceKind::{Hurts, NoEffect};
    let deadlines = &rules.config.deadlines;
    let is_over = |time: Option<Duration>, end: Option<Duration>| {
        time.zip(end).is_some_and(|(time, end)| time >= end)
    };
    let never = "a turn has ended by deadlines.turn before";
    found.add(
        is_over(deadlines.start, deadlines.turn),
        ("deadlines.start", NoEffect),
        never,
        "rule 50",
    );
    let never =
        "a turn has ended by deadlines.turn before; it bounds only a run after an idle reminder";
    found.add(
        is_over(deadlines.run, deadlines.turn),
        ("deadlines.run", NoEffect),
        never,
        "rule 50",
    );
    let slow = is_over(deadlines.slow_after, deadlines.run)
        || is_over(deadlines.slow_after, deadlines.turn);
    let what = "a run has ended by its deadline before it is reported as slow";
    found.add(slow, ("deadlines.slow_after", NoEffect), what, "rule 52");
    let is_alone = deadlines.start.is_none() && deadlines.retriggers > 0;
    let what = "without deadlines.start no agent is too late, so none is asked again";
    found.add(is_alone, ("deadlines.retriggers", NoEffect), what, "rule 40");
    let stalls = deadlines.turn.is_none();
    let what = "an agent that never begins keeps the floor for ever: set it, or deadlines.turn";
    let story = "rule 40; dirigent prove --claim rests";
    found.add(stalls && deadlines.start.is_none(), ("deadlines.start", Hurts), what, story);
    let what = "a run that never ends keeps the floor for ever: set it, or deadlines.turn";
    found.add(stalls && deadlines.run.is_none(), ("deadlines.run", Hurts), what, story);
    let ends = rules.settings.reading.completion == CompletionPolicy::RunEnd;
    let usual = Rules::default().config;
    let is_set = rules.config.order.continuations != usual.order.continuations;
    let what = "each run ends its turn, because reading.completion is run_end";
    found.add(ends && is_set, ("order.continuations", NoEffect), what, "rule 49");
    let backfill = rules.settings.time_limits.backfill.is_none();
    let what = "a message of which no event told is found at a restart or a reconnect only";
    found.add(backfill, ("time_limits.backfill", Hurts), what, "rule 73");
}

fn ceilings(rules: &Rules, agents: u32, found: &mut Found) {
    use AdviceKind::{Hurts, NoEffect};
    let (chat, budget) = (&rules.config.ceilings.chat, &rules.config.budget);
    let is_endless = chat.turns.is_none() && chat.cycles.is_none();
    let is_free = budget.turns.is_none() && budget.cycles.is_none() && budget.cost.is_none();
    let what = "agents that always have something to say talk without an end: set it, ceilings.chat.cycles or a budget";
    let story = "rules 29, 30 and 33; dirigent prove --claim rests";
    found.add(is_endless && is_free, ("ceilings.chat.turns", Hurts), what, story);
    let is_short = chat.turns.is_some_and(|turns| turns < agents);
    let what =
        format!("of {agents} agents not each is asked after a word; the next word goes on there");
    let story = "rule 33; dirigent prove --claim heard";
    found.add(is_short, ("ceilings.chat.turns", Hurts), what, story);
    let is_hidden = chat.turns.zip(chat.cycles).is_some_and(|(turns, cycles)| turns <= cycles);
    let what = "each cycle has a turn at least, so ceilings.chat.turns is reached before";
    found.add(is_hidden, ("ceilings.chat.cycles", NoEffect), what, "rules 29 and 30");
    let is_spent = budget.turns.zip(chat.turns).is_some_and(|(all, talk)| all <= talk);
    let what = "budget.turns is spent before, and no person's word gives it back";
    found.add(is_spent, ("ceilings.chat.turns", NoEffect), what, "rule 65");
    let bots = rules.config.people.bots_qualify && is_endless && is_free;
    let what = "agents and a bot that answers them talk without an end: set a ceiling or a budget";
    found.add(bots, ("people.bots_qualify", Hurts), what, "rule 23");
}

fn people(rules: &Rules, agents: u32, found: &mut Found) {
    use AdviceKind::{Contradicts, Hurts, NoEffect};
    let (people, usual) = (&rules.config.people, Rules::default().config.people);
    let what = "a channel waits at most 5 s for people to be quiet, so more is the same as 5s";
    found.add(people.settle > SETTLE_MAX, ("people.settle", NoEffect), what, "rule 79");
    let asks = people.human_interrupt == HumanInterrupt::Interrupt;
    let is_set = people.consult_deadline != usual.consult_deadline;
    let what = "no orchestrator is asked unless people.human_interrupt is interrupt";
    found.add(is_set && !asks, ("people.consult_deadline", NoEffect), what, "rule 55");
    let queues = people.human_interrupt == HumanInterrupt::Queue;
    let may_wait = queues && people.mentions != MentionRule::Ignored && agents > 2;
    let what = "an agent that is addressed during its own turn is not next, if another one is addressed before that turn ends";
    found.add(may_wait, ("people.human_interrupt", Hurts), what, "rules 53 and 62");
    let reading = &rules.settings.reading;
    let both = reading.stop_words.iter().find(|word| reading.resume_words.contains(word));
    let what =
        format!("{:?} stops a channel, and so it never resumes one", both.map_or("", |word| word));
    let key = ("reading.resume_words", Contradicts);
    found.add(both.is_some(), key, what, "rule 24");
    let what = "a person cannot stop the agents in words: only an operator can";
    found.add(reading.stop_words.is_empty(), ("reading.stop_words", Hurts), what, "rule 24");
}

impl fmt::Display for AdviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoEffect => "has no effect",
            Self::Contradicts => "contradicts another setting",
            Self::Hurts => "is known to hurt",
        })
    }
}
