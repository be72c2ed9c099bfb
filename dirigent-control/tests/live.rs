//! Pages that change by themselves.

use std::time::Duration;

use axum::body::Body;
use http::{Method, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};

use crate::fixture::{Fixture, OPERATOR, VIEWER, request};

/// An open stream.
pub(crate) struct Stream(Body);

impl Stream {
    pub(crate) async fn open(fixture: &Fixture, path: &str, had: Option<&str>) -> Self {
        let mut asked = request(Method::GET, path, VIEWER, Body::empty());
        if let Some(had) = had {
            asked.headers_mut().insert("last-event-id", had.parse().unwrap());
        }
        Self::of(fixture.send(asked).await)
    }

    pub(crate) fn of(answer: http::Response<Body>) -> Self {
        assert_eq!(answer.status(), StatusCode::OK);
        Self(answer.into_body())
    }

    /// The next event: its id, and what it changes.
    pub(crate) async fn next(&mut self) -> Option<(String, Value)> {
        loop {
            // Sooner than a stream looks again by itself: what changed is heard of.
            let frame = tokio::time::timeout(Duration::from_secs(8), self.0.frame()).await;
            let frame = frame.expect("nothing is sent")?;
            let text = String::from_utf8(frame.unwrap().into_data().unwrap().to_vec()).unwrap();
            let line = |name: &str| {
                text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
            };
            if let (Some(data), Some(id)) = (line("data"), line("id")) {
                return Some((id.to_owned(), serde_json::from_str(data).unwrap()));
            }
        }
    }

    /// What the stream says next of whether the page is live.
    async fn standing(&mut self) -> String {
        loop {
            let frame = tokio::time::timeout(Duration::from_secs(8), self.0.frame()).await;
            let frame = frame.expect("nothing is sent").expect("the stream ended");
            let text = String::from_utf8(frame.unwrap().into_data().unwrap().to_vec()).unwrap();
            if text.contains("event: standing") {
                let data = text.lines().find_map(|line| line.strip_prefix("data: "));
                return data.unwrap().to_owned();
            }
        }
    }

    /// Reads on until a part has this in it.
    pub(crate) async fn until(&mut self, part: &str, text: &str) -> String {
        loop {
            let (id, regions) = self.next().await.expect("the stream ended");
            let parts = regions.as_array().unwrap();
            let is = |region: &&Value| {
                region["id"] == part && region["html"].as_str().unwrap().contains(text)
            };
            if parts.iter().any(|region| is(&region)) {
                return id;
            }
        }
    }
}

/// R161
#[tokio::test]
async fn the_speaker_moves_without_a_reload() {
    let fixture = Fixture::open().await;
    let channel = fixture.chat("den").await;
    let mut overview = Stream::open(&fixture, "/dirigent/live", None).await;
    let mut page =
        Stream::open(&fixture, &format!("/dirigent/live/channels/{channel}"), None).await;
    overview.until("summary", "In 0 of 1").await;
    page.until("state", "Quiet until a person writes.").await;
    let speaker = fixture.wake(channel).await;
    let name = if speaker == "poet" { "Poet is thinking." } else { "Critic is thinking." };
    page.until("state", name).await;
    overview.until(&format!("c-{channel}"), name).await;
    fixture.order(channel, OPERATOR, &json!({ "order": "stop" })).await;
    page.until("state", "The channel was stopped.").await;
}

#[tokio::test]
async fn after_a_break_a_page_is_sent_what_it_lacks_and_nothing_that_it_has() {
    let fixture = Fixture::open().await;
    let channel = fixture.chat("den").await;
    let path = format!("/dirigent/live/channels/{channel}");
    let mut page = Stream::open(&fixture, &path, None).await;
    let had = page.until("state", "Quiet until a person writes.").await;
    drop(page);
    fixture.dirigent.channel(channel).stop().await.unwrap();
    let mut page = Stream::open(&fixture, &path, Some(&had)).await;
    let has = page.until("state", "The channel was stopped.").await;
    drop(page);
    let mut page = Stream::open(&fixture, &path, Some(&has)).await;
    fixture.dirigent.channel(channel).resume().await.unwrap();
    let (_, regions) = page.next().await.unwrap();
    let html = regions.to_string();
    assert!(
        html.contains("Quiet until a person writes."),
        "the first event is the next change: {html}"
    );
}

