//! Agents that follow a script.

use dirigent::operate::Summary;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use dirigent::hooks::TurnId;
use dirigent::ports::{Embed, PostFailure};
use dirigent::{Agent, AgentError, AgentId, ChannelId, Clock, Dirigent, Reply, Turn, UserId};

use crate::MemoryDiscord;

/// The action of an agent in a turn.
///
/// ```
/// use dirigent_testkit::scripted_agent::{Act, Line};
/// assert_eq!(Line::from("hello").act, Act::Say("hello".to_owned()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Act {
    /// Says this.
    Say(String),
    /// Answers with this, and does not repeat it even if it never arrives.
    Reply(Reply),
    /// Ends the turn without a word.
    Pass,
    /// Fails with an error.
    Fail,
    /// Panics during the call.
    Panic,
    /// Answers only when it is cancelled.
    Hang,
    /// Never answers, not even when it is cancelled.
    Deaf,
    /// Concludes the discussion, and then says this.
    Conclude(String),
}

/// One turn of a script.
///
/// ```
/// use std::time::Duration;
/// use dirigent_testkit::scripted_agent::Line;
/// let slow = Line::from("after a while").taking(Duration::from_secs(3));
/// assert_eq!(slow.takes, Duration::from_secs(3));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Line {
    /// The action of the agent.
    pub act: Act,
    /// The time that the action takes.
    pub takes: Duration,
}

impl Line {
    /// Sets the time that the action takes.
    #[must_use]
    pub const fn taking(mut self, takes: Duration) -> Self {
        self.takes = takes;
        self
    }
}

impl From<Act> for Line {
    fn from(act: Act) -> Self {
        let takes = Duration::ZERO;
        Self { act, takes }
    }
}

impl From<Reply> for Line {
    fn from(reply: Reply) -> Self {
        Act::Reply(reply).into()
    }
}

impl From<&str> for Line {
    fn from(text: &str) -> Self {
        Act::Say(text.to_owned()).into()
    }
}

impl From<String> for Line {
    fn from(text: String) -> Self {
        Act::Say(text).into()
    }
}

/// A turn as the agent saw it.
///
/// ```
/// let seen = dirigent_testkit::scripted_agent::SeenTurn::default();
/// assert!(seen.missed.is_empty() && !seen.cancelled);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SeenTurn {
    /// The channel, or `None` for a turn outside of channels.
    pub channel: Option<ChannelId>,
    /// The number of the turn.
    pub turn: TurnId,
    /// The number of this call within the turn.
    pub attempt: u8,
    /// True if this was the run after an idle reminder.
    pub after_reminder: bool,
    /// The texts that the agent got as missed.
    pub missed: Vec<String>,
    /// The missed messages as lines for a model.
    pub lines: Vec<String>,
    /// The texts that came while it ran.
    pub injected: Vec<String>,
    /// True if it was cancelled.
    pub cancelled: bool,
    /// The answer of an earlier turn that was returned to the agent.
    pub late_answer: Option<String>,
    /// The embeds of that answer.
    pub late_embeds: Vec<Embed>,
    /// Why the chat did not accept that answer.
    pub post_failure: Option<PostFailure>,
    /// The names of the files of an earlier reply that were not posted.
    pub late_files: Vec<String>,
    /// True if the agent learned that its newest reply was a repetition.
    pub repeated: bool,
}

/// An agent that follows its script, and passes when that is over.
///
/// It reads in the chat what it has said, as a model reads its own words. If a reply never arrived, it says that line
/// again in the next turn. Clones share the script.
///
/// ```
/// use std::sync::Arc;
/// use dirigent_testkit::{ManualClock, MemoryDiscord, ScriptedAgent};
///
/// let clock = Arc::new(ManualClock::new());
/// let discord = MemoryDiscord::new(clock.clone());
/// let poet = ScriptedAgent::new("poet".into(), discord.add_bot(), discord, clock);
/// poet.then("a line");
/// assert!(poet.turns().is_empty());
/// ```
#[derive(Clone)]
pub struct ScriptedAgent {
    name: AgentId,
    user: UserId,
    discord: MemoryDiscord,
    clock: Arc<dyn Clock>,
    script: Arc<Mutex<Script>>,
}

