//! When which process had an agent speak in which channel: by the clock of the machine, as the processes say it.

use std::collections::BTreeMap;
use std::fmt;

use dirigent::ChannelId;
use dirigent::ports::Timestamp;
use dirigent_verify::processes::Line;

/// A run of an agent, in one start of a process.
#[derive(Clone, Copy, Debug)]
struct Run {
    process: usize,
    began: Timestamp,
    ended: Option<Timestamp>,
}

/// All runs, by channel.
#[derive(Debug, Default)]
pub(super) struct Runs {
    runs: BTreeMap<ChannelId, Vec<Run>>,
    /// When a process was killed or paused.
    stops: Vec<(usize, Timestamp)>,
}

impl Runs {
    /// Takes a line of a process, `speaking` or `ends` with channel and time; others are ignored.
    pub(super) fn heard(&mut self, line: &Line) {
        let process = line.from;
        let mut words = line.text.split(' ');
        let what = words.next();
        let mut number = || words.next().and_then(|word| word.parse().ok());
        let (Some(channel), Some(at)) = (number().map(ChannelId::new), number()) else { return };
        let at = Timestamp::from_millis(at);
        let runs = self.runs.entry(channel).or_default();
        if what == Some("speaking") {
            runs.push(Run { process, began: at, ended: None });
        } else if let Some(run) = runs.iter_mut().rev().find(|run| run.process == process) {
            run.ended.get_or_insert(at);
        }
    }

    /// The process was killed or paused: what it had begun is over for now, and if it goes on nothing of that may be posted.
    pub(super) fn stopped(&mut self, process: usize, at: Timestamp) {
        self.stops.push((process, at));
    }

    /// Each run that began in a channel while one of another process was going on there, in words.
    pub(super) fn overlapping(&self, now: Timestamp) -> Vec<String> {
        let mut found = Vec::new();
        for (channel, runs) in &self.runs {
            for run in runs {
                let others = runs.iter().filter(|other| other.process != run.process);
                let before = others.filter(|other| other.began <= run.began);
                for other in before.filter(|other| run.began < self.end(other, now)) {
                    found.push(format!("channel {channel}: {run} while {other}"));
                }
            }
        }
        found
    }

    /// When a run was over, as far as anything of it could be posted.
    fn end(&self, run: &Run, now: Timestamp) -> Timestamp {
        let stops = self.stops.iter().filter(|(process, _)| *process == run.process);
        let stop = stops.map(|(_, at)| *at).filter(|at| *at >= run.began).min();
        run.ended.into_iter().chain(stop).min().unwrap_or(now)
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { process, began, ended } = self;
        write!(f, "process {process} spoke from {}", began.as_millis())?;
        match ended {
            Some(ended) => write!(f, " to {}", ended.as_millis()),
            None => Ok(()),
        }
    }
}
