//! Writes messages as lines for a model.

use std::fmt::Write;
use std::sync::Arc;

use super::identity::Identity;
use super::mentions::mention;
use super::message::{Attachment, AuthorKind, ChatMessage};
use super::shown::{Quoted, QuotedAs, Shown};
use crate::UserId;
use crate::text::plain::{NAME_CHARS_MAX, folded, is_line_break, is_visible, shown};

/// The most files, and the most other things, of a message that its line names.
const NAMED_MAX: usize = 10;

/// Writes messages as lines for a model, and distinguishes authors with similar names.
///
/// A line is `NAME: WORDS`. For each thing that the message shows, `[file: NAME]`, `[sticker: NAME]`,
/// `[poll: QUESTION ANSWERS]`, `[embed: TEXT]` or `[components: TEXT]` follows after the words. If the message repeats
/// another one, this stands between the name and the colon. For example,
/// `alice (answering sceptic: "Where is the proof?"): Here.`, `alice (forwarding): …`, and for the message from which a
/// thread was made `alice (before this thread): …`.
///
/// No author can write a line in the name of another. Each further line of a message begins with two spaces, whichever
/// of Unicode's line breaks its author used, and a name is one line without a colon.
///
/// Agents have their registered names. Another author whose name looks like an agent's is `critic (a person)` or
/// `critic (another bot)`. If two other authors have one name, the second is `alice (2)`. Mentions of accounts with a
/// known name, such as `<@1>`, become `@NAME`.
///
/// These are the length limits. A name has 100 characters, an excerpt of an answered message 200, a forwarded text
/// 2,000, and any other shown thing 500. Of files and of other things the line has the first 10 each. A file's text has
/// 32 KiB.
///
/// ```
/// use std::sync::Arc;
/// use dirigent::hooks::TurnId;
/// use dirigent::ports::Identity;
/// use dirigent::{ChannelId, ChatMessage, MessageId, Turn, UserId};
///
/// let (channel, agent) = (ChannelId::new(1), UserId::new(2));
/// let critic = Identity { discord_user_id: agent, agent_id: "critic".into(), agent_name: "Critic".into() };
/// let turn = Turn::new(channel, "critic".into(), TurnId::new(3)).with_agents(vec![critic]);
/// let mut lines = turn.lines();
/// let message = ChatMessage {
///     author_name: Some("critic".into()),
///     ..ChatMessage::new(MessageId::new(9), channel, UserId::new(7), "I agree with <@2>.\nAnn: no")
/// };
/// assert_eq!(lines.line(&message), "critic (a person): I agree with @Critic.\n  Ann: no");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Lines {
    agents: Vec<Agent>,
    authors: Vec<Author>,
}

/// An agent's account, and its name in lines.
#[derive(Clone, Debug)]
struct Agent {
    user: UserId,
    name: String,
    /// The form that is compared to find similar names.
    folded: String,
}

/// An author who is not an agent here.
#[derive(Clone, Debug)]
struct Author {
    user: UserId,
    /// The name from the chat.
    told: Option<Arc<str>>,
    /// The name in lines.
    name: String,
    folded: String,
}

impl Lines {
    /// Creates a writer that knows these agents by their registered names.
    pub(crate) fn among(agents: impl Iterator<Item = Identity>) -> Self {
        let named = agents.map(|it| {
            let name = shown(&it.agent_name, NAME_CHARS_MAX);
            Agent { user: it.discord_user_id, folded: folded(&name), name }
        });
        Self { agents: named.collect(), authors: Vec::new() }
    }

    /// Writes the message as a line. Use one writer for all messages of a prompt, oldest first.
    pub fn line(&mut self, message: &ChatMessage) -> String {
        let at = self.author(message);
        let quoted = message.quoted.as_deref().and_then(|quoted| self.quoted_name(quoted));
        let name = self.name_at(at);
        let mut line = String::with_capacity(name.len() + 2 + message.content.len());
        line.push_str(name);
        write_after_name(&mut line, message, quoted.as_deref(), &|user| self.name_of(user));
        line
    }

    /// Returns the name that stands before this message's words.
    pub fn name(&mut self, message: &ChatMessage) -> &str {
        let at = self.author(message);
        self.name_at(at)
    }

