//! The policies for silence: which replies say something, and which part of them is delivered.

use crate::{Outcome, Tail};

/// The replies that count as silence.
///
/// A turn counts as spoken exactly when a part of its reply reaches the channel. Hosts differ in what they hold back,
/// so you choose the policy that fits yours. Under every policy a reply is silent if and only if its
/// [`deliverable`](Self::deliverable) part is empty.
///
/// All policies share these rules:
///
/// * White space around a reply does not count, and a blank reply is silent.
/// * `NO_REPLY` in any ASCII case is silent. `NO` is silent only in capitals, because `No` and `no` are answers, and
///   are delivered.
/// * A `NO_REPLY` at the end of a reply, after white space or asterisks, is removed. So is one that is glued to the
///   front of the first word. The rest is delivered, so it is a real turn. If the rest is empty, or only a silent word,
///   the reply is silent.
///
/// The end symbol 🔚 is ordinary text, and so is punctuation, except under [`Tolerant`](Self::Tolerant). For example,
/// `NO_REPLY.` is delivered, so it is not silence. If your host knows better, report the [`Outcome`] yourself.
///
/// ```
/// use dirigent_core::text::SilencePolicy;
///
/// let strict = SilencePolicy::Strict;
/// assert!(strict.is_silent(" no_reply\n") && !strict.is_silent("NO_REPLY."));
/// assert!(SilencePolicy::Tolerant.is_silent("**\"NO_REPLY\".**"));
/// assert!(!strict.is_silent("No"));
/// assert_eq!(strict.deliverable("Done. NO_REPLY"), "Done.");
/// assert!(SilencePolicy::LastLine.is_silent("Nothing for me here.\nNO_REPLY"));
/// assert!(SilencePolicy::OpenClaw.is_silent(r#"{"action": "NO_REPLY"}"#));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SilencePolicy {
    /// The shared rules, and one more: `NO_REPLY` alone in quotation marks, brackets, Markdown emphasis or code marks,
    /// or with final punctuation, is silent, because models often write it so. Any other text that ends with it is an
    /// answer. For example, `I say NO_REPLY.` is delivered.
    #[default]
    Tolerant,
    /// The shared rules only.
    Strict,
    /// The replies that OpenClaw holds back. Beyond the shared rules these are:
    ///
    /// * a JSON object with the single key `action` and the value `NO_REPLY`, in capitals;
    /// * reasoning and then the token: a closed `<think>…</think>` followed by only the token, an unclosed one that
    ///   ends with it, or a first line `think`, no blank line, and the token glued to the last word;
    /// * `HEARTBEAT_OK`, in capitals, removed from both ends of any reply;
    /// * a prefix of `NO_REPLY` in capitals, of at least two characters, as a broken stream leaves it: `NO_`, `NO_RE`;
    /// * reply tags such as `[[reply_to_current]]`, removed from both ends;
    /// * Markdown emphasis, code marks or fences around the whole token: `**NO_REPLY**`.
    ///
    /// OpenClaw's own messages about a run that failed are held back, too ([`is_notice`](Self::is_notice)).
    OpenClaw,
    /// The shared rules, and one more: a reply is silent if its last line with text is only `NO_REPLY`, with or without
    /// prose before it. Choose this if your host holds such prose back. A last line `NO` is still an answer.
    LastLine,
}

impl SilencePolicy {
    /// Returns true if no part of this reply reaches the channel.
    ///
    /// ```
    /// # use dirigent_core::text::SilencePolicy;
    /// assert!(SilencePolicy::default().is_silent("NO"));
    /// assert!(!SilencePolicy::default().is_silent("NO problem"));
    /// ```
    pub fn is_silent(self, text: &str) -> bool {
        self.deliverable(text).is_empty()
    }

