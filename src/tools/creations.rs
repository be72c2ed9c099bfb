//! How many channels agents created of late, and how many are being created.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dirigent_core::Timestamp;

use super::{Caller, CreationScope, ToolError, Tools};
use crate::{
    AgentId, ApiError, ChannelId, ChannelInfo, CreationLimits, GuildId, LoadError, Mode, Pace,
    TurnState,
};

impl Tools {
    /// Counts a creation that is about to start, unless a limit is reached.
    pub(super) async fn admit(
        &self,
        caller: &Caller,
        guild: GuildId,
    ) -> Result<Creation<'_>, ToolError> {
        let shared = &self.dirigent.runtime;
        let limits = shared.settings.creations;
        let counted =
            shared.creations.begin(shared.clock.now(), limits, caller.agent.clone(), guild)?;
        if limits.total.is_none() && limits.open.is_none() {
            return Ok(counted);
        }
        let listed = shared.retry(|| self.guild_api.channels(guild)).await?;
        // What is being created may be listed already, and then counts twice: that errs on the safe side.
        if let Some(max) = limits.total.filter(|max| listed.len() + counted.before >= *max) {
            return Err(ToolError::GuildFull { max });
        }
        if let Some(max) = limits.open {
            let free = max.saturating_sub(counted.before);
            let limit = shared.settings.work_deadline;
            if shared.within(limit, self.open_channels(&listed, free)).await?? >= free {
                return Err(ToolError::OpenLimit { max });
            }
        }
        Ok(counted)
    }

    /// How many of these channels are open: private ones that have a mode and are not archived. Counts no
    /// further than to `enough`.
    async fn open_channels(
        &self,
        listed: &[ChannelInfo],
        enough: usize,
    ) -> Result<usize, ApiError> {
        let mut open = 0;
        for channel in listed.iter().filter(|channel| channel.private) {
            if open >= enough {
                break;
            }
            open += usize::from(self.is_open(channel.id).await?);
        }
        Ok(open)
    }

    /// Whether the channel has a mode and is not archived. One whose record cannot be used may be open. A
    /// channel that is not in memory stays in the store.
    async fn is_open(&self, channel: ChannelId) -> Result<bool, ApiError> {
        let shared = &self.dirigent.runtime;
        if let Some(room) = shared.rooms.awake(channel) {
            let state = room.lock();
            let view = state.room.machine().view();
            return Ok(view.mode() != Mode::None && view.turn_state() != TurnState::Archived);
        }
        match shared.store.load(channel).await {
            Ok(None) => Ok(false),
            Ok(Some(stored)) => {
                let snapshot = &stored.record.snapshot;
                Ok(snapshot.mode != Mode::None && snapshot.archived.is_none())
            }
            Err(LoadError::Barred { .. }) => Ok(true),
            Err(LoadError::Store(error)) => Err(error),
        }
    }
}

/// Counts the creations of channels, by agent and by guild.
#[derive(Debug, Default)]
pub(crate) struct Creations {
    counted: Mutex<Counted>,
}

#[derive(Debug, Default)]
struct Counted {
    agents: HashMap<AgentId, Moments>,
    guilds: HashMap<GuildId, Moments>,
    /// Creations that are not over yet; no guild stands here with 0.
    under_way: HashMap<GuildId, usize>,
}

/// When channels were created, in ascending order.
type Moments = Vec<Timestamp>;

/// A creation that counts while it is under way. Afterwards it counts if it was started, unless
/// [`Creation::created_nothing`] was called. A future that is dropped in between leaves it counted.
#[derive(Debug)]
pub(super) struct Creation<'a> {
    creations: &'a Creations,
    agent: AgentId,
    guild: GuildId,
    at: Timestamp,
    /// How many others were under way in the guild when it began. Each counts those before it, so that of two
    /// that come at once one is refused.
    before: usize,
    remains: bool,
}

impl Creations {
    /// Counts a creation by this agent in this guild.
    ///
    /// # Errors
    ///
    /// [`ToolError::CreationLimit`]; then nothing was counted.
    pub(super) fn begin(
        &self,
        now: Timestamp,
        limits: CreationLimits,
        agent: AgentId,
        guild: GuildId,
    ) -> Result<Creation<'_>, ToolError> {
        let mut counted = self.lock();
        let Counted { agents, guilds, under_way } = &mut *counted;
        forget(agents, now, limits.agent);
        forget(guilds, now, limits.guild);
        check(CreationScope::Agent, now, limits.agent, agents.get(&agent))?;
        check(CreationScope::Guild, now, limits.guild, guilds.get(&guild))?;
        note(agents, agent.clone(), now);
        note(guilds, guild, now);
        let number = under_way.entry(guild).or_default();
        let before = *number;
        *number += 1;
        Ok(Creation { creations: self, agent, guild, at: now, before, remains: false })
    }

    fn lock(&self) -> MutexGuard<'_, Counted> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Creation<'_> {
    /// From now on a channel may come of it.
    pub(super) const fn start(&mut self) {
        self.remains = true;
    }

    /// It is certain that no channel came of it.
    pub(super) const fn created_nothing(&mut self) {
        self.remains = false;
    }
}

impl Drop for Creation<'_> {
    fn drop(&mut self) {
        let mut counted = self.creations.lock();
        let Counted { agents, guilds, under_way } = &mut *counted;
        if let Some(number) = under_way.get_mut(&self.guild) {
            *number -= 1;
            if *number == 0 {
                under_way.remove(&self.guild);
            }
        }
        if !self.remains {
            take_back(agents, &self.agent, self.at);
            take_back(guilds, &self.guild, self.at);
        }
    }
}

/// Drops what no limit asks for any more.
fn forget<K>(counted: &mut HashMap<K, Moments>, now: Timestamp, limit: Option<Pace>) {
    let window = limit.map_or(Duration::ZERO, |limit| limit.window);
    counted.retain(|_, moments| {
        moments.retain(|at| *at + window > now);
        !moments.is_empty()
    });
}

fn check(
    scope: CreationScope,
    now: Timestamp,
    limit: Option<Pace>,
    moments: Option<&Moments>,
) -> Result<(), ToolError> {
    let Some(limit) = limit else {
        return Ok(());
    };
    let moments = moments.map_or(&[][..], Vec::as_slice);
    if moments.len() < limit.burst {
        return Ok(());
    }
    // Once this one is forgotten, there are fewer than the limit.
    let last = moments.get(moments.len() - limit.burst).filter(|_| limit.burst > 0);
    let retry_after = last.map(|at| (*at + limit.window).since(now));
    Err(ToolError::CreationLimit { scope, limit, retry_after })
}

fn note<K: Eq + Hash>(counted: &mut HashMap<K, Moments>, key: K, at: Timestamp) {
    let moments = counted.entry(key).or_default();
    let place = moments.partition_point(|known| *known <= at);
    moments.insert(place, at);
}

fn take_back<K: Eq + Hash>(counted: &mut HashMap<K, Moments>, key: &K, at: Timestamp) {
    if let Some(moments) = counted.get_mut(key) {
        if let Ok(place) = moments.binary_search(&at) {
            moments.remove(place);
        }
        if moments.is_empty() {
            counted.remove(key);
        }
    }
}
