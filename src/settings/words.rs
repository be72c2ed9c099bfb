//! The words with which people stop and resume a channel.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

use super::ReadingRules;
use crate::UserId;

impl ReadingRules {
    /// Returns whether this text of a person stops the channel. It does if it is one of the
    /// [`stop_words`](Self::stop_words) and nothing else.
    ///
    /// A mention of the moderator may stand before or after the word. The check ignores case, compatibility forms (by
    /// NFKC, `ｓｔｏｐ` is `stop`), and everything around the word that is not a letter or digit. For example,
    /// `@Moderator **Stop!** 🛑` is `stop`. A blank word in the settings matches no text.
    ///
    /// ```
    /// use dirigent::UserId;
    /// use dirigent::settings::ReadingRules;
    ///
    /// let reading = ReadingRules::default();
    /// let moderator = Some(UserId::new(42));
    /// for text in ["stop", " Stop! ", "停。", "<@42> stop", "**stop**", "stop 🛑"] {
    ///     assert!(reading.is_stop_word(text, moderator), "{text}");
    /// }
    /// for text in ["stop it please", "<@7> stop", "nonstop", ""] {
    ///     assert!(!reading.is_stop_word(text, moderator), "{text}");
    /// }
    /// ```
    pub fn is_stop_word(&self, text: &str, moderator: Option<UserId>) -> bool {
        is_one_of(&self.stop_words, text, moderator)
    }

    /// Returns whether this text of a person resumes the channel. It does if it is one of the
    /// [`resume_words`](Self::resume_words), read like in [`is_stop_word`](Self::is_stop_word).
    ///
    /// ```
    /// let reading = dirigent::settings::ReadingRules::default();
    /// assert!(reading.is_resume_word("Resume.", None));
    /// assert!(!reading.is_resume_word("resume the talks", None));
    /// ```
    pub fn is_resume_word(&self, text: &str, moderator: Option<UserId>) -> bool {
        is_one_of(&self.resume_words, text, moderator)
    }
}

fn is_one_of(words: &[String], text: &str, moderator: Option<UserId>) -> bool {
    let text = without_mentions(text, moderator);
    let longest = words.iter().map(String::len).max().unwrap_or(0);
    // This runs for every message, so a long one is rejected before its letters are looked at.
    if bare(&text).len() > longest * SHRINKS_MAX {
        return false;
    }
    let text = one_form(&text);
    let (text, core) = (text.trim(), bare(&text));
    if text.is_empty() {
        return false;
    }
    words.iter().any(|word| {
        // A host's word may consist of punctuation only.
        let (said, word) = if core.is_empty() { (text, word.trim()) } else { (core, bare(word)) };
        !word.is_empty() && lower(said.chars()).eq(lower(word.nfkc()))
    })
}

/// The most that NFKC can shrink a letter, as a factor in bytes. A mathematical letter shrinks four times, and a base
/// with its marks somewhat more.
const SHRINKS_MAX: usize = 8;

/// Converts the text to NFKC. For example, full-width letters become the usual ones.
fn one_form(text: &str) -> Cow<'_, str> {
    if text.is_ascii() { text.into() } else { text.nfkc().collect::<String>().into() }
}

fn lower(chars: impl Iterator<Item = char>) -> impl Iterator<Item = char> {
    chars.flat_map(char::to_lowercase)
}

/// Returns the text from its first letter or digit to its last, without the punctuation, emphasis, white space or emoji
/// around them.
fn bare(text: &str) -> &str {
    text.trim_matches(|c: char| !c.is_alphanumeric())
}

