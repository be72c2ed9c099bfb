//! How many channels agents created of late, and how many are being created.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dirigent_core::Timestamp;

use crate::AgentId;
use crate::settings::{CreationLimits, Pace};
use crate::values::id::GuildId;

/// No further channel may be created now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooMany {
    pub(crate) scope: CreationScope,
    pub(crate) limit: Pace,
    /// After this long it may be tried again; `None`: never.
    pub(crate) retry_after: Option<Duration>,
}

/// Whose creations of channels were counted.
///
/// ```
/// use dirigent::tools::CreationScope;
/// assert_eq!(CreationScope::Agent.to_string(), "you");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CreationScope {
    /// Those of the calling agent, in all guilds.
    Agent,
    /// Those of all agents, in the guild.
    Guild,
}

/// For the agent that called.
impl fmt::Display for CreationScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Agent => "you",
            Self::Guild => "all agents together in this Discord server",
        })
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
pub(crate) struct Creation<'a> {
    creations: &'a Creations,
    agent: AgentId,
    guild: GuildId,
    at: Timestamp,
    /// How many others were under way in the guild when it began. Each counts those before it, so that of two
    /// that come at once one is refused.
    pub(crate) before: usize,
    remains: bool,
}

impl Creations {
    /// Counts a creation by this agent in this guild.
    ///
    /// # Errors
    ///
    /// Where a limit is reached; then nothing was counted.
    pub(crate) fn begin(
        &self,
        now: Timestamp,
        limits: CreationLimits,
        agent: AgentId,
        guild: GuildId,
    ) -> Result<Creation<'_>, TooMany> {
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
    pub(crate) const fn start(&mut self) {
        self.remains = true;
    }

    /// It is certain that no channel came of it.
    pub(crate) const fn created_nothing(&mut self) {
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
) -> Result<(), TooMany> {
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
    Err(TooMany { scope, limit, retry_after })
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
