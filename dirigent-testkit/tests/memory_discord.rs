//! What the in-memory Discord does beyond the contracts: ids, pushed events, rights and faults.
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use dirigent::ports::{
    AuthorKind, ChatKind, ErrorKind, GuildApi, HistoryRequest, Mentions, Nonce, Post,
};
use dirigent::{ChannelId, ChatMessage, Clock, DiscordApi, MessageId, UserId};
use dirigent_testkit::memory_discord::{Call, Event, Fault, Faults, GatewayEvents, PushFault};
use dirigent_testkit::{ManualClock, MemoryAccount, MemoryDiscord};

mod faults;
mod ledger;
mod outages;
mod posting;
mod pushed;
mod rights;

const SECOND: Duration = Duration::from_secs(1);

struct Room {
    clock: ManualClock,
    discord: MemoryDiscord,
    channel: ChannelId,
    person: UserId,
    agent: UserId,
    bot: MemoryAccount,
}

/// A private channel of a person (the guild's owner) and an agent.
fn room() -> Room {
    room_of(|discord| discord)
}

fn room_of(settle: impl FnOnce(MemoryDiscord) -> MemoryDiscord) -> Room {
    let clock = ManualClock::new();
    let discord = settle(MemoryDiscord::new(Arc::new(clock.clone())));
    let person = discord.add_human();
    let agent = discord.add_bot();
    let guild = discord.add_guild(person);
    let channel = discord.add_channel(guild, "round-table", &[agent]);
    let bot = discord.account(agent);
    Room { clock, discord, channel, person, agent, bot }
}

impl Room {
    fn post(&self, number: u64) -> Post {
        let nonce = Nonce::from_parts(self.channel.get(), 0, number);
        Post::new(self.channel, format!("message {number}"), nonce)
    }

    fn ids(&self) -> Vec<MessageId> {
        self.discord.messages(self.channel).iter().map(|message| message.id).collect()
    }

    async fn read(&self) -> Vec<String> {
        let newest = HistoryRequest { channel: self.channel, after: None, limit: 100 };
        let mut page = self.bot.history(newest).await.unwrap();
        page.reverse();
        page.into_iter().map(|message| message.content.to_string()).collect()
    }
}

fn arrived(events: &mut GatewayEvents) -> Vec<Event> {
    std::iter::from_fn(|| events.try_next()).collect()
}

fn created(events: &mut GatewayEvents) -> Vec<MessageId> {
    arrived(events).into_iter().filter_map(message).map(|message| message.id).collect()
}

fn message(event: Event) -> Option<ChatMessage> {
    if let Event::MessageCreated(message) = event { Some(message) } else { None }
}

fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn an_id_holds_the_time_and_rises_when_the_clock_steps_back() {
    let room = room();
    let first = room.discord.say(room.channel, room.person, "one");
    let millis = (first.get() >> 22) + 1_420_070_400_000;
    assert_eq!(millis, room.clock.now().as_millis());
    room.clock.set(room.clock.now().saturating_sub(3_600 * SECOND));
    let second = room.discord.say(room.channel, room.person, "two");
    room.clock.advance(7_200 * SECOND);
    let third = room.discord.say(room.channel, room.person, "three");
    assert!(first < second && second < third);
    assert_eq!((third.get() >> 22) + 1_420_070_400_000, room.clock.now().as_millis());
}

#[test]
fn the_same_steps_give_the_same_ids_events_and_faults() {
    let run = || {
        let room = room();
        room.discord.inject(|faults| *faults = Faults::hostile(7));
        let mut events = room.discord.events();
        let mut seen = Vec::new();
        for step in 0..500 {
            room.discord.say(room.channel, room.person, format!("step {step}"));
            let mut post = pin!(room.bot.post(room.post(step)));
            if let Poll::Ready(result) = poll(post.as_mut()) {
                seen.push(format!("{result:?}"));
            }
            room.clock.advance(SECOND / 3);
            seen.extend(arrived(&mut events).iter().map(|event| format!("{event:?}")));
        }
        (seen, room.ids(), room.discord.calls())
    };
    assert_eq!(run(), run());
}
