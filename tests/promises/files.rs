//! Files that agents send with their replies: they arrive once, with the last message, and whatever becomes of them the
//! words arrive.

use std::sync::Arc;
use std::time::Duration;

use dirigent::host::{Consultation, Orchestrator};
use dirigent::operate::{AgentFault, EventOrLag};
use dirigent::ports::{
    ApiError, Embed, ErrorKind, HistoryRequest, Post, Posted, ReplyError, ReplyFile, Timestamp,
};
use dirigent::settings::HumanInterrupt;
use dirigent::{AgentError, ChannelId, ChatMessage, DiscordApi, MessageId, Reply, UserId};
use dirigent_testkit::memory_discord::{Call, Fault, Outage, Permissions};
use dirigent_testkit::scripted_agent::{Act, Line};
use dirigent_testkit::{MemoryAccount, ScriptedAgent};
use dirigent_verify::stage::{Setup, Stage};

use super::kit::{MINUTE, SECOND, late_answers, resume, stop};

const MIB: usize = 1024 * 1024;

/// A room of "a", which answers so, and "b", which has nothing to say.
fn room(reply: impl Into<Line>) -> Stage {
    let mut stage = Setup::new().hosted("a", [reply.into()]).hosted("b", []).stage();
    stage.chat();
    stage
}

/// What "a" said, in order: the words, and the files with their bytes.
fn said(stage: &Stage) -> Vec<(String, Vec<(String, usize)>)> {
    let a = stage.agent("a").user();
    let messages = stage.discord().messages(stage.channel());
    let said = messages.iter().filter(|message| message.author == a);
    said.map(|message| (message.content.to_string(), files(stage, message.id))).collect()
}

fn files(stage: &Stage, message: MessageId) -> Vec<(String, usize)> {
    let files = stage.discord().channel(stage.channel()).files(message).unwrap();
    files.iter().map(|file| (file.name().to_owned(), file.bytes().len())).collect()
}

fn named(files: &[(&str, usize)]) -> Vec<(String, usize)> {
    files.iter().map(|(name, bytes)| ((*name).to_owned(), *bytes)).collect()
}

/// The files that "a" was told of, in each turn.
fn told(stage: &Stage) -> Vec<Vec<String>> {
    stage.agent("a").turns().into_iter().map(|turn| turn.late_files).collect()
}

/// HR17
#[test]
fn a_reply_comes_with_its_files_and_a_colleague_is_told_their_names() {
    let bytes = b"a,b\n1,2\n".to_vec();
    let reply = Reply::text("see there").file("dir/numbers 1.csv", bytes.clone());
    let reply = reply.embed(Embed::new().title("one")).file("b.bin", [0_u8; 3]);
    let mut stage = room(reply);
    stage.say("Hello");
    stage.until_dormant();
    let brought = named(&[("numbers_1.csv", 8), ("b.bin", 3)]);
    assert_eq!(said(&stage), [("see there".to_owned(), brought)]);
    let messages = stage.discord().messages(stage.channel());
    let message = messages.iter().find(|message| !message.attachments.is_empty()).unwrap();
    let posted = stage.discord().channel(stage.channel()).files(message.id).unwrap();
    assert_eq!(posted[0], ReplyFile::new("numbers_1.csv", bytes));
    let lines = stage.agent("b").turns().swap_remove(0).lines;
    let line = lines.last().unwrap();
    assert!(
        line.ends_with(": see there [embed: one] [file: numbers_1.csv] [file: b.bin]"),
        "{line}"
    );
    assert!(told(&stage).iter().all(Vec::is_empty));
}

/// HR17: no event tells of the post, and what does so later says where the file is.
#[test]
fn a_colleague_is_told_of_a_file_although_no_event_comes() {
    let mut stage = room(Line::from(Reply::text("see there").file("a.txt", *b"a")).taking(SECOND));
    stage.say("Hello");
    stage.cut_gateway(true);
    stage.advance(SECOND * 5);
    let lines = stage.agent("b").turns().swap_remove(0).lines;
    assert!(lines.last().unwrap().ends_with(": see there [file: a.txt]"), "{lines:?}");
}

