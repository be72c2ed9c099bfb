//! Writes SVG: elements, attributes and escaped texts.

use std::fmt::{Display, Write as _};

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthChar as _;

/// An SVG that is being written.
#[derive(Debug, Default)]
pub(crate) struct Svg(String);

impl Svg {
    /// Opens an element. [`close`](Self::close) ends it.
    pub(crate) fn open(&mut self, name: &str, attributes: &[(&str, &dyn Display)]) {
        self.begin(name, attributes);
        self.0.push('>');
    }

    pub(crate) fn close(&mut self, name: &str) {
        let _ = write!(self.0, "</{name}>");
    }

    /// Writes an empty element.
    pub(crate) fn empty(&mut self, name: &str, attributes: &[(&str, &dyn Display)]) {
        self.begin(name, attributes);
        self.0.push_str("/>");
    }

    /// Writes an element with a text in it.
    pub(crate) fn text(&mut self, name: &str, attributes: &[(&str, &dyn Display)], text: &str) {
        self.open(name, attributes);
        self.0.push_str(&escaped(text));
        self.close(name);
    }

    /// Adds SVG, or CSS without `<`, unchanged.
    pub(crate) fn raw(&mut self, svg: &str) {
        self.0.push_str(svg);
    }

    pub(crate) fn finish(self) -> String {
        self.0
    }

    fn begin(&mut self, name: &str, attributes: &[(&str, &dyn Display)]) {
        let _ = write!(self.0, "<{name}");
        for (key, value) in attributes {
            let _ = write!(self.0, " {key}=\"{}\"", escaped(&value.to_string()));
        }
    }
}

/// Returns the start of a text that needs at most the room of this number of Latin letters, with an ellipsis if the text
/// is longer. It is cut between characters as people see them, for example not inside a flag or a syllable of Devanagari.
/// Stacked accents on a letter are left out, because they would cover the text around it.
pub(crate) fn short(text: &str, room: f64) -> String {
    let text = without_heaps(text);
    if columns(&text) <= room {
        return text;
    }
    let (mut end, mut taken) = (0, columns("…"));
    for (at, character) in text.grapheme_indices(true) {
        taken += columns_of(character);
        if taken > room {
            break;
        }
        end = at + character.len();
    }
    format!("{}…", text.get(..end).unwrap_or_default().trim_end())
}

/// Returns the room that a text needs, in Latin letters of usual width. Typefaces differ, so it is an estimate for a wide
/// one.
pub(crate) fn columns(text: &str) -> f64 {
    text.graphemes(true).map(columns_of).sum()
}

/// Returns the room of one character as people see it.
fn columns_of(character: &str) -> f64 {
    let is_wide = |c: char| matches!(c, 'm' | 'w' | 'M' | 'W' | '@' | '%' | '—');
    let room = |c: char| match c.width() {
        None | Some(0) => 0.0,
        Some(1) => 1.2,
        Some(_) => 2.0,
    };
    let mut letters = character.chars();
    match (letters.next(), letters.next()) {
        (Some(c), None) if is_wide(c) => 1.5,
        (Some(c), None) if c.is_ascii_uppercase() => 1.2,
        (Some(c), None) if c.is_ascii() => 1.0,
        (Some(c), _) if is_emoji(c) || character.contains('\u{FE0F}') => 2.5,
        // Letters of one character can stand beside each other: a syllable of Devanagari.
        _ => character.chars().map(room).sum(),
    }
}

/// Returns true for the first letter of an emoji that is drawn as a picture.
const fn is_emoji(c: char) -> bool {
    matches!(c, '\u{1F000}'..='\u{1FAFF}')
}

/// The most characters without a width after one with a width.
const HEAP_MAX: usize = 3;

fn without_heaps(text: &str) -> String {
    let mut heap = 0;
    // The letters of a flag such as that of England are no accents.
    let is_accent = |c: char| c.width() == Some(0) && !matches!(c, '\u{E0020}'..='\u{E007F}');
    let stays = |c: &char| {
        heap = if is_accent(*c) { heap + 1 } else { 0 };
        heap <= HEAP_MAX
    };
    text.chars().filter(stays).collect()
}

/// Returns a text that is safe in XML and HTML, both in elements and in quoted attributes. Characters that XML forbids
/// are left out.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}') => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_is_cut_by_what_it_needs_and_not_by_its_letters() {
        assert_eq!(short("historian", 9.0), "historian");
        assert_eq!(short("historians", 9.0), "histori…");
        assert_eq!(short("漢字漢字漢字", 9.0), "漢字漢…");
        assert_eq!(short("a b c", 4.5), "a b…");
        let accents = short("e\u{301}e\u{301}e\u{301}", 2.4);
        assert_eq!(accents, "e\u{301}…", "an accent stays with its letter");
        let heap = format!("a{}b", "\u{301}".repeat(40));
        assert_eq!(short(&heap, 9.0), "a\u{301}\u{301}\u{301}b");
        assert_eq!(short("👩\u{200d}🚀", 9.0), "👩\u{200d}🚀", "a joined emoji stays whole");
        assert!(columns("WWWW") > columns("llll"));
    }

    /// Whatever the room is, what stays of a name are whole characters, and it fits.
    #[test]
    fn a_name_is_never_cut_inside_a_character() {
        for name in [
            "編集長と詩人と批評家と歴史家",
            "क्षत्रिय कवि और आलोचक",
            "시인과 비평가와 역사가",
            "👩\u{200d}👩\u{200d}👧\u{200d}👦🇩🇪🇯🇵👍🏽✍️🚀1️⃣🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
            "Zoë\u{308} d'Été — poète",
            "นักกวีผู้ยิ่งใหญ่",
            "WWWWWWWWWWWWWWWWWWWWWW",
        ] {
            let whole: Vec<&str> = name.graphemes(true).collect();
            let mut longest = 0;
            for tenths in 0..=400 {
                let room = f64::from(tenths) / 10.0;
                let cut = short(name, room);
                assert!(columns(&cut) <= room.max(columns("…")) + 1e-9, "{cut} in {room}");
                let kept = cut.strip_suffix('…').unwrap_or(&cut);
                let count = kept.graphemes(true).count();
                assert_eq!(kept, whole[..count].concat().trim_end(), "{name} in {room}");
                assert!(count >= longest, "more room never shows less: {name} in {room}");
                longest = count;
            }
            assert_eq!(short(name, 60.0), name);
        }
    }
}
