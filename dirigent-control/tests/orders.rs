//! Who tells channels what, one or many, and the log of that.

use std::path::Path;
use std::sync::Arc;

use axum::body::Body;
use dirigent::ports::{ApiError, ErrorKind, GuildApi, Identity, RegisterError};
use dirigent::snapshot::Pause;
use dirigent::{AgentId, IdentityStore, MemoryIdentities};
use dirigent_control::{Control, OrderFile};
use http::{Method, StatusCode, header};
use serde_json::{Value, json};

use crate::fixture::{Answer, Fixture, OPERATOR, VIEWER, request};

const ANNA: &str = "the token of anna";

async fn form(fixture: &Fixture, path: &str, form: &str) -> Answer {
    fixture.form(path, ANNA, form).await
}

/// A page with the operator Anna, which keeps its log of orders in this file.
async fn with_log(path: &Path) -> Fixture {
    let file = OrderFile::open(path).unwrap();
    Fixture::open_with(|builder| builder.operator("anna", ANNA).order_log(file)).await
}

async fn rest(fixture: &Fixture, channel: dirigent::ChannelId) -> Option<Pause> {
    fixture.dirigent.channel(channel).status().await.unwrap().unwrap().rest
}

/// PG10: the log tells who, when, to which channel, about which agent or mode, and why; and it outlasts the process.
#[tokio::test]
async fn the_log_of_orders_tells_who_what_and_why_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("orders.jsonl");
    let fixture = with_log(&path).await;
    let channel = fixture.chat("den").await;
    let mute = json!({ "order": "mute", "agent": "poet" });
    fixture.order(channel, ANNA, &mute).await;
    fixture.order(channel, OPERATOR, &json!({ "order": "set-mode", "mode": "work" })).await;
    let stopped = form(
        &fixture,
        &format!("/dirigent/channels/{channel}"),
        "order=stop&reason=It+repeats+%3Cb%3Eitself",
    )
    .await;
    assert_eq!(stopped.status, StatusCode::SEE_OTHER, "{}", stopped.text);
    let told = |look: &Value| {
        let of = |name: &str| look[name].as_str().unwrap_or_default().to_owned();
        ["order", "by", "agent", "mode", "reason", "refused"].map(of)
    };
    let expected = [
        ["stop", "anna", "", "", "It repeats <b>itself", ""],
        ["set-mode", "operator", "", "work", "", "creation-only"],
        ["mute", "anna", "Poet", "", "", ""],
    ];
    let page = fixture.page(&format!("/dirigent/channels/{channel}"), VIEWER).await.text;
    let reason = "<q><bdi>It repeats &#60;b&#62;itself</bdi></q>";
    let state = page.split("id=\"state\"").nth(1).unwrap().split("id=\"orders\"").next().unwrap();
    assert!(state.contains("By anna") && state.contains(reason), "{state}");
    drop(fixture);

    // A crash cut the newest line short.
    let mut text = std::fs::read_to_string(&path).unwrap();
    text.push_str("{\"channel\":\"1");
    std::fs::write(&path, text).unwrap();
    let again = with_log(&path).await;
    let orders = again.get("/dirigent/api/orders", VIEWER).await.json()["orders"].clone();
    let orders = orders.as_array().unwrap();
    assert_eq!(orders.iter().map(told).collect::<Vec<_>>(), expected);
    assert!(orders.iter().all(|order| order["channel"] == channel.to_string()));
    assert!(orders.iter().all(|order| order["at"].as_u64() > Some(1_700_000_000_000)));
    let other = again.chat("another").await;
    again.order(other, ANNA, &json!({ "order": "hold", "reason": "lunch" })).await;
    let page = again.page("/dirigent/orders", VIEWER).await.text;
    for part in [
        "mute Poet",
        "set-mode work",
        "refused, creation-only",
        "lunch",
        "anna",
        reason.split("bdi>").nth(1).unwrap().trim_end_matches("</"),
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let lines = std::fs::read_to_string(&path).unwrap();
    let whole = lines.lines().filter(|line| serde_json::from_str::<Value>(line).is_ok()).count();
    assert_eq!(whole, 4, "{lines}");
}

