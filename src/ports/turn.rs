//! A turn, as the agent that has it sees it.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use dirigent_core::{MessageId, TurnId};

use super::identity::Identity;
use super::surroundings::{Around, Surroundings, TRANSCRIPT_MAX, briefing};
use super::turn_link::TurnLink;
use crate::values::embed::Embed;
use crate::values::error::{ApiError, ErrorKind, PostFailure};
use crate::values::extras::Extras;
use crate::values::lines::Lines;
use crate::values::mentions::with_mentions;
use crate::values::message::Attachment;
use crate::values::reply_file::ReplyFile;
use crate::{AgentId, ChannelId, ChatMessage, UserId};

/// A turn that an agent is given.
///
/// ```
/// use dirigent::{ChannelId, Turn};
/// use dirigent::hooks::TurnId;
///
/// let turn = Turn::new(ChannelId::new(1), "poet".into(), TurnId::new(3));
/// assert!(turn.missed().is_empty());
/// assert!(!turn.is_cancelled());
/// ```
#[derive(Clone)]
pub struct Turn {
    channel: ChannelId,
    agent: AgentId,
    number: TurnId,
    reminded: bool,
    attempt: u8,
    newest: Option<MessageId>,
    missed: Vec<Arc<ChatMessage>>,
    /// How many messages of people, and of others, are not among them.
    left_out: (usize, usize),
    late: Option<Box<Late>>,
    repeated: bool,
    link: Arc<TurnLink>,
    around: Around,
}

/// What an agent said, as far as it is delivered. `Debug` shows no text.
#[derive(Clone)]
pub(crate) struct Said {
    pub(crate) words: Arc<str>,
    pub(crate) extras: Option<Arc<Extras>>,
}

impl Said {
    /// These words and nothing else.
    pub(crate) fn words(words: &str) -> Self {
        Self { words: words.into(), extras: None }
    }
}

/// What is handed back to the agent that said it, since it is not in the channel.
#[derive(Clone, Debug)]
pub(crate) struct Late {
    pub(crate) said: Said,
    /// Why the chat did not take it; `None` where it came too late.
    pub(crate) failure: Option<PostFailure>,
}

impl From<Said> for Late {
    fn from(said: Said) -> Self {
        Self { said, failure: None }
    }
}

impl fmt::Debug for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Said({} bytes, {:?})", self.words.len(), self.extras)
    }
}

impl Turn {
    /// Creates a turn for a test of an agent: the first attempt, nothing missed, no other agent present, nothing in the
    /// transcript. The methods that begin with `with` add to it.
    pub fn new(channel: ChannelId, agent: AgentId, turn: TurnId) -> Self {
        let given = Around::Given(Arc::default());
        called(channel, agent, Some(turn), Arc::default(), given)
    }

    /// A turn with the driver's end of it; without a number the one run after a reminder.
    pub(crate) fn linked(
        channel: ChannelId,
        agent: AgentId,
        turn: Option<TurnId>,
        (newest, missed, left_out): (Option<MessageId>, Vec<Arc<ChatMessage>>, (usize, usize)),
        late: Option<Box<Late>>,
        link: Arc<TurnLink>,
        around: Weak<dyn Surroundings>,
    ) -> Self {
        let called = called(channel, agent, turn, link, Around::Driver(around));
        Self { newest, missed, left_out, late, ..called }
    }

    /// The same, as the one run that the initiator of an idle discussion has after the reminder.
    #[must_use]
    pub const fn after_reminder(mut self) -> Self {
        self.reminded = true;
        self
    }

    /// The same, as this repetition of the call.
    #[must_use]
    pub const fn with_attempt(mut self, attempt: u8) -> Self {
        self.attempt = attempt;
        self
    }

    /// The same, after these messages, oldest first.
    #[must_use]
    pub fn with_missed(mut self, missed: Vec<Arc<ChatMessage>>) -> Self {
        self.newest = self.newest.max(missed.last().map(|message| message.id));
        self.missed = missed;
        self
    }

    /// The same, of an agent whose newest reply was not posted, since it repeated what was said.
    #[must_use]
    pub const fn with_repeated(mut self, repeated: bool) -> Self {
        self.repeated = repeated;
        self
    }

    /// The same, for a test: the channel is a discussion that was opened with this guide.
    #[must_use]
    pub fn with_guide(mut self, guide: impl Into<String>) -> Self {
        let guide = Some(guide.into());
        self.around = self.around.given(|given| given.guide = guide);
        self
    }

