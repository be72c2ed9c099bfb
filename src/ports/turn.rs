//! A turn, as its agent sees it.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use dirigent_core::{MessageId, TurnId};

use super::identity::Identity;
use super::surroundings::{Surroundings, SurroundingsSource, TRANSCRIPT_MAX, briefing};
use super::turn_link::TurnLink;
use crate::values::embed::Embed;
use crate::values::error::{ApiError, ErrorKind, PostFailure};
use crate::values::extras::Extras;
use crate::values::lines::Lines;
use crate::values::mentions::with_mentions;
use crate::values::message::Attachment;
use crate::values::reply_file::ReplyFile;
use crate::{AgentId, ChannelId, ChatMessage, UserId};

/// A turn of an agent. You get it in [`Agent::speak`](crate::Agent::speak).
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
    /// The numbers of people's messages, and of other messages, that are left out.
    left_out: (usize, usize),
    late: Option<Box<Late>>,
    repeated: bool,
    link: Arc<TurnLink>,
    around: SurroundingsSource,
}

/// The answer of an agent, as far as it can be delivered. Its `Debug` output contains no text.
#[derive(Clone)]
pub(crate) struct Said {
    pub(crate) words: Arc<str>,
    pub(crate) extras: Option<Arc<Extras>>,
}

impl Said {
    /// Creates an answer that has only these words.
    pub(crate) fn words(words: &str) -> Self {
        Self { words: words.into(), extras: None }
    }
}

/// An answer that the agent gets back, because it is not in the channel.
#[derive(Clone, Debug)]
pub(crate) struct Late {
    pub(crate) said: Said,
    /// The reason why the chat refused it. `None` if it came too late.
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
    /// Creates a turn for a test of an agent. It is the first attempt, with no missed message, no other agent and an
    /// empty transcript. The methods that begin with `with` add to it.
    pub fn new(channel: ChannelId, agent: AgentId, turn: TurnId) -> Self {
        let given = SurroundingsSource::Given(Arc::default());
        called(channel, agent, Some(turn), Arc::default(), given)
    }

    /// Creates a turn with the driver's end of it. Without a number it is the one run after a reminder.
    pub(crate) fn linked(
        channel: ChannelId,
        agent: AgentId,
        turn: Option<TurnId>,
        (newest, missed, left_out): (Option<MessageId>, Vec<Arc<ChatMessage>>, (usize, usize)),
        late: Option<Box<Late>>,
        link: Arc<TurnLink>,
        around: Weak<dyn Surroundings>,
    ) -> Self {
        let called = called(channel, agent, turn, link, SurroundingsSource::Driver(around));
        Self { newest, missed, left_out, late, ..called }
    }

    /// Makes this the one run that the initiator of an idle discussion gets after the reminder.
    #[must_use]
    pub const fn after_reminder(mut self) -> Self {
        self.reminded = true;
        self
    }

    /// Sets the number of this repetition of the call.
    #[must_use]
    pub const fn with_attempt(mut self, attempt: u8) -> Self {
        self.attempt = attempt;
        self
    }

    /// Sets the messages that the agent missed, oldest first.
    #[must_use]
    pub fn with_missed(mut self, missed: Vec<Arc<ChatMessage>>) -> Self {
        self.newest = self.newest.max(missed.last().map(|message| message.id));
        self.missed = missed;
        self
    }

    /// Sets whether the agent's newest reply was not posted because it was a repetition.
    #[must_use]
    pub const fn with_repeated(mut self, repeated: bool) -> Self {
        self.repeated = repeated;
        self
    }

    /// Makes the channel a discussion that was opened with this guide, for a test.
    #[must_use]
    pub fn with_guide(mut self, guide: impl Into<String>) -> Self {
        let guide = Some(guide.into());
        self.around = self.around.given(|given| given.guide = guide);
        self
    }

    /// Sets an answer that came too late in an earlier turn.
    #[must_use]
    pub fn with_late_answer(mut self, late: Option<Arc<str>>) -> Self {
        self.late = late.map(|words| Box::new(Late::from(Said { words, extras: None })));
        self
    }

    /// Sets the reason why the chat refused that answer.
    #[must_use]
    pub fn with_post_failure(mut self, failure: Option<PostFailure>) -> Self {
        if let Some(late) = &mut self.late {
            late.failure = failure;
        }
        self
    }

    /// Sets the embeds of that answer.
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

    /// Sets the names of files that were not posted with an earlier reply.
    #[must_use]
    pub fn with_late_files(mut self, names: impl IntoIterator<Item = String>) -> Self {
        let files: Vec<ReplyFile> = names.into_iter().map(ReplyFile::from).collect();
        if !files.is_empty() {
            self.late_extras().files = files;
        }
        self
    }

