//! The rules that a host may choose, with their defaults.

use core::fmt;
use core::time::Duration;

use crate::Tail;

/// For so long after archiving the last words of those who were running stay without a notice: they were under way.
pub(crate) const FAREWELL: Duration = Duration::from_secs(15);

/// Least time between two notices in an archived channel that bots cause: two bots would answer each other's for ever.
pub(crate) const BOT_NOTICE_INTERVAL: Duration = Duration::from_secs(60);

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
/// first) take two options: without [`PeopleRules::bots_qualify`] a bot that is no agent wakes no agent.
///
/// ```
/// use dirigent_core::config::WakeRule;
/// use dirigent_core::Config;
///
/// let mut config = Config::default();
/// (config.order.wake_rule, config.people.bots_qualify) = (WakeRule::NextAfterSender, true);
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
/// assert_eq!(Config::default().people.mentions, MentionRule::First);
/// assert_eq!(Config::seed_literal().people.mentions, MentionRule::Ignored);
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

/// The rules of a channel, in groups. Shared by all channels of a host unless it wants otherwise.
///
/// Every limit that is `Option` may be switched off with `None`; the documented defaults are those
/// of the project's requirements.
///
/// ```
/// use dirigent_core::Config;
/// use std::time::Duration;
///
/// let mut config = Config::default();
/// config.confirmation.delivery_timeout = Duration::from_secs(30);
/// assert!(config.validate().is_ok());
/// config.confirmation.fingerprint_length = 65;
/// assert_eq!(config.validate().unwrap_err().field, "confirmation.fingerprint_length");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config {
    /// How a reply is recognised that an agent posts itself.
    pub confirmation: Confirmation,
    /// How long a turn is waited for.
    pub deadlines: Deadlines,
    /// How long agents may talk among themselves.
    pub ceilings: Ceilings,
    /// What may be used up in all.
    pub budget: BudgetRules,
    /// What messages of people, and of bots that are no agents, do.
    pub people: PeopleRules,
    /// Who is asked, in which order and how often.
    pub order: OrderRules,
    /// How the initiator of a discussion is reminded.
    pub discussion: DiscussionRules,
    /// How the list of members is kept up to date. No host needs to change it; tests do.
    #[doc(hidden)]
    pub members: MemberRules,
    /// When triggers are removed. Default: at once.
    pub trigger_cleanup: TriggerCleanup,
    /// Whether a notice in the channel says that an agent's turn timed out. Default false.
    pub announce_timeouts: bool,
    /// Whether a notice in the channel says that a listed agent went offline. Default false.
    pub announce_offline: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            confirmation: Confirmation::default(),
            deadlines: Deadlines::default(),
            ceilings: Ceilings::default(),
            budget: BudgetRules::default(),
            people: PeopleRules::default(),
            order: OrderRules::default(),
            discussion: DiscussionRules::default(),
            members: MemberRules::default(),
            trigger_cleanup: TriggerCleanup::Immediate,
            announce_timeouts: false,
            announce_offline: false,
        }
    }
}

/// Most turns and most cycles since a human last spoke.
///
/// ```
/// let ceilings = dirigent_core::Config::default().ceilings;
/// assert_eq!((ceilings.chat.turns, ceilings.chat.cycles), (Some(60), Some(12)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ceiling {
    /// Most turns since a human last spoke; a turn in which the agent passed counts. `None`: no ceiling.
    pub turns: Option<u32>,
    /// Most cycles since a human last spoke. `None`: no ceiling.
    pub cycles: Option<u32>,
}

/// How long agents may talk among themselves.
///
/// ```
/// let mut config = dirigent_core::Config::default();
/// config.ceilings.chat.turns = Some(0);
/// assert_eq!(config.validate().unwrap_err().field, "ceilings.chat.turns");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ceilings {
    /// Those of a chat. Default 60 turns and 12 cycles, in [`Config::message_flow`] 240 and 60.
    pub chat: Ceiling,
    /// Those of a discussion. At the ceiling its initiator is reminded to conclude. Default 160 turns and 40 cycles, which
    /// are forty cycles of four agents: agents that work out a result talk longer among themselves than agents in a chat.
    pub discussion: Ceiling,
    /// How long a discussion may go on since it was created or a human last spoke. Default without end.
    pub discussion_time: Option<Duration>,
}

