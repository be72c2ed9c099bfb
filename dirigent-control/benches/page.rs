//! Measures the costs of the page. The results are the cost of an overview of 1,000 channels, of a live page, and of a
//! turn while no page is open. The last result is how soon one viewer, and how soon 200 viewers, see an event in one of
//! 10,000 channels. With the argument `seen` the bench measures only the last one.
#![expect(
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::disallowed_methods,
    reason = "a bench measures time, waits for it and reports"
)]

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use cpu_time::ProcessTime;
use dirigent::ports::{GuildApi, Identity};
use dirigent::settings::Pacing;
use dirigent::{
    AgentError, AgentId, ChannelId, Config, Dirigent, MemoryIdentities, Mode, Reply, Settings,
    SystemClock, Turn, agent_fn,
};
use dirigent_control::{Control, MemoryRecorder};
use dirigent_testkit::MemoryDiscord;
use http::Request;
use http_body_util::BodyExt;
use tower::ServiceExt;

const TOKEN: &str = "operator-operator-1";

struct Fixture {
    dirigent: Dirigent,
    discord: MemoryDiscord,
    identities: MemoryIdentities,
    moderator: dirigent::UserId,
    guild: dirigent::ports::GuildId,
    agents: Vec<dirigent::UserId>,
    person: dirigent::UserId,
}

impl Fixture {
    fn open(recorder: Option<MemoryRecorder>) -> Result<Self, AgentError> {
        let clock = SystemClock::new();
        let discord = MemoryDiscord::new(Arc::new(clock)).with_history_max(100);
        let (moderator, person) = (discord.add_bot(), discord.add_human());
        let guild = discord.add_guild(person);
        discord.guild(guild).add_member(moderator);
        discord.guild(guild).set_administrator(moderator, true);
        let identities = MemoryIdentities::new();
        let mut settings = Settings::default();
        settings.limits.pacing = Pacing::off();
        settings.reading.skip_repetitions = false;
        let mut config = Config::default();
        (config.ceilings.chat.turns, config.ceilings.chat.cycles) = (None, None);
        let mut library = Dirigent::builder(discord.account(moderator))
            .identities(identities.clone())
            .settings(settings)
            .config(config);
        if let Some(recorder) = recorder {
            library = library.recorder(recorder);
        }
        let mut agents = Vec::new();
        for at in 0..4 {
            let account = discord.add_bot();
            discord.guild(guild).add_member(account);
            let agent_id: AgentId = format!("agent-{at}").into();
            identities.add(Identity {
                discord_user_id: account,
                agent_id: agent_id.clone(),
                agent_name: format!("Agent {at}"),
            })?;
            let speaks = agent_fn(|turn: Turn| async move {
                drop(turn);
                Ok(Reply::text("A turn."))
            });
            library = library.host(agent_id, speaks, discord.account(account));
            agents.push(account);
        }
        let (dirigent, driver) = library.build()?;
        tokio::spawn(driver.run());
        Ok(Self { dirigent, discord, identities, moderator, guild, agents, person })
    }

    async fn channel(&self, name: &str) -> Result<ChannelId, AgentError> {
        let members: Vec<_> =
            [self.moderator, self.person].into_iter().chain(self.agents.clone()).collect();
        let id = self.discord.add_channel(self.guild, name, &members);
        self.dirigent.channel(id).set_mode(Mode::Chat).await?;
        Ok(id)
    }

    fn page(&self) -> Result<Router, AgentError> {
        let chat: Arc<dyn GuildApi> = Arc::new(self.discord.account(self.moderator));
        let control = Control::builder(self.dirigent.clone(), chat, self.identities.clone())
            .operator_token(TOKEN)
            .build()?;
        Ok(Router::new().nest("/dirigent", control.router()))
    }
}

async fn ask(page: &Router, path: &str) -> Result<axum::response::Response, AgentError> {
    let request = Request::get(path).header("authorization", format!("Bearer {TOKEN}"));
    Ok(page.clone().oneshot(request.body(Body::empty())?).await?)
}

async fn overview(times: usize) -> Result<(), AgentError> {
    let fixture = Fixture::open(None)?;
    for at in 0..1_000 {
        fixture.channel(&format!("channel-{at}")).await?;
    }
    let page = fixture.page()?;
    let mut took = Vec::new();
    for _ in 0..times {
        let begun = now();
        let answer = ask(&page, "/dirigent").await?;
        let size = answer.into_body().collect().await?.to_bytes().len();
        took.push(now().saturating_sub(begun));
        assert!(size > 10_000);
    }
    took.sort_unstable();
    let at = |share: usize| {
        took.get(took.len() * share / 100).or(took.last()).copied().unwrap_or_default()
    };
    println!("overview of 1,000 channels: p50 {:?}, p99 {:?}", at(50), at(99));

    // This measures how much the process grows for each live page.
    let channel = fixture.channel("looked-at").await?;
    let mut streams = Vec::new();
    let path = format!("/dirigent/live/channels/{channel}");
    let count = if times > 10 { 1_000 } else { 10 };
    let mut open = async |count: usize| -> Result<(), AgentError> {
        for _ in 0..count {
            let mut body = ask(&page, &path).await?.into_body();
            body.frame().await.ok_or("no event")??;
            streams.push(body);
        }
        Ok(())
    };
    open(count / 10).await?;
    let before = resident();
    open(count).await?;
    let grown = resident().saturating_sub(before);
    println!("a live page: {:.1} KB", grown as f64 / count as f64 / 1_024.0);
    Ok(())
}

