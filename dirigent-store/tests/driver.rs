//! The driver on files: what it says survives a restart does.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use dirigent::host::RunError;
use dirigent::operate::{Cause, EventOrLag, Events};
use dirigent::ports::Identity;
use dirigent::settings::Pacing;
use dirigent::snapshot::PhaseKind;
use dirigent::{
    Agent, AgentError, ChannelId, Dirigent, IdentityStore as _, Mode, Reply, Settings, SystemClock,
    Turn, UserId,
};
use dirigent_store::{JsonChannels, JsonIdentities};
use dirigent_testkit::MemoryDiscord;
use tokio::task::JoinHandle;

use crate::shared::mount::{Disk, Mount};

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
        settings.limits.pacing = Pacing::off();
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
    /// Waits for the next change of the channel.
    async fn next(&mut self) -> Cause {
        let heard = self.changes.next().await.unwrap();
        let EventOrLag::Transition(event) = heard else { panic!("an unexpected event: {heard:?}") };
        event.transition.cause
    }

    async fn hear(&self, world: &World, question: &str) {
        let id = world.discord.say(world.channel, world.person, question);
        let message = world.discord.message(world.channel, id).unwrap();
        self.dirigent.message_created(message).await.unwrap();
    }

    async fn ask(&mut self, world: &World, question: &str) {
        self.hear(world, question).await;
        while self.next().await != Cause::AllPassed {}
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

impl World {
    /// How often the agents answered.
    fn answers(&self) -> usize {
        let said = self.discord.messages(self.channel);
        said.iter().filter(|message| &*message.content == "Yes.").count()
    }

    /// The talk is over: the agents have answered, and rest.
    async fn is_over(&self, life: &Life) -> bool {
        let status = life.dirigent.channel(self.channel).status().await.unwrap();
        let rests = status.is_some_and(|status| status.phase == PhaseKind::Dormant);
        rests && self.answers() >= self.agents.len()
    }
}

/// D77, B17: the disk is copied at each change of a talk, and the library goes on from the copy.
#[tokio::test]
async fn a_power_cut_at_any_moment_of_a_talk_doubles_no_post_and_loses_none() {
    let home = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::new(home.path()) else { return };
    for cut in 1.. {
        let (world, folder) = (World::new(), format!("talk-{cut}"));
        let mut life = world.enter(&disk.path().join(&folder)).await;
        life.dirigent.channel(world.channel).set_mode(Mode::Chat).await.unwrap();
        while life.changes.try_next().is_some() {}
        life.hear(&world, "Are you there?").await;
        let mut is_over = false;
        for _ in 0..cut {
            is_over |= life.next().await == Cause::AllPassed;
            if is_over {
                break;
            }
        }
        if is_over {
            assert!(cut > 6, "the power was cut {cut} times");
            return life.kill().await;
        }
        // Nothing else runs on this thread meanwhile.
        let copy = home.path().join("copy");
        disk.copy(&copy);
        life.kill().await;

        let after = Mount::looped(copy).expect("the copy cannot be mounted");
        let mut life = world.enter(&after.path().join(&folder)).await;
        let over = async {
            while !world.is_over(&life).await {
                life.next().await;
            }
        };
        let over = tokio::time::timeout(Duration::from_secs(60), over).await;
        assert!(over.is_ok(), "cut {cut}: {} answers", world.answers());
        assert_eq!(world.answers(), 2, "cut {cut}: each agent answers once");
        life.kill().await;
    }
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