struct ByHeader;

#[dirigent::async_trait]
impl dirigent_control::Check for ByHeader {
    async fn role(&self, _: &http::request::Parts) -> Option<dirigent_control::VisitorRole> {
        Some(dirigent_control::VisitorRole::Operator)
    }

    async fn name(&self, request: &http::request::Parts) -> Option<String> {
        Some(request.headers.get("x-user")?.to_str().ok()?.to_owned())
    }
}

/// PG10
#[tokio::test]
async fn a_hosts_own_check_names_who_gave_an_order() {
    let fixture = Fixture::open_with(|builder| builder.check(ByHeader)).await;
    let channel = fixture.chat("den").await;
    for (user, by) in [("ben@example.org", "ben@example.org"), ("", "operator")] {
        let path = format!("/dirigent/api/channels/{channel}/orders");
        let mut asked =
            request(Method::POST, &path, "", Body::from(r#"{"order":"mute","agent":"poet"}"#));
        asked.headers_mut().insert(header::CONTENT_TYPE, "application/json".parse().unwrap());
        asked.headers_mut().insert("x-user", user.parse().unwrap());
        assert_eq!(fixture.ask(asked).await.status, StatusCode::OK);
        let orders = fixture.get("/dirigent/api/orders", VIEWER).await.json();
        assert_eq!(orders["orders"][0]["by"], by);
    }
}

/// PG10: a reason is one line of at most 200 characters.
#[tokio::test]
async fn a_reason_is_one_short_line() {
    let fixture = Fixture::open().await;
    let channel = fixture.chat("den").await;
    let order = async |reason: String| {
        fixture.order(channel, OPERATOR, &json!({ "order": "stop", "reason": reason })).await.status
    };
    assert_eq!(order("é".repeat(201)).await, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(rest(&fixture, channel).await, None, "nothing was done");
    assert_eq!(order(format!("a\n\t b{}", "é".repeat(197))).await, StatusCode::OK);
    let newest = async || {
        let orders = fixture.get("/dirigent/api/orders", VIEWER).await.json();
        orders["orders"][0]["reason"].clone()
    };
    assert!(newest().await.as_str().unwrap().starts_with("a b"));
    assert_eq!(order("\u{200B} \u{2060}\u{3164}".to_owned()).await, StatusCode::OK);
    assert_eq!(newest().await, Value::Null, "nothing is seen of it");
    let bell = json!({ "order": "stop", "reason": "a\u{7}b" });
    let told = fixture.order(channel, OPERATOR, &bell).await.json();
    assert_eq!(told["detail"], "a reason must have no control characters");
}

/// PG10: who adds, changes, deletes and scans agents stands in the log, and what was refused.
#[tokio::test]
async fn changes_of_the_registry_stand_in_the_log_of_orders() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("orders.jsonl");
    let fixture = with_log(&path).await;
    let [poet, _] = fixture.accounts;
    let spare = fixture.discord.add_bot();
    fixture.discord.guild(fixture.guild).add_member(spare);
    let at = "/dirigent/registry";
    for fields in [
        format!("do=put&new=yes&agent=editor&account={spare}&name=Editor"),
        format!("do=put&agent=editor&was_account={spare}&was_name=Editor&account={spare}&name=Ed"),
        format!("do=put&agent=editor&was_account={spare}&was_name=Ed&account={poet}&name=Ed"),
        format!("do=remove&agent=editor&was_account={spare}&was_name=Old&sure=yes"),
        format!("do=remove&agent=editor&was_account={spare}&was_name=Ed&sure=yes"),
        "do=scan".to_owned(),
        format!("do=put&new=yes&agent={}&account={spare}", "a".repeat(200)),
    ] {
        form(&fixture, at, &fields).await;
    }
    let gone = request(Method::DELETE, "/dirigent/api/identities/critic", OPERATOR, Body::empty());
    fixture.ask(gone).await;
    drop(fixture);
    let again = with_log(&path).await;
    let logged = again.get("/dirigent/api/orders", VIEWER).await.json()["orders"].clone();
    let told: Vec<_> = logged
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            let of = |name: &str| one[name].as_str().unwrap_or_default().to_owned();
            assert_eq!(one["channel"], "");
            ["by", "order", "agent", "entry", "refused"].map(of)
        })
        .collect();
    let (first, second) = (format!("{spare}, Editor"), format!("{spare}, Ed"));
    let expected = [
        ["operator", "remove-agent", "critic", "", ""],
        ["anna", "scan-agents", "", "", "no-ego-file"],
        ["anna", "remove-agent", "editor", "", ""],
        ["anna", "remove-agent", "editor", "", "changed-meanwhile"],
        ["anna", "change-agent", "editor", "", "invalid"],
        ["anna", "change-agent", "editor", &second, ""],
        ["anna", "add-agent", "editor", &first, ""],
    ];
    assert_eq!(told, expected);
    let page = again.page("/dirigent/orders", VIEWER).await.text;
    assert!(page.contains(&format!("add-agent editor: {first}")), "{page}");
    assert!(page.contains("href=\"/dirigent/registry\">the registry</a>"), "{page}");
}

