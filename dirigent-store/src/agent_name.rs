//! What may name an agent.

/// How many characters an agent's id or name has at most. A name on Discord has 32, a webhook's 80.
pub(crate) const NAME_MAX: usize = 100;

/// Whether a text that was not checked before can be an agent's id or name: ids stand in log lines and
/// lists, names in prompts.
///
/// `@everyone` and the like are fit; what is posted mentions no account unless the host wants it.
pub(crate) fn is_name(text: &str) -> bool {
    is_short(text) && dirigent::host::plain::is_name(text)
}

/// Whether a name is short enough to be kept.
pub(crate) fn is_short(text: &str) -> bool {
    text.chars().nth(NAME_MAX).is_none()
}
