//! The end of a text, normalised, so that what an agent wrote can be recognised in what arrived.

use core::fmt;
use core::hash::{Hash, Hasher};

/// The last scalars of a text without white space, marks of Markdown (`*`, `_`, `~`, `|`, `>`, `-`,
/// backticks) and fence-only lines, at most [`Tail::MAX`], the length of the whole text counted in
/// the same way, and whether its message has an attachment.
///
/// A host cuts a reply into several messages, trims each, closes and reopens code fences, quotes and
/// emphasis, and draws tables anew. Comparing tails is immune to all of that: joining the tails of
/// the pieces gives the tail of the whole, with its length. The length tells a reply that a host
/// rewrote on its way from one that has not arrived completely. `Debug` shows only numbers: the words of a conversation never reach a log.
///
/// ```
/// use dirigent_core::Tail;
///
/// let whole = Tail::of("Here is the code:\n```rust\nlet x = 1;\n```\nand that is all");
/// let mut pieces = Tail::of("Here is the code:\n```rust\nlet x =\n```");
/// pieces.join(&Tail::of("```rust\n1;\n```\nand that is all"));
/// assert!(pieces.ends_with(&whole.last(40)));
/// ```
#[derive(Clone, Copy)]
pub struct Tail {
    /// UTF-8 of the kept scalars, in the first `len` bytes; the rest means nothing.
    bytes: [u8; Self::BYTES],
    /// Bytes in use.
    len: u16,
    /// Scalars in these bytes.
    scalars: u8,
    /// Whether the message has an attachment.
    attached: bool,
    /// Scalars of the whole text; 0 where scalars are kept and the length is unknown.
    length: u32,
}

impl Tail {
    /// The most scalars kept.
    pub const MAX: usize = 64;
    /// Room for `MAX` scalars of four bytes.
    const BYTES: usize = Self::MAX * 4;

    /// The tail of no text.
    pub const EMPTY: Self =
        Self { bytes: [0; Self::BYTES], len: 0, scalars: 0, attached: false, length: 0 };

    /// Digests a text. Keeps its end and counts the rest.
    pub fn of(text: &str) -> Self {
        let mut buffer = ['\0'; Self::MAX];
        let mut kept = 0;
        let mut scalars = Self::compared(text).rev();
        for (slot, scalar) in buffer.iter_mut().zip(scalars.by_ref()) {
            *slot = scalar;
            kept += 1;
        }
        let mut tail = Self::EMPTY;
        buffer.iter().take(kept).rev().for_each(|scalar| tail.push(*scalar));
        tail.length = u32::try_from(kept.saturating_add(scalars.count())).unwrap_or(u32::MAX);
        tail
    }

    /// What of a text is compared, in order: its scalars without white space, marks and fence-only lines.
    ///
    /// ```
    /// use dirigent_core::Tail;
    ///
    /// assert!(Tail::compared("> **Not** now").eq(Tail::compared("Not\nnow")));
    /// ```
    pub fn compared(text: &str) -> impl DoubleEndedIterator<Item = char> {
        let lines = text.split('\n').filter(|line| !is_fence(line));
        lines.flat_map(str::chars).filter(|scalar| is_compared(*scalar))
    }

    /// Puts a digest together from what was stored of it. `length` is `None` where it was not stored.
    /// It is never less than the number of scalars in `end`. `end` is taken as it stands, without a
    /// look for code fences and marks; of more than [`Tail::MAX`] scalars the last are kept.
    ///
    /// ```
    /// use dirigent_core::Tail;
    /// let tail = Tail::of("a reply with an image").with_attachment();
    /// assert_eq!(Tail::from_parts(tail.as_str(), tail.length(), tail.has_attachment()), tail);
    /// assert_eq!(Tail::from_parts("reply", None, false).length(), None);
    /// ```
    #[must_use]
    pub fn from_parts(end: &str, length: Option<u32>, attached: bool) -> Self {
        let mut tail = Self::EMPTY;
        let scalars = end.chars().filter(|c| !c.is_whitespace());
        let surplus = scalars.clone().count().saturating_sub(Self::MAX);
        scalars.skip(surplus).for_each(|scalar| tail.push(scalar));
        let kept = u32::try_from(tail.len()).unwrap_or(u32::MAX);
        Self { attached, length: length.map_or(0, |length| length.max(kept)), ..tail }
    }

