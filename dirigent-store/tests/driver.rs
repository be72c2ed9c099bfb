//! The driver on files: what it says survives a restart does.

use std::path::Path;
use std::sync::Arc;

use dirigent::host::RunError;
use dirigent::operate::{Cause, EventOrLag, Events};
use dirigent::ports::Identity;
use dirigent::settings::Pacing;
use dirigent::{
    Agent, AgentError, ChannelId, Dirigent, IdentityStore as _, Mode, Reply, Settings, SystemClock,
    Turn, UserId,
};
use dirigent_store::{JsonChannels, JsonIdentities};
use dirigent_testkit::MemoryDiscord;
use tokio::task::JoinHandle;

/// Answers once to whatever was said, then passes.
struct Brief;

#[dirigent::async_trait]
impl Agent for Brief {
    async fn speak(&self, turn: Turn) -> Result<Reply, AgentError> {
        let asked = turn.missed().iter().any(|message| message.content.ends_with('?'));
        Ok(if asked { "Yes.".into() } else { Reply::Pass })
    }
}

/// A chat that outlives the library.
struct World {
    discord: MemoryDiscord,
    moderator: UserId,
    person: UserId,
    agents: [UserId; 2],
    channel: ChannelId,
}

impl World {
    fn new() -> Self {
        let discord = MemoryDiscord::new(Arc::new(SystemClock::new()));
        let (moderator, person) = (discord.add_bot(), discord.add_human());
        let agents = [discord.add_bot(), discord.add_bot()];
        let guild = discord.add_guild(person);
        let everybody = [&[moderator, person], agents.as_slice()].concat();
        let channel = discord.add_channel(guild, "round-table", &everybody);
        Self { discord, moderator, person, agents, channel }
    }

    /// Starts the library on this folder.
    async fn enter(&self, folder: &Path) -> Life {
        let identities = JsonIdentities::open(folder.join(JsonIdentities::FILE_NAME)).unwrap();
        for (name, user) in ["ada", "bob"].into_iter().zip(self.agents) {
            let (agent_id, agent_name) = (name.into(), name.to_owned());
            let identity = Identity { discord_user_id: user, agent_id, agent_name };
            identities.register(identity).await.unwrap();
        }
        let mut settings = Settings::default();
        settings.pacing = Pacing::off();
        let account = Arc::new(self.discord.account(self.moderator));
        let mut builder = Dirigent::builder(account)
            .identities(identities)
            .channels(JsonChannels::open(folder.join("state")).unwrap())
            .settings(settings);
        for (name, user) in ["ada", "bob"].into_iter().zip(self.agents) {
            builder = builder.host(name, Brief, Arc::new(self.discord.account(user)));
        }
        let (dirigent, driver) = builder.build().unwrap();
        let (changes, driver) = (dirigent.events(), tokio::spawn(driver.run()));
        tokio::task::yield_now().await;
        Life { dirigent, changes, driver }
    }
}

/// The library from a start to a kill.
struct Life {
    dirigent: Dirigent,
    changes: Events,
    driver: JoinHandle<Result<(), RunError>>,
}

impl Life {
    async fn until(&mut self, cause: Cause) {
        loop {
            let heard = self.changes.next().await.unwrap();
            let EventOrLag::Transition(event) = heard else {
                panic!("an unexpected event: {heard:?}")
            };
            if event.transition.cause == cause {
                return;
            }
        }
    }

    async fn ask(&mut self, world: &World, question: &str) {
        let id = world.discord.say(world.channel, world.person, question);
        let message = world.discord.message(world.channel, id).unwrap();
        self.dirigent.message_created(message).await.unwrap();
        self.until(Cause::AllPassed).await;
    }

    async fn causes(&self, channel: ChannelId) -> Vec<Cause> {
        let history = self.dirigent.channel(channel).history().await.unwrap();
        history.into_iter().map(|event| event.transition.cause).collect()
    }

    async fn kill(self) {
        self.driver.abort();
        let _ = self.driver.await;
    }
}

/// R046, D77
#[tokio::test]
async fn a_chat_goes_on_after_its_process_was_killed() {
    let (world, home) = (World::new(), tempfile::tempdir().unwrap());
    let mut life = world.enter(home.path()).await;
    life.dirigent.channel(world.channel).set_mode(Mode::Chat).await.unwrap();
    life.ask(&world, "Are you there?").await;
    life.kill().await;

    let mut life = world.enter(home.path()).await;
    let status = life.dirigent.channel(world.channel).status().await.unwrap().unwrap();
    assert_eq!(status.mode, Mode::Chat);
    let turns = status.turn;
    life.ask(&world, "And now?").await;
    let status = life.dirigent.channel(world.channel).status().await.unwrap().unwrap();
    assert!(status.turn > turns, "turns are counted on");
    let said: Vec<_> = world.discord.messages(world.channel).into_iter().collect();
    let answers = said.iter().filter(|message| &*message.content == "Yes.").count();
    assert_eq!(answers, 4, "each agent answered each question once");
    life.kill().await;
}

/// R046
#[tokio::test]
async fn the_history_of_a_channel_spans_its_restarts_and_names_its_agents() {
    let (world, home) = (World::new(), tempfile::tempdir().unwrap());
    let mut life = world.enter(home.path()).await;
    life.dirigent.channel(world.channel).set_mode(Mode::Chat).await.unwrap();
    life.ask(&world, "Are you there?").await;
    let before = life.causes(world.channel).await;
    assert!(before.contains(&Cause::HumanMessage) && before.contains(&Cause::ReceiptGiven));
    life.kill().await;

    let life = world.enter(home.path()).await;
    let history = life.dirigent.channel(world.channel).history().await.unwrap();
    let granted = history.iter().find(|event| event.transition.cause == Cause::HumanMessage);
    assert!(granted.is_some_and(|event| event.agent == Some("ada".into())), "{history:?}");
    assert!(life.causes(world.channel).await.len() >= before.len() - 1);
    assert!(life.dirigent.channel(ChannelId::new(7)).history().await.unwrap().is_empty());
    life.kill().await;
}
