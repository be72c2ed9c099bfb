//! The page of one of several processes. The others are played.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Body;
use dirigent::ports::{ChannelRequest, Ownership, Standing};
use dirigent::{ChannelId, Clock, Mode, async_trait};
use dirigent_control::drawing::WhatIfAsked;
use dirigent_control::{Control, Figure, PageAnswer, PageQuestion, PeerError, Peers, Problem};
use dirigent_testkit::ManualClock;
use http::{Method, StatusCode, header};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::fixture::{Answer, Fixture, OPERATOR, VIEWER, request};
use crate::live::Stream;

/// The channels of the other process, and what it does.
#[derive(Clone, Default)]
struct Other(Arc<Mutex<Played>>);

#[derive(Default)]
struct Played {
    channels: BTreeSet<ChannelId>,
    /// What the other process answers for a channel.
    sheet: Option<PageAnswer>,
    rows: Vec<Value>,
    at_once: usize,
    /// How long each answer takes.
    takes: Option<(ManualClock, Duration)>,
    error: Option<PeerError>,
    problem: Option<Problem>,
    asked: Vec<PageQuestion>,
}

impl Other {
    fn play(&self, change: impl FnOnce(&mut Played)) {
        change(&mut self.0.lock().unwrap());
    }

    fn asked(&self) -> Vec<PageQuestion> {
        std::mem::take(&mut self.0.lock().unwrap().asked)
    }
}

#[async_trait]
impl Ownership for Other {
    fn standing(&self, channel: ChannelId) -> Standing {
        let is_other = self.0.lock().unwrap().channels.contains(&channel);
        if is_other { Standing::Elsewhere } else { Standing::Held }
    }

    async fn changed(&self) -> Vec<ChannelId> {
        std::future::pending().await
    }
}

#[async_trait]
impl Peers for Other {
    fn me(&self) -> String {
        "bot-1".to_owned()
    }

    fn others(&self) -> Vec<String> {
        vec!["bot-2".to_owned()]
    }

    fn owner(&self, channel: ChannelId) -> Option<String> {
        let is_other = self.0.lock().unwrap().channels.contains(&channel);
        Some(if is_other { "bot-2" } else { "bot-1" }.to_owned())
    }

    async fn ask(&self, peer: &str, question: &PageQuestion) -> Result<PageAnswer, PeerError> {
        assert_eq!(peer, "bot-2");
        let takes = self.0.lock().unwrap().takes.clone();
        if let Some((clock, time)) = takes {
            clock.sleep_until(clock.now() + time).await;
        }
        let mut played = self.0.lock().unwrap();
        played.asked.push(question.clone());
        if let Some(error) = played.error {
            return Err(error);
        }
        if let Some(problem) = &played.problem {
            return Ok(PageAnswer::Problem(problem.clone()));
        }
        Ok(match question {
            PageQuestion::Rows { after } => {
                let id = |row: &&Value| row["id"].as_str().unwrap().parse::<ChannelId>().unwrap();
                let rest =
                    played.rows.iter().filter(|row| after.is_none_or(|after| id(row) > after));
                let rest: Vec<_> = rest.collect();
                let some = &rest[..rest.len().min(played.at_once)];
                let has_more = some.len() < rest.len();
                let answer = json!({ "rows": { "rows": some, "hasMore": has_more } });
                serde_json::from_value(answer).unwrap()
            }
            PageQuestion::Channel { .. } => played.sheet.clone().unwrap_or(PageAnswer::Elsewhere),
            PageQuestion::Score { .. }
            | PageQuestion::Replay { .. }
            | PageQuestion::WhatIf { .. } => PageAnswer::File("<svg/>".to_owned()),
            _ => PageAnswer::Done,
        })
    }
}

/// A process with two channels of its own, of which the second one became the other process's.
struct Pair {
    fixture: Fixture,
    other: Other,
    clock: ManualClock,
    own: ChannelId,
    theirs: ChannelId,
}

