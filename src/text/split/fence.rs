//! Code fences, as Discord reads them.

/// The longest language, in bytes, that is repeated when a fence is opened again. A longer one is left out, so that it
/// takes little of a message.
const LANGUAGE_MAX: usize = 32;

/// The most `>` that may stand before a fence. It is the same number as for `Tail`.
const QUOTES_MAX: usize = 8;

/// A fenced block: its opening and closing marks and the code between them, as byte positions.
///
/// For Discord any run of three backticks or more is a mark, wherever it stands in a line, and the next one closes it.
/// There are no fences of tildes, and none that need more backticks to close.
#[derive(Debug)]
pub(super) struct Block<'a> {
    /// The start of the opening mark.
    pub(super) start: usize,
    /// The start of the code, after the opening mark, and after the line of its language if it has one.
    pub(super) code_start: usize,
    /// The end of the code, where the closing mark begins. It is the end of the text if there is no closing mark.
    pub(super) code_end: usize,
    /// The end of the closing mark.
    pub(super) end: usize,
    /// The language to repeat when the fence is opened again.
    pub(super) language: &'a str,
    /// `true` if the block stands in a quote, so that `> ` begins its lines.
    pub(super) is_quoted: bool,
    /// The length of the whole block in UTF-16 code units.
    pub(super) units: usize,
}

impl Block<'_> {
    /// Returns whether the end of the text cuts the block off.
    pub(super) fn is_unclosed(&self) -> bool {
        self.code_end == self.end
    }

    /// Returns the text that closes the block if a cut leaves it open.
    pub(super) const fn closing(&self) -> &'static str {
        if self.is_quoted { super::CLOSING_QUOTED } else { super::CLOSING }
    }

    /// Returns whether `at` lies in the code, including its borders.
    pub(super) fn has_code_at(&self, at: usize) -> bool {
        (self.code_start..=self.code_end).contains(&at)
    }
}

/// Returns all blocks of a text, in order. A last mark without a partner opens a block only at the start of a line,
/// because such a reply was cut off in the middle of its code. A mark within a line belongs to a text about backticks.
pub(super) fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut found = Vec::new();
    let mut marks = marks(text);
    let (mut read, mut line) = (0, 0);
    while let Some((start, after)) = marks.next() {
        line = line_start(text, line, read..start);
        read = start;
        let (code_end, end) = match marks.next() {
            Some(close) => close,
            None if is_line_start(text, start) => (text.len(), text.len()),
            None => break,
        };
        let (language, code_start) = language(text, after);
        let units = text.get(start..end).map_or(0, |block| block.encode_utf16().count());
        let is_quoted = quote_mark(text.get(line..start).unwrap_or_default()) > 0;
        found.push(Block { start, code_start, code_end, end, language, is_quoted, units });
    }
    found
}

/// Returns the length of the quote mark at the beginning of a line, in bytes: `> `, also behind spaces.
pub(super) fn quote_mark(line: &str) -> usize {
    let rest = line.trim_start_matches(' ').strip_prefix("> ");
    rest.map_or(0, |rest| line.len() - rest.len())
}

/// Returns the start of the line that contains the end of `read`, if the start of `read` is in a line that began at
/// `line`.
pub(super) fn line_start(text: &str, line: usize, read: std::ops::Range<usize>) -> usize {
    let start = read.start;
    text.get(read).and_then(|read| read.rfind('\n')).map_or(line, |feed| start + feed + 1)
}

/// The start of a line that begins with a fence, in a quote or not.
///
/// `Tail` drops lines that are only a fence, so no cut may create or destroy such a line. These are the properties of a
/// line that matter for that. Positions count from the start of the line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    /// The end of the three backticks.
    pub(super) mark_end: usize,
    /// The end of the language and of the white space behind it.
    pub(super) end: usize,
    /// `true` if the line has nothing else.
    pub(super) is_whole_line: bool,
}

impl Head {
    /// Reads the first line of `text`, up to the end of its fence.
    pub(super) fn of(text: &str) -> Option<Self> {
        let mut indented = text.trim_start_matches(is_blank);
        for _ in 0..QUOTES_MAX {
            let Some(quoted) = indented.strip_prefix('>') else { break };
            indented = quoted.trim_start_matches(is_blank);
        }
        let named = indented.strip_prefix("```")?;
        let spaced = named.trim_start_matches(is_language);
        let rest = spaced.trim_start_matches(is_blank);
        let position = |rest: &str| text.len() - rest.len();
        let is_whole_line = rest.is_empty() || rest.starts_with('\n');
        Some(Self { mark_end: position(named), end: position(rest), is_whole_line })
    }
}

/// Returns the runs of three backticks or more, as byte ranges.
fn marks(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..)?;
        let start = at + rest.find("```")?;
        let run = text.get(start..)?;
        at = text.len() - run.trim_start_matches('`').len();
        Some((start, at))
    })
}

/// Returns the language after an opening mark that ends at `after`, and the start of the code.
fn language(text: &str, after: usize) -> (&str, usize) {
    let rest = text.get(after..).unwrap_or_default();
    let behind = rest.trim_start_matches(is_language);
    let Some(code) = behind.trim_start_matches(is_blank).strip_prefix('\n') else {
        return ("", after);
    };
    let named = rest.get(..rest.len() - behind.len());
    let language = named.filter(|name| name.len() <= LANGUAGE_MAX).unwrap_or_default();
    (language, text.len() - code.len())
}

fn is_line_start(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    before.trim_end_matches(is_blank).chars().next_back().is_none_or(|c| c == '\n')
}

/// White space within a line. Only the line feed ends a line, for Discord and for `Tail`.
fn is_blank(c: char) -> bool {
    c.is_whitespace() && c != '\n'
}

fn is_language(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '+' | '-' | '#' | '_' | '.')
}
