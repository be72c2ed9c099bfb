//! The rules for the id and the name of an agent.

/// The most characters of an agent's id or name. On Discord a name has at most 32, and the name of a
/// webhook at most 80.
pub(crate) const NAME_MAX: usize = 100;

/// Returns true if a text that was not checked before can be an agent's id or name. Ids appear in log
/// lines and lists, and names appear in prompts.
///
/// For example `@everyone` is allowed, because a post mentions no account unless your program wants
/// it.
pub(crate) fn is_name(text: &str) -> bool {
    is_short(text) && dirigent::host::plain::is_name(text)
}

/// Returns true if a name is short enough to be stored.
pub(crate) fn is_short(text: &str) -> bool {
    text.chars().nth(NAME_MAX).is_none()
}