    /// The same digest, of a message with an attachment.
    ///
    /// ```
    /// use dirigent_core::Tail;
    /// assert!(Tail::EMPTY.with_attachment().has_attachment());
    /// ```
    #[must_use]
    pub const fn with_attachment(mut self) -> Self {
        self.attached = true;
        self
    }

    /// Whether the message has an attachment; of a joined digest: whether any of the messages has one.
    pub const fn has_attachment(&self) -> bool {
        self.attached
    }

    /// How many scalars the whole text has, without white space, marks and fence-only lines; `None`
    /// where that is unknown. Saturates at [`u32::MAX`].
    ///
    /// ```
    /// use dirigent_core::Tail;
    /// assert_eq!(Tail::of(&"word ".repeat(50)).length(), Some(200));
    /// ```
    pub const fn length(&self) -> Option<u32> {
        if self.length == 0 && !self.is_empty() { None } else { Some(self.length) }
    }

    /// Appends what followed in the next message, keeping the last [`Tail::MAX`] scalars. The lengths
    /// add up; where one is unknown, so is the sum.
    pub fn join(&mut self, next: &Self) {
        let mut joined = self.last(Self::MAX.saturating_sub(next.len()));
        joined.append(next.as_bytes(), next.scalars);
        joined.attached |= next.attached;
        joined.length = match (self.length(), next.length()) {
            (Some(before), Some(after)) => before.saturating_add(after),
            (None, _) | (_, None) => 0,
        };
        *self = joined;
    }

    /// The last `count` scalars. Length and attachment stay those of the whole.
    #[must_use]
    pub fn last(&self, count: usize) -> Self {
        let mut shorter = Self::EMPTY;
        shorter.set_to_last(self, count);
        shorter
    }

    /// Becomes the last `count` scalars of another tail. Writes in place, and only what is kept: this
    /// is done twice in every turn, and a whole tail has four times as many bytes as most texts need.
    pub(crate) fn set_to_last(&mut self, whole: &Self, count: usize) {
        let kept = count.min(whole.len());
        (self.length, self.attached) = (whole.length, whole.attached);
        (self.len, self.scalars) = (0, 0);
        let end = whole.as_bytes().get(whole.start_of_last(kept)..).unwrap_or_default();
        self.append(end, u8::try_from(kept).unwrap_or(0));
    }

    /// Where the last `count` scalars begin; `count` is at most [`Self::len`].
    fn start_of_last(&self, count: usize) -> usize {
        let bytes = self.as_bytes();
        if count == self.len() {
            return 0;
        }
        if self.len() == bytes.len() {
            // Each scalar is one byte: there is nothing to search.
            return bytes.len() - count;
        }
        let starts = bytes.iter().enumerate().rev().filter(|(_, byte)| is_first_byte(**byte));
        match count.checked_sub(1) {
            Some(before) => starts.map(|(at, _)| at).nth(before).unwrap_or(0),
            None => bytes.len(),
        }
    }

    /// Whether this tail ends with `end`. Everything ends with the empty tail.
    pub fn ends_with(&self, end: &Self) -> bool {
        self.as_bytes().ends_with(end.as_bytes())
    }

    /// Scalars kept.
    pub const fn len(&self) -> usize {
        self.scalars as usize
    }

    /// Whether nothing was kept: the text was blank, or only marks and fences.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The kept scalars. This is message text: do not log it.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }

    /// Becomes the tail of no text, in place.
    pub(crate) const fn clear(&mut self) {
        (self.len, self.scalars, self.attached, self.length) = (0, 0, false, 0);
    }

    fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or_default()
    }

    fn push(&mut self, scalar: char) {
        self.append(scalar.encode_utf8(&mut [0; 4]).as_bytes(), 1);
    }

    /// Appends this number of whole scalars; the callers see to it that there is room.
    fn append(&mut self, bytes: &[u8], scalars: u8) {
        let start = usize::from(self.len);
        if let Some(room) = self.bytes.get_mut(start..start + bytes.len()) {
            room.copy_from_slice(bytes);
            self.len += u16::try_from(bytes.len()).unwrap_or(0);
            self.scalars += scalars;
        }
    }

    /// Everything that two tails are compared by.
    fn parts(&self) -> (&[u8], u32, bool) {
        (self.as_bytes(), self.length, self.attached)
    }
}

/// Whether a byte of UTF-8 begins a scalar.
const fn is_first_byte(byte: u8) -> bool {
    byte & 0b1100_0000 != 0b1000_0000
}