/// HR17
#[test]
fn the_files_of_a_long_reply_come_with_its_last_message() {
    let parts = ["1", "2", "3"].map(|part| part.repeat(2_000));
    let mut stage = room(Reply::text(parts.concat()).file("a.txt", *b"a"));
    stage.say("Hello");
    stage.until_dormant();
    let [one, two, three] = parts;
    let last = (three, named(&[("a.txt", 1)]));
    assert_eq!(said(&stage), [(one, vec![]), (two, vec![]), last]);
}

/// HR17
#[test]
fn files_alone_are_a_reply_and_no_pass() {
    for silent in [Reply::Pass, Reply::from(" \n"), Reply::from("NO_REPLY")] {
        let mut stage = room(silent.file("a.txt", *b"a"));
        stage.say("Hello");
        stage.until_dormant();
        assert_eq!(said(&stage), [(String::new(), named(&[("a.txt", 1)]))]);
        assert_eq!(stage.agent("b").turns().len(), 2, "a reply lets another cycle begin");
    }
}

/// HR17
#[test]
fn a_file_beyond_a_limit_is_left_out_and_its_agent_is_told() {
    let large = Reply::text("too large").file("a.txt", *b"a").file("large", vec![1; 10 * MIB]);
    let large = large.file("b.txt", *b"b").file("empty", Vec::new());
    assert_eq!(large.check(), Err(ReplyError::FilesTooLarge(10 * MIB + 2)));
    let many = (0..12).fold(Reply::text("many"), |it, at| it.file(format!("{at}"), *b"x"));
    assert_eq!(many.check(), Err(ReplyError::TooManyFiles(12)));
    let first: Vec<_> = (0..10).map(|at| (format!("{at}"), 1)).collect();
    let some = named(&[("a.txt", 1), ("b.txt", 1)]);
    for (reply, words, brought, lost) in
        [(large, "too large", some, ["large", "empty"]), (many, "many", first, ["10", "11"])]
    {
        let mut stage = room(reply);
        stage.say("Hello");
        stage.until_dormant();
        assert_eq!(said(&stage), [(words.to_owned(), brought)]);
        stage.say("Go on");
        stage.until_dormant();
        let told: Vec<_> = told(&stage).into_iter().filter(|files| !files.is_empty()).collect();
        assert_eq!(told, [lost], "once");
        assert!(late_answers(&stage, "a").is_empty(), "the words were posted");
    }
    let whole = Reply::Pass.file("a", vec![1; 10 * MIB]);
    assert_eq!(whole.check(), Ok(()));
    let mut stage = room(whole);
    stage.say("Hello");
    stage.until_dormant();
    assert_eq!(said(&stage), [(String::new(), named(&[("a", 10 * MIB)]))]);
}

/// HR17
#[test]
fn a_reply_of_nothing_but_a_file_that_is_too_large_is_an_error_of_its_agent() {
    let mut stage = room(Reply::Pass.file("large", vec![1; 10 * MIB + 1]));
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
    assert_eq!(errors, [ReplyError::FilesTooLarge(10 * MIB + 1)]);
}

/// HR17
#[test]
fn an_account_that_may_not_post_files_posts_the_words() {
    let parts = ["1", "2"].map(|part| part.repeat(2_000));
    let mut stage = room(Reply::text(parts.concat()).file("a.txt", *b"a"));
    let a = stage.agent("a").user();
    let channel = stage.discord().channel(stage.channel());
    channel.set_member_overwrite(a, Permissions::TALK, Permissions::ATTACH_FILES);
    let mut events = stage.dirigent().events();
    stage.say("Hello");
    stage.until_dormant();
    assert_eq!(said(&stage), parts.map(|part| (part, vec![])));
    let posts = stage.discord().take_posts().into_iter().filter(|post| post.author == a);
    assert_eq!(posts.map(|post| post.files).collect::<Vec<_>>(), [0, 1, 0]);
    while let Some(heard) = events.try_next() {
        assert!(!matches!(heard, EventOrLag::ReplyLost(_) | EventOrLag::AgentFailed(_)));
    }
    stage.say("Go on");
    stage.until_dormant();
    assert_eq!(told(&stage).last().unwrap(), &["a.txt"]);
    // Without words nothing is left, and that is told as for any reply that the chat refuses.
    stage.agent("a").then(Reply::Pass.file("b.txt", *b"b"));
    stage.say("Go on");
    stage.until_dormant();
    assert_eq!(said(&stage).len(), 2);
    stage.say("Go on");
    stage.until_dormant();
    assert_eq!(told(&stage).last().unwrap(), &["b.txt"]);
}

