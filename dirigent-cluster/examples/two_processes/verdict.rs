//! What stands in the channels in the end.

use std::collections::HashSet;

use super::fleet::Fleet;

/// What became of everything that was said.
pub(super) struct Verdict {
    /// Replies of agents.
    pub(super) posted: usize,
    /// Turns that stand in a channel twice, or after a later one.
    pub(super) doubled: usize,
    /// Words of people that no agent heard.
    pub(super) lost: usize,
    /// Runs that began while another process had one in the same channel.
    pub(super) overlapping: Vec<String>,
}

impl Verdict {
    pub(super) fn of(fleet: &mut Fleet) -> Self {
        let (mut posted, mut doubled) = (0, 0);
        let mut heard = HashSet::new();
        for channel in fleet.channels() {
            let mut last = 0;
            for (_, reply) in fleet.replies(*channel) {
                let mut parts = reply.split(' ').skip(1);
                let turn: u64 = parts.next().and_then(|turn| turn.parse().ok()).unwrap_or(0);
                posted += 1;
                doubled += usize::from(turn <= last);
                last = turn.max(last);
                heard.extend(parts.skip(1).map(|word| (*channel, word.to_owned())));
            }
        }
        let lost = fleet.words().iter().filter(|word| !heard.contains(*word)).count();
        Self { posted, doubled, lost, overlapping: fleet.overlapping() }
    }
}
