//! The chat, the library over it, and the stream of what happens in both.

use std::sync::Arc;
use std::time::Duration;

use dirigent::operate::{Cause, ChannelEvent, EventOrLag};
use dirigent::ports::{GuildId, Identity};
use dirigent::settings::Pacing;
use dirigent::{
    AgentId, ChannelId, Clock, Dirigent, Driver, MemoryIdentities, Settings, SystemClock, UserId,
};
use dirigent_testkit::MemoryDiscord;
use dirigent_testkit::memory_discord::{Event, GatewayEvents};

use crate::agents::{Script, Scripted, Thinking};
use crate::terminal::Terminal;
use crate::{Options, Result};

/// The chat, the library, and the terminal that shows both.
pub(crate) struct Table {
    options: Options,
    clock: SystemClock,
    identities: MemoryIdentities,
    terminal: Terminal,
    pub(crate) discord: MemoryDiscord,
    pub(crate) dirigent: Dirigent,
    pub(crate) guild: GuildId,
    pub(crate) channel: ChannelId,
    pub(crate) moderator: UserId,
    pub(crate) person: UserId,
    /// What the chat pushes, as a bot's gateway connection would.
    pushed: GatewayEvents,
    /// What the library decides.
    changes: dirigent::operate::Events,
    /// A change that is shown after the words which it confirms.
    late: Option<ChannelEvent>,
}

/// An agent that sits at the table.
pub(crate) struct Guest {
    pub(crate) agent: AgentId,
    pub(crate) user: UserId,
    pub(crate) script: Script,
}

/// Something that is to be shown.
pub(crate) enum Happening {
    Pushed(Event),
    Changed(ChannelEvent),
}

/// What was just shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    Words(UserId),
    Change(Cause),
    Nothing,
}

impl Table {
    /// Puts the library together. It acts as the moderator, an account of its own.
    pub(crate) fn set(options: Options) -> Result<(Self, Driver)> {
        let clock = SystemClock::new();
        let discord = MemoryDiscord::new(Arc::new(clock));
        let (moderator, person) = (discord.add_bot(), discord.add_human());
        let guild = discord.add_guild(person);
        let channel = discord.add_channel(guild, "round-table", &[moderator, person]);
        let identities = MemoryIdentities::new();
        let mut settings = Settings::default();
        settings.limits.pacing = Pacing::off(); // Discord limits posts; memory does not.
        let account = discord.account(moderator);
        let (dirigent, driver) = Dirigent::builder(account)
            .identities(identities.clone())
            .clock(clock)
            .settings(settings)
            .seed(4)
            .build()?;
        let (pushed, changes) = (discord.events(), dirigent.events());
        let mut terminal = Terminal::new(options.verbose);
        terminal.introduce(moderator, "Moderator", None);
        terminal.introduce(person, "You", None);
        let late = None;
        #[rustfmt::skip]
        let table = Self {
            options, clock, identities, terminal, discord, dirigent, guild, channel, moderator,
            person, pushed, changes, late,
        };
        Ok((table, driver))
    }

    /// Lets an agent take part: an account, an entry in the registry, and something that speaks.
    pub(crate) async fn seat(
        &mut self,
        name: &str,
        thinks_ms: u64,
        lines: &[&'static str],
    ) -> Result<Guest> {
        let (user, agent) = (self.discord.add_bot(), AgentId::from(name.to_lowercase()));
        self.identities.add(Identity {
            discord_user_id: user,
            agent_id: agent.clone(),
            agent_name: name.to_owned(),
        })?;
        self.dirigent.identities_changed().await?;
        self.terminal.introduce(user, name, Some(agent.clone()));
        let script = Script::default();
        script.add(lines);
        let account = self.discord.account(user);
        let thinks = if self.options.fast { 1 } else { thinks_ms };
        let thinking = Thinking { clock: self.clock, time: Duration::from_millis(thinks) };
        let scripted = Scripted { script: script.clone(), thinking };
        self.dirigent.host(agent.clone(), scripted, account);
        self.discord.join(self.channel, user);
        Ok(Guest { agent, user, script })
    }

    /// The person says something.
    pub(crate) fn say(&self, channel: ChannelId, text: &str) {
        self.discord.say(channel, self.person, text);
    }

    /// The person asks, and listens until no agent has anything to add.
    pub(crate) async fn ask(&mut self, question: &str) -> Result {
        self.say(self.channel, question);
        self.until(Shown::Change(Cause::AllPassed)).await
    }

    /// Shows what happens, up to this.
    pub(crate) async fn until(&mut self, last: Shown) -> Result {
        let clock = self.clock;
        let patience = clock.now() + Duration::from_secs(5);
        loop {
            let happening = tokio::select! {
                happening = self.next() => happening?,
                () = clock.sleep_until(patience) => return Err("nothing happens any more".into()),
            };
            if self.show(happening).await? == last {
                return Ok(());
            }
        }
    }

    /// The next thing to be shown. Nothing is lost when the future is dropped.
    pub(crate) async fn next(&mut self) -> Result<Happening> {
        let change = if let Some(change) = self.late.take() {
            change
        } else {
            tokio::select! {
                biased;
                heard = self.changes.next() => match heard {
                    Some(EventOrLag::Transition(change)) => change,
                    Some(other) => return Err(format!("an unexpected event: {other:?}").into()),
                    None => return Err("the library is gone".into()),
                },
                event = self.pushed.next() => {
                    return event.map(Happening::Pushed).ok_or_else(|| "the chat is gone".into());
                }
            }
        };
        // Chat and library are two streams; a reply is pushed before the library confirms it.
        if self.terminal.lacks_words_for(&change) {
            if let Some(event) = self.pushed.try_next() {
                self.late = Some(change);
                return Ok(Happening::Pushed(event));
            }
        }
        Ok(Happening::Changed(change))
    }

    /// Shows it, and forwards to the library what the chat pushes, as a bot's event handler does.
    pub(crate) async fn show(&mut self, happening: Happening) -> Result<Shown> {
        match happening {
            Happening::Pushed(Event::MessageCreated(message)) => {
                let author = message.author;
                self.terminal.show_message(&message);
                self.dirigent.message_created(message).await?;
                Ok(Shown::Words(author))
            }
            Happening::Pushed(other) => {
                other.tell(&self.dirigent).await?;
                Ok(Shown::Nothing)
            }
            Happening::Changed(change) => {
                let order = self.order_after(&change).await?;
                self.terminal.show_change(&change, &order);
                Ok(Shown::Change(change.transition.cause))
            }
        }
    }

    /// The speaking order after a shuffle, unless that cycle is over by now.
    async fn order_after(&self, change: &ChannelEvent) -> Result<Vec<AgentId>> {
        if change.transition.cause != Cause::Reshuffled {
            return Ok(Vec::new());
        }
        let Some(status) = self.dirigent.channel(change.channel).status().await? else {
            return Ok(Vec::new());
        };
        let turns = status.turn.get() - change.transition.turn.get();
        let is_over = turns >= status.list.len() as u64;
        let list = status.list.into_iter().filter(|_| !is_over);
        Ok(list.map(|(agent, _)| agent).collect())
    }
}
