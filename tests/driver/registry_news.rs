//! Several processes share a registry: what another one changes holds here, without a call of the host.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::hooks::RunReport;
use dirigent::ports::{ApiError, ErrorKind, Identity, RegisterError};
use dirigent::{AgentId, Denial, IdentityStore, MemoryIdentities, Permit, async_trait};
use dirigent_testkit::scripted_agent::Act;
use dirigent_verify::stage::{Setup, Stage};
use tokio::sync::Notify;

const SECOND: Duration = Duration::from_secs(1);

/// What the other process does to the registry.
#[derive(Clone, Default)]
struct Elsewhere {
    changed: Arc<Notify>,
    /// How many more reads fail.
    failing: Arc<AtomicU32>,
    /// How often it was read.
    reads: Arc<AtomicU32>,
    removed: Arc<Mutex<Option<Identity>>>,
}

struct SharedRegistry {
    elsewhere: Elsewhere,
    entries: MemoryIdentities,
}

#[async_trait]
impl IdentityStore for SharedRegistry {
    async fn all(&self) -> Result<Vec<Identity>, ApiError> {
        self.elsewhere.reads.fetch_add(1, Ordering::Relaxed);
        let failing = &self.elsewhere.failing;
        let left = failing.load(Ordering::Relaxed);
        if left > 0 {
            failing.store(left - 1, Ordering::Relaxed);
            return Err(ApiError::new(ErrorKind::Store));
        }
        self.entries.all().await
    }

    async fn register(&self, identity: Identity) -> Result<(), RegisterError> {
        self.entries.register(identity).await
    }

    async fn remove(&self, agent: AgentId) -> Result<bool, ApiError> {
        self.entries.remove(agent).await
    }

    async fn changed_elsewhere(&self) {
        self.elsewhere.changed.notified().await;
    }
}

impl Elsewhere {
    fn stage(&self, setup: Setup) -> Stage {
        let elsewhere = self.clone();
        let registry =
            move |entries| Arc::new(SharedRegistry { elsewhere: elsewhere.clone(), entries }) as _;
        let mut stage = setup.registry(registry).stage();
        stage.chat();
        stage
    }

    fn remove(&self, stage: &mut Stage, agent: &str) {
        let identities = stage.identities().clone();
        let agent = AgentId::from(agent);
        let removed = stage.call(move |_| async move {
            let all = identities.all().await.unwrap();
            let identity = all.into_iter().find(|identity| identity.agent_id == agent);
            identities.remove(agent).await.unwrap();
            identity
        });
        *self.removed.lock().unwrap() = removed;
        self.changed.notify_one();
        stage.settle();
    }

    /// Adds the agent again that was removed.
    fn add(&self, stage: &mut Stage) {
        stage.identities().add(self.removed.lock().unwrap().take().unwrap()).unwrap();
        self.changed.notify_one();
        stage.settle();
    }
}

#[test]
fn an_agent_that_another_process_registers_has_turns_and_one_that_it_removes_has_none() {
    let elsewhere = Elsewhere::default();
    let setup = Setup::new().hosted("a", []).hosted("b", ["b1".into()]).hosted("c", ["c1".into()]);
    let mut stage = elsewhere.stage(setup);
    elsewhere.remove(&mut stage, "c");
    stage.say("Hello");
    stage.until_dormant();
    assert_eq!(stage.words(), ["Hello", "b1"]);
    elsewhere.add(&mut stage);
    stage.advance(SECOND * 100);
    stage.say("Hello again");
    stage.until_dormant();
    assert_eq!(stage.words()[2..], ["Hello again", "c1"]);
}

#[test]
fn an_agent_that_another_process_removes_while_it_runs_loses_the_floor() {
    let elsewhere = Elsewhere::default();
    let setup = Setup::new().hosted("a", [Act::Hang.into()]).hosted("b", ["b1".into()]);
    let mut stage = elsewhere.stage(setup.hosted("c", ["c1".into()]));
    stage.say("Hello");
    assert_eq!(stage.words(), ["Hello"]);
    elsewhere.remove(&mut stage, "a");
    assert!(stage.agent("a").turns()[0].cancelled);
    stage.until_dormant();
    assert_eq!(stage.words(), ["Hello", "b1", "c1"]);
}

/// R178: with one agent a channel keeps no turns; with the second, two would speak at once.
#[test]
fn a_channel_keeps_turns_from_when_another_process_registers_its_second_agent() {
    let elsewhere = Elsewhere::default();
    let setup = Setup::new().hooked("a", []).hooked("b", []);
    let mut stage = elsewhere.stage(setup);
    stage.cut_agents_off(true);
    let channel = stage.channel();
    let allowed = |stage: &mut Stage, agent: &'static str| {
        let asked = stage.call(move |d| async move {
            d.channel(channel).may_speak(&agent.into(), None).await.map(Permit::keep)
        });
        match asked {
            Ok(()) => true,
            Err(Denial::Denied { .. }) => false,
            Err(other) => panic!("{other:?}"),
        }
    };
    elsewhere.remove(&mut stage, "b");
    stage.say("Hello");
    let are_allowed = |stage: &mut Stage| ["a", "b"].map(|agent| allowed(stage, agent));
    assert_eq!(are_allowed(&mut stage), [true, false], "the other one is unknown");
    assert_eq!(are_allowed(&mut stage), [true, false], "no turns are kept");
    elsewhere.add(&mut stage);
    stage.say("Hello again");
    assert_eq!(are_allowed(&mut stage), [true, false]);
    let passed = RunReport::Pass;
    let ended = stage.call(move |d| async move {
        d.channel(channel).turn_ended(&"a".into(), None, passed).await
    });
    ended.unwrap();
    assert_eq!(are_allowed(&mut stage), [false, true]);
}

