//! The server, the library on top of it through two shards, and time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::ports::Identity;
use dirigent::ports::Timestamp;
use dirigent::snapshot::PhaseKind;
use dirigent::{ChannelId, Clock, Config, Dirigent, MemoryIdentities, Mode, Settings, UserId};
use dirigent_discord::{BanGuard, DiscordAccount, Feed, Persona, ShardFeed};
use dirigent_loopback::{
    GatewayFaults, LoopbackDiscord, RestFault, RestFaults, RestRoute, Traffic,
};
use dirigent_testkit::{ManualClock, MemoryDiscord};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;
use twilight_gateway::{ConfigBuilder, Intents, Message, Shard, ShardId};

use crate::personas::let_manage_webhooks;
use crate::soak::asking::{self, Asking};
use crate::soak::hosted::Talker;
use crate::soak::line::{Line, NoQueue};
use crate::soak::minutes::{Minutes, number_of};

/// How often nothing must have changed while everybody had the chance to go on.
const QUIET: u32 = 40;
/// How long a channel may do nothing; longer is a stall. The driver looks for lost events every five
/// minutes.
const STALL: Duration = Duration::from_secs(1_200);
const AGENTS: usize = 4;

/// How agents are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Agents {
    Hosted,
    /// Hosted, and the moderator's webhooks post for them.
    Personas,
    Asking,
}

pub(crate) struct Fixture {
    pub(crate) agents: Agents,
    pub(crate) clock: ManualClock,
    pub(crate) server: LoopbackDiscord,
    dirigent: Dirigent,
    pub(crate) minutes: Minutes,
    pub(crate) moderator: UserId,
    person: UserId,
    pub(crate) bots: Vec<UserId>,
    /// One in each of two guilds, on a shard each.
    pub(crate) channels: Vec<ChannelId>,
    /// Channels to which the person spoke, and when.
    waiting: BTreeMap<ChannelId, Timestamp>,
    began: Timestamp,
    /// Replies that Discord refused for good.
    refused: usize,
    /// Whether the lines of these may connect again.
    pub(crate) agents_connect: watch::Sender<bool>,
    pub(crate) library_connects: watch::Sender<bool>,
    running: JoinSet<()>,
}

impl Fixture {
    pub(crate) async fn build(agents: Agents, seed: u64) -> Self {
        Self::ruled(agents, seed, rules()).await
    }

