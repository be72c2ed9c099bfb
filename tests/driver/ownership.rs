//! Several processes share a store: each acts for the channels that are its own, and for no other (D78).

use std::collections::HashMap;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Waker};
use std::time::Duration;

use dirigent::command::{Invoker, SlashCommand};
use dirigent::hooks::{RunId, RunReport};
use dirigent::operate::{Reason, Refusal};
use dirigent::ports::{Identity, Ownership, Post, Standing};
use dirigent::snapshot::PhaseKind;
use dirigent::{
    Agent, AgentError, AgentId, CallError, ChannelId, Clock, Denial, Dirigent, DiscordApi, Reply,
    Turn, async_trait,
};
use dirigent_testkit::ScriptedAgent;
use dirigent_testkit::memory_discord::Fault;
use dirigent_testkit::scripted_agent::{Act, Line};
use dirigent_verify::stage::{Setup, Stage, StoreFault};
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
        d.channel(channel).command(command, invoker, input, SlashCommand::ANSWER_WITHIN).await
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
    // No event and no call concerns the channel from now on.
    stage.advance(SECOND * 60);
    assert_eq!(stage.words(), ["Hello", "a1", "b1"]);
}

/// The process that had the channel before may have registered an agent.
#[test]
fn the_registry_is_read_when_a_channel_comes() {
    let (mut stage, leased) = stage(["a1".into()], &["b1"]);
    stage.chat();
    set(&mut stage, &leased, Standing::Elsewhere);
    let user = stage.discord().add_bot();
    let (agent_id, agent_name) = ("c".into(), "C".to_owned());
    let identity = Identity { discord_user_id: user, agent_id, agent_name };
    stage.identities().add(identity).unwrap();
    stage.advance(SECOND * 60);
    assert!(!stage.dirigent().agent_accounts().contains(&user));
    set(&mut stage, &leased, Standing::Held);
    assert!(stage.dirigent().agent_accounts().contains(&user));
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
    // Without a wait.
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

/// A process may stand still while its post is on the way, and go on when the chat has forgotten the nonce with which the next owner
/// made the same post.
#[test]
fn a_post_that_stood_still_does_not_follow_that_of_the_next_owner() {
    for stood_still in [SECOND * 150, SECOND * 3_600] {
        let (mut stage, leased) = stage(["a1".into()], &[]);
        let _ = stage.discord().clone().with_nonce_window(SECOND * 120);
        stage.chat();
        stage.discord().next_post(Fault::SlowRequest { by: SECOND * 4 });
        stage.say("Hello");
        stage.advance(SECOND);
        let channel = stage.channel();
        let account = stage.discord().account(stage.agent("a").user());
        let reply = stage.store().stored(channel).unwrap().record.outgoing.unwrap();
        let nonce = reply.parts[0].nonce;
        let of_next = stage.call(move |_| async move {
            account.post(Post::new(channel, "a1", nonce)).await.unwrap().deduplicated
        });
        assert!(!of_next, "that of this process has not arrived");
        leased.set(channel, Standing::Lapsed);
        stage.clock().jump_to(stage.clock().now() + stood_still);
        stage.advance(SECOND * 10);
        set(&mut stage, &leased, Standing::Elsewhere);
        stage.advance(SECOND * 60);
        assert_eq!(stage.words(), ["Hello", "a1"], "{stood_still:?}");
    }
}

#[test]
fn a_call_in_a_channel_that_goes_is_cancelled_and_nothing_of_it_is_posted() {
    let thinks = Line::from("a1").taking(SECOND * 5);
    let (mut stage, leased) = stage([thinks], &["b1"]);
    stage.chat();
    stage.say("Hello");
    set(&mut stage, &leased, Standing::Elsewhere);
    let turns = stage.agent("a").turns();
    assert_eq!(turns.iter().map(|turn| turn.cancelled).collect::<Vec<_>>(), [true]);
    let tried = stage.store().attempts();
    stage.advance(SECOND * 60);
    assert_eq!(stage.words(), ["Hello"]);
    assert_eq!(stage.store().attempts(), tried, "nothing of the channel is stored from here");
}

/// As an agent whose turn is taken away for another reason: it may go on for ten seconds, and keeps no place from others after that.
#[test]
fn an_agent_that_does_not_return_from_a_channel_that_goes_is_dropped_after_the_grace() {
    for stopped_before in [0, 6] {
        let leased = Arc::<Leased>::default();
        let setup =
            Setup::new().rooms(2).hosted("a", [Act::Deaf.into()]).hosted("b", ["b1".into()]);
        let mut stage = setup
            .settings(|settings| settings.limits.calls_max = 1)
            .ownership(Arc::clone(&leased) as _)
            .stage();
        stage.chat();
        let (room, other) = (stage.rooms()[0], stage.rooms()[1]);
        stage.say_in(room, "Hello");
        assert_eq!(stage.agent("a").running_max(), 1);
        if stopped_before > 0 {
            stage.call(move |d| async move { d.channel(room).stop().await }).unwrap();
            stage.advance(SECOND * stopped_before);
        }
        set(&mut stage, &leased, Standing::Elsewhere);
        stage.call(move |d| async move { d.channel(other).wake(Some(&"b".into())).await }).unwrap();
        stage.advance(SECOND * (9 - stopped_before));
        assert_eq!(stage.words_in(other), [""; 0], "the first agent has the only place");
        stage.advance(SECOND * 2);
        assert_eq!(stage.words_in(other), ["b1"]);
    }
}

/// Never returns, and tells when it is dropped.
struct Deaf(Arc<AtomicBool>);

#[async_trait]
impl Agent for Deaf {
    async fn speak(&self, _: Turn) -> Result<Reply, AgentError> {
        struct Running(Arc<AtomicBool>);
        impl Drop for Running {
            fn drop(&mut self) {
                self.0.store(true, Ordering::SeqCst);
            }
        }
        let _running = Running(Arc::clone(&self.0));
        std::future::pending().await
    }
}

/// Where the clock is set back, what remained of the grace remains when that is noticed.
#[test]
fn the_grace_ends_at_its_time_also_in_a_process_that_has_nothing_else_to_do() {
    for (set_back, late) in [(Duration::ZERO, Duration::ZERO), (SECOND * 3_600, SECOND * 31)] {
        let (mut stage, leased) = stage([], &[]);
        let dropped = Arc::<AtomicBool>::default();
        let account = stage.discord().account(stage.agent("a").user());
        stage.dirigent().host("a", Deaf(Arc::clone(&dropped)), account);
        stage.chat();
        stage.say("Hello");
        set(&mut stage, &leased, Standing::Elsewhere);
        stage.clock().jump_to(stage.clock().now().saturating_sub(set_back));
        stage.settle();
        stage.advance(SECOND * 9);
        assert!(!dropped.load(Ordering::SeqCst), "{set_back:?}");
        stage.advance(SECOND + late);
        assert!(dropped.load(Ordering::SeqCst), "{set_back:?}");
    }
}

/// The driver may look at a room before it hears of the change.
#[test]
fn what_comes_of_a_call_is_not_stored_by_a_process_that_has_lost_the_channel() {
    let thinks = Line::from("a1").taking(SECOND * 5);
    let (mut stage, leased) = stage([thinks], &["b1"]);
    stage.chat();
    stage.say("Hello");
    leased.standings.lock().unwrap().insert(stage.channel(), Standing::Elsewhere);
    let tried = stage.store().attempts();
    stage.advance(SECOND * 60);
    assert_eq!(stage.words(), ["Hello"]);
    assert_eq!(stage.store().attempts(), tried);
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

/// What this process knew of the channel is of no account any more, though it acts for it again.
#[test]
fn a_permit_of_an_earlier_term_permits_nothing() {
    let leased = Arc::<Leased>::default();
    let setup = Setup::new().hooked("a", []).hooked("b", []);
    let mut stage = setup.ownership(Arc::clone(&leased) as _).stage();
    stage.cut_agents_off(true);
    stage.chat();
    stage.say("Hello");
    let channel = stage.channel();
    let permit = stage
        .call(move |d| async move { d.channel(channel).may_speak(&"a".into(), None).await })
        .unwrap();
    set(&mut stage, &leased, Standing::Elsewhere);
    set(&mut stage, &leased, Standing::Held);
    assert_eq!(permit.end(RunReport::Text("a1")), Err(Refusal::StaleRun));
}

/// A request that is never answered keeps the room of the earlier term in memory, and not the channel.
#[test]
fn who_waits_for_the_store_is_told_when_the_channel_goes_and_it_can_come_back() {
    let (mut stage, leased) = stage(["a1".into()], &["b1"]);
    stage.chat();
    let channel = stage.channel();
    stage.store().next_commit(StoreFault::Hangs);
    let stopped = stage.begin(move |d| async move { d.channel(channel).stop().await });
    stage.settle();
    assert!(stopped.take().is_none(), "the store has not answered");
    set(&mut stage, &leased, Standing::Elsewhere);
    let told = stopped.take();
    assert!(matches!(told, Some(Err(CallError::Failed(_)))), "{told:?}");
    set(&mut stage, &leased, Standing::Held);
    stage.say("Hello");
    stage.until_dormant();
    assert_eq!(stage.words(), ["Hello", "a1", "b1"]);
}

/// The store refuses what a process does that does not know yet that it has lost the channel. A call that never ends keeps
/// the room of the earlier term in memory, and not the channel.
#[test]
fn a_channel_whose_commit_was_refused_is_read_anew_though_a_call_goes_on() {
    let deaf = Line::from(Act::Deaf);
    let (mut stage, _leased) = stage([deaf, "a1".into()], &["b1"]);
    stage.chat();
    stage.say("Hello");
    let channel = stage.channel();
    stage.store().take_over(channel);
    stage.say("Hello?");
    stage.advance(SECOND * 60);
    let stopped = stage.call(move |d| async move { d.channel(channel).stop().await });
    assert!(stopped.is_ok(), "{stopped:?}");
}

/// A store that is away is tried again every 10 s. A lease that is renewed says that it is back.
#[test]
fn what_could_not_be_stored_is_stored_as_soon_as_the_lease_is_renewed() {
    let (mut stage, leased) = stage(["a1".into()], &["b1"]);
    stage.chat();
    stage.store().with_rate(StoreFault::Fails, 1_000, 1);
    stage.say("Hello");
    set(&mut stage, &leased, Standing::Lapsed);
    stage.advance(SECOND * 60);
    let tried = stage.store().attempts();
    stage.until("an attempt has just failed", |stage| stage.store().attempts() > tried);
    stage.store().stop_faults();
    let made = stage.store().commits().len();
    set(&mut stage, &leased, Standing::Held);
    assert!(stage.store().commits().len() > made);
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

/// Has another thread ask whether an agent may run, in the moment in which the driver is told that the channel came.
#[derive(Default)]
struct AsksInBetween {
    leased: Leased,
    dirigent: OnceLock<Dirigent>,
    asked: Mutex<Vec<String>>,
}

#[async_trait]
impl Ownership for AsksInBetween {
    fn standing(&self, channel: ChannelId) -> Standing {
        self.leased.standing(channel)
    }

    async fn changed(&self) -> Vec<ChannelId> {
        let came = self.leased.changed().await;
        for channel in &came {
            let asks = || {
                let dirigent = self.dirigent.get().unwrap();
                let channel = dirigent.channel(*channel);
                let agent = AgentId::from("b");
                let mut asked = pin!(channel.may_speak(&agent, Some(RunId::new(7))));
                let answer = asked.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                format!("{:?}", answer.map(|answer| answer.map(|permit| permit.reason())))
            };
            let asked = std::thread::scope(|scope| scope.spawn(asks).join().unwrap());
            self.asked.lock().unwrap().push(asked);
        }
        came
    }
}

/// A channel that has come and is not known yet is none without turns, in which anybody may speak.
#[test]
fn nothing_is_allowed_between_the_lease_and_the_news_of_it() {
    let leases = Arc::<AsksInBetween>::default();
    let setup = Setup::new().hosted("a", ["a1".into()]).hosted("b", ["b1".into()]);
    let mut stage = setup.ownership(Arc::clone(&leases) as _).stage();
    stage.chat();
    let asker = Arc::clone(&leases);
    stage
        .call(move |dirigent| async move { assert!(asker.dirigent.set(dirigent.clone()).is_ok()) });
    // One that this process never had.
    for standing in [Standing::Elsewhere, Standing::Held] {
        leases.leased.set(ChannelId::new(999_999), standing);
        stage.settle();
    }
    assert_eq!(*leases.asked.lock().unwrap(), ["Pending"]);
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