#[tokio::test]
async fn a_stream_for_a_viewer_has_no_controls() {
    let fixture = Fixture::open().await;
    let channel = fixture.chat("den").await;
    for path in ["/dirigent/live".to_owned(), format!("/dirigent/live/channels/{channel}")] {
        let (_, regions) = Stream::open(&fixture, &path, None).await.next().await.unwrap();
        assert!(!regions.to_string().contains("data-order"), "{path}");
    }
}

#[tokio::test]
async fn more_streams_than_allowed_are_refused_and_a_closed_one_makes_room() {
    let fixture = Fixture::open_with(|builder| builder.streams_max(2)).await;
    fixture.chat("den").await;
    let one = Stream::open(&fixture, "/dirigent/live", None).await;
    let _two = Stream::open(&fixture, "/dirigent/live", None).await;
    assert_eq!(fixture.get("/dirigent/live", VIEWER).await.status, StatusCode::SERVICE_UNAVAILABLE);
    drop(one);
    let _three = Stream::open(&fixture, "/dirigent/live", None).await;
}

#[tokio::test]
async fn a_thousand_open_streams_are_served_and_pages_still_answer() {
    let fixture = Fixture::open().await;
    let channel = fixture.chat("den").await;
    let path = format!("/dirigent/live/channels/{channel}");
    let mut streams = Vec::new();
    for _ in 0..1_000 {
        let mut stream = Stream::open(&fixture, &path, None).await;
        stream.next().await.unwrap();
        streams.push(stream);
    }
    assert_eq!(fixture.get("/dirigent/api/channels", VIEWER).await.status, StatusCode::OK);
    fixture.dirigent.channel(channel).stop().await.unwrap();
    let told = streams.iter_mut().map(|stream| stream.until("state", "The channel was stopped."));
    futures_util::future::join_all(told).await;
}

/// A page that is not read does not pile up what it has not heard: when it reads again it is told how things are.
#[tokio::test]
async fn a_stream_that_is_not_read_holds_nothing_back_and_is_told_the_present() {
    let fixture = Fixture::open().await;
    let channel = fixture.chat("den").await;
    let path = format!("/dirigent/live/channels/{channel}");
    let mut slow = Stream::open(&fixture, &path, None).await;
    slow.until("state", "Quiet until a person writes.").await;
    for _ in 0..200 {
        fixture.dirigent.channel(channel).hold().await.unwrap();
        fixture.dirigent.channel(channel).resume().await.unwrap();
    }
    fixture.dirigent.channel(channel).stop().await.unwrap();
    let (_, regions) = slow.next().await.unwrap();
    let parts = regions.as_array().unwrap();
    let state = parts.iter().find(|region| region["id"] == "state").unwrap();
    assert!(state["html"].as_str().unwrap().contains("The channel was stopped."), "{state}");
}

