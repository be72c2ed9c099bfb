//! Replies with embeds, in answer to a message, that may ping: what was chosen arrives, once, and nothing else pings.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::operate::{AgentFault, EventOrLag};
use dirigent::ports::{AllowedMentions, ChatKind, Embed, Mentions, ReplyError, RoleId};
use dirigent::{Agent, AgentError, ChatMessage, Clock, MessageId, Reply, Turn, UserId};
use dirigent_testkit::ManualClock;
use dirigent_testkit::memory_discord::{Call, Fault, Outage, Permissions};
use dirigent_testkit::scripted_agent::{Act, Line};
use dirigent_verify::stage::{Setup, Stage};

use super::kit::{MINUTE, SECOND, late_answers, resume, stop};

fn embed(title: &str) -> Embed {
    Embed::new().title(title).description("two\nlines").field("a field", "its value", true)
}

/// A room of "a", which answers so, and "b", which has nothing to say.
fn room(reply: impl Into<Line>) -> Stage {
    let mut stage = Setup::new().hosted("a", [reply.into()]).hosted("b", []).stage();
    stage.chat();
    stage
}

/// What "a" said, in order.
fn said(stage: &Stage) -> Vec<ChatMessage> {
    let a = stage.agent("a").user();
    let messages = stage.discord().messages(stage.channel());
    messages.into_iter().filter(|message| message.author == a).collect()
}

fn embeds(stage: &Stage, message: MessageId) -> Vec<Embed> {
    stage.discord().channel(stage.channel()).embeds(message).unwrap()
}

fn pinged(stage: &Stage, message: MessageId) -> Vec<UserId> {
    stage.discord().channel(stage.channel()).pings(message).unwrap().users
}

/// A message of a person in the first channel, who is pinged or not.
fn question(stage: &mut Stage) -> (MessageId, UserId) {
    let message = stage.say("a question");
    let person = stage.discord().message(stage.channel(), message).unwrap().author;
    (message, person)
}

#[test]
fn a_reply_is_posted_with_its_embeds_its_reference_and_those_it_may_ping() {
    let mut stage = room(Act::Pass);
    let (asked, person) = question(&mut stage);
    stage.until_dormant();
    let text = format!("<@{person}> and <@{}>, @everyone", stage.agent("b").user());
    let chosen = AllowedMentions::new().user(person);
    let reply = Reply::text(&*text).embed(embed("one")).embed(embed("two")).to(asked);
    stage.agent("a").then(reply.allowed_mentions(chosen.clone()));
    stage.say("go on");
    stage.until_dormant();
    let [said] = said(&stage).try_into().unwrap();
    assert_eq!((&*said.content, said.kind, said.reply_to), (&*text, ChatKind::Reply, Some(asked)));
    assert_eq!((said.embeds, embeds(&stage, said.id)), (2, vec![embed("one"), embed("two")]));
    assert_eq!(pinged(&stage, said.id), [person], "only whom the agent chose");
    let posts = stage.discord().take_posts();
    let post = posts.iter().find(|post| post.message == Some(said.id)).unwrap();
    assert_eq!((post.reply_to, post.embeds), (Some(asked), 2));
    assert_eq!(post.mentions, Mentions::from(&chosen));
}

#[test]
fn a_reply_pings_no_account_by_itself_not_even_whom_it_answers() {
    let mut stage = room(Act::Pass);
    let (asked, person) = question(&mut stage);
    stage.until_dormant();
    let text = format!("<@{person}> @everyone <@&{}>", RoleId::new(7));
    stage.agent("a").then(Reply::text(text).to(asked));
    let replied = AllowedMentions::new().replied_user();
    stage.agent("b").then(Reply::text("and me").to(asked).allowed_mentions(replied));
    stage.say("go on");
    stage.until_dormant();
    let pings =
        |message: MessageId| stage.discord().channel(stage.channel()).pings(message).unwrap();
    let [silent] = said(&stage).try_into().unwrap();
    assert_eq!(pings(silent.id), dirigent_testkit::memory_discord::Pings::default());
    let messages = stage.discord().messages(stage.channel());
    let loud = messages.iter().find(|message| &*message.content == "and me").unwrap();
    assert_eq!(pinged(&stage, loud.id), [person], "where that was chosen");
}

