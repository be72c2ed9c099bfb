//! What a host may choose: the rules themselves are in [`Config`](crate::Config), how they are carried out in
//! [`Settings`].

pub(crate) mod heartbeat;
mod identity_line;
pub(crate) mod profile;
pub(crate) mod words;

use std::time::Duration;

pub use dirigent_core::config::{
    ConfigError, HumanInterrupt, InterruptPolicy, MentionRule, TriggerCleanup, WakeRule,
};
pub use dirigent_core::text::{CompletionPolicy, HumanMarker, SilencePolicy};
use dirigent_core::text::{Reading, Signal};
use dirigent_core::{Outcome, Tail};

use crate::record::channel::ReplyEnd;
use crate::text::plain::{is_visible, literal};
use crate::values::summary::Summary;
pub use heartbeat::Heartbeat;
pub use identity_line::{IdentityLine, UnknownField};
pub use profile::{FlowConfig, InterruptMode, Profile, TurnBehavior};

/// How decisions are carried out; the rules themselves are in [`Config`](crate::Config).
///
/// ```
/// use dirigent::Settings;
///
/// let mut settings = Settings::default();
/// settings.trigger_template = "<@{discordUserId}> your turn".to_owned();
/// assert_eq!(settings.trigger_identifier, "➡️");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
#[non_exhaustive]
pub struct Settings {
    /// The trigger message. `{discordUserId}` is the agent's account, `{identifier}` the next
    /// setting.
    pub trigger_template: String,
    /// What `{identifier}` stands for. Default `➡️`.
    pub trigger_identifier: String,
    /// The model that a denied run may be sent to where the host cannot skip it. Default
    /// `dirigent/no-reply`.
    pub no_reply_model: String,
    /// The words of the reminder of a discussion in which no agent has anything to say.
    pub idle_reminder: String,
    /// The words of the reminder of a discussion whose agents have talked as long as they may without a
    /// person. Default [`CEILING_REMINDER`](Self::CEILING_REMINDER).
    pub ceiling_reminder: String,
    /// The words of the notice in an archived channel.
    pub archived_notice: String,
    /// The words of the notice in a concluded discussion.
    pub closed_notice: String,
    /// The words of the notice at a ceiling.
    pub ceiling_notice: String,
    /// The words of the notice when an agent's turn timed out. `{agent}` is the agent's name for
    /// people, or its id where it is not registered any more, as plain text that mentions no account.
    pub timeout_notice: String,
    /// The words of the notice when an agent went offline. `{agent}` as above.
    pub disconnect_notice: String,
    /// The words of the notice when a budget is spent.
    pub budget_notice: String,
    /// A discussion's result. `{discussionChannel}` is its channel, `{summary}` the path that the
    /// initiator gave, as plain text: with backslashes before what Discord would take for Markdown, a mention or
    /// a link. Put no backticks around it.
    pub result_template: String,
    /// The same, where the initiator gave the summary itself: `{summary}` is its text, as it is. It pings no account.
    pub result_text_template: String,
    /// The result of a discussion that ended without a summary; as above.
    pub unfinished_template: String,
    /// The result of a discussion that its initiator did not conclude although it was reminded; as above.
    pub overdue_template: String,
    /// What counts as silence. Default [`SilencePolicy::Tolerant`]: `NO_REPLY`, also in quotation marks or emphasis or with
    /// final punctuation.
    pub silence: SilencePolicy,
    /// What completes a turn: the end of its run (default), or a signal in a reply. A hosted reply
    /// is posted without the signal, unless the signal says otherwise.
    pub completion: CompletionPolicy,
    /// The mark at a reply's end with which an agent asks for a person: everybody waits until one writes.
    /// Default: there is none.
    pub human_marker: Option<HumanMarker>,
    /// A person's message that is one of these and nothing else stops the channel; see
    /// [`Settings::is_stop_word`] for how it is read. Default `stop`, `停` and `停止`.
    pub stop_words: Vec<String>,
    /// A person's message that is one of these and nothing else resumes a channel that is stopped or
    /// held; elsewhere it is conversation. Default `resume`, `继续` and `恢复`.
    pub resume_words: Vec<String>,
    /// The words of the notice when a person or an operator stopped the channel.
    pub stopped_notice: String,
    /// The words of the notice when a stop or a hold was ended, and the agents go on.
    pub resumed_notice: String,
    /// The words of the notice when a stop or a hold was ended and nothing is left to go on with, for example because
    /// every agent had finished: they say what is needed.
    pub resumed_idle_notice: String,
    /// Whether an agent that neither the library nor a waker can call is woken by a trigger message.
    /// Default true. Without, its host must ask by itself whether the turn has come.
    pub notify: bool,
    /// How often may be posted.
    pub pacing: Pacing,
    /// Most messages that the reply of a hosted agent, or an answer of the orchestrator, is posted as: 1 to
    /// 1,000, default 10. What is beyond is not posted, and one message more says so. The agent is handed it back
    /// with its next turn ([`Turn::late_answer`](crate::Turn::late_answer)), if it is not longer than 32 KiB. If a
    /// reply that was cut is not posted whole either, its messages that were not posted come before that.
    pub reply_parts_max: usize,
    /// The words that end a reply of which not everything is posted; empty for none.
    pub cut_notice: String,
    /// How many channels agents may create with the [tools](crate::tools).
    pub creations: CreationLimits,
    /// Messages read by a poll, 1 to 100. Default 20.
    pub poll_limit: u8,
    /// Most messages that an agent is handed with a turn ([`Turn::missed`](crate::Turn::missed)), at least 1. If people said
    /// more, the oldest come first and the rest comes with the agent's next turns: the channel wakes for it by itself, unless
    /// it reached a ceiling, an agent awaits a person, or each agent failed. Then it goes on at the next message of a
    /// person. Default 500.
    pub missed_max: usize,
    /// About how many bytes of messages an agent is handed with a turn: their texts, and 32 for each besides. One message
    /// always is. Default 64 KiB.
    pub missed_bytes_max: usize,
    /// About how many bytes of messages the whole process keeps in memory for agents that are still to be handed them. Above,
    /// the channel that was idle longest lets its own go; they are read again from the chat once an agent needs them.
    /// Default 64 MiB.
    pub texts_bytes_max: usize,
    /// Whether a hosted agent's reply is left out that says nearly word for word what it, or another agent, said since a
    /// person last wrote: it counts as having nothing to add ([`Cause::Repeated`](crate::operate::Cause::Repeated)), and the
    /// agent learns of it. What an agent posts itself, through a gateway of its own, counts in the same way, by the text that its
    /// host reports or by its messages, but stays in the channel: the library does not see it before it is posted. Words are compared, without case, punctuation, names and the numbers of lists; votes, code that
    /// differs, and answers of a few words never count. No text is kept. Default true.
    pub skip_repetitions: bool,
    /// What a trigger message also says to an agent whose newest reply repeated what was said; empty for nothing.
    pub repetition_hint: String,
    /// Most hosted agents that run at once. Default 1,024; further calls wait.
    pub calls_max: usize,
    /// Most questions to the orchestrator that are asked at once, apart from the agents. Default 64;
    /// further ones wait.
    pub consults_max: usize,
    /// How long one attempt at the chat may take before it counts as unanswered. Default 10 s.
    pub attempt_timeout: Duration,
    /// How long one attempt at a store may take, and a request at the start or of a tool with all its
    /// repetitions. Default 30 s.
    pub work_deadline: Duration,
    /// How long a public call may wait for the store. Default 10 s.
    pub call_deadline: Duration,
    /// Repetitions of a failed request at the start and of tools. Default 3. What a room posts is repeated
    /// for as long as it is wanted.
    pub retries: u32,
    /// Human messages missed while the process was down wake a channel only if they are younger. Default
    /// 15 min. Those missed while it was up, since the gateway or the network was away, wake as long as a
    /// chat that is away is waited for, too: if they are younger than
    /// [`Config::outage_max`](dirigent_core::Config::outage_max), by default 1 h.
    pub missed_wake_max: Duration,
    /// What becomes of a hosted run that a crash cut off. Default: it is skipped.
    pub lost_runs: LostRuns,
    /// When an agent whose heartbeats stay away counts as offline. Default: never; the host says so.
    pub heartbeat: Option<Heartbeat>,
    /// After how many calls in a row that failed or panicked, in whatever channels, a hosted agent counts as
    /// offline; 0 is taken for 1. It comes back with [`Dirigent::agent_online`](crate::Dirigent::agent_online) or
    /// a [heartbeat](crate::Dirigent::heartbeat). Default: never; its turn is over each time.
    pub offline_after_failures: Option<u32>,
    /// Transitions kept for a slow listener, 1 to 65,536. Default 1,024; then it lags.
    pub transitions_max: usize,
    /// How often channels are looked at for messages of which no event told. Default: 100 of them
    /// every 5 minutes, and a channel that becomes dormant is looked at once more, if it was not since
    /// something was said there. `None`: never; then a lost event is found by the next restart or
    /// [`Dirigent::reconnected`](crate::Dirigent::reconnected), unless the channel became dormant before.
    pub backfill: Option<Backfill>,
    /// Whether a hosted agent's account shows that it is typing while the agent runs. Default: no.
    pub typing: bool,
    /// Whether a thread that was never given a mode takes over that of its parent, chat or report,
    /// when something is said in it, or was said in the last hour while the gateway or the process was away. Default: no, each
    /// stands alone.
    pub inherit_parent_mode: bool,
}