/// The costs of a number of viewers that look at one list.
struct Seen {
    /// The times from an event until the last viewer has it, the longest time last.
    took: Vec<Duration>,
    /// The number of lists that were drawn for an event.
    drawn: f64,
    /// The processor time for one event, including the updates of all viewers.
    cost: Duration,
}

/// Opens the list of all channels once for each viewer. Then lets an event happen in one channel after the other, and
/// waits until every viewer has it.
async fn seen(fixture: &Fixture, viewers: usize, events: usize) -> Result<Seen, AgentError> {
    let page = fixture.page()?;
    let channels = fixture.dirigent.channels();
    let shown = channels.iter().copied().min_by_key(|id| id.get()).ok_or("no channel")?;
    let (told, mut heard) = tokio::sync::mpsc::unbounded_channel::<(usize, bool)>();
    let mut readers = Vec::new();
    for viewer in 0..viewers {
        let mut body = ask(&page, "/dirigent/live?sort=name").await?.into_body();
        body.frame().await.ok_or("no event")??;
        let told = told.clone();
        let row = format!("\"c-{shown}\"");
        readers.push(tokio::spawn(async move {
            while let Some(Ok(frame)) = body.frame().await {
                let text = frame.into_data().unwrap_or_default();
                let text = String::from_utf8_lossy(&text);
                // This is the row itself, and not only its place in the list.
                let is_row = text.contains(&format!("\"id\":{row},\"html\""));
                if is_row {
                    let _ = told.send((viewer, text.contains("on hold")));
                }
            }
        }));
    }
    let mut is_held = false;
    let (mut took, mut cost) = (Vec::new(), Duration::ZERO);
    let before = drawings(&page).await?;
    for _ in 0..events {
        // After this pause every list is too old to be used again.
        tokio::time::sleep(Duration::from_millis(20)).await;
        let (begun, spent) = (now(), ProcessTime::now());
        is_held = !is_held;
        let channel = fixture.dirigent.channel(shown);
        if is_held {
            channel.hold().await?;
        } else {
            channel.resume().await?;
        }
        let mut have = HashSet::new();
        while have.len() < viewers {
            let (viewer, sees_held) = heard.recv().await.ok_or("no viewer is left")?;
            if sees_held == is_held {
                have.insert(viewer);
            }
        }
        took.push(now().saturating_sub(begun));
        cost += spent.elapsed();
    }
    let drawn = (drawings(&page).await? - before) / events as f64;
    readers.iter().for_each(tokio::task::JoinHandle::abort);
    took.sort_unstable();
    let cost = cost / u32::try_from(events)?;
    Ok(Seen { took, drawn, cost })
}

async fn drawings(page: &Router) -> Result<f64, AgentError> {
    let told = ask(page, "/dirigent/metrics").await?.into_body().collect().await?.to_bytes();
    let told = String::from_utf8_lossy(&told);
    let line = told.lines().find_map(|line| line.strip_prefix("dirigent_page_drawings_total "));
    Ok(line.ok_or("no number of drawings")?.parse()?)
}

async fn all_seen(channels: usize, viewers: usize, events: usize) -> Result<(), AgentError> {
    let fixture = Fixture::open(None)?;
    for at in 0..channels {
        fixture.channel(&format!("channel-{at}")).await?;
    }
    let mut one = Duration::ZERO;
    for count in [1, viewers] {
        let seen = seen(&fixture, count, events).await?;
        if count == 1 {
            one = seen.cost;
        }
        println!(
            "an event in one of {channels} channels, until all of {count} viewers see it: p50 {:?}, at most {:?}; {:.2} drawings; {:?} of processor time, {:.2} times that of one viewer",
            seen.took.get(events / 2).copied().unwrap_or_default(),
            seen.took.last().copied().unwrap_or_default(),
            seen.drawn,
            seen.cost,
            seen.cost.as_secs_f64() / one.as_secs_f64(),
        );
    }
    Ok(())
}

async fn turns(turns: u64, with: &str) -> Result<f64, AgentError> {
    let recorder = (with == "recorder").then(MemoryRecorder::default);
    let fixture = Fixture::open(recorder)?;
    let _page = (with != "nothing").then(|| fixture.page()).transpose()?;
    let channel = fixture.channel("busy").await?;
    fixture.dirigent.channel(channel).wake(None).await?;
    let turn = async || -> Result<u64, AgentError> {
        Ok(fixture.dirigent.channel(channel).status().await?.map_or(0, |status| status.turn.get()))
    };
    let begun = ProcessTime::now();
    let first = turn().await?;
    let mut at = first;
    while at < first + turns {
        tokio::time::sleep(Duration::from_millis(2)).await;
        at = turn().await?;
    }
    let cost = begun.elapsed().as_secs_f64() * 1e6 / (at - first) as f64;
    fixture.dirigent.channel(channel).stop().await?;
    Ok(cost)
}

fn now() -> Duration {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default()
}

fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 =
        status.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or_default();
    pages * 4_096
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), AgentError> {
    let is_given = |name: &str| std::env::args().any(|argument| argument == name);
    let is_test = is_given("--test");
    let (channels, viewers, events) = if is_test { (200, 20, 4) } else { (10_000, 200, 50) };
    all_seen(channels, viewers, events).await?;
    if is_given("seen") {
        return Ok(());
    }
    overview(if is_test { 3 } else { 500 }).await?;
    let count = if is_test { 50 } else { 200_000 };
    for _ in 0..if is_test { 1 } else { 3 } {
        for with in ["nothing", "page", "recorder"] {
            println!("a turn with {with}: {:.2} µs", turns(count, with).await?);
        }
    }
    Ok(())
}