impl Pair {
    async fn open() -> Self {
        let (other, clock) = (Other::default(), ManualClock::new());
        other.play(|played| played.at_once = 500);
        let (owned, peers) = (other.clone(), other.clone());
        let time: Arc<dyn Clock> = Arc::new(clock.clone());
        let fixture = Fixture::open_as(
            |library| library.ownership(owned),
            |builder| builder.peers(peers).clock(time),
        )
        .await;
        let (own, theirs) = (fixture.chat("den").await, fixture.chat("attic").await);
        let pair = Self { fixture, other, clock, own, theirs };
        let (mut look, mut row) = (pair.look(theirs).await, pair.row(theirs).await);
        row["owner"] = json!("bot-2");
        look["channel"]["owner"] = json!("bot-2");
        let sheet = json!({ "look": look, "score": "<svg/>", "isRecorded": true });
        let sheet = serde_json::from_value(json!({ "channel": sheet })).unwrap();
        pair.other.play(|played| {
            played.channels.insert(theirs);
            played.sheet = Some(sheet);
            played.rows.push(row);
        });
        pair.pass(5).await;
        pair.other.asked();
        pair
    }

    /// Lets so many seconds pass.
    async fn pass(&self, seconds: u64) {
        for _ in 0..seconds {
            for _ in 0..50 {
                tokio::task::yield_now().await;
            }
            self.clock.set(self.clock.now() + Duration::from_secs(1));
        }
    }

    async fn get(&self, path: &str) -> Answer {
        self.fixture.page(&format!("/dirigent{path}"), OPERATOR).await
    }

    async fn look(&self, channel: ChannelId) -> Value {
        let answer = self.fixture.get(&format!("/dirigent/api/channels/{channel}"), VIEWER).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
        answer.json()
    }

    async fn overview(&self) -> Value {
        self.fixture.get("/dirigent/api/channels", VIEWER).await.json()
    }

    async fn row(&self, channel: ChannelId) -> Value {
        let rows = self.overview().await["channels"].as_array().unwrap().clone();
        rows.into_iter().find(|row| row["id"] == channel.to_string()).unwrap()
    }
}

#[tokio::test]
async fn another_process_is_asked_for_its_rows_at_most_once_a_second() {
    let pair = Pair::open().await;
    for _ in 0..3 {
        assert_eq!(pair.row(pair.own).await["owner"], "bot-1");
        assert_eq!(pair.row(pair.theirs).await["owner"], "bot-2");
    }
    assert_eq!(pair.other.asked(), [PageQuestion::Rows { after: None }]);
    pair.pass(1).await;
    pair.overview().await;
    assert_eq!(pair.other.asked().len(), 1);
    // One that does not answer is left alone for three.
    pair.other.play(|played| played.error = Some(PeerError::NoAnswer));
    for second in 0..4 {
        pair.pass(1).await;
        let row = pair.row(pair.theirs).await;
        assert_eq!((&row["why"], &row["mode"]), (&json!("Bot-2 does not answer."), &json!("chat")));
        assert_eq!(pair.other.asked().len(), usize::from(second % 3 == 0), "second {second}");
    }
}

#[tokio::test]
async fn rows_that_do_not_fit_into_one_answer_come_in_several() {
    let pair = Pair::open().await;
    let mut row = pair.row(pair.theirs).await;
    pair.other.play(|played| {
        for id in [1_u64, 2] {
            let id = ChannelId::new(pair.theirs.get() + id);
            row["id"] = json!(id.to_string());
            played.channels.insert(id);
            played.rows.push(row.clone());
        }
        played.at_once = 1;
    });
    pair.pass(1).await;
    pair.other.asked();
    assert_eq!(pair.overview().await["all"], 4);
    assert_eq!(pair.other.asked().len(), 3);
    // A process that brings nothing new, and says that there is more, is asked no further.
    pair.other.play(|played| played.at_once = 0);
    pair.pass(1).await;
    pair.overview().await;
    assert_eq!(pair.other.asked().len(), 1);
}

#[tokio::test]
async fn a_slow_process_holds_up_the_overview_for_two_seconds_however_many_answers_its_rows_take() {
    let pair = Pair::open().await;
    let mut row = pair.row(pair.theirs).await;
    pair.other.play(|played| {
        let id = ChannelId::new(pair.theirs.get() + 1);
        row["id"] = json!(id.to_string());
        played.channels.insert(id);
        played.rows.push(row);
        played.at_once = 1;
        played.takes = Some((pair.clock.clone(), Duration::from_millis(1_500)));
    });
    pair.pass(1).await;
    let begun = pair.clock.now();
    let seen = async { (pair.row(pair.theirs).await, pair.clock.now()) };
    let ((row, now), ()) = tokio::join!(seen, pair.pass(6));
    assert_eq!(row["why"], "Bot-2 does not answer.");
    assert_eq!(now.since(begun), Duration::from_secs(2));
}