impl Default for Ceilings {
    fn default() -> Self {
        Self {
            chat: Ceiling { turns: Some(60), cycles: Some(12) },
            discussion: Ceiling { turns: Some(160), cycles: Some(40) },
            discussion_time: None,
        }
    }
}

/// How a reply is recognised that an agent posts itself. Only hosts whose agents do that need to read it; a reply that
/// the library posts is known to be there.
///
/// ```
/// let rules = dirigent_core::config::Confirmation::default();
/// assert_eq!((rules.fingerprint_length, rules.delivery_timeout.as_secs()), (40, 15));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Confirmation {
    /// Scalars of a reply's end that must arrive; 0 means any message of the author. Default 40,
    /// at most [`Tail::MAX`].
    pub fingerprint_length: usize,
    /// How long a reply may take to arrive after its run ended. Default 15 s.
    pub delivery_timeout: Duration,
    /// How long an author must be quiet before *any* message of theirs confirms. Default 1.5 s.
    pub quiet_period: Duration,
    /// Whether messages of the author confirm when the fingerprint never matched: after
    /// [`Confirmation::quiet_period`] where they are as long as the reply or one has an attachment, after
    /// half of [`Confirmation::delivery_timeout`] where they are a little shorter or the length of the reply
    /// is not known, and not at all where they are clearly shorter. Default true.
    pub any_message_fallback: bool,
    /// How long after a turn messages of its agent count as late pieces of it, which neither wake,
    /// veto, interrupt nor count. Only after a turn whose reply is not known to have arrived as a
    /// whole: by a receipt, or by its end and its length. Default 30 s.
    pub late_grace: Duration,
    /// From a run's end to the first poll. Default 300 ms.
    pub poll_first: Duration,
    /// From a poll's answer to the next poll, at first. Default 1 s; grows by half each time.
    pub poll_interval: Duration,
    /// What the poll interval grows to. Default 3 s.
    pub poll_interval_max: Duration,
}

impl Default for Confirmation {
    fn default() -> Self {
        Self {
            fingerprint_length: 40,
            delivery_timeout: Duration::from_secs(15),
            quiet_period: Duration::from_millis(1_500),
            any_message_fallback: true,
            late_grace: Duration::from_secs(30),
            poll_first: Duration::from_millis(300),
            poll_interval: Duration::from_secs(1),
            poll_interval_max: Duration::from_secs(3),
        }
    }
}

/// How long a turn is waited for.
///
/// ```
/// let mut config = dirigent_core::Config::default();
/// assert_eq!(config.deadlines.run.map(|time| time.as_secs()), Some(600));
/// config.deadlines.run = None;
/// assert!(config.validate().is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Deadlines {
    /// How long a granted agent may take to start. Default 45 s; then one re-trigger, then it is
    /// skipped.
    pub start: Option<Duration>,
    /// Re-triggers before a granted agent is skipped. Default 1.
    pub retriggers: u8,
    /// How long a run may last. Default 10 min; then its agent is skipped.
    pub run: Option<Duration>,
    /// When a turn must have ended after it was granted, whatever happened in it but a wait for the
    /// reply. Default: start and run have their own deadlines only.
    pub turn: Option<Duration>,
    /// After this long, [`Cause::RunSlow`](crate::Cause::RunSlow) is reported for a run. Default: never; must be less than
    /// [`Deadlines::run`] to be of any use.
    pub slow_after: Option<Duration>,
    /// How long a turn waits for a chat that does not answer, before the channel becomes dormant
    /// until the chat is back. Default 1 h; at least one millisecond.
    pub outage_max: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            start: Some(Duration::from_secs(45)),
            retriggers: 1,
            run: Some(Duration::from_secs(600)),
            turn: None,
            slow_after: None,
            outage_max: Duration::from_secs(3_600),
        }
    }
}

/// What a channel, or an agent, may use up in all. Messages of people do not reset it.
///
/// ```
/// let mut config = dirigent_core::Config::default();
/// assert_eq!(config.budget.turns, None);
/// config.budget.turns = Some(0);
/// assert_eq!(config.validate().unwrap_err().field, "budget.turns");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct BudgetRules {
    /// Most turns in all; messages of people do not reset the count. Default none.
    pub turns: Option<u32>,
    /// Most cycles in all. Default none.
    pub cycles: Option<u32>,
    /// Most cost in all that the host reports, in its own unit. Default none.
    pub cost: Option<u64>,
    /// Most turns with a reply that an agent may have in an hour, at most 255. Default none.
    pub agent_turns_per_hour: Option<u8>,
}

