//! A part of a reply of which it is not known whether it stands in the channel: it is repeated, looked for, or
//! waited for, and stands there once.

use std::time::Duration;

use dirigent::ports::Post;
use dirigent::{ChannelId, DiscordApi, UserId};
use dirigent_testkit::memory_discord::{Call, Fault, Outage, PushFault};
use dirigent_testkit::scripted_agent::{Act, Line};
use dirigent_verify::stage::{Setup, Stage};

use super::kit::{MILLI, MINUTE, SECOND, late_answers, open_discussion, resume, runs, stop};

/// How long the chat remembers a nonce here.
const NONCE: Duration = Duration::from_secs(120);

/// The chat forgets nonces, and agents say each line once.
fn forgetful(setup: Setup) -> Stage {
    let stage = setup.stage();
    stage.agents().for_each(dirigent_testkit::ScriptedAgent::say_once);
    let _ = stage.discord().clone().with_nonce_window(NONCE);
    stage
}

/// The same, where the chat says of a history whether it may be read, or does not.
fn sure(setup: Setup, is_sure: bool) -> Stage {
    forgetful(if is_sure { setup.sure_of_history() } else { setup })
}

/// A room of "a", which takes a second for what it says, and "b".
fn two() -> Setup {
    Setup::new().hosted("a", [Line::from("a1").taking(SECOND)]).hosted("b", ["b1".into()])
}

fn wake(stage: &mut Stage) -> ChannelId {
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).wake(None).await }).unwrap();
    channel
}

/// The outage lasts five minutes more, over which the process lives, or is killed and starts again.
fn outlast(stage: &mut Stage, killed: bool) {
    if killed {
        stage.crash();
        stage.clock().advance(MINUTE * 5);
    } else {
        stage.advance(MINUTE * 5);
    }
    stage.discord().end_outages();
    if killed {
        stage.restart();
    }
    stage.advance(MINUTE);
}

fn count(stage: &Stage, words: &str) -> usize {
    stage.words().iter().filter(|said| said.as_str() == words).count()
}

/// More than a page of words by this account.
fn say_a_page(stage: &Stage, author: UserId) {
    for number in 0..120 {
        stage.discord().say(stage.channel(), author, format!("word {number}"));
    }
}

/// An operator woke the channel, in which nothing was ever said.
#[test]
fn a_reply_outlasts_an_outage_in_a_channel_without_any_message() {
    for is_sure in [true, false] {
        for outage in [Outage::refused(), Outage::hanging(), Outage::failing(Fault::NotDelivered)] {
            let name = format!("{outage:?}, sure of the history: {is_sure}");
            let mut stage = sure(two(), is_sure);
            stage.chat();
            wake(&mut stage);
            stage.discord().begin_outage(outage);
            stage.advance(MINUTE * 10);
            assert_eq!(runs(&stage), 1, "{name}");
            stage.discord().end_outages();
            stage.advance(MINUTE);
            assert_eq!(stage.words(), ["a1", "b1"], "{name}");
        }
    }
}

/// The newest message when "b" had answered was the trigger of the agent before, which is removed.
#[test]
fn a_reply_outlasts_an_outage_where_the_message_before_it_is_removed() {
    for (is_sure, killed) in [(true, false), (true, true), (false, false), (false, true)] {
        let setup = Setup::new()
            .hooked("a", [Act::Pass.into()])
            .hosted("b", [Line::from("b1").taking(SECOND * 5)]);
        let mut stage = sure(setup, is_sure);
        stage.chat();
        stage.say("Hello");
        stage.until("b runs", |stage| !stage.agent("b").turns().is_empty());
        stage.discord().begin_outage(Outage::hanging());
        stage.advance(SECOND * 30);
        outlast(&mut stage, killed);
        assert_eq!(
            stage.words(),
            ["Hello", "b1"],
            "sure of the history: {is_sure}, killed: {killed}"
        );
    }
}

/// A person took the only message back, so the history is empty, or hidden: the chat does not say.
#[test]
fn a_reply_in_doubt_waits_over_an_empty_history_until_something_shows() {
    let mut stage = sure(two(), false);
    stage.chat();
    let hello = stage.say("Hello");
    stage.discord().begin_outage(Outage::hanging());
    stage.advance(MINUTE * 5);
    stage.discord().delete_message(stage.channel(), hello);
    stage.discord().end_outages();
    stage.advance(MINUTE * 10);
    assert_eq!(stage.words(), [""; 0]);
    assert_eq!(late_answers(&stage, "a"), [""; 0]);
    let b = stage.agent("b").user();
    stage.discord().say(stage.channel(), b, "Is it over?");
    stage.advance(MINUTE * 2);
    assert_eq!(stage.words(), ["Is it over?", "a1", "b1"]);
}

