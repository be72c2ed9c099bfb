//! The control pages of several processes: each shows all channels, and carries orders to the one that acts for the channel.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use dirigent::host::Builder;
use dirigent::ports::{ChannelRequest, GuildApi, Standing};
use dirigent::{AgentError, ChannelId, Mode, Reply, Turn, agent_fn, async_trait};
use dirigent_cluster::{PagePeers, PageService, RelayFigures};
use dirigent_control::{Control, Figure};
use dirigent_relay::{CarryError, Client, HostId, InProcess, Keyring, ProcessRole, Relay, Server};
use http::{Method, Request, StatusCode, header};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use super::fleet::{Fleet, Process, SECOND, host, secret};

const OPERATOR: &str = "operator-operator-1";
const VIEWER: &str = "viewer-viewer-viewer";

/// How the way to another process fails.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// Questions get no answer, as of a process that stands still.
    Silent,
    /// Answers are lost.
    Lost,
}

/// A way that fails where the test wants it.
#[derive(Clone)]
struct Way {
    inner: InProcess,
    fault: Arc<std::sync::Mutex<Fault>>,
}

#[async_trait]
impl Relay for Way {
    async fn carry(&self, to: &HostId, rule: &str, bytes: Vec<u8>) -> Result<Vec<u8>, CarryError> {
        let fault = *self.fault.lock().unwrap();
        if fault == Fault::Silent {
            return std::future::pending().await;
        }
        let answer = self.inner.carry(to, rule, bytes).await;
        if fault == Fault::Lost { Err(CarryError::no_answer("lost")) } else { answer }
    }
}

/// One process with its page.
struct Paged {
    process: Process,
    router: Router,
    way: Way,
}

impl Paged {
    fn start(fleet: &mut Fleet, name: &str) -> Self {
        Self::start_with(fleet, name, |builder| builder)
    }

    /// The same, with a library of another making.
    fn start_with(fleet: &mut Fleet, name: &str, build: impl FnOnce(Builder) -> Builder) -> Self {
        let keys = Fleet::keys(name).with(host("slave"), secret(9), ProcessRole::slave(["poet"]));
        let fault = Arc::new(std::sync::Mutex::new(Fault::None));
        let way = Way { inner: fleet.relay.clone(), fault };
        let client =
            Client::new(keys.clone(), Arc::new(way.clone()), Arc::new(fleet.clock.clone()));
        let process = fleet.start_as(name, keys.clone(), client.clone(), Vec::new(), build);
        let chat: Arc<dyn GuildApi> = Arc::new(fleet.discord.account(fleet.moderator));
        let server = Server::with_start(keys, secret(fleet.next_start()))
            .with(Arc::new(process.instance.clone()));
        let figures = RelayFigures::of(&client, &server, &process.forwarding);
        let control = Control::builder(process.dirigent.clone(), chat, Arc::clone(&fleet.registry))
            .operator_token(OPERATOR)
            .viewer_token(VIEWER)
            .clock(Arc::new(fleet.clock.clone()) as Arc<dyn dirigent::Clock>)
            .figures(figures)
            .figures(|| Figure::leases(7, 2, 9))
            .peers(PagePeers::new(client, Arc::clone(&fleet.table) as _))
            .build()
            .unwrap();
        let router = Router::new().nest("/dirigent", control.router());
        let server = server.with(Arc::new(PageService::new(control)));
        fleet.relay.connect(Arc::new(server));
        Self { process, router, way }
    }

    fn fail(&self, fault: Fault) {
        *self.way.fault.lock().unwrap() = fault;
    }

    async fn ask(&self, request: Request<Body>) -> (StatusCode, String) {
        let answer = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = answer.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        (parts.status, String::from_utf8(body.to_vec()).unwrap())
    }

    async fn get(&self, path: &str) -> (StatusCode, String) {
        self.ask(request(Method::GET, path, VIEWER, Body::empty())).await
    }