/// What messages of people, and of bots that are no agents, do.
///
/// ```
/// use dirigent_core::config::HumanInterrupt;
/// let rules = dirigent_core::config::PeopleRules::default();
/// assert!(rules.human_interrupt == HumanInterrupt::Inject && rules.acknowledge);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeopleRules {
    /// What a human's message does to a turn under way. Default: it is handed to the speaker.
    pub human_interrupt: HumanInterrupt,
    /// How long an orchestrator may take to answer a human. Default 30 s.
    pub consult_deadline: Duration,
    /// What a person's message does that mentions agents. Default: these are asked first.
    pub mentions: MentionRule,
    /// Whether a person who stops or resumes the channel in words is answered with a notice.
    /// Default true. An operator's call is never answered.
    pub acknowledge: bool,
    /// What a message of another author does during confirmation. Default: restart the cycle.
    pub interrupt: InterruptPolicy,
    /// Whether unregistered bots and webhooks wake, interrupt and veto. Default false. A bot wakes the first of the
    /// list, with either [`WakeRule`].
    pub bots_qualify: bool,
    /// How long people must be quiet before their message wakes a dormant channel. Set it, for example to 2 s, if people
    /// write several short messages in a row, because agents then read them as one question. The channel waits at most 5 s
    /// after the first message. Stop words and operators act at once. Default zero: each message wakes at once.
    pub settle: Duration,
    /// If you set this, a person can take a question back: the message asks for no turn if it is deleted before another message
    /// came, before a turn took it, and while no agent has it. Default false.
    pub withdraw_deleted: bool,
}

impl Default for PeopleRules {
    fn default() -> Self {
        Self {
            human_interrupt: HumanInterrupt::Inject,
            consult_deadline: Duration::from_secs(30),
            mentions: MentionRule::First,
            acknowledge: true,
            interrupt: InterruptPolicy::RestartCycle,
            bots_qualify: false,
            settle: Duration::ZERO,
            withdraw_deleted: false,
        }
    }
}

/// Who is asked, in which order and how often.
///
/// ```
/// let rules = dirigent_core::config::OrderRules::default();
/// assert_eq!((rules.shuffle_first, rules.skip_last_speaker, rules.continuations), (false, true, 3));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct OrderRules {
    /// Whether the very first cycle is shuffled too; later ones always are, so that no order of talk becomes fixed. Default
    /// false: the first cycle is in the order in which the chat lists the agents.
    pub shuffle_first: bool,
    /// Who speaks first when an agent's message wakes the channel. Default: the first of the list.
    pub wake_rule: WakeRule,
    /// Whether an agent that passed is left out until something was said. Default false.
    pub skip_passed: bool,
    /// Whether an agent that spoke last is not asked again while nothing was said since: it
    /// counts as having passed, with [`Cause::NothingNew`](crate::Cause::NothingNew). Only an agent whose
    /// reply the library delivered: one that asks through its own gateway, or is woken by the host's
    /// waker, always has its turn. Default true; it saves the last call of each conversation.
    pub skip_last_speaker: bool,
    /// How often an agent that spoke without finishing its turn is asked to go on. Default 3.
    pub continuations: u8,
    /// Whether an agent that comes back has turns at once, and need not be assigned. Default false.
    pub auto_requeue: bool,
    /// Whether turns are kept in a chat in which only one agent is present: it answers each message of a person once, and its own
    /// messages never wake it. When a second agent comes, they take turns as ever. Default false: with one agent no turns are kept, and
    /// a hosted agent is not called. A discussion always needs two.
    pub single_agent: bool,
}

impl Default for OrderRules {
    fn default() -> Self {
        Self {
            shuffle_first: false,
            wake_rule: WakeRule::FirstInList,
            skip_passed: false,
            skip_last_speaker: true,
            continuations: 3,
            auto_requeue: false,
            single_agent: false,
        }
    }
}