    #[expect(clippy::too_many_lines, reason = "one world, put together in order")]
    pub(crate) async fn ruled(agents: Agents, seed: u64, rules: (Config, Settings)) -> Self {
        let clock = ManualClock::new();
        let discord = MemoryDiscord::new(Arc::new(clock.clone())).with_history_max(100_000);
        let (person, moderator) = (discord.add_human(), discord.add_bot());
        let bots: Vec<_> = (0..AGENTS).map(|_| discord.add_bot()).collect();
        let present: Vec<_> = [person, moderator].into_iter().chain(bots.clone()).collect();
        let mut channels = Vec::new();
        for name in ["one", "two"] {
            // A guild's shard follows from the millisecond in its id.
            clock.advance(Duration::from_millis(1));
            let guild = discord.add_guild(person);
            channels.push(discord.add_channel(guild, name, &present));
            if agents == Agents::Personas {
                let_manage_webhooks(&discord, guild, moderator);
            }
        }
        let server = LoopbackDiscord::start(discord).await.unwrap();
        let guard = BanGuard::new(1_000);
        let account = |bot: UserId| {
            let builder = DiscordAccount::builder(server.token(bot), clock.clone());
            let builder = builder.proxy(format!("http://{}", server.address()));
            Arc::new(builder.ban_guard(&guard).build().unwrap())
        };
        let (minutes, (config, settings)) = (Minutes::default(), rules);
        let names = bots.iter().enumerate().map(|(number, bot)| (*bot, format!("agent-{number}")));
        let identities = MemoryIdentities::with(names.clone().map(|(bot, name)| Identity {
            discord_user_id: bot,
            agent_id: name.as_str().into(),
            agent_name: name,
        }))
        .unwrap();
        let moderators = account(moderator);
        let mut builder = Dirigent::builder(Arc::clone(&moderators))
            .identities(identities)
            .clock(clock.clone())
            .config(config)
            .settings(settings)
            .seed(seed);
        if agents != Agents::Asking {
            for (bot, name) in names.clone() {
                let talker = Talker { minutes: minutes.clone() };
                builder = if agents == Agents::Personas {
                    let persona = moderators.persona(Persona::new(&name)).unwrap();
                    builder.host(name, talker, persona)
                } else {
                    builder.host(name, talker, account(bot))
                };
            }
        }
        let (dirigent, driver) = builder.build().unwrap();
        let mut running = JoinSet::new();
        running.spawn(async move { driver.run().await.unwrap() });
        let (agents_connect, library_connects) =
            (watch::Sender::new(true), watch::Sender::new(true));
        let (feed, work) =
            Feed::builder(dirigent.clone(), moderators, Feed::INTENTS_WITH_MEMBERS).build();
        running.spawn(work.run());
        for id in [0, 1].map(|number| ShardId::new(number, 2)) {
            let shard = shard(&server, moderator, Feed::INTENTS_WITH_MEMBERS, id);
            let may_connect = library_connects.subscribe();
            let line = Line::new(shard, clock.clone(), may_connect);
            running.spawn(feed_from(line, feed.shard(id)));
        }
        if agents == Agents::Asking {
            for (bot, name) in names {
                let asking = Asking {
                    agent: name.into(),
                    me: bot,
                    account: account(bot),
                    clock: clock.clone(),
                    dirigent: dirigent.clone(),
                    minutes: minutes.clone(),
                    running: Mutex::default(),
                };
                let shard = shard(&server, bot, asking::INTENTS, ShardId::ONE);
                let may_connect = agents_connect.subscribe();
                running.spawn(asking.listen(Line::new(shard, clock.clone(), may_connect)));
            }
        }
        let (began, waiting, refused) = (clock.now(), BTreeMap::new(), 0);
        #[rustfmt::skip]
        let mut fixture = Self {
            agents, clock, server, dirigent, minutes, moderator, person, bots, channels, waiting, began,
            refused, agents_connect, library_connects, running,
        };
        fixture.settle().await;
        fixture.open_channels().await;
        fixture
    }

    /// From now on turns are kept.
    async fn open_channels(&mut self) {
        for channel in self.channels.clone() {
            let (dirigent, (done, is_done)) = (self.dirigent.clone(), oneshot::channel());
            self.running.spawn(async move {
                dirigent.channel(channel).set_mode(Mode::Chat).await.unwrap();
                let _ = done.send(());
            });
            self.settle().await;
            is_done.await.unwrap();
        }
    }

    pub(crate) fn set_faults(&self, rest: RestFaults, gateway: GatewayFaults) {
        self.server.set_faults(rest);
        self.server.set_gateway_faults(gateway);
    }

    /// The next post is answered with 403: a hosted agent's reply, or the moderator's next trigger.
    pub(crate) fn forbid_a_post(&mut self) {
        self.refused = usize::from(self.agents != Agents::Asking);
        let poster = match self.agents {
            Agents::Hosted => self.bots.first().copied().unwrap(),
            Agents::Personas => {
                return self.server.next(RestRoute::CreateFollowup, RestFault::Forbidden);
            }
            Agents::Asking => self.moderator,
        };
        let post = RestRoute::CreateMessage;
        self.server.inject(|faults| faults.next_by(poster, post, RestFault::Forbidden));
    }

    pub(crate) fn clear_faults(&self) {
        self.server.set_faults(RestFaults::new(0));
        self.server.stop_gateway_faults();
    }

    pub(crate) fn traffic(&self) -> Traffic {
        self.server.traffic()
    }

    /// How many turns were taken with words.
    pub(crate) fn turns(&self) -> u64 {
        self.minutes.taken()
    }

