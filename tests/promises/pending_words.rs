//! P18: what people say while an agent runs reaches an agent, however it has to be read.

use std::sync::Arc;
use std::time::Duration;

use dirigent::settings::HumanInterrupt;
use dirigent::{Agent, AgentError, Clock as _, Mode, Reply, Turn};
use dirigent_testkit::ScriptedAgent;
use dirigent_testkit::memory_discord::{Call, Fault, Outage};
use dirigent_testkit::scripted_agent::Line;
use dirigent_verify::stage::{Setup, Stage};

use super::kit::{HOUR, Halt, MINUTE, SECOND, is_heard, resume};

/// Two channels of "a" and "b". "a" takes so long for its first two turns.
fn rooms(first: Duration, second: Duration, calls_max: usize) -> Stage {
    let line = |name: &str, n: usize| Line::from(format!("{name}{n}").as_str());
    let mut of_a: Vec<_> = (0..20).map(|n| line("a", n)).collect();
    (of_a[0].takes, of_a[1].takes) = (first, second);
    let mut stage = Setup::new()
        .rooms(2)
        .hosted("a", of_a)
        .hosted("b", (0..20).map(|n| line("b", n)).collect::<Vec<_>>())
        .config(|config| config.people.human_interrupt = HumanInterrupt::Queue)
        .settings(move |settings| {
            (settings.limits.texts_bytes_max, settings.limits.calls_max) = (0, calls_max);
        })
        .stage();
    stage.chat();
    stage
}

fn say_many(stage: &mut Stage, total: usize) -> Vec<String> {
    let words: Vec<_> = (0..total).map(|number| format!("more {number}")).collect();
    for word in &words {
        stage.say(word);
    }
    words
}

/// Those of the words that no agent was handed.
fn unheard<'a>(stage: &Stage, words: &'a [String]) -> Vec<&'a str> {
    let turns: Vec<_> = stage.agents().flat_map(ScriptedAgent::turns).collect();
    let heard = |word: &&String| turns.iter().any(|turn| turn.missed.contains(word));
    words.iter().filter(|word| !heard(word)).map(String::as_str).collect()
}

/// P18
#[test]
fn words_that_cannot_be_read_are_handed_over_once_they_can() {
    let mut stage = rooms(SECOND * 30, SECOND, 8);
    stage.say("Hello");
    stage.advance(SECOND);
    let words = say_many(&mut stage, 12);
    let (channel, moderator) = (stage.channel(), stage.moderator());
    stage.discord().channel(channel).set_history_hidden(moderator, true);
    stage.until_dormant();
    stage.discord().channel(channel).set_history_hidden(moderator, false);
    stage.say("Go on");
    stage.until_dormant();
    assert_eq!(unheard(&stage, &words), [""; 0]);
}

/// P18
#[test]
fn a_page_that_was_read_for_other_words_does_not_count_for_these() {
    for moment in 0..16 {
        let mut stage = rooms(SECOND * 30, SECOND, 8);
        stage.say("Hello");
        stage.advance(SECOND);
        let mut words = say_many(&mut stage, 230);
        let slow = Outage::failing(Fault::SlowAnswer { by: SECOND }).only(Call::History);
        stage.discord().begin_outage(slow);
        stage.advance(SECOND * 29 + Duration::from_millis(250 * moment));
        words.push("a late one".to_owned());
        stage.say("a late one");
        stage.advance(SECOND * 30);
        stage.discord().end_outages();
        stage.until_dormant();
        assert_eq!(unheard(&stage, &words), [""; 0], "{moment}");
    }
}

/// P18
#[test]
fn a_call_that_waits_for_a_place_keeps_the_words_that_were_read_for_it() {
    let mut stage = rooms(SECOND * 30, MINUTE * 2, 1);
    stage.say("Hello");
    stage.advance(SECOND);
    let words = say_many(&mut stage, 12);
    // Another channel takes the only place until long after the end of this turn.
    let (other, person) = (stage.rooms()[1], stage.person());
    stage.call(move |d| async move { d.channel(other).set_mode(Mode::Chat).await }).unwrap();
    stage.discord().say(other, person, "Hello there");
    stage.advance(SECOND * 45);
    let reads = stage.discord().calls().of(Call::History);
    stage.advance(MINUTE);
    let again = stage.discord().calls().of(Call::History) - reads;
    assert!(again <= 4, "it is read again and again: {again}");
    let turns = stage.agent("b").turns().len();
    stage.until("b is called", |stage| stage.agent("b").turns().len() > turns);
    assert_eq!(unheard(&stage, &words), [""; 0]);
}