#[tokio::test]
async fn a_process_without_a_page_is_named() {
    let pair = Pair::open().await;
    pair.other.play(|played| played.error = Some(PeerError::NoPage));
    let row = pair.row(pair.theirs).await;
    assert_eq!(row["why"], "Bot-2 has no page, or one of another version.");
    assert_eq!((&row["mode"], &row["isAway"]), (&json!("unknown"), &json!(true)));
    let page = pair.get("").await.text;
    assert!(page.contains("bot-2 does not answer: its channels"), "{page}");
    assert_eq!(page.matches("name=\"mode\" id=\"mode-").count(), 1, "no control for the grey one");
    let path = format!("/channels/{}", pair.theirs);
    let asked = async { pair.get(&path).await };
    let (page, ()) = tokio::join!(asked, pair.pass(3));
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.text.contains("Bot-2 acts for this channel, and has no page"), "{}", page.text);
    assert!(!page.text.contains("data-order"), "nothing can be ordered");
}

#[tokio::test]
async fn the_live_page_of_another_processs_channel_is_drawn_anew_each_second() {
    let pair = Pair::open().await;
    let path = format!("/dirigent/live/channels/{}", pair.theirs);
    let mut page = Stream::open(&pair.fixture, &path, None).await;
    page.until("state", "bot-2 acts for this channel.").await;
    pair.other.asked();
    pair.other.play(|played| {
        let Some(PageAnswer::Channel(sheet)) = &mut played.sheet else { panic!("no sheet") };
        sheet.look.channel.why = "Something happened there.".to_owned();
    });
    tokio::join!(page.until("state", "Something happened there."), pair.pass(1));
    assert_eq!(pair.other.asked().len(), 1, "once a second");
    // It does not answer, and later does.
    pair.other.play(|played| played.error = Some(PeerError::NoAnswer));
    tokio::join!(page.until("state", "Bot-2 does not answer."), pair.pass(1));
    pair.other.play(|played| played.error = None);
    tokio::join!(page.until("state", "Something happened there."), pair.pass(1));
    // It has no such channel any more: the stream ends, and the page is told.
    let gone = Problem::new(404, "not-found", "there is no such channel");
    pair.other.play(|played| played.problem = Some(gone));
    let (end, ()) = tokio::join!(page.next(), pair.pass(1));
    assert!(end.is_none());
}

#[tokio::test]
async fn an_order_says_who_gave_it_and_what_the_owner_refuses_is_passed_on() {
    let pair = Pair::open().await;
    let order =
        async || pair.fixture.order(pair.theirs, OPERATOR, &json!({ "order": "stop" })).await;
    assert_eq!(order().await.status, StatusCode::OK);
    let (channel, by) = (pair.theirs, "operator at bot-1".to_owned());
    assert_eq!(
        pair.other.asked(),
        [PageQuestion::Order { channel, request: ChannelRequest::Stop, by, reason: None }]
    );
    let problem = Problem::new(409, "archived", "it is archived");
    pair.other.play(|played| played.problem = Some(problem));
    let refused = order().await;
    assert_eq!(refused.status, StatusCode::CONFLICT);
    assert_eq!(refused.json()["type"], "urn:dirigent:problem:archived");
    assert_eq!(pair.other.asked().len(), 1, "it is not given twice");
    // A form without a script comes back to the page.
    pair.other.play(|played| played.problem = None);
    let path = format!("/dirigent/channels/{}", pair.theirs);
    let mut form = request(Method::POST, &path, OPERATOR, Body::from("order=hold"));
    let kind = "application/x-www-form-urlencoded".parse().unwrap();
    form.headers_mut().insert(header::CONTENT_TYPE, kind);
    let to = format!("{path}?done=hold");
    assert_eq!(pair.fixture.ask(form).await.header(header::LOCATION), to);
    assert_eq!(pair.other.asked().len(), 1);
}

