//! Whom a message mentions in its own words.

use crate::UserId;

/// Most accounts that are taken from one message.
pub(crate) const MENTIONS_MAX: usize = dirigent_core::config::AGENTS_MAX;

/// The accounts that are written into a text as `<@id>` or `<@!id>`, each once, in order of their first
/// mention. What stands in code, or behind a backslash, mentions no account; nor does a reply as such.
pub(crate) fn mentioned(text: &str) -> Vec<UserId> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut is_escaped = false;
    while let Some(first) = rest.chars().next() {
        let skipped = match first {
            '`' if !is_escaped => code(rest),
            '<' if !is_escaped => match mention(rest) {
                Some((user, length)) => {
                    if !found.contains(&user) {
                        found.push(user);
                    }
                    if found.len() == MENTIONS_MAX {
                        return found;
                    }
                    length
                }
                None => 1,
            },
            other => other.len_utf8(),
        };
        is_escaped = first == '\\' && !is_escaped;
        rest = rest.get(skipped..).unwrap_or_default();
    }
    found
}

/// How long the code is that begins here with back-ticks: up to as many of them in a row. Where they
/// are never closed, they stand for themselves.
fn code(text: &str) -> usize {
    let ticks = text.len() - text.trim_start_matches('`').len();
    // Three or more open a block, and three close it.
    let closing = ticks.min(3);
    let mut from = ticks;
    while let Some(at) = text.get(from..).and_then(|inner| inner.find('`')) {
        let start = from + at;
        let run = text.get(start..).unwrap_or_default();
        let length = run.len() - run.trim_start_matches('`').len();
        if length == closing || (closing == 3 && length > 3) {
            return start + length;
        }
        from = start + length;
    }
    ticks
}

/// The account that is mentioned right here, and how long the mention is.
pub(crate) fn mention(text: &str) -> Option<(UserId, usize)> {
    let inner = text.strip_prefix("<@")?;
    let inner = inner.strip_prefix('!').unwrap_or(inner);
    let (digits, after) = inner.split_once('>')?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // An account of few digits is none of Discord's, but may be one of another chat.
    let id = digits.parse().ok().filter(|id| *id != 0)?;
    Some((UserId::new(id), text.len() - after.len()))
}

/// What follows a name with which a text begins, in whatever case it is written. A letter, a digit, or a hyphen or underscore before one goes on
/// with a name: `Max-Ops` does not begin with `Max`.
pub(crate) fn after_name<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = text.chars();
    let is_it = name.chars().all(|expected| {
        let found = rest.next();
        found.is_some_and(|c| c == expected || c.to_lowercase().eq(expected.to_lowercase()))
    });
    let goes_on = || {
        let mut after = rest.clone();
        let first = after.next();
        let joined = first.filter(|c| matches!(c, '-' | '_' | '\u{2010}' | '\u{2011}'));
        let next = if joined.is_some() { after.next() } else { first };
        next.is_some_and(char::is_alphanumeric)
    };
    (is_it && !name.is_empty() && !goes_on()).then(|| rest.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(text: &str) -> Vec<u64> {
        mentioned(text).into_iter().map(UserId::get).collect()
    }

    #[test]
    fn written_mentions_are_found_in_order_and_once() {
        assert_eq!(ids("<@2> and <@!1>, <@2>?"), [2, 1]);
        assert_eq!(ids("ümläut<@123456789012345678>"), [123_456_789_012_345_678]);
        assert_eq!(ids("\\\\<@4>"), [4], "the backslash is escaped, not the mention");
    }

    #[test]
    fn what_is_no_mention_mentions_nobody() {
        for text in [
            "", "<@>", "<@!>", "<@12a>", "<@&12>", "<#12>", "<@12", "@12", "<@ 12>", "\\<@12>",
            "<@0>",
        ] {
            assert_eq!(ids(text), [0; 0], "{text}");
        }
        assert_eq!(ids("<@99999999999999999999999>"), [0; 0]);
        assert_eq!(ids("<<@7>"), [7]);
    }

    #[test]
    fn code_mentions_nobody() {
        assert_eq!(ids("`<@1>` <@2>"), [2]);
        assert_eq!(ids("``a ` <@1>`` <@2>"), [2]);
        assert_eq!(ids("```\n<@1>\n``` <@2>"), [2]);
        assert_eq!(ids("```<@1>"), [1], "it was never closed");
        assert_eq!(ids("` <@1>"), [1]);
        assert_eq!(ids("\\`<@1>` <@2>"), [1, 2], "the first back-tick is escaped");
    }

    #[test]
    fn one_message_mentions_so_many_at_most() {
        let text: String = (1..200).fold(String::new(), |text, id| text + &format!("<@{id}>"));
        assert_eq!(mentioned(&text).len(), MENTIONS_MAX);
    }

    #[test]
    fn a_long_text_of_backticks_takes_linear_time_enough() {
        assert_eq!(ids(&"`".repeat(4_000)), [0; 0]);
        let steps: String = (1..60).fold(String::new(), |text, n| text + &"`".repeat(n) + " ");
        assert_eq!(ids(&steps), [0; 0]);
    }
}
