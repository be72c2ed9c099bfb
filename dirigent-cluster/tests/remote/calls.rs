//! A call begins once and in time, ends once, and is forgotten where its caller does not know it any more.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::hooks::TurnId;
use dirigent::ports::{
    ApiError, Certainty, ErrorKind, HistoryRequest, Post, Posted, Timestamp, TurnSource,
};
use dirigent::{
    Agent, ChannelId, ChatMessage, Clock, DiscordApi, MessageId, Reply, Turn, UserId, async_trait,
};
use dirigent_cluster::RemoteCallError;
use dirigent_relay::{CarryError, Client, HostId, InProcess, Relay, RelayQuestion};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fixture::{Hall, Owner, Speaker, named};
use crate::fleet::{Fleet, SECOND};

/// Before the body of an answer stand its status and its seal.
const BEFORE_BODY: usize = 1 + 32;

/// A way that counts what it carries, and loses answers or holds questions back where the test wants it.
#[derive(Clone)]
struct Watched {
    relay: InProcess,
    state: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    carried: BTreeMap<String, usize>,
    /// The rule of which the next answer is lost.
    lose: Option<&'static str>,
    /// The rule whose questions are held back.
    hold: Option<&'static str>,
    held: Vec<(HostId, Vec<u8>)>,
    /// The newest question of each rule.
    newest: BTreeMap<String, Vec<u8>>,
}

impl Watched {
    fn new(hall: &Hall) -> Self {
        Self { relay: hall.fleet.relay.clone(), state: Arc::default() }
    }

    fn count(&self, rule: &str) -> usize {
        self.state.lock().unwrap().carried.get(rule).copied().unwrap_or(0)
    }

    fn lose_answer(&self, rule: &'static str) {
        self.state.lock().unwrap().lose = Some(rule);
    }

    fn hold(&self, rule: &'static str) {
        self.state.lock().unwrap().hold = Some(rule);
    }

    /// Lets the first question that is held back arrive; returns what is answered, as JSON.
    async fn release(&self) -> String {
        let (rule, (to, question)) = {
            let mut state = self.state.lock().unwrap();
            (state.hold.unwrap(), state.held.remove(0))
        };
        let answer = self.relay.carry(&to, rule, question).await.unwrap();
        String::from_utf8(answer[BEFORE_BODY..].to_vec()).unwrap()
    }
}

#[async_trait]
impl Relay for Watched {
    async fn carry(&self, to: &HostId, rule: &str, bytes: Vec<u8>) -> Result<Vec<u8>, CarryError> {
        let (is_held, is_lost) = {
            let mut state = self.state.lock().unwrap();
            *state.carried.entry(rule.to_owned()).or_default() += 1;
            state.newest.insert(rule.to_owned(), bytes.clone());
            let is_held = state.hold == Some(rule);
            if is_held {
                state.held.push((to.clone(), bytes.clone()));
            }
            (is_held, !is_held && state.lose.take_if(|lose| *lose == rule).is_some())
        };
        if is_held {
            return std::future::pending().await;
        }
        let answer = self.relay.carry(to, rule, bytes).await;
        if is_lost { Err(CarryError::no_answer("lost")) } else { answer }
    }
}

/// An agent that goes on with what it does although its turn is taken away, and counts its runs.
fn stubborn(hall: &Hall, name: &str, takes: Duration) -> (Speaker, Arc<AtomicU64>) {
    let (clock, runs) = (hall.fleet.clock.clone(), Arc::<AtomicU64>::default());
    let counted = Arc::clone(&runs);
    let speaker = hall.speaker(name, move |_turn: Turn| {
        let clock = clock.clone();
        let number = counted.fetch_add(1, Ordering::SeqCst);
        async move {
            clock.sleep_until(clock.now() + takes).await;
            Ok(if number == 0 { Reply::text("A line.") } else { Reply::Pass })
        }
    });
    (speaker, runs)
}

async fn cost(hall: &Hall, owner: &Owner) -> u64 {
    let status = owner.process.dirigent.channel(hall.fleet.channel).status().await.unwrap();
    status.unwrap().budget.cost
}

