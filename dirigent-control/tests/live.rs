//! Pages that change by themselves.

use std::time::Duration;

use axum::body::Body;
use http::{Method, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};

use crate::fixture::{House, OPERATOR, VIEWER, request};

/// An open stream.
struct Stream(Body);

impl Stream {
    async fn open(house: &House, path: &str, had: Option<&str>) -> Self {
        let mut asked = request(Method::GET, path, VIEWER, Body::empty());
        if let Some(had) = had {
            asked.headers_mut().insert("last-event-id", had.parse().unwrap());
        }
        let answer = house.send(asked).await;
        assert_eq!(answer.status(), StatusCode::OK);
        Self(answer.into_body())
    }

    /// The next event: its id, and what it changes.
    async fn next(&mut self) -> Option<(String, Value)> {
        loop {
            let frame =
                tokio::time::timeout(Duration::from_secs(20), self.0.frame()).await.ok()??;
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
    async fn until(&mut self, part: &str, text: &str) -> String {
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
    let house = House::open().await;
    let channel = house.chat("den").await;
    let mut overview = Stream::open(&house, "/dirigent/live", None).await;
    let mut page = Stream::open(&house, &format!("/dirigent/live/channels/{channel}"), None).await;
    overview.until("summary", "In 0 of 1").await;
    page.until("state", "No agent has the floor.").await;
    let speaker = house.wake(channel).await;
    let name = if speaker == "poet" { "Poet is thinking." } else { "Critic is thinking." };
    page.until("state", name).await;
    overview.until(&format!("c-{channel}"), name).await;
    house.order(channel, OPERATOR, &json!({ "order": "stop" })).await;
    page.until("state", "The channel was stopped.").await;
}

#[tokio::test]
async fn after_a_break_a_page_is_sent_what_it_lacks_and_nothing_that_it_has() {
    let house = House::open().await;
    let channel = house.chat("den").await;
    let path = format!("/dirigent/live/channels/{channel}");
    let mut page = Stream::open(&house, &path, None).await;
    let had = page.until("state", "No agent has the floor.").await;
    drop(page);
    house.dirigent.channel(channel).stop().await.unwrap();
    let mut page = Stream::open(&house, &path, Some(&had)).await;
    let has = page.until("state", "The channel was stopped.").await;
    drop(page);
    let mut page = Stream::open(&house, &path, Some(&has)).await;
    house.dirigent.channel(channel).resume().await.unwrap();
    let (_, regions) = page.next().await.unwrap();
    let html = regions.to_string();
    assert!(html.contains("No agent has the floor."), "the first event is the next change: {html}");
}

#[tokio::test]
async fn a_stream_for_a_viewer_has_no_controls() {
    let house = House::open().await;
    let channel = house.chat("den").await;
    for path in ["/dirigent/live".to_owned(), format!("/dirigent/live/channels/{channel}")] {
        let (_, regions) = Stream::open(&house, &path, None).await.next().await.unwrap();
        assert!(!regions.to_string().contains("data-order"), "{path}");
    }
}

#[tokio::test]
async fn more_streams_than_allowed_are_refused_and_a_closed_one_makes_room() {
    let house = House::open_with(|builder| builder.streams_max(2)).await;
    house.chat("den").await;
    let one = Stream::open(&house, "/dirigent/live", None).await;
    let _two = Stream::open(&house, "/dirigent/live", None).await;
    assert_eq!(house.get("/dirigent/live", VIEWER).await.status, StatusCode::SERVICE_UNAVAILABLE);
    drop(one);
    let _three = Stream::open(&house, "/dirigent/live", None).await;
}

#[tokio::test]
async fn a_thousand_open_streams_are_served_and_pages_still_answer() {
    let house = House::open().await;
    let channel = house.chat("den").await;
    let path = format!("/dirigent/live/channels/{channel}");
    let mut streams = Vec::new();
    for _ in 0..1_000 {
        let mut stream = Stream::open(&house, &path, None).await;
        stream.next().await.unwrap();
        streams.push(stream);
    }
    assert_eq!(house.get("/dirigent/api/channels", VIEWER).await.status, StatusCode::OK);
    house.dirigent.channel(channel).stop().await.unwrap();
    let told = streams.iter_mut().map(|stream| stream.until("state", "The channel was stopped."));
    futures_util::future::join_all(told).await;
}
