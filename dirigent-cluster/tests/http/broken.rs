//! Connections that are cut, servers that end and begin, addresses that change.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dirigent_cluster::http::{HttpError, HttpRelay, HttpServer};
use dirigent_relay::{CarryError, Relay as _, RelayError};
use dirigent_testkit::ManualClock;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::fixture::{Answering, Asking, Echo, Wait, client, host, http_error, sealed, until};
use super::proxy::Proxy;
use super::wire::frame;

/// A relay that reaches the server through the proxy only.
fn through(proxy: &Proxy, clock: &ManualClock) -> Asking {
    let address = proxy.address;
    let addresses = move |_: &_| Some(address.into());
    Asking::new(HttpRelay::plain_on_loopback(addresses).clock(Arc::new(clock.clone())))
}

#[tokio::test]
async fn wherever_a_connection_is_cut_what_was_answered_never_counts_as_not_sent() {
    let answering = Answering::plain().await;
    let proxy = Proxy::to(answering.address).await;
    let clock = ManualClock::new();
    let (mut answered, mut unsent, mut unknown) = (0, 0, 0);
    let to_server = (0..700).step_by(2).map(|cut| (cut, usize::MAX));
    let to_client = (0..300).step_by(2).map(|cut| (usize::MAX, cut));
    for cut in to_server.chain(to_client) {
        let question = sealed(&answering, &Echo("cut".to_owned())).await;
        let begun = answering.begun();
        proxy.cut_after(cut.0, cut.1);
        let asking = through(&proxy, &clock);
        match asking.relay.carry(&host("bot-1"), "echo", question).await {
            Ok(_) => answered += 1,
            Err(CarryError::Unreachable(why)) => {
                unsent += 1;
                for _ in 0..20 {
                    tokio::task::yield_now().await;
                }
                assert_eq!(answering.begun(), begun, "cut after {cut:?}: {why}");
            }
            Err(CarryError::NoAnswer(_)) => unknown += 1,
            Err(other) => panic!("cut after {cut:?}: {other}"),
        }
    }
    assert!(answered > 20 && unsent > 20 && unknown > 20, "{answered}, {unsent}, {unknown}");
}

#[tokio::test]
async fn after_a_cut_the_next_question_has_a_connection_of_its_own() {
    let answering = Answering::plain().await;
    let proxy = Proxy::to(answering.address).await;
    let asking = through(&proxy, &ManualClock::new());
    assert_eq!(asking.echo("before").await.unwrap(), "before");
    assert_eq!(proxy.connections(), 1);
    drop(asking);
    proxy.cut_after(3_000, usize::MAX);
    let asking = through(&proxy, &ManualClock::new());
    let mut lost = 0;
    for _ in 0..50 {
        match asking.echo("it is cut every now and then").await {
            Ok(_) => {}
            Err(error) => {
                lost += 1;
                assert!(!http_error(&error).1 || error.is_certain());
            }
        }
    }
    assert!((1..25).contains(&lost), "{lost}");
    assert!(proxy.connections() > 2);
}

#[tokio::test]
async fn a_server_that_is_killed_answers_no_more_and_one_in_its_place_does() {
    let answering = Answering::plain().await;
    let address = answering.address;
    let asking = Asking::plain(&answering);
    let other = asking.client.clone();
    let question = tokio::spawn(async move { other.ask(&host("bot-1"), &Wait(1)).await });
    until("it has begun", || answering.begun() == 1).await;
    answering.kill().await;
    let error = question.await.unwrap().unwrap_err();
    assert!(matches!(http_error(&error), (HttpError::Lost { .. }, false)), "{error}");
    let error = asking.echo("nobody is there").await.unwrap_err();
    assert!(matches!(http_error(&error), (HttpError::Connect { .. }, true)), "{error}");

    let _again = Answering::at(address, HttpServer::plain_on_loopback).await;
    let mut answer = asking.echo("again").await;
    while answer.is_err() {
        // For a moment it is remembered that there was none.
        tokio::task::yield_now().await;
        answer = asking.echo("again").await;
    }
    assert_eq!(answer.unwrap(), "again");
}

#[tokio::test]
async fn a_server_that_stops_answers_what_it_has_taken() {
    let mut answering = Answering::plain().await;
    let asking = Asking::plain(&answering);
    let other = asking.client.clone();
    let question = tokio::spawn(async move { other.ask(&host("bot-1"), &Wait(7)).await });
    until("it has begun", || answering.begun() == 1).await;
    answering.stop();
    let mut refused = None;
    for _ in 0..1_000 {
        // Until the client has heard of it.
        refused = asking.echo("a new one").await.err();
        if refused.is_some() {
            break;
        }
    }
    let error = refused.unwrap();
    assert!(http_error(&error).1 && error.is_certain(), "{error}");
    answering.answers.release.add_permits(1);
    assert_eq!(question.await.unwrap().unwrap(), 7);
    answering.ended().await;
}