/// PG10: a text is posted once, by the process that acts for the channel, which writes down who posted it.
#[tokio::test]
async fn a_text_is_posted_by_the_process_that_acts_for_the_channel() {
    let pair = Pair::open().await;
    let post = json!({ "order": "post", "text": "a secret", "reason": "asked" });
    assert_eq!(pair.fixture.order(pair.theirs, OPERATOR, &post).await.status, StatusCode::OK);
    let text = serde_json::from_value(json!("a secret")).unwrap();
    let (channel, by) = (pair.theirs, "operator at bot-1".to_owned());
    let asked = PageQuestion::Post { channel, text, by, reason: Some("asked".to_owned()) };
    assert!(!format!("{asked:?}").contains("a secret"));
    assert_eq!(pair.other.asked(), [asked]);
    assert!(pair.fixture.discord.messages(pair.theirs).is_empty(), "not by this one");
    assert_eq!(
        pair.fixture.get("/dirigent/api/orders", OPERATOR).await.json()["orders"],
        json!([])
    );
}

#[tokio::test]
async fn a_replay_and_a_score_are_made_by_the_process_that_has_the_recording() {
    let pair = Pair::open().await;
    let path = format!("/channels/{}", pair.theirs);
    assert!(pair.get(&path).await.text.contains(">Replay</a>"));
    assert_eq!(pair.get(&format!("{path}/replay")).await.status, StatusCode::OK);
    pair.other.asked();
    for file in ["score.svg", "replay", "what-if?set=order.skip_passed%3Dtrue"] {
        let answer = pair.get(&format!("/api{path}/{file}")).await;
        assert_eq!((answer.status, answer.text.as_str()), (StatusCode::OK, "<svg/>"));
    }
    let channel = pair.theirs;
    let tried = WhatIfAsked { set: "order.skip_passed=true".to_owned(), ..WhatIfAsked::default() };
    let questions = [
        PageQuestion::Score { channel },
        PageQuestion::Replay { channel },
        PageQuestion::WhatIf { channel, asked: tried },
    ];
    assert_eq!(pair.other.asked(), questions);
}

#[tokio::test]
async fn a_change_of_the_registry_is_told_to_all() {
    let pair = Pair::open().await;
    let answer = pair
        .fixture
        .send_json(Method::DELETE, "/dirigent/api/identities/poet", OPERATOR, &Value::Null)
        .await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    assert_eq!(pair.other.asked(), [PageQuestion::RegistryChanged]);
}

#[tokio::test]
async fn what_another_process_tells_is_escaped() {
    let pair = Pair::open().await;
    pair.other.play(|played| {
        played.rows[0]["why"] = json!("<script>alert(1)</script>");
        played.rows[0]["owner"] = json!("<b>bot</b>");
    });
    let page = pair.get("").await.text;
    assert!(!page.contains("<script>alert") && !page.contains("<b>bot"), "{page}");
}

#[tokio::test]
async fn each_process_counts_its_own_channels_only() {
    let pair = Pair::open().await;
    let metrics = pair.get("/metrics").await.text;
    assert!(metrics.contains("dirigent_channels_owned 1\n"), "{metrics}");
    assert_eq!(pair.other.asked(), [], "no other process is asked for them");
}

#[tokio::test]
async fn without_a_way_to_the_others_their_channels_are_shown_as_theirs() {
    let other = Other::default();
    let owned = other.clone();
    let fixture = Fixture::open_as(|library| library.ownership(owned), |builder| builder).await;
    let (own, theirs) = (fixture.chat("den").await, fixture.chat("attic").await);
    other.play(|played| played.channels.extend([theirs]));
    let overview = fixture.get("/dirigent/api/channels", VIEWER).await.json();
    assert_eq!((&overview["all"], &overview["silent"]), (&json!(2), &json!([])));
    let look = fixture.get(&format!("/dirigent/api/channels/{theirs}"), VIEWER).await.json();
    assert_eq!(look["channel"]["why"], "Another process acts for this channel.");
    assert_eq!(look["orders"], json!([]));
    let order = json!({ "order": "stop" });
    assert_eq!(
        fixture.order(theirs, OPERATOR, &order).await.status,
        StatusCode::SERVICE_UNAVAILABLE
    );
    assert_eq!(fixture.order(own, OPERATOR, &order).await.status, StatusCode::OK);
}

