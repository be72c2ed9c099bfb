//! Limits, refusals and the ban line: what is not sent.

use std::time::Duration;

use dirigent::ports::ErrorKind;
use dirigent::{ChannelId, DiscordApi};
use dirigent_discord::{BanGuard, DiscordAccount, RestError};

use crate::account::server::{Reply, Server};
use crate::account::{AccountStage, CHANNEL, cause, post};

const ELSEWHERE: ChannelId = ChannelId::new(701);

fn posted(id: u64) -> Reply {
    Reply::ok(format!(r#"{{"id":"{id}"}}"#))
}

/// R283, D57: an empty bucket is waited for by the caller: the adapter sends nothing and says when.
#[tokio::test]
async fn an_empty_bucket_sends_nothing_until_its_reset() {
    let stage =
        AccountStage::with([posted(1).bucket("b", 1, 0, "1.5"), Reply::ok("[]"), posted(2)]).await;
    stage.account.post(post("one", 1)).await.unwrap();
    for (pass, left) in [(0, 1_500), (1_499, 1)] {
        stage.pass(pass);
        let error = stage.account.post(post("two", 2)).await.unwrap_err();
        assert_eq!((error.kind(), cause(&error)), (ErrorKind::RateLimited, RestError::Paced));
        assert_eq!(error.retry_after(), Some(Duration::from_millis(left)));
    }
    assert_eq!(stage.server.count(), 1);
    stage.history(CHANNEL).await.unwrap();
    stage.pass(1);
    stage.account.post(post("two", 2)).await.unwrap();
}

/// R120: `Retry-After` is kept on every scope of a 429, and each stops what it concerns.
#[tokio::test]
async fn a_429_is_waited_for_whatever_its_scope() {
    let many = |body: &str| Reply::status(429, body).header("Retry-After", "3");
    let exact = r#"{"message":"confidential","retry_after":2.5,"global":false}"#;
    let cases = [
        (
            "user",
            many(exact).bucket("b", 5, 0, "2.5").header("X-RateLimit-Scope", "user"),
            2_500,
            false,
        ),
        ("shared", many(exact).header("X-RateLimit-Scope", "shared"), 2_500, false),
        (
            "global",
            many(r#"{"retry_after":2.5,"global":true}"#).header("X-RateLimit-Scope", "global"),
            2_500,
            true,
        ),
        ("no scope", many("<html>"), 3_000, true),
        ("only a reset", Reply::status(429, "").bucket("b", 5, 0, "2.5"), 2_500, false),
    ];
    for (what, reply, millis, everywhere) in cases {
        let stage = AccountStage::with([reply, Reply::ok("[]"), posted(1)]).await;
        let wait = Some(Duration::from_millis(millis));
        let error = stage.account.post(post("confidential", 1)).await.unwrap_err();
        assert_eq!((error.kind(), error.retry_after()), (ErrorKind::RateLimited, wait), "{what}");
        assert!(matches!(cause(&error), RestError::Refused { status: 429, .. }));
        let again = stage.account.post(post("confidential", 1)).await.unwrap_err();
        let held_back = if what == "no scope" { RestError::NearBan } else { RestError::Paced };
        assert_eq!((cause(&again), again.retry_after()), (held_back, wait), "{what}");
        assert_eq!(stage.server.count(), 1, "{what}");
        assert_eq!(stage.history(ELSEWHERE).await.is_err(), everywhere, "{what}");
        if everywhere {
            stage.server.script([posted(1)]);
        }
        stage.pass(millis);
        if everywhere {
            stage.history(ELSEWHERE).await.unwrap();
        }
        stage.account.post(post("confidential", 1)).await.unwrap();
    }
}

/// R283: no second holds more than 50 requests, whatever the routes.
#[tokio::test]
async fn no_second_holds_more_than_fifty_requests() {
    let stage = AccountStage::with(std::iter::repeat_n(Reply::ok("[]"), 60)).await;
    for channel in 1..=50 {
        stage.history(ChannelId::new(channel)).await.unwrap();
    }
    let error = stage.history(ChannelId::new(51)).await.unwrap_err();
    assert_eq!(error.retry_after(), Some(Duration::from_secs(1)));
    assert_eq!(stage.server.count(), 50);
    stage.pass(1_000);
    stage.history(ChannelId::new(51)).await.unwrap();
}

/// F22: after a 401 nothing is sent for a while, on any route.
#[tokio::test]
async fn a_refused_token_is_not_used_for_a_while() {
    let stage = AccountStage::with([Reply::status(401, r#"{"code":0}"#), Reply::ok("[]")]).await;
    assert_eq!(stage.history(CHANNEL).await.unwrap_err().kind(), ErrorKind::Unauthorized);
    for channel in 1..100 {
        let error = stage.history(ChannelId::new(channel)).await.unwrap_err();
        assert_eq!(
            (error.kind(), cause(&error)),
            (ErrorKind::Unauthorized, RestError::TokenRefused)
        );
    }
    assert_eq!(stage.server.count(), 1);
    stage.pass(300_000);
    stage.history(CHANNEL).await.unwrap();
}

/// F22: a channel that is forbidden again and again is left alone, and only it.
#[tokio::test]
async fn a_forbidden_route_is_left_alone_for_a_while() {
    let forbidden = Reply::status(403, r#"{"code":50001}"#);
    let stage = AccountStage::with([&forbidden; 3].map(Clone::clone)).await;
    for _ in 0..50 {
        assert_eq!(stage.history(CHANNEL).await.unwrap_err().kind(), ErrorKind::Forbidden);
    }
    assert_eq!(stage.server.count(), 3);
    stage.server.script([Reply::ok("[]"), posted(1), forbidden, Reply::ok("[]")]);
    stage.history(ELSEWHERE).await.unwrap();
    stage.account.post(post("another route", 1)).await.unwrap();
    stage.pass(300_000);
    for _ in 0..50 {
        assert_eq!(stage.history(CHANNEL).await.unwrap_err().kind(), ErrorKind::Forbidden);
    }
    assert_eq!(stage.server.count(), 6, "one try after the rest");
    stage.pass(300_000);
    stage.history(CHANNEL).await.unwrap();
}

/// F22: accounts of one machine share the count, and stop together far from the ban line; a 429 that
/// is shared does not count.
#[tokio::test]
async fn the_ban_line_is_never_near() {
    let guard = BanGuard::new(4);
    let shared = Reply::status(429, "{}").header("X-RateLimit-Scope", "shared");
    let user = Reply::status(429, "{}").header("X-RateLimit-Scope", "user");
    let one =
        AccountStage::guarded([shared.clone(), shared, Reply::status(403, ""), user], &guard).await;
    for channel in 1..=4 {
        one.history(ChannelId::new(channel)).await.unwrap_err();
    }
    let other = AccountStage::guarded(std::iter::repeat_n(Reply::status(403, ""), 9), &guard).await;
    for channel in 1..=9 {
        other.history(ChannelId::new(channel)).await.unwrap_err();
    }
    assert_eq!((one.server.count(), other.server.count()), (4, 2));
    let error = one.account.me().await.unwrap_err();
    assert_eq!((error.kind(), cause(&error)), (ErrorKind::RateLimited, RestError::NearBan));
    let wait = error.retry_after().unwrap();
    assert!(wait >= Duration::from_secs(600), "{wait:?}");
    one.clock.advance(wait);
    one.server.script([Reply::ok(r#"{"id":"500"}"#)]);
    one.account.me().await.unwrap();
}

/// F22: where the address itself is turned away, all accounts that share the guard wait.
#[tokio::test]
async fn a_ban_of_the_address_stops_all_its_accounts() {
    let guard = BanGuard::new(1_000);
    let banned = Reply::status(429, "<html>").header("Retry-After", "600");
    let one = AccountStage::guarded([banned], &guard).await;
    let other = AccountStage::guarded([Reply::ok("[]")], &guard).await;
    one.history(CHANNEL).await.unwrap_err();
    let error = other.history(CHANNEL).await.unwrap_err();
    assert_eq!((cause(&error), other.server.count()), (RestError::NearBan, 0));
    assert_eq!(error.retry_after(), Some(Duration::from_secs(600)));
    other.pass(600_000);
    other.history(CHANNEL).await.unwrap();
}

/// Accounts that are given no guard have the one of the process, whichever builder made them.
#[tokio::test]
async fn all_accounts_of_a_process_share_a_guard() {
    let banned = Reply::status(429, "<html>").header("Retry-After", "600");
    let one = AccountStage::guarded([banned], &BanGuard::of_process()).await;
    one.history(CHANNEL).await.unwrap_err();
    let server = Server::start([Reply::ok(r#"{"id":"500"}"#), Reply::ok(r#"{"id":"501"}"#)]).await;
    let builder = || {
        let builder = DiscordAccount::builder("another.token", one.clock.clone());
        builder.proxy(server.address())
    };
    let error = builder().build().unwrap().me().await.unwrap_err();
    assert_eq!((cause(&error), server.count()), (RestError::NearBan, 0));
    builder().ban_guard(&BanGuard::new(9)).build().unwrap().me().await.unwrap();
    one.pass(600_000);
    builder().build().unwrap().me().await.unwrap();
}

/// R283: a call that is dropped may have counted in its window, and holds no place in the next.
#[tokio::test]
async fn a_dropped_call_holds_no_place() {
    let stage =
        AccountStage::with([posted(1).bucket("b", 1, 1, "5"), Reply::Silence, posted(2)]).await;
    stage.account.post(post("one", 1)).await.unwrap();
    tokio::select! {
        biased;
        _ = stage.account.post(post("two", 2)) => panic!("nobody answered"),
        () = stage.server.arrived(2) => {}
    }
    let error = stage.account.post(post("three", 3)).await.unwrap_err();
    assert_eq!(error.retry_after(), Some(Duration::from_secs(5)));
    stage.pass(5_000);
    stage.account.post(post("three", 3)).await.unwrap();
}
