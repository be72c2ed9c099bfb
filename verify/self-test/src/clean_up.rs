//! Removes what a self-test has made: its messages, and its slash command.

use http::Method;
use serde_json::{Value, json};

use super::account::{Answer, Request, id_in};
use super::budget::Ticket;
use super::trial::{Posted, Registered, Trial, Who};

impl Trial {
    /// Removes everything, and returns in words what is left.
    pub(crate) async fn clean_up(&mut self) -> Vec<String> {
        self.delete_posts(|_| true).await;
        self.remove_command().await;
        self.delete_unknown_posts().await;
        self.unremoved()
    }

    /// What was made and is not removed yet, in words.
    pub(crate) fn unremoved(&self) -> Vec<String> {
        let messages = self.posted.iter().map(|posted| format!("message {}", posted.message));
        let command =
            self.command.iter().map(|_| "the slash command dirigent-self-test".to_owned());
        messages.chain(command).collect()
    }

    /// Deletes those messages that are meant. What is not deleted stays in the list.
    pub(crate) async fn delete_posts(&mut self, is_meant: impl Fn(u64) -> bool + Send) {
        let meant = self.posted.iter().filter(|posted| is_meant(posted.message));
        let meant: Vec<_> = meant.map(|posted| (posted.who, posted.message)).collect();
        for (who, message) in meant {
            let known = self.posted.iter_mut().find(|posted| posted.message == message);
            let own = known.and_then(|posted| posted.ticket.take());
            let Some(ticket) = own.or_else(|| self.reserved_ticket()) else { return };
            let request = self.about(Method::DELETE, "a deletion", message);
            if self.remove(who, ticket, &request).await {
                self.posted.retain(|posted| posted.message != message);
            }
        }
    }

    /// Sends a request that removes something, once more if it is refused for the limits; returns whether that is gone.
    async fn remove(&mut self, who: Who, ticket: Ticket, request: &Request) -> bool {
        let mut ticket = Some(ticket);
        while let Some(taken) = ticket.take() {
            let Ok(account) = self.account(who) else { return false };
            match account.send(taken, request).await {
                Ok(Answer { status: 429, .. }) => ticket = self.reserved_ticket(),
                Ok(answer) => return answer.is_success() || answer.status == 404,
                Err(_) => return false,
            }
        }
        false
    }

    fn reserved_ticket(&mut self) -> Option<Ticket> {
        self.reserve.pop().or_else(|| self.budget.take().ok())
    }

    /// Removes the slash command.
    async fn remove_command(&mut self) {
        let Some(command) = self.command else { return };
        let Some(ticket) = self.reserved_ticket() else { return };
        let request = match command {
            Registered::Beside(id) => self.commands(Method::DELETE, &format!("/{id}")),
            Registered::Alone => self.commands(Method::PUT, "").body(json!([])),
        };
        if self.remove(Who::First, ticket, &request).await {
            self.command = None;
        }
    }

    /// A request about the application's commands in the guild.
    pub(crate) fn commands(&self, method: Method, below: &str) -> Request {
        let application = self.evidence.application.as_ref().and_then(Answer::id);
        let (application, guild) =
            (application.unwrap_or(self.evidence.first), self.evidence.guild);
        let path = format!("applications/{application}/guilds/{guild}/commands{below}");
        Request::new(method, "the slash commands", path)
    }

    /// Looks at the channel for messages of this self-test that no answer told of, and deletes them.
    async fn delete_unknown_posts(&mut self) {
        if !self.has_posted {
            return;
        }
        let Some(ticket) = self.reserved_ticket() else { return };
        let (channel, after) = (self.evidence.channel, self.newest_before);
        let path = format!("channels/{channel}/messages?limit=100&after={after}");
        let request = Request::new(Method::GET, "the history", path);
        let Ok(account) = self.account(Who::First) else { return };
        let Ok(page) = account.send(ticket, &request).await else { return };
        let found: Vec<_> = page.list().iter().filter_map(|message| self.own(message)).collect();
        for (who, message) in found {
            if self.posted.iter().all(|known| known.message != message) {
                self.posted.push(Posted { who, message, ticket: None });
            }
        }
        self.delete_posts(|_| true).await;
    }

    /// Whether this self-test has written the message, and with which account.
    fn own(&self, message: &Value) -> Option<(Who, u64)> {
        let author = message.get("author").and_then(id_in)?;
        let who = if author == self.evidence.first {
            Who::First
        } else if Some(author) == self.evidence.second {
            Who::Second
        } else {
            return None;
        };
        let text = message.get("content")?.as_str()?;
        // Without its intent an account does not see the text of another.
        let is_ours = text.contains(&self.mark()) || (who == Who::Second && text.is_empty());
        id_in(message).filter(|_| is_ours).map(|id| (who, id))
    }
}