/// Returns the text without mentions of the moderator.
fn without_mentions(text: &str, moderator: Option<UserId>) -> Cow<'_, str> {
    let Some(moderator) = moderator.filter(|_| text.contains("<@")) else {
        return text.into();
    };
    let [plain, by_name] = ["<@", "<@!"].map(|open| format!("{open}{moderator}>"));
    text.replace(&plain, " ").replace(&by_name, " ").into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MODERATOR: UserId = UserId::new(42);

    fn is_stop(text: &str) -> bool {
        ReadingRules::default().is_stop_word(text, Some(MODERATOR))
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "a list of texts")]
    fn what_stops_and_what_does_not() {
        for text in [
            "stop",
            "Stop",
            "STOP",
            "sToP",
            " stop\n",
            "stop.",
            "stop!",
            "stop?!",
            "stop...",
            "stop …",
            "stop。",
            "stop！",
            "stop ！！",
            "停",
            "停。",
            "停止",
            "停止！",
            "\u{3000}停\u{3000}",
            "<@42> stop",
            "<@!42> Stop!",
            "<@42>, stop",
            "<@42>：停",
            "<@42>stop",
            "<@42>\nstop",
            // What people write, and what a client makes of it.
            "stop,",
            "stop;",
            "stop:",
            "stop—",
            "stop❗",
            "停，",
            "**stop**",
            "__*stop*__",
            "~~stop~~",
            "`stop`",
            "||stop||",
            "> stop",
            "# stop",
            "\"stop\"",
            "“stop”",
            "«stop»",
            "(stop)",
            "「停」",
            "stop 🛑",
            "🛑 stop 🛑",
            "✋stop✋🏽",
            &format!("stop{}", "!".repeat(3_000)),
            "ｓｔｏｐ",
            "ＳＴＯＰ！",
            "ⓢⓣⓞⓟ",
            "𝐬𝐭𝐨𝐩",
            "stop\u{fe0f}",
            "\u{200b}stop\u{200d}",
            "stop <@42>",
            "stop, <@!42>!",
            "<@42> <@42> stop",
            "!stop",
            ".stop",
            "/stop",
            ", stop",
        ] {
            assert!(is_stop(text), "{text:?}");
        }
        for text in [
            "",
            " ",
            ".",
            "!",
            "…",
            "stop it please",
            "please stop",
            "stop stop",
            "stop, stop",
            "stopp",
            "nonstop",
            "st op",
            "停车",
            "不停",
            "停 止",
            "stop停",
            "stop2",
            "no stop",
            "st\u{301}op",
            "ⓢtopp",
            "resume",
            "继续",
            "<@42>",
            "<@43> stop",
            "<@421> stop",
            "<@4> stop",
            "<@&42> stop",
            "<#42> stop",
            "<@42>stop<@43>",
            "@42 stop",
            "st<@42>op",
        ] {
            assert!(!is_stop(text), "{text:?}");
        }
        assert!(
            !ReadingRules::default().is_stop_word("<@42> stop", None),
            "the moderator is not known"
        );
    }

    #[test]
    fn what_resumes_and_what_does_not() {
        let reading = ReadingRules::default();
        for text in [
            "resume",
            "Resume!",
            "继续",
            "继续。",
            "恢复",
            "<@42> resume",
            "**resume**",
            "ｒｅｓｕｍｅ",
            "resume <@42> ▶️",
        ] {
            assert!(reading.is_resume_word(text, Some(MODERATOR)), "{text:?}");
        }
        for text in ["", "resume it", "stop", "停", "继续说"] {
            assert!(!reading.is_resume_word(text, Some(MODERATOR)), "{text:?}");
        }
    }

    #[test]
    fn the_seed_to_the_letter_knows_no_words() {
        let reading = crate::Settings::seed_literal().reading;
        assert!(!reading.is_stop_word("stop", None) && !reading.is_resume_word("resume", None));
        for profile in [
            crate::settings::profiles::Profile::Dirigent,
            crate::settings::profiles::Profile::MessageFlow,
        ] {
            let reading = profile.rules().1.reading;
            assert!(reading.is_stop_word("stop", None) && reading.is_resume_word("resume", None));
        }
    }

    #[test]
    fn a_hosts_words_are_read_as_the_default_ones() {
        let stop_words = vec![" Halt! ".to_owned(), "!!".to_owned(), String::new(), " ".into()];
        let reading = ReadingRules { stop_words, ..ReadingRules::default() };
        for text in ["halt", "HALT.", "Halt!", "!!"] {
            assert!(reading.is_stop_word(text, None), "{text:?}");
        }
        for text in ["stop", "", "!", "!!!", "halt them", "¡halt them!"] {
            assert!(!reading.is_stop_word(text, None), "{text:?}");
        }
    }

    fn cased() -> impl Strategy<Value = String> {
        prop::collection::vec(any::<bool>(), 4).prop_map(|upper| {
            let letters = "stop".chars().zip(upper);
            letters.map(|(c, up)| if up { c.to_ascii_uppercase() } else { c }).collect()
        })
    }

    proptest! {
        #[test]
        fn dress_makes_no_difference(
            before in "(<@!?42>[,:]?)?[ \t\n\u{3000}*_~`|>#(🛑]{0,3}",
            word in cased(),
            after in "[.,;:!?…。！？—❗🛑*_~`|) \n]{0,5}(<@!?42>)?",
        ) {
            let text = format!("{before}{word}{after}");
            prop_assert!(is_stop(&text), "{text:?}");
        }

        #[test]
        fn a_letter_or_digit_more_makes_another_text(
            before in "[a-z0-9停]{0,3}",
            word in cased(),
            after in "[.! ]{0,2}[a-z0-9停][a-z .!]{0,9}",
        ) {
            let text = format!("{before}{word}{after}");
            prop_assert!(!is_stop(&text), "{text:?}");
        }
    }
}