    async fn json(&self, path: &str) -> Value {
        let (status, text) = self.get(path).await;
        assert_eq!(status, StatusCode::OK, "{text}");
        serde_json::from_str(&text).unwrap()
    }

    async fn channel(&self, channel: ChannelId) -> Value {
        self.json(&format!("/dirigent/api/channels/{channel}")).await
    }

    /// The rows by channel: owner, mode, why, and whether it is grey.
    async fn row(&self, channel: ChannelId) -> Value {
        let overview = self.json("/dirigent/api/channels").await;
        let rows = overview["channels"].as_array().unwrap().clone();
        rows.into_iter().find(|row| row["id"] == channel.to_string()).unwrap()
    }

    async fn order(&self, channel: ChannelId, order: &Value) -> (StatusCode, Value) {
        let path = format!("/dirigent/api/channels/{channel}/orders");
        let mut request = request(Method::POST, &path, OPERATOR, Body::from(order.to_string()));
        let kind = "application/json".parse().unwrap();
        request.headers_mut().insert(header::CONTENT_TYPE, kind);
        let (status, text) = self.ask(request).await;
        (status, serde_json::from_str(&text).unwrap())
    }
}

fn request(method: Method, path: &str, token: &str, body: Body) -> Request<Body> {
    let request = Request::builder().method(method).uri(path).header(header::HOST, "127.0.0.1");
    request.header(header::AUTHORIZATION, format!("Bearer {token}")).body(body).unwrap()
}

/// Two processes; the fleet's channel is the first one's, another one the second one's.
async fn pair() -> (Fleet, Paged, Paged, ChannelId) {
    let mut fleet = Fleet::new().await;
    let (a, b) = (Paged::start(&mut fleet, "a"), Paged::start(&mut fleet, "b"));
    let accounts: Vec<_> = fleet.agents.iter().map(|(_, account)| *account).collect();
    let members = [&[fleet.moderator][..], &accounts].concat();
    let other = fleet.discord.add_channel(fleet.guild, "other", &members);
    fleet.table.give(other, Some(&host("b")));
    fleet.chat(&a.process).await;
    b.process.dirigent.channel(other).set_mode(Mode::Report).await.unwrap();
    fleet.settle().await;
    (fleet, a, b, other)
}

#[tokio::test]
async fn every_process_shows_all_channels_with_their_owner() {
    let (fleet, a, b, other) = pair().await;
    fleet.say(&a.process, "Hello").await;
    for page in [&a, &b] {
        let (first, second) = (page.row(fleet.channel).await, page.row(other).await);
        assert_eq!((&first["owner"], &first["mode"]), (&json!("a"), &json!("chat")));
        assert_eq!((&first["speaker"], &first["isAway"]), (&json!("poet"), &json!(false)));
        assert_eq!((&second["owner"], &second["mode"]), (&json!("b"), &json!("report")));
    }
    let (here, there) = (a.channel(fleet.channel).await, b.channel(fleet.channel).await);
    assert_eq!(here, there, "both tell the same of it");
    assert!(there["agents"][1]["why"].as_str().unwrap().contains("poet has the floor"));
    let page = b.get(&format!("/dirigent/channels/{}", fleet.channel)).await.1;
    assert!(page.contains("a acts for this channel."), "{page}");
    let score = |page: &Paged| {
        let (router, channel) = (page.router.clone(), fleet.channel);
        let path = format!("/dirigent/api/channels/{channel}/score.svg");
        async move {
            let answer =
                router.oneshot(request(Method::GET, &path, VIEWER, Body::empty())).await.unwrap();
            answer.into_body().collect().await.unwrap().to_bytes()
        }
    };
    assert_eq!(score(&a).await, score(&b).await);
    let missing = b.get("/dirigent/api/channels/123456789012345678").await;
    assert_eq!(missing.0, StatusCode::NOT_FOUND, "its process says that there is none");
}

