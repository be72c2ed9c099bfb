//! A slave whose process does not act for the channel: its questions are carried on to the one that does, and no further.

use std::sync::{Arc, Mutex};

use dirigent::hooks::{RunId, RunReport};
use dirigent::{Settings, async_trait};
use dirigent_relay::rules::CheckTurn;
use dirigent_relay::{
    CarryError, Client, Denied, HostId, InProcess, Keyring, ProcessRole, Refused, Relay, Slave,
};

use super::fleet::{Fleet, Process, SECOND, host, secret};

/// What becomes of questions of the second process to the first.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    Answered,
    AnswerLost,
    Unreachable,
    NeverAnswered,
}

/// The way of the second process.
#[derive(Clone)]
struct Way {
    inner: InProcess,
    state: Arc<Mutex<(Fate, usize)>>,
}

impl Way {
    fn set(&self, fate: Fate) {
        self.state.lock().unwrap().0 = fate;
    }

    /// How many questions were carried.
    fn carried(&self) -> usize {
        self.state.lock().unwrap().1
    }
}

#[async_trait]
impl Relay for Way {
    async fn carry(&self, to: &HostId, rule: &str, bytes: Vec<u8>) -> Result<Vec<u8>, CarryError> {
        let fate = {
            let mut state = self.state.lock().unwrap();
            state.1 += 1;
            state.0
        };
        match fate {
            Fate::Answered => self.inner.carry(to, rule, bytes).await,
            Fate::AnswerLost => {
                let _ = self.inner.carry(to, rule, bytes).await;
                Err(CarryError::no_answer("the answer is lost"))
            }
            Fate::Unreachable => Err(CarryError::unreachable("connection refused")),
            Fate::NeverAnswered => std::future::pending().await,
        }
    }
}

struct World {
    fleet: Fleet,
    a: Process,
    b: Process,
    way: Way,
    slave: Slave,
}

/// Two processes, of which the first acts for the channel, and a slave that knows the second.
async fn world() -> World {
    let mut fleet = Fleet::new().await;
    let a = fleet.start("a");
    let keys =
        Fleet::keys("b").with(host("slave"), secret(2), ProcessRole::slave(["poet", "critic"]));
    let way = Way { inner: fleet.relay.clone(), state: Arc::new(Mutex::new((Fate::Answered, 0))) };
    let b = fleet.start_with("b", keys, Arc::new(way.clone()), Vec::new());
    fleet.chat(&a).await;
    fleet.say(&a, "Hello").await;
    let keys = Keyring::new(host("slave"), secret(2));
    let relay = Arc::new(fleet.relay.clone());
    // It waits for longer than the process that it asks.
    let clock = Arc::new(fleet.clock.clone());
    let client = Client::with_time_limit(keys, relay, clock, SECOND * 3);
    let slave = Slave::new(client, host("b"), Settings::default());
    World { fleet, a, b, way, slave }
}

/// R178
#[tokio::test]
async fn a_slave_is_answered_by_the_process_that_acts_for_the_channel() {
    let World { fleet, a, slave, .. } = world().await;
    let denied = slave.may_speak(fleet.channel, &"critic".into(), None).await.unwrap_err();
    let Denied::Denied { speaker, .. } = denied else { panic!("{denied}") };
    assert_eq!(speaker, Some("poet".into()));
    let permission = slave.may_speak(fleet.channel, &"poet".into(), None).await.unwrap();
    assert!(permission.holds_floor());
    let answers = [
        permission.end(RunReport::Text("A line.")).await.unwrap(),
        permission.end(RunReport::Text("A line.")).await.unwrap(),
    ];
    assert_eq!(
        answers.map(|answer| (answer.accepted, answer.duplicate)),
        [(true, false), (true, true)]
    );
    fleet.post(&a, "poet", "A line.").await;
    let state = slave.channel_state(fleet.channel).await.unwrap();
    assert_eq!(state.current_speaker, Some("critic".into()));
}

