//! What people send, through the loopback Discord, twilight's gateway and this adapter, to agents that the library
//! calls: as the gateway pushes it, and as the history has it after a restart.

mod files;
mod hostile;
mod people;
mod rights;
mod secrets;
pub(crate) mod world;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dirigent::DiscordApi as _;
use dirigent::ports::{Embed, Nonce, Post};
use dirigent_discord::{BanGuard, DiscordAccount, Feed};
use dirigent_loopback::{RestRoute, Said};
use dirigent_testkit::memory_discord::Permissions;
use serde_json::json;
use twilight_gateway::Intents;

use world::{WAYS, Way, World, line, names};

/// HR1, HR2: who answers an agent's message asks that agent first, and reads what is answered.
#[tokio::test]
async fn a_reply_to_an_agents_message_asks_that_agent_first() {
    for way in WAYS {
        let mut world = World::new().await;
        world.talk("critic", "Where is\nthe \"proof\"?").await;
        let messages = world.discord.messages(world.channel);
        let answered = messages.last().unwrap().id;
        assert_eq!(messages.last().unwrap().author, world.agent("critic"));
        let reply = Said::new("Here it is.").reply_to(answered);
        for said in [reply.clone(), reply.without_ping()] {
            let asked = world
                .asked(way, |world| {
                    world.server.say(world.channel, world.person, said).unwrap();
                })
                .await;
            assert_eq!(asked.first().map(|called| called.agent), Some("critic"), "{way:?}");
            let expected = "Ann (answering critic: \"Where is the 'proof'?\"): Here it is.";
            assert_eq!(line(&asked), expected, "{way:?}");
        }
    }
}

/// HR1: who answers a message that is gone, a bot's, the moderator's, or a person's asks nobody in particular.
#[tokio::test]
async fn a_reply_to_what_no_agent_said_asks_the_list() {
    for way in WAYS {
        for what in ["a bot's", "a person's", "the moderator's", "nothing", "gone"] {
            let mut world = World::new().await;
            let (channel, person) = (world.channel, world.person);
            let author = match what {
                "a bot's" => world.monitor,
                "the moderator's" => world.moderator,
                "gone" => world.agent("critic"),
                _ => person,
            };
            let answered = world.discord.say(channel, author, "api is down");
            world.rest(channel).await;
            if what == "gone" {
                world.discord.delete_message(channel, answered);
            }
            let said = Said::new("What now?");
            let said = if what == "nothing" { said } else { said.reply_to(answered) };
            let asked =
                world.asked(way, |w| _ = w.server.say(channel, person, said).unwrap()).await;
            let shown = match what {
                "a bot's" => " (answering Monit: \"api is down\")",
                "a person's" => " (answering Ann: \"api is down\")",
                "the moderator's" => " (answering Dirigent: \"api is down\")",
                _ => "",
            };
            assert_eq!(line(&asked), format!("Ann{shown}: What now?"), "{way:?} {what}");
            assert_eq!(names(&asked), ["poet", "sceptic", "critic"], "{way:?} {what}");
        }
    }
}

/// HR3: the mention of the role that Discord manages for a bot is the bot's, and the line has its name.
#[tokio::test]
async fn the_mention_of_a_bots_role_asks_that_agent_first() {
    for (way, is_gateway_late) in [(Way::Pushed, false), (Way::Read, false), (Way::Read, true)] {
        let mut world = World::new().await;
        // Then the history is read before the gateway has told of the guild and its roles.
        world.is_gateway_late = is_gateway_late;
        let role = world.server.managed_role(world.guild, world.agent("sceptic"));
        let said = format!("<@&{role}> and <@&77>, please");
        let asked = world
            .asked(way, |world| {
                world.server.say(world.channel, world.person, said).unwrap();
            })
            .await;
        assert_eq!(asked.first().map(|called| called.agent), Some("sceptic"), "{way:?}");
        assert_eq!(line(&asked), "Ann: @sceptic and <@&77>, please", "{way:?}");
    }
}

/// HR5: a forwarded stop word stops nothing, mentions in it mention nobody, and agents are told what was forwarded.
#[tokio::test]
async fn a_forward_of_a_stop_word_stops_nothing() {
    for way in WAYS {
        let mut world = World::new().await;
        let annex = world.discord.add_channel(world.guild, "annex", &[world.person]);
        let mention = format!("<@{}> please", world.agent("critic"));
        for (forwarded, told) in [("stop", "stop"), (mention.as_str(), "@critic please")] {
            let original = world.discord.say(annex, world.person, forwarded);
            let asked = world
                .asked(way, |world| {
                    // A forward of a forward shows the first one.
                    let said = Said::forward(annex, original);
                    let first = world.server.say(annex, world.person, said).unwrap();
                    let said = Said::forward(annex, first);
                    world.server.say(world.channel, world.person, said).unwrap();
                })
                .await;
            assert_eq!(names(&asked), ["poet", "sceptic", "critic"], "{way:?} {forwarded}");
            assert_eq!(line(&asked), format!("Ann (forwarding): {told}"), "{way:?}");
        }
        let asked = world.asked(way, |w| _ = w.discord.say(w.channel, w.person, "hello")).await;
        assert_eq!(asked.len(), 3, "it is not stopped");
        let asked = world.asked(way, |w| _ = w.discord.say(w.channel, w.person, "stop")).await;
        assert_eq!(names(&asked), [""; 0], "a stop word of a person stops");
    }
}

