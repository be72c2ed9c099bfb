//! Embeds: what is kept, what is too much, and who may.

use dirigent_testkit::memory_discord::Permissions;

use super::*;

fn path(stage: &RestStage) -> String {
    format!("channels/{}/messages", stage.channel)
}

#[tokio::test(flavor = "current_thread")]
async fn an_embed_comes_back_as_it_was_posted_and_can_be_changed() {
    let stage = RestStage::new().await;
    let embed = json!({
        "title": "Report", "description": "All is well.", "url": "https://example.invalid/report",
        "color": 0x33_66_99, "timestamp": "2025-06-15T12:00:00.000Z",
        "footer": { "text": "end", "icon_url": "https://example.invalid/end.png" },
        "image": { "url": "https://example.invalid/picture.png" },
        "author": { "name": "moderator" },
        "fields": [{ "name": "one", "value": "1", "inline": true }, { "name": "two", "value": "2" }],
    });
    let posted = stage.ask(stage.bot, "POST", &path(&stage), json!({ "embeds": [embed] })).await;
    assert_eq!(posted.status, 200, "{}", posted.text);
    let posted = posted.json();
    assert_eq!((&posted["content"], &posted["embeds"][0]["type"]), (&json!(""), &json!("rich")));
    for field in ["title", "description", "url", "color", "timestamp", "author"] {
        assert_eq!(posted["embeds"][0][field], embed[field], "{field}");
    }
    assert_eq!(posted["embeds"][0]["fields"][1]["inline"], false);
    let picture = &posted["embeds"][0]["image"];
    assert_eq!(
        (&picture["url"], &picture["proxy_url"]),
        (&embed["image"]["url"], &embed["image"]["url"])
    );

    let message = format!("{}/{}", path(&stage), posted["id"].as_str().unwrap());
    let change = json!({ "embeds": [{ "title": "Later" }] });
    let changed = stage.ask(stage.bot, "PATCH", &message, change).await.json();
    assert_eq!(changed["embeds"], json!([{ "title": "Later", "type": "rich" }]));
    assert_ne!(changed["edited_timestamp"], Value::Null);
    let read = stage.ask(stage.moderator, "GET", &message, Value::Null).await.json();
    assert_eq!(read["embeds"], changed["embeds"]);
    let emptied = stage.ask(stage.bot, "PATCH", &message, json!({ "embeds": [] })).await;
    assert_eq!(emptied.refusal(), (400, 50006), "nothing would be left");
    let text = json!({ "content": "a text instead", "embeds": [] });
    let changed = stage.ask(stage.bot, "PATCH", &message, text).await.json();
    assert_eq!((&changed["content"], &changed["embeds"]), (&json!("a text instead"), &json!([])));
}

#[tokio::test(flavor = "current_thread")]
async fn an_embed_beyond_a_limit_is_refused_with_the_name_of_its_field() {
    let stage = RestStage::new().await;
    let long = |length: usize| "x".repeat(length);
    let field = json!({ "name": "n", "value": "v" });
    let cases = [
        (json!(vec![json!({ "title": "t" }); 11]), "/embeds/_errors/0/code"),
        (json!([{ "title": long(257) }]), "/embeds/0/title/_errors/0/code"),
        (json!([{ "description": long(4_097) }]), "/embeds/0/description/_errors/0/code"),
        (json!([{ "title": "t" }, {}]), "/embeds/1/description/_errors/0/code"),
        (json!([{ "footer": { "text": long(2_049) } }]), "/embeds/0/footer/text/_errors/0/code"),
        (json!([{ "author": { "name": long(257) } }]), "/embeds/0/author/name/_errors/0/code"),
        (json!([{ "fields": vec![field; 26] }]), "/embeds/0/fields/_errors/0/code"),
        (
            json!([{ "fields": [{ "name": "n", "value": long(1_025) }] }]),
            "/embeds/0/fields/0/value/_errors/0/code",
        ),
        (json!([{ "fields": [{ "name": "n" }] }]), "/embeds/0/fields/0/value/_errors/0/code"),
        (json!([{ "color": 0x100_0000 }]), "/embeds/0/color/_errors/0/code"),
        (json!([{ "url": "example" }]), "/embeds/0/url/_errors/0/code"),
        (json!([{ "timestamp": "noon" }]), "/embeds/0/timestamp/_errors/0/code"),
        (
            json!([{ "description": long(4_000) }, { "description": long(2_001) }]),
            "/embeds/_errors/0/code",
        ),
    ];
    for (embeds, place) in cases {
        let answer = stage.ask(stage.bot, "POST", &path(&stage), json!({ "embeds": embeds })).await;
        assert_eq!(answer.refusal(), (400, 50035), "{place}");
        let errors = &answer.json()["errors"];
        assert!(errors.pointer(place).is_some_and(Value::is_string), "{place}: {errors}");
    }
    let allowed =
        json!({ "embeds": [{ "description": long(4_000) }, { "description": long(2_000) }] });
    assert_eq!(stage.ask(stage.bot, "POST", &path(&stage), allowed).await.status, 200);
    let poll = json!({ "embeds": [{ "title": "t", "surprise": 1 }] });
    assert_eq!(stage.ask(stage.bot, "POST", &path(&stage), poll).await.status, 501);
}

#[tokio::test(flavor = "current_thread")]
async fn an_embed_takes_the_right_to_embed_links() {
    let stage = RestStage::new().await;
    let channel = stage.discord.channel(stage.channel);
    channel.set_member_overwrite(stage.bot, Permissions::TALK, Permissions::EMBED_LINKS);
    let body = json!({ "content": "look", "embeds": [{ "title": "t" }] });
    let refused = stage.ask(stage.bot, "POST", &path(&stage), body).await;
    assert_eq!(refused.refusal(), (403, 50013));
    assert_eq!(stage.post("only a text").await.status, 200);
}

/// Embeds and files are content too.
#[tokio::test(flavor = "current_thread")]
async fn without_the_content_intent_embeds_are_hidden() {
    let stage = RestStage::new().await;
    let body = json!({ "embeds": [{ "title": "t" }] });
    stage.ask(stage.moderator, "POST", &path(&stage), body).await;
    assert_eq!(stage.get(&path(&stage)).await.json()[0]["embeds"].as_array().unwrap().len(), 1);
    stage.discord.account(stage.bot).set_content_hidden(true);
    assert_eq!(stage.get(&path(&stage)).await.json()[0]["embeds"], json!([]));
}
