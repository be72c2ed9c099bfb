//! What a session is told of what happens.

use dirigent::DiscordApi as _;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::*;

const GUILDS: u64 = 1;
const MEMBERS: u64 = 1 << 1;
const PRESENCES: u64 = 1 << 8;
const MESSAGES: u64 = 1 << 9;
const DIRECT: u64 = 1 << 12;
const CONTENT: u64 = 1 << 15;

#[tokio::test]
async fn a_session_begins_with_who_it_is_and_where() {
    let scene = Scene::new().await;
    let mut client = scene.connect().await;
    client.send(&scene.identify(INTENTS)).await;
    let ready = client.event("READY").await;
    assert_eq!(client.seq, 1);
    assert_eq!((&ready["v"], &ready["shard"]), (&json!(10), &json!([0, 1])));
    assert_eq!(ready["user"]["id"], scene.bot.to_string());
    assert_eq!(ready["application"]["id"], scene.bot.to_string());
    assert_eq!(ready["resume_gateway_url"], format!("ws://{}", scene.server.address()));
    let guild = client.event("GUILD_CREATE").await;
    assert_eq!(client.seq, 2);
    assert_eq!(guild["channels"][0]["id"], scene.channel.to_string());
    assert_eq!(guild["roles"][0]["id"], scene.guild.to_string());
    assert_eq!((&guild["member_count"], &guild["large"]), (&json!(2), &json!(false)));
    // Without the presences intent it is told of nobody but itself.
    let members = guild["members"].as_array().unwrap();
    assert_eq!(members.len(), 1);
    assert_eq!(members[0]["user"]["id"], scene.bot.to_string());
}

/// People have none, webhooks have zeros, and a bot has four digits that stay.
#[tokio::test]
async fn a_bot_has_one_discriminator_in_all_that_is_said_of_it() {
    let scene = Scene::new().await;
    let (bot, channel) = (scene.bot, scene.channel);
    scene.discord.guild(scene.guild).set_administrator(bot, true);
    let mut client = scene.connect().await;
    client.send(&scene.identify(INTENTS | MEMBERS)).await;
    let ready = client.event("READY").await;
    let guild = client.event("GUILD_CREATE").await;
    let mut said = vec![ready["user"].clone(), guild["members"][0]["user"].clone()];
    let path = format!("channels/{channel}/messages");
    let mention = json!({ "content": format!("<@{bot}>") });
    said.push(scene.ask("POST", &path, &mention).await.json()["author"].clone());
    let told = client.event("MESSAGE_CREATE").await;
    said.extend([told["author"].clone(), told["mentions"][0].clone()]);
    for path in ["users/@me".to_owned(), format!("users/{bot}")] {
        said.push(scene.ask("GET", &path, &Value::Null).await.json());
    }
    let member = format!("guilds/{}/members/{bot}", scene.guild);
    said.push(scene.ask("GET", &member, &Value::Null).await.json()["user"].clone());
    said.push(scene.ask("GET", "applications/@me", &Value::Null).await.json()["bot"].clone());
    let own = said[0]["discriminator"].as_str().unwrap().to_owned();
    assert!(own.len() == 4 && own.parse::<u16>().unwrap() > 0, "{own}");
    for user in &said {
        assert_eq!((&user["id"], &user["bot"]), (&json!(bot.to_string()), &json!(true)), "{user}");
        assert_eq!(user["discriminator"], own, "{user}");
    }
    let other = format!("users/{}", scene.discord.add_bot());
    assert_ne!(scene.ask("GET", &other, &Value::Null).await.json()["discriminator"], own);

    scene.discord.say(channel, scene.person, "Good morning");
    let author = client.event("MESSAGE_CREATE").await["author"].clone();
    assert_eq!((&author["discriminator"], &author["bot"]), (&json!("0"), &json!(false)));
    let path = format!("channels/{channel}/webhooks");
    let webhook = scene.ask("POST", &path, &json!({ "name": "herald" })).await.json();
    assert_eq!(webhook["user"]["discriminator"], own, "who made it");
    let (id, token) = (webhook["id"].as_str().unwrap(), webhook["token"].as_str().unwrap());
    scene.ask("POST", &format!("webhooks/{id}/{token}"), &json!({ "content": "Hear" })).await;
    let author = client.event("MESSAGE_CREATE").await["author"].clone();
    assert_eq!((&author["discriminator"], &author["bot"]), (&json!("0000"), &json!(true)));
}

