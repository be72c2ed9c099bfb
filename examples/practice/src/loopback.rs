//! A Discord on this machine: a guild, a channel, a moderator, three agents and a person.

use std::sync::Arc;

use dirigent::{ChannelId, UserId};
use dirigent_loopback::LoopbackDiscord;
use dirigent_testkit::MemoryDiscord;

use crate::place::Token;
use crate::{FastClock, Result};

/// A Discord on this machine, and who is there.
#[derive(Debug)]
pub(crate) struct Practice {
    pub(crate) server: LoopbackDiscord,
    pub(crate) clock: FastClock,
    pub(crate) channel: ChannelId,
    pub(crate) moderator: UserId,
    pub(crate) agents: [UserId; 3],
    pub(crate) person: UserId,
    /// Whether every change of a channel is shown.
    pub(crate) is_verbose: bool,
    /// Whether the agents ask a model, which may fail and may have much to say.
    pub(crate) has_model: bool,
}

impl Practice {
    pub(crate) async fn begin(clock: FastClock, is_verbose: bool, has_model: bool) -> Result<Self> {
        let discord = MemoryDiscord::new(Arc::new(clock));
        let (person, moderator) = (discord.add_human(), discord.add_bot());
        let agents = [discord.add_bot(), discord.add_bot(), discord.add_bot()];
        let guild = discord.add_guild(person);
        let [one, two, three] = agents;
        let present = [person, moderator, one, two, three];
        let channel = discord.add_channel(guild, "round-table", &present);
        let server = LoopbackDiscord::start(discord).await?;
        Ok(Self { server, clock, channel, moderator, agents, person, is_verbose, has_model })
    }

    pub(crate) fn address(&self) -> String {
        format!("http://{}", self.server.address())
    }

    pub(crate) fn gateway(&self) -> String {
        format!("ws://{}", self.server.address())
    }

    pub(crate) fn moderator(&self) -> Token {
        Token::new(self.server.token(self.moderator))
    }

    pub(crate) fn agents(&self) -> [Token; 3] {
        self.agents.map(|agent| Token::new(self.server.token(agent)))
    }
}
