//! The rules that a host may choose, with their defaults.

use core::fmt;
use core::time::Duration;

use crate::Tail;

/// The time after archiving in which the last words of agents that were running draw no notice, because these words
/// were already under way.
pub(crate) const FAREWELL: Duration = Duration::from_secs(15);

/// The least time between two notices that bots cause in an archived channel. Without it, two bots that answer notices
/// would go on for ever.
pub(crate) const BOT_NOTICE_INTERVAL: Duration = Duration::from_secs(60);

/// When a delivered trigger message is removed again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TriggerCleanup {
    /// Removes it as soon as the post is confirmed. This is the default.
    Immediate,
    /// Removes it when the next trigger is posted. Choose this if your agents answer by a reference to the trigger.
    OnNext,
    /// Removes it this long after it was posted.
    After(Duration),
    /// Leaves the message in the channel.
    Never,
}

/// The effect of another author's qualifying message while a reply is being confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InterruptPolicy {
    /// Starts a new cycle with the first agent of the list.
    RestartCycle,
    /// Ends the wait, and the next agent in the list has its turn.
    AdvanceNormally,
}

/// The effect of a human's message on a turn that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HumanInterrupt {
    /// Hands it to the speaker at once, and the turn goes on.
    Inject,
    /// Queues it until the turn ends.
    Queue,
    /// Makes the turn wait until an orchestrator has answered the message.
    Interrupt,
}

/// The agent that speaks first when an agent's message wakes the channel.
///
/// You may want one rule with three cases: a human wakes the first of the list, an agent the one after it, and any
/// other bot the first. That takes two options, because without [`PeopleRules::bots_qualify`] a bot that is no agent
/// wakes no agent.
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
    /// Starts with the first of the list.
    FirstInList,
    /// Starts with the agent after the sender. If the sender is not listed, it starts with the first.
    NextAfterSender,
}

/// The effect of a person's message that mentions agents, in addition to waking the channel.
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
    /// Ignores the mention, and the order stays as it was.
    Ignored,
    /// Starts a new cycle as soon as no turn is under way. The mentioned agents come first, in the order of the list,
    /// and the others follow.
    First,
    /// Lets only the mentioned agents speak for one cycle. After that the old order returns.
    Only,
}

/// The rules of a channel, in groups. All channels of a host share them unless you give a channel its own.
///
/// You can switch off every limit that is an `Option` with `None`. Each field says its default.
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
    /// Rules to recognise the reply of an agent that posts by itself.
    pub confirmation: Confirmation,
    /// Time limits for the parts of a turn.
    pub deadlines: Deadlines,
    /// Ceilings for talk among agents without a person.
    pub ceilings: Ceilings,
    /// Budgets that messages of people do not reset.
    pub budget: BudgetRules,
    /// The effects of messages from people, and from bots that are no agents.
    pub people: PeopleRules,
    /// The order of the agents, and how often each is asked.
    pub order: OrderRules,
    /// Reminders for the initiator of a discussion.
    pub discussion: DiscussionRules,
    /// Rules that keep the list of members up to date. No host needs to change it; tests do.
    #[doc(hidden)]
    pub members: MemberRules,
    /// When triggers are removed. Default: at once.
    pub trigger_cleanup: TriggerCleanup,
    /// If true, a notice in the channel says that an agent's turn timed out. Default false.
    pub announce_timeouts: bool,
    /// If true, a notice in the channel says that a listed agent went offline. Default false.
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

/// The most turns and the most cycles since a human last spoke.
///
/// ```
/// let ceilings = dirigent_core::Config::default().ceilings;
/// assert_eq!((ceilings.chat.turns, ceilings.chat.cycles), (Some(60), Some(12)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ceiling {
    /// The most turns since a human last spoke. A turn in which the agent passed counts, too. With `None` there is no
    /// ceiling.
    pub turns: Option<u32>,
    /// The most cycles since a human last spoke. With `None` there is no ceiling.
    pub cycles: Option<u32>,
}

