//! Several processes that act for channels: any of them answers, and what one hears reaches the one that it concerns.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use dirigent::hooks::RunReport;
use dirigent::host::Builder;
use dirigent::ports::Attachment;
use dirigent::{CallError, ChannelId, Clock, MemoryIdentities, Mode, Settings, async_trait};
use dirigent_relay::{
    Asker, CarryError, Client, Denied, HostId, InProcess, Refused, Relay, Server, Service,
};
use dirigent_testkit::ManualClock;

use super::fleet::{Fleet, Process, SECOND, Table, host, secret};

/// Two processes; the channel is the first one's.
async fn pair() -> (Fleet, Process, Process) {
    let mut fleet = Fleet::new().await;
    let (a, b) = (fleet.start("a"), fleet.start("b"));
    fleet.chat(&a).await;
    (fleet, a, b)
}

/// R178.
#[tokio::test]
async fn any_process_answers_whether_an_agent_may_speak() {
    let (fleet, a, b) = pair().await;
    fleet.say(&a, "Hello").await;
    assert_eq!(b.instance.owner(fleet.channel), Some(host("a")));
    let denied = b.instance.may_speak(fleet.channel, &"critic".into(), None).await.unwrap_err();
    assert!(
        matches!(&denied, Denied::Denied { speaker: Some(poet), .. } if poet.as_str() == "poet")
    );
    let permission = b.instance.may_speak(fleet.channel, &"poet".into(), None).await.unwrap();
    assert!(permission.holds_floor());
    assert!(permission.end(RunReport::Pass).await.unwrap().accepted);
    fleet.settle().await;
    for process in [&a, &b] {
        let state = process.instance.channel_state(fleet.channel).await.unwrap();
        assert_eq!(state.current_speaker, Some("critic".into()));
        let why = process.instance.explain(fleet.channel, &"poet".into()).await.unwrap();
        assert_eq!((why.owner, why.allows), (host("a"), false));
        assert!(why.text.contains("critic"), "{}", why.text);
    }
    // In the process that acts for the channel it is the same.
    let permission = a.instance.may_speak(fleet.channel, &"critic".into(), None).await.unwrap();
    assert!(permission.end(RunReport::Pass).await.unwrap().accepted);
    assert!(permission.end(RunReport::Pass).await.unwrap().duplicate);
}

/// As while a new version, which brings an agent along, replaces the old one process by process.
#[tokio::test]
async fn the_end_of_a_run_is_carried_by_a_process_that_does_not_know_the_agent_yet() {
    let mut fleet = Fleet::new().await;
    let a = fleet.start("a");
    let keys = Fleet::keys("b");
    let (way, clock) = (Arc::new(fleet.relay.clone()), Arc::new(fleet.clock.clone()));
    let client = Client::new(keys.clone(), way, clock);
    let knows_none = |builder: Builder| builder.identities(MemoryIdentities::new());
    let b = fleet.start_as("b", keys, client, Vec::new(), knows_none);
    fleet.chat(&a).await;
    fleet.say(&a, "Hello").await;
    let permission = b.instance.may_speak(fleet.channel, &"poet".into(), None).await.unwrap();
    assert!(permission.holds_floor());
    assert!(permission.end(RunReport::Pass).await.unwrap().accepted);
}

#[tokio::test]
async fn an_owner_that_is_away_is_a_reason_to_be_silent() {
    let (fleet, mut a, b) = pair().await;
    fleet.say(&a, "Hello").await;
    a.kill();
    fleet.relay.disconnect(&a.host);
    let (instance, channel) = (b.instance.clone(), fleet.channel);
    let asked =
        tokio::spawn(
            async move { instance.may_speak(channel, &"poet".into(), None).await.map(drop) },
        );
    fleet.pass(SECOND * 2).await;
    let denied = asked.await.unwrap().unwrap_err();
    assert!(denied.is_unavailable(), "{denied}");
}

/// A way on which the first question to another process is lost for certain, after a while, and no other one is answered.
struct TwoLegs {
    first: AtomicBool,
    clock: ManualClock,
}

#[async_trait]
impl Relay for TwoLegs {
    async fn carry(&self, _: &HostId, _: &str, _: Vec<u8>) -> Result<Vec<u8>, CarryError> {
        if self.first.swap(false, Ordering::Relaxed) {
            self.clock.sleep_until(self.clock.now() + SECOND * 3 / 2).await;
            return Err(CarryError::unreachable("away"));
        }
        std::future::pending().await
    }
}

