//! What is left when something fails on the way, or the self-test is interrupted.

use std::sync::Arc;
use std::time::Duration;

use dirigent_loopback::{RestFault, RestFaults, RestRoute};
use self_test::Trouble;

use super::{Scene, differing};

/// After each number of requests, the rest of which is dropped.
#[tokio::test]
async fn an_interruption_at_any_moment_leaves_nothing_behind() {
    for requests in (1..44).step_by(3) {
        let scene = Arc::new(Scene::new().await);
        let watched = Arc::clone(&scene);
        let interrupted = async move {
            while watched.server.traffic().total() < requests {
                tokio::task::yield_now().await;
            }
        };
        let (report, _) = scene.run_until(scene.both(), true, interrupted).await;
        assert_eq!(report.trouble, Some(Trouble::Interrupted), "{requests}: {report}");
        assert_eq!(scene.texts(), ["Good morning"], "{requests}: {report}");
        assert!(!scene.has_command(), "{requests}");
        assert!(report.requests <= 60 && report.took < Duration::from_secs(120), "{report}");
    }
}

/// Requests that fail in every way, by chance.
#[tokio::test]
async fn failing_requests_are_no_broken_assumptions_and_what_is_left_is_named() {
    let fault = |number: u64| match number % 4 {
        0 => RestFault::LostAnswer,
        1 => RestFault::NotDelivered,
        2 => RestFault::ServerError { status: 500, is_applied: true },
        _ => RestFault::ServerError { status: 502, is_applied: false },
    };
    let mut clean = 0;
    for seed in 0..16 {
        let scene = Scene::new().await;
        // The first requests have to work, or nothing is tried.
        let rate = RestFaults::new(seed).with_rate(None, fault(seed), 60);
        scene.server.set_faults(rate);
        let report = scene.try_all().await;
        assert!(differing(&report).is_empty(), "seed {seed}: {report}");
        let total = scene.server.traffic().total();
        assert!(total <= 60 && u64::from(report.requests) >= total, "seed {seed}: {report}");
        assert!(report.took < Duration::from_secs(120), "seed {seed}: {report}");
        let is_clean = scene.texts() == ["Good morning"];
        assert!(is_clean || !report.left_behind.is_empty(), "seed {seed}: {report}");
        assert!(report.left_behind.is_empty() || report.exit_code() == 2, "seed {seed}: {report}");
        clean += usize::from(is_clean);
    }
    assert!(clean >= 12, "only {clean} of 16 are clean");
}

#[tokio::test]
async fn a_message_whose_answer_was_lost_is_found_and_deleted() {
    let scene = Scene::new().await;
    scene.server.next(RestRoute::CreateMessage, RestFault::LostAnswer);
    let report = scene.try_all().await;
    assert_eq!(report.trouble, Some(Trouble::NoAnswer("a post")), "{report}");
    assert_eq!(scene.texts(), ["Good morning"]);
    assert_eq!(scene.server.traffic().of(RestRoute::DeleteMessage), 1);
}

#[tokio::test]
async fn a_message_of_the_second_bot_is_found_where_its_text_is_hidden() {
    let scene = Scene::new().await;
    scene.discord.account(scene.first).set_content_hidden(true);
    let second = scene.second;
    scene.server.inject(|faults| {
        faults.next_by(second, RestRoute::CreateMessage, RestFault::LostAnswer);
    });
    let report = scene.try_all().await;
    assert_eq!(report.trouble, Some(Trouble::NoAnswer("a post")), "{report}");
    assert!(differing(&report).is_empty(), "{report}");
    assert_eq!(scene.texts(), ["Good morning"]);
    assert_eq!(report.exit_code(), 2, "not everything could be tried");
}

#[tokio::test]
async fn a_slow_discord_does_not_keep_it_longer_than_two_minutes() {
    let scene = Scene::new().await;
    let slow = RestFault::SlowAnswer { by: Duration::from_secs(4) };
    scene.server.set_faults(RestFaults::new(1).with_rate(None, slow, 1_000));
    let report = scene.try_all().await;
    assert_eq!(report.trouble, Some(Trouble::Late), "{report}");
    assert!(report.took < Duration::from_secs(120), "{report}");
    let left = scene.texts().len() - 1;
    assert_eq!(left > 0, !report.left_behind.is_empty(), "{report}");
    assert_eq!(report.exit_code(), 2, "{report}");
}

#[tokio::test]
async fn a_message_that_cannot_be_deleted_is_named_and_the_code_is_2() {
    let scene = Scene::new().await;
    let refused = RestFault::ServerError { status: 500, is_applied: false };
    let faults = RestFaults::new(1).with_rate(Some(RestRoute::DeleteMessage), refused, 1_000);
    scene.server.set_faults(faults);
    let report = scene.try_all().await;
    assert!(report.requests <= 60, "{report}");
    let messages = scene.discord.messages(scene.channel);
    for message in messages.iter().skip(1) {
        let name = format!("message {}", message.id.get());
        assert!(report.left_behind.contains(&name), "{name}: {report}");
    }
    assert_eq!((messages.len(), report.exit_code()), (11, 2), "{report}");
}