    /// Sets how many messages of people, and how many of agents and bots, are left out of the missed messages.
    #[must_use]
    pub const fn with_left_out(mut self, of_people: usize, of_others: usize) -> Self {
        self.left_out = (of_people, of_others);
        self
    }

    /// Sets the agents of the channel, for a test. The first one is the agent of this turn, and the others are here,
    /// too.
    #[must_use]
    pub fn with_agents(mut self, agents: Vec<Identity>) -> Self {
        self.around = self.around.given(|given| given.agents = agents);
        self
    }

    /// Sets the history of the channel, oldest message first, for a test.
    #[must_use]
    pub fn with_history(mut self, history: Vec<Arc<ChatMessage>>) -> Self {
        self.around = self.around.given(|given| given.history = history);
        self
    }

    /// Returns the registry's entry of this agent. If the agent is no longer registered, its name is its id, and its
    /// account is 0.
    pub fn me(&self) -> Identity {
        let known = match &self.around {
            SurroundingsSource::Given(given) => given.agents.first().cloned(),
            SurroundingsSource::Driver(driver) => {
                driver.upgrade().and_then(|driver| driver.identity(&self.agent))
            }
        };
        known.unwrap_or_else(|| Identity {
            discord_user_id: UserId::new(0),
            agent_id: self.agent.clone(),
            agent_name: self.agent.as_str().to_owned(),
        })
    }

    /// Returns the other agents that take turns in this channel now, in their speaking order.
    pub fn others(&self) -> Vec<Identity> {
        let mut agents = match &self.around {
            SurroundingsSource::Given(given) => given.agents.clone(),
            SurroundingsSource::Driver(driver) => {
                driver.upgrade().map_or_else(Vec::new, |driver| driver.present(self.channel))
            }
        };
        agents.retain(|agent| agent.agent_id != self.agent);
        agents
    }

    /// Returns a text for the agent's prompt, in English. It says who the agent is, who else is here, what a discussion
    /// is about, and how to pass. It contains no messages. These are in [`missed`](Self::missed) and
    /// [`transcript`](Self::transcript), and [`lines`](Self::lines) writes each of them as a line.
    ///
    /// Put the text at the beginning of the prompt. Most endpoints cache the beginning that two prompts share, and at
    /// most the last line of this text changes from turn to turn.
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

    /// Returns a writer of messages as lines for a model. It knows the names of this agent and of the others who are
    /// here.
    pub fn lines(&self) -> Lines {
        Lines::among(self.others().into_iter().chain([self.me()]))
    }

