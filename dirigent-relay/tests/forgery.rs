//! Questions and answers that are not what they should be.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::async_trait;
use dirigent_relay::{
    Asker, CarryError, Client, HostId, InProcess, Keyring, ProcessRole, Refused, Rejection, Relay,
    RelayError, RelayQuestion, Secret, Server, Service,
};
use dirigent_testkit::ManualClock;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Add {
    a: u64,
    b: u64,
}

impl RelayQuestion for Add {
    const RULE: &'static str = "add";
    type Answer = u64;
}

/// Adds, and counts how often.
#[derive(Default)]
struct Adder(Mutex<Vec<String>>);

#[async_trait]
impl Service for Adder {
    fn rules(&self) -> &'static [&'static str] {
        &["add"]
    }

    async fn serve(&self, asker: &Asker, _: &str, question: &[u8]) -> Result<Vec<u8>, Refused> {
        let Ok(add) = serde_json::from_slice::<Add>(question) else {
            return Err(Refused::BadQuestion { why: "no sum".to_owned() });
        };
        self.0.lock().unwrap().push(asker.host.to_string());
        Ok((add.a + add.b).to_string().into_bytes())
    }
}

/// Rule, question and answer.
type Carried = (String, Vec<u8>, Vec<u8>);

/// Carries to the server what `alter` makes of each question, and back what it makes of each answer; remembers both.
struct Between {
    inner: InProcess,
    question: fn(Vec<u8>) -> Vec<u8>,
    answer: fn(Vec<u8>) -> Vec<u8>,
    seen: Mutex<Vec<Carried>>,
}

#[async_trait]
impl Relay for Between {
    async fn carry(&self, to: &HostId, rule: &str, bytes: Vec<u8>) -> Result<Vec<u8>, CarryError> {
        let asked = (self.question)(bytes);
        let answer = (self.answer)(self.inner.carry(to, rule, asked.clone()).await?);
        self.seen.lock().unwrap().push((rule.to_owned(), asked, answer.clone()));
        Ok(answer)
    }
}

fn host(name: &str) -> HostId {
    name.parse().unwrap()
}

fn secret(byte: u8) -> Secret {
    Secret::new(&[byte; 32]).unwrap()
}

struct World {
    adder: Arc<Adder>,
    server: Arc<Server>,
    relay: InProcess,
}

fn world() -> World {
    let adder = Arc::new(Adder::default());
    let keys = Keyring::of_cluster(host("b"), &secret(1)).with(
        host("s"),
        secret(2),
        ProcessRole::slave(["poet"]),
    );
    let server = Arc::new(Server::with_start(keys, secret(9)).with(Arc::clone(&adder) as _));
    let relay = InProcess::new();
    relay.connect(Arc::clone(&server));
    World { adder, server, relay }
}

impl World {
    fn between(
        &self,
        question: fn(Vec<u8>) -> Vec<u8>,
        answer: fn(Vec<u8>) -> Vec<u8>,
    ) -> Arc<Between> {
        Arc::new(Between { inner: self.relay.clone(), question, answer, seen: Mutex::default() })
    }

    fn added(&self) -> usize {
        self.adder.0.lock().unwrap().len()
    }
}

fn client(keys: Keyring, relay: Arc<dyn Relay>) -> Client {
    Client::new(keys, relay, Arc::new(ManualClock::new()))
}

fn peer(relay: Arc<dyn Relay>) -> Client {
    client(Keyring::of_cluster(host("a"), &secret(1)), relay)
}

fn same(bytes: Vec<u8>) -> Vec<u8> {
    bytes
}

#[tokio::test]
async fn a_peer_and_a_slave_are_answered_each_with_its_own_secret() {
    let world = world();
    let sum = peer(Arc::new(world.relay.clone())).ask(&host("b"), &Add { a: 1, b: 2 }).await;
    assert_eq!(sum.unwrap(), 3);
    let slave = client(Keyring::new(host("s"), secret(2)), Arc::new(world.relay.clone()));
    assert_eq!(slave.ask(&host("b"), &Add { a: 2, b: 2 }).await.unwrap(), 4);
    assert_eq!(*world.adder.0.lock().unwrap(), ["a", "s"]);
}

