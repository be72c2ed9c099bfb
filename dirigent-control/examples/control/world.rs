//! A guild with channels of every kind, and people who keep asking questions.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use dirigent::operate::{CreatedChannel, Opening};
use dirigent::ports::{GuildApi, GuildId};
use dirigent::settings::Pacing;
use dirigent::store::Discussion;
use dirigent::{ChannelId, Clock, Config, Dirigent, Driver, Mode, Settings, SystemClock, UserId};
use dirigent_control::MemoryRecorder;
use dirigent_store::ego::{EgoOptions, ScannedIdentities};
use dirigent_store::{JsonChannels, JsonIdentities};
use dirigent_testkit::MemoryDiscord;
use dirigent_testkit::memory_discord::GatewayEvents;
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::Result;
use crate::agents::Scripted;
use crate::crowd::Crowd;

const CAST: [(&str, &str, &[&str], u64); 5] = [
    (
        "architect",
        "Architect",
        &[
            "Two services and a queue between them.",
            "The queue is what we can test first.",
            "",
            "Then the schema, before anyone writes to it.",
        ],
        2_600,
    ),
    (
        "critic",
        "Critic",
        &["A queue is a promise that something fails later.", "", "What happens while it is full?"],
        1_900,
    ),
    ("historian", "Historian", &["We had a queue in 2019; it was drained by hand.", "", ""], 1_500),
    ("poet", "Poet", &["A question first: whose evening does this save?", "asks"], 1_200),
    (
        "editor",
        "Editor",
        &["Shorter. And the name says it already.", "Cut the second sentence.", ""],
        2_200,
    ),
];

/// All data that the page shows.
pub(crate) struct World {
    pub(crate) dirigent: Dirigent,
    pub(crate) identities: ScannedIdentities<JsonIdentities>,
    pub(crate) recorder: MemoryRecorder,
    discord: MemoryDiscord,
    moderator: UserId,
    /// The folder is removed when this is dropped.
    _folder: TempDir,
    tasks: Vec<JoinHandle<()>>,
}

/// The Discord, with the members of its guild.
pub(crate) struct Scene {
    pub(crate) discord: MemoryDiscord,
    pub(crate) guild: GuildId,
    moderator: UserId,
    pub(crate) person: UserId,
    agents: [UserId; CAST.len()],
}

impl Scene {
    fn set(clock: SystemClock) -> Self {
        let discord = MemoryDiscord::new(Arc::new(clock));
        let (moderator, person) = (discord.add_bot(), discord.add_human());
        let guild = discord.add_guild(person);
        let handle = discord.guild(guild);
        handle.add_member(moderator);
        handle.set_administrator(moderator, true);
        let agents = CAST.map(|_| discord.add_bot());
        // This is one more bot, which is not an agent yet.
        let spare = discord.add_bot();
        for member in agents.into_iter().chain([spare]) {
            handle.add_member(member);
        }
        if let Some(guild) = discord.world().places.guilds.get_mut(&guild) {
            "The Workshop".clone_into(&mut guild.name);
        }
        println!("an account without an agent: {}", spare.get());
        Self { discord, guild, moderator, person, agents }
    }

    /// Creates a private channel with these agents of the cast.
    pub(crate) fn channel(&self, name: &str, topic: &str, cast: &[usize]) -> ChannelId {
        let agents = cast.iter().filter_map(|at| self.agents.get(*at)).copied();
        let members: Vec<UserId> =
            [self.moderator, self.person].into_iter().chain(agents).collect();
        let id = self.discord.add_channel(self.guild, name, &members);
        if let Some(room) = self.discord.world().places.rooms.get_mut(&id) {
            room.topic = Some(topic.to_owned()).filter(|topic| !topic.is_empty());
        }
        id
    }
}