/// A question that is asked again has what remains of its time, not all of it once more.
#[tokio::test]
async fn a_question_that_is_asked_twice_takes_no_longer_than_one_time_limit() {
    let mut fleet = Fleet::new().await;
    let a = fleet.start("a");
    fleet.chat(&a).await;
    let way = TwoLegs { first: AtomicBool::new(true), clock: fleet.clock.clone() };
    let b = fleet.start_with("b", Fleet::keys("b"), Arc::new(way), Vec::new());
    let (instance, channel) = (b.instance.clone(), fleet.channel);
    let asked = tokio::spawn(async move { instance.channel_state(channel).await });
    fleet.pass(SECOND * 19 / 10).await;
    assert!(!asked.is_finished(), "the second question is under way");
    fleet.pass(SECOND / 10).await;
    assert!(asked.is_finished());
    assert!(!asked.await.unwrap().unwrap_err().is_certain());
}

/// A channel that changes hands while it is asked for: the question finds it within the time limit.
#[tokio::test]
async fn a_question_follows_the_channel_to_its_next_owner() {
    let (mut fleet, a, b) = pair().await;
    let c = fleet.start("c");
    fleet.say(&a, "Hello").await;
    fleet.table.give(fleet.channel, None);
    let (instance, channel) = (c.instance.clone(), fleet.channel);
    let asked =
        tokio::spawn(async move { instance.may_speak(channel, &"poet".into(), None).await });
    fleet.pass(SECOND).await;
    assert!(!asked.is_finished(), "no process acts for it");
    fleet.table.give(fleet.channel, Some(&b.host));
    fleet.pass(SECOND).await;
    let permission = asked.await.unwrap().unwrap();
    // And so does the end of the run.
    fleet.table.give(fleet.channel, Some(&a.host));
    fleet.settle().await;
    assert!(permission.end(RunReport::Pass).await.unwrap().accepted);
    fleet.settle().await;
    let state = c.instance.channel_state(fleet.channel).await.unwrap();
    assert_eq!(state.current_speaker, Some("critic".into()));
}

#[tokio::test]
async fn what_one_process_hears_reaches_the_process_that_it_concerns() {
    let (fleet, a, b) = pair().await;
    fleet.say(&b, "Hello").await;
    let status = a.dirigent.channel(fleet.channel).status().await.unwrap().unwrap();
    assert_eq!(status.speaker, Some("poet".into()));
    assert_eq!(b.forwarding.counts(), (1, 0, 0));
    // The other way round it stays where it is.
    fleet.say(&a, "And?").await;
    assert_eq!(a.forwarding.counts(), (0, 0, 0));
}

/// Counts what is carried, and loses what it is told to lose.
#[derive(Clone)]
struct Counting {
    inner: InProcess,
    state: Arc<Mutex<(u32, u32)>>,
}

#[async_trait]
impl Relay for Counting {
    async fn carry(&self, to: &HostId, rule: &str, bytes: Vec<u8>) -> Result<Vec<u8>, CarryError> {
        let lose = {
            let mut state = self.state.lock().unwrap();
            state.0 += 1;
            let lose = state.1 > 0;
            state.1 = state.1.saturating_sub(1);
            lose
        };
        let answer = self.inner.carry(to, rule, bytes).await;
        if lose { Err(CarryError::no_answer("lost")) } else { answer }
    }
}

/// Lost answers: the events are carried again, and are heard once.
#[tokio::test]
async fn events_whose_answer_is_lost_are_carried_again_and_change_nothing_more() {
    let mut fleet = Fleet::new().await;
    let a = fleet.start("a");
    let way = Counting { inner: fleet.relay.clone(), state: Arc::new(Mutex::new((0, 3))) };
    let b = fleet.start_with("b", Fleet::keys("b"), Arc::new(way.clone()), Vec::new());
    fleet.chat(&a).await;
    fleet.say(&b, "stop").await;
    fleet.pass(SECOND * 10).await;
    assert_eq!(b.forwarding.counts(), (1, 0, 0));
    assert!(way.state.lock().unwrap().0 >= 4);
    let status = a.dirigent.channel(fleet.channel).status().await.unwrap().unwrap();
    assert!(status.rest.is_some());
}

