//! The gateway: sessions begin, and one is taken up again.

use std::sync::Arc;
use std::time::Duration;

use twilight_gateway::queue::InMemoryQueue;
use twilight_gateway::{ConfigBuilder, Intents};

use crate::evidence::{Connection, Resume};
use crate::session::{Event, PATIENCE, Session};
use crate::trial::{Trial, Who, silent_post};
use crate::trouble::Trouble;

/// How long a session may take to begin.
const CONNECT_PATIENCE: Duration = Duration::from_secs(15);

/// What both accounts listen to.
const INTENTS: Intents =
    Intents::GUILDS.union(Intents::GUILD_MESSAGES).union(Intents::GUILD_MESSAGE_TYPING);

/// Connects both accounts; the first asks for the Message Content Intent, too.
pub(crate) async fn connect(trial: &mut Trial) -> Result<(), Trouble> {
    let token = trial.settings.first.as_str().to_owned();
    let (session, has_begun) = open(trial, &token, INTENTS | Intents::MESSAGE_CONTENT).await;
    let closed = session.closed;
    let mut session = (session, has_begun);
    if closed.is_some() {
        session = open(trial, &token, INTENTS).await;
    }
    trial.evidence.connection =
        Some(Connection { closed, has_content: closed.is_none() && session.1 });
    trial.first_session = Some(session.0);
    if !session.1 {
        return Err(Trouble::NoSession);
    }
    let second = trial.settings.second.as_ref().filter(|_| trial.has_second());
    if let Some(token) = second.map(|token| token.as_str().to_owned()) {
        trial.second_session = Some(open(trial, &token, INTENTS).await.0);
    }
    Ok(())
}

/// Opens a session; says whether it begins and shows the guild.
async fn open(trial: &Trial, token: &str, intents: Intents) -> (Session, bool) {
    let mut config = ConfigBuilder::new(token.to_owned(), intents);
    if let Some(address) = &trial.settings.gateway {
        // The loopback Discord has no limit for simultaneous connections.
        let at_once = InMemoryQueue::new(0, 1_000, Duration::from_secs(86_400), 1_000);
        config = config.proxy_url(address.clone()).queue(at_once);
    }
    let mut session = Session::open(config.build(), Arc::clone(&trial.clock));
    let guild = trial.evidence.guild;
    let is_there = |event: &Event| event.is("GUILD_CREATE", guild);
    let has_begun = session.wait_for(&*trial.clock, CONNECT_PATIENCE, is_there).await;
    (session, has_begun)
}

/// Closes the first account's connection, posts meanwhile, and takes the session up again.
pub(crate) async fn resume(trial: &mut Trial) -> Result<(), Trouble> {
    let clock = trial.clock.clone();
    let Some(mut session) = trial.first_session.take() else { return Ok(()) };
    let come_back = session.leave(&*clock).await;
    session.catch_up();
    let before = session.events.len();
    let body = silent_post(&trial.text("while the gateway is away"), &trial.nonce(21));
    let who = if trial.has_second() { Who::Second } else { Who::First };
    let missed = trial.post(who, body).await;
    drop(come_back);
    let is_over = |name: &str| matches!(name, "RESUMED" | "READY");
    let deadline = CONNECT_PATIENCE;
    session.wait_for_new(&*clock, deadline, before, |event| is_over(&event.name)).await;
    let missed = missed?.id();
    if let Some(missed) = missed {
        // A session that began anew may still be shown it.
        session.wait_for(&*clock, PATIENCE, |event| event.is("MESSAGE_CREATE", missed)).await;
    }
    let events = session.events.iter().skip(before).cloned().collect();
    trial.evidence.resume = Some(Resume { missed, events });
    trial.first_session = Some(session);
    Ok(())
}