#[derive(Default)]
struct Script {
    lines: Vec<Line>,
    /// The index of the next line, for each channel.
    at: HashMap<ChannelId, usize>,
    turns: Vec<SeenTurn>,
    /// True if no line is said again, even if it never arrived.
    says_once: bool,
    running: usize,
    running_max: usize,
    dirigent: Option<Dirigent>,
}

impl ScriptedAgent {
    /// Creates an agent with an empty script. It looks in this chat for what it has said, and measures its time with
    /// this clock.
    pub fn new(name: AgentId, user: UserId, discord: MemoryDiscord, clock: Arc<dyn Clock>) -> Self {
        Self { name, user, discord, clock, script: Arc::default() }
    }

    /// Returns its name in the registry.
    pub const fn name(&self) -> &AgentId {
        &self.name
    }

    /// Returns its account.
    pub const fn user(&self) -> UserId {
        self.user
    }

    /// Adds a line to the script.
    pub fn then(&self, line: impl Into<Line>) {
        self.script().lines.push(line.into());
    }

    /// Makes the agent say each line only once, even if it never arrived. If a line then appears twice, something else
    /// doubled it.
    pub fn say_once(&self) {
        self.script().says_once = true;
    }

    /// Returns the turns that it got, oldest first.
    pub fn turns(&self) -> Vec<SeenTurn> {
        self.script().turns.clone()
    }

    /// Returns the most of its turns that ran at the same time.
    pub fn running_max(&self) -> usize {
        self.script().running_max
    }

    /// Gives the agent the library of the running process, so that it can conclude discussions. Pass `None` while the
    /// process is down.
    pub fn attach(&self, dirigent: Option<Dirigent>) {
        let mut script = self.script();
        script.dirigent = dirigent;
        script.running = 0;
    }

    /// Returns the library of the running process.
    pub fn attached(&self) -> Option<Dirigent> {
        self.script().dirigent.clone()
    }

    /// Returns the clock that measures the agent's time.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// Counts a turn that it got in another way than by [`Agent::speak`].
    pub fn note(&self, channel: ChannelId) {
        self.script().turns.push(SeenTurn { channel: Some(channel), ..SeenTurn::default() });
    }

    /// Returns the agent's next line in this channel.
    pub fn next_line(&self, channel: ChannelId) -> Line {
        let said: Vec<String> = self
            .discord
            .messages(channel)
            .into_iter()
            .filter(|message| message.author == self.user)
            .map(|message| message.content.to_string())
            .collect();
        let is_said = |text: &str| said.iter().any(|content| text.trim().starts_with(content));
        let mut script = self.script();
        loop {
            let at = script.at.get(&channel).copied().unwrap_or(0);
            let Some(line) = script.lines.get(at).cloned() else {
                return Act::Pass.into();
            };
            match &line.act {
                Act::Say(text) if is_said(text) => {
                    script.at.insert(channel, at + 1);
                }
                Act::Say(_) if script.says_once => {
                    script.at.insert(channel, at + 1);
                    return line;
                }
                Act::Say(_) => return line,
                Act::Reply(_)
                | Act::Pass
                | Act::Fail
                | Act::Panic
                | Act::Hang
                | Act::Deaf
                | Act::Conclude(_) => {
                    script.at.insert(channel, at + 1);
                    return line;
                }
            }
        }
    }

    /// Marks the current line as said, so that it is not repeated.
    pub fn count_as_said(&self, channel: ChannelId) {
        let mut script = self.script();
        let at = script.at.get(&channel).copied().unwrap_or(0);
        if matches!(script.lines.get(at).map(|line| &line.act), Some(Act::Say(_))) {
            script.at.insert(channel, at + 1);
        }
    }

