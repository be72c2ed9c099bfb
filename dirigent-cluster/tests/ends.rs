//! The end of a run on its way to the process that acts for the channel: it counts once, is accepted only when it is stored, and
//! what was accepted is accepted again.

use dirigent::CallError;
use dirigent::hooks::{EndTaken, RunId, RunReport};
use dirigent::ports::Standing;
use dirigent::snapshot::PhaseKind;
use dirigent_cluster::Instance;
use dirigent_relay::RelayError;
use dirigent_relay::rules::CompleteAnswer;
use tokio::task::JoinHandle;

use super::fleet::{Fleet, Process, SECOND};

const RUN: RunId = RunId::new(7);
const ACCEPTED: CompleteAnswer = CompleteAnswer { accepted: true, duplicate: false };
const AGAIN: CompleteAnswer = CompleteAnswer { accepted: true, duplicate: true };
const STALE: CompleteAnswer = CompleteAnswer { accepted: false, duplicate: false };

/// Three processes: the channel is the first one's, and the poet, which runs, asks the third.
struct World {
    fleet: Fleet,
    a: Process,
    b: Process,
    c: Process,
}

impl World {
    async fn new() -> Self {
        let mut fleet = Fleet::new().await;
        let (a, b, c) = (fleet.start("a"), fleet.start("b"), fleet.start("c"));
        fleet.chat(&a).await;
        fleet.say(&a, "Hello").await;
        let allowed = c.instance.may_speak(fleet.channel, &"poet".into(), Some(RUN)).await;
        assert!(allowed.unwrap().holds_floor());
        Self { fleet, a, b, c }
    }

    async fn end(
        &self,
        by: &Instance,
        agent: &str,
        run: RunId,
        report: RunReport<'static>,
    ) -> CompleteAnswer {
        by.turn_ended(self.fleet.channel, &agent.into(), run, report).await.unwrap()
    }

    /// The poet tells its end by this process, beside what the test does.
    fn tell(
        &self,
        by: &Process,
        report: RunReport<'static>,
    ) -> JoinHandle<Result<CompleteAnswer, RelayError>> {
        let (instance, channel) = (by.instance.clone(), self.fleet.channel);
        tokio::spawn(async move { instance.turn_ended(channel, &"poet".into(), RUN, report).await })
    }

    /// The first process is gone, and the second acts for the channel.
    async fn take_over(&mut self) {
        self.a.kill();
        self.fleet.relay.disconnect(&self.a.host);
        self.fleet.table.give(self.fleet.channel, Some(&self.b.host));
        self.fleet.settle().await;
    }

    async fn speaker(&self) -> Option<String> {
        let state = self.c.instance.channel_state(self.fleet.channel).await.unwrap();
        state.current_speaker.map(|agent| agent.to_string())
    }
}

/// The answer is lost, and the process that gave it is gone: the text is still to be posted.
#[tokio::test]
async fn an_end_that_was_accepted_is_accepted_again_by_the_next_process() {
    for report in [RunReport::Text("A line."), RunReport::AwaitsHuman("A line.")] {
        for restarts in [true, false] {
            let mut world = World::new().await;
            let asks = world.c.instance.clone();
            assert_eq!(world.end(&asks, "poet", RUN, report).await, ACCEPTED);
            if restarts {
                world.a.kill();
                world.a = world.fleet.start("a");
                world.fleet.settle().await;
            } else {
                world.take_over().await;
            }
            // Neither another run nor another agent has ended.
            assert_eq!(world.end(&asks, "poet", RunId::new(8), report).await, STALE);
            assert_eq!(world.end(&asks, "critic", RUN, report).await, STALE);
            assert_eq!(world.speaker().await.as_deref(), Some("poet"));
            assert_eq!(world.end(&asks, "poet", RUN, report).await, AGAIN);
            assert_eq!(world.end(&asks, "poet", RUN, report).await, AGAIN);
            assert_eq!(world.speaker().await.as_deref(), Some("poet"));
            world.fleet.post(&world.c, "poet", "A line.").await;
            assert_ne!(world.speaker().await.as_deref(), Some("poet"), "it has spoken");
            assert_eq!(world.end(&asks, "poet", RUN, report).await, STALE, "nothing is to come");
        }
    }
}