#[tokio::test]
async fn the_stream_of_a_channel_that_vanishes_ends_and_is_not_found_again() {
    let fixture = Fixture::open().await;
    // A public channel is there as long as it has a record.
    let channel = fixture.discord.add_open_channel(fixture.guild, "town-hall");
    fixture.dirigent.channel(channel).set_mode(dirigent::Mode::Report).await.unwrap();
    let path = format!("/dirigent/live/channels/{channel}");
    let mut page = Stream::open(&fixture, &path, None).await;
    page.until("state", "In a report channel").await;
    fixture.dirigent.channel(channel).erase().await.unwrap();
    fixture.dirigent.channel(channel).progress("research", "something to be told");
    while page.next().await.is_some() {}
    assert_eq!(fixture.get(&path, VIEWER).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn work_under_way_is_told_to_the_page_of_its_channel_at_once() {
    let fixture = Fixture::open().await;
    let (channel, other) = (fixture.chat("den").await, fixture.chat("other").await);
    let mut page =
        Stream::open(&fixture, &format!("/dirigent/live/channels/{channel}"), None).await;
    page.until("state", "Quiet until a person writes.").await;
    for so_far in ["works", "has read two pages", "ended: success"] {
        fixture.dirigent.channel(other).progress("elsewhere", so_far);
        fixture.dirigent.channel(channel).progress("research", so_far);
        let (_, regions) = page.next().await.unwrap();
        let html = regions.to_string();
        assert!(html.contains(so_far) && !html.contains("elsewhere"), "{html}");
    }
}

/// What a page holds after what a stream sent, as the script takes it over.
#[derive(Default)]
struct Held {
    groups: Vec<(String, Vec<String>)>,
    rows: std::collections::BTreeMap<String, String>,
    summary: String,
}

impl Held {
    fn take(&mut self, regions: &Value) {
        for region in regions.as_array().unwrap() {
            let (id, html) = (region["id"].as_str().unwrap(), region["html"].as_str());
            if let Some(groups) = region["groups"].as_array() {
                let rows = |group: &Value| {
                    let rows = group["rows"].as_array().unwrap();
                    rows.iter().map(|row| row.as_str().unwrap().to_owned()).collect::<Vec<_>>()
                };
                let group =
                    |group: &Value| (group["heading"].as_str().unwrap().to_owned(), rows(group));
                self.groups = groups.iter().map(group).collect();
                let wanted: Vec<_> = self.groups.iter().flat_map(|(_, rows)| rows).collect();
                self.rows.retain(|id, _| wanted.contains(&id));
            } else if id == "summary" {
                html.unwrap().clone_into(&mut self.summary);
            }
        }
        for region in regions.as_array().unwrap() {
            let id = region["id"].as_str().unwrap();
            let is_wanted = self.groups.iter().any(|(_, rows)| rows.iter().any(|row| row == id));
            if is_wanted {
                self.rows.insert(id.to_owned(), region["html"].as_str().unwrap().to_owned());
            }
        }
    }

    /// The rows of the page as it is after a reload, in order, with their headings.
    fn of_page(html: &str) -> Vec<(String, Vec<(String, String)>)> {
        let bodies = html.split("<tbody>").skip(1);
        let body = |body: &str| {
            let heading = body.split("<bdi>").nth(1).unwrap().split("</bdi>").next().unwrap();
            let rows = body.split("<tr id=\"").skip(1).map(|row| {
                let (id, rest) = row.split_once("\">").unwrap();
                (id.to_owned(), rest.split("</tr>").next().unwrap().to_owned())
            });
            (heading.to_owned(), rows.collect())
        };
        bodies.map(body).collect()
    }

    fn shown(&self) -> Vec<(String, Vec<(String, String)>)> {
        let rows = |rows: &Vec<String>| {
            rows.iter().map(|id| (id.clone(), self.rows[id].clone())).collect::<Vec<_>>()
        };
        self.groups.iter().map(|(heading, ids)| (heading.clone(), rows(ids))).collect()
    }

    /// Reads on until it shows what a reload shows.
    async fn until_as_reloaded(&mut self, stream: &mut Stream, fixture: &Fixture, path: &str) {
        loop {
            let page = fixture.page(path, VIEWER).await.text;
            if self.shown() == Self::of_page(&page) && page.contains(&self.summary) {
                return;
            }
            let (_, regions) = stream.next().await.expect("the stream ended");
            self.take(&regions);
        }
    }
}

/// PG4: rows come, go, move and are grouped anew, and each list shows what a reload shows.
#[tokio::test]
async fn an_open_list_shows_what_a_reload_shows() {
    let fixture = Fixture::open().await;
    let channel = fixture.chat("zoo").await;
    let other = fixture.chat("den").await;
    let lists = ["", "?show=needs", "?show=live", "?show=managed", "?find=zoo", "?mode=report"];
    let mut open = Vec::new();
    for list in lists {
        let stream = Stream::open(&fixture, &format!("/dirigent/live{list}"), None).await;
        open.push((format!("/dirigent{list}"), stream, Held::default()));
    }
    let all_agree = async |open: &mut Vec<(String, Stream, Held)>| {
        for (path, stream, held) in open {
            held.until_as_reloaded(stream, &fixture, path).await;
        }
    };
    all_agree(&mut open).await;
    let shows = |open: &[(String, Stream, Held)], at: usize| -> Vec<String> {
        open[at].2.groups.iter().flat_map(|(_, rows)| rows.clone()).collect()
    };
    let (zoo, den) = (format!("c-{channel}"), format!("c-{other}"));
    assert_eq!(shows(&open, 0), [den.clone(), zoo.clone()]);
    assert!(shows(&open, 1).is_empty() && shows(&open, 2).is_empty());

    // Somebody speaks: the row comes into one list.
    fixture.wake(channel).await;
    all_agree(&mut open).await;
    assert_eq!(shows(&open, 2), std::slice::from_ref(&zoo));
    // It needs a person: it comes, moves to the front under another heading, and goes elsewhere.
    fixture.dirigent.channel(channel).stop().await.unwrap();
    fixture.dirigent.channel(channel).report_cost(1_000).await.unwrap();
    fixture.dirigent.channel(channel).resume().await.unwrap();
    fixture.discord.say(channel, fixture.person, "Hello");
    fixture
        .until(channel, |status| {
            (status.silence == Some(dirigent::operate::Reason::BudgetSpent)).then_some(())
        })
        .await;
    all_agree(&mut open).await;
    assert_eq!(shows(&open, 0), [zoo.clone(), den.clone()]);
    assert!(open[0].2.groups[0].0.starts_with("Needs a person"), "{:?}", open[0].2.groups);
    assert_eq!((shows(&open, 1), shows(&open, 2)), (vec![zoo.clone()], Vec::new()));
    // It goes again, and comes back as it was.
    for _ in 0..2 {
        fixture.dirigent.channel(channel).reset_budget().await.unwrap();
        fixture.dirigent.channel(channel).stop().await.unwrap();
        all_agree(&mut open).await;
        assert!(shows(&open, 1).is_empty());
        fixture.dirigent.channel(channel).report_cost(1_000).await.unwrap();
        fixture.dirigent.channel(channel).resume().await.unwrap();
        fixture.discord.say(channel, fixture.person, "Hello");
        fixture
            .until(channel, |status| {
                (status.silence == Some(dirigent::operate::Reason::BudgetSpent)).then_some(())
            })
            .await;
        all_agree(&mut open).await;
        assert_eq!(shows(&open, 1), std::slice::from_ref(&zoo));
    }
    fixture.dirigent.channel(other).set_mode(dirigent::Mode::Report).await.unwrap();
    all_agree(&mut open).await;
    assert_eq!(shows(&open, 5), [den]);
}

/// PG4: the title says how many channels need a person, for who looks at another tab.
#[tokio::test]
async fn the_title_counts_the_channels_that_need_a_person() {
    let fixture = Fixture::open().await;
    let channel = fixture.chat("zoo").await;
    let title = async |path: &str| {
        let page = fixture.page(path, VIEWER).await.text;
        page.split("<title>").nth(1).unwrap().split("</title>").next().unwrap().to_owned()
    };
    let path = format!("/dirigent/channels/{channel}");
    assert_eq!(title("/dirigent").await, "Channels · Dirigent");
    let mut stream = Stream::open(&fixture, "/dirigent/live", None).await;
    stream.until("summary", "data-needs=\"0\"").await;
    fixture.dirigent.channel(channel).report_cost(1_000).await.unwrap();
    fixture.discord.say(channel, fixture.person, "Hello");
    stream.until("summary", &format!("data-needs=\"1\" data-needing=\"{channel}\"")).await;
    assert_eq!(title("/dirigent?find=nothing").await, "(1) Channels · Dirigent");
    assert_eq!(title(&path).await, "(1) zoo · Dirigent");
}

/// PG5: a proxy with nginx's defaults passes each event on at once, since the answer asks it to.
#[tokio::test]
async fn a_stream_asks_proxies_not_to_collect_it() {
    let fixture = Fixture::open().await;
    let answer = fixture.send(request(Method::GET, "/dirigent/live", VIEWER, Body::empty())).await;
    assert_eq!(answer.headers()["x-accel-buffering"], "no");
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
}

/// PG5: a page that still has its connection is told when what it shows is not the present any more.
#[tokio::test]
async fn a_stream_says_when_the_driver_has_ended() {
    let fixture = Fixture::open().await;
    let channel = fixture.chat("den").await;
    for path in ["/dirigent/live".to_owned(), format!("/dirigent/live/channels/{channel}")] {
        assert_eq!(Stream::open(&fixture, &path, None).await.standing().await, "live");
    }
    let mut stream = Stream::open(&fixture, "/dirigent/live", None).await;
    assert_eq!(stream.standing().await, "live");
    fixture.dirigent.shutdown(Duration::ZERO).await;
    assert_eq!(stream.standing().await, "ended");
    let mut late = Stream::open(&fixture, "/dirigent/live", None).await;
    assert_eq!(late.standing().await, "ended");
}

/// PG5: what the script does so that a page is live again by itself. That it does, a real browser shows (`.ci/browser`).
#[test]
fn a_page_asks_for_its_stream_again_with_growing_pauses() {
    let script = include_str!("../assets/control.js");
    for part in
        ["500 * 2 ** tries", "Date.now() - heardAt > SILENCE", "addEventListener(\"online\""]
    {
        assert!(script.contains(part), "{part}");
    }
    let lost = script.split("const lost = async").nth(1).unwrap().split("const asksWhy").next();
    assert!(lost.unwrap().contains("again("), "an answer with an error is no end");
}

/// PG9: however many see the same, it is drawn once for a change.
#[tokio::test]
async fn what_many_see_is_drawn_once_for_a_change() {
    let fixture = Fixture::open().await;
    for at in 0..20 {
        fixture.chat(&format!("room-{at}")).await;
    }
    let channel = fixture.chat("den").await;
    let mut streams = Vec::new();
    for _ in 0..200 {
        let mut stream = Stream::open(&fixture, "/dirigent/live", None).await;
        stream.next().await.unwrap();
        streams.push(stream);
    }
    let before = drawings(&fixture).await;
    fixture.dirigent.channel(channel).stop().await.unwrap();
    let part = format!("c-{channel}");
    let told = streams.iter_mut().map(|stream| stream.until(&part, "stopped"));
    futures_util::future::join_all(told).await;
    let drawn = drawings(&fixture).await - before;
    assert!((1..=4).contains(&drawn), "{drawn} drawings for 200 pages that see the same");
    drop(streams);
    // Who reloads at the same moment shares, too: each waits for the next drawing at most.
    let before = drawings(&fixture).await;
    let reload = || fixture.page("/dirigent", VIEWER);
    let pages = futures_util::future::join_all((0..200).map(|_| reload())).await;
    assert!(pages.iter().all(|page| page.text == pages[0].text));
    let drawn = drawings(&fixture).await - before;
    assert!((1..=10).contains(&drawn), "{drawn} drawings for 200 reloads");
}

async fn drawings(fixture: &Fixture) -> u64 {
    let metrics = fixture.get("/dirigent/metrics", VIEWER).await.text;
    let line = metrics.lines().find_map(|line| line.strip_prefix("dirigent_page_drawings_total "));
    line.unwrap().parse().unwrap()
}

/// PG9: a page has at most 60 KB, also one of many channels with long topics and names.
#[tokio::test]
async fn a_page_has_at_most_sixty_kilobytes() {
    let fixture = Fixture::open().await;
    let mut channels = Vec::new();
    for at in 0..120 {
        channels.push(fixture.chat(&format!("a-room-with-a-name-of-some-length-{at}")).await);
    }
    for room in fixture.discord.world().places.rooms.values_mut() {
        room.topic = Some("Topics & more ".repeat(73));
    }
    let page = fixture.page("/dirigent", OPERATOR).await.text;
    let topic = page.split("class=\"topic\" dir=\"auto\">").nth(1).unwrap();
    let topic = topic.split('<').next().unwrap().replace("&#38;", "&");
    assert!(topic.starts_with("Topics & more Topics") && topic.ends_with('…'), "{topic}");
    assert!((70..=81).contains(&topic.chars().count()), "{topic}");

    // The log, the registry, and the pages of one channel and of one agent.
    let reason = "Reasons & more ".repeat(13);
    for at in 0..600 {
        let order = if at % 2 == 0 { "hold" } else { "resume" };
        let order = json!({ "order": order, "reason": reason });
        assert_eq!(fixture.order(channels[0], OPERATOR, &order).await.status, StatusCode::OK);
    }
    for at in 0..120_u64 {
        let agent = format!("{at:03}-{}", "agent-of-a-long-id-".repeat(5));
        let agent_name = format!("{at:03} {}", "Näme & more ".repeat(8));
        let identity = dirigent::ports::Identity {
            discord_user_id: dirigent::UserId::new(900_000_000_000_000_000 + at),
            agent_id: agent.as_str().into(),
            agent_name,
        };
        fixture.identities.add(identity).unwrap();
    }
    fixture.dirigent.identities_changed().await.unwrap();
    let one = format!("/dirigent/channels/{}", channels[0]);
    for path in
        ["/dirigent", "/dirigent/orders", "/dirigent/registry", "/dirigent/agents/poet", &one]
    {
        for token in [OPERATOR, VIEWER] {
            let page = fixture.page(path, token).await;
            assert_eq!(page.status, StatusCode::OK, "{path}");
            let size = page.text.len();
            assert!((5_000..=60_000).contains(&size), "{path}: {size} bytes");
        }
    }
}

/// PG9: long lists have pages, and each entry is on one of them.
#[tokio::test]
async fn orders_agents_and_an_agents_channels_are_turned_page_by_page() {
    let fixture = Fixture::open().await;
    let channel = fixture.chat("den").await;
    for at in 0..60 {
        fixture.chat(&format!("room-{at:02}")).await;
        let order = json!({ "order": "hold", "reason": format!("reason {at:02}") });
        fixture.order(channel, OPERATOR, &order).await;
        let identity = dirigent::ports::Identity {
            discord_user_id: dirigent::UserId::new(900_000_000_000_000_000 + at),
            agent_id: format!("agent-{at:02}").as_str().into(),
            agent_name: format!("Agent {at:02}"),
        };
        fixture.identities.add(identity).unwrap();
    }
    for (path, entry) in [
        ("/dirigent/orders", "<bdi>reason "),
        ("/dirigent/registry", "<bdi>agent-"),
        ("/dirigent/agents/poet", "<bdi>room-"),
    ] {
        let mut seen = Vec::new();
        let mut next = path.to_owned();
        loop {
            let page = fixture.page(&next, VIEWER).await.text;
            let entries = page.split(entry).skip(1).map(|rest| rest[..2].to_owned());
            seen.extend(entries);
            let Some((before, _)) = page.split_once(" ›</a>") else { break };
            next = before.rsplit("href=\"").next().unwrap().split('"').next().unwrap().to_owned();
            assert!(next.starts_with(path), "{next}");
        }
        let mut all = seen.clone();
        all.sort_unstable();
        all.dedup();
        assert_eq!((all.len(), seen.len()), (60, 60), "{path}: {seen:?}");
        let far = fixture.page(&format!("{path}?page=999"), VIEWER).await;
        assert!(far.status == StatusCode::OK && far.text.contains("Page 3 of 3"), "{}", far.text);
        assert!(far.text.contains(&format!("href=\"{path}?page=2\"")), "and back");
    }
}

/// PG4: who asks for it is notified when one more channel needs a person and nobody looks at the page; who does not ask is not.
#[tokio::test]
async fn a_notification_is_shown_to_who_asks_for_it() {
    let fixture = Fixture::open().await;
    let page = fixture.page("/dirigent", VIEWER).await.text;
    assert!(page.contains("<button id=\"notify\" class=\"plain notify\" hidden>"), "{page}");
    let script = include_str!("../assets/control.js");
    let asks = script.split("const isNotifying").nth(1).unwrap();
    for part in [
        "Notification.permission === \"granted\" && localStorage.getItem(NOTIFY) === \"on\"",
        "if (!isNotifying() || !document.hidden) return;",
        "Notification.requestPermission()",
    ] {
        assert!(asks.contains(part), "{part}");
    }
    assert!(script.contains("if (needed !== null && isNew) notify(needs);"));
}