/// The process that it asks knows for which agents it may act: the other one trusts that.
#[tokio::test]
async fn a_question_for_a_foreign_agent_is_not_carried_on() {
    let World { fleet, way, slave, .. } = world().await;
    let carried = way.carried();
    let foreign = Refused::NotBound { agent: "clerk".into() };
    let denied = slave.may_speak(fleet.channel, &"clerk".into(), None).await.unwrap_err();
    let Denied::Refused(error) = denied else { panic!("{denied}") };
    assert_eq!(error.refused(), Some(&foreign));
    let ended =
        slave.turn_ended(fleet.channel, &"clerk".into(), RunId::new(7), RunReport::Pass).await;
    assert_eq!(ended.unwrap_err().refused(), Some(&foreign));
    assert_eq!(way.carried(), carried);
}

/// So two processes that take each other for the owner carry nothing in a circle.
#[tokio::test]
async fn a_question_of_a_peer_is_not_carried_on() {
    let World { fleet, way, .. } = world().await;
    let carried = way.carried();
    let relay = Arc::new(fleet.relay.clone());
    let peer = Client::new(Fleet::keys("c"), relay, Arc::new(fleet.clock.clone()));
    let question = CheckTurn { agent_id: "poet".into(), channel_id: fleet.channel, run_id: None };
    let error = peer.ask(&host("b"), &question).await.unwrap_err();
    assert_eq!(error.refused(), Some(&Refused::Elsewhere));
    assert_eq!(way.carried(), carried);
}

/// R177
#[tokio::test]
async fn without_an_answer_of_the_owner_a_slave_denies() {
    let World { fleet, way, slave, .. } = world().await;
    // Both have their sessions.
    slave.channel_state(fleet.channel).await.unwrap();
    for (fate, at_once, may_be_done) in [
        (Fate::AnswerLost, true, true),
        (Fate::Unreachable, false, false),
        (Fate::NeverAnswered, false, true),
    ] {
        way.set(fate);
        let (asks, channel) = (slave.clone(), fleet.channel);
        let asked = tokio::spawn(async move {
            asks.may_speak(channel, &"poet".into(), Some(RunId::new(7))).await.map(drop)
        });
        fleet.settle().await;
        assert_eq!(asked.is_finished(), at_once);
        fleet.pass(SECOND * 2).await;
        let denied = asked.await.unwrap().unwrap_err();
        assert!(denied.to_string().starts_with("RelayUnavailable"), "{denied}");
        let Denied::RelayUnavailable(error) = denied else { panic!("{denied}") };
        assert_eq!(error.refused(), Some(&Refused::OwnerUnavailable { may_be_done }));
        assert_eq!(error.is_certain(), !may_be_done);
    }
}

/// The end may have been taken: it is told again.
#[tokio::test]
async fn whether_an_end_was_taken_is_open_where_the_owners_answer_is_lost() {
    let World { fleet, way, slave, .. } = world().await;
    let permission = slave.may_speak(fleet.channel, &"poet".into(), None).await.unwrap();
    way.set(Fate::AnswerLost);
    let error = permission.end(RunReport::Text("A line.")).await.unwrap_err();
    let open = Refused::OwnerUnavailable { may_be_done: true };
    assert_eq!((error.refused(), error.is_certain()), (Some(&open), false));
    way.set(Fate::Answered);
    let answer = permission.end(RunReport::Text("A line.")).await.unwrap();
    assert!(answer.accepted && answer.duplicate, "{answer:?}");
}

/// While no process acts for the channel, it is asked again for as long as an answer is waited for.
#[tokio::test]
async fn a_question_of_a_slave_follows_the_channel_to_its_next_owner() {
    let World { fleet, a, b, slave, .. } = world().await;
    fleet.table.give(fleet.channel, None);
    let (asks, channel) = (slave.clone(), fleet.channel);
    let asked =
        tokio::spawn(
            async move { asks.may_speak(channel, &"poet".into(), Some(RunId::new(7))).await },
        );
    fleet.pass(SECOND).await;
    assert!(!asked.is_finished(), "no process acts for it");
    fleet.table.give(fleet.channel, Some(&b.host));
    fleet.pass(SECOND / 2).await;
    let permission = asked.await.unwrap().unwrap();
    fleet.table.give(fleet.channel, Some(&a.host));
    fleet.settle().await;
    assert!(permission.end(RunReport::Pass).await.unwrap().accepted);
}
