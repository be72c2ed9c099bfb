//! What may name an agent.

/// How many characters an agent's id or name has at most. A name on Discord has 32, a webhook's 80.
pub(crate) const NAME_MAX: usize = 100;

/// Whether a text can be an agent's id. Ids stand in log lines and lists, so nothing is taken that
/// breaks a line or turns the direction of what follows.
pub(crate) fn is_agent_id(text: &str) -> bool {
    !text.trim().is_empty() && is_short(text) && text.chars().all(is_plain)
}

/// Whether a text that was not checked before can be an agent's name: as its id, if there is anything
/// to be seen of it.
///
/// `@everyone` and the like are fit; what is posted mentions no account unless the host wants it.
pub(crate) fn is_foreign_name(text: &str) -> bool {
    is_agent_id(text) && !text.chars().all(|c| c.is_whitespace() || is_zero_width(c))
}

/// Whether a name is short enough to be kept.
pub(crate) fn is_short(text: &str) -> bool {
    text.chars().nth(NAME_MAX).is_none()
}

/// Neither a control character nor one that overrides the direction of writing.
fn is_plain(c: char) -> bool {
    let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let breaks = matches!(c, '\u{2028}' | '\u{2029}');
    !(c.is_control() || turns || breaks)
}

/// Whether nothing is seen of a character, wherever it stands.
fn is_zero_width(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}
