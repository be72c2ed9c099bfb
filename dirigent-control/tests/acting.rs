//! What an operator does about what needs a person: results that could not be delivered, a chosen agent, a text of one's own.

use dirigent::ChannelId;
use dirigent_testkit::memory_discord::{Call, Fault, Permissions};
use http::StatusCode;
use serde_json::{Value, json};

use crate::fixture::{Answer, Fixture, OPERATOR, VIEWER};

const GUIDE: &str = "Which plan?";

async fn form(fixture: &Fixture, channel: ChannelId, form: String) -> Answer {
    let path = format!("/dirigent/channels/{channel}");
    fixture.form(&path, OPERATOR, &form).await
}

/// A discussion whose result was given up.
async fn undelivered(fixture: &Fixture) -> ChannelId {
    let callback = fixture.room("callback");
    let talk = fixture.discussion(callback, GUIDE).await;
    let initiator = fixture.dirigent.channel(talk).discussion().await.unwrap().unwrap().initiator;
    fixture.until(talk, |status| status.speaker.clone()).await;
    fixture.discord.channel(callback).delete();
    fixture.dirigent.channel(talk).conclude(&initiator.unwrap(), None).await.unwrap();
    fixture.until(talk, |status| (status.given_up == 1).then_some(())).await;
    talk
}

async fn look(fixture: &Fixture, channel: ChannelId) -> Value {
    fixture.get(&format!("/dirigent/api/channels/{channel}"), VIEWER).await.json()
}

/// PG10: a result that could not be delivered is shown with its text, and is tried again; a viewer reads it and does nothing.
#[tokio::test]
async fn a_result_that_could_not_be_delivered_is_shown_and_tried_again() {
    let fixture = Fixture::open().await;
    fixture.room("den");
    let talk = undelivered(&fixture).await;
    let told = look(&fixture, talk).await;
    let post = &told["discussion"]["outbox"][0];
    assert!(post["text"].as_str().unwrap().contains(&format!("<#{talk}>")), "{told}");
    assert_eq!((&post["state"], &post["what"]), (&"given-up".into(), &"result".into()));
    let path = format!("/dirigent/channels/{talk}");
    let (seen, steered) =
        (fixture.page(&path, VIEWER).await.text, fixture.page(&path, OPERATOR).await.text);
    let text = format!("&#60;#{talk}&#62;");
    assert!(seen.contains(&text) && steered.contains(&text), "{seen}");
    for button in ["value=\"retry-posts\"", "value=\"dismiss-result\"", "value=\"send-result\""] {
        assert!(steered.contains(button) && !seen.contains(button), "{button}");
    }
    let before = fixture.discord.calls();
    let retried = fixture.order(talk, OPERATOR, &json!({ "order": "retry-posts" })).await;
    assert_eq!(retried.status, StatusCode::OK, "{}", retried.text);
    fixture.until(talk, |status| (status.given_up == 1).then_some(())).await;
    let since = fixture.discord.calls().since(&before);
    assert!(
        since.of(Call::Post) + since.of(Call::History) > 0,
        "it was tried, and the channel is still gone"
    );
}

