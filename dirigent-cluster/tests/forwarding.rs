//! In which order events of the gateway are carried to the process that they concern.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::hooks::RunReport;
use dirigent::ports::Standing;
use dirigent::{Dirigent, MessageId, async_trait};
use dirigent_relay::{Asker, CarryError, HostId, InProcess, Refused, Relay, Server, Service};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::fleet::{Fleet, Process, SECOND, host, secret};

/// Stands in the place of the process that acts for the channel, and writes down what is carried to it.
#[derive(Default)]
struct Scribe {
    /// The texts of each question, after a mark where anything may have been missed before.
    heard: Mutex<Vec<Vec<String>>>,
    /// The places of the next questions that are not taken.
    refuse: Mutex<VecDeque<Vec<usize>>>,
}

#[async_trait]
impl Service for Scribe {
    fn rules(&self) -> &'static [&'static str] {
        &["gateway-events"]
    }

    async fn serve(&self, _: &Asker, _rule: &str, question: &[u8]) -> Result<Vec<u8>, Refused> {
        let question: Value = serde_json::from_slice(question).unwrap();
        let text = |event: &Value| event["message-created"]["content"].as_str().unwrap().to_owned();
        let missed = question["missed"].as_bool().unwrap().then(|| "missed".to_owned());
        let texts = question["events"].as_array().unwrap().iter().map(text);
        self.heard.lock().unwrap().push(missed.into_iter().chain(texts).collect());
        let refused = self.refuse.lock().unwrap().pop_front().unwrap_or_default();
        Ok(json!({ "elsewhere": refused }).to_string().into_bytes())
    }
}

/// What becomes of a question.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Answered,
    AnswerLost,
    Unreachable,
    /// There is none before the other end gives up.
    NoAnswer,
}

/// Counts what is carried.
#[derive(Clone)]
struct Asked {
    inner: InProcess,
    times: Arc<Mutex<u32>>,
}

#[async_trait]
impl Relay for Asked {
    async fn carry(&self, to: &HostId, rule: &str, bytes: Vec<u8>) -> Result<Vec<u8>, CarryError> {
        *self.times.lock().unwrap() += 1;
        self.inner.carry(to, rule, bytes).await
    }
}

/// A way over which each question goes when the test lets it, with the fate that the test has for it.
#[derive(Clone)]
struct Gated {
    inner: InProcess,
    gate: Arc<Semaphore>,
    fates: Arc<Mutex<VecDeque<Fate>>>,
}

impl Gated {
    fn let_go(&self, fate: Fate) {
        self.fates.lock().unwrap().push_back(fate);
        self.gate.add_permits(1);
    }
}

#[async_trait]
impl Relay for Gated {
    async fn carry(&self, to: &HostId, rule: &str, bytes: Vec<u8>) -> Result<Vec<u8>, CarryError> {
        self.gate.acquire().await.unwrap().forget();
        let fate = self.fates.lock().unwrap().pop_front().unwrap();
        match fate {
            Fate::Answered => self.inner.carry(to, rule, bytes).await,
            Fate::AnswerLost => {
                self.inner.carry(to, rule, bytes).await?;
                Err(CarryError::no_answer("lost"))
            }
            Fate::Unreachable => Err(CarryError::unreachable("away")),
            Fate::NoAnswer => std::future::pending().await,
        }
    }
}

/// Two processes: `a`, a scribe in its place, acts for the channel, and `b` hears its events.
struct ForwardingStage {
    fleet: Fleet,
    _a: Process,
    b: Process,
    scribe: Arc<Scribe>,
    way: Gated,
}

