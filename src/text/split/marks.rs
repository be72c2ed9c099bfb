//! Marks of emphasis, as Discord reads them: `**`, `*`, `__`, `_`, `~~` and `||`.

use super::fence::Block;

/// One mark that has a partner. A pair lies outside of code. Two pairs are either apart, or one is within the other.
#[derive(Clone, Copy, Debug)]
struct Mark {
    start: usize,
    end: usize,
    is_opening: bool,
    /// The innermost pair that is open behind the mark, as the place of its opening mark. For an opening mark it is the
    /// pair around it.
    around: Option<usize>,
}

/// The marks of a text that have a partner, in order.
#[derive(Debug)]
pub(super) struct Marks<'a> {
    text: &'a str,
    marks: Vec<Mark>,
}

impl<'a> Marks<'a> {
    /// Finds the pairs in a text. The work is linear.
    pub(super) fn of(text: &'a str, blocks: &[Block<'_>]) -> Self {
        let mut pairs = Pairs { text, open: Vec::new(), found: Vec::new() };
        let mut at = 0;
        for block in blocks {
            pairs.read(at..block.start);
            at = block.end;
        }
        pairs.read(at..text.len());
        let mut marks = pairs.found;
        marks.sort_unstable_by_key(|mark| mark.start);
        let mut innermost: Option<usize> = None;
        for at in 0..marks.len() {
            let is_opening = marks.get(at).is_some_and(|mark| mark.is_opening);
            let outer = innermost.and_then(|open| marks.get(open)?.around);
            let around = if is_opening { innermost } else { outer };
            if let Some(mark) = marks.get_mut(at) {
                mark.around = around;
            }
            innermost = if is_opening { Some(at) } else { around };
        }
        Self { text, marks }
    }

    /// Returns whether a cut here leaves text between each mark and its partner, and cuts no mark.
    pub(super) fn may_be_cut(&self, at: usize) -> bool {
        let next = self.marks.partition_point(|mark| mark.start < at);
        let before = next.checked_sub(1).and_then(|before| self.marks.get(before));
        let after = self.marks.get(next);
        before.is_none_or(|mark| mark.end < at || (mark.end == at && !mark.is_opening))
            && after.is_none_or(|mark| mark.start > at || mark.is_opening)
    }

    /// Returns the marks that are open at a place that may be cut, the innermost first.
    pub(super) fn open_at(&self, at: usize) -> impl Iterator<Item = &'a str> + '_ {
        let before = self.marks.partition_point(|mark| mark.end <= at).checked_sub(1);
        let innermost = before.and_then(|before| {
            let mark = self.marks.get(before)?;
            if mark.is_opening { Some(before) } else { mark.around }
        });
        let open = std::iter::successors(innermost, |open| self.marks.get(*open)?.around);
        let marks = open.filter_map(|open| self.marks.get(open));
        marks.filter_map(|mark| self.text.get(mark.start..mark.end))
    }
}

struct Pairs<'a> {
    text: &'a str,
    /// The runs that may open a pair, the newest last, and at most one of each kind.
    open: Vec<Opening>,
    found: Vec<Mark>,
}

/// A run that may open a pair, or two. `***` is both kinds, and which is the inner one is known once one is closed.
#[derive(Clone, Copy)]
struct Opening {
    sign: char,
    start: usize,
    length: usize,
}