    /// The same, with an answer that came too late in an earlier turn.
    #[must_use]
    pub fn with_late_answer(mut self, late: Option<Arc<str>>) -> Self {
        self.late = late.map(|words| Box::new(Late::from(Said { words, extras: None })));
        self
    }

    /// The same, with why the chat did not take that answer.
    #[must_use]
    pub fn with_post_failure(mut self, failure: Option<PostFailure>) -> Self {
        if let Some(late) = &mut self.late {
            late.failure = failure;
        }
        self
    }

    /// The same, with the embeds of that answer.
    #[must_use]
    pub fn with_late_embeds(mut self, embeds: Vec<Embed>) -> Self {
        if !embeds.is_empty() {
            self.late_extras().embeds = embeds;
        }
        self
    }

    fn late_extras(&mut self) -> &mut Extras {
        let late = self.late.get_or_insert_with(|| Box::new(Late::from(Said::words(""))));
        Arc::make_mut(late.said.extras.get_or_insert_default())
    }

    /// The same, with the names of files that were not posted with an earlier reply.
    #[must_use]
    pub fn with_late_files(mut self, names: impl IntoIterator<Item = String>) -> Self {
        let files: Vec<ReplyFile> = names.into_iter().map(ReplyFile::from).collect();
        if !files.is_empty() {
            self.late_extras().files = files;
        }
        self
    }

    /// The same, where this number of people's messages, and of those of agents and bots, is left out of what was missed.
    #[must_use]
    pub const fn with_left_out(mut self, of_people: usize, of_others: usize) -> Self {
        self.left_out = (of_people, of_others);
        self
    }

    /// The same, for a test: the agent is registered as the first of these, and the others are here.
    #[must_use]
    pub fn with_agents(mut self, agents: Vec<Identity>) -> Self {
        self.around = self.around.given(|given| given.agents = agents);
        self
    }

    /// The same, for a test: these messages are the channel's history, oldest first.
    #[must_use]
    pub fn with_history(mut self, history: Vec<Arc<ChatMessage>>) -> Self {
        self.around = self.around.given(|given| given.history = history);
        self
    }

    /// Returns who this agent is, as the registry has it. An agent that is not registered any more is called like its id
    /// and has the account 0.
    pub fn me(&self) -> Identity {
        let known = match &self.around {
            Around::Given(given) => given.agents.first().cloned(),
            Around::Driver(driver) => {
                driver.upgrade().and_then(|driver| driver.identity(&self.agent))
            }
        };
        known.unwrap_or_else(|| Identity {
            discord_user_id: UserId::new(0),
            agent_id: self.agent.clone(),
            agent_name: self.agent.as_str().to_owned(),
        })
    }

    /// Returns the other agents that take turns in this channel now, in the order in which they speak.
    pub fn others(&self) -> Vec<Identity> {
        let mut agents = match &self.around {
            Around::Given(given) => given.agents.clone(),
            Around::Driver(driver) => {
                driver.upgrade().map_or_else(Vec::new, |driver| driver.present(self.channel))
            }
        };
        agents.retain(|agent| agent.agent_id != self.agent);
        agents
    }

    /// Returns a text for the agent's prompt, in English: who it is, who else is here, what a discussion is about, and how
    /// to pass. It names no message; these are in [`missed`](Self::missed) and [`transcript`](Self::transcript), and each
    /// is written as a line by [`lines`](Self::lines). From turn to turn at most its last line changes: put it at the beginning of
    /// the prompt, because most endpoints keep the beginning that two prompts share.
    ///
    /// ```
    /// use dirigent::{ChannelId, Turn};
    /// use dirigent::hooks::TurnId;
    ///
    /// let turn = Turn::new(ChannelId::new(1), "poet".into(), TurnId::new(3));
    /// assert!(turn.briefing().starts_with("You are poet"));
    /// assert!(turn.briefing().contains("NO_REPLY"));
    /// ```
    pub fn briefing(&self) -> String {
        let guide = self.guide();
        briefing(&self.me(), self.others(), guide.as_deref(), (self.reminded, self.repeated))
    }

    /// Returns what writes messages as lines for a model. It knows the names of this agent and the others who are here.
    pub fn lines(&self) -> Lines {
        Lines::among(self.others().into_iter().chain([self.me()]))
    }