/// The ceilings for talk among agents. You need a ceiling because two agents that thank each other would otherwise
/// never stop.
///
/// ```
/// let mut config = dirigent_core::Config::default();
/// config.ceilings.chat.turns = Some(0);
/// assert_eq!(config.validate().unwrap_err().field, "ceilings.chat.turns");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ceilings {
    /// The ceiling of a chat. Default 60 turns and 12 cycles; [`Config::message_flow`] has 240 and 60.
    pub chat: Ceiling,
    /// The ceiling of a discussion. When it is reached, the initiator is reminded to conclude. Default 160 turns and 40
    /// cycles, which are forty cycles of four agents. It is higher than in a chat because agents that work out a result
    /// talk longer among themselves.
    pub discussion: Ceiling,
    /// The longest time that a discussion may go on after it was created or after a human last spoke. By default there
    /// is no such limit.
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

/// Rules to recognise the reply of an agent that posts by itself. You need these rules only if your agents do that,
/// because a reply that the library posts is known to be there.
///
/// ```
/// let rules = dirigent_core::config::Confirmation::default();
/// assert_eq!((rules.fingerprint_length, rules.delivery_timeout.as_secs()), (40, 15));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Confirmation {
    /// The number of scalars at the reply's end that must arrive. With 0 any message of the author confirms the reply.
    /// Default 40, at most [`Tail::MAX`].
    pub fingerprint_length: usize,
    /// The longest time that a reply may take to arrive after its run ended. After that the turn counts as a reply,
    /// although it was not confirmed. Default 15 s.
    pub delivery_timeout: Duration,
    /// The time that an author must be quiet before *any* of its messages confirms the reply. Default 1.5 s.
    pub quiet_period: Duration,
    /// If true, messages of the author can confirm a reply although the fingerprint never matched, for example because
    /// the host rewrote it. Default true.
    ///
    /// The wait depends on how much arrived. It is [`Confirmation::quiet_period`] if the messages are as long as the
    /// reply, or if one has an attachment. It is half of [`Confirmation::delivery_timeout`] if they are a little
    /// shorter, or if the length of the reply is unknown. If they are clearly shorter, they never confirm it.
    pub any_message_fallback: bool,
    /// The time after a turn in which messages of its agent count as late pieces of that turn. A late piece does not
    /// wake, interrupt, request a cycle or count. This applies only if the whole reply is not known to have arrived, by
    /// a receipt or by its end and its length. Default 30 s.
    pub late_grace: Duration,
    /// The time from a run's end to the first poll. Default 300 ms.
    pub poll_first: Duration,
    /// The time from the first poll's answer to the next poll. It grows by half each time. Default 1 s.
    pub poll_interval: Duration,
    /// The longest interval that polls grow to. Default 3 s.
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

/// Time limits for the parts of a turn.
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
    /// The longest time that a granted agent may take to start. After that it is triggered once more, and then skipped.
    /// Default 45 s.
    pub start: Option<Duration>,
    /// The number of re-triggers before a granted agent is skipped. Default 1.
    pub retriggers: u8,
    /// The longest time that a run may last. After that it is cancelled, and its agent is skipped unless a message of
    /// it arrived. Default 10 min.
    pub run: Option<Duration>,
    /// The longest time that a turn may last after its grant, whatever happens in it. The wait for the reply's arrival
    /// is not included. By default only start and run have deadlines.
    pub turn: Option<Duration>,
    /// The time after which [`Cause::RunSlow`](crate::Cause::RunSlow) is reported for a run. It is of use only if it is
    /// less than [`Deadlines::run`]. Default: never.
    pub slow_after: Option<Duration>,
    /// The longest time that a turn waits for a chat that does not answer. After that the channel becomes dormant until
    /// the chat is back. At least one millisecond, default 1 h.
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

