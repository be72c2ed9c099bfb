//! A host that owns its agents: the library says who may run, the host does everything else.
//!
//! ```text
//! cargo run --example hooks
//! ```
//!
//! Agent hosts such as OpenClaw start a run of every agent for every message. Three calls put the
//! library in between: `may_speak` before the model is called, the permit's `end` when the run is
//! over, `message_created` for whatever the chat pushes. The library then wakes one agent after the
//! other by a short trigger message, and a denied run costs nothing: its model is never called.
#![expect(clippy::print_stdout, reason = "this is what one came to see")]

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use clap::Command;
use dirigent::hooks::{RunId, RunReport};
use dirigent::operate::{CreatedChannel, EventOrLag};
use dirigent::ports::{AuthorKind, Identity, Nonce, Post};
use dirigent::settings::{Pacing, SilencePolicy};
use dirigent::snapshot::PhaseKind;
use dirigent::{
    AgentError, AgentId, ChannelId, ChatMessage, Denial, Dirigent, DiscordApi, Driver,
    MemoryIdentities, Mode, Permit, Settings, SystemClock, UserId,
};
use dirigent_testkit::MemoryDiscord;
use dirigent_testkit::memory_discord::{Event, GatewayEvents};

type Result<T = ()> = std::result::Result<T, AgentError>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result {
    Command::new("hooks").about("A host that owns its agents").get_matches();
    let (mut host, driver) = Host::new()?;
    let driver = tokio::spawn(driver.run());
    // The driver must have begun before it can be asked for anything.
    tokio::task::yield_now().await;
    let pushed = host.discord.events();
    host.open_channel().await?;
    host.discord.say(host.channel, host.person, "The build is red. What now?");
    host.listen(pushed).await?;
    host.report();
    host.dirigent.shutdown(Duration::from_secs(2)).await;
    driver.await??;
    Ok(())
}

/// The host: sessions, a connection to the chat, and the library.
struct Host {
    discord: MemoryDiscord,
    dirigent: Dirigent,
    channel: ChannelId,
    moderator: UserId,
    person: UserId,
    sessions: Vec<Session>,
    /// Runs begun so far; each has a number of its own.
    runs: u64,
    model_calls: u64,
}

/// One agent, as its host knows it.
struct Session {
    agent: AgentId,
    user: UserId,
    model: Model,
}

