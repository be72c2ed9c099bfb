//! Words with which people stop and resume a channel.

use crate::{Settings, UserId};

/// What may follow a word.
const FINAL: [char; 8] = ['.', '!', '?', '…', '。', '！', '？', '．'];

impl Settings {
    /// Whether a person who says this stops the channel: the text is one of the
    /// [`stop_words`](Self::stop_words) and nothing else.
    ///
    /// Case, surrounding white space and punctuation at the end make no difference, and a mention of the
    /// moderator at the beginning may be there: `@Moderator Stop!` is `stop`. A blank word matches no
    /// text.
    ///
    /// ```
    /// use dirigent::{Settings, UserId};
    ///
    /// let settings = Settings::default();
    /// let moderator = Some(UserId::new(42));
    /// for text in ["stop", " Stop! ", "停。", "<@42> stop"] {
    ///     assert!(settings.is_stop_word(text, moderator), "{text}");
    /// }
    /// for text in ["stop it please", "<@7> stop", "nonstop", ""] {
    ///     assert!(!settings.is_stop_word(text, moderator), "{text}");
    /// }
    /// ```
    pub fn is_stop_word(&self, text: &str, moderator: Option<UserId>) -> bool {
        is_one_of(&self.stop_words, text, moderator)
    }

    /// Whether a person who says this resumes the channel: the text is one of the
    /// [`resume_words`](Self::resume_words), read as by [`is_stop_word`](Self::is_stop_word).
    ///
    /// ```
    /// let settings = dirigent::Settings::default();
    /// assert!(settings.is_resume_word("Resume.", None));
    /// assert!(!settings.is_resume_word("resume the talks", None));
    /// ```
    pub fn is_resume_word(&self, text: &str, moderator: Option<UserId>) -> bool {
        is_one_of(&self.resume_words, text, moderator)
    }
}

fn is_one_of(words: &[String], text: &str, moderator: Option<UserId>) -> bool {
    let text = without_mention(text.trim(), moderator);
    if text.is_empty() || words.is_empty() {
        return false;
    }
    let (text, bare) = (text.to_lowercase(), bare(text).to_lowercase());
    words.iter().map(|word| word.trim().to_lowercase()).any(|word| {
        // A host's word may end in punctuation, or be nothing else.
        word == text || (!bare.is_empty() && self::bare(&word) == bare)
    })
}

/// The text without what may follow a word.
fn bare(text: &str) -> &str {
    text.trim_end_matches(|c: char| c.is_whitespace() || FINAL.contains(&c))
}

/// The text without a mention of the moderator at its beginning, and a comma or colon after that.
fn without_mention(text: &str, moderator: Option<UserId>) -> &str {
    let mention = |moderator: UserId| {
        let rest = text.strip_prefix("<@")?;
        let rest = rest.strip_prefix('!').unwrap_or(rest);
        rest.strip_prefix(&moderator.to_string())?.strip_prefix('>')
    };
    let rest = moderator.and_then(mention).unwrap_or(text).trim_start();
    if rest.len() == text.len() {
        return text;
    }
    rest.trim_start_matches([',', ':', '，', '：']).trim_start()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MODERATOR: UserId = UserId::new(42);

    fn is_stop(text: &str) -> bool {
        Settings::default().is_stop_word(text, Some(MODERATOR))
    }

    #[test]
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
            "(stop)",
            "\"stop\"",
            "!stop",
            ".stop",
            "stop,",
            "stop:",
            "/stop",
            "停车",
            "不停",
            "停 止",
            "resume",
            "继续",
            "<@42>",
            "<@42> <@42> stop",
            "<@43> stop",
            "<@421> stop",
            "<@4> stop",
            "<@&42> stop",
            "<#42> stop",
            "stop <@42>",
            "@42 stop",
            ", stop",
        ] {
            assert!(!is_stop(text), "{text:?}");
        }
        assert!(
            !Settings::default().is_stop_word("<@42> stop", None),
            "the moderator is not known"
        );
    }

    #[test]
    fn what_resumes_and_what_does_not() {
        let settings = Settings::default();
        for text in ["resume", "Resume!", "继续", "继续。", "恢复", "<@42> resume"] {
            assert!(settings.is_resume_word(text, Some(MODERATOR)), "{text:?}");
        }
        for text in ["", "resume it", "stop", "停", "继续说"] {
            assert!(!settings.is_resume_word(text, Some(MODERATOR)), "{text:?}");
        }
    }

    #[test]
    fn the_seed_to_the_letter_knows_no_words() {
        let (_, settings) = crate::settings::profile::Profile::SeedLiteral.rules();
        assert!(!settings.is_stop_word("stop", None) && !settings.is_resume_word("resume", None));
        for profile in [
            crate::settings::profile::Profile::Dirigent,
            crate::settings::profile::Profile::MessageFlow,
        ] {
            let (_, settings) = profile.rules();
            assert!(settings.is_stop_word("stop", None) && settings.is_resume_word("resume", None));
        }
    }

    #[test]
    fn a_hosts_words_are_read_as_the_default_ones() {
        let stop_words = vec![" Halt! ".to_owned(), "!!".to_owned(), String::new(), " ".into()];
        let settings = Settings { stop_words, ..Settings::default() };
        for text in ["halt", "HALT.", "Halt!", "!!"] {
            assert!(settings.is_stop_word(text, None), "{text:?}");
        }
        for text in ["stop", "", "!", "!!!", "halt them"] {
            assert!(!settings.is_stop_word(text, None), "{text:?}");
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
            before in "(<@!?42>[,:]?)?[ \t\n\u{3000}]{0,3}",
            word in cased(),
            after in "[.!?…。！？ \n]{0,5}",
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