impl Pairs<'_> {
    /// Reads a part of the text without code blocks. No pair reaches over a block.
    fn read(&mut self, stretch: std::ops::Range<usize>) {
        self.open.clear();
        let (mut at, end) = (stretch.start, stretch.end);
        let mut unclosed_code = [false; 2];
        let mut is_table = false;
        let mut before = self.before(at);
        while let Some(sign) = self.text.get(at..end).and_then(|rest| rest.chars().next()) {
            if before == '\n' {
                let line = self.text.get(at..end).unwrap_or_default().trim_start_matches(' ');
                is_table = line.starts_with('|') && !line.starts_with("||");
            }
            let mut length = sign.len_utf8();
            match sign {
                '\\' => length += self.first(at + 1, end).len_utf8(),
                '<' | 'h' => length = self.address(at, end).unwrap_or(length),
                '`' => {
                    let run = self.run(at, end);
                    length = self.code(at, run, end, &mut unclosed_code).unwrap_or(run);
                }
                '*' | '_' | '~' | '|' => {
                    length = self.run(at, end);
                    let is_mark = match sign {
                        '*' | '_' => length <= 3,
                        '|' => length == 2 && !is_table,
                        _ => length == 2,
                    };
                    if is_mark {
                        self.mark(Opening { sign, start: at, length }, before, end);
                    }
                }
                _ => {}
            }
            at = (at + length).min(end);
            before = self.before(at);
        }
    }

    /// Returns the character before a place. It is a line feed at the start.
    fn before(&self, at: usize) -> char {
        self.text.get(..at).and_then(|before| before.chars().next_back()).unwrap_or('\n')
    }

    /// Returns the character at a place. It is a line feed at the end.
    fn first(&self, at: usize, end: usize) -> char {
        self.text.get(at..end).and_then(|rest| rest.chars().next()).unwrap_or('\n')
    }

    /// Returns the length of a run of one sign, which has one byte.
    fn run(&self, at: usize, end: usize) -> usize {
        let rest = self.text.as_bytes().get(at..end).unwrap_or_default();
        rest.iter().take_while(|byte| rest.first() == Some(byte)).count()
    }

    /// Returns the length of the address, mention or emoji that begins here, because no sign in it is a mark. Signs at
    /// the end of an address stand behind it.
    fn address(&self, at: usize, end: usize) -> Option<usize> {
        let text = self.text.get(at..end)?;
        let ends = |c: char| c.is_whitespace() || matches!(c, '<' | '>');
        if let Some(inner) = text.strip_prefix('<') {
            let length = inner.find(ends)?;
            return inner.get(length..)?.starts_with('>').then_some(length + 2);
        }
        let is_address = text.starts_with("http://") || text.starts_with("https://");
        let address = text.get(..text.find(ends).unwrap_or(text.len())).filter(|_| is_address)?;
        Some(address.trim_end_matches(|c: char| c.is_ascii_punctuation() && c != '/').len())
    }

    /// Returns the length of the code within a line that begins with this run of one or two backticks. `unclosed`
    /// remembers for which runs no other follows.
    fn code(&self, at: usize, run: usize, end: usize, unclosed: &mut [bool; 2]) -> Option<usize> {
        let known = unclosed.get_mut(run.checked_sub(1)?).filter(|known| !**known)?;
        let mut behind = at + run;
        while let Some(next) = self.text.get(behind..end).and_then(|rest| rest.find('`')) {
            let length = self.run(behind + next, end);
            behind += next + length;
            if length == run {
                return Some(behind - at);
            }
        }
        *known = true;
        None
    }

    /// Reads a run as the end of pairs, or else as a beginning. Within an ASCII word, as in `2**8` and `snake_case`, it
    /// is neither.
    fn mark(&mut self, run: Opening, before: char, end: usize) {
        let after = self.first(run.start + run.length, end);
        if before.is_ascii_alphanumeric() && after.is_ascii_alphanumeric() {
            return;
        }
        let Opening { sign, mut start, mut length } = run;
        if !before.is_whitespace() {
            while let Some(taken) = self.close(sign, start, length) {
                (start, length) = (start + taken, length - taken);
            }
        }
        if length == run.length && !after.is_whitespace() {
            self.open.retain(|known| {
                known.sign != sign || (known.length != length && known.length + length <= 3)
            });
            self.open.push(run);
        }
    }

    /// Closes the newest pair that a run of this length can close. Returns how much of the run it uses.
    fn close(&mut self, sign: char, start: usize, length: usize) -> Option<usize> {
        let fits =
            |known: &Opening| known.sign == sign && (known.length <= length || known.length == 3);
        let at = self.open.iter().rposition(fits)?;
        self.open.truncate(at + 1);
        let opening = self.open.pop()?;
        let taken = opening.length.min(length);
        let left = opening.length - taken;
        let inner = opening.start + left;
        for (start, is_opening) in [(inner, true), (start, false)] {
            self.found.push(Mark { start, end: start + taken, is_opening, around: None });
        }
        if left > 0 {
            self.open.push(Opening { length: left, ..opening });
        }
        Some(taken)
    }
}