/// What the person says is not shown, so the history is hidden for certain.
#[test]
fn a_reply_in_doubt_over_a_hidden_history_does_not_keep_a_person_waiting() {
    let mut stage = sure(two(), false);
    stage.chat();
    stage.say("Hello");
    stage.discord().begin_outage(Outage::hanging());
    stage.advance(MINUTE * 5);
    let (channel, moderator) = (stage.channel(), stage.moderator());
    stage.discord().channel(channel).set_history_hidden(moderator, true);
    stage.discord().end_outages();
    stage.advance(MINUTE * 5);
    assert_eq!(stage.words(), ["Hello"]);
    stage.say("Are you there?");
    stage.advance(MINUTE * 2);
    assert_eq!((count(&stage, "a1"), count(&stage, "b1")), (0, 1));
}

#[test]
fn a_part_that_landed_in_an_empty_channel_is_found_however_much_is_said_behind_it() {
    let mut stage = sure(two(), true);
    stage.chat();
    stage.discord().next_post(Fault::LandsLate { by: SECOND * 5 });
    stage.cut_gateway(true);
    let a = stage.agent("a").user();
    wake(&mut stage);
    stage.advance(SECOND + MILLI);
    stage.discord().begin_outage(Outage::refused().of(a).only(Call::Post));
    stage.advance(SECOND * 6);
    assert_eq!(count(&stage, "a1"), 1, "it landed");
    say_a_page(&stage, stage.person());
    stage.advance(SECOND * 124);
    stage.discord().end_outages();
    stage.advance(MINUTE);
    assert_eq!((count(&stage, "a1"), count(&stage, "b1")), (1, 1));
}

/// The library is new in an old channel. (An agent of the kit says no line that stands in the channel: so the
/// older message gets its words afterwards.)
#[test]
fn a_reply_in_a_channel_with_a_past_is_not_taken_for_an_older_message() {
    for killed in [false, true] {
        let mut stage = sure(two(), true);
        let a = stage.agent("a").user();
        let older = stage.discord().say(stage.channel(), a, "Hi!");
        stage.advance(MINUTE * 60);
        stage.chat();
        stage.discord().begin_outage(Outage::failing(Fault::NotDelivered).of(a).only(Call::Post));
        let channel = wake(&mut stage);
        stage.advance(SECOND * 3);
        assert!(stage.discord().edit(channel, older, "a1"));
        outlast(&mut stage, killed);
        assert_eq!(stage.words(), ["a1", "a1", "b1"], "killed: {killed}");
    }
}

/// A discussion in which "a" has its reminder and answers it with "Go on." within a second.
fn reminded() -> Stage {
    let own = ["a1".into(), Act::Pass.into(), Line::from("Go on.").taking(SECOND)];
    let setup = Setup::new().rooms(2).hosted("a", own).hosted("b", ["b1".into()]);
    let mut stage = sure(setup, true);
    open_discussion(&mut stage, "Which plan?", &["a", "b"]);
    stage.until("it runs after its reminder", |stage| {
        stage.agent("a").turns().last().is_some_and(|turn| turn.after_reminder)
    });
    stage
}

#[test]
fn a_reply_after_a_reminder_is_not_taken_for_an_older_message() {
    for killed in [false, true] {
        let mut stage = reminded();
        let (channel, a) = (stage.channel(), stage.agent("a").user());
        let said = stage.discord().messages(channel);
        let older = said.iter().find(|message| &*message.content == "a1").unwrap().id;
        assert!(stage.discord().edit(channel, older, "Go on."));
        stage.discord().begin_outage(Outage::failing(Fault::NotDelivered).of(a).only(Call::Post));
        stage.advance(SECOND * 10);
        outlast(&mut stage, killed);
        assert_eq!(count(&stage, "Go on."), 2, "killed: {killed}");
    }
}

#[test]
fn a_reply_after_a_reminder_that_landed_is_found_however_much_is_said_behind_it() {
    let mut stage = reminded();
    stage.cut_gateway(true);
    stage.discord().next_post(Fault::SlowAnswer { by: SECOND * 8 });
    stage.advance(SECOND * 2);
    assert_eq!(count(&stage, "Go on."), 1, "it stands there, and no answer came");
    stage.crash();
    // A person's words would take the turn away.
    say_a_page(&stage, stage.agent("b").user());
    stage.clock().advance(MINUTE * 5);
    stage.cut_gateway(false);
    stage.restart();
    stage.advance(MINUTE);
    assert_eq!(count(&stage, "Go on."), 1);
}