/// What a host's number is called is the host's choice, but one that Prometheus cannot read must not spoil the others.
#[tokio::test]
async fn figures_that_cannot_be_read_are_left_out() {
    let figures = || {
        vec![
            Figure::gauge("good", "Good").value(3),
            Figure::gauge("good", "Again").value(4),
            Figure::gauge("two words", "Bad").value(5),
            Figure::gauge("", "Bad").value(6),
            Figure::counter("label", "Bad").labelled(&[("a b", "c")], 7),
            Figure::counter("quoted", "A \"quoted\"\nhelp").labelled(&[("of", "a\"b\nc")], 8),
        ]
    };
    let fixture = Fixture::open_with(|builder| builder.figures(figures)).await;
    let metrics = fixture.get("/dirigent/metrics", VIEWER).await.text;
    assert!(metrics.contains("dirigent_good 3\n"), "{metrics}");
    assert!(metrics.contains("dirigent_quoted_total{of=\"a\\\"b\\nc\"} 8\n"), "{metrics}");
    for bad in [" 4\n", " 5\n", " 6\n", " 7\n"] {
        let lines = metrics.lines().filter(|line| line.starts_with("dirigent_"));
        let ours = lines.filter(|line| ["good", "two", "label"].iter().any(|of| line.contains(of)));
        assert!(!ours.collect::<Vec<_>>().join("\n").contains(bad.trim_end()), "{metrics}");
    }
}

#[tokio::test]
async fn a_channel_that_its_process_answers_without_has_no_record_any_more() {
    let pair = Pair::open().await;
    assert_eq!(pair.row(pair.theirs).await["mode"], "chat");
    pair.other.play(|played| played.rows.clear());
    pair.pass(1).await;
    let row = pair.row(pair.theirs).await;
    assert_eq!((&row["mode"], &row["isAway"]), (&json!("none"), &json!(false)));
    // Public, it is no channel to be listed.
    pair.fixture.discord.add_open_channel(pair.fixture.guild, "square");
    assert_eq!(pair.overview().await["all"], 2);
}

#[tokio::test]
async fn what_this_process_knows_of_its_own_channel_counts() {
    let pair = Pair::open().await;
    let mut row = pair.row(pair.theirs).await;
    row["id"] = json!(pair.own.to_string());
    row["why"] = json!("It was mine.");
    pair.other.play(|played| {
        played.rows.push(row);
        played.rows.sort_by_key(|row| row["id"].as_str().map(str::to_owned));
    });
    pair.pass(1).await;
    let row = pair.row(pair.own).await;
    assert_eq!(
        (&row["owner"], &row["why"]),
        (&json!("bot-1"), &json!("Quiet until a person writes."))
    );
    // It is the other's now, and no process answers for it.
    pair.other.play(|played| {
        played.rows[0]["needsPerson"] = json!("A budget is spent");
        played.rows[0]["isLive"] = json!(true);
        played.channels.insert(pair.own);
    });
    pair.pass(1).await;
    assert_eq!(pair.overview().await["needPerson"], 1);
    pair.other.play(|played| played.error = Some(PeerError::NotReached));
    pair.pass(1).await;
    let overview = pair.overview().await;
    assert_eq!((&overview["needPerson"], &overview["live"]), (&json!(0), &json!(0)));
}

#[tokio::test]
async fn rows_are_answered_five_hundred_at_once_and_those_of_other_processes_never() {
    let other = Other::default();
    let (owned, answers) = (other.clone(), Arc::new(Mutex::new(None)));
    let fixture = Fixture::open_as(|library| library.ownership(owned), |builder| builder).await;
    let chat: Arc<dyn dirigent::ports::GuildApi> =
        Arc::new(fixture.discord.account(fixture.moderator));
    let control = Control::builder(fixture.dirigent.clone(), chat, fixture.identities.clone())
        .operator_token(OPERATOR)
        .build()
        .unwrap();
    let ids: Vec<_> = (0..503).map(|number| fixture.room(&format!("room-{number}"))).collect();
    let id = |number: usize| ids[number];
    for channel in &ids {
        fixture.dirigent.channel(*channel).set_mode(Mode::Report).await.unwrap();
    }
    other.play(|played| played.channels.extend([id(3), id(501)]));
    let ask = async |after: Option<ChannelId>| {
        let answer = control.answer(&PageQuestion::Rows { after }).await;
        let PageAnswer::Rows { rows, has_more } = answer.clone() else { panic!("{answer:?}") };
        *answers.lock().unwrap() = rows.last().map(|row| row.id.parse::<ChannelId>().unwrap());
        (rows.len(), has_more)
    };
    assert_eq!(ask(None).await, (500, true));
    let after = *answers.lock().unwrap();
    assert_eq!(after, Some(id(500)));
    assert_eq!(ask(after).await, (1, false));
    for question in [
        PageQuestion::Channel { channel: id(3) },
        PageQuestion::Score { channel: id(3) },
        PageQuestion::Replay { channel: id(3) },
        PageQuestion::Order {
            channel: id(3),
            request: ChannelRequest::Stop,
            by: "operator".to_owned(),
            reason: None,
        },
    ] {
        assert_eq!(control.answer(&question).await, PageAnswer::Elsewhere, "{question:?}");
    }
}