#[tokio::test]
async fn an_order_reaches_the_process_that_acts_for_the_channel() {
    let (fleet, a, b, _) = pair().await;
    fleet.say(&a.process, "Hello").await;
    let (status, answer) = b.order(fleet.channel, &json!({ "order": "stop" })).await;
    assert_eq!((status, &answer["done"]), (StatusCode::OK, &json!(true)));
    let status = a.process.dirigent.channel(fleet.channel).status().await.unwrap().unwrap();
    assert!(status.rest.is_some());
    let given = a.channel(fleet.channel).await["given"].clone();
    assert_eq!((&given[0]["order"], &given[0]["by"]), (&json!("stop"), &json!("operator at b")));
    // What the owner refuses is answered as by itself.
    let order = json!({ "order": "set-mode", "mode": "work" });
    let (there, here) =
        (b.order(fleet.channel, &order).await, a.order(fleet.channel, &order).await);
    assert_eq!(there, here);
    assert_eq!(there.1["type"], "urn:dirigent:problem:creation-only");
    // A viewer's order is refused where the viewer is.
    let path = format!("/dirigent/api/channels/{}/orders", fleet.channel);
    let body = Body::from(r#"{"order":"resume"}"#);
    let mut viewer = request(Method::POST, &path, VIEWER, body);
    viewer.headers_mut().insert(header::CONTENT_TYPE, "application/json".parse().unwrap());
    assert_eq!(b.ask(viewer).await.0, StatusCode::FORBIDDEN);
    let status = a.process.dirigent.channel(fleet.channel).status().await.unwrap().unwrap();
    assert!(status.rest.is_some(), "it is stopped still");
}

/// Runs a request while time passes.
async fn within<T: Send + 'static>(
    fleet: &Fleet,
    time: Duration,
    asked: impl Future<Output = T> + Send + 'static,
) -> T {
    let asked = tokio::spawn(asked);
    fleet.pass(time).await;
    assert!(asked.is_finished(), "no answer within {time:?}");
    asked.await.unwrap()
}

#[tokio::test]
async fn a_process_that_does_not_answer_is_shown_as_that_and_the_page_stays_up() {
    let (fleet, _a, b, other) = pair().await;
    let b = Arc::new(b);
    assert_eq!(b.row(fleet.channel).await["mode"], "chat");
    b.fail(Fault::Silent);
    fleet.pass(SECOND * 2).await;
    let (page, id) = (Arc::clone(&b), fleet.channel);
    let row = within(&fleet, SECOND * 2, async move { page.row(id).await }).await;
    assert_eq!((&row["why"], &row["isAway"]), (&json!("A does not answer."), &json!(true)));
    assert_eq!(row["mode"], "chat", "as it was told last");
    let overview = b.json("/dirigent/api/channels").await;
    assert_eq!(overview["silent"], json!(["a"]));
    assert_eq!(b.row(other).await["isAway"], false);
    let path = format!("/dirigent/channels/{}", fleet.channel);
    let page = Arc::clone(&b);
    let (status, html) = within(&fleet, SECOND * 2, async move { page.get(&path).await }).await;
    assert_eq!(status, StatusCode::OK);
    assert!(html.contains("A does not answer.") && html.contains("a acts for this channel."));
    let page = Arc::clone(&b);
    let stop = json!({ "order": "stop" });
    let (status, answer) =
        within(&fleet, SECOND * 2, async move { page.order(id, &stop).await }).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(answer["type"], "urn:dirigent:problem:owner-silent");
    assert!(answer["detail"].as_str().unwrap().contains("it may have been done"), "{answer}");
    // It answers again.
    b.fail(Fault::None);
    fleet.pass(SECOND * 3).await;
    assert_eq!(b.row(id).await["isAway"], false);
}

#[tokio::test]
async fn an_order_whose_answer_is_lost_is_not_given_twice() {
    let (fleet, a, b, _) = pair().await;
    fleet.say(&a.process, "Hello").await;
    // Sessions are known, so that the question is taken at once.
    b.channel(fleet.channel).await;
    b.fail(Fault::Lost);
    let (id, taken) = (fleet.channel, a.process.dirigent.clone());
    let stop = json!({ "order": "stop" });
    let (status, answer) = within(&fleet, SECOND, async move { b.order(id, &stop).await }).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(answer["detail"].as_str().unwrap().contains("it may have been done"), "{answer}");
    assert!(taken.channel(id).status().await.unwrap().unwrap().rest.is_some(), "it was done");
    assert_eq!(a.channel(id).await["given"].as_array().unwrap().len(), 1, "once");
}