#[test]
fn roles_and_everyone_are_pinged_where_that_was_chosen() {
    let chosen = AllowedMentions::new().role(RoleId::new(7)).everyone();
    let text = "@everyone <@&7> <@&8> <@9>";
    let mut stage = room(Reply::text(text).allowed_mentions(chosen));
    stage.say("Hello");
    stage.until_dormant();
    let [said] = said(&stage).try_into().unwrap();
    let pings = stage.discord().channel(stage.channel()).pings(said.id).unwrap();
    assert_eq!((pings.everyone, pings.roles, pings.users), (true, vec![RoleId::new(7)], vec![]));
}

#[test]
fn a_long_reply_answers_with_its_first_message_and_shows_its_embeds_with_the_last() {
    let mut stage = room(Act::Pass);
    let (asked, person) = question(&mut stage);
    stage.until_dormant();
    let text = format!("<@{person}> ").repeat(300);
    let chosen = AllowedMentions::new().user(person);
    let reply = Reply::text(text).embed(embed("one")).to(asked).allowed_mentions(chosen);
    stage.agent("a").then(reply);
    stage.say("go on");
    stage.until_dormant();
    let said = said(&stage);
    let of = |message: &ChatMessage| (message.reply_to, embeds(&stage, message.id).len());
    let expected = [(Some(asked), 0), (None, 0), (None, 0), (None, 1)];
    assert_eq!(said.iter().map(of).collect::<Vec<_>>(), expected);
    assert!(said.iter().all(|message| pinged(&stage, message.id) == [person]));
}

#[test]
fn a_reply_to_a_message_that_is_not_in_the_channel_is_posted_without_the_reference() {
    let mut stage = room(Reply::text("to nothing").to(MessageId::new(5)));
    stage.say("Hello");
    stage.until_dormant();
    let [said] = said(&stage).try_into().unwrap();
    assert_eq!((&*said.content, said.reply_to, said.kind), ("to nothing", None, ChatKind::Default));
}

#[test]
fn embeds_alone_are_a_reply_and_no_pass() {
    for silent in [Reply::Pass, Reply::from(""), Reply::from(" \n"), Reply::from("NO_REPLY")] {
        let mut stage = room(silent.clone().embed(embed("alone")));
        stage.say("Hello");
        stage.until_dormant();
        let [said] = said(&stage).try_into().unwrap();
        assert_eq!((&*said.content, embeds(&stage, said.id)), ("", vec![embed("alone")]));
        let turns = stage.agent("b").turns();
        assert_eq!(turns.len(), 2, "{silent:?}: a reply lets another cycle begin");
        assert_eq!(turns[0].missed.last().unwrap(), "", "the next agent is told of it");
    }
}

#[test]
fn a_reference_or_a_mention_alone_says_nothing() {
    let chosen = AllowedMentions::new().everyone();
    for silent in [Reply::Pass, Reply::from("NO_REPLY")] {
        let reply = silent.to(MessageId::new(5)).allowed_mentions(chosen.clone());
        let mut stage = room(reply);
        stage.say("Hello");
        stage.until_dormant();
        assert!(said(&stage).is_empty());
        assert_eq!(stage.agent("b").turns().len(), 1, "it is a pass");
    }
}

#[test]
fn a_colleague_is_shown_what_the_embeds_say() {
    let mut stage = room(Reply::text("see there").embed(embed("one")));
    stage.say("Hello");
    stage.until_dormant();
    let [said] = said(&stage).try_into().unwrap();
    assert!(
        said.to_string().ends_with(": see there [embed: one | two lines | a field: its value]"),
        "{said}"
    );
}

#[test]
fn what_a_chat_would_refuse_is_an_error_of_the_agent_and_nothing_of_it_is_posted() {
    let title = embed(&"x".repeat(257));
    let refused = Reply::text("a text").embed(embed("fine")).embed(title);
    let mut stage = room(refused);
    let mut events = stage.dirigent().events();
    stage.say("Hello");
    stage.until_dormant();
    assert!(said(&stage).is_empty());
    let mut errors = Vec::new();
    while let Some(heard) = events.try_next() {
        if let EventOrLag::AgentFailed(failure) = heard {
            let AgentFault::Error(error) = failure.fault else { panic!("no error") };
            errors.push(*error.downcast_ref::<ReplyError>().unwrap());
        }
    }
    assert_eq!(errors, [ReplyError::TooLong { embed: 1, part: "title", chars: 257, max: 256 }]);
    assert_eq!(stage.agent("b").turns().len(), 1, "the next agent has its turn");
}