impl ForwardingStage {
    async fn new() -> Self {
        let mut fleet = Fleet::new().await;
        let a = fleet.start("a");
        let scribe = Arc::<Scribe>::default();
        let server =
            Server::with_start(Fleet::keys("a"), secret(200)).with(Arc::clone(&scribe) as _);
        fleet.relay.connect(Arc::new(server));
        let (inner, gate) = (fleet.relay.clone(), Arc::new(Semaphore::new(0)));
        let way = Gated { inner, gate, fates: Arc::default() };
        let b = fleet.start_with("b", Fleet::keys("b"), Arc::new(way.clone()), Vec::new());
        fleet.settle().await;
        let stage = Self { fleet, _a: a, b, scribe, way };
        // The first question of a process is answered with its session.
        stage.hear(&["first"]).await;
        stage.carry(&[Fate::Answered, Fate::Answered]).await;
        assert_eq!(stage.heard(), [["first"]]);
        stage
    }

    /// The process hears messages, all before anything is carried.
    async fn hear(&self, texts: &[&str]) {
        for text in texts {
            let id = self.fleet.discord.say(self.fleet.channel, self.fleet.person, *text);
            let message = self.fleet.discord.message(self.fleet.channel, id).unwrap();
            self.b.dirigent.message_created(message).await.unwrap();
        }
    }

    /// Lets the next questions go, and time for them to be asked again.
    async fn carry(&self, fates: &[Fate]) {
        for fate in fates {
            self.way.let_go(*fate);
            self.fleet.pass(SECOND).await;
        }
    }

    /// What was carried since the last look.
    fn heard(&self) -> Vec<Vec<String>> {
        std::mem::take(&mut self.scribe.heard.lock().unwrap())
    }
}

#[tokio::test]
async fn a_batch_that_is_sent_again_keeps_its_order_and_goes_before_what_came_meanwhile() {
    for fate in [Fate::AnswerLost, Fate::Unreachable] {
        let stage = ForwardingStage::new().await;
        stage.hear(&["1", "2", "3"]).await;
        stage.fleet.settle().await;
        // The batch is under way.
        stage.hear(&["4", "5"]).await;
        stage.carry(&[fate, Fate::Unreachable, Fate::Answered]).await;
        let mut heard = stage.heard();
        if matches!(fate, Fate::AnswerLost) {
            assert_eq!(heard.remove(0), ["1", "2", "3"]);
        }
        assert_eq!(heard, [["1", "2", "3", "4", "5"]], "{fate:?}");
        assert_eq!(stage.b.forwarding.counts(), (6, 0, 0));
    }
}

#[tokio::test]
async fn many_batches_keep_their_order_where_one_of_them_is_sent_again() {
    let stage = ForwardingStage::new().await;
    let texts: Vec<_> = (0..250).map(|number| number.to_string()).collect();
    stage.hear(&texts.iter().map(String::as_str).collect::<Vec<_>>()).await;
    stage.carry(&[Fate::Answered, Fate::AnswerLost, Fate::Answered, Fate::Answered]).await;
    let heard = stage.heard();
    let sizes: Vec<_> = heard.iter().map(Vec::len).collect();
    assert_eq!(sizes, [100, 100, 100, 50]);
    assert_eq!(heard[1], heard[2], "sent again");
    assert_eq!([&heard[0], &heard[1], &heard[3]].map(Vec::as_slice).concat(), texts);
}

/// That events were missed is told with the next batch, again until it is taken, and not after that.
#[tokio::test]
async fn a_gap_is_told_until_it_is_taken() {
    let stage = ForwardingStage::new().await;
    stage.b.dirigent.reconnected().await.unwrap();
    stage.hear(&["1"]).await;
    stage.carry(&[Fate::Unreachable, Fate::AnswerLost, Fate::Answered]).await;
    assert_eq!(stage.heard(), [["missed", "1"], ["missed", "1"]]);
    stage.hear(&["2"]).await;
    stage.carry(&[Fate::Answered]).await;
    assert_eq!(stage.heard(), [["2"]]);
    // Also where nothing else waits.
    stage.b.dirigent.reconnected().await.unwrap();
    stage.carry(&[Fate::Unreachable, Fate::Answered]).await;
    assert_eq!(stage.heard(), [["missed"]]);
}