/// A word that was missed, and that stands in the channel before the agents' last words, is read while the
/// channel rests. Then the channel leaves memory, or the process is killed.
#[test]
fn a_word_that_was_read_late_outlasts_a_rest_and_a_restart() {
    for (halt, is_killed) in
        [Halt::Stop, Halt::Hold].into_iter().flat_map(|h| [(h, false), (h, true)])
    {
        let line = |text: &str| Line::from(text).taking(SECOND * 5);
        let mut stage = Setup::new().hosted("a", [line("a1")]).hosted("b", [line("b1")]).stage();
        stage.chat();
        stage.say("Hello");
        stage.advance(SECOND);
        stage.cut_gateway(true);
        stage.say("A question");
        stage.until_dormant();
        stage.cut_gateway(false);
        halt.act(&mut stage);
        stage.call(|d| async move { d.reconnected().await }).unwrap();
        stage.advance(HOUR);
        if is_killed {
            stage.crash();
            stage.restart();
        }
        resume(&mut stage);
        stage.advance(MINUTE);
        assert!(is_heard(&stage, "A question"), "{halt:?}, killed: {is_killed}");
    }
}

/// Never takes what is said while it runs.
struct Busy(dirigent_testkit::ManualClock);

#[async_trait::async_trait]
impl Agent for Busy {
    async fn speak(&self, _: Turn) -> Result<Reply, AgentError> {
        self.0.sleep_until(self.0.now() + SECOND * 5).await;
        Ok("Let me see".into())
    }
}

#[test]
fn a_word_that_was_not_taken_waits_for_a_new_budget() {
    for is_killed in [false, true] {
        let mut stage = Setup::new()
            .hosted("a", [])
            .hosted("b", [])
            .config(|config| config.budget.turns = Some(1))
            .stage();
        let account = Arc::new(stage.discord().account(stage.agent("a").user()));
        stage.dirigent().host("a", Busy(stage.clock().clone()), account);
        stage.chat();
        stage.say("Paint it");
        stage.advance(SECOND);
        stage.say("Blue");
        stage.advance(MINUTE);
        if is_killed {
            stage.crash();
            stage.restart();
        }
        let channel = stage.channel();
        let first = stage.status().unwrap().turn;
        stage.call(move |d| async move { d.channel(channel).reset_budget().await }).unwrap();
        stage.advance(MINUTE);
        assert!(stage.status().unwrap().turn > first, "killed: {is_killed}");
    }
}

/// P18
#[test]
fn a_word_that_could_not_be_read_for_the_agent_that_runs_is_kept_for_the_next() {
    let mut stage = Setup::new()
        .hosted("a", [Line::from("a1").taking(SECOND * 10)])
        .hosted("b", [])
        .settings(|settings| settings.limits.texts_bytes_max = 0)
        .stage();
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND);
    let refused = Outage::failing(Fault::Forbidden).only(Call::History);
    stage.discord().begin_outage(refused);
    let words = [String::from("And hurry")];
    stage.say(&words[0]);
    stage.advance(SECOND * 40);
    stage.discord().end_outages();
    stage.say("Go on");
    stage.until_dormant();
    let turns: Vec<_> = stage.agents().flat_map(ScriptedAgent::turns).collect();
    let is_heard = |turn: &dirigent_testkit::scripted_agent::SeenTurn| {
        turn.missed.iter().chain(&turn.injected).any(|word| *word == words[0])
    };
    assert!(turns.iter().any(is_heard));
}

/// WD14: what people said while a call ran, and is read in one page, is in a turn, though only one of the words reaches the call.
#[test]
fn words_that_one_page_brings_while_an_agent_runs_are_all_handed_over() {
    for command in ["three", "resume"] {
        let asks = Line::from("a1 👤").taking(SECOND * 30);
        let mut stage = Setup::new()
            .hosted("a", [asks])
            .hosted("b", [])
            .settings(|settings| {
                settings.reading.human_marker = Some(dirigent::settings::HumanMarker::default());
            })
            .stage();
        stage.chat();
        stage.say("Hello");
        stage.advance(SECOND);
        stage.cut_gateway(true);
        stage.advance(SECOND);
        for word in ["one", "two", command] {
            stage.say(word);
        }
        stage.advance(SECOND);
        stage.cut_gateway(false);
        stage.call(|d| async move { d.reconnected().await }).unwrap();
        stage.until_dormant();
        stage.advance(MINUTE);
        for word in ["one", "two"] {
            assert!(is_heard(&stage, word), "{word} is in no turn, before {command}");
        }
    }
}