/// Stands for a language model: it knows what to say, says nothing, or is out of order.
struct Model(VecDeque<Result<&'static str>>);

/// A run that may call its model.
struct Run {
    id: RunId,
    /// Holds the floor.
    permit: Permit,
}

impl Model {
    /// The call that costs money.
    fn call(&mut self) -> Result<String> {
        self.0.pop_front().unwrap_or(Ok("NO_REPLY")).map(str::to_owned)
    }
}

impl Host {
    /// Three agents with an account each, and the library with one of its own: the moderator.
    fn new() -> Result<(Self, Driver)> {
        let clock = SystemClock::new();
        let discord = MemoryDiscord::new(Arc::new(clock));
        let (moderator, person) = (discord.add_bot(), discord.add_human());
        let sessions: Vec<_> = cast()
            .map(|(name, model)| Session {
                agent: name.into(),
                user: discord.add_bot(),
                model: Model(model),
            })
            .into();
        let identities = MemoryIdentities::with(sessions.iter().map(|session| Identity {
            discord_user_id: session.user,
            agent_id: session.agent.clone(),
            agent_name: session.agent.to_string(),
        }))?;
        let guild = discord.add_guild(person);
        let mut present = vec![moderator, person];
        present.extend(sessions.iter().map(|session| session.user));
        let channel = discord.add_channel(guild, "build", &present);
        let mut settings = Settings::default();
        settings.limits.pacing = Pacing::off(); // Discord limits posts; memory does not.
        let account = discord.account(moderator);
        let (dirigent, driver) = Dirigent::builder(account)
            .identities(identities)
            .clock(clock)
            .settings(settings)
            .build()?;
        let (runs, model_calls) = (0, 0);
        #[rustfmt::skip]
        let host = Self {
            discord, dirigent, channel, moderator, person, sessions, runs, model_calls,
        };
        Ok((host, driver))
    }

    /// Says who is in the new channel, and in which order they speak first. For a channel that was
    /// there before, `set_mode` is enough: the library asks the chat who is in it.
    async fn open_channel(&self) -> Result {
        let members = self.sessions.iter().map(|session| session.agent.clone()).collect();
        let chat = CreatedChannel { mode: Mode::Chat, members, ..CreatedChannel::default() };
        self.dirigent.channel(self.channel).register(chat).await?;
        Ok(())
    }

    /// Handles what the chat pushes, until the library says that the cycle is over.
    async fn listen(&mut self, mut pushed: GatewayEvents) -> Result {
        let mut changes = self.dirigent.events();
        loop {
            tokio::select! {
                biased;
                event = pushed.next() => match event {
                    Some(Event::MessageCreated(message)) => self.on_message(message).await?,
                    // Triggers are deleted as soon as they are posted: nothing to do.
                    Some(_) => {}
                    None => return Ok(()),
                },
                heard = changes.next() => if let Some(EventOrLag::Transition(change)) = heard {
                    if change.transition.to == PhaseKind::Dormant {
                        return Ok(());
                    }
                },
            }
        }
    }

    /// A message arrived: the library gets it first, then every agent starts a run, as it would
    /// without the library. The gates of all are asked before a model has answered.
    async fn on_message(&mut self, message: ChatMessage) -> Result {
        self.show_message(&message);
        let author = message.author;
        self.dirigent.message_created(message).await?;
        let mut sessions = std::mem::take(&mut self.sessions);
        let mut allowed = Vec::new();
        for session in sessions.iter_mut().filter(|session| session.user != author) {
            if let Some(run) = self.begin(&session.agent).await? {
                allowed.push((session, run));
            }
        }
        for (session, run) in allowed {
            self.finish(session, run).await?;
        }
        self.sessions = sessions;
        Ok(())
    }

    /// Before the model: may this agent run?
    async fn begin(&mut self, agent: &AgentId) -> Result<Option<Run>> {
        self.runs += 1;
        let id = RunId::new(self.runs);
        match self.dirigent.channel(self.channel).may_speak(agent, Some(id)).await {
            Ok(permit) => {
                note(&format!("{agent} runs: {}", permit.reason()));
                Ok(Some(Run { id, permit }))
            }
            Err(Denial::Failed(error)) => Err(error.into()),
            Err(denial) => {
                note(&format!("{agent} denied: {denial}"));
                Ok(None)
            }
        }
    }

    /// The model, the end of the run, the delivery.
    async fn finish(&mut self, session: &mut Session, run: Run) -> Result {
        self.model_calls += 1;
        let Ok(text) = session.model.call() else {
            note("its model is out of order");
            // The permit is dropped: the turn counts as failed, and the next agent has its own.
            return Ok(());
        };
        if run.permit.end(RunReport::Text(&text)).is_err() {
            return Ok(()); // The floor was taken away meanwhile: what was said is stale.
        }
        self.deliver(session.user, run.id, &text).await
    }

    /// Posts a reply with the agent's own account. The library recognises it when it is pushed.
    async fn deliver(&self, user: UserId, run: RunId, text: &str) -> Result {
        let content = SilencePolicy::default().deliverable(text);
        if content.is_empty() {
            return Ok(());
        }
        let nonce = Nonce::from_parts(self.channel.get(), 0, run.get());
        let post = Post::new(self.channel, content, nonce);
        self.discord.account(user).post(post).await?;
        Ok(())
    }

    fn show_message(&self, message: &ChatMessage) {
        let author = self.sessions.iter().find(|session| session.user == message.author);
        let name = match author {
            Some(session) => session.agent.as_str(),
            None if message.author == self.moderator => "trigger",
            None if message.author_kind == AuthorKind::Human => "You",
            None => "unknown",
        };
        let text = self.sessions.iter().fold(message.content.to_string(), |text, session| {
            text.replace(&format!("<@{}>", session.user), &format!("@{}", session.agent))
        });
        println!("\n{name:>11}: {text}");
    }

    /// Without the library, every run would have called its model.
    fn report(&self) {
        let saved = self.runs - self.model_calls;
        println!("\n{} runs, {} model calls, {saved} saved", self.runs, self.model_calls);
    }
}

/// Who is there, and what their models are going to answer.
fn cast() -> [(&'static str, VecDeque<Result<&'static str>>); 3] {
    [
        ("builder", [Ok("A test fails since noon. I can revert the change.")].into()),
        ("tester", [Err("no answer".into())].into()),
        ("reviewer", [Ok("Revert, and we look at it tomorrow. NO_REPLY")].into()),
    ]
}

fn note(text: &str) {
    println!("{:>11}  · {text}", "");
}