/// An account of a chat that takes no files.
struct WordsOnly(MemoryAccount);

#[async_trait::async_trait]
impl DiscordApi for WordsOnly {
    async fn me(&self) -> Result<UserId, ApiError> {
        self.0.me().await
    }

    async fn post(&self, post: Post) -> Result<Posted, ApiError> {
        if !post.files.is_empty() {
            return Err(ApiError::new(ErrorKind::Unavailable));
        }
        self.0.post(post).await
    }

    async fn delete(&self, channel: ChannelId, message: MessageId) -> Result<(), ApiError> {
        self.0.delete(channel, message).await
    }

    async fn history(&self, request: HistoryRequest) -> Result<Vec<ChatMessage>, ApiError> {
        self.0.history(request).await
    }

    async fn members(
        &self,
        channel: ChannelId,
        among: Vec<UserId>,
    ) -> Result<Vec<UserId>, ApiError> {
        self.0.members(channel, among).await
    }

    fn sent_at(&self, message: MessageId) -> Timestamp {
        self.0.sent_at(message)
    }
}

/// HR17
#[test]
fn a_chat_that_takes_no_files_is_not_asked_to() {
    let mut stage = room(Reply::text("see there").file("a.txt", *b"a"));
    let account = WordsOnly(stage.discord().account(stage.agent("a").user()));
    let agent: ScriptedAgent = stage.agent("a").clone();
    stage.dirigent().host("a", agent, Arc::new(account));
    stage.say("Hello");
    stage.until_dormant();
    assert_eq!(said(&stage), [("see there".to_owned(), vec![])]);
    stage.say("Go on");
    stage.until_dormant();
    assert_eq!(told(&stage).last().unwrap(), &["a.txt"]);
}

/// HR17: a line may be too slow for them.
#[test]
fn files_for_which_no_answer_comes_three_times_are_left_out() {
    for (unanswered, comes_with) in [(2, named(&[("a.txt", 1)])), (3, vec![])] {
        let mut stage = room(Reply::text("see there").file("a.txt", *b"a"));
        let a = stage.agent("a").user();
        stage.discord().inject(|faults| {
            (0..unanswered).for_each(|_| faults.next_by(a, Call::Post, Fault::NotDelivered));
        });
        stage.say("Hello");
        stage.advance(MINUTE);
        assert_eq!(said(&stage), [("see there".to_owned(), comes_with)]);
    }
    // Not if there is nothing else.
    let mut stage = room(Reply::Pass.file("a.txt", *b"a"));
    let a = stage.agent("a").user();
    stage.discord().inject(|faults| {
        (0..5).for_each(|_| faults.next_by(a, Call::Post, Fault::NotDelivered));
    });
    stage.say("Hello");
    stage.advance(MINUTE * 5);
    assert_eq!(said(&stage), [(String::new(), named(&[("a.txt", 1)]))]);
}

/// HR17: killed before each of its messages, and with an answer lost. The bytes are gone with the process: only what had
/// arrived has its files, and the others are told.
#[test]
fn a_restart_in_the_middle_of_a_reply_posts_the_rest_of_its_words() {
    for downtime in [SECOND, MINUTE * 10] {
        for before in 1..=3_usize {
            for fault in [Fault::LostAnswer, Fault::NotDelivered] {
                restart_in_the_middle(downtime, before, fault, ["1", "2", "3"].map(long).into());
            }
        }
        for fault in [Fault::LostAnswer, Fault::NotDelivered] {
            restart_in_the_middle(downtime, 1, fault, vec![String::new()]);
        }
    }
}

fn long(part: &str) -> String {
    part.repeat(2_000)
}