/// PG10: before a result is sent to another channel of the guild, a question names who can read there; it is never sent to another guild.
#[tokio::test]
async fn a_result_is_sent_elsewhere_after_a_question_that_names_who_can_read_there() {
    let fixture = Fixture::open().await;
    let [poet, _] = fixture.accounts;
    let guest = fixture.discord.add_human();
    let members = [fixture.moderator, poet, guest];
    let den = fixture.discord.add_channel(fixture.guild, "den", &members);
    fixture.discord.account(guest).set_name("Anna");
    fixture.discord.account(fixture.person).set_name("Olga");
    let friends = fixture.discord.guild(fixture.guild).add_role("friends", Permissions::NONE);
    let sight = Permissions::VIEW_CHANNEL;
    fixture.discord.channel(den).set_role_overwrite(friends, sight, Permissions::NONE);
    let plaza = fixture.discord.add_open_channel(fixture.guild, "plaza");
    fixture.discord.add_open_channel(fixture.guild, "arena");
    let other = fixture.discord.add_guild(fixture.person);
    fixture.discord.guild(other).add_member(fixture.moderator);
    fixture.discord.guild(other).set_administrator(fixture.moderator, true);
    let abroad = fixture.discord.add_channel(other, "abroad", &[fixture.moderator]);
    let talk = undelivered(&fixture).await;
    let page = fixture.page(&format!("/dirigent/channels/{talk}"), OPERATOR).await.text;
    assert!(
        page.contains("<a href=\"#facts\">Send it elsewhere, try again, or dismiss it</a>"),
        "{page}"
    );
    let targets = page.split("id=\"send-to\"").nth(1).unwrap().split("</select>").next().unwrap();
    let labels = targets
        .split("<option value=\"")
        .skip(2)
        .map(|option| option.split('>').nth(1).unwrap().split('<').next().unwrap().to_owned());
    assert_eq!(labels.collect::<Vec<_>>(), ["arena", "den", "plaza"], "by name, and none abroad");

    let send = |to: ChannelId| format!("order=send-result&to={to}");
    let question = form(&fixture, talk, send(den)).await.text;
    let private = "to den? Who can read it there: Poet, everyone with the role administrators, everyone with the role friends, Olga and Anna.";
    assert!(question.contains(private), "{question}");
    let asked = form(&fixture, talk, send(plaza)).await.text;
    assert!(asked.contains("to plaza? Who can read it there: everyone in "), "{asked}");
    assert!(fixture.discord.messages(den).is_empty() && fixture.discord.messages(plaza).is_empty());
    for sent in [
        form(&fixture, talk, format!("{}&sure=yes", send(abroad))).await,
        fixture
            .order(talk, OPERATOR, &json!({ "order": "send-result", "to": abroad.to_string() }))
            .await,
        fixture
            .order(talk, OPERATOR, &json!({ "order": "send-result", "to": talk.to_string() }))
            .await,
    ] {
        assert_eq!(sent.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", sent.text);
    }
    let done = form(&fixture, talk, format!("{}&sure=yes", send(den))).await;
    assert_eq!(done.status, StatusCode::SEE_OTHER, "{}", done.text);
    loop {
        if look(&fixture, talk).await["discussion"]["outbox"] == json!([]) {
            break;
        }
        tokio::task::yield_now().await;
    }
    let there = fixture.discord.messages(den);
    assert!(there.len() == 1 && there[0].content.contains(&format!("<#{talk}>")), "{there:?}");
    assert!(fixture.discord.messages(abroad).is_empty());
    assert_eq!(look(&fixture, talk).await["channel"]["needsPerson"], Value::Null);
    let again = fixture
        .order(talk, OPERATOR, &json!({ "order": "send-result", "to": den.to_string() }))
        .await;
    assert_eq!(again.status, StatusCode::CONFLICT, "there is none any more: {}", again.text);
}

/// PG10: the log has where a result was to go, also where that was refused.
#[tokio::test]
async fn where_a_result_was_to_go_stands_in_the_log_of_orders() {
    let fixture = Fixture::open().await;
    let den = fixture.room("den");
    let other = fixture.discord.add_guild(fixture.person);
    fixture.discord.guild(other).add_member(fixture.moderator);
    fixture.discord.guild(other).set_administrator(fixture.moderator, true);
    let abroad = fixture.discord.add_channel(other, "abroad", &[fixture.moderator]);
    let talk = undelivered(&fixture).await;
    let order = json!({ "order": "send-result", "to": abroad.to_string() });
    for refused in [
        form(&fixture, talk, format!("order=send-result&to={abroad}")).await,
        form(&fixture, talk, format!("order=send-result&to={abroad}&sure=yes")).await,
        fixture.order(talk, OPERATOR, &order).await,
    ] {
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", refused.text);
    }
    let done = form(&fixture, talk, format!("order=send-result&to={den}&sure=yes")).await;
    assert_eq!(done.status, StatusCode::SEE_OTHER, "{}", done.text);
    let logged = fixture.get("/dirigent/api/orders", VIEWER).await.json();
    let told = logged["orders"].as_array().unwrap().iter().map(|order| {
        assert_eq!((&order["order"], &order["by"]), (&"send-result".into(), &"operator".into()));
        assert_eq!(order["channel"], talk.to_string());
        (order["to"].as_str().unwrap().to_owned(), order["refused"].as_str().map(str::to_owned))
    });
    let refused = (abroad.to_string(), Some("other-guild".to_owned()));
    let expected = [(den.to_string(), None), refused.clone(), refused.clone(), refused];
    assert_eq!(told.collect::<Vec<_>>(), expected);
    let page = fixture.page("/dirigent/orders", VIEWER).await.text;
    for part in ["send-result to den<", "send-result to abroad<", "refused, other-guild"] {
        assert!(page.contains(part), "{part}: {page}");
    }
}

/// PG10: a result is dismissed after a question, and the channel needs no person any more.
#[tokio::test]
async fn a_result_is_dismissed_after_a_question() {
    let fixture = Fixture::open().await;
    let talk = undelivered(&fixture).await;
    let asked = form(&fixture, talk, "order=dismiss-result".to_owned()).await;
    assert!(asked.text.contains("Dismiss the result of talk?"), "{}", asked.text);
    assert_eq!(look(&fixture, talk).await["discussion"]["outbox"].as_array().unwrap().len(), 1);
    let done = form(&fixture, talk, "order=dismiss-result&sure=yes".to_owned()).await;
    assert_eq!(done.status, StatusCode::SEE_OTHER, "{}", done.text);
    let told = look(&fixture, talk).await;
    assert_eq!(
        (&told["discussion"]["outbox"], &told["channel"]["needsPerson"]),
        (&json!([]), &Value::Null)
    );
    assert_eq!(told["given"][0]["order"], "dismiss-result");
}

/// PG10: a channel is woken with the agent that was chosen.
#[tokio::test]
async fn a_channel_is_woken_with_the_agent_that_was_chosen() {
    for agent in ["poet", "critic"] {
        let fixture = Fixture::open().await;
        let channel = fixture.chat("den").await;
        let page = fixture.page(&format!("/dirigent/channels/{channel}"), OPERATOR).await.text;
        let offered =
            page.split("id=\"wake-first\"").nth(1).unwrap().split("</select>").next().unwrap();
        assert!(
            offered.contains("value=\"poet\"") && offered.contains("value=\"critic\""),
            "{offered}"
        );
        let woken = form(&fixture, channel, format!("order=wake&first={agent}")).await;
        assert_eq!(woken.status, StatusCode::SEE_OTHER, "{}", woken.text);
        let speaker = fixture.until(channel, |status| status.speaker.clone()).await;
        assert_eq!(speaker.as_str(), agent);
    }
}

/// Without a script the text is in the page only: a refusal that took its place would lose it.
#[tokio::test]
async fn a_text_that_is_refused_comes_back_with_the_refusal() {
    let fixture = Fixture::open().await;
    let channel = fixture.chat("den").await;
    let path = format!("/dirigent/channels/{channel}");
    let text = "We are on it\n<b>soon</b>";
    let body: String = form_urlencoded::Serializer::new(String::new())
        .append_pair("order", "post")
        .append_pair("text", text)
        .finish();
    fixture
        .discord
        .inject(|faults| faults.next_by(fixture.moderator, Call::Post, Fault::Forbidden));
    let refused = form(&fixture, channel, body.clone()).await;
    assert_eq!(refused.status, StatusCode::BAD_GATEWAY);
    let field = refused.text.split("<textarea").nth(1).unwrap().split("</textarea>").next();
    assert!(field.unwrap().ends_with(">\nWe are on it\n&#60;b&#62;soon&#60;/b&#62;"), "{field:?}");
    assert!(refused.text.contains("Nothing was posted"), "{}", refused.text);
    assert!(refused.text.contains(&format!("action=\"{path}\"")), "{}", refused.text);
    let script = fixture.send_form(&path, VIEWER, &body, "application/json").await;
    assert_eq!(script.status, StatusCode::FORBIDDEN);
    let sent = form(&fixture, channel, body).await;
    assert_eq!(sent.status, StatusCode::SEE_OTHER, "the same form is sent again: {}", sent.text);
    assert_eq!(&*fixture.discord.messages(channel)[0].content, text);
}

/// PG10: what is posted as the moderator pings no account and wakes no agent, and the log has who posted, and not what.
#[tokio::test]
async fn a_text_is_posted_as_the_moderator_without_a_ping_and_logged_without_its_words() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("orders.jsonl");
    let file = dirigent_control::OrderFile::open(&path).unwrap();
    let fixture = Fixture::open_with(|builder| builder.order_log(file)).await;
    let channel = fixture.chat("den").await;
    let secret = format!("@everyone <@{}> we are on it", fixture.person);
    let body: String = form_urlencoded::Serializer::new(String::new())
        .append_pair("order", "post")
        .append_pair("text", &format!("  {secret}\r\nsoon "))
        .finish();
    let posted = form(&fixture, channel, body).await;
    assert_eq!(posted.status, StatusCode::SEE_OTHER, "{}", posted.text);
    let messages = fixture.discord.messages(channel);
    let [message] = &messages[..] else { panic!("{messages:?}") };
    assert_eq!(
        (&*message.content, message.author),
        (&*format!("{secret}\nsoon"), fixture.moderator)
    );
    let pings = fixture.discord.channel(channel).pings(message.id).unwrap();
    assert_eq!(pings, dirigent_testkit::memory_discord::pings::Pings::default());
    assert_eq!(fixture.dirigent.channel(channel).status().await.unwrap().unwrap().speaker, None);

    let logged = fixture.get("/dirigent/api/orders", VIEWER).await.text;
    let file = std::fs::read_to_string(&path).unwrap();
    assert!(logged.contains("\"post\"") && file.contains("\"post\""), "{logged}");
    assert!(!logged.contains("on it") && !file.contains("on it"), "{logged}{file}");
    let order: dirigent_control::Order =
        serde_json::from_value(json!({ "order": "post", "text": secret })).unwrap();
    assert!(!format!("{order:?}").contains("on it"));

    let post = |text: String| json!({ "order": "post", "text": text });
    for twice in ["same", "same"] {
        assert_eq!(
            fixture.order(channel, OPERATOR, &post(twice.to_owned())).await.status,
            StatusCode::OK
        );
    }
    assert_eq!(fixture.discord.messages(channel).len(), 3, "each is a message of its own");
    for bad in [" \n ".to_owned(), "é".repeat(2_001)] {
        assert_eq!(
            fixture.order(channel, OPERATOR, &post(bad)).await.status,
            StatusCode::UNPROCESSABLE_ENTITY
        );
    }
    assert_eq!(
        fixture.order(channel, VIEWER, &post("x".to_owned())).await.status,
        StatusCode::FORBIDDEN
    );
    let unknown = fixture.discord.add_open_channel(fixture.guild, "plaza");
    assert_eq!(
        fixture.order(unknown, OPERATOR, &post("x".to_owned())).await.status,
        StatusCode::NOT_FOUND
    );
    assert_eq!(
        fixture.discord.messages(channel).len() + fixture.discord.messages(unknown).len(),
        3
    );
    for (fault, kind) in [(Fault::Forbidden, "not-posted"), (Fault::LostAnswer, "post-in-doubt")] {
        fixture.discord.inject(|faults| faults.next_by(fixture.moderator, Call::Post, fault));
        let failed = fixture.order(channel, OPERATOR, &post("again".to_owned())).await;
        assert!(failed.text.contains(kind) && !failed.status.is_success(), "{}", failed.text);
    }
}
