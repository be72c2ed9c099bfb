//! A person writes during a turn, and an orchestrator answers in the place of the agent.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::host::{Consultation, Orchestrator};
use dirigent::ports::{AllowedMentions, Embed, Mentions};
use dirigent::settings::HumanInterrupt;
use dirigent::snapshot::PhaseKind;
use dirigent::{Agent, AgentError, ChatMessage, MessageId, Reply, Turn};
use dirigent_testkit::memory_discord::{Fault, Outage, PushFault};
use dirigent_testkit::scripted_agent::Line;
use dirigent_verify::stage::{Setup, Stage};

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);

/// Answers what it is asked with an echo, after a while.
#[derive(Clone)]
struct Echo {
    asked: Arc<Mutex<Vec<Vec<String>>>>,
    takes: Duration,
    clock: Arc<Mutex<Option<dirigent_testkit::ManualClock>>>,
    answer: fn(&str) -> Result<Reply, AgentError>,
}

impl Echo {
    fn new(takes: Duration, answer: fn(&str) -> Result<Reply, AgentError>) -> Self {
        Self { asked: Arc::default(), takes, clock: Arc::default(), answer }
    }

    fn asked(&self) -> Vec<Vec<String>> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait::async_trait]
impl Orchestrator for Echo {
    async fn answer(&self, asked: Consultation) -> Result<Reply, AgentError> {
        use dirigent::Clock as _;
        let words: Vec<_> = asked.messages.iter().map(|m| m.content.to_string()).collect();
        self.asked.lock().unwrap().push(words.clone());
        let clock = self.clock.lock().unwrap().clone().unwrap();
        clock.sleep_until(clock.now() + self.takes).await;
        (self.answer)(&words.join(" + "))
    }
}

fn interrupted(echo: &Echo) -> Stage {
    let stage = Setup::new()
        .hosted("a", [Line::from("a1").taking(SECOND * 20)])
        .hosted("b", ["b1".into()])
        .config(|config| {
            config.people.human_interrupt = HumanInterrupt::Interrupt;
            config.deadlines.turn = Some(SECOND * 30);
        })
        .orchestrator(echo.clone())
        .stage();
    *echo.clock.lock().unwrap() = Some(stage.clock().clone());
    let mut stage = stage;
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND * 2);
    stage
}

/// R266, R267
#[test]
fn an_orchestrator_answers_in_the_agents_place_and_the_turn_goes_on_with_what_remained() {
    let echo = Echo::new(SECOND * 25, |asked| Ok(format!("About {asked}: yes.").into()));
    let mut stage = interrupted(&echo);
    let asked = stage.say("Is it Friday?");
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Waiting);
    stage.advance(SECOND * 24);
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Waiting);
    stage.advance(SECOND);
    // The agent was ready meanwhile, and its reply was held back until the turn went on.
    assert_eq!(stage.words()[..3], ["Hello", "Is it Friday?", "a1"]);
    assert_eq!(stage.moderation(stage.channel()), ["About Is it Friday?: yes."]);
    stage.until_dormant();
    assert_eq!(stage.words(), ["Hello", "Is it Friday?", "a1", "b1"]);
    let posts = stage.discord().take_posts();
    let moderator = stage.moderator();
    let answer: Vec<_> = posts.iter().filter(|post| post.author == moderator).collect();
    assert_eq!(answer.len(), 1);
    assert_eq!(answer[0].reply_to, Some(asked));
    assert_eq!(answer[0].mentions, Mentions::None);
    // Everybody sees what was asked, and what was answered.
    let missed = &stage.agent("b").turns()[0].missed;
    let seen = ["Hello", "Is it Friday?", "About Is it Friday?: yes.", "a1"];
    assert_eq!(missed, &seen);
}

