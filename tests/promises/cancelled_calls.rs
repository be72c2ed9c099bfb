//! P8: a cancelled call is dropped after a grace, and the orchestrator has places of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use dirigent::host::{Consultation, Orchestrator};
use dirigent::settings::HumanInterrupt;
use dirigent::{Agent, AgentError, ChannelId, Clock, Mode, Reply, Turn};
use dirigent_testkit::ManualClock;
use dirigent_testkit::scripted_agent::{Act, Line};
use dirigent_verify::stage::{Setup, Stage};

use super::kit::{Answers, Halt, MINUTE, SECOND, stop};

/// How long a cancelled call may go on.
const GRACE: Duration = Duration::from_secs(10);

/// Four rooms whose agents never return, not even when they are cancelled, and one more room.
fn four_deaf_agents() -> Stage {
    let mut stage = Setup::new()
        .rooms(5)
        .hosted("a", [Act::Deaf.into()])
        .hosted("b", ["b1".into()])
        .settings(|settings| settings.limits.calls_max = 4)
        .stage();
    stage.chat();
    let rooms = stage.rooms().to_vec();
    for room in &rooms[..4] {
        stage.say_in(*room, "Hello");
    }
    assert_eq!(stage.agent("a").running_max(), 4);
    stage
}

/// P8
#[test]
fn four_agents_that_never_return_do_not_starve_another_channel() {
    let mut stage = four_deaf_agents();
    let rooms = stage.rooms().to_vec();
    for room in rooms.into_iter().take(4) {
        stage.call(move |d| async move { d.channel(room).stop().await }).unwrap();
    }
    let other = stage.rooms()[4];
    stage.call(move |d| async move { d.channel(other).wake(Some(&"b".into())).await }).unwrap();
    stage.advance(GRACE + SECOND);
    assert_eq!(stage.words_in(other), ["b1"]);
}

/// P8
#[test]
fn agents_that_outlast_their_deadline_do_not_starve_another_channel() {
    let mut stage = four_deaf_agents();
    // Ten minutes are the default of a run.
    stage.advance(MINUTE * 10 + GRACE + SECOND);
    let other = stage.rooms()[4];
    stage.call(move |d| async move { d.channel(other).wake(Some(&"b".into())).await }).unwrap();
    stage.advance(SECOND);
    assert_eq!(stage.words_in(other), ["b1"]);
}

/// An agent that never returns, and tells when its future was dropped.
struct Deaf {
    called: Arc<AtomicUsize>,
    dropped: Arc<AtomicBool>,
}

struct OnDrop(Arc<AtomicBool>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

#[async_trait::async_trait]
impl Agent for Deaf {
    async fn speak(&self, _turn: Turn) -> Result<Reply, AgentError> {
        self.called.fetch_add(1, Ordering::AcqRel);
        let _dropped = OnDrop(Arc::clone(&self.dropped));
        std::future::pending().await
    }
}

/// P8
#[test]
fn a_cancelled_call_is_dropped_after_a_grace_of_10_seconds_and_not_before() {
    for halt in Halt::ALL.into_iter().filter(|halt| *halt != Halt::Hold) {
        let mut stage = Setup::new().hosted("a", []).hosted("b", []).stage();
        let (called, dropped) = (Arc::<AtomicUsize>::default(), Arc::<AtomicBool>::default());
        let deaf = Deaf { called: Arc::clone(&called), dropped: Arc::clone(&dropped) };
        let account = Arc::new(stage.discord().account(stage.agent("a").user()));
        stage.dirigent().host("a", deaf, account);
        stage.chat();
        stage.say("Hello");
        assert_eq!(called.load(Ordering::Acquire), 1);
        halt.act(&mut stage);
        stage.advance(SECOND * 9);
        assert!(!dropped.load(Ordering::Acquire), "{halt:?}: it had no time to end");
        stage.advance(SECOND * 2);
        assert!(dropped.load(Ordering::Acquire), "{halt:?}: it still runs");
    }
}

/// P8
#[test]
fn an_answer_within_the_grace_comes_back_to_its_agent() {
    let mut stage =
        Setup::new().hosted("a", [Act::Hang.into(), "a1".into()]).hosted("b", []).stage();
    stage.chat();
    stage.say("Hello");
    stop(&mut stage);
    assert!(stage.agent("a").turns()[0].cancelled);
    super::kit::resume(&mut stage);
    stage.until_dormant();
    assert_eq!(stage.words(), ["Hello", "a1"], "it goes on where it was stopped");
}

/// P8
#[test]
fn the_orchestrator_needs_no_place_among_the_agents() {
    let mut stage = Setup::new()
        .hosted("a", [Line::from("a1").taking(SECOND * 20)])
        .hosted("b", [])
        .config(|config| config.people.human_interrupt = HumanInterrupt::Interrupt)
        .settings(|settings| settings.limits.calls_max = 1)
        .stage();
    stage.dirigent().set_orchestrator(Some(Arc::new(Answers)));
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND);
    stage.say("Is it Friday?");
    stage.advance(SECOND);
    let answers = stage.moderation(stage.channel());
    assert_eq!(answers, ["In a minute."], "the agent that it answers for has the only place");
}

