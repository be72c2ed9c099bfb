//! The rules that a host may choose, with their defaults.

use core::fmt;
use core::time::Duration;

use crate::Tail;

/// When a delivered trigger message is removed again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TriggerCleanup {
    /// As soon as it is known to be posted; the default.
    Immediate,
    /// When the next trigger is posted, for hosts that answer by reference to the trigger.
    OnNext,
    /// So long after it was posted.
    After(Duration),
    /// The message stays in the channel.
    Never,
}

/// What a qualifying message of another author does while a reply is being confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InterruptPolicy {
    /// A new cycle starts with the first of the list.
    RestartCycle,
    /// The wait ends and the next in the list has its turn.
    AdvanceNormally,
}

/// What a human's message does to a turn that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HumanInterrupt {
    /// It is handed to the speaker at once, and the turn goes on.
    Inject,
    /// It is held until the turn ends.
    Queue,
    /// The turn waits until an orchestrator has answered it.
    Interrupt,
}

/// Who speaks first when an agent's message wakes the channel.
///
/// Three cases in one rule (a human wakes the first of the list, an agent the one after it, any other bot the
/// first) take two options: without [`Config::bots_qualify`] a bot that is no agent wakes no agent.
///
/// ```
/// use dirigent_core::config::WakeRule;
/// use dirigent_core::Config;
///
/// let mut config = Config::default();
/// (config.wake_rule, config.bots_qualify) = (WakeRule::NextAfterSender, true);
/// assert!(config.validate().is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WakeRule {
    /// The first of the list.
    FirstInList,
    /// The one after the sender, where the sender is listed, else the first.
    NextAfterSender,
}

/// What a person's message does that mentions agents, beside waking the channel.
///
/// ```
/// use dirigent_core::config::MentionRule;
/// use dirigent_core::Config;
///
/// assert_eq!(Config::default().mentions, MentionRule::First);
/// assert_eq!(Config::seed_literal().mentions, MentionRule::Ignored);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MentionRule {
    /// Nothing: the order is what it was.
    Ignored,
    /// A new cycle begins, as soon as no turn is under way, in which the mentioned agents are first, in
    /// the order of the list. The others follow.
    First,
    /// Only the mentioned agents speak, for one cycle; then the order returns.
    Only,
}

