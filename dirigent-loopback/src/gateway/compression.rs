//! Compression of the gateway (docs: events/gateway, transport compression).
//!
//! Any inflater can read the streams, but they do not make anything smaller, because on loopback that
//! would only cost time. Everything that a client must handle is there nevertheless: one stream for a
//! whole connection, a flush after each payload, and payloads in several blocks.

mod zlib;
mod zstd;

/// The compression of one connection.
#[derive(Debug)]
pub(super) enum Compression {
    /// Plain text.
    None,
    /// One zlib stream for all payloads. `begun` is true after its first payload.
    Zlib { begun: bool },
    /// One zstd frame for all payloads. `begun` is true after its first payload.
    Zstd { begun: bool },
}

impl Compression {
    /// Returns the compression that the address names, or `None` if Discord does not know it.
    pub(super) fn named(name: Option<&str>) -> Option<Self> {
        match name {
            None => Some(Self::None),
            Some("zlib-stream") => Some(Self::Zlib { begun: false }),
            Some("zstd-stream") => Some(Self::Zstd { begun: false }),
            Some(_) => None,
        }
    }

    /// Returns the payload as bytes, or `None` if it goes as text. `alone` asks for large payloads to
    /// be packed one by one. A client asks for that in IDENTIFY, and it is not needed in a stream.
    pub(super) fn pack(&mut self, payload: &str, alone: bool) -> Option<Vec<u8>> {
        let mut packed = Vec::with_capacity(payload.len() + 64);
        match self {
            Self::None if alone && payload.len() >= ALONE_FROM => {
                zlib::begin(&mut packed);
                zlib::blocks(&mut packed, payload.as_bytes(), true);
                zlib::end(&mut packed, payload.as_bytes());
            }
            Self::None => return None,
            Self::Zlib { begun } => {
                if !std::mem::replace(begun, true) {
                    zlib::begin(&mut packed);
                }
                zlib::blocks(&mut packed, payload.as_bytes(), false);
            }
            Self::Zstd { begun } => {
                if !std::mem::replace(begun, true) {
                    zstd::begin(&mut packed);
                }
                zstd::blocks(&mut packed, payload.as_bytes());
            }
        }
        Some(packed)
    }
}

/// The size in bytes from which a payload is packed by itself, if the client asked for that.
const ALONE_FROM: usize = 1_024;