/// Every byte of a question counts, the rule too.
#[tokio::test]
async fn a_changed_question_is_rejected_whatever_byte_was_changed() {
    let world = world();
    let between = world.between(same, same);
    let client = peer(Arc::clone(&between) as _);
    client.ask(&host("b"), &Add { a: 1, b: 2 }).await.unwrap();
    let (rule, question, _) = between.seen.lock().unwrap().last().cloned().unwrap();
    for at in 0..question.len() {
        let mut changed = question.clone();
        changed[at] ^= 1;
        let answer = world.server.answer(&rule, &changed).await;
        assert!(answer.is_err(), "byte {at}: {answer:?}");
    }
    assert_eq!(world.server.answer("other", &question).await, Err(Rejection::Forged));
    for length in 0..question.len() {
        assert!(world.server.answer(&rule, &question[..length]).await.is_err(), "{length} bytes");
    }
    assert_eq!(world.added(), 1);
}

#[tokio::test]
async fn each_forgery_has_its_own_rejection() {
    let world = world();
    let asked = |keys: Keyring, to: &'static str| {
        let relay = world.relay.clone();
        async move {
            let error = client(keys, Arc::new(relay)).ask(&host(to), &Add { a: 1, b: 2 }).await;
            error.unwrap_err()
        }
    };
    let wrong = asked(Keyring::new(host("s"), secret(3)), "b").await;
    assert_eq!(wrong.rejection(), Some(Rejection::Forged));
    let other_cluster = asked(Keyring::of_cluster(host("a"), &secret(4)), "b").await;
    assert_eq!(other_cluster.rejection(), Some(Rejection::Forged));
    // The secret of one process is not that of another.
    let as_another = Keyring::new(host("c"), secret(1).of_host(&host("a")));
    assert_eq!(asked(as_another, "b").await.rejection(), Some(Rejection::Forged));
    // An address that leads to another process.
    let aside = InProcess::new();
    aside.connect(Arc::new(Server::with_start(Keyring::new(host("lonely"), secret(5)), secret(9))));
    let unknown = client(Keyring::new(host("s"), secret(2)), Arc::new(aside.clone()));
    let unknown = unknown.ask(&host("lonely"), &Add { a: 1, b: 2 }).await.unwrap_err();
    assert_eq!(unknown.rejection(), Some(Rejection::UnknownHost));
    assert!(matches!(
        asked(Keyring::of_cluster(host("a"), &secret(1)), "nobody").await,
        RelayError::Carry { source: CarryError::Unreachable(_), .. }
    ));
    assert_eq!(world.server.answer("add", &vec![0; 2 << 20]).await, Err(Rejection::TooLarge));
    assert_eq!(world.server.answer("add", b"").await, Err(Rejection::Malformed));
    assert_eq!(world.added(), 0);
    assert_eq!(world.server.counts().0, 0);
}

#[tokio::test]
async fn a_question_for_another_process_is_rejected() {
    let world = world();
    let elsewhere =
        Arc::new(Server::with_start(Keyring::of_cluster(host("c"), &secret(1)), secret(8)));
    let between = world.between(same, same);
    peer(Arc::clone(&between) as _).ask(&host("b"), &Add { a: 1, b: 2 }).await.unwrap();
    let seen = between.seen.lock().unwrap().clone();
    for (rule, question, _) in seen {
        assert_eq!(elsewhere.answer(&rule, &question).await, Err(Rejection::Misdirected));
    }
}

#[tokio::test]
async fn a_question_is_taken_once_also_after_a_restart_of_who_answers() {
    let world = world();
    let between = world.between(same, same);
    let client = peer(Arc::clone(&between) as _);
    for a in 0..5_000 {
        client.ask(&host("b"), &Add { a, b: 0 }).await.unwrap();
    }
    let seen = between.seen.lock().unwrap().clone();
    let done = seen.iter().skip(1);
    for (rule, question, _) in done.clone() {
        assert_eq!(world.server.answer(rule, question).await, Err(Rejection::Replayed));
    }
    // Started anew, it answers none of them, but says in which session it may be asked.
    let adder = Arc::new(Adder::default());
    let keys = Keyring::of_cluster(host("b"), &secret(1));
    let again = Arc::new(Server::with_start(keys, secret(10)).with(Arc::clone(&adder) as _));
    for (rule, question, _) in done {
        again.answer(rule, question).await.unwrap();
    }
    assert!(adder.0.lock().unwrap().is_empty());
    world.relay.connect(again);
    assert_eq!(client.ask(&host("b"), &Add { a: 4, b: 4 }).await.unwrap(), 8);
    assert_eq!(adder.0.lock().unwrap().len(), 1);
}

