//! Names that a persona can have.

use std::time::Duration;

use dirigent::DiscordApi as _;
use dirigent::ports::WriteBar;
use dirigent_discord::{Persona, PersonaError};
use dirigent_loopback::{RestFault, RestRoute};

use super::{PersonaStage, persona};

#[tokio::test(flavor = "current_thread")]
async fn a_name_that_discord_refuses_or_that_hides_something_makes_no_persona() {
    let stage = PersonaStage::new().await;
    let refused = |name: &str| stage.moderator.persona(Persona::new(name)).err();
    assert_eq!(refused(""), Some(PersonaError::Length));
    assert_eq!(refused(&"ü".repeat(81)), Some(PersonaError::Length));
    assert_eq!(refused(&"ü".repeat(80)), None);
    for (name, part) in [
        ("CLYDE's friend", "clyde"),
        ("My Discord", "discord"),
        ("Everyone", "everyone"),
        ("here", "here"),
        ("Here we go", "here"),
        ("everyone's friend", "everyone"),
        ("a@b", "@"),
        ("a#b", "#"),
        ("a: b", ":"),
        ("a```b", "```"),
    ] {
        assert_eq!(refused(name), Some(PersonaError::Refused(part)), "{name}");
    }
    for name in ["Po\u{200B}et", "Poet\u{E0041}", "a\nb", "\u{3164}", " Ann", "Ann ", "Ann  Lee"] {
        assert_eq!(refused(name), Some(PersonaError::Hidden), "{name:?}");
    }
    let taken = Some(PersonaError::Taken("Critic".to_owned()));
    for name in ["Critic", "CRITIC", "Ｃritic"] {
        assert_eq!(refused(name), taken, "{name}");
    }
    let picture = Persona::new("Painter").avatar("file:///etc/passwd");
    assert_eq!(stage.moderator.persona(picture).err(), Some(PersonaError::Avatar));
}

#[tokio::test(flavor = "current_thread")]
async fn a_persona_whose_name_is_a_members_is_not_there() {
    let stage = PersonaStage::new().await;
    let ann = persona(&stage.moderator, "Ann Lee");
    let channel = stage.channel();
    let (poet, ann) = (stage.poet.me().await.unwrap(), ann.me().await.unwrap());
    let present = async || stage.moderator.members(channel, vec![poet, ann]).await.unwrap();
    stage.discord.account(stage.person).set_name("ann lee");
    assert_eq!(present().await, [poet]);
    let bars = stage.moderator.write_bars(channel, &[poet, ann]);
    assert_eq!(bars, [(ann, WriteBar::NameTaken)]);
    stage.discord.account(stage.person).set_name("Bob");
    assert_eq!(present().await, [poet, ann], "the name is free again");
    stage.discord.account(stage.person).set_name("Ann LEE");
    stage.clock.advance(Duration::from_secs(600));
    assert_eq!(present().await, [poet], "it was taken later");
}

#[tokio::test(flavor = "current_thread")]
async fn a_name_that_could_not_be_looked_up_is_not_free_for_long() {
    let stage = PersonaStage::new().await;
    let (channel, poet) = (stage.channel(), stage.poet.me().await.unwrap());
    let present = async || stage.moderator.members(channel, vec![poet]).await.unwrap();
    stage.discord.account(stage.person).set_name("poet");
    stage.loopback.next(RestRoute::SearchGuildMembers, RestFault::Forbidden);
    assert_eq!(present().await, [poet]);
    assert_eq!(present().await, []);
}
