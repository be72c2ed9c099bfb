//! What the page costs: an overview of 1,000 channels, a live page, and a turn while no page is open.
#![expect(
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::disallowed_methods,
    reason = "a bench measures time, waits for it and reports"
)]

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

    // A live page: what the process grows by for each.
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
    let is_test = std::env::args().any(|argument| argument == "--test");
    overview(if is_test { 3 } else { 500 }).await?;
    let count = if is_test { 50 } else { 200_000 };
    for _ in 0..if is_test { 1 } else { 3 } {
        for with in ["nothing", "page", "recorder"] {
            println!("a turn with {with}: {:.2} µs", turns(count, with).await?);
        }
    }
    Ok(())
}