/// How often channels are looked at for messages of which no event told.
///
/// ```
/// use dirigent::settings::Backfill;
/// use std::time::Duration;
/// let backfill = Backfill { every: Duration::from_secs(300), channels: 100 };
/// assert_eq!(backfill.channels, 100);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "two numbers that hosts write down")]
pub struct Backfill {
    /// The time from one round to the next; at least a second.
    pub every: Duration,
    /// How many channels a round looks at, each with one request unless much was missed: first those
    /// in memory, which are those that spoke in the last minutes, then the others in turn. A quarter
    /// is always left to the others.
    pub channels: usize,
}

/// What becomes of a run that a crash cut off.
///
/// ```
/// use dirigent::settings::LostRuns;
/// assert_ne!(LostRuns::Skip, LostRuns::Rerun);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LostRuns {
    /// Its turn is over. What it was given is for the next turn, which is the same agent's where no other takes
    /// one.
    Skip,
    /// Its agent is asked once more. In a discussion whose initiator was reminded and ran, the reminder is posted
    /// again first, three times in all while nothing is said; then the run is over.
    Rerun,
    /// As [`LostRuns::Skip`] for agents that the library calls. Runs of agents that the host calls in other
    /// processes go on, and keep what remains of [`Config::run_deadline`](crate::Config). Without such a
    /// deadline a run keeps the floor until the host says that it ended, its agent goes offline, or a
    /// person or an operator stops the channel: set one.
    Keep,
}