fn restart_in_the_middle(downtime: Duration, before: usize, fault: Fault, parts: Vec<String>) {
    let name = format!("{downtime:?}, message {before} of {}, {fault:?}", parts.len());
    let setup = Setup::new().hosted("a", []).hosted("b", []).downtime(downtime);
    let mut stage = setup.stage();
    let _ = stage.discord().clone().with_nonce_window(MINUTE * 2);
    stage.chat();
    let reply = Reply::text(parts.concat()).file("a.txt", *b"secret bytes");
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
    stage.until("the fault has happened", |stage| {
        stage.discord().take_posts().iter().any(|post| post.fault == Some(fault))
    });
    let stored = stage.store().stored(stage.channel()).unwrap();
    let extras = stored.record.outgoing.as_ref().unwrap().extras.clone().unwrap();
    assert_eq!(extras.files, [ReplyFile::from("a.txt".to_owned())], "no byte is stored");
    stage.crash();
    stage.clock().advance(downtime);
    stage.cut_gateway(false);
    stage.restart();
    stage.advance(MINUTE * 5);
    let arrived = before == parts.len() && fault == Fault::LostAnswer;
    let is_lost = parts == [""] && !arrived;
    let mut expected: Vec<_> = parts.into_iter().map(|part| (part, vec![])).collect();
    if arrived {
        expected.last_mut().unwrap().1 = named(&[("a.txt", 12)]);
    } else if is_lost {
        expected.clear();
    }
    assert_eq!(said(&stage), expected, "{name}");
    stage.say("Go on");
    stage.advance(MINUTE);
    let told: Vec<_> = told(&stage).into_iter().flatten().collect();
    let expected: &[&str] = if arrived { &[] } else { &["a.txt"] };
    assert_eq!(told, expected, "{name}");
}

/// HR17
#[test]
fn the_files_of_a_reply_that_was_not_posted_are_named_with_it() {
    let reply = Line::from(Reply::text("a text").file("a.txt", *b"a")).taking(SECOND);
    let mut stage = Setup::new().hosted("a", [reply, Act::Pass.into()]).hosted("b", []).stage();
    stage.chat();
    stage.say("Hello");
    stage.discord().begin_outage(Outage::refused());
    stage.advance(SECOND * 10);
    stop(&mut stage);
    stage.discord().end_outages();
    stage.advance(MINUTE);
    assert!(said(&stage).is_empty(), "the room was stopped");
    resume(&mut stage);
    stage.say("Go on");
    stage.advance(MINUTE);
    assert_eq!(late_answers(&stage, "a"), ["a text"]);
    assert_eq!(told(&stage).into_iter().flatten().collect::<Vec<_>>(), ["a.txt"]);
}

/// Answers with a file, and two messages of words.
struct Attaching;

#[async_trait::async_trait]
impl Orchestrator for Attaching {
    async fn answer(&self, _: Consultation) -> Result<Reply, AgentError> {
        Ok(Reply::text(["1", "2"].map(long).concat()).file("plan.txt", *b"plan"))
    }
}

/// HR17
#[test]
fn an_orchestrators_answer_comes_with_its_files_or_without() {
    for may in [true, false] {
        let setup = Setup::new().hosted("a", [Line::from("a1").taking(MINUTE)]).hosted("b", []);
        let setup = setup.config(|it| it.people.human_interrupt = HumanInterrupt::Interrupt);
        let mut stage = setup.orchestrator(Attaching).stage();
        stage.chat();
        stage.say("Hello");
        stage.advance(SECOND * 5);
        let author = stage.moderator();
        if !may {
            let channel = stage.discord().channel(stage.channel());
            channel.set_member_overwrite(author, Permissions::TALK, Permissions::ATTACH_FILES);
        }
        stage.say("And the plan?");
        stage.advance(MINUTE);
        let messages = stage.discord().messages(stage.channel());
        let answer = messages.iter().filter(|message| message.author == author);
        let answer: Vec<_> =
            answer.map(|it| (it.content.to_string(), files(&stage, it.id))).collect();
        let last = if may { named(&[("plan.txt", 4)]) } else { vec![] };
        assert_eq!(answer, [(long("1"), vec![]), (long("2"), last)]);
    }
}
