//! Channels in memory, for experiments, for tests, and for hosts that need no restart.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use rustc_hash::FxHashMap;

use crate::ports::store::{ChannelStore, Commit, CommitError};
use crate::record::channel::{ChannelRecord, Revision, StoredChannel};
use crate::values::error::ApiError;
use crate::values::load_error::LoadError;
use crate::values::sync::locked;
use crate::{AgentId, ChannelId};
use dirigent_core::{AgentKey, Transition};

/// The most transitions that a channel's history returns.
const HISTORY_MAX: usize = 100;
/// The most transitions that are kept, for all channels together, so that their memory does not grow with the number of
/// channels.
const HISTORY_TOTAL: usize = 10_000;

/// A [`ChannelStore`] that loses everything when its last clone is dropped. Its records are never damaged and never
/// newer than the library. It keeps the newest 10,000 transitions of all channels together, and a channel's history
/// returns the newest 100 of its own.
///
/// ```
/// let store = dirigent::store::MemoryChannels::default();
/// let same = store.clone();
/// # let _ = same;
/// ```
#[derive(Clone, Debug, Default)]
pub struct MemoryChannels {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    channels: FxHashMap<ChannelId, (Revision, Arc<ChannelRecord>)>,
    agents: Vec<AgentId>,
    /// The transitions, oldest first.
    history: VecDeque<(ChannelId, Transition)>,
}

impl Inner {
    fn keep(&mut self, channel: ChannelId, transitions: &[Transition]) {
        self.history.extend(transitions.iter().map(|transition| (channel, *transition)));
        let excess = self.history.len().saturating_sub(HISTORY_TOTAL);
        self.history.drain(..excess);
    }
}

#[async_trait]
impl ChannelStore for MemoryChannels {
    fn name(&self) -> &'static str {
        "memory, which a restart empties"
    }

    async fn channels(&self) -> Result<Vec<ChannelId>, ApiError> {
        let mut known: Vec<_> = locked(&self.inner).channels.keys().copied().collect();
        known.sort_unstable();
        Ok(known)
    }

    async fn load(&self, channel: ChannelId) -> Result<Option<StoredChannel>, LoadError> {
        let inner = locked(&self.inner);
        let known = inner.channels.get(&channel);
        Ok(known.map(|(revision, record)| StoredChannel {
            revision: *revision,
            record: ChannelRecord::clone(record),
        }))
    }

    async fn commit(&self, commit: Commit) -> Result<Revision, CommitError> {
        let Commit { channel, expected, record, transitions, .. } = commit;
        let mut inner = locked(&self.inner);
        let known = inner.channels.entry(channel);
        let found = match &known {
            Entry::Occupied(known) => known.get().0,
            Entry::Vacant(_) => Revision::default(),
        };
        if found != expected {
            return Err(CommitError::Conflict { found });
        }
        let revision = found.next();
        let old = match known {
            Entry::Occupied(mut known) => Some(known.insert((revision, record))),
            Entry::Vacant(place) => {
                place.insert((revision, record));
                None
            }
        };
        inner.keep(channel, &transitions);
        drop(inner);
        drop(old);
        Ok(revision)
    }

    async fn delete(&self, channel: ChannelId) -> Result<bool, LoadError> {
        let mut inner = locked(&self.inner);
        inner.history.retain(|(of, _)| *of != channel);
        Ok(inner.channels.remove(&channel).is_some())
    }

    async fn agents(&self) -> Result<Vec<AgentId>, ApiError> {
        Ok(locked(&self.inner).agents.clone())
    }

    async fn add_agent(&self, agent: AgentId) -> Result<AgentKey, ApiError> {
        let mut inner = locked(&self.inner);
        let at = inner.agents.iter().position(|known| *known == agent).unwrap_or_else(|| {
            inner.agents.push(agent);
            inner.agents.len() - 1
        });
        u32::try_from(at).map(AgentKey::new).map_err(|_| {
            ApiError::new(crate::values::error::ErrorKind::Store).with_source("no more agent keys")
        })
    }

    fn history_max(&self) -> usize {
        HISTORY_MAX
    }

    async fn history(&self, channel: ChannelId) -> Result<Vec<Transition>, ApiError> {
        let inner = locked(&self.inner);
        let own = inner.history.iter().rev().filter(|(of, _)| *of == channel);
        let mut newest: Vec<_> = own.take(HISTORY_MAX).map(|(_, transition)| *transition).collect();
        newest.reverse();
        Ok(newest)
    }
}

#[cfg(test)]
mod tests {
    use dirigent_core::{Cause, PhaseKind, Timestamp, TurnId};
    use futures_util::FutureExt;

    use super::*;
    use crate::ports::store::Durability;

    #[test]
    fn the_history_of_all_channels_together_is_bounded() {
        let store = MemoryChannels::default();
        let transition = |number| Transition {
            at: Timestamp::from_millis(number),
            from: PhaseKind::Dormant,
            to: PhaseKind::Dormant,
            agent: None,
            turn: TurnId::new(number),
            cause: Cause::AgentPassed,
        };
        for channel in 0..300 {
            let commit = Commit {
                channel: ChannelId::new(channel),
                expected: Revision::default(),
                record: Arc::default(),
                transitions: Arc::new((0..90).map(transition).collect()),
                durability: Durability::Turn,
                replaces_damaged: false,
            };
            store.commit(commit).now_or_never().unwrap().unwrap();
        }
        let kept =
            |channel| store.history(ChannelId::new(channel)).now_or_never().unwrap().unwrap().len();
        assert_eq!((kept(0), kept(299)), (0, 90));
        assert_eq!((0..300).map(kept).sum::<usize>(), HISTORY_TOTAL);
    }
}