#[test]
fn an_answer_may_have_embeds_answer_another_message_and_ping() {
    let answer = |_: &str| {
        let chosen = AllowedMentions::new().replied_user();
        let report = Embed::new().title("Calendar").field("Friday", "today", true);
        let long = format!("{} {}", "yes".repeat(600), "no".repeat(600));
        Ok(Reply::text(long).embed(report).allowed_mentions(chosen))
    };
    let mut stage = interrupted(&Echo::new(SECOND, answer));
    let asked = stage.say("Is it Friday?");
    stage.until_dormant();
    let (channel, moderator) = (stage.channel(), stage.moderator());
    let answer = stage.discord().messages(channel).into_iter().filter(|it| it.author == moderator);
    let room = stage.discord().channel(channel);
    let of = |message: ChatMessage| (message.reply_to, room.embeds(message.id).unwrap());
    let parts: Vec<_> = answer.map(of).collect();
    let report = Embed::new().title("Calendar").field("Friday", "today", true);
    assert_eq!(parts, [(Some(asked), vec![]), (None, vec![report])]);
    let posts = stage.discord().take_posts();
    let mut answer = posts.iter().filter(|post| post.author == moderator);
    assert!(answer.all(|post| matches!(post.mentions, Mentions::Allowed(_))));

    let alone = |_: &str| Ok(Reply::Pass.embed(Embed::new().title("t")).to(MessageId::new(9)));
    let mut stage = interrupted(&Echo::new(SECOND, alone));
    stage.say("Is it Friday?");
    stage.until_dormant();
    assert_eq!(stage.moderation(stage.channel()), [""], "embeds alone are an answer");
}

#[test]
fn an_answer_that_the_chat_would_refuse_is_none() {
    let refused = |_: &str| Ok(Reply::text("a text").embed(Embed::new()));
    let mut stage = interrupted(&Echo::new(SECOND, refused));
    stage.say("Is it Friday?");
    stage.until_dormant();
    assert_eq!(stage.moderation(stage.channel()), [""; 0]);
    assert_eq!(stage.agent("a").turns()[0].injected, ["Is it Friday?"], "the agent is handed it");
}

/// R268
#[test]
fn where_nobody_answers_the_agent_is_handed_what_was_said() {
    let failing = Echo::new(SECOND, |_| Err("no".into()));
    let late = Echo::new(SECOND * 31, |_| Ok("too late".into()));
    let panics = Echo::new(SECOND, |_| panic!("by script"));
    for echo in [failing, late, panics] {
        let mut stage = interrupted(&echo);
        stage.say("Is it Friday?");
        stage.until_dormant();
        stage.advance(SECOND * 120);
        assert_eq!(stage.words(), ["Hello", "Is it Friday?", "a1", "b1"]);
        assert_eq!(stage.moderation(stage.channel()), [""; 0]);
        // The slowest of them took so long that the agent had answered when it was handed over.
        let first = &stage.agent("a").turns()[0];
        let heard = if echo.takes > SECOND * 20 { &[][..] } else { &["Is it Friday?".to_owned()] };
        assert_eq!(first.injected, heard);
        let next = &stage.agent("b").turns()[0];
        assert!(next.missed.contains(&"Is it Friday?".to_owned()), "{next:?}");
    }
}

/// The answer to its post is lost, and so is the event, and the chat is away until it has forgotten the nonce.
#[test]
fn an_orchestrators_answer_in_doubt_is_not_posted_twice() {
    let echo = Echo::new(SECOND, |_| Ok("Yes.".into()));
    let mut stage = interrupted(&echo);
    stage.say("Is it Friday?");
    stage.discord().next_post(Fault::LostAnswer);
    stage.discord().next_push(PushFault::Dropped);
    stage.until("the answer is there", |stage| !stage.moderation(stage.channel()).is_empty());
    stage.discord().begin_outage(Outage::refused());
    stage.advance(MINUTE * 3);
    let _ = stage.discord().clone().with_nonce_window(SECOND);
    stage.discord().end_outages();
    stage.advance(MINUTE * 10);
    assert_eq!(stage.moderation(stage.channel()), ["Yes."]);
}

