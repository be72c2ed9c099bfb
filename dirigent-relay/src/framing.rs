//! Frames for transports that route by one text: rule and payload in one message.

use crate::Rejection;

/// The rule that carries all frames, for a transport with rules of its own that must not contain its separator (`::`).
pub const FRAME_RULE: &str = "dirigent";

/// Puts a rule and its payload into one frame: the rule's length in one byte, the rule, the payload.
///
/// ```
/// use dirigent_relay::{frame, unframe};
///
/// let framed = frame("check-turn", b"a::b");
/// assert_eq!(unframe(&framed)?, ("check-turn", &b"a::b"[..]));
/// assert!(unframe(&[200, 1]).is_err());
/// # Ok::<(), dirigent_relay::Rejection>(())
/// ```
///
/// This library has no rule of more than 255 bytes. Such a rule is cut, and no process answers it.
pub fn frame(rule: &str, payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(rule.len()).unwrap_or(u8::MAX);
    let rule = rule.as_bytes().get(..usize::from(length)).unwrap_or_default();
    [&[length], rule, payload].concat()
}

/// Takes a frame apart.
///
/// # Errors
///
/// Returns [`Rejection::Malformed`] if the bytes are not a frame.
pub fn unframe(frame: &[u8]) -> Result<(&str, &[u8]), Rejection> {
    let parts = || {
        let (length, rest) = frame.split_first()?;
        let (rule, payload) = rest.split_at_checked(usize::from(*length))?;
        Some((std::str::from_utf8(rule).ok()?, payload))
    };
    parts().ok_or(Rejection::Malformed)
}
