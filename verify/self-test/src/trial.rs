//! One self-test under way: its accounts, its connections, and what it has to delete.

use std::sync::Arc;

use dirigent::Clock;
use dirigent::ports::Timestamp;
use serde_json::{Value, json};

use super::account::{Account, Answer, Request, connections};
use super::budget::{Budget, Ticket};
use super::evidence::Evidence;
use super::session::Session;
use super::settings::Settings;
use super::trouble::Trouble;

/// How often a request is sent again that was refused with 429.
const AGAIN_MAX: u32 = 2;

/// How many requests are reserved for the end: a look at the channel, the slash command, and what fails once.
const RESERVE: u32 = 5;

/// One of the two accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    First,
    Second,
}

/// A message that is to be deleted, with the right to the request that deletes it, until that is sent.
pub(crate) struct Posted {
    pub(crate) who: Who,
    pub(crate) message: u64,
    pub(crate) ticket: Option<Ticket>,
}

/// How the slash command was registered, and so how it is removed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Registered {
    /// With a replacement of all commands, of which there were none.
    Alone,
    /// Beside others, with this id.
    Beside(u64),
}

/// One self-test under way.
pub(crate) struct Trial {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) settings: Settings,
    pub(crate) budget: Budget,
    first: Account,
    second: Option<Account>,
    pub(crate) first_session: Option<Session>,
    pub(crate) second_session: Option<Session>,
    pub(crate) evidence: Evidence,
    pub(crate) started: Timestamp,
    /// The newest message of the channel before the first post.
    pub(crate) newest_before: u64,
    /// Whether a post was sent.
    pub(crate) has_posted: bool,
    pub(crate) posted: Vec<Posted>,
    /// The rights to the requests at the end.
    pub(crate) reserve: Vec<Ticket>,
    /// The slash command that is to be removed.
    pub(crate) command: Option<Registered>,
}

impl Trial {
    pub(crate) fn begin(settings: Settings, clock: Arc<dyn Clock>) -> Result<Self, Trouble> {
        let address = settings.address.as_deref();
        let connections = connections(address)?;
        let account =
            |token: &str| Account::new(token, (connections.clone(), address), Arc::clone(&clock));
        let first = account(settings.first.as_str())?;
        let second = settings.second.as_ref().map(|token| account(token.as_str())).transpose()?;
        let mut budget = Budget::new();
        let reserve = (0..RESERVE).map(|_| budget.take()).collect::<Result<_, _>>()?;
        let evidence = Evidence { channel: settings.channel, ..Evidence::default() };
        Ok(Self {
            started: clock.now(),
            clock,
            settings,
            budget,
            first,
            second,
            first_session: None,
            second_session: None,
            evidence,
            newest_before: 0,
            has_posted: false,
            posted: Vec::new(),
            reserve,
            command: None,
        })
    }

    /// How many requests were sent.
    pub(crate) fn requests(&self) -> u32 {
        let unused = self.posted.iter().filter(|posted| posted.ticket.is_some());
        let unused = self.reserve.len() + unused.count();
        self.budget.used().saturating_sub(u32::try_from(unused).unwrap_or(0))
    }

    pub(crate) fn account(&mut self, who: Who) -> Result<&mut Account, Trouble> {
        match who {
            Who::First => Ok(&mut self.first),
            Who::Second => self.second.as_mut().ok_or(Trouble::NoToken),
        }
    }

    pub(crate) const fn has_second(&self) -> bool {
        self.second.is_some()
    }

    /// Goes on without the second account.
    pub(crate) fn forget_second(&mut self) {
        self.second = None;
    }

    /// Sends a request, again after the wait that a 429 asks for.
    pub(crate) async fn ask(&mut self, who: Who, request: Request) -> Result<Answer, Trouble> {
        let mut again = 0;
        loop {
            let ticket = self.budget.take()?;
            let answer = self.account(who)?.send(ticket, &request).await?;
            if answer.status != 429 || again == AGAIN_MAX {
                return Ok(answer);
            }
            again += 1;
        }
    }

    /// Posts, with the right to delete what is posted.
    pub(crate) async fn post(&mut self, who: Who, body: Value) -> Result<Answer, Trouble> {
        let ticket = self.budget.take()?;
        self.has_posted = true;
        let posted = self.ask(who, self.new_message(body)).await;
        self.note(who, posted, ticket)
    }

    /// Posts at once, whatever the limits are, and not again.
    pub(crate) async fn post_now(&mut self, who: Who, body: Value) -> Result<Answer, Trouble> {
        let (to_delete, ticket) = (self.budget.take()?, self.budget.take()?);
        let request = self.new_message(body);
        let posted = self.account(who)?.send_now(ticket, &request).await;
        self.note(who, posted, to_delete)
    }

    /// Notes what is to be deleted.
    fn note(
        &mut self,
        who: Who,
        posted: Result<Answer, Trouble>,
        ticket: Ticket,
    ) -> Result<Answer, Trouble> {
        let message = posted.as_ref().ok().filter(|answer| answer.is_success());
        match (message.and_then(Answer::id), &posted) {
            (Some(message), _) if self.posted.iter().any(|known| known.message == message) => {
                self.budget.give_back(ticket);
            }
            (Some(message), _) => {
                self.posted.push(Posted { who, message, ticket: Some(ticket) });
            }
            // It may have been posted all the same: the look at the channel finds it.
            (None, Err(_)) => self.reserve.push(ticket),
            (None, Ok(_)) => self.budget.give_back(ticket),
        }
        posted
    }

    fn new_message(&self, body: Value) -> Request {
        let path = format!("channels/{}/messages", self.evidence.channel);
        Request::new(http::Method::POST, "a post", path).body(body)
    }

    /// The channel's newest messages, or those that the query asks for.
    pub(crate) async fn history(&mut self, query: &str) -> Result<Answer, Trouble> {
        let path = format!("channels/{}/messages?{query}", self.evidence.channel);
        self.ask(Who::First, Request::new(http::Method::GET, "the history", path)).await
    }

    /// A request about a message.
    pub(crate) fn about(&self, method: http::Method, route: &'static str, message: u64) -> Request {
        let path = format!("channels/{}/messages/{message}", self.evidence.channel);
        Request::new(method, route, path)
    }

    /// The text of a message of this self-test.
    pub(crate) fn text(&self, what: &str) -> String {
        format!("{}: {what}", self.mark())
    }

    /// What the messages of this self-test begin with.
    pub(crate) fn mark(&self) -> String {
        format!("Dirigent self-test {}", self.started.as_millis())
    }

    /// A nonce of 25 characters, as many as there may be.
    pub(crate) fn nonce(&self, number: usize) -> String {
        format!("selftest-{:013}-{number:02}", self.started.as_millis() % 10_000_000_000_000)
    }

    /// Takes in what the connections were sent.
    pub(crate) fn catch_up(&mut self) {
        let sessions = [
            (&mut self.first_session, &mut self.evidence.first_events),
            (&mut self.second_session, &mut self.evidence.second_events),
        ];
        for (session, events) in sessions {
            if let Some(session) = session {
                session.catch_up();
                events.clone_from(&session.events);
            }
        }
    }
}

/// The body of a post that pings no account.
pub(crate) fn silent_post(text: &str, nonce: &str) -> Value {
    json!({
        "content": text, "nonce": nonce, "enforce_nonce": true, "allowed_mentions": { "parse": [] },
    })
}
