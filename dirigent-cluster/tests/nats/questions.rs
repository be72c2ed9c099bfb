//! Questions and answers as they should be, and what is not taken.

use std::sync::Arc;

use dirigent::SystemClock;
use dirigent_cluster::NatsError;
use dirigent_relay::{
    ANSWER_MAX, CarryError, Client, Keyring, QUESTION_MAX, Refused, Rejection, Relay as _,
    RelayQuestion, Secret,
};
use dirigent_verify::nats::NatsServer;
use serde::{Deserialize, Serialize};

use super::fixture::{
    Answering, Long, OPEN, Unnamed, Wait, asking, asks, cluster, connected, echo, host, until, why,
};

/// No process answers it.
#[derive(Serialize, Deserialize)]
struct Unknown;

impl RelayQuestion for Unknown {
    const RULE: &'static str = "unknown";
    type Answer = ();
}

#[tokio::test]
async fn questions_and_answers_may_be_as_large_as_they_may() {
    let Some(nats) = NatsServer::start(OPEN).unwrap() else { return };
    let _answering = Answering::start(&nats).await;
    let client = asks(&nats).await;
    for text in ["Hello", "", "a second one"] {
        assert_eq!(echo(&client, text).await.unwrap(), text);
    }
    let text = "x".repeat(QUESTION_MAX - 200);
    assert_eq!(echo(&client, &text).await.unwrap().len(), text.len());
    let length = ANSWER_MAX - 200;
    let answer = client.ask(&host("bot-1"), &Long(length)).await.unwrap();
    assert_eq!(answer.len(), length);
}

#[tokio::test]
async fn a_thousand_questions_are_under_way_and_one_too_many_is_told_so_at_once() {
    let Some(nats) = NatsServer::start(OPEN).unwrap() else { return };
    let answering = Answering::over(connected(&nats, "bot-1").await.questions_max(1_000)).await;
    let client = asks(&nats).await;
    let mut questions = tokio::task::JoinSet::new();
    for number in 0..1_000 {
        let client = client.clone();
        questions.spawn(async move {
            let limit = std::time::Duration::from_secs(30);
            client.ask_within(&host("bot-1"), &Wait(number), limit).await
        });
    }
    until("all have begun", async || answering.begun() == 1_000).await;
    let error = echo(&client, "one more").await.unwrap_err();
    assert!(error.is_certain() && matches!(why(&error), NatsError::Busy { .. }), "{error}");
    answering.answers.release.add_permits(1_000);
    let mut answers: Vec<u64> =
        questions.join_all().await.into_iter().map(Result::unwrap).collect();
    answers.sort_unstable();
    assert_eq!(answers, (0..1_000).collect::<Vec<u64>>());
    assert_eq!(echo(&client, "afterwards").await.unwrap(), "afterwards");
}

#[tokio::test]
async fn each_rejection_comes_back_as_what_it_is() {
    let Some(nats) = NatsServer::start(OPEN).unwrap() else { return };
    let answering = Answering::start(&nats).await;
    let rejected = answering.server.counts().1;
    let relay = connected(&nats, "bot-2").await;
    let carry = async |question: Vec<u8>| relay.carry(&host("bot-1"), "echo", question).await;
    let is = |carried: &Result<Vec<u8>, CarryError>, expected: Rejection| matches!(carried, Err(CarryError::Rejected(rejection)) if *rejection == expected);
    let malformed = carry(b"no question".to_vec()).await;
    assert!(is(&malformed, Rejection::Malformed), "{malformed:?}");
    let large = carry(vec![0; QUESTION_MAX + 1]).await;
    assert!(is(&large, Rejection::TooLarge), "{large:?}");

    let other = Keyring::new(host("bot-2"), Secret::new(&[3; 32]).unwrap());
    let other = Client::new(other, Arc::new(relay.clone()), Arc::new(SystemClock::new()));
    let error = echo(&other, "?").await.unwrap_err();
    assert_eq!(error.rejection(), Some(Rejection::Forged));
    assert!(!error.is_certain() || error.rejection().is_some());
    assert_eq!(answering.server.counts().1 - rejected, 3);
}

#[tokio::test]
async fn a_question_that_was_taken_once_is_not_taken_again() {
    use dirigent::async_trait;
    use dirigent_relay::{HostId, Relay};

    /// Carries each question twice, and gives the second answer.
    struct Twice(dirigent_cluster::Nats);

    #[async_trait]
    impl Relay for Twice {
        async fn carry(
            &self,
            to: &HostId,
            rule: &str,
            question: Vec<u8>,
        ) -> Result<Vec<u8>, CarryError> {
            let first = self.0.carry(to, rule, question.clone()).await?;
            // The first of all only brings the session.
            self.0.carry(to, rule, question).await.or(Ok(first))
        }
    }

    let Some(nats) = NatsServer::start(OPEN).unwrap() else { return };
    let answering = Answering::start(&nats).await;
    let keys = Keyring::of_cluster(host("bot-2"), &cluster());
    let relay = Arc::new(Twice(connected(&nats, "bot-2").await));
    let client = Client::new(keys, relay, Arc::new(SystemClock::new()));
    assert_eq!(echo(&client, "once").await.unwrap(), "once");
    assert_eq!(answering.begun(), 1);
}

#[tokio::test]
async fn what_the_process_refuses_is_proven_and_comes_as_an_answer() {
    let Some(nats) = NatsServer::start(OPEN).unwrap() else { return };
    let _answering = Answering::start(&nats).await;
    let client = asks(&nats).await;
    let error = client.ask(&host("bot-1"), &Unknown).await.unwrap_err();
    assert_eq!(error.refused(), Some(&Refused::UnknownRule), "{error}");
}

#[tokio::test]
async fn a_rule_that_cannot_stand_in_a_subject_is_not_sent() {
    let Some(nats) = NatsServer::start(OPEN).unwrap() else { return };
    let _answering = Answering::start(&nats).await;
    let error = asks(&nats).await.ask(&host("bot-1"), &Unnamed).await.unwrap_err();
    assert!(error.is_certain() && matches!(why(&error), NatsError::BadRule), "{error}");
}

#[tokio::test]
async fn names_with_dots_and_names_that_end_alike_are_different_processes() {
    let Some(nats) = NatsServer::start(OPEN).unwrap() else { return };
    let answering = Answering::start(&nats).await;
    let client = asking(connected(&nats, "bot-2").await, "bot-2");
    for other in ["a.bot-1", "bot-1.a", "bot", "bot-11"] {
        let asked = client.ask(&host(other), &super::fixture::Echo("?".to_owned())).await;
        let error = asked.unwrap_err();
        assert!(matches!(why(&error), NatsError::NotListening { .. }), "{other}: {error}");
    }
    assert_eq!(answering.begun(), 0);
}

#[tokio::test]
async fn of_two_processes_with_one_name_each_question_reaches_one() {
    let Some(nats) = NatsServer::start(OPEN).unwrap() else { return };
    let first = Answering::start(&nats).await;
    let second = Answering::start(&nats).await;
    let client = asks(&nats).await;
    let mut answered = 0;
    for _ in 0..50 {
        answered += usize::from(echo(&client, "?").await.is_ok());
    }
    assert_eq!(first.begun() + second.begun(), answered, "none was carried out by both");
}
