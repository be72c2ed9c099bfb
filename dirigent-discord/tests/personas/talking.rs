//! A bot whose three agents are personas: one token, the gateway and the driver, over restarts.

use std::time::Duration;

use dirigent::ports::AuthorKind;
use dirigent::{DiscordApi as _, UserId};
use dirigent_discord::{Feed, Persona};
use dirigent_loopback::{RestFault, RestRoute, Said};
use dirigent_testkit::Log;
use dirigent_testkit::memory_discord::Permissions;
use dirigent_testkit::memory_discord::webhooks::Webhook;

use super::{TALK, let_manage_webhooks};
use crate::heard::world::{NAMES, WAYS, Way, World, line, names, shown_name};

/// A bot of personas that runs.
async fn world() -> World {
    let mut world = silent().await;
    world.start().await;
    world
}

async fn silent() -> World {
    let mut world = World::silent().await;
    let_manage_webhooks(&world.discord, world.guild, world.moderator);
    world.personas = &NAMES;
    world
}

/// Which persona's webhook wrote each message; `None` for others.
fn authors(world: &World) -> Vec<Option<String>> {
    let messages = world.discord.messages(world.channel);
    let state = world.discord.world();
    let name = |author: UserId| {
        let webhook = state.webhooks.get(author)?;
        webhook.name.split_once(" (").map(|(name, _)| name.to_owned())
    };
    messages.iter().map(|message| name(message.author)).collect()
}

fn webhooks(world: &World) -> usize {
    world.discord.world().webhooks.of_channel(world.channel).count()
}

#[tokio::test]
async fn three_personas_of_one_token_take_turns_and_come_to_rest() {
    let mut world = world().await;
    for name in NAMES {
        world.next(name, format!("I am {name}."));
    }
    let asked = world
        .asked(Way::Pushed, |world| _ = world.discord.say(world.channel, world.person, "Who?"))
        .await;
    assert_eq!(world.discord.messages(world.channel).len(), 4, "each spoke once, and passed");
    let mut said = authors(&world);
    assert_eq!(said.remove(0), None);
    said.sort();
    let mut expected = NAMES.map(|name| Some(shown_name(name)));
    expected.sort();
    assert_eq!(said, expected);
    assert_eq!(webhooks(&world), 3);
    let traffic = world.server.traffic();
    assert_eq!(traffic.of(RestRoute::CreateMessage), 0);
    assert_eq!(traffic.unknown(), 0);
    let heard = asked.last().unwrap().transcript.clone();
    let is_told = |name: &str| heard.contains(&format!("{}: I am {name}.", shown_name(name)));
    assert!(NAMES.into_iter().all(is_told), "{heard:?}");
}

#[tokio::test]
async fn a_name_behind_an_at_and_a_reply_ask_that_persona_first() {
    for way in WAYS {
        for words in ["@Critic what now?", "what now, @critic?"] {
            let mut world = world().await;
            let asked = world
                .asked(way, |world| _ = world.discord.say(world.channel, world.person, words))
                .await;
            assert_eq!(asked.first().map(|it| it.agent), Some("critic"), "{way:?} {words}");
            let heard = words.replace("@critic", "@Critic");
            assert_eq!(line(&asked), format!("Ann: {heard}"), "{way:?}");
        }
        let mut world = world().await;
        world.talk("sceptic", "Is it so?").await;
        let answered = world.discord.messages(world.channel).pop().unwrap().id;
        let asked = world
            .asked(way, |world| {
                let reply = Said::new("It is.").reply_to(answered);
                world.server.say(world.channel, world.person, reply).unwrap();
            })
            .await;
        assert_eq!(names(&asked).first(), Some(&"sceptic"), "{way:?}");
        assert_eq!(line(&asked), "Ann (answering Sceptic: \"Is it so?\"): It is.", "{way:?}");
    }
}

