//! The zstd format (RFC 8878), with raw blocks only.

/// The longest block, which is also the window.
const BLOCK_MAX: usize = 1 << 17;

/// Begins a frame: no checksum, no content size, a window of 128 KiB.
pub(super) fn begin(out: &mut Vec<u8>) {
    const WINDOW_DESCRIPTOR: u8 = (17 - 10) << 3;
    out.extend([0x28, 0xb5, 0x2f, 0xfd, 0x00, WINDOW_DESCRIPTOR]);
}

/// Adds a payload. The frame goes on, so no block is the last.
pub(super) fn blocks(out: &mut Vec<u8>, payload: &[u8]) {
    for chunk in payload.chunks(BLOCK_MAX) {
        // Three bytes: the length from bit 3, type 0 in bits 1 and 2, and bit 0 for the last block.
        let header = u32::try_from(chunk.len()).unwrap_or(0) << 3;
        let [low, middle, high, _] = header.to_le_bytes();
        out.extend([low, middle, high]);
        out.extend(chunk);
    }
}