    /// Lets the agents talk until so many turns were taken.
    pub(crate) async fn talk(&mut self, turns: u64) {
        let (mut taken, mut since) = (self.turns(), self.clock.now());
        while self.turns() < turns {
            self.settle().await;
            self.wake_up().await;
            self.settle().await;
            if self.turns() > taken {
                (taken, since) = (self.turns(), self.clock.now());
            }
            let idle = self.clock.now().since(since);
            assert!(idle < STALL, "a stall after {taken} turns: {:?}", self.statuses().await);
            self.clock.advance_to_next_wake().unwrap();
        }
    }

    /// Nobody has anything to say any more: the channels must come to rest by themselves.
    pub(crate) async fn fall_silent(&mut self) {
        self.minutes.end();
        let since = self.clock.now();
        loop {
            self.settle().await;
            let phases = self.phases().await;
            if phases.iter().all(|phase| *phase == PhaseKind::Dormant) {
                break;
            }
            let idle = self.clock.now().since(since);
            assert!(idle < STALL, "it does not fall silent: {:?}", self.statuses().await);
            self.clock.advance_to_next_wake().unwrap();
        }
        // Deletions that were put off.
        for _ in 0..20 {
            self.clock.advance(Duration::from_secs(5));
            self.settle().await;
        }
    }

    /// Where nobody speaks, the person does, once until somebody answers.
    async fn wake_up(&mut self) {
        let phases = self.phases().await;
        for (channel, phase) in self.channels.clone().into_iter().zip(phases) {
            if phase != PhaseKind::Dormant {
                self.waiting.remove(&channel);
            } else if !self.waiting.contains_key(&channel) {
                self.server.discord().say(channel, self.person, "What do you think of it?");
                self.waiting.insert(channel, self.clock.now());
            }
        }
    }

    async fn phases(&self) -> Vec<PhaseKind> {
        let mut phases = Vec::new();
        for channel in &self.channels {
            phases.push(self.dirigent.channel(*channel).status().await.unwrap().unwrap().phase);
        }
        phases
    }

    pub(crate) async fn statuses(&self) -> Vec<Option<dirigent::operate::Status>> {
        let mut statuses = Vec::new();
        for channel in &self.channels {
            statuses.push(self.dirigent.channel(*channel).status().await.unwrap());
        }
        statuses
    }

    /// Lets everything happen that needs no time. All of it runs on this thread, and the machine's own
    /// sockets deliver at once; so when everybody had the chance to go on and nothing changes, nothing will.
    pub(crate) async fn settle(&self) {
        let mut seen = None;
        let mut quiet = 0;
        while quiet < QUIET {
            tokio::task::yield_now().await;
            let now = (self.clock.waiting(), self.clock.next_wake(), self.minutes.taken());
            quiet = if seen == Some(now) { quiet + 1 } else { 0 };
            seen = Some(now);
        }
    }

    /// No turn was taken twice, nothing was posted twice, what was said stands in the order of the turns, and
    /// the ban is far.
    pub(crate) async fn check(&mut self) {
        let mut missing = 0;
        for channel in &self.channels {
            let taken = self.minutes.of(*channel);
            let twice: Vec<_> = taken.iter().filter(|(_, times)| **times != 1).collect();
            assert_eq!(twice, [], "turns that were taken more than once");
            let messages = self.server.discord().messages(*channel);
            let replies: Vec<_> =
                messages.iter().filter_map(|message| number_of(&message.content)).collect();
            let distinct: BTreeSet<_> = replies.iter().copied().collect();
            assert_eq!(distinct.len(), replies.len(), "replies that were posted twice");
            assert!(replies.is_sorted(), "a reply stands before that of an earlier turn");
            assert!(distinct.iter().all(|reply| taken.contains_key(reply)), "nobody's reply");
            missing += taken.len() - distinct.len();
            let left = messages.iter().filter(|message| message.author == self.moderator).count();
            assert_eq!(left, 0, "triggers that were not deleted");
        }
        // The 403 may have hit the repetition of a post that had arrived.
        assert!(missing <= self.refused, "{missing} replies are not there");
        let lasted = self.clock.now().since(self.began).as_secs();
        let invalid = self.traffic().invalid() * 600 / lasted.max(600);
        assert!(invalid < 1_000, "{invalid} invalid requests in ten minutes");
        assert_eq!(self.traffic().unknown(), 0, "requests for what Discord does not have");
        self.dirigent.shutdown(Duration::from_secs(5)).await;
        self.running.shutdown().await;
    }