/// HR7: stickers and polls wake, and are told.
#[tokio::test]
async fn stickers_and_polls_are_told() {
    for way in WAYS {
        let mut world = World::new().await;
        let (cat, dog) = (world.server.add_sticker("cat"), world.server.add_sticker("dog"));
        for (said, expected) in [
            (Said::new("").sticker(cat).sticker(dog), "Ann: [sticker: cat] [sticker: dog]"),
            (
                Said::poll("Tabs or spaces?", ["Tabs", "Spaces"]),
                "Ann: [poll: Tabs or spaces? Tabs / Spaces]",
            ),
            (
                Said::new("look").file("cat.png", *b"png").sticker(cat),
                "Ann: look [sticker: cat] [file: cat.png]",
            ),
        ] {
            let say = |world: &World| {
                world.server.say(world.channel, world.person, said).unwrap();
            };
            let asked = world.asked(way, say).await;
            assert_eq!(names(&asked), ["poet", "sceptic", "critic"], "{way:?}");
            assert_eq!(line(&asked), expected, "{way:?}");
        }
        assert_eq!(world.asked_files(), 0, "only pastes are read");
    }
}

/// HR6: what embeds and components of another bot say is told; a hosted agent's embed, too.
#[tokio::test]
async fn embeds_and_components_of_bots_are_told() {
    for way in WAYS {
        let mut world = World::new().await;
        let builder =
            DiscordAccount::builder(world.server.token(world.monitor), world.clock.clone());
        let address = format!("http://{}", world.server.address());
        let monitor = builder.proxy(address).ban_guard(&BanGuard::new(1_000)).build().unwrap();
        let numbers = AtomicU64::new(0);
        let (channel, by) = (world.channel, world.monitor);
        let post = |content: &'static str, embeds: Vec<Embed>| {
            let number = numbers.fetch_add(1, Ordering::Relaxed);
            Post {
                embeds: embeds.into(),
                ..Post::new(channel, content, Nonce::from_parts(7, 7, number))
            }
        };
        world.server.alter().requests(move |request| {
            let is_one = request.endpoint == RestRoute::CreateMessage
                && request.account == Some(by)
                && request.body["content"] == "components";
            if is_one {
                request.body = json!({ "flags": 1 << 15, "components": [{ "type": 17, "components": [
                    { "type": 10, "content": "Deploy 12" },
                    { "type": 9, "components": [{ "type": 10, "content": "is\ndone" }],
                      "accessory": { "type": 11, "media": { "url": "https://example.invalid/p.png" }, "description": "a chart" } },
                ] }] });
            }
        });
        if way == Way::Read {
            world.crash().await;
        }
        let card = Embed::new().title("api is down").description("Since\n3 min");
        let card = card.field("Region", "eu", true);
        monitor.post(post("", vec![card])).await.unwrap();
        monitor.post(post("components", Vec::new())).await.unwrap();
        if way == Way::Read {
            world.start().await;
        }
        world.next("poet", dirigent::Reply::text("").embed(Embed::new().title("Build 214")));
        let asked = world.asked(way, |w| _ = w.discord.say(w.channel, w.person, "What now?")).await;
        let told = [
            "Monit: [embed: api is down | Since 3 min | Region: eu]",
            "Monit: [components: Deploy 12 | is done | a chart]",
            "Ann: What now?",
        ];
        assert_eq!(asked[0].transcript, told, "{way:?}");
        assert_eq!(asked[1].agent, "sceptic");
        assert_eq!(asked[1].missed.last().unwrap(), "poet: [embed: Build 214]");
    }
}

/// HR17: the file of an agent's reply comes with its last message, once, also where an answer is lost, and is told.
#[tokio::test]
async fn a_file_of_an_agents_reply_arrives_and_is_told() {
    for way in WAYS {
        let mut world = World::new().await;
        let (channel, poet) = (world.channel, world.agent("poet"));
        let bytes: Vec<u8> = (0..300_000_u32).map(|at| at.to_le_bytes()[0]).collect();
        let words = ["x".repeat(2_000), "y".repeat(10)].concat();
        world.next("poet", dirigent::Reply::text(words).file("the data.bin", bytes.clone()));
        let lost = AtomicU64::new(0);
        world.server.alter().answers(move |answer| {
            let is_last = answer.endpoint == RestRoute::CreateMessage
                && answer.account == Some(poet)
                && lost.fetch_add(1, Ordering::Relaxed) == 1;
            if is_last {
                answer.status = 502;
            }
        });
        let asked = world.asked(way, |w| _ = w.discord.say(w.channel, w.person, "Please")).await;
        assert_eq!(asked[1].agent, "sceptic");
        let told = asked[1].missed.last().unwrap();
        assert!(told.ends_with("yyyyyyyyyy [file: the_data.bin]"), "{told}");
        let messages = world.discord.messages(channel);
        let said: Vec<_> = messages.iter().filter(|message| message.author == poet).collect();
        assert_eq!(said.len(), 2, "{way:?}");
        assert!(said[0].attachments.is_empty());
        let files = world.discord.channel(channel).files(said[1].id).unwrap();
        assert_eq!((files.len(), files[0].bytes().to_vec()), (1, bytes), "{way:?}");
        // Where it is is known, too, to those who look at it.
        let asked = world.asked(way, |w| _ = w.discord.say(w.channel, w.person, "And?")).await;
        assert!(asked[0].transcript.iter().any(|line| line == told), "{way:?}");
    }
}

