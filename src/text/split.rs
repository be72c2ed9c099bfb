//! Cutting a long reply into messages that Discord accepts.

use std::sync::LazyLock;

use regex_syntax::hir::ClassUnicode;

use self::fence::{Block, Head, blocks};
use super::unicode::{class, is_in};

mod fence;

/// The longest message, in UTF-16 code units.
///
/// Discord's documentation says 2,000 characters and not what a character is. Its clients count
/// UTF-16 code units, of which there are never fewer than of any other kind of character, so a
/// message that is short enough by this count is short enough by all.
const LIMIT: usize = 2_000;

/// What closes a fence that a cut leaves open.
const CLOSING: &str = "\n```";

/// Splits a reply into messages of at most 2,000 UTF-16 code units, in order, none of them blank.
/// A blank reply gives none, and a short one is only trimmed.
///
/// A message ends, best first, between paragraphs, lines, sentences, words, or else where it is
/// full, but not within an emoji or an accented letter if there is any other way. It is at least
/// half full unless the only better place, or a code block, comes earlier. White space at a cut is
/// dropped, as Discord trims messages.
///
/// Code blocks stay whole if they fit into one message. Larger ones are cut between lines where
/// possible; the fence is closed at the end of one message and reopened, with its language, at the
/// start of the next, whose indentation stays. What is a code block is what Discord takes for one:
/// from any three backticks to the next three.
///
/// The [`Tail`](dirigent_core::Tail)s of the messages join to the tail of the reply, so delivery
/// can be recognised. The work is linear in the length of the reply.
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
    split_up_to(text, usize::MAX).0
}

/// Whether a reply is one message as it is.
pub(crate) fn is_one_message(text: &str) -> bool {
    // There are never more UTF-16 code units than bytes.
    !text.is_empty() && text.len() <= LIMIT && text.trim().len() == text.len()
}

/// Splits a reply into at most this many messages, and returns what was left over, too.
pub(crate) fn split_up_to(text: &str, most: usize) -> (Vec<String>, &str) {
    let text = text.trim();
    // There are never more UTF-16 code units than bytes.
    if text.len() <= LIMIT && most > 0 {
        return ((!text.is_empty()).then(|| text.to_owned()).into_iter().collect(), "");
    }
    let mut cutter = Cutter { text, blocks: blocks(text), at: 0, parts: Vec::new() };
    while cutter.at < text.len() {
        let (at, made) = (cutter.at, cutter.parts.len());
        if made < most {
            cutter.cut();
        }
        if made == most || cutter.parts.len() > most {
            // A line that makes several messages is left over as a whole.
            cutter.parts.truncate(made);
            return (cutter.parts, text.get(at..).unwrap_or_default());
        }
    }
    (cutter.parts, "")
}

/// A reply that is being cut.
struct Cutter<'a> {
    /// The whole reply, trimmed.
    text: &'a str,
    /// Its code blocks.
    blocks: Vec<Block<'a>>,
    /// Where the next message begins; not before white space, but for the indentation of code.
    at: usize,
    /// The finished messages.
    parts: Vec<String>,
}

/// How good a place for a cut is. Later ones are preferred.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// Within a block that should stay whole, its marks, or what looks like one character.
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
    /// UTF-16 code units that may be taken.
    budget: usize,
    /// Where they end.
    end: usize,
}

impl<'a> Cutter<'a> {
    /// Finishes the next message, or the messages of a line that cannot be cut like others.
    fn cut(&mut self) {
        let open = self.open_block(self.at);
        let opening = open.map(|block| format!("```{}\n", block.language)).unwrap_or_default();
        let closing = if open.is_some_and(Block::is_unclosed) { CLOSING } else { "" };
        let budget = LIMIT - units(&opening);
        let rest = self.from(self.at);
        let window = Window { budget, end: self.at + fitting(rest, budget) };
        if fitting(rest, budget - closing.len()) == rest.len() {
            self.parts.push(format!("{opening}{rest}{closing}"));
            self.at = self.text.len();
        } else if let Some(cut) = self.best_cut(&window) {
            let (next, closing) = self.resume(cut);
            let part = self.text.get(self.at..cut).unwrap_or_default().trim_end();
            self.parts.push(format!("{opening}{part}{closing}"));
            self.at = next;
        } else {
            self.spell_out_fence_line();
        }
    }

