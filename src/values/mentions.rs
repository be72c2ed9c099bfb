//! The mentions in the words of a message.

use std::borrow::Cow;
use std::fmt::Write;

use crate::UserId;

/// The most accounts that are taken from one message.
pub(crate) const MENTIONS_MAX: usize = dirigent_core::config::AGENTS_MAX;

/// The most digits of an account's number.
const DIGITS_MAX: usize = 20;

/// Returns the accounts that a text names as `<@id>` or `<@!id>`, each once, in the order of their first mention.
/// Mentions in code, or behind a backslash, do not count. A reply alone is no mention.
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

/// Returns the length of the code that begins here with back-ticks, up to a row of the same number of back-ticks. If
/// they are never closed, they are ordinary characters.
fn code(text: &str) -> usize {
    let ticks = text.len() - text.trim_start_matches('`').len();
    // Three or more back-ticks open a block, and three close it.
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

/// Returns the account whose mention is at the beginning of a text.
pub(crate) fn mentioned_first(text: &str) -> Option<UserId> {
    mention(text.trim_start()).map(|(user, _)| user)
}

/// Returns the account that is mentioned at the beginning of this text, and the length of the mention.
pub(crate) fn mention(text: &str) -> Option<(UserId, usize)> {
    let inner = text.strip_prefix("<@")?;
    let inner = inner.strip_prefix('!').unwrap_or(inner);
    // The search for the end stops early, because a text may contain many beginnings.
    let length = inner.bytes().take(DIGITS_MAX + 1).position(|byte| !byte.is_ascii_digit())?;
    let (digits, after) = inner.split_at_checked(length)?;
    let after = after.strip_prefix('>')?;
    // Discord has no account with few digits, but another chat may have one.
    let id = digits.parse().ok().filter(|id| *id != 0)?;
    Some((UserId::new(id), text.len() - after.len()))
}

/// Replaces each `@Name` of these accounts with a mention, `<@id>`. It takes the longest name that fits, and leaves out
/// code, addresses, and names behind a backslash.
pub fn with_mentions<'t>(text: &'t str, named: &[(&str, UserId)]) -> Cow<'t, str> {
    let mut written = Cow::Borrowed("");
    let (mut rest, mut copied) = (text, text);
    let mut before = None;
    while let Some(first) = rest.chars().next() {
        let is_escaped = before == Some('\\');
        let found = (first == '@' && !is_escaped && !before.is_some_and(char::is_alphanumeric))
            .then(|| longest_name(rest.get(1..).unwrap_or_default(), named))
            .flatten();
        let length = match (found, first) {
            (Some((user, end)), _) => {
                let (skipped, _) = copied.split_at(copied.len() - rest.len());
                written.to_mut().push_str(skipped);
                // A write to a string cannot fail.
                let _ = write!(written.to_mut(), "<@{user}>");
                copied = end;
                rest.len() - end.len()
            }
            (None, '`') if !is_escaped => code(rest),
            (None, other) => other.len_utf8(),
        };
        before = Some(if first == '\\' && is_escaped { ' ' } else { first });
        rest = rest.get(length..).unwrap_or_default();
    }
    if written.is_empty() {
        return Cow::Borrowed(text);
    }
    written.to_mut().push_str(copied);
    written
}

/// Returns the longest of the names at the beginning of a text, and the rest of the text.
fn longest_name<'t>(text: &'t str, named: &[(&str, UserId)]) -> Option<(UserId, &'t str)> {
    let fits = named.iter().filter_map(|(name, user)| Some((*user, after_name(text, name)?)));
    fits.min_by_key(|(_, end)| end.len())
}

/// Returns the rest of a text after a name at its beginning, in upper or lower case. A letter, a digit, or a hyphen or
/// underscore before one continues a name, so `Max-Ops` does not begin with `Max`.
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
    (is_it && !name.is_empty() && !goes_on()).then_some(rest.as_str())
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
    fn names_behind_an_at_become_mentions() {
        let named =
            [("Max", UserId::new(1)), ("max-ops", UserId::new(2)), ("Ann Lee", UserId::new(3))];
        for (text, expected) in [
            ("@max, over to you", "<@1>, over to you"),
            ("(@Max-Ops and @ann lee?)", "(<@2> and <@3>?)"),
            ("@Max-Opsy @maxi @anna", "@Max-Opsy @maxi @anna"),
            ("mail me@max.example", "mail me@max.example"),
            ("`@max` and ```\n@max\n``` but @max", "`@max` and ```\n@max\n``` but <@1>"),
            ("\\@max and \\\\@max", "\\@max and \\\\<@1>"),
            ("no name @ all @", "no name @ all @"),
            ("", ""),
        ] {
            assert_eq!(with_mentions(text, &named), expected);
        }
    }

    #[test]
    fn one_message_mentions_so_many_at_most() {
        let text: String = (1..200).fold(String::new(), |text, id| text + &format!("<@{id}>"));
        assert_eq!(mentioned(&text).len(), MENTIONS_MAX);
    }

    #[test]
    fn a_long_text_of_backticks_takes_linear_time_enough() {
        assert_eq!(ids(&"`".repeat(4_000)), [0; 0]);
        for text in ["<@", "<@!", "<@1", "\\", "@", "@a", "`<@"] {
            assert_eq!(ids(&text.repeat(1_000_000)), [0; 0]);
            let named = [("ab", UserId::new(1))];
            assert_eq!(
                with_mentions(&text.repeat(1_000_000), &named).len(),
                text.len() * 1_000_000
            );
        }
        let steps: String = (1..60).fold(String::new(), |text, n| text + &"`".repeat(n) + " ");
        assert_eq!(ids(&steps), [0; 0]);
    }
}
