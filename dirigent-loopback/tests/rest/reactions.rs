//! Reactions over REST.

use dirigent_testkit::memory_discord::{Emoji, Permissions};

use super::*;

const THUMB: &str = "%F0%9F%91%8D";

fn path(stage: &RestStage, message: u64, rest: &str) -> String {
    format!("channels/{}/messages/{message}/reactions{rest}", stage.channel)
}

#[tokio::test(flavor = "current_thread")]
async fn reactions_are_counted_and_listed_by_emoji() {
    let stage = RestStage::new().await;
    let said = stage.discord.say(stage.channel, stage.owner, "a motion");
    let thumb = Emoji::read("👍").unwrap();
    stage.discord.channel(stage.channel).react(stage.owner, said, &thumb);
    let own = path(&stage, said.get(), &format!("/{THUMB}/@me"));
    for _ in 0..2 {
        assert_eq!(
            stage.ask(stage.bot, "PUT", &own, Value::Null).await.status,
            204,
            "twice is once"
        );
    }
    let message = format!("channels/{}/messages/{said}", stage.channel, said = said.get());
    let read = stage.get(&message).await.json();
    let reaction = &read["reactions"][0];
    assert_eq!((&reaction["count"], &reaction["me"]), (&json!(2), &json!(true)));
    assert_eq!(reaction["emoji"], json!({ "id": null, "name": "👍" }));
    let other = stage.ask(stage.moderator, "GET", &message, Value::Null).await.json();
    assert_eq!(other["reactions"][0]["me"], false);

    let list = |query: &str| path(&stage, said.get(), &format!("/{THUMB}{query}"));
    let (owner, bot) = (stage.owner.get(), stage.bot.get());
    assert_eq!(stage.get(&list("")).await.ids(), [owner, bot]);
    assert_eq!(stage.get(&list("?limit=1")).await.ids(), [owner]);
    assert_eq!(stage.get(&list(&format!("?after={owner}"))).await.ids(), [bot]);
    assert_eq!(stage.get(&list("?limit=101")).await.refusal(), (400, 50035));

    assert_eq!(stage.ask(stage.bot, "DELETE", &own, Value::Null).await.status, 204);
    assert_eq!(stage.ask(stage.bot, "DELETE", &own, Value::Null).await.refusal(), (404, 10014));
    assert_eq!(stage.get(&message).await.json()["reactions"][0]["count"], 1);
}

#[tokio::test(flavor = "current_thread")]
async fn others_reactions_are_for_those_who_manage_messages() {
    let stage = RestStage::new().await;
    let said = stage.discord.say(stage.channel, stage.owner, "a motion");
    let channel = stage.discord.channel(stage.channel);
    for emoji in ["👍", "👎", "🎉"] {
        channel.react(stage.owner, said, &Emoji::read(emoji).unwrap());
    }
    let of_owner = path(&stage, said.get(), &format!("/{THUMB}/{}", stage.owner));
    let of_emoji = path(&stage, said.get(), "/%F0%9F%91%8E");
    let all = path(&stage, said.get(), "");
    for path in [&of_owner, &of_emoji, &all] {
        let refused = stage.ask(stage.bot, "DELETE", path, Value::Null).await;
        assert_eq!(refused.refusal(), (403, 50013), "{path}");
    }
    stage.discord.guild(stage.guild).set_administrator(stage.bot, true);
    let message = format!("channels/{}/messages/{}", stage.channel, said.get());
    for (path, left) in [(&of_owner, 2), (&of_emoji, 1), (&all, 0)] {
        assert_eq!(stage.ask(stage.bot, "DELETE", path, Value::Null).await.status, 204, "{path}");
        let reactions = stage.get(&message).await.json()["reactions"].take();
        assert_eq!(reactions.as_array().map_or(0, Vec::len), left, "{path}");
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_new_emoji_takes_more_rights_than_one_that_is_there() {
    let stage = RestStage::new().await;
    let said = stage.discord.say(stage.channel, stage.owner, "a motion");
    let channel = stage.discord.channel(stage.channel);
    channel.set_member_overwrite(stage.bot, Permissions::TALK, Permissions::ADD_REACTIONS);
    let own = path(&stage, said.get(), &format!("/{THUMB}/@me"));
    assert_eq!(stage.ask(stage.bot, "PUT", &own, Value::Null).await.refusal(), (403, 50013));
    channel.react(stage.owner, said, &Emoji::read("👍").unwrap());
    assert_eq!(stage.ask(stage.bot, "PUT", &own, Value::Null).await.status, 204);
    channel.set_history_hidden(stage.bot, true);
    assert_eq!(stage.ask(stage.bot, "PUT", &own, Value::Null).await.refusal(), (403, 50013));
}

#[tokio::test(flavor = "current_thread")]
async fn a_guilds_own_emoji_must_be_known() {
    let stage = RestStage::new().await;
    let said = stage.discord.say(stage.channel, stage.owner, "a motion").get();
    let party = stage.discord.guild(stage.guild).add_emoji("party");
    let react = |emoji: &str| path(&stage, said, &format!("/{emoji}/@me"));
    for unknown in ["party:77", "thumbsup", "party"] {
        let refused = stage.ask(stage.bot, "PUT", &react(unknown), Value::Null).await;
        assert_eq!(refused.refusal(), (404, 10014), "{unknown}");
    }
    for name in ["party", "renamed"] {
        let own = react(&format!("{name}%3A{party}"));
        assert_eq!(stage.ask(stage.bot, "PUT", &own, Value::Null).await.status, 204);
    }
    let message = format!("channels/{}/messages/{said}", stage.channel);
    let reactions = stage.get(&message).await.json()["reactions"].take();
    assert_eq!(reactions.as_array().unwrap().len(), 1);
    assert_eq!(reactions[0]["emoji"], json!({ "id": party.to_string(), "name": "party" }));
    let listed = stage.get(&format!("guilds/{}/emojis", stage.guild)).await;
    assert_eq!(listed.ids(), [party]);
    let one = stage.get(&format!("guilds/{}/emojis/{party}", stage.guild)).await.json();
    assert_eq!(one["name"], "party");
}

#[tokio::test(flavor = "current_thread")]
async fn a_message_takes_twenty_emoji() {
    let stage = RestStage::new().await;
    let said = stage.discord.say(stage.channel, stage.owner, "a motion").get();
    for number in 0..21 {
        let emoji = char::from_u32(0x1f600 + number).unwrap().to_string();
        let escaped: Vec<_> = emoji.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let own = path(&stage, said, &format!("/{}/@me", escaped.concat()));
        let answer = stage.ask(stage.bot, "PUT", &own, Value::Null).await;
        match number {
            20 => assert_eq!(answer.refusal(), (400, 30010)),
            _ => assert_eq!(answer.status, 204),
        }
    }
}
