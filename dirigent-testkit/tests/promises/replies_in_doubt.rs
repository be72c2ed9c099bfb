//! A part of a reply of which it is not known whether it stands in the channel: it is repeated, looked for, or
//! waited for, and stands there once.

use std::time::Duration;

use dirigent::{DiscordApi, Mentions, Post, UserId};
use dirigent_testkit::memory_discord::{Call, Fault, Outage, PushFault};
use dirigent_testkit::stage::{Setup, Stage};

use super::kit::{MILLI, MINUTE, SECOND};

/// How long the chat remembers a nonce here.
const NONCE: Duration = Duration::from_secs(120);

/// The chat forgets nonces, and agents say each line once.
fn forgetful(setup: Setup) -> Stage {
    let stage = setup.stage();
    stage.agents().for_each(dirigent_testkit::ScriptedAgent::say_once);
    let _ = stage.discord().clone().with_nonce_window(NONCE);
    stage
}

fn count(stage: &Stage, words: &str) -> usize {
    stage.words().iter().filter(|said| said.as_str() == words).count()
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
        let nonce = posts.iter().rfind(|post| post.author == a).unwrap().nonce.clone();
        // The event tells of it, or only the history does.
        stage.cut_gateway(is_looked_for);
        let content = "I am not a".to_owned();
        let (nonce, mentions, reply_to) = (nonce, Mentions::Nobody, None);
        let other = stage.discord().account(stage.agent("b").user());
        let post = Post { channel, content, nonce, mentions, reply_to };
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
