//! How many tokens a text has, roughly.

/// What a message costs beside its words.
pub(crate) const OF_A_MESSAGE: usize = 4;
/// What a call of a tool costs beside its name and its arguments.
pub(crate) const OF_A_CALL: usize = 16;
/// What an image costs, about as much as one of 1,024 by 1,024 pixels.
pub(crate) const OF_AN_IMAGE: usize = 1_000;

/// Four letters of ASCII are a token, and every other character is one: too many for European words, about right for Chinese.
/// A prompt is bounded by it, where too many is on the safe side.
pub(crate) fn estimate(text: &str) -> usize {
    if text.is_ascii() {
        return text.len().div_ceil(4);
    }
    let ascii = text.bytes().filter(u8::is_ascii).count();
    // Each other character has one byte that begins it.
    let others = text.bytes().filter(|byte| *byte >= 0xc0).count();
    ascii.div_ceil(4) + others
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_count_a_quarter_and_other_characters_one() {
        assert_eq!(estimate(""), 0);
        assert_eq!(estimate("abcd"), 1);
        assert_eq!(estimate("abcde"), 2);
        assert_eq!(estimate("你好"), 2);
        assert_eq!(estimate("né"), 2);
    }
}