impl World {
    /// Creates a world with this number of further channels.
    pub(crate) async fn begin(crowd: usize) -> Result<Self> {
        let clock = SystemClock::new();
        let folder = tempfile::tempdir()?;
        let scene = Scene::set(clock);
        let lost = scene.channel("release-notes", "What goes into the next release", &[0, 4]);
        damage(&scene, folder.path(), lost).await?;
        let crowd = Crowd::gather(&scene, crowd);
        write_ego(&scene, &crowd, folder.path())?;
        let identities = ScannedIdentities::open_in(folder.path(), EgoOptions::default())?;
        let recorder = MemoryRecorder::default();
        let (dirigent, driver) = library(&scene, folder.path(), &identities, &recorder)?;
        for ((agent, _, lines, thinks), user) in CAST.into_iter().zip(scene.agents) {
            let speaks = Scripted::new(lines, Duration::from_millis(thinks));
            dirigent.host(agent, speaks, scene.discord.account(user));
        }
        let pushed = scene.discord.events();
        let mut tasks =
            vec![tokio::spawn(drive(driver)), tokio::spawn(feed(pushed, dirigent.clone()))];
        tokio::task::yield_now().await;
        let asked = furnish(&scene, &dirigent).await?;
        crowd.settle(&scene, &dirigent).await?;
        let (discord, person) = (scene.discord.clone(), scene.person);
        let delegated = asked.first().copied().map(|channel| research(dirigent.clone(), channel));
        tasks.extend(delegated.map(tokio::spawn));
        tasks.push(tokio::spawn(ask_now_and_then(discord, person, asked)));
        let Scene { discord, moderator, .. } = scene;
        Ok(Self { dirigent, identities, recorder, discord, moderator, _folder: folder, tasks })
    }

    pub(crate) fn moderator(&self) -> Arc<dyn GuildApi> {
        Arc::new(self.discord.account(self.moderator))
    }

    pub(crate) async fn end(self) -> Result {
        self.dirigent.shutdown(Duration::from_secs(2)).await;
        for task in self.tasks {
            task.abort();
        }
        Ok(())
    }
}

fn library(
    scene: &Scene,
    folder: &Path,
    identities: &ScannedIdentities<JsonIdentities>,
    recorder: &MemoryRecorder,
) -> Result<(Dirigent, Driver)> {
    let mut settings = Settings::default();
    settings.limits.pacing = Pacing::off(); // Discord limits posts; memory does not.
    settings.reading.human_marker = Some(dirigent::settings::HumanMarker("[human]".into()));
    let mut config = Config::default();
    config.budget.turns = Some(400);
    Ok(Dirigent::builder(scene.discord.account(scene.moderator))
        .identities(identities.clone())
        .channels(JsonChannels::open(folder.join("state"))?)
        .recorder(recorder.clone())
        .settings(settings)
        .config(config)
        .seed(7)
        .build()?)
}

/// Gives a channel a record, and then damages it like a broken disk.
async fn damage(scene: &Scene, folder: &Path, channel: ChannelId) -> Result {
    let store = JsonChannels::open(folder.join("state"))?;
    let (dirigent, driver) =
        Dirigent::builder(scene.discord.account(scene.moderator)).channels(store).build()?;
    let driver = tokio::spawn(driver.run());
    dirigent.channel(channel).set_mode(Mode::Chat).await?;
    dirigent.shutdown(Duration::from_secs(2)).await;
    drop(dirigent);
    driver.await??;
    let file = folder.join(format!("state/channels/{channel}.json"));
    let text = std::fs::read_to_string(&file)?;
    std::fs::write(&file, text.replacen("chat", "chap", 1))?;
    Ok(())
}

/// Returns the file that padded-cell would write. It has the cast, and one more agent without an
/// account.
fn write_ego(scene: &Scene, crowd: &Crowd, folder: &Path) -> Result {
    let mut agents = serde_json::Map::new();
    let cast = CAST.into_iter().zip(scene.agents);
    let cast = cast.map(|((agent, name, _, _), user)| (agent, name, user));
    for (agent, name, user) in cast.chain(crowd.agents.iter().copied()) {
        agents.insert(
            agent.to_owned(),
            serde_json::json!({ "discord-id": user.get().to_string(), "name": name }),
        );
    }
    agents.insert("apprentice".to_owned(), serde_json::json!({ "discord-id": "" }));
    let ego = serde_json::json!({ "columns": ["discord-id", "name"], "agentScope": agents });
    std::fs::write(folder.join("ego.json"), ego.to_string())?;
    Ok(())
}

