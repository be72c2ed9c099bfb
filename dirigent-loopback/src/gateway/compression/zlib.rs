//! The zlib format (RFC 1950, 1951), with stored blocks only.

/// The longest stored block.
const BLOCK_MAX: usize = 0xffff;

/// The divisor of the checksum.
const ADLER_BASE: u32 = 65_521;

/// Begins a stream: deflate, a window of 32 KiB, no dictionary.
pub(super) fn begin(out: &mut Vec<u8>) {
    out.extend([0x78, 0x01]);
}

/// Adds a payload. It is the last of the stream, or is followed by the empty block that ends a
/// flush.
pub(super) fn blocks(out: &mut Vec<u8>, payload: &[u8], is_last: bool) {
    let mut chunks = payload.chunks(BLOCK_MAX).peekable();
    while let Some(chunk) = chunks.next() {
        block(out, chunk, is_last && chunks.peek().is_none());
    }
    if !is_last {
        block(out, &[], false);
    }
}

/// Ends a stream that has only this payload.
pub(super) fn end(out: &mut Vec<u8>, payload: &[u8]) {
    let (mut low, mut high) = (1_u32, 0_u32);
    for byte in payload {
        low = (low + u32::from(*byte)) % ADLER_BASE;
        high = (high + low) % ADLER_BASE;
    }
    out.extend((high << 16 | low).to_be_bytes());
}

fn block(out: &mut Vec<u8>, chunk: &[u8], is_last: bool) {
    // Chunks are never longer than a block may be.
    let length = u16::try_from(chunk.len()).unwrap_or(u16::MAX);
    out.push(u8::from(is_last));
    out.extend(length.to_le_bytes());
    out.extend((!length).to_le_bytes());
    out.extend(chunk);
}