/// The change is told once: a read that fails is repeated, until one succeeds.
#[test]
fn a_change_whose_read_fails_is_read_again() {
    let elsewhere = Elsewhere::default();
    let mut stage = elsewhere.stage(Setup::new().hosted("a", []).hosted("b", []));
    elsewhere.failing.store(3, Ordering::Relaxed);
    let before = elsewhere.reads.load(Ordering::Relaxed);
    elsewhere.remove(&mut stage, "b");
    let accounts = |stage: &Stage| stage.dirigent().agent_accounts().len();
    assert_eq!(accounts(&stage), 2);
    stage.advance(SECOND * 2);
    assert_eq!(accounts(&stage), 2);
    stage.advance(SECOND);
    assert_eq!(accounts(&stage), 1);
    stage.advance(SECOND * 60);
    assert_eq!(elsewhere.reads.load(Ordering::Relaxed) - before, 4, "not without a change");
}

/// A stage on which "b" has an account and is not registered, and the answer "b1".
fn one_is_registered() -> (Stage, Identity) {
    let mut stage = Setup::new().hosted("a", ["a1".into()]).hosted("b", ["b1".into()]).stage();
    let identities = stage.identities().clone();
    let identity = stage.call(move |dirigent| async move {
        let all = identities.all().await.unwrap();
        let identity = all.into_iter().find(|identity| identity.agent_id == "b".into()).unwrap();
        identities.remove("b".into()).await.unwrap();
        dirigent.identities_changed().await.unwrap();
        identity
    });
    stage.chat();
    stage.advance(SECOND);
    (stage, identity)
}

/// It is registered, and the host says so.
fn register(stage: &mut Stage, identity: Identity) {
    let identities = stage.identities().clone();
    stage.call(move |dirigent| async move {
        identities.register(identity).await.unwrap();
        dirigent.identities_changed().await.unwrap();
    });
    stage.settle();
}

/// WD5: a person who asked in a channel with one agent is answered when the second bot is registered, as when it joins.
#[test]
fn a_second_agent_that_is_registered_is_asked_at_once() {
    for wait in [0, 900] {
        let (mut stage, identity) = one_is_registered();
        stage.say("Hello");
        stage.advance(SECOND * wait);
        assert_eq!(stage.words(), ["Hello"], "no turns are kept with one agent");
        register(&mut stage, identity);
        assert_eq!(stage.words()[1..], ["a1", "b1"], "{wait} s later");
    }
}

/// WD5: a person who asks afterwards is answered, too: nobody waits for the hour after which members are counted again.
#[test]
fn a_question_after_the_second_agent_was_registered_is_answered() {
    let (mut stage, identity) = one_is_registered();
    stage.say("Hello");
    stage.advance(SECOND * 300);
    let b = identity.clone();
    register(&mut stage, identity);
    stage.advance(SECOND * 10);
    assert_eq!(stage.words()[1..], ["a1", "b1"], "{b:?}");

    let (mut stage, identity) = one_is_registered();
    stage.advance(SECOND * 300);
    register(&mut stage, identity);
    stage.advance(SECOND * 300);
    stage.say("Hello");
    stage.settle();
    assert_eq!(stage.words()[1..], ["a1", "b1"]);
}

/// WD5: as above, when it was registered while the process was down.
#[test]
fn a_second_agent_that_was_registered_while_the_process_was_down_is_asked() {
    let (mut stage, identity) = one_is_registered();
    stage.say("Hello");
    stage.advance(SECOND * 10);
    stage.crash();
    stage.identities().add(identity).unwrap();
    stage.restart();
    stage.advance(SECOND * 10);
    assert_eq!(stage.words()[1..], ["a1", "b1"]);
}

/// WD5: a third agent takes part from the next time that the members are read, and hears no question twice.
#[test]
fn a_third_agent_that_is_registered_takes_part_from_the_next_cycle() {
    let elsewhere = Elsewhere::default();
    let setup = Setup::new().hosted("a", []).hosted("b", ["b1".into()]).hosted("c", ["c1".into()]);
    let mut stage = elsewhere.stage(setup);
    elsewhere.remove(&mut stage, "c");
    stage.say("Hello");
    stage.until_dormant();
    let turns = stage.agent("a").turns().len();
    elsewhere.add(&mut stage);
    stage.advance(SECOND * 100);
    assert_eq!(stage.agent("a").turns().len(), turns, "nobody asked again");
    stage.say("Hello again");
    stage.until_dormant();
    assert_eq!(stage.words()[2..], ["Hello again", "c1"]);
}
