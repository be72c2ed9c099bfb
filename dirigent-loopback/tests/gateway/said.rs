//! Messages as people write them with a client: in the event, in the history, and through twilight's models.

use dirigent_loopback::Said;

use super::*;

impl Scene {
    /// The newest messages of the channel over REST, newest first.
    async fn history(&self) -> Value {
        self.ask("GET", &format!("channels/{}/messages", self.channel), &Value::Null).await.json()
    }
}

#[tokio::test]
async fn a_reply_comes_with_the_message_that_it_answers() {
    let scene = Scene::new().await;
    let (mut client, _) = scene.session(INTENTS).await;
    let claim = scene.discord.say(scene.channel, scene.bot, "It was the cable.");
    client.event("MESSAGE_CREATE").await;
    scene
        .server
        .say(scene.channel, scene.person, Said::new("Are you sure?").reply_to(claim))
        .unwrap();
    let told = client.event("MESSAGE_CREATE").await;
    assert_eq!((&told["type"], &told["content"]), (&json!(19), &json!("Are you sure?")));
    let reference = json!({
        "type": 0, "message_id": claim.get().to_string(),
        "channel_id": scene.channel.to_string(), "guild_id": scene.guild.to_string(),
    });
    assert_eq!(told["message_reference"], reference);
    let answered = &told["referenced_message"];
    assert_eq!(answered["content"], "It was the cable.");
    assert_eq!(answered["author"]["id"], scene.bot.to_string());
    assert_eq!(told["mentions"][0]["id"], scene.bot.to_string(), "a reply pings");
    assert_eq!(scene.history().await[0]["referenced_message"], *answered);

    let quiet = Said::new("I doubt it").reply_to(claim).without_ping();
    scene.server.say(scene.channel, scene.person, quiet).unwrap();
    let told = client.event("MESSAGE_CREATE").await;
    assert_eq!((&told["mentions"], &told["type"]), (&json!([]), &json!(19)));

    // Who answers what is gone by now still answers something.
    scene.discord.delete_message(scene.channel, claim);
    client.event("MESSAGE_DELETE").await;
    scene.server.say(scene.channel, scene.person, Said::new("What?").reply_to(claim)).unwrap();
    let told = client.event("MESSAGE_CREATE").await;
    assert_eq!(told["message_reference"], reference);
    assert_eq!(told.get("referenced_message"), Some(&Value::Null));
    for message in scene.history().await.as_array().unwrap() {
        assert_eq!(message.get("referenced_message"), Some(&Value::Null), "{message}");
    }
}

#[tokio::test]
async fn who_may_not_write_says_nothing() {
    use dirigent::ports::ErrorKind;

    let scene = Scene::new().await;
    let say = |user, text: &str| {
        let said = scene.server.say(scene.channel, user, text);
        said.map(|_| ()).map_err(|error| error.kind())
    };
    assert_eq!(say(scene.person, "hello"), Ok(()));
    assert_eq!(say(scene.person, " \n "), Err(ErrorKind::Invalid));
    assert_eq!(say(scene.discord.add_human(), "hello"), Err(ErrorKind::Forbidden));
    let gone = scene.discord.add_channel(scene.guild, "annex", &[]);
    scene.discord.channel(gone).delete();
    assert_eq!(scene.server.say(gone, scene.person, "hello").unwrap_err().kind(), ErrorKind::Gone);
}
