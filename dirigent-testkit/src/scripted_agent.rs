//! Agents that do what a script says.

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

/// What an agent does in a turn.
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
    /// Answers with this, whether it arrives or not.
    Reply(Reply),
    /// Has nothing to say.
    Pass,
    /// Fails with an error.
    Fail,
    /// Panics during the call.
    Panic,
    /// Answers only when it is cancelled.
    Hang,
    /// Never answers, not even when it is cancelled.
    Deaf,
    /// Concludes the discussion, then says this.
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
    /// What the agent does.
    pub act: Act,
    /// After how long.
    pub takes: Duration,
}

impl Line {
    /// Takes this long.
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
    /// Where; none for a turn that no channel gave.
    pub channel: Option<ChannelId>,
    /// Its number.
    pub turn: TurnId,
    /// Which call of this turn.
    pub attempt: u8,
    /// Whether it was the run after an idle reminder.
    pub after_reminder: bool,
    /// The texts that it was handed as missed.
    pub missed: Vec<String>,
    /// The same, as the lines that a model reads.
    pub lines: Vec<String>,
    /// The texts that came while it ran.
    pub injected: Vec<String>,
    /// Whether it was cancelled.
    pub cancelled: bool,
    /// What it was handed back of an earlier turn.
    pub late_answer: Option<String>,
    /// The embeds that it was handed back with it.
    pub late_embeds: Vec<Embed>,
    /// Why the chat did not take that answer.
    pub post_failure: Option<PostFailure>,
    /// The names of the files that were not posted with an earlier reply.
    pub late_files: Vec<String>,
    /// Whether it was told that its newest reply repeated what was said.
    pub repeated: bool,
}

/// An agent that does what its script says, and passes when that is over.
///
/// What it said stands in the chat, as for a model that reads its own words: a line whose reply
/// never arrived is said in the next turn. Clones share the same script.
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
    /// The next line, in each channel.
    at: HashMap<ChannelId, usize>,
    turns: Vec<SeenTurn>,
    /// Whether no line is said again, even if it never arrived.
    says_once: bool,
    running: usize,
    running_max: usize,
    dirigent: Option<Dirigent>,
}

impl ScriptedAgent {
    /// Creates an agent with an empty script: what it said is looked up in this chat, and this clock says how long it
    /// takes.
    pub fn new(name: AgentId, user: UserId, discord: MemoryDiscord, clock: Arc<dyn Clock>) -> Self {
        Self { name, user, discord, clock, script: Arc::default() }
    }

    /// Its name in the registry.
    pub const fn name(&self) -> &AgentId {
        &self.name
    }

    /// Its account.
    pub const fn user(&self) -> UserId {
        self.user
    }

    /// Gives it more to do.
    pub fn then(&self, line: impl Into<Line>) {
        self.script().lines.push(line.into());
    }

    /// Says no line again, even if it never arrived: what is doubled then was doubled by others.
    pub fn say_once(&self) {
        self.script().says_once = true;
    }

    /// The turns it was given, oldest first.
    pub fn turns(&self) -> Vec<SeenTurn> {
        self.script().turns.clone()
    }

    /// How many of its turns ran at once at most.
    pub fn running_max(&self) -> usize {
        self.script().running_max
    }

    /// Gives it the library of the process that runs now, with which it concludes discussions; none while the process
    /// is down.
    pub fn attach(&self, dirigent: Option<Dirigent>) {
        let mut script = self.script();
        script.dirigent = dirigent;
        script.running = 0;
    }

    /// The library in the process that runs now.
    pub fn attached(&self) -> Option<Dirigent> {
        self.script().dirigent.clone()
    }

    /// The clock that says how long it takes.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// Counts a turn that it was given in another way than by [`Agent::speak`].
    pub fn note(&self, channel: ChannelId) {
        self.script().turns.push(SeenTurn { channel: Some(channel), ..SeenTurn::default() });
    }

    /// What to do now, in this channel.
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

    /// The line that is being said is on its way, and not to be said again.
    pub fn count_as_said(&self, channel: ChannelId) {
        let mut script = self.script();
        let at = script.at.get(&channel).copied().unwrap_or(0);
        if matches!(script.lines.get(at).map(|line| &line.act), Some(Act::Say(_))) {
            script.at.insert(channel, at + 1);
        }
    }

    /// Concludes the discussion in this channel, as far as it may.
    pub async fn conclude(&self, channel: ChannelId) {
        let dirigent = self.attached();
        if let Some(dirigent) = dirigent {
            let _ = dirigent
                .channel(channel)
                .conclude(&self.name, Some(Summary::Path("summary.md".into())))
                .await;
        }
    }

    /// Takes this long.
    pub async fn think(&self, takes: Duration) {
        if !takes.is_zero() {
            self.clock.sleep_until(self.clock.now() + takes).await;
        }
    }

    /// Counts a call in: it is among the [`turns`](Self::turns) from now on, and runs until the value returned is dropped.
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

    /// Does what the script says for this call.
    ///
    /// # Errors
    ///
    /// When that is what the script says.
    ///
    /// # Panics
    ///
    /// When that is what the script says.
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

/// A call of a [`ScriptedAgent`] that is under way. Dropping it counts the call out, however it ended.
#[derive(Debug)]
#[must_use = "the call counts as over when this is dropped"]
pub struct Speaking {
    agent: ScriptedAgent,
    /// The place of its turn.
    at: usize,
}

impl Speaking {
    /// Writes down what became of the call, when it has an answer.
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