/// A webhook is an agent only if this application made it for that agent.
#[tokio::test]
async fn a_webhook_of_others_with_the_name_of_a_persona_is_no_agent() {
    for way in WAYS {
        let mut world = world().await;
        world.talk("critic", "I doubt it.").await;
        let id = {
            let mut state = world.discord.world();
            let (_, webhook) = state.webhooks.of_channel(world.channel).next().unwrap();
            let webhook = Webhook { creator: world.person, ..webhook.clone() };
            let id = UserId::new(state.next_id());
            state.accounts.add(id, AuthorKind::Webhook);
            state.webhooks.by_id.insert(id, webhook);
            id
        };
        world.discord.account(id).set_name("Critic");
        let asked = world
            .asked(way, |world| {
                world.discord.say(world.channel, id, "I am the critic.");
                world.discord.say(world.channel, world.person, "Who are you?");
            })
            .await;
        let transcript = &asked[0].transcript;
        assert!(
            transcript.iter().any(|it| it == "Critic (another bot): I am the critic."),
            "{transcript:?}"
        );
        assert!(transcript.iter().any(|it| it == "Critic: I doubt it."), "{transcript:?}");
    }
}

/// The answer to the post is lost, or the bot ends before it comes: what was said stands there once.
#[tokio::test]
async fn a_reply_whose_answer_is_lost_is_posted_once_also_over_a_restart() {
    for (fault, crashes) in [
        (RestFault::LostAnswer, false),
        (RestFault::NotDelivered, false),
        (RestFault::ServerError { status: 502, is_applied: true }, false),
        (RestFault::SlowAnswer { by: Duration::from_secs(600) }, true),
        (RestFault::SlowRequest { by: Duration::from_secs(600) }, true),
    ] {
        let mut world = world().await;
        world.talk("poet", "First.").await;
        world.next("poet", "Second, @Critic.");
        let called = world.calls().len();
        world.server.next(RestRoute::CreateFollowup, fault);
        world.discord.say(world.channel, world.person, "@poet more?");
        if crashes {
            world.pass(Duration::from_secs(1)).await;
            // It was posted, or is on its way.
            let posted = 3 + usize::from(matches!(fault, RestFault::SlowAnswer { .. }));
            assert_eq!(
                (world.discord.messages(world.channel).len(), world.calls().len()),
                (posted, called + 1)
            );
            world.crash().await;
            world.start().await;
        }
        world.rest(world.channel).await;
        let said: Vec<_> =
            world.discord.messages(world.channel).iter().map(|it| it.content.to_string()).collect();
        assert_eq!(
            said,
            ["Good morning", "First.", "@poet more?", "Second, @Critic."],
            "{fault:?}"
        );
        assert_eq!(webhooks(&world), 1);
    }
}

#[tokio::test]
async fn a_webhook_that_was_deleted_costs_no_reply() {
    let mut world = world().await;
    world.talk("poet", "First.").await;
    world.discord.world().webhooks.by_id.clear();
    world.talk("poet", "Second.").await;
    assert_eq!(authors(&world).pop(), Some(Some("Poet".to_owned())));
    assert_eq!(world.discord.messages(world.channel).len(), 4);
}

#[tokio::test]
async fn without_manage_webhooks_no_turns_are_taken_and_why_says_so() {
    let mut world = silent().await;
    let channel = world.discord.channel(world.channel);
    channel.set_member_overwrite(world.moderator, TALK, Permissions::MANAGE_WEBHOOKS);
    world.start().await;
    world.discord.say(world.channel, world.person, "Who?");
    world.pass(Duration::from_secs(120)).await;
    assert_eq!(world.calls().len(), 0);
    let why = world.why().await;
    assert!(why.contains("Manage Webhooks"), "{why}");
    // Allowed, they are asked.
    channel.set_member_overwrite(world.moderator, TALK, Permissions::NONE);
    world.pass(Duration::from_secs(120)).await;
    world.discord.say(world.channel, world.person, "And now?");
    world.rest(world.channel).await;
    assert_eq!(world.calls().len(), 3);
}