/// Whoever asks may be started anew as often as it likes: what it asked in earlier lives stays refused.
#[tokio::test]
async fn a_question_of_an_earlier_life_of_the_asker_is_never_taken_again() {
    let world = world();
    let mut questions = Vec::new();
    for _ in 0..12 {
        let between = world.between(same, same);
        peer(Arc::clone(&between) as _).ask(&host("b"), &Add { a: 1, b: 2 }).await.unwrap();
        questions.extend(between.seen.lock().unwrap().clone());
        for (rule, question, _) in &questions {
            let _ = world.server.answer(rule, question).await;
        }
    }
    assert_eq!(world.added(), 12);
}

#[tokio::test]
async fn an_answer_that_is_not_of_who_was_asked_is_none() {
    let world = world();
    let broken: [fn(Vec<u8>) -> Vec<u8>; 4] = [
        |_| Vec::new(),
        |mut answer| {
            if let Some(last) = answer.last_mut() {
                *last ^= 1;
            }
            answer
        },
        |answer| answer[..answer.len() - 1].to_vec(),
        |_| vec![0; 5 << 20],
    ];
    for answer in broken {
        let error = peer(world.between(same, answer)).ask(&host("b"), &Add { a: 1, b: 2 }).await;
        assert!(matches!(error.unwrap_err(), RelayError::BadAnswer { .. }));
    }
}

/// The answer to one question is not the answer to another.
#[tokio::test]
async fn an_old_answer_is_not_taken_for_a_new_one() {
    struct Stale(Mutex<Option<Vec<u8>>>, InProcess);
    #[async_trait]
    impl Relay for Stale {
        async fn carry(
            &self,
            to: &HostId,
            rule: &str,
            bytes: Vec<u8>,
        ) -> Result<Vec<u8>, CarryError> {
            let answer = self.1.carry(to, rule, bytes).await?;
            let mut kept = self.0.lock().unwrap();
            Ok(kept.get_or_insert(answer).clone())
        }
    }
    let world = world();
    let real = peer(Arc::new(world.relay.clone()));
    real.ask(&host("b"), &Add { a: 1, b: 2 }).await.unwrap();
    let stale = peer(Arc::new(Stale(Mutex::default(), world.relay.clone())));
    assert!(matches!(
        stale.ask(&host("b"), &Add { a: 5, b: 5 }).await.unwrap_err(),
        RelayError::BadAnswer { .. }
    ));
}

#[tokio::test]
async fn a_transport_that_doubles_questions_changes_nothing() {
    struct Twice(InProcess);
    #[async_trait]
    impl Relay for Twice {
        async fn carry(
            &self,
            to: &HostId,
            rule: &str,
            bytes: Vec<u8>,
        ) -> Result<Vec<u8>, CarryError> {
            let first = self.0.carry(to, rule, bytes.clone()).await;
            let _ = self.0.carry(to, rule, bytes).await;
            first
        }
    }
    let world = world();
    let client = peer(Arc::new(Twice(world.relay.clone())));
    for a in 0..100 {
        assert_eq!(client.ask(&host("b"), &Add { a, b: 1 }).await.unwrap(), a + 1);
    }
    assert_eq!(world.added(), 100);
}

/// All of them find that there is no session yet, or that it was one of an earlier start: the first answer counts for all.
#[tokio::test]
async fn questions_that_are_asked_at_once_share_a_session() {
    /// The first answers come last.
    struct Slow(InProcess, AtomicUsize);
    #[async_trait]
    impl Relay for Slow {
        async fn carry(
            &self,
            to: &HostId,
            rule: &str,
            bytes: Vec<u8>,
        ) -> Result<Vec<u8>, CarryError> {
            tokio::task::yield_now().await;
            let answer = self.0.carry(to, rule, bytes).await;
            let number = self.1.fetch_add(1, Ordering::SeqCst) % 100;
            for _ in number..100 {
                tokio::task::yield_now().await;
            }
            answer
        }
    }
    let world = world();
    let client = peer(Arc::new(Slow(world.relay.clone(), AtomicUsize::new(0))));
    for start in [10, 11] {
        let questions = (0..50).map(|a| {
            let client = client.clone();
            async move { client.ask(&host("b"), &Add { a, b: 1 }).await.unwrap() }
        });
        let sums = futures_util::future::join_all(questions).await;
        assert_eq!(sums, (1..=50).collect::<Vec<_>>());
        let keys = Keyring::of_cluster(host("b"), &secret(1));
        let server = Server::with_start(keys, secret(start)).with(Arc::clone(&world.adder) as _);
        world.relay.connect(Arc::new(server));
    }
    assert_eq!(world.added(), 100);
    assert_eq!(world.server.counts(), (100, 0), "each is asked once more");
}