/// How often may be posted: a burst within a window each.
///
/// ```
/// use dirigent::settings::Pacing;
/// assert!(Pacing::off().channel.is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pacing {
    /// Posts in one channel. Default 5 in 5 s.
    pub channel: Option<Pace>,
    /// Triggers for one agent in one channel. Default 15 in 60 s.
    pub agent: Option<Pace>,
    /// Posts in all channels together. Default 40 in 1 s, below Discord's 50 requests.
    pub global: Option<Pace>,
}

/// How many channels agents may create with the [tools](crate::tools), discussions included. `None` sets
/// no limit; a count of 0 allows none.
///
/// A call beyond a limit is refused before anything is created
/// ([`CreationLimit`](crate::tools::ToolError::CreationLimit),
/// [`OpenLimit`](crate::tools::ToolError::OpenLimit),
/// [`GuildFull`](crate::tools::ToolError::GuildFull)). Attempts that surely created nothing do not count;
/// those of which that is not known do.
///
/// The defaults stop an agent that creates channels in a loop, and leave the last hundred of the 500 channels
/// that Discord allows in a guild to people.
///
/// ```
/// use dirigent::settings::CreationLimits;
/// assert_eq!(CreationLimits::default().open, Some(50));
/// assert_eq!(CreationLimits::off().open, None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CreationLimits {
    /// Channels that one agent creates, in all guilds together. Default 5 in an hour. Counted in memory, by
    /// the driver's clock: a restart begins anew.
    pub agent: Option<Pace>,
    /// Channels that all agents create in one guild. Default 20 in an hour. Counted like `agent`.
    pub guild: Option<Pace>,
    /// Channels of one guild that are open at the same time. Default 50. An open channel is a private one that
    /// has a mode and is not archived, so those count as well that a person gave a mode. Each creation lists the
    /// guild's channels and reads their records, so the count survives a restart.
    pub open: Option<usize>,
    /// Agents create no channel where the guild has this many, of every kind and by every creator. Default
    /// 400. Archived discussions are among them until a person deletes their channels.
    pub total: Option<usize>,
}

impl CreationLimits {
    /// No limits: for hosts that have limits of their own.
    pub const fn off() -> Self {
        Self { agent: None, guild: None, open: None, total: None }
    }
}

impl Default for CreationLimits {
    fn default() -> Self {
        let pace = |burst| Some(Pace { burst, window: Duration::from_secs(3_600) });
        Self { agent: pace(5), guild: pace(20), open: Some(50), total: Some(400) }
    }
}

