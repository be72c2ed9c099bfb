//! The body of an answer, with a limit on how long each of its pieces may take.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use dirigent::Clock;
use dirigent::ports::Timestamp;
use futures_util::Stream;
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;

/// Why a body ended before its end. Says nothing of what is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyError {
    Broken,
    NoFirstByte,
    Stalled,
    TooLong,
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the body ended before its end")
    }
}

impl std::error::Error for BodyError {}

/// A body whose first piece must come until a moment, and each other within a time.
pub(crate) struct PacedBody<'a> {
    pieces: BoxStream<'a, Result<Bytes, BodyError>>,
    clock: &'a Arc<dyn Clock>,
    /// A wait that ends at `until` or before: it is made once, and made anew only when it has ended too early.
    wait: Option<BoxFuture<'a, ()>>,
    /// Until when the next piece must come.
    until: Timestamp,
    has_begun: bool,
    /// Whether the next piece was asked for and has not come.
    is_waiting: bool,
    between: Duration,
    left: usize,
}

impl<'a> PacedBody<'a> {
    pub(crate) fn new<E: 'a>(
        pieces: impl Stream<Item = Result<Bytes, E>> + Send + 'a,
        clock: &'a Arc<dyn Clock>,
        until: Timestamp,
        between: Duration,
    ) -> Self {
        let pieces = pieces.map(|piece| piece.map_err(|_| BodyError::Broken)).boxed();
        let (has_begun, is_waiting) = (false, false);
        Self { pieces, clock, wait: None, until, has_begun, is_waiting, between, left: usize::MAX }
    }

    /// The same, with at most `most` bytes.
    pub(crate) fn bounded(mut self, most: usize) -> Self {
        self.left = most;
        self
    }

    /// Reads all of it, at most `most` bytes.
    pub(crate) async fn read_all(&mut self, most: usize) -> Result<Vec<u8>, BodyError> {
        self.left = most;
        let mut all = Vec::new();
        while let Some(piece) = self.next().await {
            all.extend(piece?);
        }
        Ok(all)
    }
}

impl Stream for PacedBody<'_> {
    type Item = Result<Bytes, BodyError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let body = &mut *self;
        if let Poll::Ready(piece) = body.pieces.poll_next_unpin(context) {
            if let Some(Ok(piece)) = &piece {
                if !body.has_begun {
                    // From now on waits are of another length.
                    (body.has_begun, body.wait) = (true, None);
                }
                body.is_waiting = false;
                match body.left.checked_sub(piece.len()) {
                    Some(left) => body.left = left,
                    None => return Poll::Ready(Some(Err(BodyError::TooLong))),
                }
            }
            return Poll::Ready(piece);
        }
        // Mostly pieces are there when they are asked for: the time is read only where one is not.
        if !body.is_waiting {
            body.is_waiting = true;
            if body.has_begun {
                body.until = body.clock.now() + body.between;
            }
        }
        loop {
            let until = body.until;
            let wait = body.wait.get_or_insert_with(|| body.clock.sleep_until(until));
            if wait.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            body.wait = None;
            if body.clock.now() >= body.until {
                let late = if body.has_begun { BodyError::Stalled } else { BodyError::NoFirstByte };
                return Poll::Ready(Some(Err(late)));
            }
        }
    }
}
