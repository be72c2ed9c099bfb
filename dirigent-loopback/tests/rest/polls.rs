//! Polls and stickers of bots, with Discord's limits.

use super::*;

#[tokio::test(flavor = "current_thread")]
async fn a_poll_is_seen_with_its_answers() {
    let stage = RestStage::new().await;
    let path = format!("channels/{}/messages", stage.channel);
    let answer = |text: &str| json!({ "poll_media": { "text": text, "emoji": { "name": "🛠" } } });
    let poll = json!({
        "question": { "text": "Tabs or spaces?" }, "answers": [answer("Tabs"), answer("Spaces")],
        "duration": 2, "allow_multiselect": true, "layout_type": 1,
    });
    let posted = stage.ask(stage.bot, "POST", &path, json!({ "poll": poll })).await.json();
    let poll = &posted["poll"];
    assert_eq!(poll["question"], json!({ "text": "Tabs or spaces?" }));
    assert_eq!(poll["answers"][1]["answer_id"], 2);
    assert_eq!(poll["answers"][1]["poll_media"]["text"], "Spaces");
    assert_eq!((&poll["allow_multiselect"], &poll["layout_type"]), (&json!(true), &json!(1)));
    assert_eq!(poll["results"], json!({ "answer_counts": [], "is_finalized": false }));
    let read = stage.ask(stage.moderator, "GET", &path, Value::Null).await.json();
    assert_eq!(read[0]["poll"], *poll);

    let poll = |question: &str, answers: &[&str], duration: u64| {
        let answers = answers.iter().map(|text| json!({ "poll_media": { "text": text } }));
        json!({ "question": { "text": question }, "answers": answers.collect::<Vec<_>>(), "duration": duration })
    };
    let (long, longer) = ("x".repeat(300), "x".repeat(301));
    for (poll, is_good) in [
        (poll(&long, &["a"; 10], 768), true),
        (poll(&longer, &["a"], 1), false),
        (poll("", &["a"], 1), false),
        (poll("q", &["a"; 11], 1), false),
        (poll("q", &[], 1), false),
        (poll("q", &[&long[..55]], 1), true),
        (poll("q", &[&long[..56]], 1), false),
        (poll("q", &["a"], 769), false),
        (json!({ "question": {} }), false),
    ] {
        let answer = stage.ask(stage.bot, "POST", &path, json!({ "poll": poll })).await;
        assert_eq!(answer.status, if is_good { 200 } else { 400 }, "{poll} {}", answer.text);
        assert!(is_good || answer.code() == 50035, "{}", answer.text);
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_bot_sends_stickers_that_are_there() {
    let stage = RestStage::new().await;
    let path = format!("channels/{}/messages", stage.channel);
    let cat = stage.loopback.add_sticker("cat").to_string();
    let send = |ids: Value| stage.ask(stage.bot, "POST", &path, json!({ "sticker_ids": ids }));
    let posted = send(json!([cat])).await.json();
    let item = json!([{ "id": cat, "name": "cat", "format_type": 1 }]);
    assert_eq!((&posted["sticker_items"], &posted["content"]), (&item, &json!("")));
    assert_eq!(send(json!(["7"])).await.refusal(), (404, 10060));
    assert_eq!(send(json!([cat, cat, cat, cat])).await.refusal(), (400, 50035));
    assert_eq!(send(json!([])).await.refusal(), (400, 50006));
}
