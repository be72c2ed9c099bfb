//! Pins over REST, by the older paths and the newer ones.

use dirigent::MessageId;
use dirigent_testkit::memory_discord::Permissions;

use super::*;

async fn stage_with_pinner() -> RestStage {
    let stage = RestStage::new().await;
    let pinners = stage.discord.guild(stage.guild).add_role("pinners", Permissions::PIN_MESSAGES);
    stage.discord.guild(stage.guild).set_role(stage.moderator, pinners, true);
    stage
}

#[tokio::test(flavor = "current_thread")]
async fn a_pinned_message_is_listed_and_told_of() {
    let stage = stage_with_pinner().await;
    let (channel, moderator) = (stage.channel, stage.moderator);
    let said: Vec<u64> =
        ["one", "two"].map(|text| stage.discord.say(channel, stage.owner, text).get()).into();
    for (path, number) in
        [(format!("channels/{channel}/pins"), 0), (format!("channels/{channel}/messages/pins"), 1)]
    {
        stage.clock.advance(SECOND);
        let pin = format!("{path}/{}", said[number]);
        assert_eq!(stage.ask(stage.bot, "PUT", &pin, Value::Null).await.refusal(), (403, 50013));
        for _ in 0..2 {
            assert_eq!(stage.ask(moderator, "PUT", &pin, Value::Null).await.status, 204);
        }
    }
    assert_eq!(stage.get(&format!("channels/{channel}/pins")).await.ids(), [said[1], said[0]]);
    let page = stage.get(&format!("channels/{channel}/messages/pins?limit=1")).await.json();
    assert_eq!(page["has_more"], true);
    assert_eq!(page["items"][0]["message"]["id"], said[1].to_string());
    let before = page["items"][0]["pinned_at"].as_str().unwrap().replace('+', "%2B");
    let page = stage.get(&format!("channels/{channel}/messages/pins?before={before}")).await.json();
    assert_eq!((&page["has_more"], page["items"].as_array().unwrap().len()), (&json!(false), 1));

    let history = stage.get(&format!("channels/{channel}/messages")).await.json();
    assert_eq!(history.as_array().unwrap().len(), 4, "each pin is told of once");
    let told = &history[0];
    assert_eq!((&told["type"], &told["author"]["id"]), (&json!(6), &json!(moderator.to_string())));
    assert_eq!(told["message_reference"]["message_id"], said[1].to_string());
    assert_eq!(history[3]["pinned"], true);
    let answered = |message: &dirigent::ChatMessage| message.reply_to.is_some();
    assert!(!stage.discord.messages(channel).iter().any(answered), "a pin answers no message");
    let told = format!("channels/{channel}/pins/{}", told["id"].as_str().unwrap());
    assert_eq!(stage.ask(moderator, "PUT", &told, Value::Null).await.refusal(), (403, 50021));

    for path in ["pins", "messages/pins"] {
        let pin = format!("channels/{channel}/{path}/{}", said[0]);
        assert_eq!(stage.ask(moderator, "DELETE", &pin, Value::Null).await.status, 204);
    }
    assert_eq!(stage.get(&format!("channels/{channel}/pins")).await.ids(), [said[1]]);
    stage.discord.delete_message(channel, MessageId::new(said[1]));
    assert_eq!(stage.get(&format!("channels/{channel}/pins")).await.ids(), [0; 0]);
}

#[tokio::test(flavor = "current_thread")]
async fn a_channel_has_at_most_250_pins() {
    let stage = stage_with_pinner().await;
    for number in 0..251 {
        let said = stage.discord.say(stage.channel, stage.owner, "again").get();
        let pin = format!("channels/{}/messages/pins/{said}", stage.channel);
        let answer = stage.ask(stage.moderator, "PUT", &pin, Value::Null).await;
        match number {
            250 => assert_eq!(answer.refusal(), (400, 30003)),
            _ => assert_eq!(answer.status, 204),
        }
    }
    let old = stage.get(&format!("channels/{}/pins", stage.channel)).await.ids();
    assert_eq!(old.len(), 50, "the older list has only the newest");
    stage.discord.channel(stage.channel).set_history_hidden(stage.bot, true);
    let hidden = stage.get(&format!("channels/{}/pins", stage.channel)).await;
    assert_eq!((hidden.status, hidden.json()), (200, json!([])));
}
