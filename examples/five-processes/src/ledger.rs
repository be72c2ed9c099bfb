//! What the processes said of their agents.

use std::collections::BTreeMap;

/// A run of an agent that asked and got permission, by the clock of the machine in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    /// It asked; the permission was given between this and `from`.
    pub(crate) since: u64,
    /// It knew that it has permission.
    pub(crate) from: u64,
    pub(crate) end: End,
}

/// How a run of an agent that asked ended, and when it began to tell so: the permission ended between this and the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// No end is known: the process was killed, or no process answered.
    Unknown,
    /// It had nothing to say.
    Passed(u64),
    /// It may be posted.
    Accepted(u64),
    /// The permission had ended before.
    Refused,
}

/// All that was said, by channel, and by turn or run.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// When an agent was called for a turn: more than once where the first call went down with its process.
    pub(crate) called: BTreeMap<(u64, u64), Vec<u64>>,
    pub(crate) asked: BTreeMap<(u64, u64), Asked>,
    /// By channel, when a person's word took the floor from an agent whose reply was on its way, as the process says that gave it away.
    pub(crate) interrupted: BTreeMap<u64, Vec<u64>>,
    /// All of it, as it was printed.
    pub(crate) lines: Vec<String>,
}

impl Ledger {
    /// Takes a line that an agent's process printed; others mean nothing here.
    pub(crate) fn note(&mut self, line: &str) {
        let mut parts = line.split(' ');
        let what = parts.next();
        let numbers: Vec<u64> = parts.filter_map(|part| part.parse().ok()).collect();
        match (what, &*numbers) {
            (Some("called"), &[channel, turn, at]) => {
                self.called.entry((channel, turn)).or_default().push(at);
            }
            (Some("allowed"), &[channel, run, since, from]) => {
                let run = self.asked.entry((channel, run));
                run.or_insert(Asked { since, from, end: End::Unknown });
            }
            (Some("passed"), &[channel, run, at]) => self.end(channel, run, End::Passed(at)),
            (Some("accepted"), &[channel, run, at]) => self.end(channel, run, End::Accepted(at)),
            (Some("refused"), &[channel, run]) => self.end(channel, run, End::Refused),
            (Some("interrupted"), &[channel, at]) => {
                self.interrupted.entry(channel).or_default().push(at);
            }
            _ => return,
        }
        self.lines.push(line.to_owned());
    }

    fn end(&mut self, channel: u64, run: u64, end: End) {
        if let Some(run) = self.asked.get_mut(&(channel, run)) {
            run.end = end;
        }
    }
}
