//! The parts of a message besides its author's words: another message that it repeats, and things that are shown with
//! it.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::embed::Embed;
use super::id::UserId;
use super::message::{Attachment, AuthorKind};
use crate::text::plain::shown;

/// The longest excerpt of an answered message, in characters.
const EXCERPT_CHARS_MAX: usize = 200;
/// The longest text of an embed, of components, of a poll and of a sticker's name, in characters.
const SHOWN_CHARS_MAX: usize = 500;
/// The most characters of a message that is forwarded, or from which a thread was made.
const REPEATED_CHARS_MAX: usize = 2_000;

/// Another message that a message repeats: the one that it answers or forwards, or from which its thread was made.
///
/// Its author did not write it here and now. For this reason it stops no channel, mentions no agent, and is never
/// stored. Its `Debug` output contains no text.
///
/// ```
/// use dirigent::UserId;
/// use dirigent::ports::Quoted;
///
/// let asked = Quoted::answered(UserId::new(7), Some("sceptic".into()), "Where is\nthe proof?");
/// assert_eq!(&*asked.content, "Where is the proof?");
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Quoted {
    /// The reason why the message repeats it.
    pub kind: QuotedAs,
    /// Its author. `None` if the chat does not tell, for example for a forwarded message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<UserId>,
    /// Its author's name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author_name: Option<Arc<str>>,
    /// The kind of its author's account. `None` if the chat, or its adapter, does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author_kind: Option<AuthorKind>,
    /// Its text. An answered message has at most 200 characters in one line, and any other at most 2,000 characters.
    pub content: Arc<str>,
    /// Its files. An answered message has none here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// Other things that it shows. An answered message has none here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<Shown>,
}

/// The reasons why a message repeats another one.
///
/// ```
/// use dirigent::ports::{Quoted, QuotedAs};
/// assert_eq!(Quoted::forwarded("news").kind, QuotedAs::Forwarded);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum QuotedAs {
    /// The message answers it.
    Answered,
    /// The message forwards it from some channel.
    Forwarded,
    /// The thread of the message was made from it.
    Starter,
}

impl Quoted {
    /// Creates an answered message with its first 200 characters, in one line.
    pub fn answered(author: UserId, author_name: Option<Arc<str>>, content: &str) -> Self {
        let content = cut_line(content, EXCERPT_CHARS_MAX);
        Self { author: Some(author), author_name, ..Self::of(QuotedAs::Answered, content) }
    }

    /// Creates a forwarded message with its first 2,000 characters.
    pub fn forwarded(content: &str) -> Self {
        Self::of(QuotedAs::Forwarded, cut(content))
    }

    /// Creates the message from which a thread was made, with its first 2,000 characters.
    pub fn starter(author: UserId, author_name: Option<Arc<str>>, content: &str) -> Self {
        Self { author: Some(author), author_name, ..Self::of(QuotedAs::Starter, cut(content)) }
    }

    /// Sets its files, and the other things that it shows.
    #[must_use]
    pub fn with(mut self, attachments: Vec<Attachment>, shown: Vec<Shown>) -> Self {
        (self.attachments, self.shown) = (attachments, shown);
        self
    }

    /// Sets the kind of its author's account.
    #[must_use]
    pub fn by(self, kind: AuthorKind) -> Self {
        Self { author_kind: Some(kind), ..self }
    }

    fn of(kind: QuotedAs, content: Arc<str>) -> Self {
        let (attachments, shown) = (Vec::new(), Vec::new());
        Self {
            kind,
            author: None,
            author_name: None,
            author_kind: None,
            content,
            attachments,
            shown,
        }
    }

    /// Returns whether any part of it is visible.
    pub(crate) fn is_visible(&self) -> bool {
        !(self.content.trim().is_empty() && self.attachments.is_empty() && self.shown.is_empty())
    }
}

impl fmt::Debug for Quoted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Quoted")
            .field("kind", &self.kind)
            .field("author", &self.author)
            .field("content", &format_args!("{} bytes", self.content.len()))
            .finish_non_exhaustive()
    }
}

/// A thing that a message shows besides its author's words, as one line of at most 500 characters. Its `Debug` output
/// contains no text.
///
/// ```
/// use dirigent::ports::{Embed, Shown};
///
/// let embed = Shown::embed(&Embed::new().title("Build 214").field("Duration", "6 min", true));
/// assert_eq!(embed.to_string(), "[embed: Build 214 | Duration: 6 min]");
/// assert_eq!(Shown::sticker("cat").to_string(), "[sticker: cat]");
/// assert_eq!(Shown::poll("Tabs or spaces?", ["Tabs", "Spaces"]).to_string(), "[poll: Tabs or spaces? Tabs / Spaces]");
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Shown {
    /// The text of an embed: its author, title, description and fields. A picture or a link alone has no text.
    Embed(Arc<str>),
    /// The text of Discord's components, if these are the message.
    Components(Arc<str>),
    /// The name of a sticker.
    Sticker(Arc<str>),
    /// The question and answers of a poll.
    Poll(Arc<str>),
}

