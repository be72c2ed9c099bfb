//! An outbox with what is stored of it, driven request by request.

use std::sync::Arc;

use super::*;
use crate::record::channel::Revision;
use crate::room::commit::buffers::BufferPool;
use crate::values::message::Nonce;

/// What is asked of the chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OutboxAction {
    NewestIn { to: ChannelId },
    FindPage { to: ChannelId, after: MessageId },
    Post { to: ChannelId, part: usize, nonce: Nonce, content: Arc<str>, not_after: Timestamp },
    WakeRoom { to: ChannelId },
}

pub(super) struct Bench {
    pub(super) outbox: Outbox,
    pub(super) commit: CommitState,
    revision: Revision,
}

impl Bench {
    pub(super) fn new(outbox: Outbox) -> Self {
        let commit = CommitState::new(Revision::default(), 0, 7);
        Self { outbox, commit, revision: Revision::default() }
    }

    pub(super) fn restore(now: Timestamp, messages: Vec<OutboxMessage>) -> Self {
        Self::new(Outbox::restore(now, messages))
    }

    pub(super) fn write(&mut self, message: OutboxMessage) {
        self.outbox.write(&mut self.commit, message);
    }

    pub(super) fn messages(&self) -> Vec<OutboxMessage> {
        self.outbox.messages().cloned().collect()
    }

    /// A commit of the state as it is now is under way.
    pub(super) fn begin_commit(&mut self, now: Timestamp) {
        if let Some(terms) = self.commit.begin(now, 0, &mut BufferPool::default()) {
            self.commit.sent(terms.durability, terms.buffers);
        }
    }

    pub(super) fn committed(&mut self) {
        self.revision = self.revision.next();
        self.commit.committed(self.revision);
    }

    /// What changed is stored now.
    pub(super) fn store(&mut self, now: Timestamp) {
        self.begin_commit(now);
        self.committed();
    }

    /// Whether a request waits for a commit.
    pub(super) fn needs_commit(&self) -> bool {
        self.outbox.posts.iter().any(|post| !self.commit.is_committed(post.needs))
    }

    pub(super) fn is_changed(&self) -> bool {
        !self.commit.is_clean()
    }

    /// The next request that may start now. It counts as under way.
    pub(super) fn next(&mut self, now: Timestamp) -> Option<(OutboxKind, OutboxAction)> {
        for post in &mut self.outbox.posts {
            let (kind, to) = (post.message.kind, post.message.to);
            let action = match post.next(now, &mut self.commit) {
                None => continue,
                Some(Request::Wake) => OutboxAction::WakeRoom { to },
                Some(Request::Chat(Todo::Read { after: None, .. })) => {
                    OutboxAction::NewestIn { to }
                }
                Some(Request::Chat(Todo::Read { after: Some(after), .. })) => {
                    OutboxAction::FindPage { to, after }
                }
                Some(Request::Chat(Todo::Post { not_after })) => {
                    let parts = &post.message.parts;
                    let part = parts.iter().position(|part| part.posted.is_none()).unwrap();
                    let (nonce, content) = (parts[part].nonce, Arc::clone(&parts[part].content));
                    OutboxAction::Post { to, part, nonce, content, not_after }
                }
            };
            post.progress = OutboxProgress::UnderWay;
            return Some((kind, action));
        }
        None
    }

    /// The request was not admitted.
    pub(super) fn waits(&mut self, kind: OutboxKind, wait: Wait) {
        let post = self.outbox.posts.iter_mut().find(|post| post.message.kind == kind).unwrap();
        post.progress = OutboxProgress::Ready;
        post.waits(wait);
    }

    pub(super) fn done(&mut self, now: Timestamp, kind: OutboxKind, outcome: Outcome) {
        self.told(now, kind, outcome, Some(MODERATOR), &FACTS);
    }

    pub(super) fn told(
        &mut self,
        now: Timestamp,
        kind: OutboxKind,
        outcome: Outcome,
        moderator: Option<UserId>,
        facts: &ChannelFacts,
    ) {
        let mut posts = self.outbox.posts.iter_mut();
        if let Some(post) = posts.find(|post| post.message.kind == kind) {
            let change = post.done(now, outcome, moderator, facts);
            post.note(&mut self.commit, change);
        }
    }

    pub(super) fn take_arrived(&mut self) -> Option<OutboxKind> {
        self.outbox.take_arrived(&mut self.commit)
    }
}