/// A registry that cannot be read unless it has its first two agents.
struct Fragile(MemoryIdentities);

#[dirigent::async_trait]
impl IdentityStore for Fragile {
    async fn all(&self) -> Result<Vec<Identity>, ApiError> {
        let all = self.0.all().await?;
        if all.len() == 2 { Ok(all) } else { Err(ApiError::new(ErrorKind::Store)) }
    }

    async fn register(&self, identity: Identity) -> Result<(), RegisterError> {
        self.0.register(identity).await
    }

    async fn remove(&self, agent: AgentId) -> Result<bool, ApiError> {
        self.0.remove(agent).await
    }
}

/// PG10: a change stands in the log as one that was made, whatever fails after it.
#[tokio::test]
async fn a_change_of_the_registry_is_logged_also_if_the_registry_cannot_be_read_afterwards() {
    let mut fixture = Fixture::open().await;
    let chat: Arc<dyn GuildApi> = Arc::new(fixture.discord.account(fixture.moderator));
    let registry = Fragile(fixture.identities.clone());
    let control = Control::builder(fixture.dirigent.clone(), chat, registry);
    let control = control.operator("anna", ANNA).viewer_token(VIEWER).build().unwrap();
    fixture.router = control.at_its_path();
    let spare = fixture.discord.add_bot();
    fixture.discord.guild(fixture.guild).add_member(spare);
    let newest = async || {
        let logged = fixture.get("/dirigent/api/orders", VIEWER).await.json();
        let newest = &logged["orders"][0];
        ["by", "order", "agent", "entry", "refused"].map(|name| newest[name].clone())
    };
    let add = format!("do=put&new=yes&agent=editor&account={spare}&name=Editor");
    let added = form(&fixture, "/dirigent/registry", &add).await;
    assert_eq!(added.status, StatusCode::SEE_OTHER, "{}", added.text);
    let entry = format!("{spare}, Editor");
    let expected = json!(["anna", "add-agent", "editor", entry, null]);
    assert_eq!(json!(newest().await), expected);
    fixture.identities.remove("editor".into()).await.unwrap();

    // The driver is not there any more to read the registry again.
    fixture.dirigent.shutdown(std::time::Duration::ZERO).await;
    let path = "/dirigent/api/identities/critic";
    let removed = fixture.ask(request(Method::DELETE, path, ANNA, Body::empty())).await;
    assert_eq!(removed.status, StatusCode::SERVICE_UNAVAILABLE, "{}", removed.text);
    assert_eq!(json!(newest().await), json!(["anna", "remove-agent", "critic", null, null]));
    assert_eq!(fixture.identities.all().await.unwrap().len(), 1);
}