/// They changed hands, and come back: the process that is asked next has them in order.
#[tokio::test]
async fn what_was_not_taken_keeps_its_order() {
    let stage = ForwardingStage::new().await;
    stage.scribe.refuse.lock().unwrap().push_back(vec![0, 2, 3]);
    stage.hear(&["1", "2", "3", "4"]).await;
    stage.carry(&[Fate::Answered, Fate::Answered]).await;
    assert_eq!(stage.heard(), [vec!["1", "2", "3", "4"], vec!["1", "3", "4"]]);
    assert_eq!(stage.b.forwarding.counts(), (5, 0, 0));
}

/// For a moment no process is known to act for the channel.
#[tokio::test]
async fn what_has_no_owner_for_a_moment_keeps_its_order() {
    let stage = ForwardingStage::new().await;
    let (channel, table) = (stage.fleet.channel, &stage.fleet.table);
    table.give(channel, None);
    stage.hear(&["1"]).await;
    stage.fleet.settle().await;
    table.give(channel, Some(&host("a")));
    stage.hear(&["2"]).await;
    stage.carry(&[Fate::Answered]).await;
    assert_eq!(stage.heard(), [["1", "2"]]);
    assert_eq!(stage.b.forwarding.counts(), (3, 0, 0));
}

/// The process to which an event is under way does not answer, and another one acts for the channel: it is told at once, and all.
#[tokio::test]
async fn the_next_owner_is_told_in_order_what_is_under_way_to_the_last_one() {
    let mut stage = ForwardingStage::new().await;
    let scribe = Arc::<Scribe>::default();
    let c = stage.fleet.start("c");
    let server = Server::with_start(Fleet::keys("c"), secret(201)).with(Arc::clone(&scribe) as _);
    stage.fleet.relay.connect(Arc::new(server));
    stage.hear(&["1"]).await;
    stage.fleet.settle().await;
    // The gate is shut: nothing of what follows was answered before.
    stage.fleet.table.give(stage.fleet.channel, Some(&c.host));
    stage.hear(&["2"]).await;
    stage.carry(&[Fate::NoAnswer, Fate::Answered, Fate::Answered]).await;
    let told = scribe.heard.lock().unwrap().clone();
    assert_eq!(told, [["1", "2"]]);
    assert!(stage.heard().is_empty());
    assert_eq!(stage.b.forwarding.counts(), (3, 0, 0));
}

/// A process that becomes known only after the gap is told of it as well.
#[tokio::test]
async fn a_gap_before_the_first_look_at_the_owners_is_told() {
    let mut fleet = Fleet::new().await;
    let a = fleet.start("a");
    fleet.chat(&a).await;
    fleet.table.resign(&a.host);
    let b = fleet.start("b");
    fleet.settle().await;
    fleet.discord.say(fleet.channel, fleet.person, "Hello");
    b.dirigent.reconnected().await.unwrap();
    fleet.pass(SECOND * 5).await;
    let speaker = || async {
        let status = a.dirigent.channel(fleet.channel).status().await.unwrap().unwrap();
        status.speaker
    };
    assert_eq!(speaker().await, None);
    fleet.table.come_back(&a.host);
    fleet.pass(SECOND * 5).await;
    assert_eq!(speaker().await, Some("poet".into()));
}

