//! Requests and answers that a test changes on their way.

use dirigent_loopback::RestRoute;

use super::*;

#[tokio::test]
async fn a_request_is_carried_out_as_it_was_changed() {
    let stage = RestStage::new().await;
    let bot = stage.bot;
    stage.loopback.alter().requests(move |request| {
        if request.endpoint == RestRoute::CreateMessage && request.account == Some(bot) {
            request.body["content"] =
                format!("{}!", request.body["content"].as_str().unwrap()).into();
        }
    });
    stage.loopback.alter().requests(|request| {
        request.query.insert("limit".to_owned(), "1".to_owned());
        if let Some(text) = request.body["content"].as_str() {
            request.body["content"] = text.to_uppercase().into();
        }
    });
    for _ in 0..2 {
        assert_eq!(stage.post("hello").await.json()["content"], "HELLO!", "in their order");
    }
    let path = format!("channels/{}/messages", stage.channel);
    assert_eq!(stage.get(&path).await.ids().len(), 1);
    let by_another = stage.ask(stage.moderator, "POST", &path, json!({ "content": "x" })).await;
    assert_eq!(by_another.json()["content"], "X");
}

#[tokio::test]
async fn an_answer_is_sent_as_it_was_changed_and_kept_account_of_as_it_was() {
    let stage = RestStage::new().await;
    stage.loopback.alter().answers(|answer| {
        if answer.endpoint == RestRoute::CreateMessage {
            answer.status = 403;
            answer.body = json!({ "code": 50001 });
            answer.headers.retain(|name, _| !name.starts_with("x-ratelimit-"));
            answer.headers.insert("x-more".to_owned(), "yes".to_owned());
        }
        if answer.endpoint == RestRoute::TriggerTyping {
            (answer.status, answer.body) = (400, json!({ "code": 7 }));
        }
        if answer.endpoint == RestRoute::GetCurrentUser {
            answer.body = Value::Null;
        }
    });
    let answer = stage.post("hello").await;
    assert_eq!(answer.refusal(), (403, 50001));
    assert_eq!((answer.header("x-ratelimit-limit"), answer.header("x-more")), (None, Some("yes")));
    assert_eq!(stage.discord.messages(stage.channel).len(), 1, "it was posted");
    assert_eq!(stage.loopback.traffic().answered(RestRoute::CreateMessage, 200), 1);
    let typing = format!("channels/{}/typing", stage.channel);
    let answer = stage.ask(stage.bot, "POST", &typing, Value::Null).await;
    assert_eq!(answer.refusal(), (400, 7));
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(stage.get("users/@me").await.text, "");
    let channel = stage.get(&format!("channels/{}", stage.channel)).await;
    assert!(channel.header("x-ratelimit-limit").is_some(), "others are as before");
}