/// PG10: an answer is for what was asked: what changed meanwhile is asked again, and a script that is sure is taken at its word.
#[tokio::test]
async fn an_answer_is_for_what_was_asked() {
    let fixture = Fixture::open_with(|builder| builder.operator("anna", ANNA)).await;
    for name in ["one", "two", "three"] {
        fixture.chat(name).await;
    }
    let asked = |page: &str| {
        let field = page.split("name=\"asked\" value=\"").nth(1);
        let mark = field.unwrap_or_else(|| panic!("{page}")).split('"').next().unwrap().to_owned();
        format!("order=stop&all=yes&sure=yes&asked={mark}")
    };
    let first = form(&fixture, "/dirigent/orders?all=yes", "order=stop").await.text;
    let four = fixture.chat("four").await;
    let again = form(&fixture, "/dirigent/orders", &asked(&first)).await;
    assert_eq!(again.status, StatusCode::OK);
    let words = "This has changed meanwhile. Stop everything, 4 channels?";
    assert!(again.text.contains(words), "{}", again.text);
    assert_eq!(again.text.matches("name=\"sure\"").count(), 1, "{}", again.text);
    assert_eq!(rest(&fixture, four).await, None, "it was only asked");
    // That somebody speaks meanwhile is no other question.
    fixture.wake(four).await;
    let done = form(&fixture, "/dirigent/orders", &asked(&again.text)).await.text;
    assert!(done.contains("4 channels have carried it out."), "{done}");

    let path = format!("/dirigent/channels/{four}");
    fixture.dirigent.channel(four).set_mode(dirigent::Mode::Report).await.unwrap();
    let change = |mode: &str, rest: &str| format!("order=set-mode&mode={mode}{rest}");
    let page = form(&fixture, &path, &change("chat", "")).await.text;
    let mark = page.split("name=\"asked\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    fixture.dirigent.channel(four).set_mode(dirigent::Mode::None).await.unwrap();
    let sure = change("chat", &format!("&sure=yes&asked={mark}"));
    let page = form(&fixture, &path, &sure).await.text;
    assert!(page.contains("This has changed meanwhile. Change "), "{page}");
    assert!(page.contains(" from none to chat?"), "{page}");

    // A script is told what it was asked, and may send that, or not.
    let script =
        async |body: String| fixture.send_form(&path, ANNA, &body, "application/json").await;
    let question = script(change("chat", "")).await;
    assert_eq!(question.status, StatusCode::PRECONDITION_REQUIRED);
    let mark = question.headers["dirigent-asked"].to_str().unwrap();
    assert_eq!(script(sure).await.status, StatusCode::PRECONDITION_REQUIRED);
    let agreed = script(change("chat", &format!("&sure=yes&asked={mark}"))).await;
    assert_eq!(agreed.status, StatusCode::NO_CONTENT, "{}", agreed.text);
    let archived = script("order=archive&sure=yes".to_owned()).await;
    assert_eq!(archived.status, StatusCode::NO_CONTENT, "{}", archived.text);
}

/// PG7: a link confirms nothing that its visitor did not do just now.
#[tokio::test]
async fn a_link_confirms_only_what_its_visitor_did_just_now() {
    let clock = dirigent_testkit::ManualClock::new();
    let time: Arc<dyn dirigent::Clock> = Arc::new(clock.clone());
    let fixture = Fixture::open_with(|builder| builder.operator("anna", ANNA).clock(time)).await;
    let channel = fixture.chat("den").await;
    let path = format!("/dirigent/channels/{channel}");
    let says = async |link: &str, token: &str| {
        fixture.page(link, token).await.text.contains("class=\"done\" role=\"status\"")
    };
    let (held, gone) = (format!("{path}?done=hold"), "/dirigent/registry?deleted=critic");
    assert!(!says(&held, ANNA).await && !says("/dirigent/registry?deleted=dragon", ANNA).await);
    assert!(!says("/dirigent/registry?saved=poet", ANNA).await);
    fixture.order(channel, ANNA, &json!({ "order": "hold" })).await;
    let gone_now = request(Method::DELETE, "/dirigent/api/identities/critic", ANNA, Body::empty());
    assert_eq!(fixture.ask(gone_now).await.status, StatusCode::OK);
    assert!(says(&held, ANNA).await && says(gone, ANNA).await);
    assert!(!says(&format!("{path}?done=archive"), ANNA).await);
    assert!(!says(&held, OPERATOR).await && !says(gone, OPERATOR).await, "who did not do it");
    clock.set(dirigent::Clock::now(&clock) + std::time::Duration::from_secs(61));
    assert!(!says(&held, ANNA).await && !says(gone, ANNA).await, "a minute later");
}

/// PG10: many channels are stopped, held and resumed at once, after a question; a viewer stops none.
#[tokio::test]
async fn many_channels_are_stopped_and_resumed_at_once() {
    let fixture = Fixture::open_with(|builder| builder.operator("anna", ANNA)).await;
    let mut channels = Vec::new();
    for name in ["one", "two", "three"] {
        channels.push(fixture.chat(name).await);
    }
    let [one, two, three] = channels[..] else { unreachable!() };
    fixture.wake(one).await;
    let chosen = format!("order=stop&channel={one}&channel={two}&reason=quiet");
    let asked = form(&fixture, "/dirigent/orders", &chosen).await.text;
    assert!(
        asked.contains("Stop 2 channels, one, two?") && asked.contains("its turn is cut"),
        "{asked}"
    );
    let everything = form(&fixture, "/dirigent/orders?all=yes", "order=stop").await.text;
    assert!(everything.contains("Stop everything, 3 channels?"), "{everything}");
    assert!(everything.contains("name=\"all\" value=\"yes\""), "{everything}");
    for channel in [one, two, three] {
        assert_eq!(rest(&fixture, channel).await, None, "it was only asked");
    }
    let done = form(&fixture, "/dirigent/orders", &format!("{chosen}&sure=yes")).await.text;
    assert!(done.contains("2 channels have carried it out."), "{done}");
    let rests = [rest(&fixture, one).await, rest(&fixture, two).await, rest(&fixture, three).await];
    assert_eq!(rests, [Some(Pause::Stopped), Some(Pause::Stopped), None]);
    let logged = fixture.get("/dirigent/api/orders", VIEWER).await.json();
    let (by, why) = (&logged["orders"][0]["by"], &logged["orders"][1]["reason"]);
    assert_eq!((by, why), (&json!("anna"), &json!("quiet")));

    let path = "/dirigent/api/orders";
    let many =
        async |token: &str, body: Value| fixture.send_json(Method::POST, path, token, &body).await;
    let all = json!({ "order": "stop", "all": true });
    assert_eq!(many(VIEWER, all.clone()).await.status, StatusCode::FORBIDDEN);
    assert_eq!(rest(&fixture, three).await, None);
    assert_eq!(many(OPERATOR, all).await.json(), json!({ "done": 1, "refused": [] }));
    assert_eq!(rest(&fixture, three).await, Some(Pause::Stopped));
    let resumed = many(OPERATOR, json!({ "order": "resume", "channels": [one.to_string()] })).await;
    assert_eq!(resumed.json()["done"], 1);
    let twice = json!({ "order": "resume", "channels": [one.to_string(), two.to_string()] });
    let twice = many(OPERATOR, twice).await.json();
    assert_eq!((&twice["done"], &twice["refused"][0]["name"]), (&json!(1), &json!("one")));
    for wrong in [
        json!({ "order": "stop" }),
        json!({ "order": "stop", "channels": ["7"] }),
        json!({ "order": "archive", "all": true }),
    ] {
        assert!(many(OPERATOR, wrong.clone()).await.status.is_client_error(), "{wrong}");
    }
}
