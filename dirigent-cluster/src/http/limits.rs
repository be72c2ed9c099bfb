//! How much a client may send, hold and delay.

use std::time::Duration;

/// The limits of a server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Connections at once.
    pub(super) connections: usize,
    /// Questions at once, over all connections.
    pub(super) questions: usize,
    /// Bytes of questions at once, over all connections.
    pub(super) bytes: usize,
    /// How long a connection has for TLS and the beginning of HTTP/2.
    pub(super) handshake: Duration,
    /// How long a question may take to arrive.
    pub(super) question: Duration,
    /// How long an answer may take to be taken.
    pub(super) answer: Duration,
    /// How long questions that are under way may go on when the server stops.
    pub(super) grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 1_024,
            questions: 1_024,
            bytes: 64 << 20,
            handshake: Duration::from_secs(5),
            question: Duration::from_secs(5),
            answer: Duration::from_secs(5),
            grace: Duration::from_secs(5),
        }
    }
}

/// The most bytes of a request's or response's head.
pub(super) const HEAD_MAX: u32 = 8 << 10;
/// The most bytes of one question or answer that are under way and not read yet.
pub(super) const STREAM_WINDOW: u32 = 256 << 10;
/// The same of all on one connection.
pub(super) const CONNECTION_WINDOW: u32 = 1 << 20;
/// How many questions that were taken back before they were looked at are forgiven on one connection: as many as were asked
/// at once, and are taken back at once when the server was paused.
pub(super) const TAKEN_BACK_MAX: usize = 1_024;