    /// Replaces `@Name` of another agent that is here with its mention, so that people see whom the agent means. The
    /// name may be the agent's name or id, and text in code stays as it is.
    ///
    /// Only agents that the library calls are mentioned, because an agent with its own gateway would treat a mention as
    /// a call. A persona has no account to mention, so its name stays. In a turn of a test all agents count as called
    /// by the library.
    pub fn with_mentions<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if !text.contains('@') {
            return Cow::Borrowed(text);
        }
        let is_called = |agent: &Identity| match &self.around {
            SurroundingsSource::Given(_) => true,
            SurroundingsSource::Driver(driver) => {
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

    /// Returns the topic of the discussion, if the channel was opened with a guide. The [briefing](Self::briefing)
    /// contains it, too.
    pub fn guide(&self) -> Option<String> {
        match &self.around {
            SurroundingsSource::Given(given) => given.guide.clone(),
            SurroundingsSource::Driver(driver) => driver.upgrade()?.guide(self.channel),
        }
    }

    /// Returns whether an answer is expected. This is so if a person wrote since this agent's last turn, or if a
    /// discussion with a guide begins and this is one of the turns of its first cycle. For example, an agent that only
    /// answers questions passes if this is `false`.
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

    /// Returns the newest messages of the channel, oldest first, at most `limit` and at most 100. Messages of agents,
    /// including this one, have the agents' registered names. The transcript leaves out notices of Discord, people's
    /// stop and resume words, and posts of the library's own account, except for an orchestrator's answers.
    ///
    /// The first call in a channel reads the messages from the chat with one request. They then stay in memory while
    /// the channel is active, so later turns cost no request. They are not written to disk.
    ///
    /// # Errors
    ///
    /// Fails if the chat cannot be read. You still have [`missed`](Self::missed) in that case.
    pub async fn transcript(&self, limit: usize) -> Result<Vec<Arc<ChatMessage>>, ApiError> {
        let limit = limit.min(TRANSCRIPT_MAX);
        if limit == 0 {
            return Ok(Vec::new());
        }
        match &self.around {
            SurroundingsSource::Given(given) => {
                let first = given.history.len().saturating_sub(limit);
                Ok(given.history.iter().skip(first).cloned().collect())
            }
            SurroundingsSource::Driver(driver) => match driver.upgrade() {
                Some(driver) => driver.transcript(self.channel, limit).await,
                None => Err(ApiError::new(ErrorKind::Unavailable)),
            },
        }
    }

    /// Reads the beginning of a file of a message, at most `max` bytes. It asks only the chat's own file host. Use it
    /// for an agent that can look at pictures. Each call costs a request.
    ///
    /// # Errors
    ///
    /// Fails like [`DiscordApi::file`](crate::DiscordApi::file). In a turn that no driver of this process gave, it
    /// fails with `Unsupported`.
    pub async fn file(&self, file: &Attachment, max: usize) -> Result<Vec<u8>, ApiError> {
        match &self.around {
            SurroundingsSource::Given(_) => Err(ApiError::new(ErrorKind::Unsupported)),
            SurroundingsSource::Driver(driver) => match driver.upgrade() {
                Some(driver) => driver.file(file.clone(), max).await,
                None => Err(ApiError::new(ErrorKind::Unavailable)),
            },
        }
    }

    /// Returns the channel of the turn.
    pub const fn channel(&self) -> ChannelId {
        self.channel
    }

    /// Returns the agent that has the turn.
    pub const fn agent(&self) -> &AgentId {
        &self.agent
    }

    /// Returns the number of the turn in its channel.
    pub const fn turn(&self) -> TurnId {
        self.number
    }

    /// Returns whether this is the one run after an idle reminder. The agent opened the discussion, no agent has
    /// anything to add, and the library asks it to summarise and conclude. To conclude, the agent calls
    /// [`Channel::conclude`](crate::Channel::conclude), or the tool `discussion-complete`. A reply alone does not
    /// conclude the discussion, and wakes the others. (If your agent needs the library, pass the agent to
    /// [`Dirigent::host`](crate::Dirigent::host) after the build.)
    pub const fn is_after_reminder(&self) -> bool {
        self.reminded
    }

    /// Returns 0 for the first call of this turn, and 1 for its repetition. A call is repeated only after a crash of
    /// the process, with [`LostRuns::Rerun`](crate::settings::LostRuns::Rerun). A call that fails is not repeated.
    pub const fn attempt(&self) -> u8 {
        self.attempt
    }

    /// Returns the newest message of the channel when the turn began. An answer to an older message is stale.
    pub const fn newest(&self) -> Option<MessageId> {
        self.newest
    }

    /// Returns the messages of the channel that this agent did not get before, oldest first, without its own messages.
    ///
    /// Each agent gets every message of a person in one of its turns. If that turn fails or is taken away, the next
    /// turn brings the message again, at most three times.
    ///
    /// A turn brings at most [`LimitRules::missed_max`](crate::settings::LimitRules::missed_max) messages, and at most
    /// [`LimitRules::missed_bytes_max`](crate::settings::LimitRules::missed_bytes_max) of text. If people wrote more,
    /// the oldest messages come first, and the rest comes with the agent's next turns. Of the messages of agents and
    /// bots, the newest come, as far as there is room.
    ///
    /// If a person types more than Discord's 2,000 characters, the text becomes a file, `message.txt`. The library
    /// reads the first 32 KiB of such files for the agent ([`Attachment::text`](crate::ports::Attachment::text)), for
    /// up to eight messages, and for those in [`transcript`](Self::transcript). It reads no other file.
    pub fn missed(&self) -> &[Arc<ChatMessage>] {
        &self.missed
    }

    pub(crate) fn missed_mut(&mut self) -> &mut [Arc<ChatMessage>] {
        &mut self.missed
    }

    /// Returns how many messages of people this agent will never get, because the chat no longer has them, or because
    /// the agent failed four times with the same messages.
    ///
    /// Both numbers are counted in memory. After a restart of the process the agent gets the messages again that it
    /// failed with, four times at most. The count then does not include messages from before the restart.
    pub const fn left_out(&self) -> usize {
        self.left_out.0
    }

    /// Returns how many messages of agents and bots are left out of [`missed`](Self::missed), because there was no room
    /// for them. The [transcript](Self::transcript) may contain them.
    pub const fn others_left_out(&self) -> usize {
        self.left_out.1
    }

    /// Takes the oldest message of a person that arrived during the turn. At most 100 messages wait. The next agent
    /// gets the messages that you do not take, and those that arrive while 100 wait.
    pub fn take_injected(&self) -> Option<Arc<ChatMessage>> {
        self.link.take()
    }

    /// Returns whether the turn was taken away, for example by a stop, a deadline or a change of mode.
    pub fn is_cancelled(&self) -> bool {
        self.link.is_cancelled()
    }

    /// Returns the time until the turn is taken away because it lasts too long
    /// ([`Deadlines::run`](crate::settings::Deadlines::run)). It is zero after the turn was taken away. Use it to
    /// decide whether another attempt can still help.
    ///
    /// Returns `None` if the turn has no such end. This is so if the rules set none, while the turn waits for an
    /// orchestrator, in the run after a reminder, and in a turn of a test.
    pub fn time_left(&self) -> Option<Duration> {
        match &self.around {
            _ if self.is_cancelled() => Some(Duration::ZERO),
            SurroundingsSource::Given(_) => None,
            SurroundingsSource::Driver(driver) => {
                driver.upgrade()?.time_left(self.channel, &self.agent)
            }
        }
    }

    /// Reports the cost of this agent, in the unit of [`BudgetRules::cost`](crate::settings::BudgetRules::cost), like
    /// [`Channel::report_cost`](crate::Channel::report_cost). You may call it several times. If the budget is spent,
    /// the current turn goes on, and no turn follows.
    pub fn report_cost(&self, cost: u64) {
        match &self.around {
            SurroundingsSource::Driver(driver) => {
                if let Some(driver) = driver.upgrade() {
                    driver.report_cost(self.channel, cost);
                }
            }
            SurroundingsSource::Given(_) => {}
        }
    }

    /// Waits until the turn is taken away.
    ///
    /// # Cancellation
    ///
    /// You may drop the future and call this again.
    pub async fn cancelled(&self) {
        self.link.cancelled().await;
    }

    /// Returns whether the turn takes longer than it should
    /// ([`Deadlines::slow_after`](crate::settings::Deadlines::slow_after)). The turn goes on, but your agent may hurry.
    pub fn is_slow(&self) -> bool {
        self.link.is_slow()
    }

    /// Waits until the turn takes longer than it should, or is taken away.
    ///
    /// # Cancellation
    ///
    /// You may drop the future and call this again.
    pub async fn slow(&self) {
        self.link.slow().await;
    }

    /// Returns whether the turn waits, because a person wrote and the [`Orchestrator`](crate::host::Orchestrator) is
    /// answering. Pause your agent if it can pause. An agent that cannot pause continues, and its reply is posted when
    /// the turn goes on.
    pub fn is_paused(&self) -> bool {
        self.link.is_paused()
    }

    /// Waits until the turn goes on, or is taken away. It returns at once if the turn does not wait.
    ///
    /// # Cancellation
    ///
    /// You may drop the future and call this again.
    pub async fn resumed(&self) {
        self.link.resumed().await;
    }

    /// Returns whether this agent's newest reply was not posted because it repeated, nearly word for word, what was
    /// said before ([`ReadingRules::skip_repetitions`](crate::settings::ReadingRules::skip_repetitions)). Only the next
    /// turn reports it. The [briefing](Self::briefing) says it, too.
    pub const fn is_repeated(&self) -> bool {
        self.repeated
    }

    /// Returns an answer of this agent from an earlier turn that was not posted. There are four reasons for this. The
    /// turn was taken away before the answer, or the chat refused it ([`post_failure`](Self::post_failure)). Or the
    /// chat could not be reached for too long, or the answer was beyond
    /// [`LimitRules::reply_parts_max`](crate::settings::LimitRules::reply_parts_max).
    ///
    /// Only the next turn returns it. The agent may say it now, as far as it still applies. Answers longer than 32 KiB
    /// are not kept, and no answer survives a restart. For channels without activity for about ten minutes, the library
    /// keeps 16 MiB of answers, for the newest 4,096 channels.
    pub fn late_answer(&self) -> Option<&str> {
        self.late.as_deref().map(|late| &*late.said.words).filter(|words| !words.is_empty())
    }

    /// Returns why the chat refused the answer in [`late_answer`](Self::late_answer). `None` if the answer came too
    /// late. An answer that was refused for its words is returned once. If the agent says it again and it is refused
    /// again, it is not returned.
    pub fn post_failure(&self) -> Option<PostFailure> {
        self.late.as_deref().and_then(|late| late.failure)
    }

    /// Returns the embeds of the answer that was not posted. An answer with only embeds has no
    /// [`late_answer`](Self::late_answer).
    pub fn late_embeds(&self) -> &[Embed] {
        let extras = self.late.as_deref().and_then(|late| late.said.extras.as_deref());
        extras.map_or(&[], |extras| &extras.embeds)
    }

    /// Returns the names of files of an earlier reply that were not posted, as far as they are known. These are the
    /// files of an answer that was not posted. They are also files that exceeded a limit, that the chat did not take,
    /// or that a restart of the process lost. In those cases the rest of the reply was posted.
    pub fn late_files(&self) -> impl Iterator<Item = &str> {
        let extras = self.late.as_deref().and_then(|late| late.said.extras.as_deref());
        extras.into_iter().flat_map(|extras| extras.files.iter().map(ReplyFile::name))
    }
}

/// Creates a turn without data, except for its agent.
const fn called(
    channel: ChannelId,
    agent: AgentId,
    turn: Option<TurnId>,
    link: Arc<TurnLink>,
    around: SurroundingsSource,
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