#[tokio::test]
async fn a_server_that_stops_waits_only_so_long() {
    let clock = ManualClock::new();
    let time = Arc::new(clock.clone());
    let build = |server| HttpServer::plain_on_loopback(server).clock(time);
    let mut answering = Answering::new(build).await;
    let asking = Asking::plain(&answering);
    let question = tokio::spawn(async move { asking.client.ask(&host("bot-1"), &Wait(7)).await });
    until("it has begun", || answering.begun() == 1).await;
    answering.stop();
    until("it waits", || clock.waiting() == 2).await;
    clock.advance(Duration::from_secs(5));
    answering.ended().await;
    let error = question.await.unwrap().unwrap_err();
    assert!(!http_error(&error).1, "{error}");
    assert_eq!(answering.dropped(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_a_server_is_replaced_again_and_again_no_question_is_in_doubt() {
    let mut answering = Answering::plain().await;
    let address = answering.address;
    let asking = Arc::new(Asking::plain(&answering));
    let (over, is_over) = tokio::sync::watch::channel(false);
    let askers: Vec<_> = (0..20)
        .map(|asker: u32| {
            let (asking, is_over) = (asking.clone(), is_over.clone());
            tokio::spawn(async move {
                let mut answered = 0;
                while !*is_over.borrow() {
                    match asking.echo(&asker.to_string()).await {
                        Ok(_) => answered += 1,
                        Err(error) => assert!(error.is_certain(), "{error}"),
                    }
                }
                answered
            })
        })
        .collect();
    for _ in 0..10 {
        until("it is asked", || answering.begun() > 200).await;
        answering.stop();
        let again = Answering::at(address, HttpServer::plain_on_loopback).await;
        answering.ended().await;
        answering = again;
    }
    until("it is asked", || answering.begun() > 200).await;
    over.send_replace(true);
    for asker in askers {
        assert!(asker.await.unwrap() > 0);
    }
}

#[tokio::test]
async fn a_connection_that_stands_still_is_found_out_by_pings() {
    let answering = Answering::plain().await;
    let proxy = Proxy::to(answering.address).await;
    let clock = ManualClock::new();
    let asking = through(&proxy, &clock);
    asking.echo("before").await.unwrap();
    proxy.freeze();
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    let other = asking.client.clone();
    let question = tokio::spawn(async move { other.ask(&host("bot-1"), &Wait(1)).await });
    until("the next ping is waited for", || clock.waiting() == 1).await;
    clock.advance(Duration::from_secs(10));
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    clock.advance(Duration::from_millis(4_999));
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    assert!(!question.is_finished());
    clock.advance(Duration::from_millis(1));
    let error = question.await.unwrap().unwrap_err();
    assert!(!http_error(&error).1, "{error}");
    proxy.thaw();
    assert_eq!(asking.echo("after").await.unwrap(), "after");
    assert_eq!(proxy.connections(), 2);
}

#[tokio::test]
async fn a_question_that_is_given_up_has_its_connection_looked_at() {
    let answering = Answering::plain().await;
    let proxy = Proxy::to(answering.address).await;
    let clock = ManualClock::new();
    let asking = through(&proxy, &clock);
    asking.echo("before").await.unwrap();
    proxy.freeze();
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    let relay = asking.relay.clone();
    let question = tokio::spawn(async move { relay.carry(&host("bot-1"), "echo", vec![1]).await });
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    question.abort();
    drop(question.await);
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    // The ping is under way: without it the next were in 10 s.
    clock.advance(Duration::from_secs(5));
    proxy.thaw();
    let mut answer = tokio::spawn({
        let client = asking.client.clone();
        async move { client.ask(&host("bot-1"), &Echo("after".to_owned())).await }
    });
    let answer = tokio::time::timeout(Duration::from_secs(60), &mut answer).await.unwrap();
    drop(answer.unwrap());
    assert_eq!(asking.echo("after").await.unwrap(), "after");
    assert_eq!(proxy.connections(), 2);
}

#[tokio::test]
async fn an_address_may_change_and_what_is_under_way_ends_at_the_old_one() {
    let (old, new) = (Answering::plain().await, Answering::plain().await);
    let asking = Asking::plain(&old);
    let other = asking.client.clone();
    let question = tokio::spawn(async move { other.ask(&host("bot-1"), &Wait(7)).await });
    until("it has begun", || old.begun() == 1).await;
    old.book.set(host("bot-1"), new.address.into());
    assert_eq!(asking.echo("there").await.unwrap(), "there");
    assert_eq!((old.begun(), new.begun()), (1, 1));
    old.answers.release.add_permits(1);
    assert_eq!(question.await.unwrap().unwrap(), 7);
    old.book.remove(&host("bot-1"));
    let error = asking.echo("nowhere").await.unwrap_err();
    assert!(matches!(http_error(&error), (HttpError::NoAddress { .. }, true)), "{error}");
}

#[tokio::test]
async fn the_connection_to_an_old_address_is_closed() {
    let (old, new) = (Answering::plain().await, Answering::plain().await);
    let proxy = Proxy::to(old.address).await;
    let asking = Asking::plain(&old);
    old.book.set(host("bot-1"), proxy.address.into());
    asking.echo("at the old one").await.unwrap();
    assert_eq!(proxy.open(), 1);
    old.book.set(host("bot-1"), new.address.into());
    asking.echo("at the new one").await.unwrap();
    until("it is closed", || proxy.open() == 0).await;
}

#[tokio::test]
async fn the_connection_to_a_process_that_has_no_address_any_more_is_closed() {
    let answering = Answering::plain().await;
    let proxy = Proxy::to(answering.address).await;
    let asking = Asking::plain(&answering);
    answering.book.set(host("bot-1"), proxy.address.into());
    asking.echo("there").await.unwrap();
    assert_eq!(proxy.open(), 1);
    answering.book.remove(&host("bot-1"));
    assert!(asking.echo("nowhere").await.unwrap_err().is_certain());
    until("it is closed", || proxy.open() == 0).await;
}

#[tokio::test]
async fn a_process_that_is_away_costs_ten_attempts_a_second() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let attempts = Arc::new(AtomicUsize::new(0));
    let counted = attempts.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::SeqCst);
            drop(stream);
        }
    });
    let clock = ManualClock::new();
    let relay = HttpRelay::plain_on_loopback(move |_: &_| Some(address.into()));
    let asking = Asking::new(relay.clock(Arc::new(clock.clone())));
    for round in 1..=3 {
        for _ in 0..50 {
            let error = asking.echo("is it there?").await.unwrap_err();
            assert!(http_error(&error).1 && error.is_certain(), "{error}");
        }
        assert_eq!(attempts.load(Ordering::SeqCst), round);
        clock.advance(Duration::from_millis(100));
    }
}