/// Two pages that ask each other, as two processes do.
struct Two {
    fixture: Fixture,
    clock: ManualClock,
    way: ControlsByName,
}

#[derive(Clone, Default)]
struct ControlsByName(Arc<Mutex<Joined>>);

#[derive(Default)]
struct Joined {
    controls: BTreeMap<&'static str, Control>,
    /// No question reaches the other page, or none is ever answered.
    is_cut: bool,
    is_mute: bool,
}

struct One {
    name: &'static str,
    way: ControlsByName,
}

#[async_trait]
impl Peers for One {
    fn me(&self) -> String {
        self.name.to_owned()
    }

    fn others(&self) -> Vec<String> {
        let names = ["bot-1", "bot-2"].into_iter().filter(|name| *name != self.name);
        names.map(str::to_owned).collect()
    }

    fn owner(&self, _: ChannelId) -> Option<String> {
        Some("bot-1".to_owned())
    }

    async fn ask(&self, peer: &str, question: &PageQuestion) -> Result<PageAnswer, PeerError> {
        let other = {
            let joined = self.way.0.lock().unwrap();
            match (joined.is_cut, joined.is_mute) {
                (true, _) => return Err(PeerError::NotReached),
                (_, true) => None,
                _ => Some(joined.controls[peer].clone()),
            }
        };
        match other {
            Some(other) => Ok(other.answer(question).await),
            None => std::future::pending().await,
        }
    }
}

impl Two {
    async fn open() -> Self {
        let clock = ManualClock::new();
        let time: Arc<dyn Clock> = Arc::new(clock.clone());
        let fixture = Fixture::open_with(|builder| builder.clock(time)).await;
        let two = Self { fixture, clock, way: ControlsByName::default() };
        two.start("bot-1");
        two.start("bot-2");
        two
    }

    /// Starts a process, which may have run before: it remembers nothing.
    fn start(&self, name: &'static str) {
        let (fixture, time) = (&self.fixture, Arc::new(self.clock.clone()));
        let chat: Arc<dyn dirigent::ports::GuildApi> =
            Arc::new(fixture.discord.account(fixture.moderator));
        let control = Control::builder(fixture.dirigent.clone(), chat, fixture.identities.clone())
            .operator_token(OPERATOR)
            .viewer_token(VIEWER)
            .clock(time as Arc<dyn Clock>)
            .peers(One { name, way: self.way.clone() })
            .build()
            .unwrap();
        self.way.0.lock().unwrap().controls.insert(name, control);
    }

    fn join(&self, change: impl FnOnce(&mut Joined)) {
        change(&mut self.way.0.lock().unwrap());
    }

    fn pass(&self, seconds: u64) {
        self.clock.set(self.clock.now() + Duration::from_secs(seconds));
    }

    async fn send(&self, name: &str, request: http::Request<Body>) -> http::Response<Body> {
        let control = self.way.0.lock().unwrap().controls[name].clone();
        control.at_its_path().oneshot(request).await.unwrap()
    }

    async fn sign_in(&self, name: &str) -> String {
        let body = Body::from(format!("token={OPERATOR}"));
        let mut asked = request(Method::POST, "/dirigent/sign-in", "", body);
        let form = "application/x-www-form-urlencoded".parse().unwrap();
        asked.headers_mut().insert(header::CONTENT_TYPE, form);
        let answer = self.send(name, asked).await;
        let cookie = answer.headers()[header::SET_COOKIE].to_str().unwrap();
        cookie.split(';').next().unwrap().to_owned()
    }