impl PartialEq for Tail {
    fn eq(&self, other: &Self) -> bool {
        self.parts() == other.parts()
    }
}

impl Eq for Tail {}

impl Hash for Tail {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.parts().hash(state);
    }
}

impl Default for Tail {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl fmt::Debug for Tail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tail({} scalars)", self.len())
    }
}

/// How many `>` may stand before a fence.
const QUOTES_MAX: usize = 8;

/// Whether a scalar counts. White space and the marks of Markdown do not: hosts put them in and take
/// them out.
fn is_compared(scalar: char) -> bool {
    !scalar.is_whitespace() && !matches!(scalar, '*' | '_' | '~' | '|' | '>' | '-' | '`')
}

/// Whether a line only opens or closes a code fence, in a quote or not.
fn is_fence(line: &str) -> bool {
    let mut line = line.trim();
    for _ in 0..QUOTES_MAX {
        let Some(quoted) = line.strip_prefix('>') else { break };
        line = quoted.trim_start();
    }
    let Some(rest) = line.strip_prefix("```") else {
        return false;
    };
    rest.chars().all(|c| c.is_alphanumeric() || matches!(c, '+' | '-' | '#' | '_' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_pieces_have_the_tail_of_the_whole() {
        let text = "first **line**\n> second line with ümlauts and 漢字 and 🎼\n| third |\n|---|";
        for cut in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
            let (front, back) = text.split_at(cut);
            let mut joined = Tail::of(front);
            joined.join(&Tail::of(back));
            assert_eq!(joined, Tail::of(text), "cut at {cut}");
        }
    }

    /// HR18
    #[test]
    fn marks_that_a_host_puts_in_or_takes_out_make_no_difference() {
        let plain = Tail::of("Name Age Ann 3 the end");
        for marked in [
            "| Name | Age |\n|---|---|\n| Ann | 3 |\n> **the __end__**",
            ">>> ~~Name~~ ||Age|| *Ann* 3\n>>> > ```rust\n_the_ `end`\n```",
        ] {
            assert_eq!(Tail::of(marked), plain, "{marked}");
        }
        assert!(Tail::of("*** --- ||").is_empty());
        assert_ne!(Tail::of("> ```rust and more"), Tail::EMPTY);
    }

    #[test]
    fn scalars_of_every_width_are_counted_kept_and_read_back_whole() {
        extern crate std;
        for scalar in ["a", "@", "ü", "漢", "🎼"] {
            let tail = Tail::of(&scalar.repeat(Tail::MAX + 6));
            assert_eq!(tail.len(), Tail::MAX, "{scalar}");
            assert_eq!(tail.as_str(), scalar.repeat(Tail::MAX), "{scalar} fills the room");
            assert_eq!(tail.last(5).as_str(), scalar.repeat(5));
        }
        let mixed = Tail::of("@ü漢🎼@");
        assert_eq!((mixed.len(), mixed.as_str()), (5, "@ü漢🎼@"));
        let ends = [0, 1, 2, 3, 4, 5, 6].map(|count| mixed.last(count));
        let expected = ["", "@", "🎼@", "漢🎼@", "ü漢🎼@", "@ü漢🎼@", "@ü漢🎼@"];
        assert_eq!(ends.each_ref().map(Tail::as_str), expected);
    }

    #[test]
    fn what_a_tail_was_before_does_not_show_in_what_it_becomes() {
        let mut tail = Tail::of("a long text that fills many bytes").with_attachment();
        let (short, wide) = (Tail::of("short"), Tail::of("ü漢🎼"));
        tail.set_to_last(&short, Tail::MAX);
        assert_eq!(tail, short);
        tail.set_to_last(&wide, 2);
        assert_eq!((tail, tail.len()), (wide.last(2), 2));
        tail.clear();
        assert_eq!(tail, Tail::EMPTY);
    }

    #[test]
    fn debug_shows_no_text() {
        extern crate std;
        assert_eq!(std::format!("{:?}", Tail::of("secret words")), "Tail(11 scalars)");
    }

    #[test]
    fn a_long_text_keeps_its_last_scalars() {
        extern crate std;
        let text = "x".repeat(500) + "the end";
        assert_eq!(Tail::of(&text).len(), Tail::MAX);
        assert!(Tail::of(&text).ends_with(&Tail::of("the end")));
    }
}
