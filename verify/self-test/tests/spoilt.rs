//! Discords that break one assumption each: the self-test names exactly that one.

mod events;
mod posts;
mod rest;

use std::time::Duration;

use dirigent_loopback::{AlteredAnswer, AlteredEvent, AlteredRequest, RestRoute as E};
use self_test::assumptions;
use serde_json::Value;

use super::{Scene, differing};

/// How a Discord is spoilt: what is wrong in words, the assumption that it breaks, and how.
type Spoilt = (&'static str, &'static str, fn(&mut Scene));

/// Changes what is posted.
fn posts(scene: &Scene, change: fn(&mut Value)) {
    requests(scene, E::CreateMessage, move |request| change(&mut request.body));
}

fn requests(
    scene: &Scene,
    endpoint: E,
    change: impl Fn(&mut AlteredRequest) + Send + Sync + 'static,
) {
    scene.server.alter().requests(move |request| {
        if request.endpoint == endpoint {
            change(request);
        }
    });
}

fn answers(
    scene: &Scene,
    endpoint: E,
    change: impl Fn(&mut AlteredAnswer) + Send + Sync + 'static,
) {
    scene.server.alter().answers(move |answer| {
        if answer.endpoint == endpoint {
            change(answer);
        }
    });
}

/// Changes what is said where a limit is reached.
fn refusals(scene: &Scene, change: fn(&mut AlteredAnswer)) {
    scene.server.alter().answers(move |answer| {
        if answer.status == 429 {
            change(answer);
        }
    });
}

fn events(
    scene: &Scene,
    name: &'static str,
    change: impl Fn(&mut AlteredEvent) -> bool + Send + Sync + 'static,
) {
    scene.server.alter().events(move |event| event.name != name || change(event));
}

/// The nonce of a message, if it ends so.
fn nonce(message: &Value, end: &str) -> Value {
    let nonce = message["nonce"].as_str().filter(|nonce| nonce.ends_with(end));
    nonce.map_or(Value::from("none"), Value::from)
}

/// Gives a message an id, and a time, that are earlier.
fn earlier(message: &mut Value, millis: u64) {
    let id: u64 = message["id"].as_str().unwrap().parse().unwrap();
    let before = id - (millis << 22);
    message["id"] = before.to_string().into();
    let written = twilight_model::util::Timestamp::from_micros(
        i64::try_from((before >> 22) + 1_420_070_400_000).unwrap() * 1_000,
    );
    message["timestamp"] = written.unwrap().iso_8601().to_string().into();
}

/// Tries each of these Discords. The self-test must name exactly the broken assumption, and leave nothing behind.
async fn try_each(spoilt: &[Spoilt]) {
    let mut wrong = Vec::new();
    for (what, assumption, spoil) in spoilt {
        let mut scene = Scene::new().await;
        spoil(&mut scene);
        let report = scene.try_all().await;
        if differing(&report) != [*assumption] || report.exit_code() != 1 {
            wrong.push(format!("{what} ({assumption}):\n{report}\n"));
        }
        if report.requests > 60 || u64::from(report.requests) != scene.server.traffic().total() {
            wrong.push(format!("{what}: {} requests\n", report.requests));
        }
        if scene.texts() != ["Good morning"] {
            wrong.push(format!("{what}: left in the channel: {:?}\n", scene.texts()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.concat());
}

#[tokio::test]
async fn what_is_wrong_with_posts_and_the_history_is_named_and_nothing_else() {
    try_each(posts::SPOILT).await;
}

#[tokio::test]
async fn what_is_wrong_with_limits_permissions_and_commands_is_named_and_nothing_else() {
    try_each(rest::SPOILT).await;
}

#[tokio::test]
async fn what_is_wrong_with_the_gateway_is_named_and_nothing_else() {
    try_each(events::SPOILT).await;
}

#[tokio::test]
async fn a_nonce_that_is_forgotten_too_soon_is_noticed() {
    let scene = Scene::over(|discord| discord.with_nonce_window(Duration::from_secs(104))).await;
    assert_eq!(differing(&scene.try_all().await), ["post 2"]);
    assert_eq!(scene.texts(), ["Good morning"]);
    let scene = Scene::over(|discord| discord.with_nonce_window(Duration::from_secs(106))).await;
    assert!(differing(&scene.try_all().await).is_empty());
}

#[test]
fn there_is_a_spoilt_discord_for_every_assumption_that_is_tried() {
    let all = [posts::SPOILT, rest::SPOILT, events::SPOILT].concat();
    for assumption in assumptions().filter(|tried| *tried != "post 2") {
        assert!(all.iter().any(|(_, broken, _)| *broken == assumption), "{assumption}");
    }
}