/// What cannot be stored is told again, and what follows in the channel waits for it.
#[tokio::test]
async fn what_the_store_does_not_take_is_told_again_until_it_does() {
    let mut fleet = Fleet::new().await;
    let mut a = fleet.start("a");
    fleet.chat(&a).await;
    a.kill();
    let way = Asked { inner: fleet.relay.clone(), times: Arc::default() };
    let b = fleet.start_with("b", Fleet::keys("b"), Arc::new(way.clone()), Vec::new());
    fleet.fail_store(true);
    let _a = fleet.start("a");
    fleet.settle().await;
    b.dirigent.member_left(fleet.channel, fleet.agents[0].1).await.unwrap();
    fleet.say(&b, "Hello").await;
    fleet.pass(SECOND * 60).await;
    assert_eq!(b.forwarding.counts(), (0, 0, 2));
    assert_eq!(b.forwarding.refused(), 2);
    let asked = *way.times.lock().unwrap();
    assert!((10..=20).contains(&asked), "{asked}: less and less often");
    fleet.fail_store(false);
    fleet.pass(SECOND * 6).await;
    assert_eq!(b.forwarding.counts(), (2, 0, 0));
    assert_eq!(b.forwarding.refused(), 0);
}

/// The same for a channel that waits for this process itself.
#[tokio::test]
async fn what_the_store_does_not_take_here_is_told_again_until_it_does() {
    let mut fleet = Fleet::new().await;
    let (a, b) = (fleet.start("a"), fleet.start("b"));
    fleet.chat(&a).await;
    fleet.table.give(fleet.channel, None);
    fleet.settle().await;
    b.dirigent.member_left(fleet.channel, fleet.agents[0].1).await.unwrap();
    fleet.say(&b, "Hello").await;
    fleet.fail_store(true);
    fleet.table.give(fleet.channel, Some(&b.host));
    fleet.pass(SECOND * 30).await;
    assert_eq!((b.forwarding.counts(), b.forwarding.refused()), ((0, 0, 2), 2));
    fleet.fail_store(false);
    fleet.pass(SECOND * 6).await;
    assert_eq!((b.forwarding.counts(), b.forwarding.refused()), ((0, 0, 0), 0));
    fleet.say(&b, "And?").await;
    let state = b.instance.channel_state(fleet.channel).await.unwrap();
    assert_eq!(state.current_speaker, Some("critic".into()), "the first agent is not here");
}

/// A process was cut off, and hears when it is back what was said meanwhile: another one acts for the channel and read it before that, so that it
/// must be told, though this process does not know of it yet.
#[tokio::test]
async fn what_is_heard_after_a_lapse_is_told_to_the_next_owner() {
    let mut fleet = Fleet::new().await;
    let (a, b) = (fleet.start("a"), fleet.start("b"));
    fleet.chat(&a).await;
    fleet.table.give_unheard(fleet.channel, &b.host, Standing::Lapsed);
    fleet.pass(SECOND).await;
    fleet.say(&a, "Hello").await;
    fleet.pass(SECOND).await;
    let status = b.dirigent.channel(fleet.channel).status().await.unwrap().unwrap();
    assert_eq!(status.speaker, Some("poet".into()));
    assert_eq!(a.forwarding.counts(), (1, 0, 0));
}

/// The lease was renewed after all.
#[tokio::test]
async fn what_is_heard_after_a_lapse_is_told_here_where_no_other_process_acts() {
    let mut fleet = Fleet::new().await;
    let (a, _b) = (fleet.start("a"), fleet.start("b"));
    fleet.chat(&a).await;
    fleet.table.lapse(fleet.channel);
    fleet.say(&a, "Hello").await;
    fleet.pass(SECOND * 5).await;
    assert_eq!(a.forwarding.counts(), (0, 0, 1));
    fleet.table.hear_of(fleet.channel);
    fleet.pass(SECOND).await;
    let status = a.dirigent.channel(fleet.channel).status().await.unwrap().unwrap();
    assert_eq!(status.speaker, Some("poet".into()));
    assert_eq!((a.forwarding.counts(), a.forwarding.refused()), ((0, 0, 0), 0));
}

