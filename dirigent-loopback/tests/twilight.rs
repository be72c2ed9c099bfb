//! twilight-gateway, as it is, on the loopback Discord.

use std::sync::Arc;
use std::time::Duration;

use dirigent::ports::{GuildId, Nonce, Post};
use dirigent::{ChannelId, DiscordApi, MessageId, UserId};
use dirigent_loopback::{GatewayFault, GatewayFaults, LoopbackDiscord, Said};
use dirigent_testkit::memory_discord::{Permissions, PushFault};
use dirigent_testkit::{ManualClock, MemoryDiscord};
use futures_util::StreamExt as _;
use serde_json::Value;
use tokio::sync::oneshot;
use twilight_gateway::queue::Queue;
use twilight_gateway::{
    ConfigBuilder, Event, EventType, EventTypeFlags, Intents, Message, Shard, ShardId,
    StreamExt as _,
};

/// How long a test waits for what must come; only a failing one takes so long.
const PATIENCE: Duration = Duration::from_secs(20);

/// Lets every shard identify at once: the server counts, and nothing is to wait.
#[derive(Debug)]
struct NoQueue;

impl Queue for NoQueue {
    fn enqueue(&self, _: u32) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        let _ = sender.send(());
        receiver
    }
}

/// A guild with a person, its owner, and a bot in one channel; and the server over them.
struct Scene {
    discord: MemoryDiscord,
    server: LoopbackDiscord,
    person: UserId,
    bot: UserId,
    guild: GuildId,
    channel: ChannelId,
}

const INTENTS: Intents =
    Intents::GUILDS.union(Intents::GUILD_MESSAGES).union(Intents::MESSAGE_CONTENT);

impl Scene {
    async fn new() -> Self {
        let discord = MemoryDiscord::new(Arc::new(ManualClock::new()));
        let (person, bot) = (discord.add_human(), discord.add_bot());
        let guild = discord.add_guild(person);
        let channel = discord.add_channel(guild, "round-table", &[bot]);
        let server = LoopbackDiscord::start(discord.clone()).await.unwrap();
        Self { discord, server, person, bot, guild, channel }
    }

    fn shard(&self, bot: UserId, intents: Intents, id: ShardId) -> Shard<NoQueue> {
        let config = ConfigBuilder::new(self.server.token(bot), intents)
            .proxy_url(format!("ws://{}", self.server.address()))
            .queue(NoQueue)
            .build();
        Shard::with_config(id, config)
    }

    /// The bot's shard, which has heard of the guild and its channel.
    async fn ready(&self) -> Shard<NoQueue> {
        let mut shard = self.shard(self.bot, INTENTS, ShardId::ONE);
        let Event::Ready(ready) = event(&mut shard).await else { panic!("READY comes first") };
        assert_eq!(ready.user.id.get(), self.bot.get());
        let Event::GuildCreate(created) = event(&mut shard).await else { panic!("then the guild") };
        assert_eq!(created.id().get(), self.guild.get());
        shard
    }

    fn say(&self, text: &str) -> MessageId {
        self.discord.say(self.channel, self.person, text)
    }
}

/// The next event that is none of the connection's own.
async fn event(shard: &mut Shard<NoQueue>) -> Event {
    loop {
        let next = shard.next_event(EventTypeFlags::all());
        let event = tokio::time::timeout(PATIENCE, next).await.unwrap().unwrap().unwrap();
        let is_of_connection = matches!(
            event,
            Event::GatewayHello(_)
                | Event::GatewayClose(_)
                | Event::GatewayHeartbeat
                | Event::GatewayHeartbeatAck
                | Event::GatewayReconnect
                | Event::GatewayInvalidateSession(_)
        );
        if !is_of_connection {
            return event;
        }
    }
}

/// The text of the message that comes next.
async fn text(shard: &mut Shard<NoQueue>) -> String {
    let event = event(shard).await;
    let Event::MessageCreate(message) = event else {
        panic!("a message was expected, and it was {:?}", event.kind());
    };
    message.content.clone()
}

#[tokio::test]
async fn a_bot_hears_what_is_said_changed_and_deleted() {
    let scene = Scene::new().await;
    let mut shard = scene.ready().await;
    let id = scene.say("Good morning");
    let Event::MessageCreate(created) = event(&mut shard).await else { panic!() };
    assert_eq!((created.id.get(), &*created.content), (id.get(), "Good morning"));
    assert_eq!(created.author.id.get(), scene.person.get());
    assert_eq!(created.guild_id.unwrap().get(), scene.guild.get());
    scene.discord.edit(scene.channel, id, "Good evening");
    let Event::MessageUpdate(updated) = event(&mut shard).await else { panic!() };
    assert_eq!(updated.content, "Good evening");
    scene.discord.delete_message(scene.channel, id);
    let Event::MessageDelete(deleted) = event(&mut shard).await else { panic!() };
    assert_eq!(deleted.id.get(), id.get());
}

