//! Finds the code in a text. Marks inside code are only mentioned, so they open and close no reasoning.

use std::ops::Range;

use crate::reasoning::{Mark, is_quoted, marks};

/// The parts of a text that are code: fenced blocks, and text between backticks within a line.
///
/// Reasoning that was opened in the prompt may end in the middle of what looks like code. A part is therefore not code
/// if it contains a closing mark that it did not open itself. If the number of fences is odd, no block is code, because
/// you cannot tell which fences open one.
pub(crate) struct Code(
    /// The parts in order. They never overlap.
    Vec<Range<usize>>,
);

const FENCE: &str = "```";

impl Code {
    pub(crate) fn of(text: &str) -> Self {
        let mut code = Self(Vec::new());
        if !text.contains('`') {
            return code;
        }
        let lines = || {
            text.split_inclusive('\n').scan(0, |at, line| {
                let start = *at;
                *at += line.len();
                Some((start, line))
            })
        };
        let fences = lines().filter(|(_, line)| is_fence(line)).count();
        let has_blocks = fences % 2 == 0;
        let mut block = None;
        for (start, line) in lines() {
            if has_blocks && is_fence(line) {
                match block.take() {
                    None => block = Some(start),
                    Some(begin) => code.add(text, begin..start + line.len()),
                }
            } else if block.is_none() {
                code.add_spans(text, start, line);
            }
        }
        code
    }

    /// Returns true if the mark lies in code.
    pub(crate) fn holds(&self, mark: &Mark<'_>) -> bool {
        self.spans(&mark.range())
    }

    /// Returns true if this part of the text lies in code.
    pub(crate) fn spans(&self, part: &Range<usize>) -> bool {
        let next = self.0.partition_point(|code| code.start <= part.start);
        let code = next.checked_sub(1).and_then(|at| self.0.get(at));
        code.is_some_and(|code| part.end <= code.end)
    }

    /// Adds the text between backticks in a line.
    fn add_spans(&mut self, text: &str, start: usize, line: &str) {
        let mut at = 0;
        while let Some(begin) =
            line.get(at..).and_then(|rest| rest.find('`')).map(|found| at + found)
        {
            let ticks =
                line.get(begin..).map_or(0, |rest| rest.bytes().take_while(|c| *c == b'`').count());
            let inner = begin + ticks;
            let Some(end) = line.get(inner..).and_then(|rest| closing(rest, ticks)) else {
                at = inner;
                continue;
            };
            at = inner + end + ticks;
            self.add(text, start + begin..start + at);
        }
    }

    fn add(&mut self, text: &str, part: Range<usize>) {
        let mut open = 0_usize;
        let inner = text.get(part.clone()).unwrap_or_default();
        for mark in marks(inner) {
            if mark.opens {
                open += 1;
            } else if open > 0 {
                open -= 1;
            } else if !is_quoted(inner, &mark) {
                return;
            }
        }
        self.0.push(part);
    }
}

/// Returns the place of the next run of exactly this many backticks.
fn closing(text: &str, ticks: usize) -> Option<usize> {
    let mut at = 0;
    loop {
        let begin = at + text.get(at..)?.find('`')?;
        let found = text.get(begin..)?.bytes().take_while(|c| *c == b'`').count();
        if found == ticks {
            return Some(begin);
        }
        at = begin + found;
    }
}

fn is_fence(line: &str) -> bool {
    line.trim_start().strip_prefix(FENCE).is_some_and(|rest| !rest.contains(FENCE))
}