/// Whether the process with the agents announces itself meanwhile or stands still: after 3 s its caller has given it up.
#[tokio::test]
async fn a_question_to_begin_a_call_begins_nothing_three_seconds_after_the_announcement_it_names() {
    for is_still in [false, true] {
        for (after, begins) in [(2_900, true), (3_000, false)] {
            let mut hall = Hall::new().await;
            let way = Watched::new(&hall);
            let a = hall.owner_by("a", Arc::new(way.clone()), |builder| builder);
            let (poet, _) = stubborn(&hall, "poet", SECOND * 100);
            let one = hall.home("one", &[poet]);
            hall.chat(&a).await;
            // The first question to a process is answered with a session only.
            a.guests.account("poet").me().await.unwrap();
            way.hold("begin-call");
            hall.fleet.say(&a.process, "Hello").await;
            assert_eq!(way.count("begin-call"), 1);
            one.stand_still(is_still);
            hall.fleet.pass(Duration::from_millis(after)).await;
            let answer = way.release().await;
            let case = format!("{answer} after {after} ms, still: {is_still}");
            assert_eq!(answer == "\"not-now\"", !begins, "{case}");
            assert_eq!(answer.contains("begun"), begins, "{case}");
            assert_eq!(one.hosting.calls(), usize::from(begins), "{case}");
        }
    }
}

/// The agent goes on although it is told that its turn is over: its call is dropped when its caller has given it up.
#[tokio::test]
async fn a_call_that_its_caller_gave_up_is_dropped_where_it_runs() {
    let mut hall = Hall::new().await;
    let a = hall.owner("a");
    let (poet, _) = stubborn(&hall, "poet", SECOND * 1_000);
    let one = hall.home("one", &[poet]);
    hall.chat(&a).await;
    hall.fleet.say(&a.process, "Hello").await;
    hall.fleet.pass(SECOND).await;
    a.process.dirigent.channel(hall.fleet.channel).stop().await.unwrap();
    hall.fleet.pass(SECOND * 9).await;
    assert_eq!(hall.floor.running(), ["poet"], "it has 10 s");
    hall.fleet.pass(SECOND * 3).await;
    assert_eq!((hall.floor.running(), one.hosting.calls()), (Vec::new(), 0));
}

/// The caller is started anew, and calls no agent of this process: it says that it does not know the call.
#[tokio::test]
async fn a_call_of_an_earlier_start_of_its_caller_is_dropped() {
    let mut hall = Hall::new().await;
    let mut a = hall.owner("a");
    let (poet, _) = stubborn(&hall, "poet", SECOND * 1_000);
    let one = hall.home("one", &[poet]);
    hall.chat(&a).await;
    hall.fleet.say(&a.process, "Hello").await;
    hall.fleet.pass(SECOND).await;
    assert_eq!(hall.floor.running(), ["poet"]);
    a.process.kill();
    hall.fleet.table.give(hall.fleet.channel, None);
    let _a = hall.owner("a");
    hall.fleet.pass(SECOND).await;
    assert_eq!((hall.floor.running(), one.hosting.calls()), (Vec::new(), 0));
}

/// The first answer is lost, and the question that is asked again arrives when the agent has answered already.
#[tokio::test]
async fn a_question_that_comes_after_the_end_of_its_call_begins_no_other() {
    let mut hall = Hall::new().await;
    let way = Watched::new(&hall);
    let a = hall.owner_by("a", Arc::new(way.clone()), |builder| builder);
    let (poet, runs) = stubborn(&hall, "poet", Duration::from_millis(1_500));
    let one = hall.home("one", &[poet]);
    hall.chat(&a).await;
    a.guests.account("poet").me().await.unwrap();
    way.lose_answer("begin-call");
    hall.fleet.say(&a.process, "Hello").await;
    way.hold("begin-call");
    hall.fleet.pass(SECOND * 2).await;
    assert_eq!(hall.posts().await, [("poet".to_owned(), "A line.".to_owned())]);
    assert_eq!(way.release().await, "\"over\"");
    assert_eq!((runs.load(Ordering::SeqCst), one.hosting.calls()), (1, 0));
}

