//! Posting: nonces, replies, and who is pinged.

use dirigent::MessageId;
use dirigent_testkit::memory_discord::RoleId;

use super::*;

fn id(answer: &Answer) -> u64 {
    answer.json()["id"].as_str().unwrap().parse().unwrap()
}

/// Only with `enforce_nonce` is a repeated post the first one's.
#[tokio::test(flavor = "current_thread")]
async fn a_nonce_is_enforced_only_where_that_is_asked_for() {
    let stage = RestStage::new().await;
    let path = format!("channels/{}/messages", stage.channel);
    let post = |nonce: Value, enforce: bool| json!({ "content": "once", "nonce": nonce, "enforce_nonce": enforce });
    let first = stage.ask(stage.bot, "POST", &path, post(json!("n-1"), true)).await;
    let again = stage.ask(stage.bot, "POST", &path, post(json!("n-1"), true)).await;
    assert_eq!((first.status, again.status), (200, 200));
    assert_eq!(id(&first), id(&again));
    assert_eq!(again.json()["nonce"], "n-1");
    let other = stage.ask(stage.moderator, "POST", &path, post(json!("n-1"), true)).await;
    assert_ne!(id(&first), id(&other), "nonces of different authors do not meet");
    let twice = stage.ask(stage.bot, "POST", &path, post(json!("n-2"), false)).await;
    let thrice = stage.ask(stage.bot, "POST", &path, post(json!("n-2"), false)).await;
    assert_ne!(id(&twice), id(&thrice));
    let number = stage.ask(stage.bot, "POST", &path, post(json!(42), true)).await;
    assert_eq!(number.json()["nonce"], 42, "a number comes back as a number");
    stage.clock.advance(300 * SECOND);
    let late = stage.ask(stage.bot, "POST", &path, post(json!("n-1"), true)).await;
    assert_ne!(id(&first), id(&late), "a nonce is remembered for a few minutes");
    let long = post(json!("x".repeat(26)), true);
    assert_eq!(stage.ask(stage.bot, "POST", &path, long).await.refusal(), (400, 50035));
}

/// Another's nonce is not for one to see.
#[tokio::test(flavor = "current_thread")]
async fn a_nonce_is_told_to_its_author_alone() {
    let stage = RestStage::new().await;
    let path = format!("channels/{}/messages", stage.channel);
    stage.ask(stage.bot, "POST", &path, json!({ "content": "hello", "nonce": "mine" })).await;
    let read = stage.ask(stage.bot, "GET", &path, Value::Null).await.json();
    assert_eq!(read[0]["nonce"], "mine");
    let read = stage.ask(stage.moderator, "GET", &path, Value::Null).await.json();
    assert_eq!(read[0].get("nonce"), None);
}

