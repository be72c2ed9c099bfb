//! Agents that read from a script instead of asking a model.

use std::path::PathBuf;
use std::time::Duration;

use dirigent::{Agent, Clock, Reply, SystemClock, Turn, UserId};
use dirigent_testkit::MemoryDiscord;
use serde_json::json;

use crate::Result;
use crate::process::ToolAccess;

/// An agent as the world knows it.
#[derive(Clone)]
pub(crate) struct Member {
    pub(crate) name: &'static str,
    pub(crate) user: UserId,
    /// What it says, one line a turn; then it passes.
    pub(crate) lines: &'static [&'static str],
}

/// The part of an agent that lives in the process.
pub(crate) struct Speaker {
    pub(crate) member: Member,
    pub(crate) discord: MemoryDiscord,
    pub(crate) clock: SystemClock,
    pub(crate) thinks: Duration,
    pub(crate) tools: ToolAccess,
    pub(crate) workspace: PathBuf,
}

#[dirigent::async_trait]
impl Agent for Speaker {
    async fn speak(&self, turn: Turn) -> Result<Reply> {
        tokio::select! {
            () = turn.cancelled() => return Ok(Reply::Pass),
            () = self.clock.sleep_until(self.clock.now() + self.thinks) => {}
        }
        if turn.is_after_reminder() {
            self.conclude(&turn).await?;
            return Ok(Reply::Pass);
        }
        // A model reads in the channel what it has said already.
        let messages = self.discord.messages(turn.channel());
        let said = messages.iter().filter(|message| message.author == self.member.user).count();
        Ok(self.member.lines.get(said).copied().map_or(Reply::Pass, Reply::from))
    }
}

impl Speaker {
    /// No agent has anything to add: the initiator sums up, and ends its discussion with a tool.
    async fn conclude(&self, turn: &Turn) -> Result {
        let folder = self.workspace.join("discussion-summary");
        std::fs::create_dir_all(&folder)?;
        let words = self.discord.messages(turn.channel()).into_iter().map(|said| said.content);
        std::fs::write(folder.join("database.md"), words.collect::<Vec<_>>().join("\n"))?;
        let arguments = json!({
            "discussion-channel": turn.channel(),
            "summary": "discussion-summary/database.md",
        });
        let caller = self.tools.caller(self.member.name, Some(turn.channel()));
        self.tools.call(&caller, "discussion-complete", &arguments).await?;
        Ok(())
    }
}
