//! What people write is in no log and in no store.

use std::fmt::{self, Write as _};
use std::sync::{Arc, LazyLock, Mutex};

use dirigent_loopback::{RestFault, RestRoute, Said};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Dispatch, Event, Metadata, Subscriber};

use super::world::{NAMES, WAYS, World};
use crate::personas::let_manage_webhooks;

/// Keeps all that this project logs, of every level.
#[derive(Clone, Default)]
struct Everything(Arc<Mutex<String>>);

/// With one subscriber alone, what another thread logs first without one would be switched off for all.
static OTHER: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(Everything::default()));

impl Subscriber for Everything {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        // The loopback Discord is no part of a bot.
        metadata.target().starts_with("dirigent") && !metadata.target().contains("loopback")
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        attributes.record(&mut Line(&mut self.0.lock().unwrap()));
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut Line(&mut self.0.lock().unwrap()));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Line(&mut self.0.lock().unwrap()));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Line<'l>(&'l mut String);

impl Visit for Line<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        writeln!(self.0, "{}={value:?}", field.name()).unwrap();
    }
}

/// HR4, HR5, HR8: no message of a person reaches a log or a store, whatever it consists of and whatever fails.
#[tokio::test]
async fn no_message_of_a_person_is_logged_or_stored() {
    LazyLock::force(&OTHER);
    let log = Everything::default();
    let _listening = tracing::subscriber::set_default(log.clone());
    for way in WAYS {
        let mut world = World::new().await;
        world.discord.account(world.person).set_name("secret name");
        let (channel, person) = (world.channel, world.person);
        let secret = world.discord.say(channel, person, "a secret\n<@9> `secret`");
        world.rest(channel).await;
        let sticker = world.server.add_sticker("secret");
        let paste = format!("secret {}", "line\n".repeat(1_000));
        let gone = world.discord.say(channel, world.agent("poet"), "secret");
        world.rest(channel).await;
        world.discord.delete_message(channel, gone);
        let forward = Said::forward(channel, secret);
        // The second paste cannot be read.
        let pastes = Arc::new(Mutex::new(0));
        world.alter_files(move |file| {
            *pastes.lock().unwrap() += 1;
            if *pastes.lock().unwrap() > 1 {
                (file.status, file.bytes) = (404, b"secret".to_vec());
            }
        });
        for said in [
            Said::new("another secret").reply_to(secret),
            Said::new("another secret").reply_to(gone),
            forward,
            Said::new("").sticker(sticker),
            Said::poll("secret?", ["secret", "secrets"]),
            Said::new("").file("secret.png", *b"secret"),
            Said::new(paste.clone()),
            Said::new(paste),
            Said::new("@poet secret"),
            Said::new("stop"),
        ] {
            world.asked(way, |world| _ = world.server.say(channel, person, said).unwrap()).await;
            let stored = world.stored().await;
            assert!(!stored.contains("secret"), "{way:?} {stored}");
        }
    }
    let log = log.0.lock().unwrap().clone();
    assert!(log.contains("a long message cannot be read"), "{log}");
    let told: Vec<_> = log.lines().filter(|line| line.contains("secret")).collect();
    assert_eq!(told, [""; 0]);
}

/// The tokens of the bot and of its personas' webhooks are in no log, whatever fails.
#[tokio::test]
async fn no_token_is_logged() {
    LazyLock::force(&OTHER);
    let log = Everything::default();
    let _listening = tracing::subscriber::set_default(log.clone());
    let mut world = World::silent().await;
    let_manage_webhooks(&world.discord, world.guild, world.moderator);
    world.personas = &NAMES;
    world.start().await;
    let mut tokens = vec![world.server.token(world.moderator)];
    for (route, fault) in [
        (RestRoute::ListChannelWebhooks, RestFault::ServerError { status: 500, is_applied: true }),
        (RestRoute::CreateWebhook, RestFault::LostAnswer),
        (RestRoute::UpdateWebhook, RestFault::NotDelivered),
        (RestRoute::CreateFollowup, RestFault::LostAnswer),
        (RestRoute::CreateFollowup, RestFault::Unauthorized),
        (RestRoute::CreateFollowup, RestFault::ServerError { status: 502, is_applied: false }),
    ] {
        world.server.next(route, fault);
        world.talk("poet", &format!("{fault:?}")).await;
        let state = world.discord.world();
        tokens.extend(state.webhooks.of_channel(world.channel).map(|(_, it)| it.token.clone()));
    }
    assert!(tokens.len() > 6, "{tokens:?}");
    let log = log.0.lock().unwrap().clone();
    assert!(log.contains("execute webhook"), "{log}");
    assert!(tokens.iter().all(|token| !log.contains(token)));
}