/// Until then another process that took the channel over would know nothing of it.
#[tokio::test]
async fn an_end_is_accepted_when_it_is_stored() {
    for report in [RunReport::Pass, RunReport::Text("A line.")] {
        let world = World::new().await;
        world.fleet.hold_commits(true);
        let first = world.tell(&world.c, report);
        world.fleet.settle().await;
        let second = world.tell(&world.c, report);
        world.fleet.settle().await;
        let third = world.tell(&world.a, report);
        world.fleet.settle().await;
        let told = [first, second, third];
        assert!(!told.iter().any(JoinHandle::is_finished), "nothing is stored");
        world.fleet.hold_commits(false);
        world.fleet.settle().await;
        let mut answers = Vec::new();
        for told in told {
            answers.push(told.await.unwrap().unwrap());
        }
        assert_eq!(answers, [ACCEPTED, AGAIN, AGAIN]);
    }
}

/// The next process has the run as it was, and takes its end.
#[tokio::test]
async fn an_end_that_was_not_stored_when_its_process_ended_is_taken_by_the_next() {
    for report in [RunReport::Pass, RunReport::Text("A line.")] {
        let mut world = World::new().await;
        world.fleet.hold_commits(true);
        let told = world.tell(&world.c, report);
        world.fleet.settle().await;
        world.take_over().await;
        world.fleet.hold_commits(false);
        world.fleet.pass(SECOND * 2).await;
        let error = told.await.unwrap().unwrap_err();
        assert!(!error.is_certain(), "{error}");
        assert_eq!(world.speaker().await.as_deref(), Some("poet"));
        let asks = world.c.instance.clone();
        assert_eq!(world.end(&asks, "poet", RUN, report).await, ACCEPTED);
        world.fleet.settle().await;
        let is_over = matches!(report, RunReport::Pass);
        assert_eq!(world.speaker().await.as_deref() != Some("poet"), is_over);
    }
}

/// The store refuses the commit before the leases tell that another process has the channel.
#[tokio::test]
async fn an_end_is_not_taken_by_a_process_whose_commits_are_refused() {
    for is_known in [false, true] {
        let world = World::new().await;
        let channel = world.fleet.channel;
        world.fleet.table.give_unheard(channel, &world.b.host, Standing::Held);
        world.fleet.settle().await;
        if is_known {
            // A commit that is refused.
            world.fleet.say(&world.a, "And?").await;
        }
        let (a, poet) = (&world.a.dirigent, "poet".into());
        let ended = a.channel(channel).turn_ended(&poet, Some(RUN), RunReport::Text("A line."));
        let ended = ended.await;
        assert!(matches!(ended, Err(CallError::Elsewhere)), "{ended:?}");
        // The one that has the channel takes it.
        let asks = world.c.instance.clone();
        let answer = world.end(&asks, "poet", RUN, RunReport::Text("A line.")).await;
        assert_eq!(answer, ACCEPTED);
        let status = world.b.dirigent.channel(channel).status().await.unwrap().unwrap();
        assert_eq!((status.phase, status.speaker), (PhaseKind::Confirming, Some("poet".into())));
    }
}

/// So it is with the question: the process that has the channel is asked instead.
#[tokio::test]
async fn a_run_is_granted_by_the_next_process_where_the_commit_of_the_grant_is_refused() {
    let mut fleet = Fleet::new().await;
    let (a, b) = (fleet.start("a"), fleet.start("b"));
    fleet.chat(&a).await;
    fleet.say(&a, "Hello").await;
    fleet.table.give_unheard(fleet.channel, &b.host, Standing::Held);
    fleet.settle().await;
    let permission = a.instance.may_speak(fleet.channel, &"poet".into(), Some(RUN)).await;
    assert!(permission.unwrap().holds_floor());
    let status = b.dirigent.channel(fleet.channel).status().await.unwrap().unwrap();
    assert_eq!((status.phase, status.speaker), (PhaseKind::Running, Some("poet".into())));
}

