//! Events of the gateway, told to a driver that runs.

use std::sync::Arc;

use dirigent::hooks::TurnId;
use dirigent::operate::{CreatedChannel, Status};
use dirigent::ports::{AuthorKind, ChatKind, Identity};
use dirigent::snapshot::PhaseKind;
use dirigent::{AgentId, ChannelId, Dirigent, MemoryIdentities, Mode, UserId};
use dirigent_discord::{BanGuard, Feed, ShardFeed, chat_message};
use dirigent_testkit::{ManualClock, MemoryDiscord};
use serde_json::{Value, json};
use twilight_model::channel::Message;
use twilight_model::gateway::ShardId;
use twilight_model::gateway::event::Event;
use twilight_model::gateway::payload::incoming::{MessageCreate, MessageUpdate};

/// A chat channel at rest, which two agents see.
struct Room {
    dirigent: Dirigent,
    shard: ShardFeed,
    channel: ChannelId,
    second: UserId,
}

impl Room {
    async fn open() -> Self {
        Self::of(&["a", "b"]).await
    }

    /// The library is told of these agents only.
    async fn of(told: &[&str]) -> Self {
        let clock = ManualClock::new();
        let discord = MemoryDiscord::new(Arc::new(clock.clone()));
        let (moderator, person) = (discord.add_bot(), discord.add_human());
        let bots = [discord.add_bot(), discord.add_bot()];
        let identity = |(name, user): (&str, UserId)| Identity {
            discord_user_id: user,
            agent_id: name.into(),
            agent_name: name.to_owned(),
        };
        let registry = MemoryIdentities::with(["a", "b"].into_iter().zip(bots).map(identity));
        let guild = discord.add_guild(person);
        let channel = discord.add_channel(guild, "room", &[moderator, person, bots[0], bots[1]]);
        let account = Arc::new(discord.account(moderator));
        let nowhere = super::account("http://127.0.0.1:9", &clock, &BanGuard::new(1_000));
        let built = Dirigent::builder(account).identities(registry.unwrap()).clock(clock).build();
        let (dirigent, driver) = built.unwrap();
        tokio::spawn(driver.run());
        tokio::task::yield_now().await;
        let members: Vec<AgentId> = told.iter().map(|name| AgentId::from(*name)).collect();
        let chat = CreatedChannel { mode: Mode::Chat, members, ..CreatedChannel::default() };
        dirigent.channel(channel).register(chat).await.unwrap();
        let feed = Feed::builder(dirigent.clone(), Arc::new(nowhere), Feed::INTENTS);
        let shard = feed.build().0.shard(ShardId::ONE);
        Self { dirigent, shard, channel, second: bots[1] }
    }

    async fn status(&self) -> Status {
        self.dirigent.channel(self.channel).status().await.unwrap().unwrap()
    }

    /// Where the turns of the room stand.
    async fn turns(&self) -> (PhaseKind, TurnId, usize) {
        let status = self.status().await;
        (status.phase, status.turn, status.list.len())
    }

    /// A message of a person in this channel, as Discord pushes it, with these changes.
    fn message(&self, changes: &Value) -> Value {
        let mut message = json!({
            "id": "1395700000000000000", "channel_id": self.channel.to_string(), "type": 0,
            "content": "hello", "timestamp": "2025-06-15T15:06:40.000000+00:00",
            "edited_timestamp": null, "tts": false, "mention_everyone": false, "mentions": [],
            "mention_roles": [], "attachments": [], "embeds": [], "pinned": false,
            "author": {"id": "300000000000000000", "username": "p", "discriminator": "0",
                       "avatar": null, "bot": false},
        });
        let fields = changes.as_object().cloned().unwrap_or_default();
        message.as_object_mut().unwrap().extend(fields);
        message
    }
}

fn twilight(message: &Value) -> Message {
    serde_json::from_value(message.clone()).unwrap()
}

fn created(message: &Value) -> Event {
    Event::MessageCreate(Box::new(MessageCreate { channel_type: None, message: twilight(message) }))
}

fn pushed(kind: &str, message: &Value) -> String {
    json!({"op": 0, "s": 7, "t": kind, "d": message}).to_string()
}

/// What a person says wakes the room, as an event and as a gateway's text; a duplicate changes nothing.
#[tokio::test]
async fn a_persons_message_wakes_the_room() {
    for as_text in [false, true] {
        let room = Room::open().await;
        let message = room.message(&json!({}));
        assert_eq!(room.status().await.phase, PhaseKind::Dormant);
        for _ in 0..2 {
            if as_text {
                room.shard.text(&pushed("MESSAGE_CREATE", &message));
            } else {
                room.shard.event(&created(&message));
            }
            assert_ne!(room.status().await.phase, PhaseKind::Dormant);
        }
    }
}