/// Its models are made after Discord's document.
#[tokio::test]
async fn twilight_reads_all_that_people_send() {
    use twilight_model::channel::message::{MessageFlags, MessageReferenceType};

    let scene = Scene::new().await;
    let mut shard = scene.ready().await;
    let mut hear = async |said: Said| {
        scene.server.say(scene.channel, scene.person, said).unwrap();
        let Event::MessageCreate(message) = event(&mut shard).await else { panic!() };
        message.message
    };
    let first = hear(Said::new("x".repeat(2_001))).await;
    assert_eq!(
        (&*first.attachments[0].filename, first.attachments[0].size),
        ("message.txt", 2_001)
    );
    let id = MessageId::new(first.id.get());
    let reply = hear(Said::new("Why?").reply_to(id)).await;
    assert_eq!(reply.referenced_message.unwrap().id, first.id);
    let forward = hear(Said::forward(scene.channel, id)).await;
    assert_eq!(forward.flags, Some(MessageFlags::HAS_SNAPSHOT));
    assert_eq!(forward.reference.unwrap().kind, MessageReferenceType::Forward);
    assert_eq!(forward.message_snapshots[0].message.attachments[0].filename, "message.txt");
    let sticker = hear(Said::default().sticker(scene.server.add_sticker("cat"))).await;
    assert_eq!(sticker.sticker_items[0].name, "cat");
    let poll = hear(Said::poll("Tabs or spaces?", ["Tabs", "Spaces"])).await.poll.unwrap();
    assert_eq!(poll.answers[1].poll_media.text.as_deref(), Some("Spaces"));
}

#[tokio::test]
async fn a_nonce_comes_back_to_its_author_alone() {
    let scene = Scene::new().await;
    let other = scene.discord.add_bot();
    scene.discord.join(scene.channel, other);
    let mut shards = [scene.bot, other].map(|bot| scene.shard(bot, INTENTS, ShardId::ONE));
    for shard in &mut shards {
        event(shard).await;
        event(shard).await;
    }
    let nonce = Nonce::from_parts(scene.channel.get(), 0, 1);
    let post = Post::new(scene.channel, "hello", nonce);
    scene.discord.account(scene.bot).post(post).await.unwrap();
    for (mut shard, echoed) in shards.into_iter().zip([Some(nonce.as_str()), None]) {
        let raw = loop {
            match shard.next().await.unwrap().unwrap() {
                Message::Text(text) if text.contains("MESSAGE_CREATE") => break text,
                Message::Text(_) | Message::Close(_) => {}
            }
        };
        let raw: Value = serde_json::from_str(&raw).unwrap();
        assert_eq!(raw["d"].get("nonce").and_then(Value::as_str), echoed);
    }
}

#[tokio::test]
async fn a_cut_and_a_reconnect_are_resumed_with_all_that_was_missed() {
    let scene = Scene::new().await;
    let mut shard = scene.ready().await;
    for fault in [
        GatewayFault::Cut,
        GatewayFault::Reconnect,
        GatewayFault::Close { code: 4000 },
        GatewayFault::InvalidSession { resumable: true },
    ] {
        scene.server.break_gateway(scene.bot, fault);
        for number in 1..=3 {
            scene.say(&number.to_string());
        }
        for number in 1..=3 {
            assert_eq!(text(&mut shard).await, number.to_string(), "{fault:?}");
        }
        assert!(matches!(event(&mut shard).await, Event::Resumed), "{fault:?}");
    }
    assert_eq!(scene.server.identified(scene.bot), 1);
}

#[tokio::test]
async fn after_an_invalid_session_only_the_history_has_what_came_between() {
    let scene = Scene::new().await;
    let mut shard = scene.ready().await;
    scene.server.break_gateway(scene.bot, GatewayFault::InvalidSession { resumable: false });
    scene.say("missed");
    assert!(matches!(event(&mut shard).await, Event::Ready(_)));
    assert!(matches!(event(&mut shard).await, Event::GuildCreate(_)));
    scene.say("heard");
    assert_eq!(text(&mut shard).await, "heard");
    assert_eq!(scene.discord.messages(scene.channel).len(), 2);
    assert_eq!(scene.server.identified(scene.bot), 2);
}

#[tokio::test]
async fn events_are_lost_and_doubled_on_demand() {
    let scene = Scene::new().await;
    let mut shard = scene.ready().await;
    scene.server.next_event(scene.bot, PushFault::Dropped);
    scene.server.next_event(scene.bot, PushFault::Duplicated);
    for said in ["lost", "twice", "once"] {
        scene.say(said);
    }
    let before = shard.session().unwrap().sequence();
    for (heard, seq) in [("twice", 1), ("twice", 1), ("once", 2)] {
        assert_eq!(text(&mut shard).await, heard);
        assert_eq!(shard.session().unwrap().sequence(), before + seq);
    }
}

#[tokio::test]
async fn texts_are_hidden_from_who_did_not_ask_for_them() {
    let scene = Scene::new().await;
    let plain = Intents::GUILDS | Intents::GUILD_MESSAGES;
    let mut shard = scene.shard(scene.bot, plain, ShardId::ONE);
    event(&mut shard).await;
    event(&mut shard).await;
    let mention = format!("<@{}> hello", scene.bot);
    scene.say("hello");
    scene.say(&mention);
    assert_eq!(text(&mut shard).await, "");
    assert_eq!(text(&mut shard).await, mention);
}