/// An orchestrator that answers after some time, and counts the questions that are under way at once.
struct Slow {
    /// Where nothing is answered.
    deaf_in: ChannelId,
    takes: Duration,
    clock: ManualClock,
    asked: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

/// One question less is under way.
struct Asked(Arc<AtomicUsize>);

impl Drop for Asked {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[async_trait::async_trait]
impl Orchestrator for Slow {
    async fn answer(&self, asked: Consultation) -> Result<Reply, AgentError> {
        let now = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
        let _asked = Asked(Arc::clone(&self.asked));
        self.most.fetch_max(now, Ordering::Relaxed);
        if asked.channel == self.deaf_in {
            std::future::pending::<()>().await;
        }
        self.clock.sleep_until(self.clock.now() + self.takes).await;
        Ok("In a minute.".into())
    }
}

/// Three rooms with an agent that runs for long, and one place for questions to the orchestrator. All
/// three have asked; the first room's question is never answered.
fn asked() -> (Stage, Arc<AtomicUsize>) {
    let mut stage = Setup::new()
        .rooms(3)
        .hosted("a", [Act::Hang.into()])
        .hosted("b", [])
        .config(|config| {
            config.people.human_interrupt = HumanInterrupt::Interrupt;
            config.people.consult_deadline = MINUTE * 5;
        })
        .settings(|settings| settings.limits.calls_max = 1)
        .stage();
    let most = Arc::<AtomicUsize>::default();
    let orchestrator = Slow {
        deaf_in: stage.channel(),
        takes: SECOND * 2,
        clock: stage.clock().clone(),
        asked: Arc::default(),
        most: Arc::clone(&most),
    };
    stage.dirigent().set_orchestrator(Some(Arc::new(orchestrator)));
    stage.chat();
    let rooms = stage.rooms().to_vec();
    for room in &rooms {
        stage.say_in(*room, "Hello");
    }
    stage.advance(SECOND);
    for room in &rooms {
        stage.say_in(*room, "Is it Friday?");
    }
    stage.advance(SECOND * 5);
    (stage, most)
}

fn answered(stage: &Stage) -> usize {
    stage.rooms().iter().filter(|room| !stage.moderation(**room).is_empty()).count()
}

/// P8
#[test]
fn no_more_questions_are_under_way_at_once_than_there_are_places() {
    let (stage, most) = asked();
    assert_eq!((most.load(Ordering::Relaxed), answered(&stage)), (1, 0));
}

/// P8
#[test]
fn a_question_that_is_not_waited_for_any_more_gives_its_place_back_at_once() {
    let (mut stage, most) = asked();
    // A stop would be acknowledged in the channel.
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).set_mode(Mode::Report).await }).unwrap();
    stage.advance(SECOND * 5);
    assert_eq!((most.load(Ordering::Relaxed), answered(&stage)), (1, 2));
}

/// P8
#[test]
fn a_call_that_is_stopped_while_it_waits_keeps_no_place_from_the_next() {
    let mut stage = Setup::new()
        .rooms(3)
        .hosted("a", [Line::from("a1").taking(SECOND * 20)])
        .hosted("b", [])
        .settings(|settings| settings.limits.calls_max = 1)
        .stage();
    stage.chat();
    let rooms = stage.rooms().to_vec();
    for room in &rooms {
        stage.say_in(*room, "Hello");
        stage.advance(SECOND);
    }
    let second = rooms[1];
    stage.call(move |d| async move { d.channel(second).stop().await }).unwrap();
    stage.until("the first room is done", |stage| {
        stage.words_in(rooms[0]).contains(&"a1".to_owned())
    });
    stage.advance(SECOND);
    let called = stage.agent("a").turns().into_iter().filter(|turn| turn.channel == Some(rooms[2]));
    assert_eq!(called.count(), 1, "it waits for an answer of the room that was stopped");
}