/// What is heard while the owner is away is carried to the process that takes the channel over.
#[tokio::test]
async fn events_of_a_dead_owner_reach_its_successor() {
    let (mut fleet, mut a, b) = pair().await;
    let c = fleet.start("c");
    a.kill();
    fleet.relay.disconnect(&a.host);
    fleet.say(&b, "Hello").await;
    fleet.pass(SECOND * 5).await;
    assert_eq!(b.forwarding.counts(), (0, 0, 1));
    fleet.table.give(fleet.channel, Some(&c.host));
    fleet.pass(SECOND * 10).await;
    assert_eq!(b.forwarding.counts(), (1, 0, 0));
    let status = c.dirigent.channel(fleet.channel).status().await.unwrap().unwrap();
    assert_eq!(status.speaker, Some("poet".into()));
    // And to the process itself, where that is the one.
    fleet.table.give(fleet.channel, None);
    fleet.say(&b, "stop").await;
    fleet.table.give(fleet.channel, Some(&b.host));
    fleet.pass(SECOND * 2).await;
    let status = b.dirigent.channel(fleet.channel).status().await.unwrap().unwrap();
    assert!(status.rest.is_some());
}

/// More events than may wait are left aside, and the process reads the history when it is back.
#[tokio::test]
async fn what_is_too_much_to_wait_is_read_from_the_chat() {
    let (fleet, a, b) = pair().await;
    fleet.relay.disconnect(&a.host);
    fleet.say(&b, "Hello").await;
    let other = fleet.discord.add_channel(fleet.guild, "other", &[fleet.moderator, fleet.person]);
    for _ in 0..10_001 {
        let id = fleet.discord.say(other, fleet.person, "Hello");
        let message = fleet.discord.message(other, id).unwrap();
        b.dirigent.message_created(message).await.unwrap();
    }
    let (carried, dropped, waiting) = b.forwarding.counts();
    assert_eq!(carried, 0);
    assert!(dropped > 10_000 && waiting < 10, "{dropped} {waiting}");
    fleet.relay.connect(Arc::clone(&a.server));
    fleet.pass(SECOND * 20).await;
    let status = a.dirigent.channel(fleet.channel).status().await.unwrap().unwrap();
    assert_eq!(status.speaker, Some("poet".into()), "it read what was left aside");
}

/// Messages with as many and as long descriptions of files as there may be are not too much for one question.
#[tokio::test]
async fn large_messages_that_waited_are_carried() {
    let (fleet, a, b) = pair().await;
    fleet.relay.disconnect(&a.host);
    let file = || {
        let mut file = Attachment::new("picture.png", "https://cdn.discordapp.com/picture", 7);
        file.description = Some("\u{1F4DA}".repeat(1_024).into());
        file
    };
    for _ in 0..40 {
        let id = fleet.discord.say(fleet.channel, fleet.person, "Look");
        let mut message = fleet.discord.message(fleet.channel, id).unwrap();
        message.attachments = (0..10).map(|_| file()).collect();
        b.dirigent.message_created(message).await.unwrap();
    }
    fleet.settle().await;
    fleet.relay.connect(Arc::clone(&a.server));
    fleet.pass(SECOND * 20).await;
    assert_eq!(b.forwarding.counts(), (40, 0, 0));
}

/// The other process cannot read what it is told, as one of another version.
struct OtherVersion;

#[async_trait]
impl Service for OtherVersion {
    fn rules(&self) -> &'static [&'static str] {
        &["gateway-events"]
    }

    async fn serve(&self, _: &Asker, _: &str, _: &[u8]) -> Result<Vec<u8>, Refused> {
        Err(Refused::BadQuestion { why: "an unknown kind of event".to_owned() })
    }
}

/// What will never be taken is left aside, and does not keep what follows.
#[tokio::test]
async fn events_that_are_refused_for_good_do_not_wait() {
    let (fleet, a, b) = pair().await;
    let server = Server::with_start(Fleet::keys("a"), secret(99)).with(Arc::new(OtherVersion));
    fleet.relay.connect(Arc::new(server));
    fleet.say(&b, "Hello").await;
    fleet.pass(SECOND * 2).await;
    assert_eq!(b.forwarding.counts(), (0, 1, 0));
    fleet.relay.connect(Arc::clone(&a.server));
    fleet.pass(SECOND * 20).await;
    let status = a.dirigent.channel(fleet.channel).status().await.unwrap().unwrap();
    assert_eq!(status.speaker, Some("poet".into()), "it read what was left aside");
}