/// They are over with the lease, and not when the driver drops them.
#[tokio::test]
async fn nothing_is_left_of_the_calls_of_a_lost_process() {
    let mut hall = Hall::new().await;
    let a = hall.owner("a");
    let (poet, _) = stubborn(&hall, "poet", SECOND * 100);
    let one = hall.home("one", &[poet]);
    hall.chat(&a).await;
    hall.fleet.say(&a.process, "Hello").await;
    hall.fleet.pass(SECOND).await;
    assert_eq!(a.guests.processes()[0].calls, 1);
    one.kill();
    hall.fleet.relay.disconnect(&named("one"));
    hall.fleet.pass(SECOND * 4).await;
    let status = &a.guests.processes()[0];
    assert_eq!((status.is_lost, status.calls), (true, 0));
}

/// So a post is not repeated with another nonce.
#[tokio::test]
async fn what_an_account_was_asked_may_be_done_where_the_answer_is_lost() {
    let mut hall = Hall::new().await;
    let way = Watched::new(&hall);
    let a = hall.owner_by("a", Arc::new(way.clone()), |builder| builder);
    let (poet, _) = stubborn(&hall, "poet", SECOND);
    let _one = hall.home("one", &[poet]);
    hall.chat(&a).await;
    let account = a.guests.account("poet");
    account.me().await.unwrap();
    way.lose_answer("use-account");
    let error = account.typing(hall.fleet.channel).await.unwrap_err();
    assert_eq!((error.kind(), error.certainty()), (ErrorKind::NoAnswer, Certainty::Unknown));
    account.typing(hall.fleet.channel).await.unwrap();
}

/// An account that another one posts for, and that is asked nothing else here.
struct Persona;

#[async_trait]
impl DiscordApi for Persona {
    fn persona(&self) -> Option<(UserId, String)> {
        Some((UserId::new(7), "Poet".to_owned()))
    }
    fn sent_at(&self, _: MessageId) -> Timestamp {
        Timestamp::default()
    }
    async fn me(&self) -> Result<UserId, ApiError> {
        Ok(UserId::new(7))
    }
    async fn post(&self, _: Post) -> Result<Posted, ApiError> {
        Err(ApiError::new(ErrorKind::Gone))
    }
    async fn delete(&self, _: ChannelId, _: MessageId) -> Result<(), ApiError> {
        Err(ApiError::new(ErrorKind::Gone))
    }
    async fn history(&self, _: HistoryRequest) -> Result<Vec<ChatMessage>, ApiError> {
        Ok(Vec::new())
    }
    async fn members(&self, _: ChannelId, _: Vec<UserId>) -> Result<Vec<UserId>, ApiError> {
        Ok(Vec::new())
    }
}

/// Its number would stand in the registry, and no chat would know it.
#[tokio::test]
async fn an_agent_with_a_persona_is_announced_by_no_process_but_its_moderators() {
    let mut hall = Hall::new().await;
    let one = hall.home("one", &[]);
    let (poet, _) = stubborn(&hall, "poet", SECOND);
    one.hosting.host("poet", poet.clone(), Persona);
    assert!(!one.hosting.unhost(&"poet".into()));
    one.hosting.host("poet", poet, hall.fleet.discord.account(hall.user("poet")));
    assert!(one.hosting.unhost(&"poet".into()));
}

/// What is said in a channel is told to the process in which its agent runs, and to no other.
#[tokio::test]
async fn the_transcript_of_a_call_is_for_its_process_only() {
    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    struct CallTranscript(Value);
    impl RelayQuestion for CallTranscript {
        const RULE: &'static str = "call-transcript";
        type Answer = Value;
    }
    let mut hall = Hall::new().await;
    let way = Watched::new(&hall);
    let a = hall.owner("a");
    let clock = hall.fleet.clock.clone();
    let poet = hall.speaker("poet", move |turn: Turn| {
        let clock = clock.clone();
        async move {
            assert_eq!(turn.transcript(50).await?.len(), 1);
            clock.sleep_until(clock.now() + SECOND * 100).await;
            Ok(Reply::Pass)
        }
    });
    let _one = hall.home_by("one", Arc::new(way.clone()), &[poet]);
    hall.chat(&a).await;
    hall.fleet.say(&a.process, "Hello").await;
    let question = way.state.lock().unwrap().newest["call-transcript"].clone();
    let body = question.windows(7).position(|bytes| bytes == b"{\"call\"").unwrap();
    let question = CallTranscript(serde_json::from_slice(&question[body..]).unwrap());
    for (asker, is_told) in [("one", true), ("two", false)] {
        let clock = Arc::new(hall.fleet.clock.clone());
        let client = Client::new(Fleet::keys(asker), Arc::new(hall.fleet.relay.clone()), clock);
        let answer = client.ask(&named("a"), &question).await.unwrap();
        assert_eq!(answer.get("Ok").is_some(), is_told, "{asker}: {answer}");
    }
}