/// The rules of a channel. Shared by all channels of a host unless it wants otherwise.
///
/// Every limit that is `Option` may be switched off with `None`; the documented defaults are those
/// of the project's requirements.
///
/// ```
/// use dirigent_core::Config;
/// use std::time::Duration;
///
/// let mut config = Config::default();
/// config.delivery_timeout = Duration::from_secs(30);
/// assert!(config.validate().is_ok());
/// config.fingerprint_length = 65;
/// assert_eq!(config.validate().unwrap_err().field, "fingerprint_length");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct Config {
    /// Scalars of a reply's end that must arrive; 0 means any message of the author. Default 40,
    /// at most [`Tail::MAX`].
    pub fingerprint_length: usize,
    /// How long a reply may take to arrive after its run ended. Default 15 s.
    pub delivery_timeout: Duration,
    /// How long an author must be quiet before *any* message of theirs confirms. Default 1.5 s.
    pub quiet_period: Duration,
    /// Whether messages of the author confirm when the fingerprint never matched: after
    /// [`Config::quiet_period`] where they are as long as the reply or one has an attachment, after
    /// half of [`Config::delivery_timeout`] where they are a little shorter or the length of the reply
    /// is not known, and not at all where they are clearly shorter. Default true.
    pub any_message_fallback: bool,
    /// From a run's end to the first poll. Default 300 ms.
    pub poll_first: Duration,
    /// From a poll's answer to the next poll, at first. Default 1 s; grows by half each time.
    pub poll_interval: Duration,
    /// What the poll interval grows to. Default 3 s.
    pub poll_interval_max: Duration,
    /// How long a granted agent may take to start. Default 45 s; then one re-trigger, then it is
    /// skipped.
    pub start_deadline: Option<Duration>,
    /// Re-triggers before a granted agent is skipped. Default 1.
    pub retriggers: u8,
    /// How long a run may last. Default 10 min; then its agent is skipped.
    pub run_deadline: Option<Duration>,
    /// How long after a turn messages of its agent count as late pieces of it, which neither wake,
    /// veto, interrupt nor count. Only after a turn whose reply is not known to have arrived as a
    /// whole: by a receipt, or by its end and its length. Default 30 s.
    pub late_grace: Duration,
    /// How long a member list may be outstanding. Default 10 s; then the old list is used.
    pub refresh_deadline: Duration,
    /// How old the list may be when a channel wakes. Default 60 s; zero: read anew, unless it
    /// was read at that very moment.
    pub list_fresh: Duration,
    /// How often a channel with too few agents is counted again, at most. Default 30 s.
    pub recount_interval: Duration,
    /// Whether the very first cycle is shuffled too; later ones always are, so that no order of talk becomes fixed. Default
    /// false: the first cycle is in the order in which the chat lists the agents.
    pub shuffle_first: bool,
    /// What a message of another author does during confirmation. Default: restart the cycle.
    pub interrupt: InterruptPolicy,
    /// Whether unregistered bots and webhooks wake, interrupt and veto. Default false. A bot wakes the first of the
    /// list, with either [`WakeRule`].
    pub bots_qualify: bool,
    /// When triggers are removed. Default: at once.
    pub trigger_cleanup: TriggerCleanup,
    /// Most turns of a chat since a human last spoke; a turn in which the agent passed counts. Default 60, in [`Config::message_flow`] 240; of a
    /// discussion see [`Config::discussion_turns_max`].
    pub turns_max: Option<u32>,
    /// Most cycles of a chat since a human last spoke. Default 12, in [`Config::message_flow`] 60; of a
    /// discussion see [`Config::discussion_cycles_max`].
    pub cycles_max: Option<u32>,
    /// Most turns of a discussion since a human last spoke, in place of [`Config::turns_max`]. Default
    /// 160: forty cycles of four agents.
    pub discussion_turns_max: Option<u32>,
    /// Most cycles of a discussion since a human last spoke, in place of [`Config::cycles_max`]. At the
    /// ceiling the initiator is reminded to conclude. Default 40: agents that work out a result talk
    /// longer among themselves than agents in a chat.
    pub discussion_cycles_max: Option<u32>,
    /// How long a discussion may go on since it was created or a human last spoke. Default without
    /// end.
    pub discussion_time_max: Option<Duration>,
    /// How long a discussion that has reached a ceiling, or whose initiator was reminded three times
    /// while nothing was said, may lie idle before it is archived without a summary. Default: none. A
    /// discussion is then not archived for being at a ceiling; one whose initiator was reminded three
    /// times in vain is archived after [`Config::reminder_interval`], at least 10 min.
    pub overdue_archive_after: Option<Duration>,
    /// Least time between two idle reminders of a discussion, and from a reminded initiator's run in
    /// which nothing was said to the next reminder. Default 10 min.
    pub reminder_interval: Duration,
    /// How long after archiving the last words of those who were running stay without a notice.
    /// Default 15 s.
    pub farewell: Duration,
    /// Least time between two notices in an archived channel caused by bots. Default 60 s.
    pub bot_notice_interval: Duration,
    /// How often an agent that spoke without finishing its turn is asked to go on. Default 3.
    pub continuations: u8,
    /// When a turn must have ended after it was granted, whatever happened in it but a wait for the
    /// reply. Default: start and run have their own deadlines only.
    pub turn_deadline: Option<Duration>,
    /// After this long, [`Cause::RunSlow`](crate::Cause::RunSlow) is reported for a run. Default: never; must be less than
    /// [`Config::run_deadline`] to be of any use.
    pub slow_after: Option<Duration>,
    /// Whether a notice in the channel says that an agent's turn timed out. Default false.
    pub announce_timeouts: bool,
    /// Whether a notice in the channel says that a listed agent went offline. Default false.
    pub announce_offline: bool,
    /// Whether an agent that comes back has turns at once, and need not be assigned. Default false.
    pub auto_requeue: bool,
    /// What a human's message does to a turn under way. Default: it is handed to the speaker.
    pub human_interrupt: HumanInterrupt,
    /// How long an orchestrator may take to answer a human. Default 30 s.
    pub consult_deadline: Duration,
    /// How long a turn waits for a chat that does not answer, before the channel becomes dormant
    /// until the chat is back. Default 1 h; at least one millisecond.
    pub outage_max: Duration,
    /// Who speaks first when an agent's message wakes the channel. Default: the first of the list.
    pub wake_rule: WakeRule,
    /// Whether an agent that passed is left out until something was said. Default false.
    pub skip_passed: bool,
    /// Whether an agent that spoke last is not asked again while nothing was said since: it
    /// counts as having passed, with [`Cause::NothingNew`](crate::Cause::NothingNew). Only an agent whose
    /// reply the library delivered: one that asks through its own gateway, or is woken by the host's
    /// waker, always has its turn. Default true; it saves the last call of each conversation.
    pub skip_last_speaker: bool,
    /// What a person's message does that mentions agents. Default: these are asked first.
    pub mentions: MentionRule,
    /// Most turns with a reply that an agent may have in an hour, at most 255. Default none.
    pub agent_turns_per_hour: Option<u8>,
    /// Most turns in all; messages of people do not reset the count. Default none.
    pub budget_turns: Option<u32>,
    /// Most cycles in all. Default none.
    pub budget_cycles: Option<u32>,
    /// Most cost in all that the host reports, in its own unit. Default none.
    pub budget_cost: Option<u64>,
    /// When an idle channel gives its memory back. Default 10 min.
    pub forget_after: Duration,
    /// Whether a person who stops or resumes the channel in words is answered with a notice.
    /// Default true. An operator's call is never answered.
    pub acknowledge: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            fingerprint_length: 40,
            delivery_timeout: Duration::from_secs(15),
            quiet_period: Duration::from_millis(1_500),
            any_message_fallback: true,
            poll_first: Duration::from_millis(300),
            poll_interval: Duration::from_secs(1),
            poll_interval_max: Duration::from_secs(3),
            start_deadline: Some(Duration::from_secs(45)),
            retriggers: 1,
            run_deadline: Some(Duration::from_secs(600)),
            late_grace: Duration::from_secs(30),
            refresh_deadline: Duration::from_secs(10),
            list_fresh: Duration::from_secs(60),
            recount_interval: Duration::from_secs(30),
            shuffle_first: false,
            interrupt: InterruptPolicy::RestartCycle,
            bots_qualify: false,
            trigger_cleanup: TriggerCleanup::Immediate,
            turns_max: Some(60),
            cycles_max: Some(12),
            discussion_turns_max: Some(160),
            discussion_cycles_max: Some(40),
            discussion_time_max: None,
            overdue_archive_after: None,
            reminder_interval: Duration::from_secs(600),
            farewell: Duration::from_secs(15),
            bot_notice_interval: Duration::from_secs(60),
            forget_after: Duration::from_secs(600),
            acknowledge: true,
            continuations: 3,
            turn_deadline: None,
            slow_after: None,
            announce_timeouts: false,
            announce_offline: false,
            auto_requeue: false,
            human_interrupt: HumanInterrupt::Inject,
            consult_deadline: Duration::from_secs(30),
            outage_max: Duration::from_secs(3_600),
            wake_rule: WakeRule::FirstInList,
            skip_passed: false,
            skip_last_speaker: true,
            mentions: MentionRule::First,
            agent_turns_per_hour: None,
            budget_turns: None,
            budget_cycles: None,
            budget_cost: None,
        }
    }
}