/// A room in which the post of "a1" failed for this long since its first attempt, which may have arrived. No
/// event tells of it.
fn failing_for(first: Fault, long: Duration) -> (Stage, UserId) {
    let mut stage = forgetful(Setup::new().hosted("a", ["a1".into()]).hosted("b", ["b1".into()]));
    stage.chat();
    let a = stage.agent("a").user();
    stage.discord().next_post(first);
    stage.discord().next_push(PushFault::Delayed { by: Duration::ZERO });
    stage.discord().next_push(PushFault::Dropped);
    stage.say("Hello");
    let failing = Outage::failing(Fault::ServerErrorNotApplied).of(a).only(Call::Post);
    stage.discord().begin_outage(failing);
    stage.advance(long);
    stage.discord().end_outages();
    (stage, a)
}

#[test]
fn a_part_whose_last_repetition_lands_late_stands_there_once() {
    for half_seconds in 200..=240 {
        let (mut stage, a) = failing_for(Fault::LostAnswer, MILLI * 500 * half_seconds);
        let late = Outage::failing(Fault::LandsLate { by: SECOND * 14 }).of(a).only(Call::Post);
        stage.discord().begin_outage(late);
        stage.advance(SECOND * 8);
        stage.discord().end_outages();
        stage.advance(MINUTE * 10);
        assert_eq!(count(&stage, "a1"), 1, "it lands late from {half_seconds} half seconds on");
    }
}

/// It is posted again, since it is not found, and that is refused for longer than a nonce is remembered.
#[test]
fn a_repetition_that_lands_after_it_was_looked_for_stands_there_once() {
    let (mut stage, a) = failing_for(Fault::ServerErrorNotApplied, SECOND * 100);
    stage.discord().inject(|faults| {
        faults.next_by(a, Call::Post, Fault::LandsLate { by: SECOND * 14 });
        faults.next_by(a, Call::Post, Fault::RateLimited { retry_after: MINUTE * 4 });
    });
    stage.cut_gateway(true);
    stage.advance(MINUTE * 10);
    assert_eq!((count(&stage, "a1"), count(&stage, "b1")), (1, 1));
}

/// Any account in the channel can post with the nonce of another one's message.
#[test]
fn a_message_of_another_account_with_the_nonce_of_a_part_is_not_taken_for_it() {
    for is_looked_for in [false, true] {
        let mut stage = forgetful(Setup::new().hosted("a", ["a1".into()]).hosted("b", []));
        stage.chat();
        let (channel, a) = (stage.channel(), stage.agent("a").user());
        stage.discord().next_post(Fault::ServerErrorNotApplied);
        stage.say("Hello");
        let posts = stage.discord().take_posts();
        let nonce = posts.iter().rfind(|post| post.author == a).unwrap().nonce;
        // The event tells of it, or only the history does.
        stage.cut_gateway(is_looked_for);
        let other = stage.discord().account(stage.agent("b").user());
        let post = Post::new(channel, "I am not a", nonce);
        stage.call(move |_| async move { other.post(post).await }).unwrap();
        if is_looked_for {
            stage.crash();
            stage.cut_gateway(false);
            stage.clock().advance(MINUTE * 5);
            stage.restart();
        }
        stage.advance(MINUTE);
        assert_eq!(count(&stage, "a1"), 1, "looked for: {is_looked_for}");
    }
}

/// The second part was on its way when the room was stopped: the late answer tells that it arrived, or the
/// event alone.
#[test]
fn what_is_handed_back_as_not_posted_does_not_stand_in_the_channel() {
    for (is_told, answered_after) in [(false, SECOND * 5), (true, SECOND * 20)] {
        let parts = ["1", "2", "3"].map(|part| part.repeat(2_000));
        let said = [parts.concat().into(), Act::Pass.into()];
        let mut stage = forgetful(Setup::new().hosted("a", said).hosted("b", []));
        stage.chat();
        let a = stage.agent("a").user();
        stage.discord().inject(|faults| {
            faults.next_by(a, Call::Post, Fault::SlowAnswer { by: MILLI });
            faults.next_by(a, Call::Post, Fault::SlowAnswer { by: answered_after });
        });
        stage.say("Hello");
        stage.cut_gateway(!is_told);
        stage.until("two parts stand there", |stage| stage.words().len() == 3);
        stop(&mut stage);
        stage.advance(SECOND * 30);
        stage.cut_gateway(false);
        resume(&mut stage);
        stage.say("Go on");
        stage.advance(MINUTE);
        assert_eq!(late_answers(&stage, "a"), parts[2..], "an event tells: {is_told}");
    }
}
