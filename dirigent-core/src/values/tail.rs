//! The normalised end of a text. It serves to recognise an agent's reply when it arrives.

use core::fmt;
use core::hash::{Hash, Hasher};

/// A digest of a text: its last scalars, its length, and the mark of an attachment. It keeps at most [`Tail::MAX`]
/// scalars, and leaves out white space, fence-only lines, and marks of Markdown (`*`, `_`, `~`, `|`, `>`, `-`,
/// backticks). The length counts the whole text in the same way.
///
/// You need it because a host changes a reply on its way. For example, it cuts the reply into several messages, trims
/// each, closes and reopens code fences, quotes and emphasis, and draws tables anew. Tails survive all of that, because
/// joining the tails of the pieces gives the tail of the whole, with its length. The length shows whether a host
/// rewrote a reply, or whether a part of it has not arrived yet. `Debug` shows only numbers, so that the words of a
/// conversation never reach a log.
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
    /// The kept scalars as UTF-8, in the first `len` bytes. The other bytes have no meaning.
    bytes: [u8; Self::BYTES],
    /// The number of bytes in use.
    len: u16,
    /// The number of scalars in these bytes.
    scalars: u8,
    /// True if the message has an attachment.
    attached: bool,
    /// The number of scalars in the whole text. It is 0 if there are scalars but the length is unknown.
    length: u32,
}

impl Tail {
    /// The most scalars that a tail keeps.
    pub const MAX: usize = 64;
    /// The space for `MAX` scalars of four bytes.
    const BYTES: usize = Self::MAX * 4;

    /// The tail of an empty text.
    pub const EMPTY: Self =
        Self { bytes: [0; Self::BYTES], len: 0, scalars: 0, attached: false, length: 0 };

    /// Digests a text: keeps its end, and counts the rest.
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

    /// Returns the part of a text that is compared, in order. These are its scalars without white space, marks and
    /// fence-only lines.
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

    /// Restores a digest from its stored parts. Pass `None` as `length` if you did not store it. The length is never
    /// less than the number of scalars in `end`. The text of `end` is used as it is, so code fences and marks in it
    /// stay. If it has more than [`Tail::MAX`] scalars, only the last ones remain.
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

    /// Returns this digest for a message that has an attachment.
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

    /// Returns true if the message has an attachment. For a joined digest, one of its messages is enough.
    pub const fn has_attachment(&self) -> bool {
        self.attached
    }

    /// Returns the number of scalars in the whole text, without white space, marks and fence-only lines. It returns
    /// `None` if the length is unknown, and saturates at [`u32::MAX`].
    ///
    /// ```
    /// use dirigent_core::Tail;
    /// assert_eq!(Tail::of(&"word ".repeat(50)).length(), Some(200));
    /// ```
    pub const fn length(&self) -> Option<u32> {
        if self.length == 0 && !self.is_empty() { None } else { Some(self.length) }
    }

    /// Appends the digest of the next message, and keeps the last [`Tail::MAX`] scalars. The lengths add up. If one of
    /// them is unknown, the sum is unknown, too.
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

    /// Returns the last `count` scalars. Length and attachment stay those of the whole text.
    #[must_use]
    pub fn last(&self, count: usize) -> Self {
        let mut shorter = Self::EMPTY;
        shorter.set_to_last(self, count);
        shorter
    }

    /// Becomes the last `count` scalars of another tail. It writes in place and only the bytes that it keeps, because
    /// this happens twice in every turn, and a whole tail has four times as many bytes as most texts need.
    pub(crate) fn set_to_last(&mut self, whole: &Self, count: usize) {
        let kept = count.min(whole.len());
        (self.length, self.attached) = (whole.length, whole.attached);
        (self.len, self.scalars) = (0, 0);
        let end = whole.as_bytes().get(whole.start_of_last(kept)..).unwrap_or_default();
        self.append(end, u8::try_from(kept).unwrap_or(0));
    }

    /// Returns the byte at which the last `count` scalars begin. `count` is at most [`Self::len`].
    fn start_of_last(&self, count: usize) -> usize {
        let bytes = self.as_bytes();
        if count == self.len() {
            return 0;
        }
        if self.len() == bytes.len() {
            // Each scalar is one byte, so there is no need to search.
            return bytes.len() - count;
        }
        let starts = bytes.iter().enumerate().rev().filter(|(_, byte)| is_first_byte(**byte));
        match count.checked_sub(1) {
            Some(before) => starts.map(|(at, _)| at).nth(before).unwrap_or(0),
            None => bytes.len(),
        }
    }

    /// Returns true if this tail ends with `end`. Every tail ends with the empty one.
    pub fn ends_with(&self, end: &Self) -> bool {
        self.as_bytes().ends_with(end.as_bytes())
    }

    /// Returns the number of scalars in the digest.
    pub const fn len(&self) -> usize {
        self.scalars as usize
    }

    /// Returns true if the tail is empty, because the text was blank or consisted of marks and fences only.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the kept scalars. They are text of a message, so do not log them.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }

    /// Becomes the tail of an empty text, in place.
    pub(crate) const fn clear(&mut self) {
        (self.len, self.scalars, self.attached, self.length) = (0, 0, false, 0);
    }

    fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or_default()
    }

    fn push(&mut self, scalar: char) {
        self.append(scalar.encode_utf8(&mut [0; 4]).as_bytes(), 1);
    }

    /// Appends this number of whole scalars. The caller makes sure that there is room.
    fn append(&mut self, bytes: &[u8], scalars: u8) {
        let start = usize::from(self.len);
        if let Some(room) = self.bytes.get_mut(start..start + bytes.len()) {
            room.copy_from_slice(bytes);
            self.len += u16::try_from(bytes.len()).unwrap_or(0);
            self.scalars += scalars;
        }
    }

    /// Returns all that a comparison of two tails looks at.
    fn parts(&self) -> (&[u8], u32, bool) {
        (self.as_bytes(), self.length, self.attached)
    }
}

/// Returns true if a byte of UTF-8 begins a scalar.
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

/// The most `>` that may stand before a fence.
const QUOTES_MAX: usize = 8;

/// Returns true if a scalar counts. White space and the marks of Markdown do not, because hosts add and remove them.
fn is_compared(scalar: char) -> bool {
    !scalar.is_whitespace() && !matches!(scalar, '*' | '_' | '~' | '|' | '>' | '-' | '`')
}

/// Returns true if a line only opens or closes a code fence, inside a quote or not.
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
