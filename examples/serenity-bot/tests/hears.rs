//! What serenity's connection hears reaches the agents as it was sent: the relay writes serenity's events again.
#![cfg(test)]

#[path = "../src/main.rs"]
#[expect(dead_code, reason = "only its relay is of interest here")]
mod bot;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::prelude::*;
use dirigent_discord::{DiscordAccount, Feed, ShardId};
use dirigent_loopback::{LoopbackDiscord, Said};
use dirigent_testkit::MemoryDiscord;
use serenity::all::{ClientBuilder, GatewayIntents, HttpBuilder};
use tokio::sync::Notify;

/// What agents were told, one line a message.
#[derive(Clone, Default)]
struct Told(Arc<(Mutex<Vec<String>>, Notify)>);

impl Told {
    /// An agent that says nothing and remembers what it was told.
    fn listener(&self) -> impl Agent + use<> {
        let told = self.clone();
        agent_fn(move |turn: Turn| {
            let told = told.clone();
            async move {
                let mut lines = turn.lines();
                let new: Vec<_> = turn.missed().iter().map(|it| lines.line(it)).collect();
                told.0.0.lock().unwrap().extend(new);
                told.0.1.notify_waiters();
                Ok(Reply::Pass)
            }
        })
    }

    async fn until(&self, words: &str) {
        let clock = SystemClock::new();
        let patience = clock.now() + Duration::from_secs(30);
        loop {
            let changed = self.0.1.notified();
            if self.0.0.lock().unwrap().iter().any(|line| line.contains(words)) {
                return;
            }
            tokio::select! {
                () = changed => {}
                () = clock.sleep_until(patience) => {
                    panic!("not told {words}: {:?}", self.0.0.lock().unwrap());
                }
            }
        }
    }
}

/// EZ3
#[tokio::test(flavor = "current_thread")]
async fn what_serenity_hears_reaches_the_agents_whole() {
    let discord = MemoryDiscord::new(Arc::new(SystemClock::new()));
    let [moderator, one, two] = [(); 3].map(|()| discord.add_bot());
    let person = discord.add_human();
    let guild = discord.add_guild(person);
    let table = discord.add_channel(guild, "table", &[moderator, one, two, person]);
    let server = LoopbackDiscord::start(discord.clone()).await.unwrap();
    let (url, token) = (format!("http://{}", server.address()), server.token(moderator));

    let told = Told::default();
    let account = DiscordAccount::builder(&*token, SystemClock::new()).proxy(&*url);
    let account = Arc::new(account.build().unwrap());
    let (dirigent, driver) = Dirigent::builder(account.clone())
        .host("one", told.listener(), discord.account(one))
        .host("two", told.listener(), discord.account(two))
        .build()
        .unwrap();
    let (feed, work) = Feed::builder(dirigent.clone(), account, Feed::INTENTS).build();
    let relay = bot::Relay(feed.shard(ShardId::ONE));
    let http = HttpBuilder::new(&*token).proxy(url).ratelimiter_disabled(true).build();
    let intents = GatewayIntents::from_bits_retain(Feed::INTENTS.bits());
    let client = ClientBuilder::new_with_http(http, intents);
    let mut client = client.raw_event_handler(relay.clone()).event_handler(relay).await.unwrap();
    tokio::spawn(driver.run());
    tokio::spawn(work.run());
    tokio::spawn(async move { client.start().await });
    dirigent.channel(table).set_mode(Mode::Chat).await.unwrap();

    let first = discord.say(table, person, "hello");
    told.until(": hello").await;
    let said = |said: Said| server.say(table, person, said).unwrap();
    said(Said::new("yes").reply_to(first));
    told.until("): yes").await;
    said(Said::new("").sticker(server.add_sticker("wave")));
    told.until("[sticker: ").await;
    said(Said::poll("Tabs?", ["Yes", "No"]));
    told.until("[poll: Tabs? Yes / No]").await;
    said(Said::forward(table, first));
    told.until("(forwarding): hello").await;
    said(Said::new("my cat").file("cat.png", *b"picture"));
    told.until("my cat [file: cat.png]").await;
    discord.say(table, person, format!("and <@{one}>?"));
    told.until("and @one?").await;
    dirigent.shutdown(Duration::from_secs(1)).await;
    server.shutdown().await;
}