impl Config {
    /// The same with a change: outside this crate a `Config` cannot be written with `..`.
    ///
    /// ```
    /// let config = dirigent_core::Config::default().with(|config| config.turns_max = Some(20));
    /// assert_eq!(config.turns_max, Some(20));
    /// ```
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// The rules of the specification that this library began with, to the letter, without what field use added: no start and run deadlines, no ceilings,
    /// no refresh on waking, no confirmation by any message, no answer to a stop word. A mention is a
    /// word as any other, and the agent that spoke last is asked again.
    ///
    /// What it does not say is as by default, since without it a room would break its other promises:
    ///
    /// - While the member list was never read, no agent may speak, and it is asked for again: else the list
    ///   would be empty, and every agent could speak at once.
    /// - While the chat is away a turn waits, for [`outage_max`](Self::outage_max): else it would be passed on
    ///   every 15 s, and the channel would become dormant although no agent was reached.
    /// - What an agent says within [`late_grace`](Self::late_grace) of a turn whose reply was not recognised as a
    ///   whole is a late piece of that reply: else it would be a new message, which interrupts
    ///   the next agent.
    /// - A cycle at whose end no agent is left that could answer the last one is the last
    ///   ([`Cause::NoOtherAgent`](crate::Cause::NoOtherAgent)), because an agent would be asked to answer itself.
    /// - A message of a person that comes after the first turn of a cycle began asks for another cycle, although all agents
    ///   pass in this one, because those that had their turn before have not seen it.
    /// - Bots that are not registered neither wake nor interrupt ([`bots_qualify`](Self::bots_qualify)), because a bot that
    ///   answers bots would never let the channel rest.
    /// - An initiator is reminded at most once in [`reminder_interval`](Self::reminder_interval), and three times if nothing
    ///   is said; then the discussion is archived. In an archived channel the last words of an agent that was running within
    ///   [`farewell`](Self::farewell), and bots within [`bot_notice_interval`](Self::bot_notice_interval), get no notice.
    /// - Operators stop, hold, mute and choose, and a message or a run that is reported twice counts once.
    /// - What is remembered is bounded: 64 agents, 256 messages, 32 runs.
    ///
    /// ```
    /// assert_eq!(dirigent_core::Config::seed_literal().turns_max, None);
    /// ```
    pub fn seed_literal() -> Self {
        Self {
            start_deadline: None,
            run_deadline: None,
            turns_max: None,
            cycles_max: None,
            discussion_turns_max: None,
            discussion_cycles_max: None,
            list_fresh: Duration::MAX,
            any_message_fallback: false,
            acknowledge: false,
            skip_last_speaker: false,
            mentions: MentionRule::Ignored,
            ..Self::default()
        }
    }

