//! Questions and answers as they should be.

use std::sync::Arc;

use dirigent_relay::RelayError;

use super::certificates::Authority;
use super::fixture::{Answering, Asking, Long, Panic, Wait, host, http_error, until};

#[tokio::test]
async fn a_question_is_answered_over_tls() {
    let authority = Authority::new();
    let answering = Answering::encrypted(&authority).await;
    let asking = Asking::encrypted(&answering, &authority);
    for text in ["Hello", "", "a second over the same connection"] {
        assert_eq!(asking.echo(text).await.unwrap(), text);
    }
}

#[tokio::test]
async fn questions_and_answers_may_be_as_large_as_they_may() {
    let authority = Authority::new();
    let answering = Answering::encrypted(&authority).await;
    let asking = Asking::encrypted(&answering, &authority);
    let text = "x".repeat(dirigent_relay::QUESTION_MAX - 200);
    assert_eq!(asking.echo(&text).await.unwrap().len(), text.len());
    let length = dirigent_relay::ANSWER_MAX - 200;
    let answer = asking.client.ask(&host("bot-1"), &Long(length)).await.unwrap();
    assert_eq!(answer.len(), length);
}

#[tokio::test]
async fn a_thousand_questions_are_under_way_over_one_connection() {
    let authority = Authority::new();
    let answering = Answering::encrypted(&authority).await;
    let asking = Arc::new(Asking::encrypted(&answering, &authority));
    let mut questions = tokio::task::JoinSet::new();
    for number in 0..1_000 {
        let asking = asking.clone();
        questions.spawn(async move { asking.client.ask(&host("bot-1"), &Wait(number)).await });
    }
    until("all have begun", || answering.begun() == 1_000).await;
    answering.answers.release.add_permits(1_000);
    let mut answers: Vec<u64> =
        questions.join_all().await.into_iter().map(Result::unwrap).collect();
    answers.sort_unstable();
    assert_eq!(answers, (0..1_000).collect::<Vec<u64>>());
}

#[tokio::test]
async fn a_service_that_panics_answers_nothing_and_others_go_on() {
    let answering = Answering::plain().await;
    let asking = Asking::plain(&answering);
    let error = asking.client.ask(&host("bot-1"), &Panic).await.unwrap_err();
    assert!(!http_error(&error).1 && !error.is_certain(), "{error}");
    assert_eq!(asking.echo("still there").await.unwrap(), "still there");
}

#[tokio::test]
async fn a_question_that_is_dropped_is_taken_back_and_the_connection_is_kept() {
    let answering = Answering::plain().await;
    let asking = Asking::plain(&answering);
    let client = asking.client.clone();
    let question = tokio::spawn(async move { client.ask(&host("bot-1"), &Wait(1)).await });
    until("it has begun", || answering.begun() == 1).await;
    question.abort();
    until("it is taken back", || answering.dropped() == 1).await;
    assert_eq!(asking.echo("after it").await.unwrap(), "after it");
}

#[tokio::test]
async fn the_link_ends_when_no_relay_is_left() {
    let answering = Answering::plain().await;
    let Asking { relay, client, link } = Asking::plain(&answering);
    client.ask(&host("bot-1"), &Long(1)).await.unwrap();
    drop((relay, client));
    until("it has ended", || link.is_finished()).await;
    link.await.unwrap();
}

#[tokio::test]
async fn without_its_link_a_relay_says_so() {
    let answering = Answering::plain().await;
    let asking = Asking::plain(&answering);
    asking.echo("with it").await.unwrap();
    asking.link.abort();
    until("the link has ended", || asking.link.is_finished()).await;
    let error: RelayError = asking.echo("without it").await.unwrap_err();
    let (why, is_unsent) = http_error(&error);
    assert!(is_unsent && why.to_string().contains("HttpLink::run"), "{error}");
}
