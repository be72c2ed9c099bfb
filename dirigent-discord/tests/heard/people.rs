//! What people say to each other, in several messages, and take back.

use std::time::Duration;

use dirigent_loopback::Said;

use super::world::{NAMES, WAYS, World, line, names};

/// HR13: a mention of a person and Discord's reply to one wake no agent, pushed or read after a restart; the next question
/// brings them.
#[tokio::test]
async fn what_people_say_to_each_other_wakes_no_agent() {
    for way in WAYS {
        let mut world = World::silent().await;
        world.settings.reading.skip_talk_of_people = true;
        world.start().await;
        let bob = world.discord.add_human();
        world.discord.account(bob).set_name("Bob");
        world.discord.join(world.channel, bob);
        let by_bob = world.discord.say(world.channel, bob, "I am here");
        world.rest(world.channel).await;
        let (channel, person) = (world.channel, world.person);
        for said in [Said::new(format!("<@{bob}> lunch?")), Said::new("So am I").reply_to(by_bob)] {
            let asked = world
                .asked(way, |world| _ = world.server.say(channel, person, said).unwrap())
                .await;
            assert!(asked.is_empty(), "{way:?}: {:?}", names(&asked));
        }
        let asked = world
            .asked(way, |world| {
                _ = world.server.say(channel, person, "What do you think?").unwrap();
            })
            .await;
        assert_eq!(names(&asked), NAMES, "{way:?}");
        let heard = &asked[0].missed;
        assert!(heard.iter().any(|line| line.contains("lunch?")), "{way:?}: {heard:?}");
        assert_eq!(line(&asked), "Ann: What do you think?");
        // Who talks to another bot, or to its role, does not talk to a person.
        let role = world.server.managed_role(world.guild, world.monitor);
        for bot in [format!("<@{}>", world.monitor), format!("<@&{role}>")] {
            let said = Said::new(format!("{bot} what about lunch?")).reply_to(by_bob);
            let asked = world
                .asked(way, |world| _ = world.server.say(channel, person, said).unwrap())
                .await;
            assert_eq!(names(&asked), NAMES, "{way:?}: {bot}");
        }
    }
}

/// HR14, HR22: messages in a row are one question, and Discord's event of a deletion takes it back.
#[tokio::test]
async fn messages_in_a_row_are_one_question_that_may_be_taken_back() {
    let mut world = World::silent().await;
    world.config.people.settle = Duration::from_secs(2);
    world.config.people.withdraw_deleted = true;
    world.start().await;
    let (channel, person) = (world.channel, world.person);
    world.discord.say(channel, person, "Hey");
    world.pass(Duration::from_secs(1)).await;
    world.discord.say(channel, person, "are you there?");
    world.pass(Duration::from_secs(1)).await;
    assert!(world.calls().is_empty());
    let why = world.why().await;
    assert!(
        why.contains("goes on in at most 1 second") && !why.contains("begins a cycle"),
        "{why}"
    );
    world.pass(Duration::from_secs(1)).await;
    world.rest(channel).await;
    assert_eq!(names(&world.calls()), NAMES);
    assert_eq!(world.calls()[0].missed, ["Ann: Hey", "Ann: are you there?"]);
    let question = world.discord.say(channel, person, "Never mind this");
    world.pass(Duration::from_secs(1)).await;
    world.discord.delete_message(channel, question);
    world.pass(Duration::from_secs(10)).await;
    world.rest(channel).await;
    assert_eq!(world.calls().len(), NAMES.len(), "nobody is asked");
}
