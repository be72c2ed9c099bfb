//! What happens to messages: they are changed, deleted, answered; and typing.

use http::Method;
use serde_json::json;

use crate::account::{Answer, Request, id_in};
use crate::evidence::{Deletion, Edit, Purpose};
use crate::session::{Event, PATIENCE};
use crate::trial::{Trial, Who, silent_post};
use crate::trouble::Trouble;

/// Changes the text of a message.
pub(crate) async fn edit(trial: &mut Trial) -> Result<(), Trouble> {
    let Some(message) = plain(trial, 0) else { return Ok(()) };
    let text = trial.text("a changed text");
    let body = json!({ "content": text, "allowed_mentions": { "parse": [] } });
    let request = trial.about(Method::PATCH, "a change", message).body(body);
    let answer = trial.ask(Who::First, request).await?;
    trial.evidence.edit = Some(Edit { message, text, answer });
    hear(trial, |event| event.is("MESSAGE_UPDATE", message)).await;
    Ok(())
}

/// Deletes a message twice and answers it; and lets the second account delete another one.
pub(crate) async fn delete(trial: &mut Trial) -> Result<(), Trouble> {
    if let Some(message) = plain(trial, 1) {
        let request = trial.about(Method::DELETE, "a deletion", message);
        let first = trial.ask(Who::First, request.clone()).await?;
        let is_gone = first.is_success();
        let deletion = Deletion { message, first, again: None, reply: None };
        let deletion = trial.evidence.deletion.insert(deletion);
        if is_gone {
            hear(trial, |event| event.is("MESSAGE_DELETE", message)).await;
            let again = trial.ask(Who::First, request).await?;
            let reply = answer_to(trial, message).await?;
            if let Some(deletion) = &mut trial.evidence.deletion {
                (deletion.again, deletion.reply) = (Some(again), Some(reply));
            }
        } else {
            deletion.again = None;
        }
    }
    let silent = trial.evidence.posted(Purpose::Silent).and_then(|sent| sent.answer.id());
    if let (Some(message), true) = (silent, trial.has_second()) {
        let request = trial.about(Method::DELETE, "a deletion by another", message);
        trial.evidence.foreign_deletion = Some(trial.ask(Who::Second, request).await?);
    }
    Ok(())
}

/// Answers a message that is gone.
async fn answer_to(trial: &mut Trial, message: u64) -> Result<Answer, Trouble> {
    let mut body = silent_post(&trial.text("an answer"), &trial.nonce(22));
    if let Some(fields) = body.as_object_mut() {
        let reference = json!({ "message_id": message.to_string(), "fail_if_not_exists": false });
        fields.insert("message_reference".to_owned(), reference);
    }
    trial.post(Who::First, body).await
}

/// Shows that the first account types.
pub(crate) async fn type_a_while(trial: &mut Trial) -> Result<(), Trouble> {
    let path = format!("channels/{}/typing", trial.evidence.channel);
    let answer = trial.ask(Who::First, Request::new(Method::POST, "typing", path)).await?;
    trial.evidence.typing = Some(answer);
    let first = trial.evidence.first;
    let clock = trial.clock.clone();
    if let Some(session) = &mut trial.second_session {
        session.wait_for(&*clock, PATIENCE, |event| event.is_typing(first)).await;
    }
    Ok(())
}

/// One of the plain messages of the burst.
fn plain(trial: &Trial, number: usize) -> Option<u64> {
    let posts = trial.evidence.burst.posts.iter();
    let plain = posts.filter(|it| it.purpose == Purpose::Plain && it.answer.is_success());
    plain.filter_map(|sent| id_in(&sent.answer.body)).nth(number)
}

/// Waits until the first account's connection has heard of it.
async fn hear(trial: &mut Trial, is_wanted: impl Fn(&Event) -> bool + Send) {
    let clock = trial.clock.clone();
    if let Some(session) = &mut trial.first_session {
        session.wait_for(&*clock, PATIENCE, is_wanted).await;
    }
}