/// An agent with a token that names a persona posts the name, and no number.
#[tokio::test]
async fn the_name_of_a_persona_stays_a_name_in_what_an_agent_with_a_token_posts() {
    let mut world = silent().await;
    world.personas = &["critic"];
    world.start().await;
    world.talk("poet", "@Critic and @sceptic, is it so?").await;
    let said = world.discord.messages(world.channel).pop().unwrap().content;
    assert_eq!(*said, *format!("@Critic and <@{}>, is it so?", world.agent("sceptic")));
}

/// As the gateway tells of members.
#[tokio::test]
async fn a_member_who_takes_the_name_of_a_persona_ends_its_turns_at_once() {
    let mut world = silent().await;
    world.intents = Feed::INTENTS_WITH_MEMBERS;
    world.start().await;
    world.talk("poet", "First.").await;
    world.discord.account(world.person).set_name("critic");
    // Discord tells of a member who changes.
    let (person, guild) = (world.person, world.discord.guild(world.guild));
    guild.set_role(person, guild.add_role("audience", Permissions::NONE), true);
    let asked = world
        .asked(Way::Pushed, |world| _ = world.discord.say(world.channel, person, "Who?"))
        .await;
    let mut names = names(&asked);
    names.sort_unstable();
    assert_eq!(names, ["poet", "sceptic"]);
}

/// In a thread the webhook of its parent posts.
#[tokio::test]
async fn personas_take_turns_in_a_thread() {
    let mut world = world().await;
    let thread = world.discord.channel(world.channel).add_public_thread("aside");
    world.next("poet", "In here.");
    let asked = world
        .asked_in(thread, Way::Pushed, |world| {
            world.discord.say(thread, world.person, "@Poet?");
        })
        .await;
    assert_eq!(names(&asked).first(), Some(&"poet"));
    let said: Vec<_> =
        world.discord.messages(thread).iter().map(|it| it.content.to_string()).collect();
    assert_eq!(said, ["@Poet?", "In here."]);
    assert_eq!(webhooks(&world), 1);
}

/// R004: a registry that the host keeps lists no persona, and what it has of the same name gives way.
#[tokio::test]
async fn a_persona_is_called_without_an_entry_in_the_registry() {
    use dirigent::ports::Identity;
    use dirigent::{Dirigent, IdentityStore as _, MemoryIdentities, Reply, agent_fn};

    let world = silent().await;
    let moderator = world.account(world.moderator);
    let log = Log::default();
    let _listening = log.listen();
    let identity = |agent: &str, name: &str, user| Identity {
        discord_user_id: user,
        agent_id: agent.into(),
        agent_name: name.to_owned(),
    };
    let registered = [
        identity("poet", "Poet", world.agent("poet")),
        identity("thief", "CRITIC", world.agent("critic")),
    ];
    let registry = MemoryIdentities::with(registered.clone()).unwrap();
    let critic = moderator.persona(Persona::new("Critic")).unwrap();
    let user = critic.me().await.unwrap();
    let passes = agent_fn(|_| async { Ok(Reply::Pass) });
    let builder = Dirigent::builder(moderator).identities(registry.clone());
    let (dirigent, driver) =
        builder.clock(world.clock.clone()).host("critic", passes, critic).build().unwrap();
    let running = tokio::spawn(driver.run());
    dirigent.channel(world.channel).set_mode(dirigent::Mode::Chat).await.unwrap();
    let mut expected = [world.agent("poet"), user];
    expected.sort_unstable();
    assert_eq!(dirigent.agent_accounts(), expected);
    assert_eq!(registry.all().await.unwrap(), registered);
    let is_told = |line: &String| line.contains("it is left out") && line.contains("thief");
    assert!(log.lines().iter().any(is_told), "{:?}", log.lines());
    running.abort();
}
