//! Several processes share a store: each acts for the channels that are its own, and for no other (D78).

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use dirigent::command::{ANSWER_WITHIN, Invoker, SlashCommand};
use dirigent::hooks::{RunId, RunReport};
use dirigent::operate::{Reason, Refusal};
use dirigent::ports::{Ownership, Standing};
use dirigent::snapshot::PhaseKind;
use dirigent::{CallError, ChannelId, Denial, async_trait};
use dirigent_testkit::ScriptedAgent;
use dirigent_testkit::scripted_agent::Line;
use dirigent_verify::stage::{Setup, Stage};
use tokio::sync::Notify;

const SECOND: Duration = Duration::from_secs(1);

/// Leases that a test gives and takes.
#[derive(Default)]
struct Leased {
    standings: Mutex<HashMap<ChannelId, Standing>>,
    came: Mutex<Vec<ChannelId>>,
    changed: Notify,
}

impl Leased {
    fn set(&self, channel: ChannelId, standing: Standing) {
        let before = self.standings.lock().unwrap().insert(channel, standing);
        if before == Some(Standing::Elsewhere) && standing != Standing::Elsewhere {
            self.came.lock().unwrap().push(channel);
        }
        self.changed.notify_one();
    }
}

#[async_trait]
impl Ownership for Leased {
    fn standing(&self, channel: ChannelId) -> Standing {
        self.standings.lock().unwrap().get(&channel).copied().unwrap_or(Standing::Held)
    }

    async fn changed(&self) -> Vec<ChannelId> {
        self.changed.notified().await;
        std::mem::take(&mut self.came.lock().unwrap())
    }
}

/// A room of two agents that the library calls, and its lease.
fn stage(a: impl IntoIterator<Item = Line>, b: &[&str]) -> (Stage, Arc<Leased>) {
    let leased = Arc::<Leased>::default();
    let setup = Setup::new().hosted("a", a).hosted("b", b.iter().map(|text| (*text).into()));
    (setup.ownership(Arc::clone(&leased) as _).stage(), leased)
}

fn set(stage: &mut Stage, leased: &Leased, standing: Standing) {
    leased.set(stage.channel(), standing);
    stage.settle();
}

/// A slash command of a person who may do everything.
fn command(stage: &mut Stage, command: SlashCommand, input: &'static str) -> String {
    let invoker = Invoker { guild: Some(stage.guild()), permissions: u64::MAX, host_word: None };
    let channel = stage.channel();
    let answer = stage.call(move |d| async move {
        d.channel(channel).command(command, invoker, input, ANSWER_WITHIN).await
    });
    answer.text
}

#[test]
fn what_is_said_in_another_processs_channel_is_ignored_and_calls_are_refused() {
    let (mut stage, leased) = stage(["a1".into()], &["b1"]);
    stage.chat();
    set(&mut stage, &leased, Standing::Elsewhere);
    stage.say("Hello");
    stage.advance(SECOND * 60);
    assert_eq!(stage.words(), ["Hello"]);
    let channel = stage.channel();
    let refused = stage.call(move |d| async move { d.channel(channel).stop().await });
    assert!(matches!(refused, Err(CallError::Elsewhere)), "{refused:?}");
}

/// What a person is told who asks why an agent says nothing, and what a program reads.
#[test]
fn that_a_lease_keeps_an_agent_silent_is_told_by_name() {
    let (mut stage, leased) = stage(["a1".into()], &["b1"]);
    stage.chat();
    let channel = stage.channel();
    for (standing, reason, words) in [
        (Standing::Held, Reason::Dormant, "no agent has the floor"),
        (Standing::Quiet, Reason::LeaseEnding, "may soon not act"),
        (Standing::Lapsed, Reason::LeaseLapsed, "could not renew its lease"),
        (Standing::Elsewhere, Reason::Elsewhere, "another process acts for this channel"),
    ] {
        set(&mut stage, &leased, standing);
        let why = stage.call(move |d| async move { d.channel(channel).explain(&"a".into()).await });
        let why = why.unwrap();
        assert_eq!((why.reason, why.allows()), (reason, false), "{standing:?}");
        assert!(why.to_string().contains(words), "{why}");
        let asked = command(&mut stage, SlashCommand::Why, "a");
        let is_elsewhere = standing == Standing::Elsewhere;
        assert!(asked.contains(words) != is_elsewhere, "{asked}");
        let all = command(&mut stage, SlashCommand::Why, "");
        let status = command(&mut stage, SlashCommand::Status, "");
        if is_elsewhere {
            for answer in [asked, all, status, command(&mut stage, SlashCommand::Stop, "")] {
                assert!(answer.starts_with("Another process of this bot"), "{answer}");
            }
        } else {
            assert!(status.contains(&reason.to_string()) || reason == Reason::Dormant, "{status}");
        }
    }
}