#[tokio::test]
async fn an_order_follows_a_channel_that_changes_hands() {
    let (mut fleet, a, b, _) = pair().await;
    let c = Paged::start(&mut fleet, "c");
    fleet.say(&a.process, "Hello").await;
    fleet.table.give(fleet.channel, None);
    let (id, dirigent) = (fleet.channel, b.process.dirigent.clone());
    let stop = json!({ "order": "stop" });
    let asked = tokio::spawn(async move { c.order(id, &stop).await });
    fleet.pass(SECOND).await;
    assert!(!asked.is_finished(), "no process acts for it");
    fleet.table.give(fleet.channel, Some(&host("b")));
    fleet.pass(SECOND).await;
    assert_eq!(asked.await.unwrap().0, StatusCode::OK);
    assert!(dirigent.channel(id).status().await.unwrap().unwrap().rest.is_some());
}

/// Waking is no exception: the person would read that it was done, and the next owner would not know of it.
#[tokio::test]
async fn an_order_is_done_when_it_is_stored() {
    for order in ["stop", "wake"] {
        let (fleet, a, b, _) = pair().await;
        // The process believes that the channel is its own, and only the store knows better.
        fleet.table.give_unheard(fleet.channel, &b.process.host, Standing::Lapsed);
        let (status, answer) = a.order(fleet.channel, &json!({ "order": order })).await;
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{order} {answer}");
        assert!(answer["detail"].as_str().unwrap().contains("it may have been done"), "{answer}");
    }
}

/// The process ends in three steps, of which the second one lasts as long as an agent thinks.
#[tokio::test]
async fn an_order_waits_for_the_next_owner_of_a_channel_whose_process_is_shut_down() {
    let mut fleet = Fleet::new().await;
    let (agent, user) = fleet.agents[0].clone();
    let account = fleet.discord.account(user);
    let thinks = agent_fn(|_: Turn| std::future::pending::<Result<Reply, AgentError>>());
    let a = Paged::start_with(&mut fleet, "a", |builder| builder.host(agent, thinks, account));
    let b = Arc::new(Paged::start(&mut fleet, "b"));
    fleet.chat(&a.process).await;
    fleet.say(&a.process, "Hello").await;
    let ends = a.process.dirigent.clone();
    tokio::spawn(async move { ends.shutdown(SECOND * 60).await });
    fleet.settle().await;
    let (page, id) = (Arc::clone(&b), fleet.channel);
    let stop = json!({ "order": "stop" });
    let given = async move { page.order(id, &stop).await };
    let (status, answer) = within(&fleet, SECOND * 2, given).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(answer["type"], "urn:dirigent:problem:owner-silent");
    assert!(answer["detail"].as_str().unwrap().contains("nothing was done"), "{answer}");
    let page = Arc::clone(&b);
    let look = within(&fleet, SECOND * 2, async move { page.channel(id).await }).await;
    let why = "No process acts for this channel now; one will in some seconds.";
    assert_eq!(look["channel"]["why"], why);
    let page = Arc::clone(&b);
    let stop = json!({ "order": "stop" });
    let given = tokio::spawn(async move { page.order(id, &stop).await });
    fleet.pass(SECOND).await;
    fleet.table.give(id, Some(&b.process.host));
    fleet.pass(SECOND).await;
    assert_eq!(given.await.unwrap().0, StatusCode::OK);
    assert!(b.process.dirigent.channel(id).status().await.unwrap().unwrap().rest.is_some());
}