    /// Returns the part of this reply that reaches the channel, which is empty if the reply is silent. It is a slice of
    /// `text`, found in linear time.
    ///
    /// ```
    /// # use dirigent_core::text::SilencePolicy;
    /// let openclaw = SilencePolicy::OpenClaw;
    /// assert_eq!(openclaw.deliverable("[[reply_to_current]] Fine. HEARTBEAT_OK"), "Fine.");
    /// ```
    #[must_use]
    pub fn deliverable(self, text: &str) -> &str {
        // Tags come off first, because they may hide reasoning or an envelope. Tokens come off only if the text as a
        // whole is not silent. The whole is judged just once before and once after, so that the time stays linear.
        let whole = match self {
            Self::OpenClaw => until_settled(trim(text), without_host_marks),
            Self::Tolerant | Self::Strict | Self::LastLine => trim(text),
        };
        if self.suppresses(whole) {
            return "";
        }
        let rest = until_settled(whole, |text| match self {
            Self::OpenClaw => without_host_marks(without_token(text)),
            Self::Tolerant | Self::Strict | Self::LastLine => without_token(text),
        });
        let is_silent = rest.len() < whole.len() && self.suppresses(rest);
        if is_silent { "" } else { rest }
    }

    /// Returns true if this is a notice that a run failed, written by the program around the agent. OpenClaw 2026.9
    /// writes `⚠️ Agent couldn't generate a response`, `⚙️ Agent was aborted.` and, after a crash, `I'm continuing your
    /// interrupted request now`. The other policies know no such notice.
    ///
    /// ```
    /// # use dirigent_core::text::SilencePolicy;
    /// assert!(SilencePolicy::OpenClaw.is_notice("⚙️ Agent was aborted."));
    /// assert!(SilencePolicy::OpenClaw.is_notice("I'm continuing your interrupted request now (the gateway has just restarted)."));
    /// assert!(!SilencePolicy::Tolerant.is_notice("⚙️ Agent was aborted."));
    /// ```
    pub fn is_notice(self, text: &str) -> bool {
        let text = trim(text);
        let beginnings =
            ["⚠️ Agent couldn't generate", "I'm continuing your interrupted request now"];
        let is_known = || beginnings.iter().any(|it| text.starts_with(it));
        self == Self::OpenClaw && (text == "⚙️ Agent was aborted." || is_known())
    }

    /// Returns the outcome of a run that ended with this text. It is [`Outcome::Failed`] for a notice
    /// ([`is_notice`](Self::is_notice)) and [`Outcome::Pass`] for silence. Otherwise it is [`Outcome::Spoke`], with the
    /// tail of the delivered text.
    ///
    /// ```
    /// use dirigent_core::text::SilencePolicy;
    /// use dirigent_core::{Outcome, Tail};
    ///
    /// let outcome = SilencePolicy::Strict.outcome("All is well. NO_REPLY");
    /// assert_eq!(outcome, Outcome::Spoke { tail: Tail::of("All is well.") });
    /// ```
    pub fn outcome(self, text: &str) -> Outcome {
        match self.deliverable(text) {
            "" if self.is_notice(text) => Outcome::Failed,
            "" => Outcome::Pass,
            text => Outcome::Spoke { tail: Tail::of(text) },
        }
    }

    /// Returns true if a trimmed text is held back as a whole.
    fn suppresses(self, text: &str) -> bool {
        let shared = text.is_empty() || text == "NO" || is_token(text);
        shared
            || match self {
                Self::Tolerant => is_token(text.trim_matches(is_trimming)),
                Self::Strict => false,
                Self::LastLine => text.rsplit('\n').next().is_some_and(|line| is_token(trim(line))),
                Self::OpenClaw => {
                    is_token_prefix(text)
                        || is_token(text.trim_matches(is_mark_or_space))
                        || is_envelope(text)
                        || is_reasoned_silence(text)
                        || self.is_notice(text)
                }
            }
    }
}

/// The word that declines to reply.
const TOKEN: &str = "NO_REPLY";
/// The word that confirms a heartbeat.
const HEARTBEAT: &str = "HEARTBEAT_OK";

/// Returns true for white space as hosts trim it: Unicode's, and the byte order mark.
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

fn is_mark_or_space(c: char) -> bool {
    matches!(c, '*' | '_' | '`' | '~') || is_space(c)
}