/// Killed before each of its messages, and with an answer lost; the process is down for a minute, or for longer
/// than the chat remembers a nonce.
#[test]
fn a_restart_in_the_middle_of_a_reply_loses_and_doubles_none_of_it() {
    for downtime in [MINUTE, MINUTE * 10] {
        for before in 1..=3_usize {
            for fault in [Fault::LostAnswer, Fault::NotDelivered] {
                restart_in_the_middle(downtime, before, fault);
            }
        }
    }
}

fn restart_in_the_middle(downtime: Duration, before: usize, fault: Fault) {
    let name = format!("{downtime:?}, message {before}, {fault:?}");
    let setup = Setup::new().hosted("a", [Act::Pass.into()]).hosted("b", []).downtime(downtime);
    let mut stage = setup.stage();
    let _ = stage.discord().clone().with_nonce_window(MINUTE * 2);
    stage.chat();
    let (asked, person) = question(&mut stage);
    stage.until_dormant();
    let parts = ["1", "2", "3"].map(|part| part.repeat(2_000));
    let chosen = AllowedMentions::new().replied_user();
    let reply = Reply::text(parts.concat()).embed(embed("one")).to(asked).allowed_mentions(chosen);
    stage.agent("a").then(Line::from(reply).taking(SECOND));
    let a = stage.agent("a").user();
    stage.discord().inject(|faults| {
        for _ in 1..before {
            faults.next_by(a, Call::Post, Fault::SlowAnswer { by: SECOND });
        }
        faults.next_by(a, Call::Post, fault);
    });
    stage.say("go on");
    stage.cut_gateway(true);
    let stands = before - usize::from(fault == Fault::NotDelivered);
    stage.until("the fault has happened", |stage| {
        stage.discord().take_posts().iter().any(|post| post.fault == Some(fault))
    });
    assert_eq!(said(&stage).len(), stands, "{name}");
    stage.crash();
    stage.clock().advance(downtime);
    stage.cut_gateway(false);
    stage.restart();
    stage.advance(MINUTE * 5);
    let said = said(&stage);
    let words: Vec<&str> = said.iter().map(|message| &*message.content).collect();
    assert_eq!(words, parts, "{name}");
    let of = |message: &ChatMessage| (message.reply_to, embeds(&stage, message.id));
    let expected = [(Some(asked), vec![]), (None, vec![]), (None, vec![embed("one")])];
    assert_eq!(said.iter().map(of).collect::<Vec<_>>(), expected, "{name}");
    assert_eq!(pinged(&stage, said[0].id), [person], "{name}");
}

/// No event tells of it, and the chat has forgotten its nonce: it is found by what it shows.
#[test]
fn embeds_alone_in_doubt_are_found_again_and_posted_once() {
    for fault in [Fault::LostAnswer, Fault::NotDelivered] {
        let reply = Reply::Pass.embed(embed("one")).embed(embed("two"));
        let mut stage = room(Line::from(reply).taking(SECOND));
        let _ = stage.discord().clone().with_nonce_window(MINUTE * 2);
        let a = stage.agent("a").user();
        stage.discord().next_post(fault);
        stage.say("Hello");
        stage.cut_gateway(true);
        stage.until("the fault has happened", |stage| {
            stage.discord().take_posts().iter().any(|post| post.fault == Some(fault))
        });
        stage.crash();
        // Another post of the same account, which shows less.
        let other = dirigent::ports::Post {
            embeds: [embed("of the host")].into(),
            ..dirigent::ports::Post::new(
                stage.channel(),
                "",
                dirigent::ports::Nonce::from_parts(1, 2, 3),
            )
        };
        let account = stage.discord().account(a);
        let posted = futures_util::FutureExt::now_or_never(async move {
            dirigent::DiscordApi::post(&account, other).await
        });
        assert!(posted.unwrap().is_ok());
        stage.clock().advance(MINUTE * 5);
        stage.cut_gateway(false);
        stage.restart();
        stage.advance(MINUTE * 2);
        let shown = said(&stage).into_iter().filter(|message| message.embeds == 2);
        let shown: Vec<_> = shown.map(|message| embeds(&stage, message.id)).collect();
        assert_eq!(shown, [[embed("one"), embed("two")]], "{fault:?}");
    }
}

