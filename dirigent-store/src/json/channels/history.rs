//! The newest changes of a channel, one on each line. A history only explains. So a new line is not synced, and a line
//! that cannot be read is skipped.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use dirigent::operate::Transition;

use super::agents::Agents;
use crate::disk::{private, read, replace};
use crate::error::{Action, StoreError};
use crate::record::TransitionFile;

/// The largest history, in bytes. A larger one is replaced by an empty one.
const LARGEST: usize = 64 << 20;

/// Appends changes. The file has at most twice `max` lines, and only the newest `max` of them count.
pub(super) fn append(
    path: &Path,
    transitions: &[Transition],
    max: usize,
    agents: &Agents,
) -> Result<(), StoreError> {
    let old = content(path)?;
    let mut text = Vec::new();
    // An incomplete line must not swallow the next one.
    if old.last().is_some_and(|byte| *byte != b'\n') {
        text.push(b'\n');
    }
    for transition in transitions {
        text.extend_from_slice(&line(transition, agents));
        text.push(b'\n');
    }
    if lines(&old).count().saturating_add(transitions.len()) >= max.saturating_mul(2) {
        return keep_newest(path, &[old, text].concat(), max);
    }
    let file = private(OpenOptions::new().append(true).create(true)).open(path);
    let written = file.and_then(|mut file| file.write_all(&text));
    written.map_err(|source| StoreError::not_done(Action::Write, path, source))
}

/// Returns the newest changes of a channel, the oldest one first.
pub(super) fn newest(
    path: &Path,
    max: usize,
    agents: &Agents,
) -> Result<Vec<Transition>, StoreError> {
    let content = content(path)?;
    let mut newest: Vec<_> =
        lines(&content).rev().filter_map(|line| parse(line, agents)).take(max).collect();
    newest.reverse();
    Ok(newest)
}

fn keep_newest(path: &Path, content: &[u8], max: usize) -> Result<(), StoreError> {
    let mut newest: Vec<_> = lines(content).rev().take(max).collect();
    newest.reverse();
    let mut text = newest.join(&b'\n');
    text.push(b'\n');
    replace(path, &text)
}

fn content(path: &Path) -> Result<Vec<u8>, StoreError> {
    match read(path, LARGEST) {
        Err(StoreError::BadFile { .. }) => Ok(Vec::new()),
        content => Ok(content?.unwrap_or_default()),
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