#[test]
fn a_channel_that_comes_is_loaded_and_what_was_said_meanwhile_is_heard() {
    let (mut stage, leased) = stage(["a1".into()], &["b1"]);
    stage.chat();
    set(&mut stage, &leased, Standing::Elsewhere);
    stage.say("Hello");
    stage.advance(SECOND * 30);
    set(&mut stage, &leased, Standing::Held);
    stage.until_dormant();
    assert_eq!(stage.words(), ["Hello", "a1", "b1"]);
}

#[test]
fn a_quiet_channel_grants_nothing_until_its_lease_is_renewed() {
    let (mut stage, leased) = stage(["a1".into()], &["b1"]);
    stage.chat();
    set(&mut stage, &leased, Standing::Quiet);
    stage.say("Hello");
    stage.advance(SECOND * 5);
    assert_eq!(stage.words(), ["Hello"]);
    let channel = stage.channel();
    let denied = stage
        .call(move |d| async move { d.channel(channel).may_speak(&"b".into(), None).await.err() });
    assert!(matches!(denied, Some(Denial::Failed(CallError::Elsewhere))), "{denied:?}");
    set(&mut stage, &leased, Standing::Held);
    stage.until_dormant();
    assert_eq!(stage.words(), ["Hello", "a1", "b1"]);
}

/// What an agent says while the lease is quiet is posted; once it has lapsed, it waits for the renewal.
#[test]
fn a_reply_under_way_is_posted_while_quiet_and_waits_while_lapsed() {
    for (standing, posted) in [(Standing::Quiet, true), (Standing::Lapsed, false)] {
        let thinks = Line::from("a1").taking(SECOND * 5);
        let (mut stage, leased) = stage([thinks], &["b1"]);
        stage.chat();
        stage.say("Hello");
        set(&mut stage, &leased, standing);
        stage.advance(SECOND * 10);
        let words = stage.words();
        assert_eq!(words.contains(&"a1".to_owned()), posted, "{standing:?}: {words:?}");
        assert!(!words.contains(&"b1".to_owned()), "{words:?}");
        set(&mut stage, &leased, Standing::Held);
        stage.until_dormant();
        assert_eq!(stage.words(), ["Hello", "a1", "b1"]);
    }
}

#[test]
fn a_call_in_a_channel_that_goes_is_cancelled_and_nothing_of_it_is_posted() {
    let thinks = Line::from("a1").taking(SECOND * 5);
    let (mut stage, leased) = stage([thinks], &["b1"]);
    stage.chat();
    stage.say("Hello");
    set(&mut stage, &leased, Standing::Elsewhere);
    stage.advance(SECOND * 60);
    assert_eq!(stage.words(), ["Hello"]);
}