    /// What was asked since then.
    pub(crate) fn spent_since(&self, before: &Traffic) -> Spent {
        let now = self.traffic();
        let routes = [
            RestRoute::CreateMessage,
            RestRoute::CreateFollowup,
            RestRoute::DeleteMessage,
            RestRoute::ListMessages,
            RestRoute::ListGuildMembers,
            RestRoute::GetChannel,
            RestRoute::GetGuild,
            RestRoute::ListGuildRoles,
            RestRoute::GetGuildMember,
        ];
        let routes = routes.map(|route| (route, now.of(route) - before.of(route)));
        Spent { total: now.total() - before.total(), routes: routes.into() }
    }

    /// Tells what it took.
    pub(crate) fn report(&self, how: &str) {
        let (turns, traffic) = (self.turns(), self.traffic());
        let spent = self.spent_since(&Traffic::default());
        let lasted = self.clock.now().since(self.began);
        let connected: u64 = std::iter::once(&self.moderator)
            .chain(&self.bots)
            .map(|bot| self.server.identified(*bot))
            .sum();
        println!(
            "{:?} agents, {how}: {turns} turns in {} s of their time",
            self.agents,
            lasted.as_secs()
        );
        let per_turn = |count: u64| {
            format!("{}.{:02}", count / turns.max(1), count * 100 / turns.max(1) % 100)
        };
        println!("  requests a turn: {} in all", per_turn(spent.total));
        for (route, count) in spent.routes.iter().filter(|(_, count)| *count > 0) {
            println!("    {route:?}: {} ({count})", per_turn(*count));
        }
        println!(
            "  {} cut, {} 429, {} 5xx, {} invalid; {connected} sessions begun",
            traffic.cut(),
            traffic.with_status(429),
            traffic.with_status(500) + traffic.with_status(502),
            traffic.invalid(),
        );
    }
}

/// Requests by route.
#[derive(Debug)]
pub(crate) struct Spent {
    total: u64,
    routes: Vec<(RestRoute, u64)>,
}

impl Spent {
    pub(crate) const fn total(&self) -> u64 {
        self.total
    }

    pub(crate) fn of(&self, route: RestRoute) -> u64 {
        self.routes.iter().find(|(of, _)| *of == route).map_or(0, |(_, count)| *count)
    }
}

/// Agents talk on and on, and all else is as it is by default.
pub(crate) fn default_rules() -> (Config, Settings) {
    let mut config = Config::default();
    (config.ceilings.chat.turns, config.ceilings.chat.cycles) = (None, None);
    let mut settings = Settings::default();
    // The agents say nearly the same all the time.
    settings.reading.skip_repetitions = false;
    (config, settings)
}

/// Nobody is stopped by a ceiling.
fn rules() -> (Config, Settings) {
    let mut config = Config::default();
    (config.ceilings.chat.turns, config.ceilings.chat.cycles) = (None, None);
    let mut settings = Settings::default();
    settings.reading.skip_repetitions = false;
    (config, settings)
}

fn shard(server: &LoopbackDiscord, bot: UserId, intents: Intents, id: ShardId) -> Shard<NoQueue> {
    let config = ConfigBuilder::new(server.token(bot), intents);
    let config = config.proxy_url(format!("ws://{}", server.address()));
    Shard::with_config(id, config.queue(NoQueue).build())
}

/// As a bot does it.
async fn feed_from(mut line: Line, feed: ShardFeed) {
    while let Some(message) = line.next().await {
        match message {
            Ok(Message::Text(text)) => feed.text(&text),
            Ok(Message::Close(frame)) => {
                let _ = feed.closed(frame.map(|frame| frame.code));
            }
            Err(_) => {
                let _ = feed.closed(None);
            }
        }
    }
}
