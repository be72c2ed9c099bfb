//! The body of an answer, with a limit on how long each of its pieces may take.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
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
    TooSlow,
    TooLong,
}

impl BodyError {
    /// What is late at `until`, where all of it must have come until `end`.
    pub(crate) fn late(has_begun: bool, until: Timestamp, end: Timestamp) -> Self {
        match has_begun {
            _ if until >= end => Self::TooSlow,
            true => Self::Stalled,
            false => Self::NoFirstByte,
        }
    }
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
    /// Until when the last piece must come.
    end: Timestamp,
    left: usize,
    event: EventBytes,
    /// What was read to see how it begins.
    beginning: Option<Bytes>,
}

/// How many bytes the event that comes may still have: one that never ends would be kept until memory is full.
#[derive(Clone)]
pub(crate) struct EventBytes {
    left: Arc<AtomicUsize>,
    most: usize,
}

/// Any number.
impl Default for EventBytes {
    fn default() -> Self {
        Self::new(usize::MAX)
    }
}

impl EventBytes {
    fn new(most: usize) -> Self {
        Self { left: Arc::new(AtomicUsize::new(most)), most }
    }

    /// An event has come; the next one may be as long again.
    pub(crate) fn renew(&self) {
        self.left.store(self.most, Ordering::Relaxed);
    }

    /// Counts a piece. Returns whether it may still come.
    fn take(&self, bytes: usize) -> bool {
        let left = self.left.load(Ordering::Relaxed).checked_sub(bytes);
        self.left.store(left.unwrap_or_default(), Ordering::Relaxed);
        left.is_some()
    }
}

impl<'a> PacedBody<'a> {
    /// `until` is not after `end`.
    pub(crate) fn new<E: 'a>(
        pieces: impl Stream<Item = Result<Bytes, E>> + Send + 'a,
        clock: &'a Arc<dyn Clock>,
        (until, end): (Timestamp, Timestamp),
        between: Duration,
    ) -> Self {
        let pieces = pieces.map(|piece| piece.map_err(|_| BodyError::Broken)).boxed();
        Self {
            pieces,
            clock,
            wait: None,
            until,
            has_begun: false,
            is_waiting: false,
            between,
            end,
            left: usize::MAX,
            event: EventBytes::default(),
            beginning: None,
        }
    }

    /// The same, with at most `most` bytes, and `event` bytes an event.
    pub(crate) fn bounded(mut self, most: usize, event: usize) -> (Self, EventBytes) {
        (self.left, self.event) = (most, EventBytes::new(event));
        let event = self.event.clone();
        (self, event)
    }

    /// Reads all of it, at most `most` bytes. With an error before its end, what came before that is returned, too.
    pub(crate) async fn read_all(&mut self, most: usize) -> (Vec<u8>, Result<(), BodyError>) {
        self.left = most;
        let mut all = Vec::new();
        while let Some(piece) = self.next().await {
            match piece {
                Ok(piece) => all.extend(piece),
                Err(error) => return (all, Err(error)),
            }
        }
        (all, Ok(()))
    }

    /// Whether it begins as JSON does, after white space and a mark of the byte order. All of it is still there to be read.
    pub(crate) async fn begins_as_json(&mut self) -> Result<bool, BodyError> {
        let mut beginning = Vec::new();
        loop {
            let words =
                beginning.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&beginning).trim_ascii_start();
            // Not the beginning of the mark alone.
            let first = words.first().filter(|first| **first != 0xef || words.len() > 2).copied();
            let next = match first {
                Some(_) => None,
                None => self.next().await,
            };
            let Some(piece) = next else {
                self.beginning = Some(Bytes::from(beginning));
                return Ok(matches!(first, Some(b'{' | b'[')));
            };
            beginning.extend(piece?);
        }
    }
}

impl Stream for PacedBody<'_> {
    type Item = Result<Bytes, BodyError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let body = &mut *self;
        if let Some(beginning) = body.beginning.take() {
            return Poll::Ready(Some(Ok(beginning)));
        }
        if let Poll::Ready(piece) = body.pieces.poll_next_unpin(context) {
            if let Some(Ok(piece)) = &piece {
                if !body.has_begun {
                    // From now on waits are of another length.
                    (body.has_begun, body.wait) = (true, None);
                }
                body.is_waiting = false;
                match body.left.checked_sub(piece.len()) {
                    Some(left) if body.event.take(piece.len()) => body.left = left,
                    Some(_) | None => return Poll::Ready(Some(Err(BodyError::TooLong))),
                }
            }
            return Poll::Ready(piece);
        }
        // Mostly pieces are there when they are asked for: the time is read only where one is not.
        if !body.is_waiting {
            body.is_waiting = true;
            if body.has_begun {
                body.until = (body.clock.now() + body.between).min(body.end);
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
                let late = BodyError::late(body.has_begun, body.until, body.end);
                return Poll::Ready(Some(Err(late)));
            }
        }
    }
}
