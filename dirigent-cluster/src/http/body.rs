//! Bodies of requests and responses, read and written within limits.

use std::future::poll_fn;

use bytes::Bytes;
use h2::{RecvStream, SendStream};
use tokio::sync::{Semaphore, SemaphorePermit};

/// A body as it was read, with its share of what may be in memory at once.
pub(super) struct Body<'a> {
    pub(super) bytes: Vec<u8>,
    _share: Option<SemaphorePermit<'a>>,
}

/// Why a body was not read.
#[derive(Debug)]
pub(super) enum ReadError {
    /// It has more bytes than it may.
    TooLarge,
    /// All bodies together have more bytes than they may.
    NoRoom,
    /// It ended early.
    Broken(h2::Error),
}

/// Reads a body of at most `max` bytes; each byte counts towards the budget while it is in memory.
pub(super) async fn read<'a>(
    stream: &mut RecvStream,
    max: usize,
    budget: Option<&'a Semaphore>,
) -> Result<Body<'a>, ReadError> {
    let (mut bytes, mut share) = (Vec::new(), None);
    while let Some(piece) = poll_fn(|context| stream.poll_data(context)).await {
        let piece = piece.map_err(ReadError::Broken)?;
        if bytes.len() + piece.len() > max {
            return Err(ReadError::TooLarge);
        }
        if let Some(budget) = budget {
            let more = u32::try_from(piece.len()).map_err(|_| ReadError::TooLarge)?;
            let more = budget.try_acquire_many(more).map_err(|_| ReadError::NoRoom)?;
            match &mut share {
                None => share = Some(more),
                Some(share) => share.merge(more),
            }
        }
        bytes.extend_from_slice(&piece);
        stream.flow_control().release_capacity(piece.len()).map_err(ReadError::Broken)?;
    }
    Ok(Body { bytes, _share: share })
}

/// Writes a whole body, as fast as the other end takes it.
pub(super) async fn write(
    stream: &mut SendStream<Bytes>,
    mut body: Bytes,
) -> Result<(), h2::Error> {
    while !body.is_empty() {
        stream.reserve_capacity(body.len());
        // No more capacity ever: the other end has reset the stream.
        let capacity = poll_fn(|context| stream.poll_capacity(context)).await;
        let capacity = capacity.unwrap_or_else(|| Err(h2::Reason::CANCEL.into()))?;
        let piece = body.split_to(capacity.min(body.len()));
        let is_last = body.is_empty();
        stream.send_data(piece, is_last)?;
        if is_last {
            return Ok(());
        }
    }
    stream.send_data(Bytes::new(), true)
}
