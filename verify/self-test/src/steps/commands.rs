//! A slash command that a person uses.

use std::time::Duration;

use http::Method;
use serde_json::{Value, json};

use crate::account::{Answer, Request};
use crate::session::Event;
use crate::trial::{Registered, Trial, Who};
use crate::trouble::Trouble;

/// The command's name.
const NAME: &str = "dirigent-self-test";

/// The time of the self-test until which a person may use the command.
const USED_UNTIL: Duration = Duration::from_secs(95);

/// The command as it is registered.
fn definition() -> Value {
    json!({
        "name": NAME,
        "type": 1,
        "description": "Answers the self-test that is under way",
        "options": [{ "type": 3, "name": "word", "description": "Any word", "required": false }],
    })
}

/// Waits for a person who uses the command, and answers twice.
pub(crate) async fn answer(trial: &mut Trial) -> Result<(), Trouble> {
    let used_until = trial.started + USED_UNTIL;
    let clock = trial.clock.clone();
    let Some(session) = &mut trial.first_session else { return Ok(()) };
    let patience = used_until.since(clock.now());
    session.wait_for(&*clock, patience, is_use).await;
    let Some(used) = session.events.iter().find(|event| is_use(event)).cloned() else {
        return Ok(());
    };
    let answer = callback(&used);
    trial.evidence.command.used = Some(used);
    if let Some(answer) = answer {
        let answered = trial.ask(Who::First, answer.clone()).await?;
        trial.evidence.command.answered = Some(answered);
        let again = trial.ask(Who::First, answer).await?;
        trial.evidence.command.answered_again = Some(again);
    }
    Ok(())
}

/// Deletes all messages but the first, since later there is no time for that, and registers a command.
pub(crate) async fn register(trial: &mut Trial) -> Result<(), Trouble> {
    let first = trial.evidence.nonce.first.as_ref().and_then(Answer::id);
    trial.delete_posts(|message| Some(message) != first).await;
    let before = trial.ask(Who::First, trial.commands(Method::GET, "")).await?;
    let is_empty = before.is_success() && before.list().is_empty();
    trial.evidence.command.before = Some(before);
    if is_empty {
        trial.command = Some(Registered::Alone);
        let command = definition();
        let all = trial.commands(Method::PUT, "").body(json!([command]));
        trial.evidence.command.sent = Some(command);
        trial.evidence.command.written = Some(trial.ask(Who::First, all).await?);
        let read_back = trial.ask(Who::First, trial.commands(Method::GET, "")).await?;
        trial.evidence.command.read_back = Some(read_back);
    } else {
        // Replacing all commands would remove those of the bot.
        let one = trial.commands(Method::POST, "").body(definition());
        let added = trial.ask(Who::First, one).await?;
        trial.command = added.id().filter(|_| added.is_success()).map(Registered::Beside);
    }
    Ok(())
}

fn is_use(event: &Event) -> bool {
    let name = event.data.pointer("/data/name").and_then(Value::as_str);
    event.name == "INTERACTION_CREATE" && name == Some(NAME)
}

/// The answer to a use of the command, which only that person sees. It needs no token of a bot.
fn callback(used: &Event) -> Option<Request> {
    let text = |name: &str| used.data.get(name).and_then(Value::as_str);
    let path = format!("interactions/{}/{}/callback", text("id")?, text("token")?);
    let data = json!({ "content": "The self-test has heard it.", "flags": 1 << 6 });
    let body = json!({ "type": 4, "data": data });
    Some(Request::new(Method::POST, "an answer to a command", path).body(body).without_token())
}

#[cfg(test)]
mod tests {
    use dirigent_testkit::ManualClock;

    use super::*;

    #[test]
    fn a_command_is_answered_without_the_bots_token() {
        let data = json!({ "id": "1", "token": "t", "data": { "name": NAME } });
        let at = ManualClock::START;
        let used = Event { name: "INTERACTION_CREATE".to_owned(), data, at };
        assert!(is_use(&used));
        assert!(!callback(&used).unwrap().has_token());
    }
}