/// R268
#[test]
fn without_an_orchestrator_the_agent_is_handed_it_at_once() {
    let mut stage = Setup::new()
        .hosted("a", [Line::from("a1").taking(SECOND * 20)])
        .hosted("b", [])
        .config(|config| config.people.human_interrupt = HumanInterrupt::Interrupt)
        .stage();
    stage.chat();
    stage.say("Hello");
    stage.say("Is it Friday?");
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Running);
    stage.until_dormant();
    assert_eq!(stage.agent("a").turns()[0].injected, ["Is it Friday?"]);
}

/// R266
#[test]
fn what_people_say_while_they_are_answered_is_asked_about_next() {
    let echo = Echo::new(SECOND * 3, |asked| Ok(asked.to_owned().into()));
    let mut stage = interrupted(&echo);
    stage.say("one");
    stage.advance(SECOND);
    stage.say("two");
    stage.say("three");
    stage.until_dormant();
    assert_eq!(echo.asked(), [vec!["one"], vec!["two", "three"]]);
    assert_eq!(stage.moderation(stage.channel()), ["one", "two + three"]);
}

/// R266
#[test]
fn a_stop_drops_the_question_and_nothing_is_answered_any_more() {
    let echo = Echo::new(SECOND * 10, |_| Ok("too late".into()));
    let mut stage = interrupted(&echo);
    stage.say("Is it Friday?");
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).stop().await }).unwrap();
    stage.advance(SECOND * 60);
    assert_eq!(stage.moderation(channel), [""; 0]);
    stage.call(move |d| async move { d.channel(channel).resume().await }).unwrap();
    stage.until_dormant();
    let turns = stage.agent("a").turns();
    assert!(turns[1].missed.contains(&"Is it Friday?".to_owned()), "{turns:?}");
}

/// An agent that looks at its turn again and again.
struct Watcher {
    seen: Arc<Mutex<Vec<&'static str>>>,
}

/// R266, R267
#[test]
fn a_hosted_agent_learns_that_it_is_slow_and_that_its_turn_rests() {
    let echo = Echo::new(SECOND * 2, |_| Ok(Reply::Pass));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let mut stage = Setup::new()
        .hosted("a", [])
        .hosted("b", [])
        .orchestrator(echo.clone())
        .config(|config| {
            config.people.human_interrupt = HumanInterrupt::Interrupt;
            config.deadlines.slow_after = Some(SECOND * 5);
        })
        .stage();
    *echo.clock.lock().unwrap() = Some(stage.clock().clone());
    let account = Arc::new(stage.discord().account(stage.agent("a").user()));
    stage.dirigent().host(
        "a",
        Patient(Watcher { seen: Arc::clone(&seen) }, stage.clock().clone()),
        account,
    );
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND * 4);
    assert_eq!(*seen.lock().unwrap(), ["runs"]);
    stage.advance(SECOND);
    assert_eq!(*seen.lock().unwrap(), ["runs", "is slow"]);
    stage.say("Well?");
    stage.advance(SECOND);
    assert_eq!(*seen.lock().unwrap(), ["runs", "is slow", "rests"]);
    stage.advance(SECOND * 2);
    assert_eq!(seen.lock().unwrap()[..4], ["runs", "is slow", "rests", "goes on"]);
    stage.until_dormant();
    assert_eq!(stage.words(), ["Hello", "Well?", "done"]);
}

/// Looks every half second, so that a hand-driven clock is not stopped by one that looks all the time.
struct Patient(Watcher, dirigent_testkit::ManualClock);

#[async_trait::async_trait]
impl Agent for Patient {
    async fn speak(&self, turn: Turn) -> Result<Reply, AgentError> {
        use dirigent::Clock as _;
        let note = |what| self.0.seen.lock().unwrap().push(what);
        turn.resumed().await;
        note("runs");
        turn.slow().await;
        note("is slow");
        while !turn.is_paused() {
            self.1.sleep_until(self.1.now() + SECOND / 2).await;
        }
        note("rests");
        turn.resumed().await;
        note("goes on");
        Ok("done".into())
    }
}