impl Shown {
    /// Creates it from an embed.
    pub fn embed(embed: &Embed) -> Self {
        let author = embed.author.as_ref().map(|author| author.name.clone());
        let fields = embed.fields.iter().map(|field| format!("{}: {}", field.name, field.value));
        let texts = [author, embed.title.clone(), embed.description.clone()];
        Self::Embed(joined(texts.into_iter().flatten().chain(fields), " | "))
    }

    /// Creates it from the texts of components.
    pub fn components<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self::Components(joined(texts, " | "))
    }

    /// Creates it from the name of a sticker.
    pub fn sticker(name: &str) -> Self {
        Self::Sticker(cut_line(name, SHOWN_CHARS_MAX))
    }

    /// Creates it from the question and answers of a poll.
    pub fn poll<T: AsRef<str>>(question: &str, answers: impl IntoIterator<Item = T>) -> Self {
        let answers = joined(answers, " / ");
        Self::Poll(joined([question, &answers], " "))
    }

    fn text(&self) -> &Arc<str> {
        match self {
            Self::Embed(text) | Self::Components(text) | Self::Sticker(text) | Self::Poll(text) => {
                text
            }
        }
    }

    /// Returns about how much memory its text takes.
    pub(crate) fn weight(&self) -> usize {
        self.text().len()
    }
}

/// Writes it as in a line of a prompt: `[sticker: cat]`.
impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self {
            Self::Embed(_) => "embed",
            Self::Components(_) => "components",
            Self::Sticker(_) => "sticker",
            Self::Poll(_) => "poll",
        };
        // An adapter may have built it by hand.
        match shown(self.text(), SHOWN_CHARS_MAX + 1) {
            text if text.is_empty() => write!(f, "[{what}]"),
            text => write!(f, "[{what}: {text}]"),
        }
    }
}

impl fmt::Debug for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self {
            Self::Embed(_) => "Embed",
            Self::Components(_) => "Components",
            Self::Sticker(_) => "Sticker",
            Self::Poll(_) => "Poll",
        };
        write!(f, "{what}({} bytes)", self.text().len())
    }
}

/// Joins texts in one line, without the invisible ones.
fn joined<T: AsRef<str>>(texts: impl IntoIterator<Item = T>, between: &str) -> Arc<str> {
    let mut line = String::new();
    for text in texts {
        // Text beyond the longest line is not read.
        let text = shown(text.as_ref(), SHOWN_CHARS_MAX + 1);
        if line.len() > 4 * SHOWN_CHARS_MAX {
            break;
        }
        if !text.is_empty() && !line.is_empty() {
            line.push_str(between);
        }
        line.push_str(&text);
    }
    cut_line(&line, SHOWN_CHARS_MAX)
}

/// Returns the first `max` characters of a text in one line, with a sign if the text is longer.
pub(crate) fn cut_line(text: &str, max: usize) -> Arc<str> {
    let line = shown(text, max + 1);
    match line.char_indices().nth(max) {
        None => line.into(),
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default().trim_end()).into(),
    }
}

fn cut(text: &str) -> Arc<str> {
    match text.char_indices().nth(REPEATED_CHARS_MAX) {
        None => text.into(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_shown_is_one_line_of_at_most_500_characters() {
        let long = "wide\u{2028}\r\n\u{85}\u{b} ".repeat(1_000);
        let fields =
            |embed: Embed| (0..25).fold(embed, |embed, _| embed.field(&*long, &*long, false));
        for shown in [
            Shown::embed(&fields(Embed::new().title(&*long).description(&*long))),
            Shown::components([&long, &long]),
            Shown::sticker(&long),
            Shown::poll(&long, [&long]),
            Shown::Embed(long.as_str().into()),
        ] {
            let line = shown.to_string();
            assert!(line.chars().count() <= 500 + "[components: …]".chars().count() + 1, "{line}");
            assert!(!line.contains(['\n', '\r', '\u{2028}', '\u{85}', '\u{b}']), "{line:?}");
        }
    }

    #[test]
    fn an_excerpt_is_cut_at_a_character_and_says_so() {
        let of = |text: &str| Quoted::answered(UserId::new(1), None, text).content;
        assert_eq!(&*of(&"ä".repeat(200)), "ä".repeat(200));
        assert_eq!(&*of(&"ä".repeat(201)), "ä".repeat(200) + "…");
        assert_eq!(Quoted::forwarded(&"x".repeat(5_000)).content.chars().count(), 2_001);
        assert!(!Quoted::forwarded(" \n").is_visible() && Quoted::forwarded("a").is_visible());
    }

    #[test]
    fn nothing_of_it_is_in_a_debug_text() {
        let quoted = Quoted::forwarded("a secret").with(Vec::new(), vec![Shown::sticker("hidden")]);
        let told = format!("{quoted:?} {:?}", Shown::poll("q-secret", ["a-secret"]));
        assert!(!told.contains("secret") && !told.contains("hidden"), "{told}");
    }
}
