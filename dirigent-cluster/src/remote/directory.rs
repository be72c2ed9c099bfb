//! Where agents live, and which calls are under way, as the calling process knows it.

mod state;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dirigent::ports::{ApiError, ErrorKind};
use dirigent::{AgentId, ChatMessage, Turn};
use dirigent_relay::{ANSWER_MAX, Client, HostId};
use tokio::sync::{Notify, oneshot};

use self::state::{GuestBook, LiveCall};
use super::fitting::{newest_of, within_or_one};
use super::rules::{Announce, AnnounceAnswer, CallId, CallMissed, CallTranscript, EndCall, Start};

pub use state::{AgentConflict, GuestStatus};
pub(super) use state::{Ended, News, Presence};

/// Where agents live, and which calls are under way.
pub(super) struct Directory {
    pub(super) client: Client,
    start: Start,
    state: Mutex<GuestBook>,
    /// An agent is to be hosted, or is online or offline.
    pub(super) changed: Notify,
}

impl Directory {
    pub(super) fn new(client: Client) -> Self {
        let now = client.clock().now();
        let (start, state) = (Start::new(now), Mutex::new(GuestBook::new(now)));
        Self { client, start, state, changed: Notify::new() }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, GuestBook> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a call in the process in which the agent lives now; `None` where there is none.
    pub(super) fn open(
        self: &Arc<Self>,
        agent: &AgentId,
        turn: &Turn,
    ) -> Option<(OpenCall, oneshot::Receiver<Ended>)> {
        let mut state = self.state();
        let host = state.host_of(agent)?;
        let (done, ended) = oneshot::channel();
        let number = state.next_call();
        let call = CallId { start: self.start, number };
        state.calls.insert(number, LiveCall::new(host.clone(), turn.clone(), done));
        drop(state);
        Some((OpenCall { directory: Arc::clone(self), call, host }, ended))
    }

    pub(super) fn heard(&self, host: &HostId, announce: Announce) -> AnnounceAnswer {
        let now = self.client.clock().now();
        let mut state = self.state();
        let (answer, is_news) = state.heard(host, announce, self.start, now);
        drop(state);
        if is_news {
            self.changed.notify_one();
        }
        answer
    }

    pub(super) fn end(&self, host: &HostId, end: EndCall) -> bool {
        let EndCall { call, end, taken, cost } = end;
        let mut state = self.state();
        if !state.is_known(host, call, self.start) {
            return false;
        }
        let Some(live) = state.calls.remove(&call.number) else {
            return false;
        };
        drop(state);
        live.end(end, taken, cost);
        true
    }

    pub(super) async fn transcript(
        &self,
        host: &HostId,
        asked: CallTranscript,
    ) -> Result<Vec<Arc<ChatMessage>>, ApiError> {
        let turn = self.turn(host, asked.call);
        let gone = || ApiError::new(ErrorKind::Gone);
        let messages = turn.ok_or_else(gone)?.transcript(asked.limit).await?;
        Ok(newest_of(messages.iter(), ANSWER_MAX / 2))
    }

    pub(super) fn missed(&self, host: &HostId, asked: CallMissed) -> Option<Vec<Arc<ChatMessage>>> {
        let turn = self.turn(host, asked.call)?;
        Some(within_or_one(turn.missed().iter().skip(asked.first), ANSWER_MAX / 2))
    }

    /// The turn of a call that is under way in that process.
    fn turn(&self, host: &HostId, call: CallId) -> Option<Turn> {
        let state = self.state();
        let is_known = state.is_known(host, call, self.start);
        state.calls.get(&call.number).filter(|_| is_known).map(|live| live.turn.clone())
    }
}

/// A call under way. Dropped, it is forgotten: the other process hears of that by the answer to its next announcement.
pub(super) struct OpenCall {
    directory: Arc<Directory>,
    call: CallId,
    host: HostId,
}

impl OpenCall {
    pub(super) const fn call(&self) -> CallId {
        self.call
    }

    /// The process in which it runs.
    pub(super) const fn host(&self) -> &HostId {
        &self.host
    }

    /// The other process took the call: announcements after this one name it.
    pub(super) fn begun(&self, announced: u64) {
        if let Some(live) = self.directory.state().calls.get_mut(&self.call.number) {
            live.begun_at = Some(announced);
        }
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        self.directory.state().calls.remove(&self.call.number);
    }
}