/// A number of posts, or of channels created, within a length of time.
///
/// ```
/// use dirigent::settings::Pace;
/// use std::time::Duration;
/// let pace = Pace { burst: 5, window: Duration::from_secs(5) };
/// assert_eq!(pace.burst, 5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "two numbers that hosts write down")]
pub struct Pace {
    /// The most of them.
    pub burst: usize,
    /// In any stretch of this length.
    pub window: Duration,
}

impl Pacing {
    /// No pacing: for tests and for chats without limits.
    pub const fn off() -> Self {
        Self { channel: None, agent: None, global: None }
    }
}

impl Default for Pacing {
    fn default() -> Self {
        let pace = |burst, seconds| Some(Pace { burst, window: Duration::from_secs(seconds) });
        Self { channel: pace(5, 5), agent: pace(15, 60), global: pace(40, 1) }
    }
}

impl Default for Settings {
    fn default() -> Self {
        use dirigent_core::Notice;
        use dirigent_core::text::IDLE_REMINDER;
        Self {
            trigger_template: "<@{discordUserId}>{identifier}".to_owned(),
            trigger_identifier: "➡️".to_owned(),
            no_reply_model: "dirigent/no-reply".to_owned(),
            idle_reminder: IDLE_REMINDER.to_owned(),
            ceiling_reminder: Self::CEILING_REMINDER.to_owned(),
            archived_notice: Notice::Archived.text().to_owned(),
            closed_notice: Notice::Closed.text().to_owned(),
            ceiling_notice: Notice::Ceiling.text().to_owned(),
            timeout_notice: Self::TIMEOUT_NOTICE.to_owned(),
            disconnect_notice: Self::DISCONNECT_NOTICE.to_owned(),
            budget_notice: Notice::Budget.text().to_owned(),
            result_template: "Discussion <#{discussionChannel}> is concluded. Summary: {summary}"
                .to_owned(),
            result_text_template:
                "Discussion <#{discussionChannel}> is concluded. Summary:\n{summary}".into(),
            unfinished_template: "Discussion <#{discussionChannel}> was closed without a summary."
                .to_owned(),
            overdue_template: "Discussion <#{discussionChannel}> was closed without a summary: \
                               its initiator did not conclude it in time."
                .to_owned(),
            silence: SilencePolicy::default(),
            completion: CompletionPolicy::default(),
            human_marker: None,
            stop_words: ["stop", "停", "停止"].map(str::to_owned).into(),
            resume_words: ["resume", "继续", "恢复"].map(str::to_owned).into(),
            stopped_notice: Self::STOPPED_NOTICE.to_owned(),
            resumed_notice: Self::RESUMED_NOTICE.to_owned(),
            resumed_idle_notice: Self::RESUMED_IDLE_NOTICE.to_owned(),
            pacing: Pacing::default(),
            reply_parts_max: 10,
            cut_notice: Self::CUT_NOTICE.to_owned(),
            creations: CreationLimits::default(),
            poll_limit: 20,
            missed_max: 500,
            missed_bytes_max: 64 * 1_024,
            texts_bytes_max: 64 * 1_024 * 1_024,
            skip_repetitions: true,
            repetition_hint: Self::REPETITION_HINT.to_owned(),
            calls_max: 1_024,
            consults_max: 64,
            attempt_timeout: Duration::from_secs(10),
            work_deadline: Duration::from_secs(30),
            call_deadline: Duration::from_secs(10),
            retries: 3,
            missed_wake_max: Duration::from_secs(900),
            lost_runs: LostRuns::Skip,
            heartbeat: None,
            offline_after_failures: None,
            transitions_max: 1_024,
            backfill: Some(Backfill { every: Duration::from_secs(300), channels: 100 }),
            notify: true,
            typing: false,
            inherit_parent_mode: false,
        }
    }
}

impl Settings {
    /// How old the newest message of a thread without a mode may be that was said while the gateway or the process was away, so that
    /// the thread takes over its parent's mode ([`inherit_parent_mode`](Self::inherit_parent_mode)): an hour.
    pub const MISSED_IN_THREAD: Duration = Duration::from_secs(60 * 60);