    async fn with(
        &self,
        name: &str,
        (method, path): (Method, &str),
        cookie: &str,
    ) -> http::Response<Body> {
        let mut asked = request(method, path, "", Body::empty());
        asked.headers_mut().insert(header::COOKIE, cookie.parse().unwrap());
        self.send(name, asked).await
    }

    async fn opens(&self, name: &str, cookie: &str) -> bool {
        let answer = self.with(name, (Method::GET, "/dirigent/registry"), cookie).await;
        answer.status() == StatusCode::OK
    }

    async fn sign_out(&self, name: &str, cookie: &str) -> http::Response<Body> {
        self.with(name, (Method::POST, "/dirigent/sign-out"), cookie).await
    }
}

/// PG8: a copy of the cookie opens no page of any process, and what it has opened ends.
#[tokio::test]
async fn a_sign_out_ends_the_session_in_every_process_at_once() {
    let two = Two::open().await;
    let (ends, stays) = (two.sign_in("bot-1").await, two.sign_in("bot-1").await);
    assert!(two.opens("bot-2", &ends).await && two.opens("bot-2", &stays).await);
    let mut live = Stream::of(two.with("bot-2", (Method::GET, "/dirigent/live"), &ends).await);
    live.next().await.unwrap();
    // No time passes.
    assert_eq!(two.sign_out("bot-1", &ends).await.status(), StatusCode::SEE_OTHER);
    assert!(live.next().await.is_none(), "the open page of the other process ends");
    for name in ["bot-1", "bot-2"] {
        assert!(!two.opens(name, &ends).await && two.opens(name, &stays).await, "{name}");
    }
    // A process that starts now has heard of no sign-out, and asks before it judges a session.
    for name in ["bot-2", "bot-1", "bot-2"] {
        two.start(name);
        assert!(!two.opens(name, &ends).await && two.opens(name, &stays).await, "{name}");
    }
}

/// PG8: who signs out reads that a process was not reached, and that process takes the cookie until it is.
#[tokio::test]
async fn a_process_that_was_not_reached_hears_of_a_sign_out_when_it_can() {
    let two = Two::open().await;
    for asks_meanwhile in [false, true] {
        let cookie = two.sign_in("bot-2").await;
        assert!(two.opens("bot-1", &cookie).await && two.opens("bot-2", &cookie).await);
        two.join(|joined| joined.is_cut = true);
        let answer = two.sign_out("bot-1", &cookie).await;
        assert_eq!(answer.status(), StatusCode::OK);
        assert!(answer.headers()[header::SET_COOKIE].to_str().unwrap().contains("Max-Age=0"));
        let text = http_body_util::BodyExt::collect(answer.into_body()).await.unwrap().to_bytes();
        let text = String::from_utf8(text.to_vec()).unwrap();
        assert!(text.contains("and bot-2 does not answer"), "{text}");
        assert!(!two.opens("bot-1", &cookie).await);
        if asks_meanwhile {
            two.pass(1);
            assert!(two.opens("bot-2", &cookie).await, "a lost process locks no operator out");
        }
        two.join(|joined| joined.is_cut = false);
        two.pass(3);
        // One that knows that the other was away asks it beside the visitor.
        let real = dirigent::SystemClock::new();
        let until = real.now() + Duration::from_secs(60);
        while asks_meanwhile && two.opens("bot-2", &cookie).await && real.now() < until {
            tokio::task::yield_now().await;
        }
        assert!(!two.opens("bot-2", &cookie).await, "asked meanwhile: {asks_meanwhile}");
    }
}

/// A process that stands still holds a visitor up once, for two seconds, and no further one.
#[tokio::test]
async fn a_process_that_does_not_answer_does_not_hold_up_those_who_are_signed_in() {
    let two = Two::open().await;
    let cookie = two.sign_in("bot-1").await;
    two.join(|joined| joined.is_mute = true);
    let begun = two.clock.now();
    let time_goes_by = async {
        loop {
            for _ in 0..50 {
                tokio::task::yield_now().await;
            }
            two.clock.set(two.clock.now() + Duration::from_millis(100));
        }
    };
    tokio::select! {
        is_open = two.opens("bot-1", &cookie) => assert!(is_open),
        () = time_goes_by => {}
    }
    assert_eq!(two.clock.now().since(begun), Duration::from_secs(2));
    for _ in 0..10 {
        // Time stands still while it is asked.
        assert!(two.opens("bot-1", &cookie).await);
        two.pass(1);
    }
}