    fn from(&self, at: usize) -> &'a str {
        self.text.get(at..).unwrap_or_default()
    }

    /// The block that has its opening mark before `at` and does not end there or earlier.
    fn block_around(&self, at: usize) -> Option<&Block<'a>> {
        let begun = self.blocks.partition_point(|block| block.start < at);
        let last = begun.checked_sub(1).and_then(|index| self.blocks.get(index));
        last.filter(|block| at < block.end)
    }

    /// The block whose fence has to be closed and reopened for a cut at `at`.
    fn open_block(&self, at: usize) -> Option<&Block<'a>> {
        self.block_around(at).filter(|block| block.has_code_at(at))
    }

    /// Where the message after a cut begins, and what the one before it has to be closed with.
    fn resume(&self, cut: usize) -> (usize, &'static str) {
        let next_word = |at| self.text.len() - self.from(at).trim_start().len();
        let next = next_word(cut);
        let Some(block) = self.open_block(cut) else {
            return (next, "");
        };
        let mark = self.from(block.code_end);
        let closes = Head::of(mark).is_some_and(|head| head.is_whole_line);
        if next == block.code_end && closes && mark.get(3..).is_some_and(is_blank_line) {
            return (next_word(block.end), CLOSING); // the closing line stands for the text's own
        }
        let dropped = self.text.get(cut..next).unwrap_or_default();
        let indented = dropped.rfind('\n').map_or(next, |line| cut + line + 1);
        (if next - indented > LIMIT / 4 { next } else { indented }, CLOSING)
    }

    /// The best place to end the message, if there is any.
    fn best_cut(&self, window: &Window) -> Option<usize> {
        let mut best = None;
        let mut line = Line::at(self, self.at);
        let mut used = 0;
        let mut previous = None;
        for (offset, next) in self.from(self.at).char_indices() {
            let cut = self.at + offset;
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

    /// How good a cut between two characters is; `None` if it may not be.
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
            None => place,
            Some(_) if used + CLOSING.len() > window.budget => return None,
            Some(block) if self.must_be_cut(block, cut, window) => place,
            Some(_) => Place::Forced,
        };
        let is_early = used * 2 < window.budget;
        Some(if is_early { place.min(Place::Early) } else { place })
    }

    /// Whether a block has to be cut somewhere, and there is code before and after this place.
    fn must_be_cut(&self, block: &Block<'_>, cut: usize, window: &Window) -> bool {
        let fits_here = block.end <= window.end;
        let fits_next = block.start >= self.at && block.units <= LIMIT;
        let code = self.text.get(block.code_start.max(self.at)..cut).unwrap_or_default();
        !fits_here && !fits_next && cut < block.code_end && !code.trim_start().is_empty()
    }

    /// Cuts a line that is one fence with a language longer than a message. Each piece is made a
    /// fence again: `Tail` drops the line as a whole, so it has to drop the pieces too.
    fn spell_out_fence_line(&mut self) {
        let line = self.from(self.at).trim_start();
        let line = line.split('\n').next().unwrap_or_default();
        let mut rest = line.trim_end().strip_prefix("```").unwrap_or(line);
        while !rest.is_empty() {
            let (piece, behind) = rest.split_at(fitting(rest, LIMIT - 3));
            self.parts.push(format!("```{piece}"));
            rest = behind;
        }
        let behind = self.from(self.at).trim_start().strip_prefix(line).unwrap_or_default();
        self.at = self.text.len() - behind.trim_start().len();
    }
}

/// What has to be known of a line, or of what a cut left of it, to cut it.
struct Line {
    /// Its leading fence, in positions of the whole text.
    head: Option<Head>,
}

impl Line {
    fn at(cutter: &Cutter<'_>, start: usize) -> Self {
        let head = Head::of(cutter.from(start));
        let shifted =
            |head: Head| Head { mark_end: start + head.mark_end, end: start + head.end, ..head };
        Self { head: head.map(shifted) }
    }

    /// Whether neither the line nor a piece of it is a fence and nothing else.
    fn may_be_cut(&self, cut: usize, after: &str) -> bool {
        let is_fence_before = self
            .head
            .is_some_and(|head| head.is_whole_line || (head.mark_end..=head.end).contains(&cut));
        !is_fence_before && !Head::of(after).is_some_and(|head| head.is_whole_line)
    }
}

/// How good a cut is for the words around it; `None` within white space, which is looked at once,
/// where it begins.
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

/// Characters that belong to the one before them: accents and vowel signs, variants, skin tones, and what joins.
static EXTENDING: LazyLock<ClassUnicode> =
    LazyLock::new(|| class(r"[\p{Grapheme_Extend}\p{Mark}\p{Emoji_Modifier}\u{200D}]"));

/// Whether two characters look like one. A miss costs looks, not content.
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

/// Whether the text up to its first line feed is blank.
fn is_blank_line(text: &str) -> bool {
    let rest = text.trim_start_matches(|c: char| c.is_whitespace() && c != '\n');
    rest.is_empty() || rest.starts_with('\n')
}
