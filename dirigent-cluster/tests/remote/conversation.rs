//! A conversation of agents in several processes.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::ports::{AllowedMentions, Embed};
use dirigent::{Clock, Reply, Turn};

use super::fixture::Hall;
use crate::fleet::SECOND;

fn said(agent: &str, text: &str) -> (String, String) {
    (agent.to_owned(), text.to_owned())
}

#[tokio::test]
async fn three_agents_in_two_processes_take_turns_that_a_third_one_gives() {
    let mut hall = Hall::new().await;
    let a = hall.owner("a");
    let poet = hall.sayer("poet", &["A line.", "And one more."], SECOND);
    let critic = hall.sayer("critic", &["It does not rhyme."], SECOND);
    let clerk = hall.sayer("clerk", &["Noted."], SECOND);
    let _one = hall.home("one", &[poet, critic]);
    let _two = hall.home("two", &[clerk]);
    hall.chat(&a).await;
    hall.fleet.say(&a.process, "Hello").await;
    hall.fleet.pass(SECOND * 60).await;
    let expected = [
        said("poet", "A line."),
        said("critic", "It does not rhyme."),
        said("clerk", "Noted."),
        said("poet", "And one more."),
    ];
    assert_eq!(hall.posts().await, expected);
    assert_eq!(hall.floor.overlaps(), [""; 0]);
    // All passed, and the channel is dormant.
    let status = a.process.dirigent.channel(hall.fleet.channel).status().await.unwrap().unwrap();
    assert_eq!(status.speaker, None);
    let processes = a.guests.processes();
    let agents: Vec<_> = processes.iter().map(|process| process.agents.len()).collect();
    assert_eq!(agents, [2, 1]);
    assert!(processes.iter().all(|process| !process.is_lost && process.calls == 0));
}

/// What a turn tells, there.
#[derive(Default)]
struct Seen {
    me: String,
    others: Vec<String>,
    missed: Vec<String>,
    newest: bool,
    asked: bool,
    transcript: Vec<String>,
    time_left: Option<Duration>,
    briefing: String,
}

#[tokio::test]
async fn all_that_a_turn_tells_crosses_and_so_does_all_of_the_reply() {
    let mut hall = Hall::new().await;
    let a = hall.owner("a");
    let seen = Arc::new(Mutex::new(Seen::default()));
    let (kept, person) = (Arc::clone(&seen), hall.fleet.person);
    let poet = hall.speaker("poet", move |turn: Turn| {
        let kept = Arc::clone(&kept);
        async move {
            let transcript = turn.transcript(50).await?;
            turn.report_cost(5);
            let line = |message: &Arc<dirigent::ChatMessage>| message.content.to_string();
            *kept.lock().unwrap() = Seen {
                me: turn.me().agent_name,
                others: turn.others().into_iter().map(|other| other.agent_name).collect(),
                missed: turn.missed().iter().map(line).collect(),
                newest: turn.newest() == turn.missed().last().map(|message| message.id),
                asked: turn.is_asked(),
                transcript: transcript.iter().map(line).collect(),
                time_left: turn.time_left(),
                briefing: turn.briefing(),
            };
            let question = turn.missed().last().unwrap().id;
            let card = Embed::new().title("A title").colour(3).field("name", "value", true);
            Ok(Reply::text(format!("<@{person}> a line"))
                .embed(card.footer("small").author("Me"))
                .to(question)
                .allowed_mentions(AllowedMentions::new().user(person)))
        }
    });
    let _one = hall.home("one", &[poet]);
    hall.chat(&a).await;
    hall.fleet.say(&a.process, "Hello").await;
    hall.fleet.pass(SECOND).await;
    {
        let seen = seen.lock().unwrap();
        assert_eq!(seen.me, "poet");
        assert_eq!(seen.others, ["critic", "clerk"]);
        assert_eq!(seen.missed, ["Hello"]);
        assert!(seen.newest && seen.asked);
        assert_eq!(seen.transcript, ["Hello"]);
        assert!(seen.time_left.is_none_or(|left| left > SECOND));
        assert!(seen.briefing.starts_with("You are poet"));
    }
    let posts = hall.posts().await;
    assert_eq!(posts.len(), 1);
    let message = hall.fleet.discord.messages(hall.fleet.channel).pop().unwrap();
    assert!(message.reply_to.is_some());
    let channel = hall.fleet.discord.channel(hall.fleet.channel);
    let embeds = channel.embeds(message.id).unwrap();
    assert_eq!(embeds[0].title.as_deref(), Some("A title"));
    assert_eq!((embeds[0].fields.len(), embeds[0].colour), (1, Some(3)));
    assert_eq!(channel.pings(message.id).unwrap().users, [person]);
}

/// An agent that fails, or panics, ends its turn and nothing else; what its error says reaches the host.
#[tokio::test]
async fn an_agent_that_fails_there_fails_here() {
    let mut hall = Hall::new().await;
    let a = hall.owner("a");
    let clock = hall.fleet.clock.clone();
    let poet = hall.speaker("poet", |_turn| async { Err("the model is away".into()) });
    let critic = hall.speaker("critic", move |_turn| {
        let clock = clock.clone();
        async move {
            clock.sleep_until(clock.now() + SECOND).await;
            panic!("a bug")
        }
    });
    let clerk = hall.sayer("clerk", &["Noted."], SECOND);
    let _one = hall.home("one", &[poet, critic, clerk]);
    let mut events = a.process.dirigent.events();
    hall.chat(&a).await;
    hall.fleet.say(&a.process, "Hello").await;
    hall.fleet.pass(SECOND * 30).await;
    assert_eq!(hall.posts().await, [said("clerk", "Noted.")]);
    let mut faults = Vec::new();
    while let Some(Some(event)) = futures_util::FutureExt::now_or_never(events.next()) {
        if let dirigent::operate::EventOrLag::AgentFailed(failure) = event {
            faults.push(failure.fault.to_string());
        }
    }
    assert_eq!(faults[..2], ["the model is away", "it panicked"]);
}