#[tokio::test]
async fn a_disallowed_intent_ends_the_stream() {
    let scene = Scene::new().await;
    scene.discord.account(scene.bot).set_content_hidden(true);
    let mut shard = scene.shard(scene.bot, INTENTS, ShardId::ONE);
    let mut code = None;
    while let Some(message) = tokio::time::timeout(PATIENCE, shard.next()).await.unwrap() {
        if let Message::Close(Some(frame)) = message.unwrap() {
            code = Some(frame.code);
        }
    }
    assert_eq!(code, Some(4014));
}

#[tokio::test]
async fn shards_share_the_guilds() {
    let scene = Scene::new().await;
    let mut told = Vec::new();
    for id in 0..2 {
        let mut shard = scene.shard(scene.bot, INTENTS, ShardId::new(id, 2));
        let Event::Ready(ready) = event(&mut shard).await else { panic!("READY comes first") };
        assert_eq!(ready.shard, Some(ShardId::new(id, 2)));
        told.extend(ready.guilds.iter().map(|guild| (id, guild.id.get())));
    }
    let expected = u32::try_from((scene.guild.get() >> 22) % 2).unwrap();
    assert_eq!(told, [(expected, scene.guild.get())]);
}

#[tokio::test]
async fn every_kind_of_event_is_one_that_twilight_knows() {
    let scene = Scene::new().await;
    let (discord, guild) = (&scene.discord, scene.guild);
    let all = Intents::all() & !Intents::GUILD_PRESENCES;
    let mut shard = scene.shard(scene.bot, all, ShardId::ONE);
    let mut happened = vec![EventType::Ready, EventType::GuildCreate];
    let newcomer = discord.add_human();
    let mut happens = |kinds: &[EventType]| happened.extend(kinds);
    for _ in 0..2 {
        event(&mut shard).await;
    }
    discord.guild(guild).add_member(newcomer);
    happens(&[EventType::MemberAdd]);
    let role = discord.guild(guild).add_role("talkers", Permissions::TALK);
    discord.guild(guild).set_role(newcomer, role, true);
    discord.guild(guild).set_role_permissions(role, Permissions::NONE);
    discord.guild(guild).delete_role(role);
    happens(&[EventType::RoleCreate, EventType::MemberUpdate]);
    happens(&[EventType::RoleUpdate, EventType::RoleDelete]);
    let open = discord.add_open_channel(guild, "market-place");
    discord.channel(open).set_member_overwrite(
        newcomer,
        Permissions::NONE,
        Permissions::VIEW_CHANNEL,
    );
    happens(&[EventType::ChannelCreate, EventType::ChannelUpdate]);
    let thread = discord.channel(open).add_thread("corner", &[scene.bot]);
    discord.join(thread, scene.person);
    happens(&[EventType::ThreadCreate, EventType::ThreadMembersUpdate]);
    discord.channel(thread).delete();
    discord.channel(open).delete();
    happens(&[EventType::ThreadDelete, EventType::ChannelDelete]);
    discord.account(scene.bot).typing(scene.channel).await.unwrap();
    happens(&[EventType::TypingStart]);
    scene.say("Good morning");
    discord.reply(scene.channel, scene.bot, "Good morning to you");
    discord.system_message(scene.channel, scene.person, "");
    happens(&[EventType::MessageCreate; 3]);
    discord.guild(guild).remove_member(newcomer);
    happens(&[EventType::MemberRemove]);
    discord.guild(guild).remove_member(scene.bot);
    discord.guild(guild).add_member(scene.bot);
    happens(&[EventType::GuildDelete, EventType::GuildCreate]);
    let mut told = vec![EventType::Ready, EventType::GuildCreate];
    while told.len() == 2 || told.last() != happened.last() {
        told.push(event(&mut shard).await.kind());
    }
    assert_eq!(told, happened);
}

#[tokio::test]
async fn a_bad_day_loses_nothing_but_what_it_says_it_loses() {
    let scene = Scene::new().await;
    let faults = GatewayFaults::new(11)
        .with_rate(GatewayFault::Cut, 100)
        .with_rate(GatewayFault::Reconnect, 100)
        .with_rate(GatewayFault::InvalidSession { resumable: true }, 50)
        .with_event_rate(PushFault::Duplicated, 100);
    scene.server.set_gateway_faults(faults);
    let mut shard = scene.ready().await;
    let (mut said, mut heard, mut resumes) = (Vec::new(), Vec::new(), 0);
    for number in 0..200 {
        said.push(scene.say(&number.to_string()).get());
        while heard.last() != said.last() {
            let event = event(&mut shard).await;
            if let Event::MessageCreate(message) = event {
                heard.push(message.id.get());
            } else {
                assert!(matches!(event, Event::Resumed), "{:?}", event.kind());
                resumes += 1;
            }
        }
    }
    assert!(heard.len() > said.len() && resumes > 20, "{} {resumes}", heard.len());
    heard.dedup();
    assert_eq!(heard, said);
    assert_eq!(scene.server.identified(scene.bot), 1);
}
