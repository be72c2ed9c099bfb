//! Reads the body of an answer, with a limit on how long each piece may take.

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

/// Why a body ended too early. It shows none of the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyError {
    Broken,
    NoFirstByte,
    Stalled,
    TooSlow,
    TooLong,
}

impl BodyError {
    /// Names the limit that ran out at `until`. The whole body had to arrive by `end`.
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

/// A body with a deadline for its first piece, and a longest pause between later ones.
pub(crate) struct PacedBody<'a> {
    pieces: BoxStream<'a, Result<Bytes, BodyError>>,
    clock: &'a Arc<dyn Clock>,
    /// A timer that ends at `until` or earlier. It is made anew only if it ended too early.
    wait: Option<BoxFuture<'a, ()>>,
    /// The deadline of the next piece.
    until: Timestamp,
    has_begun: bool,
    /// True while it waits for the next piece.
    is_waiting: bool,
    between: Duration,
    /// The deadline of the last piece.
    end: Timestamp,
    left: usize,
    event: EventBytes,
    /// The bytes that were read to see how the body begins.
    beginning: Option<Bytes>,
}

/// The bytes that the current event may still have. Without this limit an event that never ends would fill the memory.
#[derive(Clone)]
pub(crate) struct EventBytes {
    left: Arc<AtomicUsize>,
    most: usize,
}

/// Sets no limit.
impl Default for EventBytes {
    fn default() -> Self {
        Self::new(usize::MAX)
    }
}

impl EventBytes {
    fn new(most: usize) -> Self {
        Self { left: Arc::new(AtomicUsize::new(most)), most }
    }

    /// Starts the count again for the next event.
    pub(crate) fn renew(&self) {
        self.left.store(self.most, Ordering::Relaxed);
    }

    /// Counts a piece. Returns false if it exceeds the limit.
    fn take(&self, bytes: usize) -> bool {
        let left = self.left.load(Ordering::Relaxed).checked_sub(bytes);
        self.left.store(left.unwrap_or_default(), Ordering::Relaxed);
        left.is_some()
    }
}

impl<'a> PacedBody<'a> {
    /// Creates a body. `until` must not be later than `end`.
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

    /// Limits the body to `most` bytes, and each event in it to `event` bytes.
    pub(crate) fn bounded(mut self, most: usize, event: usize) -> (Self, EventBytes) {
        (self.left, self.event) = (most, EventBytes::new(event));
        let event = self.event.clone();
        (self, event)
    }

    /// Reads the whole body, at most `most` bytes. If it ends with an error, you also get the bytes that came before
    /// it.
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

    /// Returns true if the body begins like JSON, after white space and a byte order mark. The bytes that it looks at
    /// can still be read.
    pub(crate) async fn begins_as_json(&mut self) -> Result<bool, BodyError> {
        let mut beginning = Vec::new();
        loop {
            let words =
                beginning.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&beginning).trim_ascii_start();
            // The first byte of the mark alone does not tell yet.
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
                    // From here on the limit between pieces applies, so the old timer is of no use.
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
        // A piece is usually there at once, so the clock is read only if it is not.
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