#[tokio::test]
async fn the_end_of_a_call_is_told_until_it_is_taken_and_then_no_more() {
    for lost in [0, 1] {
        let mut hall = Hall::new().await;
        let way = Watched::new(&hall);
        let a = hall.owner("a");
        let (poet, runs) = stubborn(&hall, "poet", Duration::from_millis(1_500));
        let one = hall.home_by("one", Arc::new(way.clone()), &[poet]);
        hall.chat(&a).await;
        if lost > 0 {
            way.lose_answer("end-call");
        }
        hall.fleet.say(&a.process, "Hello").await;
        hall.fleet.pass(SECOND * 30).await;
        let runs = usize::try_from(runs.load(Ordering::SeqCst)).unwrap();
        assert!(runs > 0);
        assert_eq!(way.count("end-call"), runs + lost);
        assert_eq!(one.hosting.calls(), 0);
        assert_eq!(hall.posts().await, [("poet".to_owned(), "A line.".to_owned())]);
    }
}

/// Costs that an announcement carried, and those that only the end of the call has, also where the end is told twice.
#[tokio::test]
async fn all_that_a_call_cost_counts_and_counts_once() {
    for is_lost in [false, true] {
        let mut hall = Hall::new().await;
        let way = Watched::new(&hall);
        let a = hall.owner("a");
        let clock = hall.fleet.clock.clone();
        let turns = Arc::<AtomicU64>::default();
        let poet = hall.speaker("poet", move |turn: Turn| {
            let clock = clock.clone();
            let number = turns.fetch_add(1, Ordering::SeqCst);
            async move {
                if number == 0 {
                    turn.report_cost(5);
                    clock.sleep_until(clock.now() + Duration::from_millis(2_500)).await;
                    turn.report_cost(7);
                }
                Ok(Reply::Pass)
            }
        });
        let _one = hall.home_by("one", Arc::new(way.clone()), &[poet]);
        hall.chat(&a).await;
        if is_lost {
            way.lose_answer("end-call");
        }
        hall.fleet.say(&a.process, "Hello").await;
        hall.fleet.pass(SECOND * 2).await;
        assert_eq!(cost(&hall, &a).await, 5, "an announcement says it");
        hall.fleet.pass(SECOND * 5).await;
        assert_eq!(cost(&hall, &a).await, 12);
    }
}

/// A turn of which nothing else is asked.
struct NoSource;

#[async_trait]
impl TurnSource for NoSource {
    async fn transcript(&self, _: usize) -> Result<Vec<Arc<ChatMessage>>, ApiError> {
        Ok(Vec::new())
    }

    fn time_left(&self) -> Option<Duration> {
        None
    }

    fn report_cost(&self, _: u64) {}
}

/// Whether the process of the agent is waited for or asked: a call that has not begun there keeps its place from no other one.
#[tokio::test]
async fn a_call_that_is_cancelled_before_it_has_begun_is_over_at_once() {
    for is_announced in [false, true] {
        let mut hall = Hall::new().await;
        let a = hall.owner("a");
        let poet = hall.sayer("poet", &["Hi"], SECOND);
        let _one = hall.home("one", &[poet]);
        hall.fleet.pass(SECOND).await;
        hall.fleet.relay.disconnect(&named("one"));
        let agent = a.guests.agent(if is_announced { "poet" } else { "clerk" });
        let turn = Turn::new(hall.fleet.channel, "poet".into(), TurnId::new(1));
        let (turn, control) = turn.controlled(None, Arc::new(NoSource));
        let called = tokio::spawn(async move { agent.speak(turn).await });
        hall.fleet.pass(SECOND / 2).await;
        assert!(!called.is_finished(), "announced: {is_announced}");
        control.cancel();
        hall.fleet.pass(SECOND / 5).await;
        assert!(called.is_finished(), "announced: {is_announced}");
        let error = called.await.unwrap().unwrap_err();
        assert_eq!(error.to_string(), RemoteCallError::Cancelled.to_string());
    }
}