#[tokio::test]
async fn an_answer_that_is_too_large_says_so_and_that_it_was_done() {
    struct Long;
    #[async_trait]
    impl Service for Long {
        fn rules(&self) -> &'static [&'static str] {
            &["add"]
        }

        async fn serve(&self, _: &Asker, _: &str, _: &[u8]) -> Result<Vec<u8>, Refused> {
            Ok(vec![b'1'; dirigent_relay::ANSWER_MAX])
        }
    }
    let relay = InProcess::new();
    let keys = Keyring::of_cluster(host("b"), &secret(1));
    relay.connect(Arc::new(Server::with_start(keys, secret(9)).with(Arc::new(Long))));
    let error = peer(Arc::new(relay)).ask(&host("b"), &Add { a: 1, b: 1 }).await.unwrap_err();
    assert!(matches!(error.refused(), Some(Refused::Failed { may_be_done: true, .. })), "{error}");
}

#[tokio::test]
async fn who_does_not_answer_is_waited_for_as_long_as_is_said() {
    struct Silent;
    #[async_trait]
    impl Relay for Silent {
        async fn carry(&self, _: &HostId, _: &str, _: Vec<u8>) -> Result<Vec<u8>, CarryError> {
            std::future::pending().await
        }
    }
    let clock = ManualClock::new();
    let keys = Keyring::of_cluster(host("a"), &secret(1));
    let client = Client::new(keys, Arc::new(Silent), Arc::new(clock.clone()));
    let asked = tokio::spawn(async move { client.ask(&host("b"), &Add { a: 1, b: 2 }).await });
    tokio::task::yield_now().await;
    clock.advance(Duration::from_millis(1_999));
    tokio::task::yield_now().await;
    assert!(!asked.is_finished());
    clock.advance(Duration::from_millis(1));
    let error = asked.await.unwrap().unwrap_err();
    assert!(matches!(error, RelayError::NoAnswer { within_ms: 2_000, .. }) && !error.is_certain());
}

#[tokio::test]
async fn a_rule_that_nobody_has_and_a_question_that_cannot_be_read_are_refused() {
    #[derive(Serialize, Deserialize)]
    struct Other;
    impl RelayQuestion for Other {
        const RULE: &'static str = "other";
        type Answer = ();
    }
    #[derive(Serialize, Deserialize)]
    struct NoSum(String);
    impl RelayQuestion for NoSum {
        const RULE: &'static str = "add";
        type Answer = u64;
    }
    let world = world();
    let client = peer(Arc::new(world.relay.clone()));
    let unknown = client.ask(&host("b"), &Other).await.unwrap_err();
    assert_eq!(unknown.refused(), Some(&Refused::UnknownRule));
    let bad = client.ask(&host("b"), &NoSum("a secret".to_owned())).await.unwrap_err();
    assert!(matches!(bad.refused(), Some(Refused::BadQuestion { .. })) && bad.is_certain());
    let large = client.ask(&host("b"), &NoSum("x".repeat(1 << 20))).await.unwrap_err();
    assert!(matches!(large, RelayError::TooLarge));
}