#[tokio::test]
async fn a_connection_that_takes_too_long_is_given_up() {
    // It accepts no connection, and so answers no word.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let clock = ManualClock::new();
    let relay = HttpRelay::plain_on_loopback(move |_: &_| Some(address.into()));
    let asking = Asking::new(relay.clock(Arc::new(clock.clone())));
    let client = asking.client.clone();
    let question =
        tokio::spawn(async move { client.ask(&host("bot-1"), &Echo("?".to_owned())).await });
    until("it connects", || clock.waiting() == 1).await;
    clock.advance(Duration::from_secs(5));
    let error: RelayError = question.await.unwrap().unwrap_err();
    let why = http_error(&error);
    assert!(matches!(why, (HttpError::ConnectTime { within_ms: 5_000, .. }, true)), "{error}");
}

#[tokio::test]
async fn questions_at_once_share_one_connection() {
    let answering = Answering::plain().await;
    let proxy = Proxy::to(answering.address).await;
    let asking = through(&proxy, &ManualClock::new());
    let client = client(Arc::new(asking.relay.clone()));
    let mut questions = tokio::task::JoinSet::new();
    for _ in 0..100 {
        let client = client.clone();
        questions.spawn(async move { client.ask(&host("bot-1"), &Echo("?".to_owned())).await });
    }
    assert!(questions.join_all().await.iter().all(Result::is_ok));
    assert_eq!(proxy.connections(), 1);
}

/// Listens, and closes its first connection as soon as a question comes, after these bytes.
async fn closing(last_words: Vec<u8>) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        drop(listener);
        stream.read_exact(&mut [0; 24]).await.unwrap();
        stream.write_all(&frame(4, 0, 0, &[])).await.unwrap();
        loop {
            let mut start = [0; 9];
            stream.read_exact(&mut start).await.unwrap();
            let length = u32::from_be_bytes([0, start[0], start[1], start[2]]);
            let mut payload = vec![0; usize::try_from(length).unwrap()];
            stream.read_exact(&mut payload).await.unwrap();
            match (start[3], start[4]) {
                // A ping.
                (6, 0) => stream.write_all(&frame(6, 1, 0, &payload)).await.unwrap(),
                // A question.
                (1, _) => {
                    stream.write_all(&last_words).await.unwrap();
                    return;
                }
                _ => {}
            }
        }
    });
    address
}

#[tokio::test]
async fn a_question_that_was_left_out_when_its_connection_was_closed_is_asked_over_a_new_one() {
    let answering = Answering::plain().await;
    let question = sealed(&answering, &Echo("once".to_owned())).await;
    // It says which was the last question that it looked at.
    let farewell = |last: u32| frame(7, 0, 0, &[last.to_be_bytes(), [0; 4]].concat());
    // Data of no question, for which the asker closes the connection itself: that says nothing of the question.
    let nonsense = frame(0, 0, 0, b"?");
    for (last_words, is_asked_again) in
        [(farewell(0), true), (farewell(1), false), (nonsense, false)]
    {
        let (first, second) = (closing(last_words).await, answering.address);
        let lookups = AtomicUsize::new(0);
        let addresses = move |_: &_| {
            let is_first = lookups.fetch_add(1, Ordering::SeqCst) == 0;
            Some(if is_first { first } else { second }.into())
        };
        let asking = Asking::new(HttpRelay::plain_on_loopback(addresses));
        let carried = asking.relay.carry(&host("bot-1"), "echo", question.clone()).await;
        match carried {
            Ok(_) => assert!(is_asked_again),
            Err(error) => assert!(!is_asked_again && matches!(error, CarryError::NoAnswer(_))),
        }
    }
}