/// Budgets for all that a channel or an agent may use up. Messages of people do not reset them; an operator does.
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
    /// The most turns in all. Messages of people do not reset the count. By default there is no limit.
    pub turns: Option<u32>,
    /// The most cycles in all. By default there is no limit.
    pub cycles: Option<u32>,
    /// The highest cost in all, in the unit that your host reports. By default there is no limit.
    pub cost: Option<u64>,
    /// The most turns with a reply that one agent may have in an hour, at most 255. By default there is no limit.
    pub agent_turns_per_hour: Option<u8>,
}

/// The effects of messages from people, and from bots that are no agents.
///
/// ```
/// use dirigent_core::config::HumanInterrupt;
/// let rules = dirigent_core::config::PeopleRules::default();
/// assert!(rules.human_interrupt == HumanInterrupt::Inject && rules.acknowledge);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeopleRules {
    /// The effect of a human's message on a turn under way. By default the speaker gets it at once.
    pub human_interrupt: HumanInterrupt,
    /// The longest time that an orchestrator may take to answer a human. Default 30 s.
    pub consult_deadline: Duration,
    /// The effect of a person's message that mentions agents. By default these agents are asked first.
    pub mentions: MentionRule,
    /// If true, a notice answers a person who stops or resumes the channel with a word. A call of an operator is never
    /// answered that way. Default true.
    pub acknowledge: bool,
    /// The effect of another author's message while a reply is being confirmed. By default the cycle restarts.
    pub interrupt: InterruptPolicy,
    /// If true, unregistered bots and webhooks wake the channel, interrupt, and request a cycle. Such a bot wakes the
    /// first of the list with either [`WakeRule`]. Default false.
    pub bots_qualify: bool,
    /// The time that people must be quiet before their message wakes a dormant channel. Set it, for example to 2 s, if
    /// people write several short messages in a row, because agents then read them as one question. The channel waits
    /// at most 5 s after the first message. Stop words and operators act at once. Default zero: each message wakes at
    /// once.
    pub settle: Duration,
    /// If true, a person can take a question back by deleting it. The message then asks for no turn, unless another
    /// message came, an agent has it, or a turn took it before. Default false.
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

/// The order of the agents, and how often each is asked.
///
/// ```
/// let rules = dirigent_core::config::OrderRules::default();
/// assert_eq!((rules.shuffle_first, rules.skip_last_speaker, rules.continuations), (false, true, 3));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct OrderRules {
    /// If true, the very first cycle is shuffled too. Later cycles always are, so that no order of talk becomes fixed.
    /// Default false: the first cycle has the chat's order of the agents.
    pub shuffle_first: bool,
    /// The agent that speaks first when an agent's message wakes the channel. Default: the first of the list.
    pub wake_rule: WakeRule,
    /// If true, an agent that passed is left out until something is said. Default false.
    pub skip_passed: bool,
    /// If true, the agent that spoke last is not asked again until something is said. It then counts as having passed,
    /// with [`Cause::NothingNew`](crate::Cause::NothingNew). This saves the last call of each conversation. It applies
    /// only if the library delivered the agent's reply. An agent that asks through its own gateway, or that your waker
    /// triggers, always has its turn. Default true.
    pub skip_last_speaker: bool,
    /// The number of times that an agent which spoke without finishing its turn is asked to go on. Default 3.
    pub continuations: u8,
    /// If true, an agent that comes back has turns at once, and you need not assign it. Default false.
    pub auto_requeue: bool,
    /// If true, a chat with only one agent keeps turns. The agent answers each message of a person once, and its own
    /// messages never wake it. When a second agent comes, they take turns as usual. A discussion always needs two
    /// agents. Default false: one agent alone has no turns, and a hosted agent is not called.
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

/// Reminders for the initiator of a discussion, and the time after which the discussion stops waiting for it.
///
/// ```
/// let rules = dirigent_core::config::DiscussionRules::default();
/// assert_eq!((rules.reminder_interval.as_secs(), rules.overdue_archive_after), (600, None));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiscussionRules {
    /// The least time between two idle reminders of a discussion. It is also the time to the next reminder if the
    /// initiator ran and stayed silent. Default 10 min.
    pub reminder_interval: Duration,
    /// The time that a discussion may lie idle before it is archived without a summary. It applies at a ceiling, and
    /// after three reminders in vain. By default it is unset. A discussion at a ceiling is then not archived for that.
    /// One with three reminders in vain is archived after [`DiscussionRules::reminder_interval`], but not before 10
    /// min.
    pub overdue_archive_after: Option<Duration>,
}