    /// Returns the text in which `@Name` of another agent that is here is its mention, so that people see whom the agent means: by
    /// name or id, outside code. Only of agents that the library calls: one that answers mentions through its own
    /// gateway would take it for a call. A persona has no account to mention: its name stays. In a turn of a test all agents count as called by the library.
    pub fn with_mentions<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if !text.contains('@') {
            return Cow::Borrowed(text);
        }
        let is_called = |agent: &Identity| match &self.around {
            Around::Given(_) => true,
            Around::Driver(driver) => {
                driver.upgrade().is_some_and(|driver| driver.is_mentionable(&agent.agent_id))
            }
        };
        let mut others = self.others();
        others.retain(is_called);
        let named: Vec<(&str, UserId)> = others
            .iter()
            .flat_map(|agent| {
                [agent.agent_name.as_str(), agent.agent_id.as_str()]
                    .map(|name| (name, agent.discord_user_id))
            })
            .collect();
        with_mentions(text, &named)
    }

    /// Returns what the discussion is about, where the channel is one that was opened with a guide. The
    /// [briefing](Self::briefing) has it, too.
    pub fn guide(&self) -> Option<String> {
        match &self.around {
            Around::Given(given) => given.guide.clone(),
            Around::Driver(driver) => driver.upgrade()?.guide(self.channel),
        }
    }

    /// Returns whether an answer is waited for: a person wrote since this agent's last turn, or a discussion with a guide
    /// begins, and this is one of the turns of its first cycle. An agent that only answers passes where it is not asked.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use dirigent::{ChannelId, ChatMessage, MessageId, Turn, UserId};
    /// use dirigent::hooks::TurnId;
    ///
    /// let turn = Turn::new(ChannelId::new(1), "poet".into(), TurnId::new(1));
    /// assert!(!turn.is_asked());
    /// let asked = ChatMessage::new(MessageId::new(7), ChannelId::new(1), UserId::new(3), "What is new?");
    /// assert!(turn.clone().with_missed(vec![Arc::new(asked)]).is_asked());
    /// assert!(turn.with_guide("Find a title.").is_asked());
    /// ```
    pub fn is_asked(&self) -> bool {
        let begins =
            || self.number.get() <= self.others().len() as u64 + 1 && self.guide().is_some();
        self.missed.iter().any(|message| message.is_by_person()) || (!self.reminded && begins())
    }

    /// Returns the newest messages of the channel, oldest first: at most `limit` of them, and at most 100. Messages of
    /// agents, this one's own included, bear the agents' registered names; notices of Discord, people's stop and resume words
    /// and what the library's own account posts are left out, but for an orchestrator's answers.
    ///
    /// The first call in a channel reads them from the chat with one request. From then on they are kept in memory while
    /// the channel is active, so that later turns cost no request. Nothing is written to disk.
    ///
    /// # Errors
    ///
    /// When the chat cannot be read; [`missed`](Self::missed) is there all the same.
    pub async fn transcript(&self, limit: usize) -> Result<Vec<Arc<ChatMessage>>, ApiError> {
        let limit = limit.min(TRANSCRIPT_MAX);
        if limit == 0 {
            return Ok(Vec::new());
        }
        match &self.around {
            Around::Given(given) => {
                let first = given.history.len().saturating_sub(limit);
                Ok(given.history.iter().skip(first).cloned().collect())
            }
            Around::Driver(driver) => match driver.upgrade() {
                Some(driver) => driver.transcript(self.channel, limit).await,
                None => Err(ApiError::new(ErrorKind::Unavailable)),
            },
        }
    }

    /// Reads the beginning of a file of a message, at most `max` bytes, from the chat's own file host and no other: for an agent
    /// that can look at pictures. It costs a request each time.
    ///
    /// # Errors
    ///
    /// As [`DiscordApi::file`](crate::DiscordApi::file), and `Unsupported` in a turn that no driver of this process gave.
    pub async fn file(&self, file: &Attachment, max: usize) -> Result<Vec<u8>, ApiError> {
        match &self.around {
            Around::Given(_) => Err(ApiError::new(ErrorKind::Unsupported)),
            Around::Driver(driver) => match driver.upgrade() {
                Some(driver) => driver.file(file.clone(), max).await,
                None => Err(ApiError::new(ErrorKind::Unavailable)),
            },
        }
    }

    /// The channel in which the agent has its turn.
    pub const fn channel(&self) -> ChannelId {
        self.channel
    }

    /// Who is asked.
    pub const fn agent(&self) -> &AgentId {
        &self.agent
    }

    /// The turn's number in its channel.
    pub const fn turn(&self) -> TurnId {
        self.number
    }

    /// Whether this is the one run after an idle reminder: the agent opened the discussion, no agent
    /// has anything to add, and it is asked to summarise and to conclude: by
    /// [`Channel::conclude`](crate::Channel::conclude), or the tool `discussion-complete`. A reply alone concludes nothing, and
    /// wakes the others. (An agent that needs the library can be given to
    /// [`Dirigent::host`](crate::Dirigent::host) once that is built.)
    pub const fn is_after_reminder(&self) -> bool {
        self.reminded
    }

    /// 0 for the first call of this turn, 1 for its repetition. A call is repeated only after a crash of the process, with
    /// [`LostRuns::Rerun`](crate::settings::LostRuns::Rerun); a call that fails is not.
    pub const fn attempt(&self) -> u8 {
        self.attempt
    }

    /// The newest message of the channel when the turn began. An answer to an older one is stale.
    pub const fn newest(&self) -> Option<MessageId> {
        self.newest
    }

    /// What was said in the channel and this agent was not handed yet, oldest first, without its own messages.
    ///
    /// Every message of a person is handed to each agent in one of its turns: after a turn that failed or was taken away, the
    /// next one brings it again, at most three times. A turn brings at most
    /// [`LimitRules::missed_max`](crate::settings::LimitRules::missed_max) messages and
    /// [`LimitRules::missed_bytes_max`](crate::settings::LimitRules::missed_bytes_max) of them. If people said more, the oldest come first
    /// and the rest comes with the agent's next turns. Of what agents and bots said, the newest come, as far as there is room.
    ///
    /// What a person types beyond Discord's 2,000 characters becomes a file, `message.txt`. Of up to eight such messages, and of those in
    /// [`transcript`](Self::transcript), the first 32 KiB are read for the agent
    /// ([`Attachment::text`](crate::ports::Attachment::text)); no other file is read.
    pub fn missed(&self) -> &[Arc<ChatMessage>] {
        &self.missed
    }

    pub(crate) fn missed_mut(&mut self) -> &mut [Arc<ChatMessage>] {
        &mut self.missed
    }

    /// How many messages of people this agent does not get any more: the chat does not have them any more, or the agent
    /// failed four times with the same messages.
    ///
    /// Both are counted in memory. After a restart of the process the agent is handed again what it failed with, four times at
    /// most, and messages that it did without before, or that the chat lost before, are not in the count.
    pub const fn left_out(&self) -> usize {
        self.left_out.0
    }

    /// How many messages of agents and bots are left out of [`missed`](Self::missed), because there was no room for them. The
    /// [transcript](Self::transcript) may have them.
    pub const fn others_left_out(&self) -> usize {
        self.left_out.1
    }

    /// Takes a human's message that came during the turn, oldest first. At most 100 wait to be taken. What is
    /// not taken, and what comes while 100 wait, is handed to the next agent.
    pub fn take_injected(&self) -> Option<Arc<ChatMessage>> {
        self.link.take()
    }

    /// Whether the turn was taken away: by a stop, a deadline, a change of mode.
    pub fn is_cancelled(&self) -> bool {
        self.link.is_cancelled()
    }

    /// Returns what remains until the turn is taken away for lasting too long
    /// ([`Deadlines::run`](crate::settings::Deadlines::run)); nothing once it was taken away. `None` where it has no such end:
    /// because the rules set none, while it waits for an orchestrator, in the run after a reminder, and in a turn of a test. An agent that wants to
    /// try again looks here whether that can still be of use.
    pub fn time_left(&self) -> Option<Duration> {
        match &self.around {
            _ if self.is_cancelled() => Some(Duration::ZERO),
            Around::Given(_) => None,
            Around::Driver(driver) => driver.upgrade()?.time_left(self.channel, &self.agent),
        }
    }

    /// Reports what this agent cost, in the unit of [`BudgetRules::cost`](crate::settings::BudgetRules::cost), as
    /// [`Channel::report_cost`](crate::Channel::report_cost) does from outside. It may be called several times; a budget that is spent by it
    /// ends no turn, and gives none after it.
    pub fn report_cost(&self, cost: u64) {
        match &self.around {
            Around::Driver(driver) => {
                if let Some(driver) = driver.upgrade() {
                    driver.report_cost(self.channel, cost);
                }
            }
            Around::Given(_) => {}
        }
    }

    /// Waits until the turn is taken away.
    ///
    /// # Cancellation
    ///
    /// May be dropped and called again.
    pub async fn cancelled(&self) {
        self.link.cancelled().await;
    }

    /// Whether the turn takes longer than it should
    /// ([`Deadlines::slow_after`](crate::settings::Deadlines::slow_after)): it goes on, and an agent may hurry.
    pub fn is_slow(&self) -> bool {
        self.link.is_slow()
    }

    /// Waits until the turn takes longer than it should, or is taken away.
    ///
    /// # Cancellation
    ///
    /// May be dropped and called again.
    pub async fn slow(&self) {
        self.link.slow().await;
    }

    /// Whether the turn waits, since a person spoke and is being answered by the
    /// [`Orchestrator`](crate::host::Orchestrator). An agent that can, pauses; one that cannot goes on, and its
    /// reply is posted when the turn goes on.
    pub fn is_paused(&self) -> bool {
        self.link.is_paused()
    }

    /// Waits until the turn goes on, or is taken away; not at all if it does not rest.
    ///
    /// # Cancellation
    ///
    /// May be dropped and called again.
    pub async fn resumed(&self) {
        self.link.resumed().await;
    }

    /// Whether this agent's newest reply was not posted, since it said nearly word for word what was said before
    /// ([`ReadingRules::skip_repetitions`](crate::settings::ReadingRules::skip_repetitions)). Told once, with the next turn; the
    /// [briefing](Self::briefing) says it too.
    pub const fn is_repeated(&self) -> bool {
        self.repeated
    }

    /// What this agent answered in an earlier turn and what was not posted: the turn had been taken away from
    /// it by then, the chat refused it ([`post_failure`](Self::post_failure)) or could not be reached for too long, or it was beyond
    /// [`LimitRules::reply_parts_max`](crate::settings::LimitRules::reply_parts_max). Given once, with the next turn. The agent
    /// may say it now, or what of it still holds. What is longer than 32 KiB is not kept, and neither is anything beyond a restart.
    /// Of channels in which nothing has happened for about ten minutes 16 MiB are kept, the newest of 4,096 channels.
    pub fn late_answer(&self) -> Option<&str> {
        self.late.as_deref().map(|late| &*late.said.words).filter(|words| !words.is_empty())
    }

    /// Why the chat did not take the answer that is handed back; `None` where it came too late. What was refused for its
    /// words is handed back once: if the agent says the same again, and it is refused again, it is not.
    pub fn post_failure(&self) -> Option<PostFailure> {
        self.late.as_deref().and_then(|late| late.failure)
    }

    /// The embeds of the answer that is handed back. An answer of embeds alone has no [`late_answer`](Self::late_answer).
    pub fn late_embeds(&self) -> &[Embed] {
        let extras = self.late.as_deref().and_then(|late| late.said.extras.as_deref());
        extras.map_or(&[], |extras| &extras.embeds)
    }

    /// The names of the files of an earlier reply that were not posted, as far as is known: with an answer that is handed
    /// back, or because they exceeded a limit, the chat did not take them, or the process was restarted. Then the rest of
    /// the reply was posted.
    pub fn late_files(&self) -> impl Iterator<Item = &str> {
        let extras = self.late.as_deref().and_then(|late| late.said.extras.as_deref());
        extras.into_iter().flat_map(|extras| extras.files.iter().map(ReplyFile::name))
    }
}

/// A turn of which nothing is known yet but whose it is.
const fn called(
    channel: ChannelId,
    agent: AgentId,
    turn: Option<TurnId>,
    link: Arc<TurnLink>,
    around: Around,
) -> Turn {
    let (number, reminded) = match turn {
        Some(number) => (number, false),
        None => (TurnId::new(0), true),
    };
    Turn {
        channel,
        agent,
        number,
        reminded,
        attempt: 0,
        newest: None,
        missed: Vec::new(),
        left_out: (0, 0),
        late: None,
        repeated: false,
        link,
        around,
    }
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turn")
            .field("channel", &self.channel)
            .field("agent", &self.agent)
            .field("turn", &self.number)
            .field("reminded", &self.reminded)
            .field("attempt", &self.attempt)
            .field("newest", &self.newest)
            .field("missed", &self.missed)
            .field("is_cancelled", &self.is_cancelled())
            .finish_non_exhaustive()
    }
}
