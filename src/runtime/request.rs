//! A request to the chat or the store. The loop polls it as soon as it has begun, and moves it to memory of its own
//! only if it has to wait.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::{Context, Poll};

use dirigent_core::Timestamp;
use futures_util::future::BoxFuture;
use tokio_util::sync::ReusableBoxFuture;

use super::cell::RoomCell;
use super::host_code::no_answer;
use super::room_table::RoomRef;
use super::store_trouble::StoreTrouble;
use crate::ports::store::CommitError;
use crate::record::channel::Revision;
use crate::room::action::{ActionId, Outcome};
use crate::room::attempts::Failure;
use crate::room::refused::is_refusal;
use crate::values::error::{ApiError, ErrorKind};
use crate::{ChannelId, Clock};

pub(super) struct Request<'p> {
    /// Keeps the channel in memory until the outcome is reported.
    pub(super) room: RoomRef,
    pub(super) id: ActionId,
    pub(super) limits: Limits,
    pub(super) clock: &'p dyn Clock,
    /// Learns the outcome of each commit.
    pub(super) trouble: &'p StoreTrouble,
    pub(super) asked: Asked<'p>,
    pub(super) time_out: Option<BoxFuture<'p, ()>>,
}

pub(super) struct Finished {
    pub(super) room: RoomRef,
    pub(super) id: ActionId,
    pub(super) outcome: Outcome,
}

pub(super) enum Asked<'p> {
    /// A commit. Every turn has two, so the store's future is polled as it is.
    Commit(BoxFuture<'p, Result<Revision, CommitError>>),
    /// Any other request. `what` is its name for the log.
    Other { what: &'static str, asked: ReusableBoxFuture<'p, Result<Outcome, ApiError>> },
}

#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub(super) began: Timestamp,
    pub(super) time_out: Option<Timestamp>,
    pub(super) not_after: Option<Timestamp>,
}

impl Request<'_> {
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Outcome> {
        let Self { room, limits, clock, trouble, asked, time_out, .. } = self;
        let ends = Ends { channel: room.id, limits, clock: *clock, trouble };
        // The process may have stood still since the first poll. After this time the next owner may have posted the
        // same part, and the chat may have forgotten the nonce.
        let waits = time_out.is_some();
        if limits.not_after.is_some_and(|limit| waits && clock.now() >= limit) {
            return Poll::Ready(asked.given_up(&ends));
        }
        // The module `host_code` says why this is safe.
        match catch_unwind(AssertUnwindSafe(|| asked.poll(context, room, &ends))) {
            Ok(Poll::Ready(outcome)) => return Poll::Ready(outcome),
            Ok(Poll::Pending) => {}
            Err(payload) => {
                let error = no_answer(asked.what(), &*payload);
                return Poll::Ready(ends.failed(asked.what(), &error));
            }
        }
        let Some(over_at) = limits.time_out else {
            return Poll::Pending;
        };
        let clock = *clock;
        // Made only now, because most requests are over at their first poll and need no timer.
        let time_out = time_out.get_or_insert_with(|| clock.sleep_until(over_at));
        time_out.as_mut().poll(context).map(|()| asked.given_up(&ends))
    }

    pub(super) async fn wait(mut self) -> Finished {
        let outcome = poll_fn(|context| self.poll(context)).await;
        Finished { room: self.room, id: self.id, outcome }
    }
}

/// The memory of a request that is over, for the next one.
pub(super) type Spare<'p> = ReusableBoxFuture<'p, Result<Outcome, ApiError>>;

impl<'p> Asked<'p> {
    pub(super) fn other(
        what: &'static str,
        spare: &mut Option<Spare<'p>>,
        asked: impl Future<Output = Result<Outcome, ApiError>> + Send + 'p,
    ) -> Self {
        let asked = match spare.take() {
            Some(mut spare) => {
                spare.set(asked);
                spare
            }
            None => ReusableBoxFuture::new(asked),
        };
        Self::Other { what, asked }
    }

    fn poll(
        &mut self,
        context: &mut Context<'_>,
        room: &RoomCell,
        ends: &Ends<'_>,
    ) -> Poll<Outcome> {
        match self {
            Self::Commit(asked) => {
                asked.as_mut().poll(context).map(|committed| conclude_commit(committed, room, ends))
            }
            Self::Other { what, asked } => asked
                .poll(context)
                .map(|answer| answer.unwrap_or_else(|error| ends.failed(what, &error))),
        }
    }

    const fn what(&self) -> &'static str {
        match self {
            Self::Commit(_) => STORE,
            Self::Other { what, .. } => what,
        }
    }

    fn given_up(&self, ends: &Ends<'_>) -> Outcome {
        ends.failed(self.what(), &ApiError::new(ErrorKind::NoAnswer))
    }
}

pub(super) const STORE: &str = "the store";

fn conclude_commit(
    committed: Result<Revision, CommitError>,
    room: &RoomCell,
    ends: &Ends<'_>,
) -> Outcome {
    let channel = room.id;
    match committed {
        Ok(revision) => {
            ends.trouble.succeeded(channel, ends.limits.began);
            Outcome::Committed(revision)
        }
        Err(CommitError::Conflict { .. }) => Outcome::Conflict,
        Err(CommitError::Elsewhere) => Outcome::Elsewhere,
        // The record must not be overwritten, which the room treats like another process's.
        Err(CommitError::Barred(barred)) => {
            tracing::error!(%channel, %barred, "the record cannot be replaced");
            Outcome::Conflict
        }
        Err(CommitError::Store(error)) if is_refusal(error.kind()) => {
            // Logged once, and not with each attempt that follows.
            if room.lock().room.look().commit().refused.since().is_none() {
                tracing::error!(
                    %channel,
                    %error,
                    "the store refuses the channel's record as it is: nothing of the channel is stored, and no agent is \
                     called there, until it takes it. It is tried again later and later, and after each command"
                );
            }
            failure(&error, ends.limits)
        }
        Err(CommitError::Store(error)) => ends.failed(STORE, &error),
    }
}

/// Converts the end of a request into an outcome, and logs failures.
struct Ends<'r> {
    channel: ChannelId,
    limits: &'r Limits,
    clock: &'r dyn Clock,
    trouble: &'r StoreTrouble,
}

impl Ends<'_> {
    fn failed(&self, what: &'static str, error: &ApiError) -> Outcome {
        let channel = self.channel;
        // Each channel once warned with each attempt. A fail-over of 400 channels wrote 204 lines.
        if what == STORE {
            self.trouble.failed(channel, error, self.clock.now());
        } else if error.kind() == ErrorKind::RateLimited {
            self.trouble.limited(what, channel, self.clock.now());
        } else {
            tracing::warn!(%channel, %error, "a request failed: {what}");
        }
        failure(error, self.limits)
    }
}

fn failure(error: &ApiError, limits: &Limits) -> Outcome {
    Outcome::Failed(Failure {
        kind: error.kind(),
        code: error.post_failure().code,
        certainty: error.certainty(),
        retry_after: error.retry_after(),
        began: limits.began,
    })
}
