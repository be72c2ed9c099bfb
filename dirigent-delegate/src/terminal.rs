//! Cleans the text of programs that write for a terminal.

use std::borrow::Cow;

use vte::{Parser, Perform};

/// The most bytes of an agent's output that are shown as its progress.
const PROGRESS_MAX: usize = 2_000;
/// The most bytes of an agent's output that are read for this. Escapes are not shown, so it is more.
const PROGRESS_READ: usize = 4 * PROGRESS_MAX;

/// Removes what only a terminal understands: escapes (colours, titles, movements of the cursor) and control characters
/// that are not white space. White space stays as it is, because compilers, tables and files depend on it. A backspace
/// removes the character before it on its line, because manual pages print bold letters twice (`N`, backspace, `N`).
///
/// An escape ends with its line at the latest, so that an unfinished one cannot swallow the rest of the text.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(|c: char| c.is_control() && !is_space(c)) {
        return Cow::Borrowed(text);
    }
    let mut page = Page(String::with_capacity(text.len()));
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        // Use a new parser for each line, because the old one may wait for the end of an escape.
        Parser::new().advance(&mut page, line.as_bytes());
        page.0.push_str(end);
    }
    Cow::Owned(page.0)
}

/// Returns these bytes as text. Bytes that are not UTF-8 are replaced.
pub(crate) fn text(bytes: &[u8]) -> String {
    plain(&String::from_utf8_lossy(bytes)).into_owned()
}

/// Returns the end of an agent's output, as its progress shows it.
pub(crate) fn progress(written: &[u8]) -> String {
    let mut read = end(written, PROGRESS_READ);
    // The cut may lie within an escape, but a line always begins outside one.
    if read.len() < written.len() {
        let line = read.iter().position(|byte| *byte == b'\n').and_then(|at| read.get(at + 1..));
        read = line.filter(|line| !line.is_empty()).unwrap_or(read);
    }
    let text = text(read);
    String::from_utf8_lossy(end(text.as_bytes(), PROGRESS_MAX)).into_owned()
}

/// Returns a sentence with the end of a program's complaints, because they may say why it failed.
pub(crate) fn with_complaint(sentence: &str, complaint: &[u8]) -> String {
    match progress(complaint).trim() {
        "" => sentence.to_owned(),
        complaint => format!("{sentence} It complained:\n{complaint}"),
    }
}

/// Returns the last bytes of a text, at most this many, beginning at a character.
fn end(text: &[u8], most: usize) -> &[u8] {
    let from = text.len().saturating_sub(most);
    let is_within = |byte: &u8| byte & 0b1100_0000 == 0b1000_0000;
    let end = text.get(from..).unwrap_or_default();
    let begins = end.iter().take_while(|byte| is_within(byte)).count().min(3);
    end.get(begins..).unwrap_or_default()
}

/// Returns true if a control character is white space: TAB, LF, VT, FF, CR or NEL.
const fn is_space(control: char) -> bool {
    matches!(control, '\t'..='\r' | '\u{85}')
}

/// The text so far.
struct Page(String);

impl Page {
    fn control(&mut self, control: char) {
        let is_line_begun = !self.0.ends_with(['\n', '\r']);
        match control {
            '\u{8}' if is_line_begun => drop(self.0.pop()),
            control if is_space(control) => self.0.push(control),
            _ => {}
        }
    }
}

impl Perform for Page {
    fn print(&mut self, character: char) {
        if character.is_control() {
            self.control(character);
        } else {
            self.0.push(character);
        }
    }

    fn execute(&mut self, byte: u8) {
        self.control(byte.into());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// DG1: only what a terminal understands goes.
    #[test]
    fn escapes_go_and_white_space_stays() {
        let worlds = [
            ("all:\n\tcc x.c\n", "all:\n\tcc x.c\n"),
            ("one\r\ntwo\r\n", "one\r\ntwo\r\n"),
            ("10 %\r20 %\r", "10 %\r20 %\r"),
            ("a\tb\u{b}c\u{c}d\u{85}e", "a\tb\u{b}c\u{c}d\u{85}e"),
            ("\u{1b}[1;31mall:\u{1b}[0m\n\t\u{1b}[2Kcc\r\n", "all:\n\tcc\r\n"),
            ("\u{1b}]0;title\u{7}name\tvalue", "name\tvalue"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\\tend", "link\tend"),
            ("\u{1b}Pdata\u{1b}\\\tend", "\tend"),
            ("\u{1b}(B\u{1b}=\tü", "\tü"),
            ("a\0b\u{7}c\u{7f}d\u{1a}e\u{9b}f", "abcdef"),
            ("N\u{8}NA\u{8}AM\u{8}ME\u{8}E", "NAME"),
            ("_\u{8}a\n\u{8}b\r\u{8}c", "a\nb\rc"),
            ("日\u{8}本\u{1b}[m\u{8}x", "x"),
            ("", ""),
        ];
        for (written, expected) in worlds {
            assert_eq!(plain(written), expected, "{written:?}");
        }
    }

    /// DG1: an escape without its end takes its line, and nothing that follows.
    #[test]
    fn an_escape_without_end_ends_with_its_line() {
        for escape in ["\u{1b}]0;", "\u{1b}P", "\u{1b}_", "\u{1b}^", "\u{1b}X", "\u{1b}[", "\u{1b}"]
        {
            let written = format!("one\t{escape}\n\ttwo\r\n{escape}");
            assert_eq!(plain(&written), "one\t\n\ttwo\r\n", "{escape:?}");
        }
    }

    #[test]
    fn progress_begins_outside_of_escapes_and_characters() {
        // Mostly escapes: what is left of what is read is shorter than what may be shown.
        let colourful = "\u{1b}[38;5;196mé\u{1b}[0m".repeat(3) + "\n";
        for extra in 0..colourful.len() {
            let written = "x".repeat(extra) + "\n" + &colourful.repeat(400);
            let shown = progress(written.as_bytes());
            assert!(shown.chars().all(|c| c == 'é' || c == '\n'), "{extra}: {shown:?}");
        }
        let line = format!("\u{1b}[31m{}\u{1b}[0m\n", "é".repeat(40));
        for extra in 0..line.len() {
            let written = "x".repeat(extra) + "\n" + &line.repeat(200);
            let shown = progress(written.as_bytes());
            assert!(shown.len() <= PROGRESS_MAX && shown.len() > PROGRESS_MAX - 4, "{extra}");
            assert!(shown.chars().all(|c| c == 'é' || c == '\n'), "{extra}: {shown:?}");
        }
        assert_eq!(progress("é".repeat(10_000).as_bytes()).len(), PROGRESS_MAX);
        assert_eq!(progress(b"a\tb\r\n"), "a\tb\r\n");
    }

    proptest! {
        /// DG1: a text without control characters other than white space is the same afterwards; any other has none.
        #[test]
        fn a_text_keeps_every_character_that_is_no_escape(text in "[ -~é日\t\r\n]{0,80}", raw in any::<String>()) {
            prop_assert_eq!(plain(&text), &*text);
            let shown = plain(&format!("\u{1b}[1m{text}\u{1b}[0m")).into_owned();
            prop_assert_eq!(shown, text);
            let is_left = |c: char| c.is_control() && !is_space(c);
            prop_assert!(!plain(&raw).contains(is_left));
        }
    }
}
