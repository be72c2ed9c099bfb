//! What goes over the wire in place of text (docs: events/gateway, transport compression).
//!
//! The streams are such as any inflater reads, and nothing in them is made smaller: on loopback
//! that would only cost time. What a client must get right is in them all the same: one stream for
//! a whole connection, a flush after each payload, and payloads in several blocks.

mod zlib;
mod zstd;

/// How payloads of one connection are packed.
#[derive(Debug)]
pub(super) enum Compression {
    /// As text.
    None,
    /// One zlib stream for all payloads; whether it has begun.
    Zlib { begun: bool },
    /// One zstd frame for all payloads; whether it has begun.
    Zstd { begun: bool },
}

impl Compression {
    /// What the address asks for; none where it is nothing that Discord knows.
    pub(super) fn named(name: Option<&str>) -> Option<Self> {
        match name {
            None => Some(Self::None),
            Some("zlib-stream") => Some(Self::Zlib { begun: false }),
            Some("zstd-stream") => Some(Self::Zstd { begun: false }),
            Some(_) => None,
        }
    }

    /// The payload as bytes; none where it goes as text. `alone` asks for large payloads to be packed
    /// each by itself, which a client asks for in IDENTIFY, and which a stream makes needless.
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

/// From how many bytes a payload is packed by itself, where the client can read that.
const ALONE_FROM: usize = 1_024;