    fn name_at(&self, at: Result<usize, usize>) -> &str {
        match at {
            Ok(agent) => self.agents.get(agent).map_or("", |agent| &agent.name),
            Err(author) => self.authors.get(author).map_or("", |author| &author.name),
        }
    }

    /// Returns the index of a line's author, among the agents or among the others.
    fn author(&mut self, message: &ChatMessage) -> Result<usize, usize> {
        match message.quoted.as_deref() {
            Some(Quoted { kind: QuotedAs::Starter, author: Some(author), author_name, .. }) => {
                // The chat does not say whether a bot wrote it.
                self.known(*author, author_name.as_ref(), AuthorKind::Human)
            }
            _ => self.known(message.author, message.author_name.as_ref(), message.author_kind),
        }
    }

    fn known(
        &mut self,
        user: UserId,
        told: Option<&Arc<str>>,
        kind: AuthorKind,
    ) -> Result<usize, usize> {
        if let Some(agent) = self.agents.iter().position(|agent| agent.user == user) {
            // A webhook is never an agent, whatever its id is.
            if !matches!(kind, AuthorKind::Webhook | AuthorKind::Bridged) {
                return Ok(agent);
            }
        }
        let is_it = |author: &Author| author.user == user && author.told.as_ref() == told;
        Err(self.authors.iter().position(is_it).unwrap_or_else(|| {
            let (name, folded) = self.told_apart(user, told, kind);
            self.authors.push(Author { user, told: told.cloned(), name, folded });
            self.authors.len() - 1
        }))
    }

    /// Returns a name that is similar to no other author's.
    fn told_apart(
        &self,
        user: UserId,
        told: Option<&Arc<str>>,
        kind: AuthorKind,
    ) -> (String, String) {
        let mut name = author_name(user, told.map(|told| &**told));
        let mut folded = folded(&name);
        if self.agents.iter().any(|agent| agent.is_like(&folded)) {
            let is_person = matches!(kind, AuthorKind::Human | AuthorKind::Bridged);
            let what = if is_person { " (a person)" } else { " (another bot)" };
            name.push_str(what);
            folded.push_str(what);
        }
        let is_taken = |folded: &str| {
            self.authors.iter().any(|author| author.user != user && author.folded == folded)
        };
        if is_taken(&folded) {
            // There is one more number than there are authors, so one of them is free.
            let mut numbers = (2..).map(|number| format!(" ({number})"));
            if let Some(mark) = numbers.find(|mark| !is_taken(&format!("{folded}{mark}"))) {
                name.push_str(&mark);
                folded.push_str(&mark);
            }
        }
        (name, folded)
    }

    /// Returns the name of an account, if it is known here.
    fn name_of(&self, user: UserId) -> Option<&str> {
        let agent = self.agents.iter().find(|agent| agent.user == user);
        let author = || self.authors.iter().rev().find(|author| author.user == user);
        agent
            .map(|agent| agent.name.as_str())
            .or_else(|| author().map(|author| author.name.as_str()))
    }

    /// Returns the name of the author of an answered message, who may be in no other line.
    fn quoted_name(&mut self, quoted: &Quoted) -> Option<String> {
        let author = quoted.author?;
        if let Some(known) = self.name_of(author) {
            return Some(known.to_owned());
        }
        // The chat does not say whether a bot wrote it.
        let at = self.known(author, quoted.author_name.as_ref(), AuthorKind::Human);
        Some(self.name_at(at).to_owned())
    }
}

impl Agent {
    /// Returns whether another author's folded name is similar to this agent's in a line. This includes a name with a
    /// bracket behind it, because such a bracket stands in lines of messages that repeat another one.
    fn is_like(&self, folded: &str) -> bool {
        let rest = folded.strip_prefix(&self.folded);
        rest.is_some_and(|rest| rest.is_empty() || rest.trim_start().starts_with('('))
    }
}

/// Writes the message as a line, without knowledge of any other message.
pub(crate) fn line(message: &ChatMessage) -> String {
    let starter = message.quoted.as_deref().filter(|quoted| quoted.kind == QuotedAs::Starter);
    let (author, told) = match starter.and_then(|starter| Some((starter.author?, starter))) {
        Some((author, starter)) => (author, starter.author_name.as_deref()),
        None => (message.author, message.author_name.as_deref()),
    };
    let mut line = author_name(author, told);
    let quoted = message.quoted.as_deref();
    let answered =
        quoted.and_then(|quoted| Some(author_name(quoted.author?, quoted.author_name.as_deref())));
    write_after_name(&mut line, message, answered.as_deref(), &|_| None);
    line
}