    /// Concludes the discussion in this channel, if the agent may.
    pub async fn conclude(&self, channel: ChannelId) {
        let dirigent = self.attached();
        if let Some(dirigent) = dirigent {
            let _ = dirigent
                .channel(channel)
                .conclude(&self.name, Some(Summary::Path("summary.md".into())))
                .await;
        }
    }

    /// Waits for this long.
    pub async fn think(&self, takes: Duration) {
        if !takes.is_zero() {
            self.clock.sleep_until(self.clock.now() + takes).await;
        }
    }

    /// Counts a call. It is among the [`turns`](Self::turns) from now on, and runs until you drop the returned value.
    pub fn begin(&self, turn: &Turn) -> Speaking {
        let mut writer = turn.lines();
        let lines = turn.missed().iter().map(|message| writer.line(message)).collect();
        let mut script = self.script();
        script.running += 1;
        script.running_max = script.running_max.max(script.running);
        script.turns.push(SeenTurn {
            channel: Some(turn.channel()),
            turn: turn.turn(),
            attempt: turn.attempt(),
            after_reminder: turn.is_after_reminder(),
            missed: turn.missed().iter().map(|m| m.content.to_string()).collect(),
            lines,
            late_answer: turn.late_answer().map(str::to_owned),
            late_embeds: turn.late_embeds().to_vec(),
            post_failure: turn.post_failure(),
            late_files: turn.late_files().map(str::to_owned).collect(),
            repeated: turn.is_repeated(),
            ..SeenTurn::default()
        });
        Speaking { agent: self.clone(), at: script.turns.len() - 1 }
    }

    /// Performs the script's action for this call.
    ///
    /// # Errors
    ///
    /// Returns an error if the script says so.
    ///
    /// # Panics
    ///
    /// Panics if the script says so.
    pub async fn perform(&self, turn: &Turn) -> Result<Reply, AgentError> {
        let line = self.next_line(turn.channel());
        tokio::select! {
            biased;
            () = turn.cancelled(), if line.act != Act::Deaf => return Ok(Reply::Pass),
            () = self.think(line.takes) => {}
        }
        match line.act {
            Act::Say(text) => Ok(Reply::Say(text)),
            Act::Reply(reply) => Ok(reply),
            Act::Pass => Ok(Reply::Pass),
            Act::Fail => Err("it failed by script".into()),
            Act::Panic => panic!("it panics by script"),
            Act::Hang => {
                turn.cancelled().await;
                Ok(Reply::Pass)
            }
            Act::Deaf => std::future::pending().await,
            Act::Conclude(text) => {
                self.conclude(turn.channel()).await;
                Ok(Reply::Say(text))
            }
        }
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Agent for ScriptedAgent {
    async fn speak(&self, turn: Turn) -> Result<Reply, AgentError> {
        let speaking = self.begin(&turn);
        let reply = self.perform(&turn).await;
        speaking.end(&turn);
        reply
    }
}

/// A running call of a [`ScriptedAgent`]. Dropping it ends the call, whatever its result.
#[derive(Debug)]
#[must_use = "the call counts as over when this is dropped"]
pub struct Speaking {
    agent: ScriptedAgent,
    /// The index of its turn.
    at: usize,
}

impl Speaking {
    /// Records the result of the call, when it has an answer.
    pub fn end(self, turn: &Turn) {
        if let Some(seen) = self.agent.script().turns.get_mut(self.at) {
            seen.cancelled = turn.is_cancelled();
            seen.injected
                .extend(std::iter::from_fn(|| turn.take_injected()).map(|m| m.content.to_string()));
        }
    }
}

impl Drop for Speaking {
    fn drop(&mut self) {
        let mut script = self.agent.script();
        script.running = script.running.saturating_sub(1);
    }
}

impl fmt::Debug for ScriptedAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedAgent")
            .field("name", &self.name)
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}
