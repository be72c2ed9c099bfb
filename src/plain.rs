//! What is plain text: what may stand in a name or a path without disturbing the line around it.

/// Whether the character starts a new line, does something instead of showing something, or turns
/// the direction in which the text around it is read.
pub(crate) fn disturbs(c: char) -> bool {
    // Control characters, the two separators, and the marks that override or isolate a direction.
    c.is_control() || matches!(c, '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Whether a reader sees anything of the text.
pub(crate) fn is_visible(text: &str) -> bool {
    !text.chars().all(|c| c.is_whitespace() || disturbs(c) || is_zero_width(c))
}

fn is_zero_width(c: char) -> bool {
    matches!(c, '\u{00AD}' | '\u{200B}'..='\u{200F}' | '\u{2060}'..='\u{2064}' | '\u{FEFF}')
}
