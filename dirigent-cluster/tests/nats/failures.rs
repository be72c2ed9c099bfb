//! The server, or a process, is away, and questions are in doubt.

use std::sync::Arc;
use std::time::Duration;

use dirigent_cluster::NatsError;
use dirigent_testkit::{Log, ManualClock};
use dirigent_verify::nats::NatsServer;

use super::fixture::{
    Answering, Long, OPEN, Panic, Wait, asks, connected, echo, echo_within_a_second, host,
    is_not_listening, until, why,
};

#[tokio::test]
async fn a_process_that_does_not_listen_is_told_at_once_and_surely_was_not_asked() {
    let Some(nats) = NatsServer::start(OPEN).unwrap() else { return };
    let client = asks(&nats).await;
    let error = echo(&client, "?").await.unwrap_err();
    assert!(error.is_certain(), "{error}");
    let NatsError::NotListening { subject, .. } = why(&error) else { panic!("{error}") };
    assert_eq!(subject, "my-bot.echo.bot-1");
    let _answering = Answering::start(&nats).await;
    assert_eq!(echo(&client, "now").await.unwrap(), "now");
}

#[tokio::test]
async fn while_the_server_is_away_nothing_is_carried_later_and_afterwards_all_goes_on() {
    let Some(mut nats) = NatsServer::start(OPEN).unwrap() else { return };
    let answering = Answering::start(&nats).await;
    let client = asks(&nats).await;
    assert_eq!(echo(&client, "before").await.unwrap(), "before");
    for round in 1..=3 {
        nats.stop().unwrap();
        until("it is noticed", async || {
            // One that is on its way as the server ends has no answer.
            let error = echo_within_a_second(&client, "meanwhile").await.unwrap_err();
            error.is_certain() && matches!(why(&error), NatsError::NotConnected)
        })
        .await;
        let begun = answering.begun();
        nats.begin().unwrap();
        until("both are back", async || echo(&client, "after").await.is_ok()).await;
        assert_eq!(
            answering.begun(),
            begun + 1,
            "round {round}: what was asked meanwhile came later"
        );
    }
}

#[tokio::test]
async fn a_question_under_way_as_the_server_ends_is_in_doubt() {
    let Some(mut nats) = NatsServer::start(OPEN).unwrap() else { return };
    let answering = Answering::start(&nats).await;
    let client = asks(&nats).await;
    let asked = tokio::spawn(async move {
        client.ask_within(&host("bot-1"), &Wait(1), Duration::from_secs(1)).await
    });
    until("it has begun", async || answering.begun() == 1).await;
    nats.stop().unwrap();
    let error = asked.await.unwrap().unwrap_err();
    assert!(!error.is_certain(), "{error}");
}

#[tokio::test]
async fn what_is_larger_than_the_server_takes_is_said_with_what_to_do() {
    let Some(nats) = NatsServer::start("max_payload: 100KB").unwrap() else { return };
    let _answering = Answering::start(&nats).await;
    let client = asks(&nats).await;
    let error = echo(&client, &"x".repeat(200_000)).await.unwrap_err();
    assert!(error.is_certain() && matches!(why(&error), NatsError::QuestionTooLarge), "{error}");
    let error = client.ask(&host("bot-1"), &Long(200_000)).await.unwrap_err();
    assert!(!error.is_certain() && matches!(why(&error), NatsError::AnswerTooLarge), "{error}");
    assert!(why(&error).to_string().contains("max_payload"));
    assert_eq!(echo(&client, "small").await.unwrap(), "small");
}

#[tokio::test]
async fn a_service_that_panics_answers_nothing_and_others_go_on() {
    let Some(nats) = NatsServer::start(OPEN).unwrap() else { return };
    let _answering = Answering::start(&nats).await;
    let client = asks(&nats).await;
    let limit = Duration::from_millis(300);
    let error = client.ask_within(&host("bot-1"), &Panic, limit).await.unwrap_err();
    assert!(!error.is_certain(), "{error}");
    assert_eq!(echo(&client, "still there").await.unwrap(), "still there");
}

#[tokio::test]
async fn a_process_that_stops_answers_what_it_took_and_takes_no_more() {
    let Some(nats) = NatsServer::start(OPEN).unwrap() else { return };
    // What it took may take as long as it needs here: its time stands still.
    let stopping = connected(&nats, "bot-1").await.clock(Arc::new(ManualClock::new()));
    let answering = Answering::over(stopping).await;
    let client = asks(&nats).await;
    let asked = {
        let client = client.clone();
        tokio::spawn(async move { client.ask(&host("bot-1"), &Wait(7)).await })
    };
    until("it has begun", async || answering.begun() == 1).await;
    answering.stop();
    until("no more is taken", async || {
        // One that is on its way at this moment has no answer.
        let asked = echo_within_a_second(&client, "?").await;
        asked.is_err_and(|error| is_not_listening(&error))
    })
    .await;
    answering.answers.release.add_permits(1);
    assert_eq!(asked.await.unwrap().unwrap(), 7);
    answering.serving.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_connection_that_the_host_closes_ends_the_serving() {
    let Some(nats) = NatsServer::start(OPEN).unwrap() else { return };
    let connection = async_nats::connect(nats.address()).await.unwrap();
    let closing = dirigent_cluster::Nats::new(connection.clone(), &host("my-bot"));
    let answering = Answering::over(closing).await;
    connection.drain().await.unwrap();
    let ended = answering.serving.await.unwrap();
    assert!(matches!(ended, Err(NatsError::Closed | NatsError::Client(_))), "{ended:?}");
    drop(connected(&nats, "bot-2").await);
}

/// On a machine that is busy for a while, the question of a process to itself may be answered too late. Others are answered all the same.
#[tokio::test]
async fn a_process_whose_look_is_late_loses_no_question() {
    let Some(nats) = NatsServer::start(OPEN).unwrap() else { return };
    let log = Log::with_info();
    let _listening = log.listen();
    let says = |words: &str| log.lines().iter().any(|line| line.starts_with(words));
    let clock = Arc::new(ManualClock::new());
    let answering = Answering::over(connected(&nats, "bot-1").await.clock(clock.clone())).await;
    let client = asks(&nats).await;
    for number in 0..300 {
        // Each look begins, and is late before its answer can be there.
        clock.run_for(Duration::from_secs(15)).await;
        assert_eq!(echo(&client, &number.to_string()).await.unwrap(), number.to_string());
    }
    until("a late look is told", async || {
        clock.run_for(Duration::from_secs(15)).await;
        says("WARN a question of this process to itself had no answer over NATS within 5 s: ")
    })
    .await;
    until("a look in time is told", async || {
        // The answer to this one comes behind that of a look.
        clock.run_for(Duration::from_secs(1)).await;
        echo(&client, "?").await.is_ok()
            && says("INFO questions of other processes arrive again process=bot-1")
    })
    .await;
    assert!(!says("WARN no question of another process arrives"), "{:?}", log.lines());
    answering.stop();
    answering.serving.await.unwrap().unwrap();
}
