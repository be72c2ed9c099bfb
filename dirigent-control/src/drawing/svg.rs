//! Writes SVG: elements, attributes and escaped texts.

use std::fmt::{Display, Write as _};

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

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

/// Returns the start of a text that is at most this number of Latin letters wide, with an ellipsis if the text is
/// longer. East Asian letters and emoji count twice. Stacked accents on a letter are left out, because they would cover
/// the text around it.
pub(crate) fn short(text: &str, columns: usize) -> String {
    let text = without_heaps(text);
    if text.width() <= columns {
        return text;
    }
    let mut end = 0;
    for (at, c) in text.char_indices() {
        let next = at + c.len_utf8();
        // A character that does not make the text wider belongs to the one before it.
        if text.get(..next).unwrap_or_default().width() > columns.saturating_sub(1) {
            break;
        }
        end = next;
    }
    format!("{}…", text.get(..end).unwrap_or_default().trim_end())
}

/// The most characters without a width after one with a width.
const HEAP_MAX: usize = 3;

fn without_heaps(text: &str) -> String {
    let mut heap = 0;
    let stays = |c: &char| {
        heap = if c.width() == Some(0) { heap + 1 } else { 0 };
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
        assert_eq!(short("Historian", 9), "Historian");
        assert_eq!(short("Historians", 9), "Historia…");
        assert_eq!(short("漢字漢字漢字", 9), "漢字漢字…");
        assert_eq!(short("a b c", 4), "a b…");
        assert_eq!(
            short("e\u{301}e\u{301}e\u{301}", 2),
            "e\u{301}…",
            "an accent stays with its letter"
        );
        let heap = format!("a{}b", "\u{301}".repeat(40));
        assert_eq!(short(&heap, 9), "a\u{301}\u{301}\u{301}b");
        assert_eq!(short("👩\u{200d}🚀", 9), "👩\u{200d}🚀", "a joined emoji stays whole");
    }
}