/// Gives the channels their modes. Returns the channels in which a person keeps asking questions.
async fn furnish(scene: &Scene, dirigent: &Dirigent) -> Result<Vec<ChannelId>> {
    let review = scene.channel("design-review", "Architecture, before it is built", &[0, 1, 2]);
    let copy = scene.channel("copy-desk", "Words for people", &[3, 4]);
    let open = scene.discord.add_open_channel(scene.guild, "town-hall");
    for channel in [review, copy] {
        dirigent.channel(channel).set_mode(Mode::Chat).await?;
    }
    dirigent.channel(open).set_mode(Mode::Report).await?;
    let daily = scene.channel("daily-report", "What the night shift did", &[2]);
    dirigent.channel(daily).set_mode(Mode::Report).await?;
    let desk = scene.channel("architects-desk", "", &[0]);
    let work =
        CreatedChannel { mode: Mode::Work, members: vec!["architect".into()], opening: None };
    dirigent.channel(desk).register(work).await?;
    let held = scene.channel("incident-42", "Paused while people talk on the phone", &[0, 1, 4]);
    dirigent.channel(held).set_mode(Mode::Chat).await?;
    dirigent.channel(held).hold().await?;
    discuss(scene, dirigent, review).await?;
    scene.channel("quiet-corner", "No mode was ever given here", &[1, 2]);
    scene.channel("<script>alert(1)</script>", "\"><img src=x onerror=alert(2)>", &[1]);
    scene.discord.say(review, scene.person, "How do we get orders from the shop into the books?");
    scene.discord.say(copy, scene.person, "We need a first sentence for the front page.");
    Ok(vec![review, open])
}

async fn discuss(scene: &Scene, dirigent: &Dirigent, callback: ChannelId) -> Result {
    let open = scene.channel("naming-the-queue", "A discussion with an end", &[0, 1, 4]);
    let guide = "Find a name for the queue.\nThree proposals, then one decision.".to_owned();
    let terms = Discussion { callback, callback_guild: Some(scene.guild), guide };
    let opening = Opening { initiator: "architect".into(), terms: Some(terms) };
    let members = vec!["architect".into(), "critic".into(), "editor".into()];
    let made = CreatedChannel { mode: Mode::Discussion, members, opening: Some(opening) };
    dirigent.channel(open).register(made).await?;
    let lost = scene.channel("former-desk", "", &[0, 1]);
    let undelivered = scene.channel("where-to-move", "Its result has nowhere to go", &[0, 1]);
    let guide = "Find a new home for the desk.".to_owned();
    let terms = Discussion { callback: lost, callback_guild: Some(scene.guild), guide };
    let opening = Opening { initiator: "architect".into(), terms: Some(terms) };
    let members = vec!["architect".into(), "critic".into()];
    let made = CreatedChannel { mode: Mode::Discussion, members, opening: Some(opening) };
    dirigent.channel(undelivered).register(made).await?;
    scene.discord.world().delete_channel(lost);
    let summary = dirigent::operate::Summary::Text("The desk moves to the window.".into());
    dirigent.channel(undelivered).conclude(&"architect".into(), Some(summary)).await?;
    let closed = scene.channel("budget-2026", "Closed", &[0, 1]);
    let opening = Opening { initiator: "architect".into(), terms: None };
    let members = vec!["architect".into(), "critic".into()];
    let made = CreatedChannel { mode: Mode::Discussion, members, opening: Some(opening) };
    dirigent.channel(closed).register(made).await?;
    dirigent.channel(closed).archive().await?;
    Ok(())
}

async fn drive(driver: Driver) {
    if let Err(error) = driver.run().await {
        eprintln!("{error}");
    }
}

/// Forwards events like the gateway connection of a bot.
async fn feed(mut pushed: GatewayEvents, dirigent: Dirigent) {
    while let Some(event) = pushed.next().await {
        if let Err(error) = event.tell(&dirigent).await {
            eprintln!("{error}");
        }
    }
}

/// Lets a person write every 30 seconds, so that there is something to see.
async fn ask_now_and_then(discord: MemoryDiscord, person: UserId, channels: Vec<ChannelId>) {
    const QUESTIONS: [&str; 3] = [
        "And if the shop is down?",
        "Who is woken when it breaks?",
        "What would the smallest version be?",
    ];
    let clock = SystemClock::new();
    for question in QUESTIONS.iter().cycle() {
        clock.sleep_until(clock.now() + Duration::from_secs(25)).await;
        for channel in &channels {
            discord.say(*channel, person, *question);
        }
    }
}

/// The progress text of an agent that looks something up, as `dirigent_delegate::show_progress`
/// writes it.
async fn research(dirigent: Dirigent, channel: ChannelId) {
    const SO_FAR: [&str; 4] = [
        "waits",
        "works",
        "Two shops of this size have written about their queues; I am reading the second report.",
        "ended: success",
    ];
    let clock = SystemClock::new();
    for so_far in SO_FAR.into_iter().cycle() {
        dirigent.channel(channel).progress("research", so_far);
        clock.sleep_until(clock.now() + Duration::from_secs(7)).await;
    }
}
