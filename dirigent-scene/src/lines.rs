//! Marks the lines of a speech, so that none reads like another character's or the coordinator's.

use std::fmt::{self, Write};

use dirigent::host::plain::{is_line_break, is_visible};

use crate::prompt::Prompt;

/// Stands before each line of a speech except the first, which follows the speaker's name.
const MARK: &str = ">";

/// Opening brackets that look like those of the coordinator.
const BRACKETS: [char; 8] = ['[', '［', '【', '〔', '〖', '⟦', '❲', '⁅'];

/// Writes a speech with a mark before each line except the first. It knows all of Unicode's line breaks. No line can
/// then begin like one of another character.
pub(crate) fn write_marked(out: &mut impl Write, speech: &str) -> fmt::Result {
    let mut rest = speech;
    while let Some(at) = rest.find(is_line_break) {
        let (line, from) = rest.split_at(at);
        out.write_str(line)?;
        rest = from.strip_prefix("\r\n").unwrap_or_else(|| {
            let mut characters = from.chars();
            characters.next();
            characters.as_str()
        });
        write!(out, "\n{MARK}")?;
        if !rest.is_empty() && !rest.starts_with(is_line_break) {
            out.write_char(' ')?;
        }
    }
    out.write_str(rest)
}

/// Returns true if a line of a speech begins like one of the coordinator's, with a bracket or with the words of a
/// prompt.
pub(crate) fn reads_as_another(speech: &str) -> bool {
    speech.split(is_line_break).any(|line| {
        let seen = line
            .char_indices()
            .find(|(at, c)| line.get(*at..at + c.len_utf8()).is_some_and(is_visible));
        let Some((at, first)) = seen else {
            return false;
        };
        let line = line.get(at..).unwrap_or_default();
        BRACKETS.contains(&first) || Prompt::ALL.iter().any(|prompt| begins_like(line, *prompt))
    })
}

/// Returns true if a line begins with the first words of a prompt, in any case.
fn begins_like(line: &str, prompt: Prompt) -> bool {
    const WORDS: usize = 3;
    let mut words = line.split_whitespace();
    let mut begin = prompt.as_str().split_whitespace().take(WORDS);
    begin.all(|word| words.next().is_some_and(|other| other.eq_ignore_ascii_case(word)))
}
