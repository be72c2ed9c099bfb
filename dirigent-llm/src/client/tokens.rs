//! Estimates how many tokens a text has.

/// Tokens of a message beside its words.
pub(crate) const OF_A_MESSAGE: usize = 4;
/// Tokens of a tool call beside its name and arguments.
pub(crate) const OF_A_CALL: usize = 16;
/// Tokens of an image, about as many as one of 1,024 by 1,024 pixels has.
pub(crate) const OF_AN_IMAGE: usize = 1_000;

/// Counts four ASCII letters as one token, and every other character as one. That is too many for European words and
/// about right for Chinese. Too many is the safe side, because this estimate limits the prompt.
pub(crate) fn estimate(text: &str) -> usize {
    if text.is_ascii() {
        return text.len().div_ceil(4);
    }
    let ascii = text.bytes().filter(u8::is_ascii).count();
    // Every other character has exactly one byte that begins it.
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