    /// The same with a change: outside this crate `Settings` cannot be written with `..`.
    ///
    /// ```
    /// let settings = dirigent::Settings::default().with(|settings| settings.reply_parts_max = 3);
    /// assert_eq!(settings.reply_parts_max, 3);
    /// ```
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// The default words of the reminder of a discussion that has reached a ceiling.
    pub const CEILING_REMINDER: &str = "The agents have talked as long as they may without a person. \
                                        Please summarize and call discussion-complete.";
    /// The default words of the notice when an agent's turn timed out.
    pub const TIMEOUT_NOTICE: &str = "⏱️ {agent} turn timed out, moving to next agent";
    /// The default words of the notice when an agent went offline.
    pub const DISCONNECT_NOTICE: &str = "⚠️ {agent} disconnected";
    /// The default words that end a reply of which not everything is posted.
    pub const CUT_NOTICE: &str = "✂️ The rest of this reply was too long and was not posted.";
    /// The default of what a trigger message also says to an agent that repeated what was said.
    pub const REPETITION_HINT: &str =
        "Your newest message repeated what was said: say something new, or nothing.";
    /// The default words of the notice when the channel was stopped.
    pub const STOPPED_NOTICE: &str = "⏹️ Stopped. Write \"resume\" to go on.";
    /// The default words of the notice when a stop or a hold was ended, and the agents go on.
    pub const RESUMED_NOTICE: &str = "▶️ Resumed.";
    /// The default words of the notice when a stop or a hold was ended and nothing is left to go on with.
    pub const RESUMED_IDLE_NOTICE: &str = "▶️ Resumed. Write a message to go on.";

    /// Carries decisions out as the specification describes it that this library began with, which knows no stop word, no resume word and
    /// no limit on the channels that agents create, and takes only the bare word for silence. Where it says nothing it is as by default: posts keep
    /// their pace, since Discord refuses them otherwise; a reply is ten messages at most, since one agent would
    /// fill the channel; what was missed in a gap is read, since people would wait for an answer.
    pub fn seed_literal() -> Self {
        let creations = CreationLimits::off();
        let (stop_words, resume_words) = (Vec::new(), Vec::new());
        let silence = SilencePolicy::Strict;
        let skip_repetitions = false;
        Self { silence, stop_words, resume_words, creations, skip_repetitions, ..Self::default() }
    }

    /// How the message flow carries decisions out: with its signal, which is taken off.
    pub fn message_flow() -> Self {
        Self { completion: CompletionPolicy::Signal(Signal::default()), ..Self::default() }
    }

    /// How a run ended whose text this is, by the policies of silence and completion and the mark.
    pub fn outcome(&self, text: &str) -> Outcome {
        match &self.human_marker {
            Some(marker) => marker.outcome(&self.completion, self.silence, text),
            None => self.completion.outcome(self.silence, text),
        }
    }

    /// The tail by which a text is recognised, reported or posted.
    pub(crate) fn tail(&self, text: &str) -> Tail {
        self.completion.tail(text)
    }

    /// What of a hosted agent's text is posted, and what becomes of its turn then; nothing when it has
    /// nothing to say.
    pub(crate) fn reply<'a>(&self, text: &'a str, has_embeds: bool) -> Option<(&'a str, ReplyEnd)> {
        let Reading { delivered, is_complete } = self.completion.read(self.silence, text);
        let asks = |mark: &HumanMarker| mark.asks(&self.completion, delivered);
        let end = match is_complete {
            _ if delivered.is_empty() && !has_embeds => return None,
            _ if self.human_marker.as_ref().is_some_and(asks) => ReplyEnd::AwaitsHuman,
            true => ReplyEnd::Finished,
            false => ReplyEnd::Unfinished,
        };
        Some((delivered, end))
    }

    /// The trigger message for an account.
    pub(crate) fn trigger(&self, user: crate::UserId) -> String {
        self.trigger_template
            .replace("{discordUserId}", &user.to_string())
            .replace("{identifier}", &self.trigger_identifier)
    }

    /// The result message for the callback channel of a discussion.
    pub(crate) fn result(
        &self,
        discussion: crate::ChannelId,
        summary: Option<Summary<'_>>,
    ) -> String {
        let (template, summary) = match summary {
            Some(Summary::Path(path)) => (&self.result_template, literal(path)),
            Some(Summary::Text(text)) if is_visible(text) => {
                (&self.result_text_template, text.trim().to_owned())
            }
            Some(Summary::Text(_)) | None => (&self.unfinished_template, String::new()),
        };
        template
            .replace("{discussionChannel}", &discussion.to_string())
            .replace("{summary}", &summary)
    }

    /// The message for the callback channel of a discussion that was not concluded in time.
    pub(crate) fn overdue_result(&self, discussion: crate::ChannelId) -> String {
        self.overdue_template.replace("{discussionChannel}", &discussion.to_string())
    }
}
