//! Where the bot is.

use std::path::Path;
use std::sync::Arc;

use dirigent::operate::{ChannelEvent, EventOrLag};
use dirigent::store::{ChannelStore, MemoryChannels};
use dirigent::{Agent, Dirigent};
use dirigent_llm::{ChatAgent, Endpoint};
use dirigent_store::SqliteStore;

use crate::agents::CHARACTERS;
use crate::loopback::Practice;
use crate::{Character, FastClock, Options, Result};

/// How many times as fast the clock runs in a rehearsal without spectators.
const HURRY: u32 = 20;

/// Where the bot is, and with which tokens: at Discord, with those of the environment (`DISCORD_TOKEN` for
/// the moderator; `OPTIMIST_TOKEN`, `SCEPTIC_TOKEN` and `HISTORIAN_TOKEN`), or on this machine.
#[derive(Debug)]
pub struct Place {
    /// Where the REST API is, if not at Discord: `http://host:port`.
    pub address: Option<String>,
    /// Where the gateway is, if not at Discord: `ws://host:port`.
    pub gateway: Option<String>,
    /// The moderator's token.
    pub moderator: Token,
    /// The agents, with their tokens.
    pub agents: Vec<(Character, Token)>,
    /// The time here.
    pub clock: FastClock,
    llm: Option<Endpoint>,
    practice: Option<Practice>,
}

/// A token. `Debug` does not show it.
pub struct Token(String);

impl Token {
    /// Wraps it.
    pub const fn new(token: String) -> Self {
        Self(token)
    }

    /// The token itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}

impl Place {
    /// At Discord if there is a token for it, else on this machine; there `--fast` does not wait for anybody
    /// to read along, and `--verbose` shows every change.
    ///
    /// # Errors
    ///
    /// When an agent's token is missing, or the Discord on this machine cannot be started.
    pub async fn find(options: &Options) -> Result<Self> {
        let Ok(moderator) = std::env::var("DISCORD_TOKEN") else {
            return Self::on_this_machine(options).await;
        };
        let agents = CHARACTERS.map(|character| {
            let name = format!("{}_TOKEN", character.name.to_uppercase());
            let token = std::env::var(&name).map_err(|_| format!("{name} is not set"))?;
            Ok((character, Token(token)))
        });
        Ok(Self {
            address: None,
            gateway: None,
            moderator: Token(moderator),
            agents: agents.into_iter().collect::<Result<_>>()?,
            clock: FastClock::new(1),
            llm: options.llm(),
            practice: None,
        })
    }

    async fn on_this_machine(options: &Options) -> Result<Self> {
        let clock = FastClock::new(if options.has("fast") { HURRY } else { 1 });
        let llm = options.llm();
        let practice = Practice::begin(clock, options.has("verbose"), llm.is_some()).await?;
        let agents = CHARACTERS.into_iter().zip(practice.agents());
        Ok(Self {
            address: Some(practice.address()),
            gateway: Some(practice.gateway()),
            moderator: practice.moderator(),
            agents: agents.collect(),
            clock,
            llm,
            practice: Some(practice),
        })
    }

    /// What speaks for a character: a model with `--llm`, else its lines.
    pub fn voice(&self, character: Character) -> Arc<dyn Agent> {
        match &self.llm {
            Some(llm) => {
                let persona = format!(
                    "You are the {} at a round table. Answer in one short sentence.",
                    character.name
                );
                Arc::new(ChatAgent::new(llm.clone()).persona(persona))
            }
            None => Arc::new(character.with(self.clock)),
        }
    }

    /// Where channels are kept: at Discord in a SQLite database, `state/dirigent.sqlite`. On this machine in memory, because
    /// its Discord ends with the bot.
    ///
    /// # Errors
    ///
    /// When the database cannot be opened.
    pub fn channels(&self) -> Result<Arc<dyn ChannelStore>> {
        if self.practice.is_some() {
            return Ok(Arc::new(MemoryChannels::default()));
        }
        Ok(Arc::new(SqliteStore::open(Path::new("state").join(SqliteStore::FILE_NAME))?))
    }

    /// Shows what the library does, until Ctrl-C; on this machine until the evening is over.
    ///
    /// # Errors
    ///
    /// When the evening on this machine does not go as it should.
    pub async fn stay(&self, dirigent: &Dirigent) -> Result {
        let interrupted = tokio::signal::ctrl_c();
        tokio::select! {
            ended = self.watch(dirigent) => ended,
            interrupted = interrupted => Ok(interrupted?),
        }
    }

    async fn watch(&self, dirigent: &Dirigent) -> Result {
        if let Some(practice) = &self.practice {
            return practice.evening(dirigent).await;
        }
        let mut changes = dirigent.events();
        while let Some(heard) = changes.next().await {
            if let EventOrLag::Transition(change) = heard {
                show(&change);
            }
        }
        Ok(())
    }
}

#[expect(clippy::print_stdout, reason = "this is what one came to see")]
fn show(change: &ChannelEvent) {
    println!("{}: {change}", change.channel);
}