/// Who would be pinged is what the poster allowed of whom the text names.
#[tokio::test(flavor = "current_thread")]
async fn only_those_are_pinged_whom_the_poster_allows() {
    let stage = RestStage::new().await;
    let path = format!("channels/{}/messages", stage.channel);
    let (owner, moderator) = (stage.owner, stage.moderator);
    let text = format!("@everyone <@{owner}> <@!{moderator}> <@&77777777777777777>");
    let role = RoleId::new(77_777_777_777_777_777);
    let cases: [(Value, bool, &[UserId], &[RoleId]); 6] = [
        (Value::Null, true, &[owner, moderator], &[role]),
        (json!({ "parse": [] }), false, &[], &[]),
        (json!({ "parse": ["users"] }), false, &[owner, moderator], &[]),
        (json!({ "parse": ["everyone", "roles"] }), true, &[], &[role]),
        (json!({ "parse": [], "users": [moderator.to_string()] }), false, &[moderator], &[]),
        (json!({ "parse": [], "users": ["5"], "roles": [role.to_string()] }), false, &[], &[role]),
    ];
    for (allowed, everyone, users, roles) in cases {
        let body = json!({ "content": text, "allowed_mentions": allowed });
        let answer = stage.ask(stage.bot, "POST", &path, body).await;
        let pings =
            stage.discord.channel(stage.channel).pings(MessageId::new(id(&answer))).unwrap();
        assert_eq!((pings.everyone, &pings.users[..], &pings.roles[..]), (everyone, users, roles));
        assert_eq!(answer.json()["mention_everyone"], everyone);
        assert_eq!(answer.json()["mentions"].as_array().unwrap().len(), users.len());
    }
    for wrong in [json!({ "parse": ["all"] }), json!({ "parse": ["users"], "users": ["5"] })] {
        let body = json!({ "content": text, "allowed_mentions": wrong });
        assert_eq!(stage.ask(stage.bot, "POST", &path, body).await.refusal(), (400, 50035));
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_reply_shows_what_it_answers() {
    let stage = RestStage::new().await;
    let path = format!("channels/{}/messages", stage.channel);
    let said = stage.discord.say(stage.channel, stage.owner, "a question").get();
    let reply = |fail: bool, to: u64, replied_user: bool| {
        json!({
            "content": "an answer",
            "allowed_mentions": { "parse": [], "replied_user": replied_user },
            "message_reference": { "message_id": to.to_string(), "fail_if_not_exists": fail },
        })
    };
    let answer = stage.ask(stage.bot, "POST", &path, reply(true, said, true)).await.json();
    assert_eq!(answer["type"], 19);
    assert_eq!(answer["message_reference"]["message_id"], said.to_string());
    assert_eq!(answer["referenced_message"]["content"], "a question");
    assert_eq!(answer["mentions"][0]["id"], stage.owner.to_string(), "whom it answers is pinged");
    let quiet = stage.ask(stage.bot, "POST", &path, reply(true, said, false)).await.json();
    assert_eq!(quiet["mentions"], json!([]));
    let lost = stage.ask(stage.bot, "POST", &path, reply(true, 77, false)).await;
    assert_eq!(lost.refusal(), (400, 50035));
    let orphan = stage.ask(stage.bot, "POST", &path, reply(false, 77, false)).await.json();
    assert_eq!((&orphan["type"], orphan.get("message_reference")), (&json!(0), None));
    stage.discord.channel(stage.channel).set_history_hidden(stage.bot, true);
    let blind = stage.ask(stage.bot, "POST", &path, reply(true, said, false)).await;
    assert_eq!(blind.refusal(), (400, 160_002));
}

#[tokio::test(flavor = "current_thread")]
async fn a_message_is_changed_and_deleted() {
    let stage = RestStage::new().await;
    let posted = stage.post("first").await;
    let path = format!("channels/{}/messages/{}", stage.channel, id(&posted));
    stage.clock.advance(SECOND);
    let changed = stage.ask(stage.bot, "PATCH", &path, json!({ "content": "second" })).await;
    assert_eq!((changed.status, &changed.json()["content"]), (200, &json!("second")));
    assert_eq!(changed.json()["edited_timestamp"], "2025-06-15T15:06:41.000000+00:00");
    assert_eq!(changed.json()["timestamp"], "2025-06-15T15:06:40.000000+00:00");
    let empty = stage.ask(stage.bot, "PATCH", &path, json!({ "content": "" })).await;
    assert_eq!(empty.refusal(), (400, 50006));
    assert_eq!(stage.get(&path).await.json()["content"], "second");
    let gone = stage.ask(stage.bot, "DELETE", &path, Value::Null).await;
    assert_eq!((gone.status, gone.text.as_str()), (204, ""));
    assert_eq!(stage.get(&path).await.refusal(), (404, 10008));
    let (one, two) = (id(&stage.post("one").await), id(&stage.post("two").await));
    stage.discord.guild(stage.guild).set_administrator(stage.moderator, true);
    let bulk = format!("channels/{}/messages/bulk-delete", stage.channel);
    let messages = json!({ "messages": [one.to_string(), two.to_string()] });
    assert_eq!(stage.ask(stage.moderator, "POST", &bulk, messages).await.status, 204);
    assert!(stage.discord.messages(stage.channel).is_empty());
}

/// Without the message-content intent others' texts are empty, over REST too.
#[tokio::test(flavor = "current_thread")]
async fn without_the_content_intent_texts_are_empty() {
    let stage = RestStage::new().await;
    stage.discord.account(stage.bot).set_content_hidden(true);
    stage.discord.say(stage.channel, stage.owner, "among ourselves");
    stage.discord.say(stage.channel, stage.owner, format!("<@{}> hello", stage.bot));
    stage
        .ask(
            stage.moderator,
            "POST",
            &format!("channels/{}/messages", stage.channel),
            json!({ "content": "of another bot" }),
        )
        .await;
    stage.post("my own").await;
    let page = stage.get(&format!("channels/{}/messages", stage.channel)).await.json();
    let contents: Vec<_> = page.as_array().unwrap().iter().map(|it| &it["content"]).collect();
    let named = json!(format!("<@{}> hello", stage.bot));
    assert_eq!(contents, [&json!("my own"), &json!(""), &named, &json!("")]);
}
