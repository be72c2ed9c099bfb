//! Cutting a long reply into messages that a chat accepts.

use std::sync::LazyLock;

use regex_syntax::hir::ClassUnicode;

use self::fence::{Block, Head, blocks, line_start, quote_mark};
use self::marks::Marks;
use super::unicode::{class, is_in};

mod fence;
mod marks;

/// The longest message of Discord, in UTF-16 code units.
///
/// Discord's documentation says 2,000 characters, but not which characters it counts. Its clients count UTF-16 code
/// units. No other way to count gives a higher number, so a message that is short enough by this count is short enough
/// by all.
pub(crate) const LIMIT: usize = 2_000;

/// The shortest limit of a chat that the library accepts. Below it the marks of a cut code block would leave no room.
const LEAST: usize = 100;

/// The text that closes a fence that a cut leaves open.
const CLOSING: &str = "\n```";
/// The text that closes such a fence in a quote.
const CLOSING_QUOTED: &str = "\n> ```";
const QUOTE: &str = "> ";
const QUOTE_TO_THE_END: &str = ">>> ";

/// Splits a reply into messages of at most 2,000 UTF-16 code units, in order. No message is blank. A blank reply gives
/// no message, and a short one is only trimmed.
///
/// A message ends at the best place: between paragraphs, then lines, sentences or words, or else at the limit. It does
/// not end within an emoji or an accented letter if there is another way. It is at least half full, unless the only
/// better place, or a code block, comes earlier. White space at a cut is dropped, because Discord trims messages.
///
/// A code block stays whole if it fits into one message. A larger block is cut between lines if possible. The fence is
/// closed at the end of one message, and opened again with its language at the start of the next. The indentation of
/// the code stays. A code block is what Discord treats as one: from three backticks to the next three.
///
/// Emphasis (`**`, `*`, `__`, `_`, `~~`, `||`) that is open at a cut is closed there and opened again, and a quote
/// (`> `, `>>> `) continues. A mark is open if its partner is outside of code and addresses, with no code block in
/// between. Tables are cut like any other lines.
///
/// The [`Tail`](dirigent_core::Tail)s of the messages join to the tail of the reply, so that the library recognises the
/// delivery. The work is linear in the length of the reply.
///
/// ```
/// use dirigent::host::split_reply;
///
/// assert_eq!(split_reply(" short "), ["short"]);
///
/// let code = "let x = 1;\n".repeat(300);
/// let messages = split_reply(&format!("Look:\n```rust\n{code}```"));
/// assert_eq!(messages.len(), 2);
/// assert!(messages[0].starts_with("Look:\n```rust\nlet x = 1;\n") && messages[0].ends_with("\n```"));
/// assert!(messages[1].starts_with("```rust\nlet x = 1;\n") && messages[1].ends_with("\n```"));
/// ```
pub fn split_reply(text: &str) -> Vec<String> {
    split_up_to(text, LIMIT, usize::MAX).0
}

/// Returns whether a reply is one message without changes, in a chat whose messages have at most `limit` UTF-16 code
/// units.
pub(crate) fn is_one_message(text: &str, limit: usize) -> bool {
    // There are never more UTF-16 code units than bytes.
    !text.is_empty() && text.len() <= limit.max(LEAST) && text.trim().len() == text.len()
}

/// Returns whether a text of the library's own is one message, in a chat whose messages have at most `limit` UTF-16
/// code units.
pub(crate) fn fits(text: &str, limit: usize) -> bool {
    let limit = limit.max(LEAST);
    text.len() <= limit || text.encode_utf16().count() <= limit
}

/// Returns the part of a text of the library's own that is one message, which is the first message of a split.
pub(crate) fn first_message(text: String, limit: usize) -> String {
    if fits(&text, limit) {
        return text;
    }
    split_up_to(&text, limit, usize::MAX).0.into_iter().next().unwrap_or_default()
}

/// Splits a reply into at most `most` messages of at most `limit` UTF-16 code units. Also returns the rest of the text.
pub(crate) fn split_up_to(text: &str, limit: usize, most: usize) -> (Vec<String>, &str) {
    let (text, limit) = (text.trim(), limit.max(LEAST));
    // There are never more UTF-16 code units than bytes.
    if text.len() <= limit && most > 0 {
        return ((!text.is_empty()).then(|| text.to_owned()).into_iter().collect(), "");
    }
    let mut cutter = ReplySplitter::new(text, limit);
    while cutter.at < text.len() {
        let (at, made) = (cutter.at, cutter.parts.len());
        if made < most {
            cutter.cut();
        }
        if made == most || cutter.parts.len() > most {
            // If a line becomes several messages, the whole line is left over.
            cutter.parts.truncate(made);
            return (cutter.parts, text.get(at..).unwrap_or_default());
        }
    }
    (cutter.parts, "")
}