#[tokio::test]
async fn all_members_of_a_small_guild_are_listed_to_who_asked_for_presences() {
    let scene = Scene::new().await;
    for (extra, listed) in [(0, 2), (49, 1)] {
        for _ in 0..extra {
            scene.discord.guild(scene.guild).add_member(scene.discord.add_human());
        }
        let mut client = scene.connect().await;
        client.send(&scene.identify(GUILDS | PRESENCES)).await;
        client.event("READY").await;
        let guild = client.event("GUILD_CREATE").await;
        assert_eq!(guild["members"].as_array().unwrap().len(), listed);
        assert_eq!(guild["large"], listed == 1);
    }
}

#[tokio::test]
async fn a_message_is_told_with_its_text_to_who_asked_for_it() {
    let scene = Scene::new().await;
    let (mut client, _) = scene.session(INTENTS).await;
    let id = scene.discord.say(scene.channel, scene.person, "Good morning");
    let message = client.event("MESSAGE_CREATE").await;
    assert_eq!(message["id"], id.get().to_string());
    assert_eq!(message["content"], "Good morning");
    assert_eq!(message["guild_id"], scene.guild.to_string());
    scene.discord.edit(scene.channel, id, "Good evening");
    assert_eq!(client.event("MESSAGE_UPDATE").await["content"], "Good evening");
    scene.discord.delete_message(scene.channel, id);
    let deleted = client.event("MESSAGE_DELETE").await;
    assert_eq!(
        (&deleted["id"], &deleted["guild_id"]),
        (&json!(id.get().to_string()), &message["guild_id"])
    );
}

#[tokio::test]
async fn without_the_intent_only_own_direct_and_mentioning_messages_have_a_text() {
    let scene = Scene::new().await;
    let (mut client, _) = scene.session(GUILDS | MESSAGES | DIRECT).await;
    let direct = scene.discord.add_direct(&[scene.person, scene.bot]);
    let mention = format!("<@{}>, good morning", scene.bot);
    scene.discord.say(scene.channel, scene.person, "Good morning");
    scene.discord.say(scene.channel, scene.person, &mention);
    scene.discord.say(scene.channel, scene.bot, "Good morning to you");
    scene.discord.say(direct, scene.person, "psst");
    for told in ["", &mention, "Good morning to you", "psst"] {
        let mut message = client.payload().await;
        while message["t"] == "CHANNEL_CREATE" {
            message = client.payload().await;
        }
        assert_eq!(
            (&message["t"], &message["d"]["content"]),
            (&json!("MESSAGE_CREATE"), &json!(told))
        );
    }
}

/// The intent guards all that is shown, of the answered message too; reading over REST needs no session.
#[tokio::test]
async fn without_the_intent_embeds_are_hidden_and_so_is_what_a_reply_answers() {
    let scene = Scene::new().await;
    let other = scene.discord.add_bot();
    scene.discord.join(scene.channel, other);
    let (mut client, _) = scene.session(GUILDS | MESSAGES | DIRECT).await;
    let direct = scene.discord.add_direct(&[other, scene.bot]);
    client.event("CHANNEL_CREATE").await;
    let embed = || vec![dirigent::ports::Embed::new().title("Build 214")];
    let post = |number, content: String, channel, reply_to| dirigent::ports::Post {
        embeds: embed().into(),
        reply_to,
        mentions: dirigent::ports::Mentions::User(scene.bot),
        ..dirigent::ports::Post::new(
            channel,
            content,
            dirigent::ports::Nonce::from_parts(1, 2, number),
        )
    };
    let account = scene.discord.account(other);
    let hidden = account.post(post(1, "done".to_owned(), scene.channel, None)).await.unwrap().id;
    let told = client.event("MESSAGE_CREATE").await;
    assert_eq!((&told["content"], &told["embeds"]), (&json!(""), &json!([])));
    let mention = format!("<@{}>", scene.bot);
    account.post(post(2, mention.clone(), scene.channel, Some(hidden))).await.unwrap();
    let told = client.event("MESSAGE_CREATE").await;
    assert_eq!(
        (&told["content"], &told["embeds"][0]["title"]),
        (&json!(mention), &json!("Build 214"))
    );
    let answered = &told["referenced_message"];
    assert_eq!((&answered["content"], &answered["embeds"]), (&json!(""), &json!([])));
    account.post(post(3, "psst".to_owned(), direct, None)).await.unwrap();
    let told = client.event("MESSAGE_CREATE").await;
    assert_eq!(
        (&told["content"], &told["embeds"][0]["title"]),
        (&json!("psst"), &json!("Build 214"))
    );

    for (is_hidden, content, embeds) in [(false, "done", 1), (true, "", 0)] {
        scene.discord.account(scene.bot).set_content_hidden(is_hidden);
        let path = format!("channels/{}/messages/{}", scene.channel, hidden.get());
        let read = scene.ask("GET", &path, &Value::Null).await.json();
        assert_eq!(read["content"], content);
        assert_eq!(read["embeds"].as_array().unwrap().len(), embeds);
        let path = format!("channels/{direct}/messages");
        assert_eq!(scene.ask("GET", &path, &Value::Null).await.json()[0]["content"], "psst");
    }
}

