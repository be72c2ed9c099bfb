//! Agents that surely may not write: they have no turns, it is said why, and they have turns again at once.

use std::time::Duration;

use dirigent::ports::WriteBar;
use dirigent::{ChannelId, DiscordApi as _, UserId};
use dirigent_discord::Feed;
use dirigent_loopback::RestRoute;
use dirigent_testkit::memory_discord::Permissions;

use super::world::{NAMES, Way, World, names};

/// How an agent comes to be one that may not write.
#[derive(Clone, Copy, Debug)]
enum Loss {
    Overwrite,
    Role,
    TimeOut,
    EventsSeen,
    Kick,
}

const LOSSES: [Loss; 5] =
    [Loss::Overwrite, Loss::Role, Loss::TimeOut, Loss::EventsSeen, Loss::Kick];
const MINUTES: Duration = Duration::from_secs(600);

impl Loss {
    fn happens(self, world: &World, user: UserId) {
        let (channel, guild) =
            (world.discord.channel(world.channel), world.discord.guild(world.guild));
        match self {
            Self::Overwrite => channel.set_read_only(user, true),
            Self::Role => {
                let role = guild.add_role("hushed", Permissions::NONE);
                guild.set_role(user, role, true);
                channel.set_member_overwrite(user, Permissions::VIEW_CHANNEL, Permissions::NONE);
                channel.set_role_overwrite(role, Permissions::NONE, Permissions::SEND_MESSAGES);
            }
            Self::TimeOut => guild.set_timed_out(user, Some(MINUTES)),
            Self::EventsSeen => {
                channel.set_member_overwrite(user, Permissions::NONE, Permissions::VIEW_CHANNEL);
            }
            Self::Kick => assert!(guild.remove_member(user)),
        }
    }

    fn ends(self, world: &World, user: UserId) {
        let (channel, guild) =
            (world.discord.channel(world.channel), world.discord.guild(world.guild));
        match self {
            Self::Overwrite => channel.set_read_only(user, false),
            Self::Role | Self::EventsSeen => {
                channel.set_member_overwrite(user, Permissions::TALK, Permissions::NONE);
            }
            Self::TimeOut => guild.set_timed_out(user, None),
            Self::Kick => assert!(guild.add_member(user)),
        }
    }

    const fn said(self) -> &'static str {
        match self {
            Self::Overwrite | Self::Role => "its bot may not write here: give it Send Messages",
            Self::TimeOut => "its bot is in a time-out: a moderator of the server can end that",
            Self::EventsSeen => "its bot does not see this channel: give it View Channels here",
            Self::Kick => "its bot is not in this server: invite it",
        }
    }
}

async fn world() -> World {
    let mut world = World::silent().await;
    world.intents = Feed::INTENTS_WITH_MEMBERS;
    world.start().await;
    world
}

async fn asked(world: &mut World, words: &str) -> Vec<&'static str> {
    let called = world
        .asked(Way::Pushed, |world| {
            world.discord.say(world.channel, world.person, words);
        })
        .await;
    let mut names = names(&called);
    names.sort_unstable();
    names
}

async fn explained(world: &World, agent: &str) -> String {
    let dirigent = world.dirigent.clone().unwrap();
    dirigent.channel(world.channel).explain(&agent.into()).await.unwrap().to_string()
}

/// WY1, WY6
#[tokio::test]
async fn an_agent_that_surely_may_not_write_has_no_turns_and_it_is_said_why() {
    for loss in LOSSES {
        let mut world = world().await;
        let poet = world.agent("poet");
        for name in NAMES {
            world.next(name, "Here is a thought.");
        }
        loss.happens(&world, poet);
        world.rest(world.channel).await;
        let called = asked(&mut world, "Good morning").await;
        assert!(!called.is_empty() && !called.contains(&"poet"), "{loss:?}: {called:?}");
        assert_eq!(world.server.traffic().answered(RestRoute::CreateMessage, 403), 0, "{loss:?}");
        let why = explained(&world, "poet").await;
        assert!(
            why.starts_with("poet may not speak: ") && why.contains(loss.said()),
            "{loss:?}: {why}"
        );
        let dirigent = world.dirigent.clone().unwrap();
        let here = dirigent.channel(world.channel).participants().await.unwrap();
        assert_eq!(here.taking_turns.len(), 2, "{loss:?}: {here}");
        assert!(here.to_string().contains(&format!("poet ({})", loss.said())), "{loss:?}: {here}");
        assert!(world.why().await.contains(loss.said()), "{loss:?}: {}", world.why().await);
        loss.ends(&world, poet);
        world.rest(world.channel).await;
        let called = asked(&mut world, "And now?").await;
        assert!(called.contains(&"poet"), "{loss:?}: {called:?}");
    }
}

/// WY1: what a person said waits for whoever may write first.
#[tokio::test]
async fn a_right_that_returns_is_followed_by_a_turn_where_a_word_waits() {
    for loss in [Loss::Overwrite, Loss::TimeOut] {
        let mut world = world().await;
        for name in NAMES {
            loss.happens(&world, world.agent(name));
        }
        world.rest(world.channel).await;
        assert_eq!(asked(&mut world, "Is anybody there?").await, [""; 0], "{loss:?}");
        loss.ends(&world, world.agent("critic"));
        world.rest(world.channel).await;
        let called = world.calls();
        assert_eq!(names(&called), ["critic"], "{loss:?}");
        assert_eq!(called[0].missed, ["Ann: Is anybody there?"], "{loss:?}");
    }
}