/// What another process hears while the owner's lease has lapsed waits, as the owner may be another one already.
#[tokio::test]
async fn what_is_carried_to_a_process_after_a_lapse_is_told_to_the_next_owner() {
    let mut fleet = Fleet::new().await;
    let (a, b, c) = (fleet.start("a"), fleet.start("b"), fleet.start("c"));
    fleet.chat(&a).await;
    fleet.table.lapse(fleet.channel);
    fleet.say(&c, "Hello").await;
    fleet.pass(SECOND * 5).await;
    assert_eq!(c.forwarding.counts(), (0, 0, 1));
    // It has read the channel, and hears of the word only now.
    fleet.table.give_unheard(fleet.channel, &b.host, Standing::Lapsed);
    fleet.pass(SECOND * 5).await;
    let status = b.dirigent.channel(fleet.channel).status().await.unwrap().unwrap();
    assert_eq!(status.speaker, Some("poet".into()));
    assert_eq!(c.forwarding.counts(), (1, 0, 0));
}

/// Any process may act for the channels of which too much was heard while they had no owner: also the one that heard it.
#[tokio::test]
async fn where_too_much_has_no_owner_the_process_reads_its_own_channels() {
    let mut fleet = Fleet::new().await;
    let b = fleet.start("b");
    fleet.chat(&b).await;
    fleet.discord.say(fleet.channel, fleet.person, "Hello");
    let other = fleet.discord.add_channel(fleet.guild, "other", &[fleet.moderator, fleet.person]);
    fleet.table.give(other, None);
    for number in 0..=10_000 {
        let newest = MessageId::new(number + 1);
        b.dirigent.newest_message(other, newest).await.unwrap();
    }
    assert_eq!(b.forwarding.counts(), (0, 10_001, 0));
    fleet.pass(SECOND * 5).await;
    let status = b.dirigent.channel(fleet.channel).status().await.unwrap().unwrap();
    assert_eq!(status.speaker, Some("poet".into()));
}

/// A batch has at most 100 KiB of texts, so that it is never too large for a question, however its texts are written.
#[tokio::test]
async fn long_texts_go_in_several_batches() {
    let stage = ForwardingStage::new().await;
    let long = "\u{1}".repeat(2_000);
    stage.hear(&[long.as_str(); 100]).await;
    stage.carry(&[Fate::Answered, Fate::Answered, Fate::Answered]).await;
    let sizes: Vec<_> = stage.heard().iter().map(Vec::len).collect();
    assert_eq!(sizes, [45, 45, 10]);
}

/// What is heard in one batch is told in its order: an agent that left and came back is there, one that came and left is not.
#[tokio::test]
async fn the_process_that_acts_for_the_channel_tells_events_in_their_order() {
    async fn leaves(dirigent: &Dirigent, fleet: &Fleet) {
        dirigent.member_left(fleet.channel, fleet.agents[1].1).await.unwrap();
    }
    async fn joins(dirigent: &Dirigent, fleet: &Fleet) {
        dirigent.member_joined(fleet.channel, fleet.agents[1].1).await.unwrap();
    }
    for (comes_back, next) in [(true, "critic"), (false, "clerk")] {
        let mut fleet = Fleet::new().await;
        let (a, b) = (fleet.start("a"), fleet.start("b"));
        fleet.chat(&a).await;
        fleet.say(&a, "Hello").await;
        let permission = a.instance.may_speak(fleet.channel, &"poet".into(), None).await.unwrap();
        if comes_back {
            leaves(&b.dirigent, &fleet).await;
            joins(&b.dirigent, &fleet).await;
        } else {
            joins(&b.dirigent, &fleet).await;
            leaves(&b.dirigent, &fleet).await;
        }
        fleet.pass(Duration::from_millis(100)).await;
        assert_eq!(b.forwarding.counts(), (2, 0, 0));
        assert!(permission.end(RunReport::Pass).await.unwrap().accepted);
        fleet.settle().await;
        let state = b.instance.channel_state(fleet.channel).await.unwrap();
        assert_eq!(state.current_speaker, Some(next.into()));
    }
}