#[tokio::test]
async fn what_nobody_asked_for_is_not_told() {
    let scene = Scene::new().await;
    let (mut client, _) = scene.session(GUILDS).await;
    let (mut writer, _) = scene.session(MESSAGES | CONTENT).await;
    scene.discord.say(scene.channel, scene.person, "Good morning");
    scene.discord.guild(scene.guild).add_member(scene.discord.add_human());
    scene.discord.channel(scene.channel).delete();
    scene.mark(1);
    client.event("CHANNEL_DELETE").await;
    client.mark(1).await;
    writer.event("MESSAGE_CREATE").await;
    writer.mark(1).await;
}

#[tokio::test]
async fn messages_of_a_channel_that_is_not_seen_are_not_told() {
    let scene = Scene::new().await;
    let hidden = scene.discord.add_channel(scene.guild, "behind closed doors", &[]);
    let (mut client, _) = scene.session(MESSAGES).await;
    scene.discord.say(hidden, scene.person, "a secret");
    scene.discord.leave(scene.channel, scene.bot);
    scene.discord.say(scene.channel, scene.person, "another");
    scene.discord.join(hidden, scene.bot);
    let seen = scene.discord.say(hidden, scene.person, "welcome");
    assert_eq!(client.event("MESSAGE_CREATE").await["id"], seen.get().to_string());
}

#[tokio::test]
async fn members_who_come_and_go_are_told_to_who_asked_for_them() {
    let scene = Scene::new().await;
    let (mut client, _) = scene.session(GUILDS | MEMBERS).await;
    let newcomer = scene.discord.add_human();
    scene.discord.guild(scene.guild).add_member(newcomer);
    assert_eq!(client.event("GUILD_MEMBER_ADD").await["user"]["id"], newcomer.to_string());
    scene.discord.guild(scene.guild).remove_member(newcomer);
    assert_eq!(client.event("GUILD_MEMBER_REMOVE").await["user"]["id"], newcomer.to_string());
}

#[tokio::test]
async fn an_account_that_comes_into_a_guild_is_told_of_it_and_when_it_leaves() {
    let scene = Scene::new().await;
    let (mut client, _) = scene.session(GUILDS | MESSAGES).await;
    let second = scene.discord.add_guild(scene.person);
    scene.discord.guild(second).add_member(scene.bot);
    let told = client.event("GUILD_CREATE").await;
    assert_eq!((&told["id"], &told["member_count"]), (&json!(second.to_string()), &json!(2)));
    scene.discord.guild(second).remove_member(scene.bot);
    let left = client.event("GUILD_DELETE").await;
    assert_eq!((&left["id"], left.get("unavailable")), (&json!(second.to_string()), None));
}

#[tokio::test]
async fn each_guild_is_told_to_one_shard() {
    let scene = Scene::new().await;
    let mut guilds = vec![scene.guild];
    let mut channels = vec![scene.channel];
    for _ in 0..3 {
        // An id's upper bits are its time: guilds of the same moment share a shard.
        scene.clock.advance(Duration::from_millis(1));
        let guild = scene.discord.add_guild(scene.person);
        guilds.push(guild);
        channels.push(scene.discord.add_channel(guild, "round-table", &[scene.bot]));
    }
    let direct = scene.discord.add_direct(&[scene.person, scene.bot]);
    let mut shards = Vec::new();
    for id in 0..2 {
        let mut client = scene.connect().await;
        let mut identify = scene.identify(MESSAGES | DIRECT);
        identify["d"]["shard"] = json!([id, 2]);
        client.send(&identify).await;
        let ready = client.event("READY").await;
        assert_eq!(
            (ready["shard"].clone(), ready["guilds"].as_array().unwrap().len()),
            (json!([id, 2]), 2)
        );
        shards.push(client);
    }
    for (guild, channel) in guilds.iter().zip(&channels) {
        scene.discord.say(*channel, scene.person, "Good morning");
        let shard = usize::try_from((guild.get() >> 22) % 2).unwrap();
        let message = shards[shard].event("MESSAGE_CREATE").await;
        assert_eq!(message["guild_id"], guild.to_string());
    }
    scene.discord.say(direct, scene.person, "psst");
    assert_eq!(shards[0].event("MESSAGE_CREATE").await["channel_id"], direct.to_string());
    // Nothing else was told to either of them.
    for (guild, number) in guilds.iter().zip(1..) {
        scene.server.push(scene.bot, Some(*guild), "MARK", &json!({ "number": number }));
        shards[usize::try_from((guild.get() >> 22) % 2).unwrap()].mark(number).await;
    }
}

