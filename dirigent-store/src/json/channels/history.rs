//! The newest changes of a channel, one on each line. A history only explains. So a new line is not synced, and a line
//! that cannot be read is skipped.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

use dirigent::operate::Transition;

use super::agents::Agents;
use crate::disk::{ReadError, private, read, replace};
use crate::record::TransitionFile;

/// The largest history, in bytes. A larger one is replaced by an empty one.
const LARGEST: usize = 64 << 20;

/// Appends changes. The file has at most twice `max` lines, and only the newest `max` of them count. Returns the number
/// of lines.
pub(super) fn append(
    path: &Path,
    known: Option<usize>,
    transitions: &[Transition],
    max: usize,
    agents: &Agents,
) -> io::Result<usize> {
    let mut text = Vec::new();
    let before = if let Some(lines) = known {
        lines
    } else {
        let old = content(path)?;
        // An incomplete line must not swallow the next one.
        if old.last().is_some_and(|byte| *byte != b'\n') {
            text.push(b'\n');
        }
        lines(&old).count()
    };
    for transition in transitions {
        text.extend_from_slice(&line(transition, agents));
        text.push(b'\n');
    }
    let count = before.saturating_add(transitions.len());
    if count >= max.saturating_mul(2) {
        let mut all = content(path)?;
        all.extend_from_slice(&text);
        return keep_newest(path, &all, max);
    }
    let mut file = private(OpenOptions::new().append(true).create(true)).open(path)?;
    file.write_all(&text)?;
    Ok(count)
}

/// Returns the newest changes of a channel, the oldest one first.
pub(super) fn newest(path: &Path, max: usize, agents: &Agents) -> io::Result<Vec<Transition>> {
    let content = content(path)?;
    let mut newest: Vec<_> =
        lines(&content).rev().filter_map(|line| parse(line, agents)).take(max).collect();
    newest.reverse();
    Ok(newest)
}

fn keep_newest(path: &Path, content: &[u8], max: usize) -> io::Result<usize> {
    let mut newest: Vec<_> = lines(content).rev().take(max).collect();
    newest.reverse();
    let mut text = Vec::with_capacity(content.len() / 2 + 1);
    for line in &newest {
        text.extend_from_slice(line);
        text.push(b'\n');
    }
    replace(path, &text).map_err(io::Error::other)?;
    Ok(newest.len())
}

fn content(path: &Path) -> io::Result<Vec<u8>> {
    match read(path, LARGEST) {
        Ok(content) => Ok(content.unwrap_or_default()),
        Err(ReadError::Bad(_)) => Ok(Vec::new()),
        Err(ReadError::Io(error)) => Err(error),
    }
}

fn lines(content: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    content.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}

/// Writes a change as a line, without the line break.
pub fn line(transition: &Transition, agents: &Agents) -> Vec<u8> {
    let mut file = TransitionFile::from(transition);
    if let Some(name) = transition.agent.and_then(|key| agents.name(key)) {
        (file.agent, file.key) = (Some(name.clone()), None);
    }
    // This fails only for a value without a name, and there is none.
    serde_json::to_vec(&file).unwrap_or_default()
}

/// Parses a line. Returns `None` if the line is incomplete or another program wrote it.
pub fn parse(line: &[u8], agents: &Agents) -> Option<Transition> {
    let mut file: TransitionFile = serde_json::from_slice(line).ok()?;
    if let Some(name) = file.agent.take() {
        file.key = Some(agents.key(&name)?);
    }
    Some(file.into())
}