/// A reply that is being cut.
struct ReplySplitter<'a> {
    /// The whole reply, trimmed.
    text: &'a str,
    /// The longest message.
    limit: usize,
    blocks: Vec<Block<'a>>,
    marks: Marks<'a>,
    /// The place from which on everything is quoted.
    quoted_from: Option<usize>,
    /// The start of the next message. It is not before white space, except for the indentation of code.
    at: usize,
    /// The start of the line that contains `at`.
    line: usize,
    /// The beginning of the next message, for marks and fences that are open there.
    opening: String,
    /// The place where the text goes on behind that.
    body: usize,
    parts: Vec<String>,
}

/// The quality of a place for a cut. Later variants are preferred.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// Within a block that should stay whole, its marks, or characters that look like one.
    Forced,
    /// Between any two characters.
    Hard,
    /// Any of the following, in the first half of the message.
    Early,
    Word,
    Sentence,
    Line,
    Paragraph,
}

/// The room for one message.
struct Window {
    /// The UTF-16 code units that may be used.
    budget: usize,
    /// The place where they end.
    end: usize,
}

impl<'a> ReplySplitter<'a> {
    fn new(text: &'a str, limit: usize) -> Self {
        let blocks = blocks(text);
        let marks = Marks::of(text, &blocks);
        let (opening, parts) = (String::new(), Vec::new());
        let mut cutter = Self {
            text,
            limit,
            blocks,
            marks,
            quoted_from: None,
            at: 0,
            line: 0,
            opening,
            body: 0,
            parts,
        };
        let begins_line = |at: &usize| {
            let before = text.get(..*at).unwrap_or_default().trim_end_matches(' ');
            before.is_empty() || before.ends_with('\n')
        };
        let quotes = text.match_indices(QUOTE_TO_THE_END).map(|(at, _)| at);
        let mut quotes = quotes.filter(|at| begins_line(at) && cutter.block_around(*at).is_none());
        let quoted_from = quotes.next();
        cutter.quoted_from = quoted_from;
        cutter
    }

    /// Finishes the next message, or the messages of a line that cannot be cut like others.
    fn cut(&mut self) {
        let is_unclosed = |block: &&Block<'_>| block.is_unclosed();
        let unclosed = self.open_block(self.at).filter(is_unclosed);
        let closing = unclosed.map_or("", Block::closing);
        let budget = self.limit - units(&self.opening);
        let rest = self.from(self.body);
        let window = Window { budget, end: self.body + fitting(rest, budget) };
        if fitting(rest, budget - closing.len()) == rest.len() {
            self.parts.push(format!("{}{rest}{closing}", self.opening));
            self.at = self.text.len();
        } else if let Some(cut) = self.best_cut(&window) {
            let part = self.text.get(self.body..cut).unwrap_or_default().trim_end();
            let next = self.resume(cut);
            let mut message = format!("{}{part}", self.opening);
            match self.open_block(cut) {
                Some(block) => message.push_str(block.closing()),
                // A mark in its line would become a part of a fence's language.
                None if is_fence_line(part.rsplit('\n').next().unwrap_or_default()) => {}
                None => self.marks.open_at(cut).for_each(|mark| message.push_str(mark)),
            }
            self.parts.push(message);
            self.go_on(next);
        } else if let Some(line) = self.fence_line() {
            self.spell_out(line);
        } else {
            // There is more white space than a message holds, and a fence behind it.
            let part = self.text.get(self.body..window.end).unwrap_or_default().trim_end();
            self.parts.push(format!("{}{part}", self.opening));
            self.go_on(self.resume(window.end));
        }
    }

