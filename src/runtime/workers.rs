//! The workers of channels, as the host reported them last. They are for callers that did not listen to events.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent_core::Timestamp;

use crate::ChannelId;
use crate::values::sync::locked;

/// How long a report is shown. A worker without a report for longer is dropped.
const SHOWN_FOR: Duration = Duration::from_secs(15 * 60);
/// The most workers of a channel, and the most channels. Beyond them the oldest are dropped.
const WORKERS_MAX: usize = 16;
const CHANNELS_MAX: usize = 1_024;
/// The number of bytes of a report that are kept. They are the end of it, because that is the newest part.
const SO_FAR_MAX: usize = 1_024;

/// The progress of a worker of a channel, as the host reported it last
/// ([`Channel::progress`](crate::Channel::progress)). It is in memory for 15 minutes. Its `Debug` output contains no
/// text.
///
/// ```
/// use dirigent::{ChannelId, Dirigent};
/// fn show(dirigent: &Dirigent, channel: ChannelId) {
///     for work in dirigent.channel(channel).workers() {
///         println!("{}: {}", work.worker, work.so_far);
///     }
/// }
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Work {
    /// The name of the worker.
    pub worker: Arc<str>,
    /// The text about what it does, or what it has said so far, at most the last 1,024 bytes.
    pub so_far: Arc<str>,
    /// The time of the report.
    pub at: Timestamp,
}

impl std::fmt::Debug for Work {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Work")
            .field("worker", &self.worker)
            .field("so_far", &format_args!("{} bytes", self.so_far.len()))
            .field("at", &self.at)
            .finish()
    }
}

#[derive(Debug, Default)]
pub(crate) struct Workers(Mutex<HashMap<ChannelId, Vec<Work>>>);

impl Workers {
    pub(crate) fn report(&self, channel: ChannelId, now: Timestamp, worker: &str, so_far: &str) {
        let work = Work { worker: worker.into(), so_far: end_of(so_far).into(), at: now };
        let mut channels = locked(&self.0);
        if channels.len() >= CHANNELS_MAX && !channels.contains_key(&channel) {
            forget_oldest(&mut channels, now);
        }
        let known = channels.entry(channel).or_default();
        known.retain(|old| is_shown(old, now) && old.worker != work.worker);
        if known.len() >= WORKERS_MAX {
            // The worker without a report for the longest time goes.
            known.remove(0);
        }
        known.push(work);
    }

    /// Returns the workers of a channel, by name.
    pub(crate) fn of(&self, channel: ChannelId, now: Timestamp) -> Vec<Work> {
        let channels = locked(&self.0);
        let known = channels.get(&channel).into_iter().flatten();
        let mut shown: Vec<Work> = known.filter(|work| is_shown(work, now)).cloned().collect();
        shown.sort_by(|a, b| a.worker.cmp(&b.worker));
        shown
    }
}

fn is_shown(work: &Work, now: Timestamp) -> bool {
    now.since(work.at) < SHOWN_FOR
}

fn forget_oldest(channels: &mut HashMap<ChannelId, Vec<Work>>, now: Timestamp) {
    channels.retain(|_, known| known.iter().any(|work| is_shown(work, now)));
    if channels.len() >= CHANNELS_MAX {
        let newest = |known: &[Work]| known.last().map(|work| work.at);
        let oldest = channels.iter().min_by_key(|(channel, known)| (newest(known), **channel));
        if let Some(oldest) = oldest.map(|(channel, _)| *channel) {
            channels.remove(&oldest);
        }
    }
}

/// Returns the end of a text, without half a character.
fn end_of(text: &str) -> &str {
    let from = text.len().saturating_sub(SO_FAR_MAX);
    let from = (from..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    text.get(from..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_millis(seconds * 1_000)
    }

    fn told(workers: &Workers, channel: u64, now: Timestamp) -> Vec<(String, String)> {
        let shown = workers.of(ChannelId::new(channel), now);
        shown.iter().map(|work| (work.worker.to_string(), work.so_far.to_string())).collect()
    }

    #[test]
    fn the_newest_report_of_each_worker_is_kept_for_a_quarter_of_an_hour() {
        let (workers, channel) = (Workers::default(), ChannelId::new(1));
        workers.report(channel, at(0), "research", "works");
        workers.report(channel, at(10), "editor", "waits");
        workers.report(channel, at(20), "research", "has read two pages");
        let both = [("editor", "waits"), ("research", "has read two pages")];
        let both = both.map(|(worker, so_far)| (worker.to_owned(), so_far.to_owned()));
        assert_eq!(told(&workers, 1, at(21)), both);
        assert_eq!(told(&workers, 1, at(10 + 900)), both[1..], "the editor is forgotten");
        assert_eq!(told(&workers, 1, at(20 + 900)), []);
        assert_eq!(told(&workers, 2, at(21)), [], "another channel");
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let workers = Workers::default();
        for channel in 0..2_000 {
            for worker in 0..20 {
                let long = "é".repeat(4_000);
                workers.report(ChannelId::new(channel), at(7), &worker.to_string(), &long);
            }
        }
        assert_eq!(locked(&workers.0).len(), CHANNELS_MAX);
        assert_eq!(told(&workers, 0, at(7)), [], "the oldest channel is forgotten");
        let newest = told(&workers, 1_999, at(7));
        assert_eq!(newest.len(), WORKERS_MAX);
        assert!(newest.iter().all(|(_, so_far)| so_far.len() == SO_FAR_MAX));
    }

    #[test]
    fn a_long_report_is_cut_before_a_whole_character() {
        let long = format!("{}é{}", "x".repeat(100), "y".repeat(SO_FAR_MAX - 1));
        assert_eq!(end_of(&long), "y".repeat(SO_FAR_MAX - 1));
        assert_eq!(end_of("short"), "short");
    }
}