/// WY1
#[tokio::test]
async fn a_time_out_that_is_over_is_followed_by_a_turn_without_an_event() {
    let mut world = world().await;
    for name in NAMES {
        Loss::TimeOut.happens(&world, world.agent(name));
    }
    world.rest(world.channel).await;
    assert_eq!(asked(&mut world, "Is anybody there?").await, [""; 0]);
    assert!(explained(&world, "poet").await.contains("It ends within 10 minutes."));
    world.clock.advance(MINUTES);
    world.rest(world.channel).await;
    assert!(!world.calls().is_empty());
}

/// WY1
#[tokio::test]
async fn in_a_thread_that_is_locked_no_agent_has_a_turn_until_it_is_unlocked() {
    let mut world = world().await;
    let thread: ChannelId = world.discord.channel(world.channel).add_public_thread("aside");
    let called = world
        .asked_in(thread, Way::Pushed, |world| {
            world.discord.say(thread, world.person, "In here");
        })
        .await;
    assert_eq!(called.len(), 3);
    world.discord.channel(thread).set_locked(true);
    world.rest(thread).await;
    let dirigent = world.dirigent.clone().unwrap();
    let here = dirigent.channel(thread).participants().await.unwrap();
    assert!(here.taking_turns.is_empty() && here.missing.len() == 3, "{here}");
    assert_eq!(here.missing[0].why, Some(WriteBar::Locked));
    world.discord.channel(thread).set_locked(false);
    world.rest(thread).await;
    let here = dirigent.channel(thread).participants().await.unwrap();
    assert_eq!(here.taking_turns.len(), 3, "{here}");
}

/// WY6: the likeliest first evening.
#[tokio::test]
async fn the_answer_to_a_new_mode_says_who_is_missing_and_what_to_do() {
    let mut world = World::silent().await;
    for name in ["poet", "sceptic"] {
        Loss::EventsSeen.happens(&world, world.agent(name));
    }
    world.start().await;
    let (channel, person) = (world.channel, world.person);
    let dirigent = world.dirigent.clone().unwrap();
    let here = dirigent.channel(channel).set_mode(dirigent::Mode::Chat).await.unwrap();
    assert_eq!(here.taking_turns, ["critic".into()], "{here}");
    let said = here.to_string();
    assert!(said.starts_with("Only critic takes turns here: a second agent is needed."), "{said}");
    assert!(
        said.contains("poet (its bot does not see this channel: give it View Channels here)"),
        "{said}"
    );
    let why = explained(&world, "poet").await;
    // The gate keeps no turns there, and says so.
    assert!(why.starts_with("poet may speak: fewer than two agents are here"), "{why}");
    let told = "But the library does not call it: its bot does not see this channel";
    assert!(why.contains(told), "{why}");
    let status = world.used(person, "status").await;
    assert!(status.contains("give it View Channels here"), "{status}");
}

/// WY3: what keeps the channel silent is the moderator's own missing right.
#[tokio::test]
async fn what_the_moderator_lacks_is_the_reason_that_is_told() {
    let world = world().await;
    Loss::Overwrite.happens(&world, world.moderator);
    world.discord.channel(world.channel).set_history_hidden(world.moderator, true);
    world.rest(world.channel).await;
    let status = world.used(world.person, "status").await;
    for told in [explained(&world, "poet").await, world.why().await, status] {
        assert!(told.contains("The moderator may not write here"), "{told}");
        assert!(told.contains("give it Send Messages"), "{told}");
        assert!(told.contains("give it Read Message History"), "{told}");
    }
}

/// WY2: an account without a gateway of its own hears of it.
#[tokio::test]
async fn a_route_rests_no_more_once_rights_change() {
    let world = world().await;
    let poet = world.agent("poet");
    world.discord.channel(world.channel).set_read_only(poet, true);
    let account = world.account(poet);
    let sent = |number| {
        let nonce = dirigent::ports::Nonce::from_parts(world.channel.get(), 0, number);
        account.post(dirigent::ports::Post::new(world.channel, "hello", nonce))
    };
    for number in 0..4 {
        assert!(sent(number).await.is_err());
    }
    let refused = world.server.traffic().answered(RestRoute::CreateMessage, 403);
    assert_eq!(refused, 3, "the fourth was not sent");
    world.discord.channel(world.channel).set_read_only(poet, false);
    assert!(sent(5).await.is_err(), "the account does not know it yet");
    account.rights_changed(&[world.channel]);
    assert!(sent(6).await.is_ok());
}

/// WY2: a hosted account has no gateway; the moderator's tells it.
#[tokio::test]
async fn the_rest_of_a_hosted_accounts_route_ends_with_the_moderators_event() {
    for is_told in [true, false] {
        // Without the Server Members Intent a time-out is not told, and what was asked is believed for a minute.
        let mut world = World::new().await;
        let poet = world.agent("poet");
        asked(&mut world, "Good morning").await;
        world.discord.guild(world.guild).set_timed_out(poet, Some(MINUTES));
        for word in ["One", "Two", "Three"] {
            world.next("poet", format!("Here is {word}."));
            asked(&mut world, word).await;
        }
        let refused = || world.server.traffic().answered(RestRoute::CreateMessage, 403);
        assert_eq!(refused(), 3);
        world.discord.guild(world.guild).set_timed_out(poet, None);
        if is_told {
            let monitor = world.monitor;
            world.discord.channel(world.channel).set_history_hidden(monitor, true);
        }
        world.next("poet", "Now it works.");
        asked(&mut world, "Four").await;
        let messages = world.discord.messages(world.channel);
        let is_posted = messages.iter().any(|message| &*message.content == "Now it works.");
        assert_eq!(
            (is_posted, world.server.traffic().answered(RestRoute::CreateMessage, 403)),
            (is_told, 3)
        );
    }
}