    /// Starts the next message here, with the marks and fences that are open there.
    fn go_on(&mut self, next: usize) {
        self.line = line_start(self.text, self.line, self.at..next);
        (self.at, self.body) = (next, next);
        let fence = self.open_block(next).map(|block| format!("```{}\n", block.language));
        let quoted = self.from(self.line);
        let mark = quote_mark(quoted);
        let is_quoted = mark > 0 && self.block_around(next).is_none_or(|block| block.is_quoted);
        let quote = if self.quoted_from.is_some_and(|from| from < next) {
            QUOTE_TO_THE_END
        } else if is_quoted {
            self.body = next.max(self.line + mark);
            QUOTE
        } else {
            ""
        };
        let mut opening = quote.to_owned();
        if let Some(fence) = fence {
            opening += &fence;
            opening += if quote == QUOTE { QUOTE } else { "" };
        } else if !is_fence_line(self.from(self.body)) {
            let marks: Vec<_> = self.marks.open_at(next).collect();
            opening.extend(marks.into_iter().rev());
        }
        self.opening = opening;
    }

    fn from(&self, at: usize) -> &'a str {
        self.text.get(at..).unwrap_or_default()
    }

    /// Returns the block that has its opening mark before `at` and ends after it.
    fn block_around(&self, at: usize) -> Option<&Block<'a>> {
        let begun = self.blocks.partition_point(|block| block.start < at);
        let last = begun.checked_sub(1).and_then(|index| self.blocks.get(index));
        last.filter(|block| at < block.end)
    }

    /// Returns the block whose fence must be closed and opened again for a cut at `at`.
    fn open_block(&self, at: usize) -> Option<&Block<'a>> {
        self.block_around(at).filter(|block| block.has_code_at(at))
    }

    /// Returns the start of the message after a cut.
    fn resume(&self, cut: usize) -> usize {
        let next_word = |at| self.text.len() - self.from(at).trim_start().len();
        let next = next_word(cut);
        let Some(block) = self.open_block(cut) else {
            return next;
        };
        let mark = self.from(block.code_end);
        let closes = Head::of(mark).is_some_and(|head| head.is_whole_line);
        let quote = if block.is_quoted { quote_mark(self.from(next)) } else { 0 };
        if next + quote == block.code_end && closes && mark.get(3..).is_some_and(is_blank_line) {
            return next_word(block.end); // the closing line stands for the text's own
        }
        let dropped = self.text.get(cut..next).unwrap_or_default();
        let indented = dropped.rfind('\n').map_or(next, |line| cut + line + 1);
        if next - indented > self.limit / 4 { next } else { indented }
    }

    /// Returns the best place to end the message, if there is any.
    fn best_cut(&self, window: &Window) -> Option<usize> {
        let mut best = None;
        let mut line = Line::at(self, self.body);
        let mut used = 0;
        let mut previous = None;
        for (offset, next) in self.from(self.body).char_indices() {
            let cut = self.body + offset;
            if used > window.budget {
                break;
            }
            if let Some(previous) = previous {
                best =
                    best.max(self.place((previous, next), cut, used, window, &line).zip(Some(cut)));
            }
            if next == '\n' {
                line = Line::at(self, cut + 1);
            }
            used += next.len_utf16();
            previous = Some(next);
        }
        best.map(|(_, cut)| cut)
    }

    /// Returns the quality of a cut between two characters. `None` if there must be no cut.
    fn place(
        &self,
        between: (char, char),
        cut: usize,
        used: usize,
        window: &Window,
        line: &Line,
    ) -> Option<Place> {
        let after = self.from(cut);
        let place = natural_place(between, after)?;
        if place < Place::Line && !line.may_be_cut(cut, after) {
            return None;
        }
        let place = match self.block_around(cut) {
            None => {
                let closing: usize = self.marks.open_at(cut).map(str::len).sum();
                if used + closing > window.budget || !self.marks.may_be_cut(cut) {
                    return None;
                }
                if between.0 == '\\' { place.min(Place::Forced) } else { place }
            }
            Some(block) if used + block.closing().len() > window.budget => return None,
            Some(block) if self.must_be_cut(block, cut, window) => place,
            Some(_) => Place::Forced,
        };
        let is_early = used * 2 < window.budget;
        Some(if is_early { place.min(Place::Early) } else { place })
    }

    /// Returns whether a block must be cut somewhere, and there is code before and after this place.
    fn must_be_cut(&self, block: &Block<'_>, cut: usize, window: &Window) -> bool {
        let fits_here = block.end <= window.end;
        let is_quoted = block.is_quoted || self.quoted_from.is_some_and(|from| from < block.start);
        let quote = if is_quoted { QUOTE_TO_THE_END.len() } else { 0 };
        let fits_next = block.start >= self.body && block.units + quote <= self.limit;
        let code = self.text.get(block.code_start.max(self.body)..cut).unwrap_or_default();
        !fits_here && !fits_next && cut < block.code_end && !code.trim_start().is_empty()
    }

    /// Returns the next line, if it begins with a fence.
    fn fence_line(&self) -> Option<&'a str> {
        let text = self.from(self.body);
        let line = text.trim_start_matches(|c: char| c == '>' || c.is_whitespace());
        line.split('\n').next().filter(|line| line.starts_with("```"))
    }

    /// Cuts a line that is one fence with a language longer than a message. Each piece becomes a fence again, because
    /// `Tail` drops the whole line, so it must drop the pieces too.
    fn spell_out(&mut self, line: &'a str) {
        let text = self.from(self.body);
        let behind = self.body + text.find("```").unwrap_or_default();
        let mut rest = line.trim_end().strip_prefix("```").unwrap_or(line);
        while !rest.is_empty() {
            let (piece, behind) = rest.split_at(fitting(rest, self.limit - 3));
            self.parts.push(format!("```{piece}"));
            rest = behind;
        }
        let behind = self.from(behind + line.len()).trim_start();
        self.go_on(self.text.len() - behind.len());
    }
}