#[tokio::test]
async fn a_channel_without_an_owner_is_shown_and_nothing_is_done() {
    let (fleet, _a, b, _) = pair().await;
    assert_eq!(b.row(fleet.channel).await["isAway"], false);
    fleet.table.give(fleet.channel, None);
    fleet.pass(SECOND * 2).await;
    let row = b.row(fleet.channel).await;
    assert_eq!((&row["isAway"], &row["owner"]), (&json!(true), &Value::Null));
    let id = fleet.channel;
    let stop = json!({ "order": "stop" });
    let (status, answer) =
        within(&fleet, SECOND * 2, async move { b.order(id, &stop).await }).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(answer["detail"].as_str().unwrap().contains("nothing was done"), "{answer}");
}

/// R179
#[tokio::test]
async fn only_peers_ask_a_page() {
    let (fleet, a, _b, _) = pair().await;
    let keys = Keyring::new(host("slave"), secret(9));
    let clock = Arc::new(fleet.clock.clone());
    let client = Client::new(keys, Arc::new(fleet.relay.clone()), clock);
    let peers = PagePeers::new(client, Arc::clone(&fleet.table) as _);
    let request = ChannelRequest::Stop;
    let by = "operator at slave".to_owned();
    let question =
        dirigent_control::PageQuestion::Order { channel: fleet.channel, request, by, reason: None };
    let answer = dirigent_control::Peers::ask(&peers, "a", &question).await;
    assert_eq!(answer.unwrap_err(), dirigent_control::PeerError::NoPage);
    let status = a.process.dirigent.channel(fleet.channel).status().await.unwrap().unwrap();
    assert!(status.rest.is_none());
}

#[tokio::test]
async fn the_metrics_tell_of_leases_and_forwards() {
    let (fleet, a, b, _) = pair().await;
    fleet.say(&b.process, "Hello").await;
    b.order(fleet.channel, &json!({ "order": "stop" })).await;
    b.order(fleet.channel, &json!({ "order": "stop" })).await;
    let why = b.process.instance.explain(fleet.channel, &"poet".into()).await;
    why.unwrap();
    // A question that none knows the asker of.
    let keys = Keyring::new(host("stranger"), secret(8));
    let clock = Arc::new(fleet.clock.clone());
    let stranger = Client::new(keys, Arc::new(fleet.relay.clone()), clock);
    let peers = PagePeers::new(stranger, Arc::clone(&fleet.table) as _);
    let rows = dirigent_control::PageQuestion::Rows { after: None };
    dirigent_control::Peers::ask(&peers, "a", &rows).await.unwrap_err();
    let metrics = b.get("/dirigent/metrics").await.1;
    for line in [
        "dirigent_channels_owned 1",
        "dirigent_leases_held 7",
        "dirigent_processes 2",
        "dirigent_leases_taken_total 9",
        "dirigent_forwards_total{rule=\"page\",outcome=\"answered\"} 2",
        "dirigent_forwards_total{rule=\"channel-request\",outcome=\"answered\"} 1",
        "dirigent_forwards_total{rule=\"gateway-events\",outcome=\"answered\"} 1",
        "dirigent_forwarded_events_total{outcome=\"carried\"} 1",
        "dirigent_forwarded_events_total{outcome=\"dropped\"} 0",
        "dirigent_forwarded_events_waiting 0",
        "dirigent_forwarded_events_refused 0",
        "dirigent_questions_total{outcome=\"taken\"} 0",
    ] {
        assert!(metrics.lines().any(|is| is == line), "{line} is not in {metrics}");
    }
    let metrics = a.get("/dirigent/metrics").await.1;
    for line in ["dirigent_questions_total{outcome=\"rejected\"} 1", "dirigent_channels_owned 1"] {
        assert!(metrics.lines().any(|is| is == line), "{line} is not in {metrics}");
    }
    // What is not answered is counted as that.
    b.fail(Fault::Lost);
    let id = fleet.channel;
    b.get(&format!("/dirigent/channels/{id}")).await;
    let metrics = b.get("/dirigent/metrics").await.1;
    // It asked for the channel, and for its newest messages.
    let line = "dirigent_forwards_total{rule=\"page\",outcome=\"no-answer\"} 2";
    assert!(metrics.lines().any(|is| is == line), "{metrics}");
}

