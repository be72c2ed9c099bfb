//! The configuration that this crate ships, and what it keeps apart.

use std::time::Duration;

use async_nats::ConnectOptions;
use dirigent_cluster::Nats;
use dirigent_verify::nats::NatsServer;
use futures_util::StreamExt as _;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

use super::fixture::{
    Answering, asking, connected, echo, echo_within_a_second, host, is_not_listening, until,
};

/// As it is shipped.
const SHIPPED: &str = include_str!("../../nats.conf");

/// With the passwords that an operator puts into the environment.
fn with_passwords(configuration: &str) -> String {
    (1..=3).fold(configuration.to_owned(), |text, number| {
        text.replace(&format!("$BOT_{number}_PASSWORD"), &format!("password-of-bot-{number}"))
    })
}

/// Without TLS, on a server that has it in one of the tests below.
fn without_tls() -> String {
    let begin = SHIPPED.find("tls {").unwrap();
    let end = begin + SHIPPED[begin..].find('}').unwrap() + 1;
    with_passwords(&format!("{}{}", &SHIPPED[..begin], &SHIPPED[end..]))
}

/// An authority's certificate, as PEM, and the server's with its key.
fn certificates() -> (String, String, String) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let authority = params.self_signed(&key).unwrap().pem();
    let issuer = Issuer::new(params, key);
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let chain = params.signed_by(&key, &issuer).unwrap().pem();
    (authority, chain, key.serialize_pem())
}

#[tokio::test]
async fn the_shipped_configuration_encrypts_and_knows_who_connects() {
    let Some(mut nats) = NatsServer::start("").unwrap() else { return };
    nats.stop().unwrap();
    let (authority, chain, key) = certificates();
    let folder = nats.folder().to_owned();
    std::fs::create_dir(folder.join("tls")).unwrap();
    std::fs::write(folder.join("tls/nats.pem"), chain).unwrap();
    std::fs::write(folder.join("tls/nats.key"), key).unwrap();
    std::fs::write(folder.join("authority.pem"), authority).unwrap();
    nats.configure(&with_passwords(SHIPPED)).unwrap();
    nats.begin().unwrap();

    let address = format!("tls://localhost:{}", nats.socket().port());
    let connect = |name: &str, password: &str| {
        ConnectOptions::new()
            .user_and_password(name.to_owned(), password.to_owned())
            .custom_inbox_prefix(format!("my-bot-answers.{name}"))
            .add_root_certificates(folder.join("authority.pem"))
            .connect(address.clone())
    };
    let first = Nats::new(connect("bot-1", "password-of-bot-1").await.unwrap(), &host("my-bot"));
    let _answering = Answering::over(first).await;
    let second = Nats::new(connect("bot-2", "password-of-bot-2").await.unwrap(), &host("my-bot"));
    assert_eq!(echo(&asking(second, "bot-2"), "over TLS").await.unwrap(), "over TLS");

    assert!(connect("bot-3", "a guess").await.is_err());
    let distrusting = ConnectOptions::new()
        .user_and_password("bot-3".to_owned(), "password-of-bot-3".to_owned())
        .connect(address.clone());
    assert!(distrusting.await.is_err(), "its authority is not trusted there");
}

#[tokio::test]
async fn a_process_hears_no_question_and_no_answer_of_another() {
    let Some(nats) = NatsServer::start(&without_tls()).unwrap() else { return };
    let _answering = Answering::start(&nats).await;
    let spy = ConnectOptions::new()
        .user_and_password("bot-3".to_owned(), "password-of-bot-3".to_owned())
        .connect(nats.address())
        .await
        .unwrap();
    let mut heard = Vec::new();
    for subject in ["my-bot.>", "my-bot.*.bot-1", "my-bot-answers.bot-2.>", ">"] {
        heard.push(spy.subscribe(subject).await.unwrap());
    }
    heard.push(spy.queue_subscribe("my-bot.*.bot-1", "bot-1".to_owned()).await.unwrap());
    spy.flush().await.unwrap();
    let client = asking(connected(&nats, "bot-2").await, "bot-2");
    for number in 0..20 {
        assert!(echo(&client, &number.to_string()).await.is_ok());
    }
    // What was on its way to it would be there by now.
    spy.flush().await.unwrap();
    for heard in &mut heard {
        let next = tokio::time::timeout(Duration::from_millis(50), heard.next()).await;
        assert!(next.ok().flatten().is_none());
    }
}

#[tokio::test]
async fn a_process_that_loses_its_permissions_is_not_asked_and_is_heard_again_when_it_has_them_back()
 {
    let Some(nats) = NatsServer::start(&without_tls()).unwrap() else { return };
    let clock = std::sync::Arc::new(dirigent_testkit::ManualClock::new());
    let nats_of_first = connected(&nats, "bot-1").await.clock(clock.clone());
    let answering = Answering::over(nats_of_first).await;
    let client = asking(connected(&nats, "bot-2").await, "bot-2");
    assert!(echo(&client, "before").await.is_ok());

    let taken = without_tls().replace("\"my-bot.*.bot-1\", \"my-bot.*.bot-1 bot-1\", ", "");
    nats.configure(&taken).unwrap();
    nats.reload().unwrap();
    until("it is not asked any more", async || {
        // A question that comes while the server reads its configuration may have no answer.
        let asked = echo_within_a_second(&client, "?").await;
        asked.is_err_and(|error| is_not_listening(&error))
    })
    .await;
    nats.configure(&without_tls()).unwrap();
    nats.reload().unwrap();
    // It looks every ten seconds whether it is heard.
    until("it is asked again", async || {
        clock.run_for(Duration::from_secs(1)).await;
        echo_within_a_second(&client, "after").await.is_ok()
    })
    .await;
    answering.stop();
}