/// How the initiator of a discussion is reminded, and when nobody waits for it any more.
///
/// ```
/// let rules = dirigent_core::config::DiscussionRules::default();
/// assert_eq!((rules.reminder_interval.as_secs(), rules.overdue_archive_after), (600, None));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiscussionRules {
    /// Least time between two idle reminders of a discussion, and from a reminded initiator's run in
    /// which nothing was said to the next reminder. Default 10 min.
    pub reminder_interval: Duration,
    /// How long a discussion that has reached a ceiling, or whose initiator was reminded three times
    /// while nothing was said, may lie idle before it is archived without a summary. Default: none. A
    /// discussion is then not archived for being at a ceiling; one whose initiator was reminded three
    /// times in vain is archived after [`DiscussionRules::reminder_interval`], at least 10 min.
    pub overdue_archive_after: Option<Duration>,
}

impl Default for DiscussionRules {
    fn default() -> Self {
        Self { reminder_interval: Duration::from_secs(600), overdue_archive_after: None }
    }
}

/// How the list of members is kept up to date, and when a channel that is idle is forgotten. The defaults suit
/// Discord; tests change them.
///
/// ```
/// let rules = dirigent_core::config::MemberRules::default();
/// assert_eq!((rules.refresh_deadline.as_secs(), rules.list_fresh.as_secs()), (10, 60));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemberRules {
    /// How long a member list may be outstanding. Default 10 s; then the old list is used.
    pub refresh_deadline: Duration,
    /// How old the list may be when a channel wakes. Default 60 s; zero: read anew, unless it
    /// was read at that very moment.
    pub list_fresh: Duration,
    /// How often a channel with too few agents is counted again, at most. Default 30 s.
    pub recount_interval: Duration,
    /// When an idle channel gives its memory back. Default 10 min.
    pub forget_after: Duration,
}

impl Default for MemberRules {
    fn default() -> Self {
        Self {
            refresh_deadline: Duration::from_secs(10),
            list_fresh: Duration::from_secs(60),
            recount_interval: Duration::from_secs(30),
            forget_after: Duration::from_secs(600),
        }
    }
}

impl Config {
    /// The same with a change: outside this crate a `Config` cannot be written with `..`.
    ///
    /// ```
    /// let config = dirigent_core::Config::default().with(|config| config.ceilings.chat.turns = Some(20));
    /// assert_eq!(config.ceilings.chat.turns, Some(20));
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
    /// - While the chat is away a turn waits, for [`outage_max`](Deadlines::outage_max): else it would be passed on
    ///   every 15 s, and the channel would become dormant although no agent was reached.
    /// - What an agent says within [`late_grace`](Confirmation::late_grace) of a turn whose reply was not recognised as a
    ///   whole is a late piece of that reply: else it would be a new message, which interrupts
    ///   the next agent.
    /// - A cycle at whose end no agent is left that could answer the last one is the last
    ///   ([`Cause::NoOtherAgent`](crate::Cause::NoOtherAgent)), because an agent would be asked to answer itself.
    /// - A message of a person that comes after the first turn of a cycle began asks for another cycle, although all agents
    ///   pass in this one, because those that had their turn before have not seen it.
    /// - Bots that are not registered neither wake nor interrupt ([`bots_qualify`](PeopleRules::bots_qualify)), because a bot that
    ///   answers bots would never let the channel rest.
    /// - An initiator is reminded at most once in [`reminder_interval`](DiscussionRules::reminder_interval), and three times if nothing
    ///   is said; then the discussion is archived. In an archived channel the last words of an agent that was running within
    ///   15 s, and bots within a minute of the notice before, get none.
    /// - Operators stop, hold, mute and choose, and a message or a run that is reported twice counts once.
    /// - What is remembered is bounded: 64 agents, 256 messages, 32 runs.
    ///
    /// ```
    /// assert_eq!(dirigent_core::Config::seed_literal().ceilings.chat.turns, None);
    /// ```
    pub fn seed_literal() -> Self {
        let mut config = Self::default();
        (config.deadlines.start, config.deadlines.run) = (None, None);
        let none = Ceiling { turns: None, cycles: None };
        (config.ceilings.chat, config.ceilings.discussion) = (none, none);
        config.members.list_fresh = Duration::MAX;
        config.confirmation.any_message_fallback = false;
        config.people.acknowledge = false;
        config.people.mentions = MentionRule::Ignored;
        config.order.skip_last_speaker = false;
        config
    }