/// A way on which the channel goes to another process before the first events arrive.
struct JustGone {
    inner: InProcess,
    table: Arc<Table>,
    channel: ChannelId,
    to: Mutex<Option<HostId>>,
}

#[async_trait]
impl Relay for JustGone {
    async fn carry(&self, to: &HostId, rule: &str, bytes: Vec<u8>) -> Result<Vec<u8>, CarryError> {
        let next = self.to.lock().unwrap().take();
        if let Some(next) = next {
            self.table.give(self.channel, Some(&next));
        }
        self.inner.carry(to, rule, bytes).await
    }
}

/// The process that was asked does not act for the channel any more: the events go on to the one that does.
#[tokio::test]
async fn events_that_come_too_late_for_one_owner_reach_the_next() {
    let mut fleet = Fleet::new().await;
    let (a, c) = (fleet.start("a"), fleet.start("c"));
    fleet.chat(&a).await;
    let way = JustGone {
        inner: fleet.relay.clone(),
        table: Arc::clone(&fleet.table),
        channel: fleet.channel,
        to: Mutex::new(Some(c.host.clone())),
    };
    let b = fleet.start_with("b", Fleet::keys("b"), Arc::new(way), Vec::new());
    fleet.say(&b, "stop").await;
    fleet.pass(SECOND * 3).await;
    assert_eq!(b.forwarding.counts(), (1, 0, 0));
    let status = c.dirigent.channel(fleet.channel).status().await.unwrap().unwrap();
    assert!(status.rest.is_some());
}

#[tokio::test]
async fn a_gap_that_concerns_all_reaches_all() {
    let (fleet, a, b) = pair().await;
    // Only the chat knows of it.
    fleet.discord.say(fleet.channel, fleet.person, "Hello");
    b.dirigent.reconnected().await.unwrap();
    fleet.pass(SECOND * 5).await;
    let status = a.dirigent.channel(fleet.channel).status().await.unwrap().unwrap();
    assert_eq!(status.speaker, Some("poet".into()));
}

/// The parent of a thread may be another process's channel: its mode is read from the store that both share.
#[tokio::test]
async fn a_thread_takes_over_the_mode_of_a_parent_for_which_another_process_acts() {
    for (given, inherited) in [(Mode::Chat, "chat"), (Mode::Report, "report"), (Mode::None, "none")]
    {
        let mut fleet = Fleet::new().await;
        let inheriting = |fleet: &mut Fleet, name| {
            let (keys, clock) = (Fleet::keys(name), Arc::new(fleet.clock.clone()));
            let client = Client::new(keys.clone(), Arc::new(fleet.relay.clone()), clock);
            let settings = Settings::default().with(|settings| settings.inherit_parent_mode = true);
            fleet.start_as(name, keys, client, Vec::new(), |builder| builder.settings(settings))
        };
        // The parent is the second process's, the threads are the first one's.
        let (a, b) = (inheriting(&mut fleet, "a"), inheriting(&mut fleet, "b"));
        let parent = fleet.channel;
        fleet.table.give(parent, Some(&b.host));
        let members = [fleet.moderator, fleet.agents[0].1, fleet.agents[1].1];
        let [one, other, unheard] = ["one", "two", "three"]
            .map(|name| fleet.discord.add_channel(fleet.guild, name, &members));
        fleet.settle().await;
        let mode_of = async |thread| a.instance.channel_state(thread).await.unwrap().mode;
        // Without a mode of its parent a thread has none.
        a.dirigent.thread_seen(one, parent).await.unwrap();
        assert_eq!(mode_of(one).await, "none");
        b.dirigent.channel(parent).set_mode(given).await.unwrap();
        // Whichever process hears of it.
        a.dirigent.thread_seen(one, parent).await.unwrap();
        b.dirigent.thread_seen(other, parent).await.unwrap();
        // Something was said in it while no process listened.
        let newest = fleet.discord.say(unheard, fleet.person, "Hello");
        b.dirigent.newest_message_of_thread(unheard, parent, newest).await.unwrap();
        fleet.pass(SECOND).await;
        for thread in [one, other, unheard] {
            assert_eq!(mode_of(thread).await, inherited, "{given} {thread}");
        }
    }
}

/// Calls of the library itself say that another process acts for the channel.
#[tokio::test]
async fn the_library_itself_carries_no_call() {
    let (fleet, _a, b) = pair().await;
    let refused = b.dirigent.channel(fleet.channel).stop().await;
    assert!(matches!(refused, Err(CallError::Elsewhere)));
}