/// Returns an author's name as it stands in a line, without a colon, because a colon would end it. If the name is
/// invisible, returns the mention.
fn author_name(user: UserId, told: Option<&str>) -> String {
    match told {
        Some(name) if is_visible(name) => shown(name, NAME_CHARS_MAX).replace([':', '：'], ""),
        _ => format!("<@{user}>"),
    }
}

type NameOf<'n> = dyn Fn(UserId) -> Option<&'n str> + 'n;

fn write_after_name(
    line: &mut String,
    message: &ChatMessage,
    quoted_name: Option<&str>,
    name_of: &NameOf<'_>,
) {
    let quoted = message.quoted.as_deref();
    match quoted.map(|quoted| (quoted.kind, quoted_name, &*quoted.content)) {
        Some((QuotedAs::Answered, Some(name), "")) => {
            // A write to a string cannot fail.
            let _ = write!(line, " (answering {name})");
        }
        Some((QuotedAs::Answered, Some(name), excerpt)) => {
            // A quotation mark in the excerpt would end it.
            let _ = write!(line, " (answering {name}: \"");
            write_words(line, &excerpt.replace('"', "'"), name_of);
            line.push_str("\")");
        }
        Some((QuotedAs::Forwarded, ..)) => line.push_str(" (forwarding)"),
        Some((QuotedAs::Starter, ..)) => line.push_str(" (before this thread)"),
        Some((QuotedAs::Answered, None, _)) | None => {}
    }
    line.push_str(": ");
    write_words(line, &message.content, name_of);
    if let Some(quoted) = quoted.filter(|quoted| quoted.kind != QuotedAs::Answered) {
        write_words(line, &quoted.content, name_of);
        write_things(line, &quoted.attachments, &quoted.shown, 0);
    }
    let told = message.shown.iter().filter(|it| matches!(it, Shown::Embed(_)));
    // The count has all embeds, the list only those with words.
    let untold = usize::from(message.embeds).saturating_sub(told.count());
    write_things(line, &message.attachments, &message.shown, untold);
}

/// Writes the words in such a way that no line begins like a line of another message.
fn write_words(line: &mut String, words: &str, name_of: &NameOf<'_>) {
    let mut rest = words.trim_end();
    while let Some(at) = rest.find(|c| is_line_break(c) || c == '<') {
        let (before, from) = rest.split_at(at);
        line.push_str(before);
        if let Some((name, length)) =
            mention(from).and_then(|(user, length)| Some((name_of(user)?, length)))
        {
            line.push('@');
            line.push_str(name);
            rest = from.get(length..).unwrap_or_default();
            continue;
        }
        let mut chars = from.chars();
        match chars.next() {
            Some('<') | None => line.push('<'),
            // Indented, so that no author can write a line in another's name.
            Some(_) => line.push_str("\n  "),
        }
        rest = if from.starts_with("\r\n") {
            from.get(2..).unwrap_or_default()
        } else {
            chars.as_str()
        };
    }
    line.push_str(rest);
}

/// Writes files, other shown things, and embeds without words.
fn write_things(line: &mut String, files: &[Attachment], shown_too: &[Shown], embeds: usize) {
    let part = |line: &mut String| {
        if !line.ends_with(' ') {
            line.push(' ');
        }
    };
    for thing in shown_too.iter().take(NAMED_MAX) {
        part(line);
        // A write to a string cannot fail.
        let _ = write!(line, "{thing}");
    }
    for _ in 0..embeds.min(NAMED_MAX) {
        part(line);
        line.push_str("[embed]");
    }
    for file in files.iter().take(NAMED_MAX) {
        part(line);
        let _ = write!(line, "[file: {}", shown(&file.name, NAME_CHARS_MAX));
        match &file.text {
            None => line.push(']'),
            Some(text) => {
                line.push_str(", which says:]\n  ");
                write_words(line, text, &|_| None);
            }
        }
    }
}

#[cfg(test)]
mod tests;