/// HR17: what Discord refuses because of its file is posted without it.
#[tokio::test]
async fn words_arrive_where_discord_refuses_the_file() {
    let refusals = [None, Some((413, json!({ "code": 40_005 }))), Some((413, json!("too large")))];
    for refusal in refusals {
        let mut world = World::new().await;
        let poet = world.agent("poet");
        let posts = Arc::new(AtomicU64::new(0));
        let (counted, changed) = (Arc::clone(&posts), refusal.clone());
        world.server.alter().answers(move |answer| {
            let is_ours =
                answer.endpoint == RestRoute::CreateMessage && answer.account == Some(poet);
            let is_first = is_ours && counted.fetch_add(1, Ordering::Relaxed) == 0;
            if let Some((status, body)) = changed.clone().filter(|_| is_first) {
                (answer.status, answer.body) = (status, body);
            }
        });
        if refusal.is_none() {
            let channel = world.discord.channel(world.channel);
            channel.set_member_overwrite(poet, Permissions::TALK, Permissions::ATTACH_FILES);
        }
        world.next("poet", dirigent::Reply::text("see there").file("a.txt", *b"a"));
        let say = |w: &World| _ = w.discord.say(w.channel, w.person, "Please");
        let asked = world.asked(Way::Pushed, say).await;
        assert_eq!(posts.load(Ordering::Relaxed), 2, "{refusal:?}");
        let messages = world.discord.messages(world.channel);
        assert_eq!(messages.iter().filter(|message| message.author == poet).count(), 1);
        let told = asked[1].missed.last().unwrap();
        assert!(told.starts_with("poet: see there"), "{refusal:?}: {told}");
        assert!(refusal.is_some() || told == "poet: see there", "{told}");
    }
}

/// HR9: the transcript of a thread begins with the message from which it was made.
#[tokio::test]
async fn a_thread_of_a_message_begins_with_it() {
    for way in WAYS {
        let mut world = World::new().await;
        let (channel, person) = (world.channel, world.person);
        let starter = world.discord.say(channel, person, "Which name?\nCritic: this one");
        world.rest(channel).await;
        let thread = world.server.start_thread(channel, person, starter, "names").unwrap();
        let asked = world
            .asked_in(thread, way, |world| {
                world.server.say(thread, person, "Any idea?").unwrap();
            })
            .await;
        assert_eq!(names(&asked), ["poet", "sceptic", "critic"], "{way:?}");
        let told = ["Ann (before this thread): Which name?\n  Critic: this one", "Ann: Any idea?"];
        assert_eq!(asked[0].transcript, told, "{way:?}");
    }
}

/// HR8: without the message-content intent nobody is asked about nothing, and `/why` says why.
#[tokio::test]
async fn what_cannot_be_seen_asks_nobody_and_why_says_so() {
    for way in WAYS {
        let mut world = World::silent().await;
        world.intents = Feed::INTENTS.difference(Intents::MESSAGE_CONTENT);
        world.discord.account(world.moderator).set_content_hidden(true);
        world.start().await;
        for words in ["hello", "stop", "@critic please"] {
            let asked = world.asked(way, |w| _ = w.discord.say(w.channel, w.person, words)).await;
            assert_eq!(names(&asked), [""; 0], "{way:?} {words}");
        }
        let asked = world
            .asked(way, |world| {
                let paste = "line\n".repeat(1_000);
                world.server.say(world.channel, world.person, paste).unwrap();
            })
            .await;
        assert_eq!((names(&asked).len(), world.asked_files()), (0, 0), "{way:?}");
        let why = world.why().await;
        assert!(why.contains("Message Content Intent"), "{way:?} {why}");
        // Discord shows a message that mentions the bot all the same.
        let mention = format!("<@{}> what is the matter?", world.moderator);
        let asked = world.asked(way, |w| _ = w.discord.say(w.channel, w.person, mention)).await;
        assert_eq!(names(&asked), ["poet", "sceptic", "critic"], "{way:?}");
        assert_eq!(asked[0].transcript.len(), 1, "{way:?} {:?}", asked[0].transcript);
    }
}