    /// The message flow: a turn ends sixty seconds after it was granted, a notice in the channel
    /// says so, and in a chat agents that work on a task together may take 60 cycles and 240 turns before
    /// a person must speak, instead of 12 and 60. In a discussion the ceilings are the default ones, which are
    /// lower: 40 cycles and 160 turns.
    ///
    /// ```
    /// let config = dirigent_core::Config::message_flow();
    /// assert_eq!(config.deadlines.turn, Some(std::time::Duration::from_secs(60)));
    /// let ceilings = config.ceilings;
    /// assert_eq!((ceilings.chat.cycles, ceilings.chat.turns), (Some(60), Some(240)));
    /// assert_eq!((ceilings.discussion.cycles, ceilings.discussion.turns), (Some(40), Some(160)));
    /// ```
    pub fn message_flow() -> Self {
        let mut config = Self::default();
        config.deadlines.turn = Some(Duration::from_secs(60));
        (config.deadlines.start, config.deadlines.run) = (None, None);
        config.ceilings.chat = Ceiling { turns: Some(240), cycles: Some(60) };
        config.announce_timeouts = true;
        config
    }

    /// Checks that every value can be obeyed.
    ///
    /// # Errors
    ///
    /// Names the first field whose value cannot be obeyed, and why.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let positive = "must be at least one millisecond";
        let ceiling = "must be at least 1, or none for no ceiling";
        let Self { confirmation, deadlines, ceilings, budget, people, discussion, members, .. } =
            self;
        let or_never = |time: Option<Duration>| time.unwrap_or(Duration::MAX);
        let durations = [
            ("confirmation.delivery_timeout", confirmation.delivery_timeout),
            ("confirmation.poll_first", confirmation.poll_first),
            ("confirmation.poll_interval", confirmation.poll_interval),
            ("members.refresh_deadline", members.refresh_deadline),
            ("members.recount_interval", members.recount_interval),
            ("members.forget_after", members.forget_after),
            ("people.consult_deadline", people.consult_deadline),
            ("deadlines.outage_max", deadlines.outage_max),
            ("deadlines.turn", or_never(deadlines.turn)),
            ("deadlines.slow_after", or_never(deadlines.slow_after)),
            ("deadlines.start", or_never(deadlines.start)),
            ("deadlines.run", or_never(deadlines.run)),
            ("ceilings.discussion_time", or_never(ceilings.discussion_time)),
            ("discussion.overdue_archive_after", or_never(discussion.overdue_archive_after)),
        ];
        if let Some((field, _)) = durations.iter().find(|(_, d)| d.as_millis() == 0) {
            return Err(ConfigError { field, why: positive });
        }
        let fingerprint_fits = confirmation.fingerprint_length <= Tail::MAX;
        let poll_grows = confirmation.poll_interval_max >= confirmation.poll_interval;
        let hourly = budget.agent_turns_per_hour;
        let Ceilings { chat, discussion, .. } = ceilings;
        let rules = [
            (fingerprint_fits, "confirmation.fingerprint_length", "must be at most 64"),
            (poll_grows, "confirmation.poll_interval_max", "must not be below poll_interval"),
            (
                hourly != Some(0),
                "budget.agent_turns_per_hour",
                "must be at least 1, or none for no cap",
            ),
            (budget.turns != Some(0), "budget.turns", "must be at least 1, or none"),
            (budget.cycles != Some(0), "budget.cycles", "must be at least 1, or none"),
            (budget.cost != Some(0), "budget.cost", "must be at least 1, or none"),
            (chat.turns != Some(0), "ceilings.chat.turns", ceiling),
            (chat.cycles != Some(0), "ceilings.chat.cycles", ceiling),
            (discussion.turns != Some(0), "ceilings.discussion.turns", ceiling),
            (discussion.cycles != Some(0), "ceilings.discussion.cycles", ceiling),
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
/// config.ceilings.chat.turns = Some(0);
/// let error = config.validate().unwrap_err();
/// assert!(error.to_string().starts_with("ceilings.chat.turns must be"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigError {
    /// The field's name with its group, for example `ceilings.chat.turns`.
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