/// A process whose lease has lapsed may not say that what an agent of the host wrote may be posted: another process may have given the floor
/// to another agent.
#[test]
fn the_end_of_a_run_is_not_taken_after_the_lease_has_lapsed() {
    for is_by_permit in [true, false] {
        let leased = Arc::<Leased>::default();
        let setup = Setup::new().hooked("a", []).hooked("b", []).without_pump();
        let mut stage = setup.ownership(Arc::clone(&leased) as _).stage();
        stage.chat();
        let (channel, run) = (stage.channel(), Some(RunId::new(1)));
        stage.call(move |d| async move { d.channel(channel).wake(None).await }).unwrap();
        let permit = stage.call(move |d| async move {
            d.channel(channel).may_speak(&"a".into(), run).await.unwrap()
        });
        set(&mut stage, &leased, Standing::Lapsed);
        let spoke = RunReport::Spoke("mine");
        if is_by_permit {
            let ended = permit.end(spoke);
            assert!(matches!(ended, Err(Refusal::StaleRun)), "{ended:?}");
        } else {
            permit.keep();
            let ended = stage.call(move |d| async move {
                d.channel(channel).turn_ended(&"a".into(), run, spoke).await
            });
            assert!(matches!(ended, Err(CallError::Elsewhere)), "{ended:?}");
            // It is told again, and the lease was renewed.
            set(&mut stage, &leased, Standing::Held);
            stage.call(move |d| async move {
                d.channel(channel).turn_ended(&"a".into(), run, spoke).await.unwrap();
            });
        }
    }
}

/// A channel that went and came back before the driver looked is not the one it knew.
#[test]
fn a_channel_that_went_and_came_back_is_taken_up_from_its_record() {
    let thinks = Line::from("a1").taking(SECOND * 5);
    let (mut stage, leased) = stage([thinks, "a2".into()], &["b1", "b2"]);
    stage.chat();
    stage.say("Hello");
    let channel = stage.channel();
    leased.set(channel, Standing::Elsewhere);
    set(&mut stage, &leased, Standing::Held);
    stage.until_dormant();
    // The run that was lost is skipped, and nothing of it is posted; each line stands there once.
    assert_eq!(stage.words(), ["Hello", "b1", "a1", "b2", "a2"]);
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Dormant);
}

/// A process that stands still while it calls agents: once one was called, the leases of the other channels have lapsed.
#[derive(Default)]
struct StandsStill {
    agent: OnceLock<ScriptedAgent>,
    goes_on: AtomicBool,
    changed: Notify,
}

#[async_trait]
impl Ownership for StandsStill {
    fn standing(&self, channel: ChannelId) -> Standing {
        let turns = self.agent.get().map(ScriptedAgent::turns).unwrap_or_default();
        let is_called_elsewhere = turns.iter().any(|turn| turn.channel != Some(channel));
        if is_called_elsewhere && !self.goes_on.load(Ordering::Relaxed) {
            Standing::Lapsed
        } else {
            Standing::Held
        }
    }

    async fn changed(&self) -> Vec<ChannelId> {
        self.changed.notified().await;
        Vec::new()
    }
}

/// A process may stand still between the decision to call an agent and the call: by then another may act for the channel.
#[test]
fn an_agent_is_not_called_after_the_lease_of_its_channel_has_lapsed() {
    let leases = Arc::<StandsStill>::default();
    let thinks = || Line::from("a1").taking(SECOND * 5);
    let setup = Setup::new().hosted("a", [thinks(), thinks()]).hosted("b", []).rooms(2);
    let mut stage = setup.ownership(Arc::clone(&leases) as _).stage();
    stage.chat();
    assert!(leases.agent.set(stage.agent("a").clone()).is_ok());
    let (rooms, person, discord) =
        (stage.rooms().to_vec(), stage.person(), stage.discord().clone());
    for room in &rooms {
        discord.say(*room, person, "Hello");
    }
    stage.settle();
    assert_eq!(stage.agent("a").turns().len(), 1, "both calls were decided, and one was made");
    leases.goes_on.store(true, Ordering::Relaxed);
    leases.changed.notify_one();
    for room in rooms {
        stage.say_in(room, "Hello?");
    }
    stage.until_dormant();
    let turns = stage.agent("a").turns();
    for room in stage.rooms() {
        let heard = turns.iter().filter(|turn| turn.channel == Some(*room));
        let heard: Vec<_> =
            heard.flat_map(|turn| turn.missed.iter().chain(&turn.injected)).collect();
        assert_eq!(heard, ["Hello", "Hello?"], "no word is lost");
    }
}