    /// The message flow: a turn ends sixty seconds after it was granted, a notice in the channel
    /// says so, and in a chat agents that work on a task together may take 60 cycles and 240 turns before
    /// a person must speak, instead of 12 and 60. In a discussion the ceilings are the default ones, which are
    /// lower: 40 cycles and 160 turns.
    ///
    /// ```
    /// let config = dirigent_core::Config::message_flow();
    /// assert_eq!(config.turn_deadline, Some(std::time::Duration::from_secs(60)));
    /// assert_eq!((config.cycles_max, config.turns_max), (Some(60), Some(240)));
    /// assert_eq!((config.discussion_cycles_max, config.discussion_turns_max), (Some(40), Some(160)));
    /// ```
    pub fn message_flow() -> Self {
        Self {
            turn_deadline: Some(Duration::from_secs(60)),
            start_deadline: None,
            run_deadline: None,
            announce_timeouts: true,
            turns_max: Some(240),
            cycles_max: Some(60),
            ..Self::default()
        }
    }

    /// Checks that every value can be obeyed.
    ///
    /// # Errors
    ///
    /// Names the first field whose value cannot be obeyed, and why.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let positive = "must be at least one millisecond";
        let ceiling = "must be at least 1, or none for no ceiling";
        let durations = [
            ("delivery_timeout", self.delivery_timeout),
            ("poll_first", self.poll_first),
            ("poll_interval", self.poll_interval),
            ("refresh_deadline", self.refresh_deadline),
            ("recount_interval", self.recount_interval),
            ("forget_after", self.forget_after),
            ("consult_deadline", self.consult_deadline),
            ("outage_max", self.outage_max),
            ("turn_deadline", self.turn_deadline.unwrap_or(Duration::MAX)),
            ("slow_after", self.slow_after.unwrap_or(Duration::MAX)),
            ("start_deadline", self.start_deadline.unwrap_or(Duration::MAX)),
            ("run_deadline", self.run_deadline.unwrap_or(Duration::MAX)),
            ("discussion_time_max", self.discussion_time_max.unwrap_or(Duration::MAX)),
            ("overdue_archive_after", self.overdue_archive_after.unwrap_or(Duration::MAX)),
        ];
        if let Some((field, _)) = durations.iter().find(|(_, d)| d.as_millis() == 0) {
            return Err(ConfigError { field, why: positive });
        }
        let rules = [
            (self.fingerprint_length <= Tail::MAX, "fingerprint_length", "must be at most 64"),
            (
                self.poll_interval_max >= self.poll_interval,
                "poll_interval_max",
                "must not be below poll_interval",
            ),
            (
                self.agent_turns_per_hour != Some(0),
                "agent_turns_per_hour",
                "must be at least 1, or none for no cap",
            ),
            (self.budget_turns != Some(0), "budget_turns", "must be at least 1, or none"),
            (self.budget_cycles != Some(0), "budget_cycles", "must be at least 1, or none"),
            (self.budget_cost != Some(0), "budget_cost", "must be at least 1, or none"),
            (self.turns_max != Some(0), "turns_max", ceiling),
            (self.cycles_max != Some(0), "cycles_max", ceiling),
            (self.discussion_turns_max != Some(0), "discussion_turns_max", ceiling),
            (self.discussion_cycles_max != Some(0), "discussion_cycles_max", ceiling),
        ];
        match rules.into_iter().find(|(holds, _, _)| !holds) {
            Some((_, field, why)) => Err(ConfigError { field, why }),
            None => Ok(()),
        }
    }
}

/// A setting that cannot be obeyed.
///
/// ```
/// let mut config = dirigent_core::Config::default();
/// config.turns_max = Some(0);
/// assert!(config.validate().unwrap_err().to_string().starts_with("turns_max must be"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigError {
    /// The field's name.
    pub field: &'static str,
    /// What its value must be.
    pub why: &'static str,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.field, self.why)
    }
}

impl core::error::Error for ConfigError {}