#[tokio::test]
async fn members_are_asked_for_over_the_gateway() {
    let scene = Scene::new().await;
    let (mut client, _) = scene.session(GUILDS | MEMBERS).await;
    let all = json!({ "guild_id": scene.guild.to_string(), "query": "", "limit": 0, "nonce": "n" });
    client.send(&json!({ "op": 8, "d": all })).await;
    let chunk = client.event("GUILD_MEMBERS_CHUNK").await;
    assert_eq!(chunk["members"].as_array().unwrap().len(), 2);
    assert_eq!((&chunk["chunk_count"], &chunk["nonce"]), (&json!(1), &json!("n")));
    let stranger = scene.discord.add_human();
    let ids = [scene.person.to_string(), stranger.to_string()];
    let some = json!({ "guild_id": scene.guild.to_string(), "user_ids": ids, "limit": 0 });
    client.send(&json!({ "op": 8, "d": some })).await;
    let chunk = client.event("GUILD_MEMBERS_CHUNK").await;
    assert_eq!(chunk["members"][0]["user"]["id"], scene.person.to_string());
    assert_eq!(chunk["not_found"], json!([stranger.to_string()]));
    let (mut unasked, _) = scene.session(GUILDS).await;
    unasked.send(&json!({ "op": 8, "d": all })).await;
    assert_eq!(unasked.closed().await, 4014);
}

/// One request of the REST API by hand; its status comes back.
async fn request(scene: &Scene, method: &str, path: &str, body: &Value) -> String {
    let (body, token) = (body.to_string(), scene.server.token(scene.bot));
    let request = format!(
        "{method} /api/v10{path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bot {token}\r\n\
         user-agent: DiscordBot (https://example.org, 1)\r\ncontent-type: application/json\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len(),
    );
    let mut stream = TcpStream::connect(scene.server.address()).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer.lines().next().unwrap().split(' ').nth(1).unwrap().to_owned()
}

#[tokio::test]
async fn a_command_that_somebody_uses_is_told_whatever_the_intents() {
    let scene = Scene::new().await;
    let commands = json!([{ "name": "talk", "description": "Says who speaks", "type": 1 }]);
    let path = format!("/applications/{}/guilds/{}/commands", scene.bot, scene.guild);
    assert_eq!(request(&scene, "PUT", &path, &commands).await, "200");
    let (mut client, _) = scene.session(0).await;
    let (channel, person, bot) = (scene.channel, scene.person, scene.bot);
    let used = scene.server.use_command(channel, person, bot, "talk", &[]).unwrap();
    let told = client.event("INTERACTION_CREATE").await;
    assert_eq!((&told["id"], &told["data"]["name"]), (&json!(used.to_string()), &json!("talk")));
    assert_eq!(told["member"]["user"]["id"], scene.person.to_string());
    // It carries what its answer is to be sent with.
    let path = format!("/interactions/{used}/{}/callback", told["token"].as_str().unwrap());
    let answer = json!({ "type": 4, "data": { "content": "the bot does" } });
    assert_eq!(request(&scene, "POST", &path, &answer).await, "204");
    assert_eq!(scene.server.answers(used)[0].content, "the bot does");
}

#[tokio::test]
async fn messages_that_go_together_are_told_together() {
    let scene = Scene::new().await;
    scene.discord.guild(scene.guild).set_administrator(scene.bot, true);
    let (mut client, _) = scene.session(MESSAGES).await;
    let say = |text| scene.discord.say(scene.channel, scene.person, text).get().to_string();
    let ids = [say("one"), say("two"), say("three")];
    for _ in 0..3 {
        client.event("MESSAGE_CREATE").await;
    }
    let path = format!("/channels/{}/messages/bulk-delete", scene.channel);
    assert_eq!(request(&scene, "POST", &path, &json!({ "messages": ids })).await, "204");
    assert_eq!(client.event("MESSAGE_DELETE_BULK").await["ids"], json!(ids));
    scene.mark(1);
    client.mark(1).await;
}

#[tokio::test]
async fn typing_is_told_to_who_asked_for_it() {
    let scene = Scene::new().await;
    let (mut client, _) = scene.session(1 << 11).await;
    let (mut other, _) = scene.session(MESSAGES).await;
    let path = format!("/channels/{}/typing", scene.channel);
    assert_eq!(request(&scene, "POST", &path, &json!({})).await, "204");
    assert_eq!(client.event("TYPING_START").await["user_id"], scene.bot.to_string());
    scene.mark(1);
    other.mark(1).await;
}