/// Returns true for characters that models put around a word.
fn is_trimming(c: char) -> bool {
    let is_quote = matches!(c, '"' | '\'' | '“' | '”' | '„' | '‘' | '’' | '«' | '»' | '「' | '」');
    let is_end = matches!(c, '.' | '!' | '…' | '。' | '！');
    let is_bracket = matches!(c, '[' | ']' | '(' | ')' | '<' | '>' | '{' | '}');
    is_quote || is_end || is_bracket || is_mark_or_space(c)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

fn is_token(text: &str) -> bool {
    text.eq_ignore_ascii_case(TOKEN)
}

fn is_token_prefix(text: &str) -> bool {
    text.len() >= 2 && TOKEN.starts_with(text)
}

/// Repeats `step` until the text gets no shorter. `step` never returns a longer text.
fn until_settled(mut text: &str, step: impl Fn(&str) -> &str) -> &str {
    loop {
        let shorter = step(text);
        if shorter.len() == text.len() {
            return text;
        }
        text = shorter;
    }
}

/// Returns the text before a `word` at its end, ignoring ASCII case.
fn before_ending<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let (front, end) = text.split_at_checked(text.len().checked_sub(word.len())?)?;
    end.eq_ignore_ascii_case(word).then_some(front)
}

/// Returns the text after a `word` at its front, ignoring ASCII case.
fn after_leading<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let (start, rest) = text.split_at_checked(word.len())?;
    start.eq_ignore_ascii_case(word).then_some(rest)
}

/// Removes one token from the end, or from the front of the first word.
fn without_token(text: &str) -> &str {
    let is_apart = |front: &&str| front.is_empty() || front.ends_with(|c| is_space(c) || c == '*');
    if let Some(front) = before_ending(text, TOKEN).filter(is_apart) {
        return trim(front.trim_end_matches('*'));
    }
    let is_glued = |rest: &&str| rest.starts_with(char::is_alphanumeric);
    after_leading(text, TOKEN).filter(is_glued).unwrap_or(text)
}

/// Removes one reply tag or heartbeat word from each end.
fn without_host_marks(text: &str) -> &str {
    without_ending_mark(without_leading_mark(text))
}

fn without_leading_mark(text: &str) -> &str {
    if let Some(rest) = text.strip_prefix(HEARTBEAT) {
        return if rest.starts_with(is_word) { text } else { trim(rest) };
    }
    let tag = text.strip_prefix("[[").and_then(|inner| inner.split_once(']'));
    match tag {
        Some((inner, rest)) if is_reply_tag(inner) => rest.strip_prefix(']').map_or(text, trim),
        _ => text,
    }
}

fn without_ending_mark(text: &str) -> &str {
    if let Some(front) = text.strip_suffix(HEARTBEAT) {
        return if front.ends_with(is_word) { text } else { trim(front) };
    }
    let tag = text.strip_suffix("]]").and_then(|open| open.rsplit_once('['));
    match tag {
        Some((front, inner)) if is_reply_tag(inner) => front.strip_suffix('[').map_or(text, trim),
        _ => text,
    }
}

fn is_reply_tag(inner: &str) -> bool {
    trim(inner).starts_with("reply_to") && !inner.contains(['[', ']', '\n'])
}

/// Returns true if the text is `{"action": "NO_REPLY"}`, spaced in any way. Escapes in the strings are not read,
/// because no model was seen to write them here.
fn is_envelope(text: &str) -> bool {
    let value = text
        .strip_prefix('{')
        .and_then(|rest| trim(rest).strip_prefix("\"action\""))
        .and_then(|rest| trim(rest).strip_prefix(':'))
        .and_then(|rest| trim(rest).strip_prefix('"'))
        .and_then(|rest| rest.strip_suffix('}'))
        .and_then(|rest| trim(rest).strip_suffix('"'));
    value.is_some_and(|value| trim(value) == TOKEN)
}

/// Returns true if the text is leaked reasoning that ends in the token.
fn is_reasoned_silence(text: &str) -> bool {
    let Some(before) = before_ending(text, TOKEN) else {
        return false;
    };
    if after_leading(text, "<think").is_some_and(|rest| !rest.starts_with(is_word)) {
        return before.contains('>') && (!has_close(before) || has_close_at_end(trim(before)));
    }
    let glued = !before.ends_with(|c| is_space(c) || c == '*');
    let body = after_leading(before, "think").and_then(|rest| rest.split_once('\n'));
    body.is_some_and(|(first, body)| {
        glued && trim(first).is_empty() && body.lines().all(|line| !trim(line).is_empty())
    })
}

fn has_close_at_end(text: &str) -> bool {
    before_ending(text, "</think>").is_some()
}

fn has_close(text: &str) -> bool {
    text.match_indices("</")
        .any(|(at, _)| text.get(at..).is_some_and(|rest| after_leading(rest, "</think>").is_some()))
}