/// Of all that it took, the same process knows for a while, whatever has become of the channel.
#[tokio::test]
async fn an_end_is_known_to_the_process_that_took_it_after_the_channel_has_gone_on() {
    let world = World::new().await;
    let (asks, channel) = (&world.c.instance, world.fleet.channel);
    let next = RunId::new(8);
    let more = RunReport::Unfinished("One line.");
    assert_eq!(world.end(asks, "poet", RUN, more).await, ACCEPTED);
    world.fleet.settle().await;
    assert_eq!(world.end(asks, "poet", RUN, more).await, AGAIN, "it is to go on");
    assert!(asks.may_speak(channel, &"poet".into(), Some(next)).await.unwrap().holds_floor());
    assert_eq!(world.end(asks, "poet", RUN, more).await, AGAIN, "it goes on");
    assert_eq!(world.end(asks, "poet", next, RunReport::Pass).await, ACCEPTED);
    // Two agents may give their runs the same names.
    assert!(asks.may_speak(channel, &"critic".into(), Some(RunId::new(9))).await.is_ok());
    assert_eq!(world.end(asks, "critic", next, RunReport::Pass).await, STALE);
    assert_eq!(world.end(asks, "critic", RunId::new(9), RunReport::Pass).await, ACCEPTED);
    world.a.dirigent.channel(channel).archive().await.unwrap();
    assert_eq!(world.end(asks, "poet", RUN, more).await, AGAIN);
    assert_eq!(world.end(asks, "poet", next, RunReport::Pass).await, AGAIN);
}

/// A host may give a name again that the channel has forgotten.
#[tokio::test]
async fn the_end_of_a_later_run_of_the_same_name_is_taken() {
    let world = World::new().await;
    let (asks, channel) = (&world.c.instance, world.fleet.channel);
    assert_eq!(world.end(asks, "poet", RUN, RunReport::Pass).await, ACCEPTED);
    for (agent, run) in [("critic", 8), ("clerk", 9)] {
        world.fleet.settle().await;
        let run = RunId::new(run);
        assert!(asks.may_speak(channel, &agent.into(), Some(run)).await.is_ok());
        assert_eq!(world.end(asks, agent, run, RunReport::Pass).await, ACCEPTED);
    }
    for denied in 100..140 {
        let denied = asks.may_speak(channel, &"critic".into(), Some(RunId::new(denied))).await;
        assert!(denied.is_err());
    }
    world.a.dirigent.channel(channel).wake(Some(&"poet".into())).await.unwrap();
    world.fleet.settle().await;
    assert!(asks.may_speak(channel, &"poet".into(), Some(RUN)).await.unwrap().holds_floor());
    assert_eq!(world.end(asks, "poet", RUN, RunReport::Pass).await, ACCEPTED);
    world.fleet.settle().await;
    assert_ne!(world.speaker().await.as_deref(), Some("poet"));
}

/// A store that is late: nothing is to be posted yet, and the end is told again.
#[tokio::test]
async fn an_end_that_the_store_takes_late_is_told_again() {
    let world = World::new().await;
    let channel = world.fleet.channel;
    let tell = || {
        let a = world.a.dirigent.clone();
        tokio::spawn(async move {
            a.channel(channel).turn_ended(&"poet".into(), Some(RUN), RunReport::Pass).await
        })
    };
    world.fleet.hold_commits(true);
    let late = tell();
    world.fleet.pass(SECOND * 11).await;
    let late = late.await.unwrap();
    assert!(matches!(late, Err(CallError::NotStored)), "{late:?}");
    let again = tell();
    world.fleet.settle().await;
    assert!(!again.is_finished(), "it is not stored yet");
    world.fleet.hold_commits(false);
    world.fleet.pass(SECOND * 11).await;
    assert_eq!(again.await.unwrap().unwrap(), EndTaken::Before);
}