impl Default for DiscussionRules {
    fn default() -> Self {
        Self { reminder_interval: Duration::from_secs(600), overdue_archive_after: None }
    }
}

/// Rules that keep the list of members up to date, and that free the memory of an idle channel. The defaults suit
/// Discord, and only tests change them.
///
/// ```
/// let rules = dirigent_core::config::MemberRules::default();
/// assert_eq!((rules.refresh_deadline.as_secs(), rules.list_fresh.as_secs()), (10, 60));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemberRules {
    /// The longest time to wait for a member list. After that the old list is used. Default 10 s.
    pub refresh_deadline: Duration,
    /// The greatest age of the list when a channel wakes. With zero the list is read anew, unless it was read at that
    /// very moment. Default 60 s.
    pub list_fresh: Duration,
    /// The least time between two counts of a channel with too few agents. Default 30 s.
    pub recount_interval: Duration,
    /// The idle time after which a channel gives its memory back. Default 10 min.
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
    /// Returns this configuration with a change. Outside this crate you cannot write a `Config` with `..`, so use this
    /// instead.
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

    /// Returns settings that follow the original specification literally, without what field use added. There are no
    /// start and run deadlines, no ceilings, no refresh on waking, no confirmation by any message, and no answer to a
    /// stop word. A mention is an ordinary word, and the agent that spoke last is asked again.
    ///
    /// Whatever the specification leaves open keeps its default, because a channel would break its other promises
    /// without it:
    ///
    /// - While the member list was never read, no agent may speak, and the list is requested again. Otherwise the list
    ///   would be empty, and every agent could speak at once.
    /// - While the chat is away, a turn waits for up to [`outage_max`](Deadlines::outage_max). Otherwise the floor
    ///   would pass on every 15 s, and the channel would become dormant although no agent was reached.
    /// - Words that an agent says within [`late_grace`](Confirmation::late_grace) of a turn whose whole reply was not
    ///   recognised are a late piece of that reply. Otherwise they would be a new message, which interrupts the next
    ///   agent.
    /// - A cycle is the last one if no agent is left that could answer the last speaker
    ///   ([`Cause::NoOtherAgent`](crate::Cause::NoOtherAgent)), because otherwise an agent would be asked to answer
    ///   itself.
    /// - A person's message after the first turn of a cycle asks for another cycle, even if all agents pass in this
    ///   one, because those that had their turn before have not seen it.
    /// - Bots that are not registered neither wake nor interrupt ([`bots_qualify`](PeopleRules::bots_qualify)), because
    ///   a bot that answers bots would never let the channel rest.
    /// - An initiator is reminded at most once in [`reminder_interval`](DiscussionRules::reminder_interval), and three
    ///   times in vain. Then the discussion is archived. In an archived channel there is no notice for the last words
    ///   within 15 s of an agent that was running, nor for a bot within a minute of the notice before.
    /// - Operators stop, hold, mute and choose. A message or a run that is reported twice counts once.
    /// - The memory is bounded: 64 agents, 256 messages, 32 runs.
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

    /// Returns settings for agents that work on a task together. A turn ends sixty seconds after its grant, and a
    /// notice in the channel says so. In a chat, agents may take 60 cycles and 240 turns before a person must speak,
    /// instead of 12 and 60. In a discussion the default ceilings stay, which are lower: 40 cycles and 160 turns.
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
    /// Returns the first field with a value that cannot be obeyed, and why.
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

/// The error for a setting that cannot be obeyed.
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
    /// The condition that its value must meet, for example `must be at least 1, or none`.
    pub why: &'static str,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.field, self.why)
    }
}

impl core::error::Error for ConfigError {}
