//! Random letters that cannot be guessed.

use std::fmt::Write as _;
use std::io;

/// Draws this many random bytes from the system, and writes each as two hexadecimal digits.
pub(crate) fn letters<const BYTES: usize>() -> io::Result<String> {
    let mut bytes = [0_u8; BYTES];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    let mut text = String::with_capacity(BYTES * 2);
    for byte in bytes {
        // Writing into memory cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}