#[tokio::test]
async fn a_change_of_the_registry_on_one_page_is_known_to_all_processes() {
    let (fleet, a, b, _) = pair().await;
    fleet.say(&a.process, "Hello").await;
    let request = request(Method::DELETE, "/dirigent/api/identities/poet", OPERATOR, Body::empty());
    assert_eq!(b.ask(request).await.0, StatusCode::OK);
    fleet.settle().await;
    let status = a.process.dirigent.channel(fleet.channel).status().await.unwrap().unwrap();
    assert_eq!(status.speaker, Some("critic".into()), "the turn of the removed agent was skipped");
}

#[tokio::test]
async fn a_process_without_a_page_says_so() {
    let (mut fleet, _a, b, _) = pair().await;
    let c = fleet.start("c");
    fleet.table.give(fleet.channel, Some(&c.host));
    fleet.pass(SECOND * 2).await;
    let id = fleet.channel;
    let b = Arc::new(b);
    let page = Arc::clone(&b);
    let look = within(&fleet, SECOND * 2, async move { page.channel(id).await }).await;
    let why = "C acts for this channel, and has no page, or one of another version.";
    assert_eq!(look["channel"]["why"], why);
    let stop = json!({ "order": "stop" });
    let (status, answer) =
        within(&fleet, SECOND * 2, async move { b.order(id, &stop).await }).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(answer["detail"].as_str().unwrap().contains("nothing was done"), "{answer}");
}

/// PG8: a sign-out ends the session in every process, through the relay; and in one that could not be reached when it can.
#[tokio::test]
async fn a_sign_out_ends_the_session_in_the_other_process() {
    let (fleet, a, b, _) = pair().await;
    let (a, b) = (Arc::new(a), Arc::new(b));
    let sign_in = async |page: &Paged| {
        let body = Body::from(format!("token={OPERATOR}"));
        let mut asked = request(Method::POST, "/dirigent/sign-in", "", body);
        asked.headers_mut().remove(header::AUTHORIZATION);
        let kind = "application/x-www-form-urlencoded".parse().unwrap();
        asked.headers_mut().insert(header::CONTENT_TYPE, kind);
        let answer = page.router.clone().oneshot(asked).await.unwrap();
        let cookie = answer.headers()[header::SET_COOKIE].to_str().unwrap();
        cookie.split(';').next().unwrap().to_owned()
    };
    let send = async |page: &Arc<Paged>, method: Method, path: &str, cookie: &str| {
        let mut asked = request(method, path, "", Body::empty());
        asked.headers_mut().remove(header::AUTHORIZATION);
        asked.headers_mut().insert(header::COOKIE, cookie.parse().unwrap());
        let page = Arc::clone(page);
        within(&fleet, SECOND * 3, async move { page.ask(asked).await }).await
    };
    let opens = async |page: &Arc<Paged>, cookie: &str| {
        send(page, Method::GET, "/dirigent/registry", cookie).await.0 == StatusCode::OK
    };
    let (ends, stays, later) = (sign_in(&a).await, sign_in(&a).await, sign_in(&a).await);
    for cookie in [&ends, &stays, &later] {
        assert!(opens(&b, cookie).await, "a session counts in each process");
    }
    let (status, _) = send(&a, Method::POST, "/dirigent/sign-out", &ends).await;
    assert_eq!(status, StatusCode::SEE_OTHER);
    assert!(!opens(&b, &ends).await && opens(&b, &stays).await);
    // The way from one to the other is cut: the visitor reads so, and the other one hears of it when it asks.
    a.fail(Fault::Silent);
    let (status, text) = send(&a, Method::POST, "/dirigent/sign-out", &later).await;
    assert_eq!(status, StatusCode::OK);
    assert!(text.contains("You are signed out here, and b does not answer."), "{text}");
    assert!(!opens(&b, &later).await, "b can ask");
    assert!(opens(&b, &stays).await);
}