/// Joins, pins, answers to commands, other channels and other events wake nobody.
#[tokio::test]
async fn what_is_no_talk_wakes_nobody() {
    let room = Room::open().await;
    let quiet = room.turns().await;
    for changes in [
        json!({"type": 7}),
        json!({"type": 6}),
        json!({"type": 18}),
        json!({"type": 20, "interaction_metadata": {"id": "1", "type": 2, "user": {
            "id": "300000000000000000", "username": "p", "discriminator": "0", "avatar": null},
            "authorizing_integration_owners": {}}}),
        json!({"channel_id": "999999999999999999"}),
    ] {
        let message = room.message(&changes);
        room.shard.event(&created(&message));
        room.shard.text(&pushed("MESSAGE_CREATE", &message));
        assert_eq!(room.turns().await, quiet, "{message}");
    }
    room.shard.event(&Event::GatewayHeartbeatAck);
    for text in ["", "{", r#"{"op":11}"#, r#"{"t":"MESSAGE_CREATE","d":{"id":7}}"#] {
        room.shard.text(text);
    }
    assert_eq!(room.turns().await, quiet);
}

/// F16: an edit is told as an edit; where the room has nothing to do with it, that is no error.
#[tokio::test]
async fn an_edit_is_told_and_wakes_nobody() {
    let room = Room::open().await;
    let quiet = room.status().await;
    let message = room.message(&json!({"content": "hello, edited"}));
    let edited = Event::MessageUpdate(Box::new(MessageUpdate(twilight(&message))));
    room.shard.event(&edited);
    room.shard.text(&pushed("MESSAGE_UPDATE", &message));
    let partial = json!({"id": "1395700000000000000", "channel_id": room.channel.to_string()});
    room.shard.text(&pushed("MESSAGE_UPDATE", &partial));
    assert_eq!(room.status().await, quiet);
}

/// D19: who is added to a thread is told: a room that lacked an agent counts again.
#[tokio::test]
async fn who_is_added_to_a_thread_joins_it() {
    let room = Room::of(&["a"]).await;
    let update = json!({
        "id": room.channel.to_string(), "guild_id": "1", "member_count": 5,
        "added_members": [{
            "id": room.channel.to_string(), "user_id": room.second.to_string(),
            "join_timestamp": "2025-06-15T15:06:40.000000+00:00", "flags": 0,
        }],
    });
    let update = Event::ThreadMembersUpdate(serde_json::from_value(update).unwrap());
    let alone = room.turns().await;
    assert_eq!((alone.0, alone.2), (PhaseKind::Disabled, 1));
    room.shard.event(&update);
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    let together = room.turns().await;
    assert_eq!((together.0, together.2), (PhaseKind::Dormant, 2));
}

/// What a message is: by type, author, webhook and command.
#[tokio::test]
async fn a_message_is_what_it_is() {
    let room = Room::open().await;
    let bot =
        json!({"id": "6", "username": "b", "discriminator": "0", "avatar": null, "bot": true});
    let official = json!({"id": "7", "username": "Discord", "discriminator": "0", "avatar": null,
        "system": true});
    let command = json!({"id": "1", "type": 2, "authorizing_integration_owners": {}, "user":
        {"id": "5", "username": "p", "discriminator": "0", "avatar": null}});
    for (changes, author_kind, kind) in [
        (json!({}), AuthorKind::Human, ChatKind::Default),
        (json!({"type": 19}), AuthorKind::Human, ChatKind::Reply),
        (json!({"author": bot}), AuthorKind::Bot, ChatKind::Default),
        (json!({"author": bot, "webhook_id": "6"}), AuthorKind::Webhook, ChatKind::Default),
        (json!({"webhook_id": "6"}), AuthorKind::Webhook, ChatKind::Default),
        (
            json!({"author": bot, "webhook_id": "6", "type": 19, "interaction_metadata": command}),
            AuthorKind::Bot,
            ChatKind::System,
        ),
        (json!({"type": 20}), AuthorKind::Human, ChatKind::System),
        (json!({"type": 21}), AuthorKind::Human, ChatKind::System),
        (json!({"type": 46}), AuthorKind::Human, ChatKind::System),
        (json!({"type": 251}), AuthorKind::Human, ChatKind::System),
        (json!({"author": official}), AuthorKind::Human, ChatKind::System),
    ] {
        let message = room.message(&changes);
        let read = chat_message(&twilight(&message));
        assert_eq!((read.author_kind, read.kind), (author_kind, kind), "{message}");
        assert_eq!((read.channel, read.nonce), (room.channel, None));
        assert_eq!((read.id.get(), &*read.content), (1_395_700_000_000_000_000, "hello"));
    }
}