#[test]
fn embeds_that_were_not_posted_are_handed_back_with_the_text() {
    for (text, late) in [("a text", vec!["a text".to_owned()]), ("", vec![])] {
        let late_reply = Line::from(Reply::text(text).embed(embed("late"))).taking(SECOND);
        let said = [late_reply, Act::Pass.into()];
        let mut stage = Setup::new().hosted("a", said).hosted("b", []).stage();
        stage.chat();
        stage.say("Hello");
        stage.discord().begin_outage(Outage::refused());
        stage.advance(SECOND * 10);
        stop(&mut stage);
        stage.discord().end_outages();
        stage.advance(MINUTE);
        assert!(self::said(&stage).is_empty(), "the room was stopped");
        resume(&mut stage);
        stage.say("Go on");
        stage.advance(MINUTE);
        assert_eq!(late_answers(&stage, "a"), late);
        let embeds = stage.agent("a").turns().into_iter().map(|turn| turn.late_embeds);
        assert_eq!(embeds.filter(|it| !it.is_empty()).collect::<Vec<_>>(), [[embed("late")]]);
    }
}

#[test]
fn an_account_that_may_not_show_embeds_loses_the_reply_and_that_is_told() {
    let mut stage = room(Reply::text("a text").embed(embed("one")));
    let a = stage.agent("a").user();
    let channel = stage.discord().channel(stage.channel());
    channel.set_member_overwrite(a, Permissions::TALK, Permissions::EMBED_LINKS);
    let mut events = stage.dirigent().events();
    stage.say("Hello");
    stage.until_dormant();
    assert!(said(&stage).is_empty());
    let mut lost = 0;
    while let Some(heard) = events.try_next() {
        lost += usize::from(matches!(heard, EventOrLag::ReplyLost(_)));
    }
    assert_eq!(lost, 1);
}

/// Keeps what it is handed, and says nothing.
#[derive(Clone, Default)]
struct Listener(Arc<Mutex<Vec<Arc<ChatMessage>>>>);

#[async_trait::async_trait]
impl Agent for Listener {
    async fn speak(&self, turn: Turn) -> Result<Reply, AgentError> {
        self.0.lock().unwrap().extend_from_slice(turn.missed());
        Ok(Reply::Pass)
    }
}

/// No event tells of the post: the room knows itself what it has posted.
#[test]
fn a_colleague_is_handed_a_reply_as_it_stands_in_the_channel() {
    let mut stage = room(Act::Pass);
    let listener = Listener::default();
    let account = Arc::new(stage.discord().account(stage.agent("b").user()));
    stage.dirigent().host("b", listener.clone(), account);
    let (asked, _) = question(&mut stage);
    stage.until_dormant();
    let reply = Reply::text("see there").embed(embed("one")).to(asked);
    stage.agent("a").then(Line::from(reply).taking(SECOND));
    stage.say("go on");
    stage.cut_gateway(true);
    stage.advance(SECOND * 5);
    let [said] = said(&stage).try_into().unwrap();
    let handed = listener.0.lock().unwrap();
    let told = handed.iter().find(|message| message.id == said.id).unwrap();
    assert_eq!((told.reply_to, told.kind), (Some(asked), ChatKind::Reply));
    assert_eq!((&*told.content, told.embeds), ("see there", 1));
}

/// Takes twenty seconds for its first answer, whether it is cancelled or not.
struct Slow {
    late: Arc<Mutex<Vec<Embed>>>,
    clock: ManualClock,
}

#[async_trait::async_trait]
impl Agent for Slow {
    async fn speak(&self, turn: Turn) -> Result<Reply, AgentError> {
        if turn.missed().last().is_some_and(|message| &*message.content == "Hello") {
            self.clock.sleep_until(self.clock.now() + SECOND * 20).await;
            return Ok(Reply::text("at last").embed(embed("late")));
        }
        self.late.lock().unwrap().extend_from_slice(turn.late_embeds());
        Ok(Reply::Pass)
    }
}

#[test]
fn embeds_of_an_answer_that_came_too_late_are_handed_back() {
    let setup = Setup::new().hosted("a", []).hosted("b", ["b1".into()]);
    let mut stage = setup.config(|config| config.deadlines.turn = Some(SECOND * 10)).stage();
    let late = Arc::<Mutex<Vec<Embed>>>::default();
    let account = Arc::new(stage.discord().account(stage.agent("a").user()));
    let slow = Slow { late: Arc::clone(&late), clock: stage.clock().clone() };
    stage.dirigent().host("a", slow, account);
    stage.chat();
    stage.say("Hello");
    stage.until_dormant();
    stage.advance(MINUTE);
    assert!(said(&stage).is_empty(), "nothing is posted out of turn");
    stage.say("Again");
    stage.until_dormant();
    assert_eq!(*late.lock().unwrap(), [embed("late")]);
}
