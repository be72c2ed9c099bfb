//! Writing SVG: elements, attributes and texts, escaped.

use std::fmt::{Display, Write as _};

/// An SVG being written.
#[derive(Debug, Default)]
pub(crate) struct Svg(String);

impl Svg {
    /// Opens an element; [`close`](Self::close) ends it.
    pub(crate) fn open(&mut self, name: &str, attributes: &[(&str, &dyn Display)]) {
        self.begin(name, attributes);
        self.0.push('>');
    }

    pub(crate) fn close(&mut self, name: &str) {
        let _ = write!(self.0, "</{name}>");
    }

    /// An element with nothing in it.
    pub(crate) fn empty(&mut self, name: &str, attributes: &[(&str, &dyn Display)]) {
        self.begin(name, attributes);
        self.0.push_str("/>");
    }

    /// An element with a text in it.
    pub(crate) fn text(&mut self, name: &str, attributes: &[(&str, &dyn Display)], text: &str) {
        self.open(name, attributes);
        self.0.push_str(&escaped(text));
        self.close(name);
    }

    /// What is SVG, or CSS without `<`, already.
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

/// A text as it may stand in XML and HTML, in elements and in quoted attributes. What XML cannot hold at all is left out.
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
