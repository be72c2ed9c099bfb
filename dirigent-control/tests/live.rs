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
        let answer = fixture.send(asked).await;
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
