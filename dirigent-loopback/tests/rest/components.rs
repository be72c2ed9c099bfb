//! Components: shown with a message, and held to Discord's limits.

use super::*;

const V2: u64 = 1 << 15;

fn button(id: &str) -> Value {
    json!({ "type": 2, "style": 1, "label": "press", "custom_id": id })
}

fn row(components: &[Value]) -> Value {
    json!({ "type": 1, "components": components })
}

fn text(content: &str) -> Value {
    json!({ "type": 10, "content": content })
}

#[tokio::test(flavor = "current_thread")]
async fn a_message_of_components_is_seen_by_others_as_it_was_posted() {
    let stage = RestStage::new().await;
    let path = format!("channels/{}/messages", stage.channel);
    let body = json!({ "flags": V2, "components": [
        text("# Deploy"),
        { "type": 17, "accent_color": 255, "components": [
            { "type": 9, "components": [text("all green")],
              "accessory": { "type": 11, "media": { "url": "https://example.invalid/a.png" } } },
            { "type": 14 },
            row(&[button("again")]),
        ] },
    ] });
    let posted = stage.ask(stage.bot, "POST", &path, body).await.json();
    assert_eq!((&posted["content"], &posted["flags"]), (&json!(""), &json!(V2)));
    let components = &posted["components"];
    assert_eq!((&components[0]["content"], &components[0]["id"]), (&json!("# Deploy"), &json!(1)));
    let container = &components[1];
    assert_eq!((&container["accent_color"], &container["spoiler"]), (&json!(255), &json!(false)));
    let section = &container["components"][0];
    assert_eq!(section["components"][0]["content"], "all green");
    assert_eq!(section["accessory"]["media"]["proxy_url"], "https://example.invalid/a.png");
    assert_eq!(container["components"][1]["divider"], true);
    let read = stage.ask(stage.moderator, "GET", &path, Value::Null).await.json();
    assert_eq!(read[0]["components"], *components);

    let message = format!("{path}/{}", posted["id"].as_str().unwrap());
    let changed = json!({ "flags": 0, "components": [text("done")] });
    let changed = stage.ask(stage.bot, "PATCH", &message, changed).await.json();
    assert_eq!(changed["components"][0]["content"], "done");
    assert_eq!(changed["flags"], V2, "the flag stays");
    for legacy in [json!({ "content": "text" }), json!({ "embeds": [{ "title": "title" }] })] {
        let refused = stage.ask(stage.bot, "PATCH", &message, legacy).await;
        assert_eq!(refused.refusal(), (400, 50035));
    }
    let nothing = stage.ask(stage.bot, "PATCH", &message, json!({ "components": [] })).await;
    assert_eq!(nothing.refusal(), (400, 50006));
}

#[tokio::test(flavor = "current_thread")]
async fn components_have_limits() {
    let stage = RestStage::new().await;
    let path = format!("channels/{}/messages", stage.channel);
    let many = |count: usize| (0..count).map(|_| text("x")).collect::<Vec<_>>();
    let buttons =
        |count: u64| row(&(0..count).map(|it| button(&it.to_string())).collect::<Vec<_>>());
    let container = |inner: Vec<Value>| json!({ "type": 17, "components": inner });
    for (flags, components, is_good) in [
        (V2, json!(many(40)), true),
        (V2, json!(many(41)), false),
        (V2, json!([container(many(39))]), true),
        (V2, json!([container(many(39)), text("x")]), false),
        (V2, json!([text(&"x".repeat(4_000))]), true),
        (V2, json!([text(&"x".repeat(4_000)), text("x")]), false),
        (V2, json!([text("")]), false),
        (V2, json!([{ "type": 10 }]), false),
        (V2, json!([container(vec![container(many(1))])]), false),
        (V2, json!([button("alone")]), false),
        (V2, json!([{ "type": 9, "components": many(1) }]), false),
        (V2, json!([{ "type": 12, "items": [] }]), false),
        (V2, json!([{ "type": 13, "file": { "url": "ftp://example.invalid" } }]), false),
        (V2, json!([{ "type": 4, "custom_id": "of a modal" }]), false),
        (0, json!([buttons(5)]), true),
        (0, json!([buttons(6)]), false),
        (0, json!([row(&[button("a"), button("a")])]), false),
        (0, json!([row(&[json!({ "type": 2, "style": 5, "label": "no address" })])]), false),
        (0, json!([row(&[json!({ "type": 5, "custom_id": "who" })])]), true),
        (0, json!([row(&[json!({ "type": 5, "custom_id": "who" }), button("a")])]), false),
        (0, json!([text("without the flag")]), false),
        (0, json!((0..6).map(|it| row(&[button(&it.to_string())])).collect::<Vec<_>>()), false),
    ] {
        let body = json!({ "flags": flags, "components": components });
        let answer = stage.ask(stage.bot, "POST", &path, body.clone()).await;
        assert_eq!(answer.status, if is_good { 200 } else { 400 }, "{body} {}", answer.text);
        assert!(is_good || answer.code() == 50035, "{}", answer.text);
    }
    let both = json!({ "flags": V2, "content": "and a text", "components": many(1) });
    assert_eq!(stage.ask(stage.bot, "POST", &path, both).await.refusal(), (400, 50035));
}