/// Returns whether the first line is only a fence.
fn is_fence_line(text: &str) -> bool {
    Head::of(text).is_some_and(|head| head.is_whole_line)
}

/// The properties of a line, or of the rest of a line after a cut, that matter for cutting it.
struct Line {
    /// The fence at its beginning, in positions of the whole text.
    head: Option<Head>,
}

impl Line {
    fn at(cutter: &ReplySplitter<'_>, start: usize) -> Self {
        let head = Head::of(cutter.from(start));
        let shifted =
            |head: Head| Head { mark_end: start + head.mark_end, end: start + head.end, ..head };
        Self { head: head.map(shifted) }
    }

    /// Returns whether neither the line nor a piece of it is only a fence.
    fn may_be_cut(&self, cut: usize, after: &str) -> bool {
        let is_fence_before = self
            .head
            .is_some_and(|head| head.is_whole_line || (head.mark_end..=head.end).contains(&cut));
        !is_fence_before && !is_fence_line(after)
    }
}

/// Returns the quality of a cut for the words around it. `None` within white space, which counts once, at its
/// beginning.
fn natural_place((previous, next): (char, char), after: &str) -> Option<Place> {
    if previous.is_whitespace() {
        return None;
    }
    if !next.is_whitespace() {
        return Some(match previous {
            '。' | '！' | '？' => Place::Sentence,
            _ if are_joined(previous, next) => Place::Forced,
            _ => Place::Hard,
        });
    }
    let lines = after.chars().take_while(|c| c.is_whitespace()).filter(|c| *c == '\n').count();
    Some(match (lines, previous) {
        (0, '.' | '!' | '?' | '…' | ':' | ';') => Place::Sentence,
        (0, _) => Place::Word,
        (1, _) => Place::Line,
        _ => Place::Paragraph,
    })
}

/// Characters that belong to the one before them: accents and vowel signs, variants, skin tones, and joiners.
static EXTENDING: LazyLock<ClassUnicode> =
    LazyLock::new(|| class(r"[\p{Grapheme_Extend}\p{Mark}\p{Emoji_Modifier}\u{200D}]"));

/// Returns whether two characters look like one. A mistake affects only the look, and not the content.
fn are_joined(previous: char, next: char) -> bool {
    let is_flag_letter = |c| matches!(c, '\u{1f1e6}'..='\u{1f1ff}');
    let extends = !next.is_ascii() && is_in(&EXTENDING, next);
    extends || previous == '\u{200d}' || (is_flag_letter(previous) && is_flag_letter(next))
}

fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Returns how many bytes of a text fit into this number of UTF-16 code units.
fn fitting(text: &str, units: usize) -> usize {
    let mut used = 0;
    let beyond = text.char_indices().find(|(_, c)| {
        used += c.len_utf16();
        used > units
    });
    beyond.map_or(text.len(), |(offset, _)| offset)
}

/// Returns whether the text up to its first line feed is blank.
fn is_blank_line(text: &str) -> bool {
    let rest = text.trim_start_matches(|c: char| c.is_whitespace() && c != '\n');
    rest.is_empty() || rest.starts_with('\n')
}

#[cfg(test)]
mod tests;