/// CL6: each start draws a secret of its own, also where the keys are the same.
#[tokio::test]
async fn a_recorded_question_is_not_taken_by_the_next_start() {
    let relay = InProcess::new();
    let begin = || {
        let adder = Arc::new(Adder::default());
        let keys = Keyring::of_cluster(host("b"), &secret(1));
        let server = Arc::new(Server::new(keys).unwrap().with(Arc::clone(&adder) as _));
        relay.connect(Arc::clone(&server));
        (server, adder)
    };
    let (first, _) = begin();
    let client = peer(Arc::new(relay.clone()));
    client.ask(&host("b"), &Add { a: 1, b: 1 }).await.unwrap();
    // The session of the first start, and a question in it that was recorded on its way and did not arrive.
    let recorded = {
        struct Record(Mutex<Vec<u8>>);
        #[async_trait]
        impl Relay for Record {
            async fn carry(
                &self,
                _: &HostId,
                _: &str,
                question: Vec<u8>,
            ) -> Result<Vec<u8>, CarryError> {
                *self.0.lock().unwrap() = question;
                Err(CarryError::no_answer("it was kept"))
            }
        }
        /// Carries until it is to record.
        struct Switch(InProcess, Record, AtomicUsize);
        #[async_trait]
        impl Relay for Switch {
            async fn carry(
                &self,
                to: &HostId,
                rule: &str,
                question: Vec<u8>,
            ) -> Result<Vec<u8>, CarryError> {
                if self.2.load(Ordering::SeqCst) == 0 {
                    return self.0.carry(to, rule, question).await;
                }
                self.1.carry(to, rule, question).await
            }
        }
        let switch = Arc::new(Switch(relay.clone(), Record(Mutex::default()), AtomicUsize::new(0)));
        let client = peer(Arc::clone(&switch) as _);
        client.ask(&host("b"), &Add { a: 2, b: 2 }).await.unwrap();
        switch.2.store(1, Ordering::SeqCst);
        client.ask(&host("b"), &Add { a: 3, b: 3 }).await.unwrap_err();
        switch.1.0.lock().unwrap().clone()
    };
    let (second, adder) = begin();
    second.answer("add", &recorded).await.unwrap();
    assert!(adder.0.lock().unwrap().is_empty(), "it is told its session, and nothing is done");
    first.answer("add", &recorded).await.unwrap();
}

/// CL5: while the secret of all is changed, one process after the other, every one is understood by every other one.
#[tokio::test]
async fn the_secret_of_a_cluster_is_changed_without_a_pause() {
    let (old, new) = (secret(1), secret(2));
    let steps = |name: &str| {
        let (old_alone, new_alone) =
            (Keyring::of_cluster(host(name), &old), Keyring::of_cluster(host(name), &new));
        [
            old_alone.clone(),
            old_alone.with_cluster(&new),
            new_alone.clone().with_cluster(&old),
            new_alone,
        ]
    };
    let asks = async |from: Keyring, to: Keyring| {
        let relay = InProcess::new();
        let adder = Arc::new(Adder::default());
        relay.connect(Arc::new(Server::with_start(to, secret(9)).with(Arc::clone(&adder) as _)));
        let clock = Arc::new(dirigent::SystemClock::new());
        let client = Client::new(from, Arc::new(relay), clock);
        client.ask(&host("b"), &Add { a: 1, b: 2 }).await
    };
    for step in 0..3 {
        for (from, to) in [(step, step), (step, step + 1), (step + 1, step)] {
            let answer = asks(steps("a")[from].clone(), steps("b")[to].clone()).await;
            assert_eq!(answer.unwrap(), 3, "{from} asks {to}");
        }
    }
    let error = asks(steps("a")[0].clone(), steps("b")[3].clone()).await.unwrap_err();
    assert_eq!(error.rejection(), Some(Rejection::Forged), "the old one is not known any more");
}

/// CL5, a slave's secret.
#[tokio::test]
async fn the_secret_of_a_slave_is_changed_without_a_pause() {
    let role = || ProcessRole::slave(["poet"]);
    let keys = Keyring::of_cluster(host("b"), &secret(1))
        .with(host("slave"), secret(5), role())
        .with(host("slave"), secret(6), role());
    let relay = InProcess::new();
    let adder = Arc::new(Adder::default());
    relay.connect(Arc::new(Server::with_start(keys, secret(9)).with(Arc::clone(&adder) as _)));
    for (number, is_known) in [(5, true), (6, true), (7, false)] {
        let clock = Arc::new(dirigent::SystemClock::new());
        let mine = Keyring::new(host("slave"), secret(number));
        let client = Client::new(mine, Arc::new(relay.clone()), clock);
        let answer = client.ask(&host("b"), &Add { a: 1, b: 2 }).await;
        assert_eq!(answer.is_ok(), is_known, "{number}: {answer:?}");
    }
}
