//! Posts: with one nonce, without a pause, by a second account.

use std::time::Duration;

use serde_json::json;

use crate::account::Answer;
use crate::evidence::{Purpose, Sent};
use crate::session::PATIENCE;
use crate::trial::{Trial, Who, silent_post};
use crate::trouble::Trouble;

/// The age at which a nonce is used again: as long as the library repeats a post.
const NONCE_AGE: Duration = Duration::from_secs(105);

/// The wait after a 429 that does not say how long.
const WAIT_UNSAID: Duration = Duration::from_secs(5);

/// How many characters a message may have.
const CHARS_MAX: usize = 2_000;

/// Posts twice with one nonce, and reads the history after each.
pub(crate) async fn twice(trial: &mut Trial) -> Result<(), Trouble> {
    let first = nonce_post(trial, Who::First).await?;
    let is_posted = first.is_success();
    let (status, nonce) = (first.status, &mut trial.evidence.nonce);
    nonce.first = Some(first);
    if !is_posted {
        let why = "the bot may not write in the channel (Send Messages)";
        return Err(Trouble::Refused("the first post", status, why));
    }
    trial.evidence.nonce.history = Some(trial.history("limit=20").await?);
    trial.evidence.nonce.again = Some(nonce_post(trial, Who::First).await?);
    trial.evidence.nonce.history_after = Some(trial.history("limit=20").await?);
    Ok(())
}

/// Posts with the first nonce once more, when it is old.
pub(crate) async fn late(trial: &mut Trial) -> Result<(), Trouble> {
    let first = trial.evidence.nonce.first.as_ref().map(|first| first.sent_at);
    let clock = trial.clock.clone();
    clock.sleep_until(first.unwrap_or(trial.started) + NONCE_AGE).await;
    trial.evidence.nonce.late = Some(nonce_post(trial, Who::First).await?);
    Ok(())
}

async fn nonce_post(trial: &mut Trial, who: Who) -> Result<Answer, Trouble> {
    let body = silent_post(&trial.text("a nonce"), &trial.nonce(0));
    trial.post(who, body).await
}

/// Posts six times without a pause, which is one more than is usual for a limit, and reads a page of that.
pub(crate) async fn burst(trial: &mut Trial) -> Result<(), Trouble> {
    let purposes = [
        Purpose::Plain,
        Purpose::Silent,
        Purpose::Ping,
        Purpose::Long,
        Purpose::Plain,
        Purpose::Plain,
    ];
    for (number, purpose) in purposes.into_iter().enumerate() {
        post_for(trial, number + 1, purpose).await?;
    }
    let ids = trial.evidence.burst_ids();
    if let Some(oldest) = ids.iter().min() {
        trial.evidence.page = Some(trial.history(&format!("after={oldest}&limit=2")).await?);
    }
    hear_all(trial, &ids).await;
    Ok(())
}

async fn post_for(trial: &mut Trial, number: usize, purpose: Purpose) -> Result<(), Trouble> {
    let (first, second) = (trial.evidence.first, trial.evidence.second);
    let (text, pinged) = match (purpose, second) {
        (Purpose::Plain, _) | (Purpose::Ping, None) => (format!("post {number}"), None),
        (Purpose::Silent, _) => {
            (format!("<@{}> is not to be pinged", second.unwrap_or(first)), None)
        }
        (Purpose::Ping, Some(second)) => (format!("<@{second}> is pinged"), Some(second)),
        (Purpose::Long, _) => {
            let begin = trial.text("");
            ("\u{1f9ea}".repeat(CHARS_MAX.saturating_sub(begin.chars().count())), None)
        }
    };
    let (text, nonce) = (trial.text(&text), trial.nonce(number));
    let mut body = silent_post(&text, &nonce);
    if let (Some(pinged), Some(fields)) = (pinged, body.as_object_mut()) {
        let allowed = json!({ "parse": [], "users": [pinged.to_string()] });
        fields.insert("allowed_mentions".to_owned(), allowed);
    }
    let mut answer = trial.post_now(Who::First, body.clone()).await?;
    if answer.status == 429 {
        let clock = trial.clock.clone();
        clock.sleep_until(answer.answered_at + answer.wait().unwrap_or(WAIT_UNSAID)).await;
        if trial.evidence.burst.refused.is_none() {
            trial.evidence.burst.refused = Some(answer);
            answer = trial.post_now(Who::First, body.clone()).await?;
            trial.evidence.burst.after_wait = Some(answer.status);
        }
        if answer.status == 429 {
            answer = trial.post(Who::First, body).await?;
        }
    }
    trial.evidence.burst.posts.push(Sent { purpose, text, nonce, answer });
    Ok(())
}

/// Lets a second account post, once with the nonce that the first account has used.
pub(crate) async fn by_second(trial: &mut Trial) -> Result<(), Trouble> {
    if !trial.has_second() {
        return Ok(());
    }
    let body = silent_post(&trial.text("the second account"), &trial.nonce(20));
    let posted = trial.post(Who::Second, body).await?;
    let id = posted.id();
    trial.evidence.by_second = Some(posted);
    trial.evidence.nonce_of_first = Some(nonce_post(trial, Who::Second).await?);
    hear_all(trial, &id.into_iter().collect::<Vec<_>>()).await;
    Ok(())
}

/// Waits until both connections have heard of these messages.
async fn hear_all(trial: &mut Trial, messages: &[u64]) {
    let clock = trial.clock.clone();
    for session in [&mut trial.first_session, &mut trial.second_session].into_iter().flatten() {
        for message in messages {
            let is_there =
                session.wait_for(&*clock, PATIENCE, |event| event.is("MESSAGE_CREATE", *message));
            if !is_there.await {
                // The others came long ago, or will not come either.
                break;
            }
        }
    }
}
