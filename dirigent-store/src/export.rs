//! Writes `orchestration-state.json`, the state of every channel, for people and for other programs.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use dirigent::hooks::TurnId;
use dirigent::operate::Transition;
use dirigent::ports::ApiError;
use dirigent::ports::Timestamp;
use dirigent::snapshot::{AgentKey, PhaseKind};
use dirigent::store::{ChannelStore, LoadError};
use dirigent::{AgentId, ChannelId, Clock, Config, Dirigent};
use dirigent_core::TurnMachine;
use dirigent_core::view::{AgentState as Doing, Seat};
use serde::Serialize;

use crate::disk::replace;
use crate::error::StoreError;
use crate::worker;

/// The most transitions in the file, for all channels together.
const HISTORY_MAX: usize = 100;

/// The state of all channels of a store at one moment, in the form of an `orchestration-state.json` that other
/// programs read. Times are milliseconds since 1970. It contains no text of the conversation.
///
/// It is a copy for others. The library itself always reads the store and never this file.
///
/// ```
/// use dirigent::Config;
/// use dirigent::store::MemoryChannels;
/// use dirigent::ports::Timestamp;
/// use dirigent_store::export::OrchestrationState;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (store, now) = (MemoryChannels::default(), Timestamp::from_millis(7));
/// let state = OrchestrationState::of(&store, Config::default().into(), now).await?;
/// assert_eq!((state.version, state.last_updated, state.channels.len()), (1, 7, 0));
/// # let folder = tempfile::tempdir()?;
/// state.save(folder.path().join(OrchestrationState::FILE_NAME))?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct OrchestrationState {
    /// The version of this form, which is 1.
    pub version: u32,
    /// The time at which the state was read.
    pub last_updated: u64,
    /// What each agent is doing.
    pub agents: BTreeMap<AgentId, ExportedAgent>,
    /// The channels that have a record.
    pub channels: BTreeMap<ChannelId, ExportedChannel>,
    /// The newest transitions of all channels, at most 100, the oldest one first.
    pub history: VecDeque<HistoryEntry>,
    /// The channels with a record that could not be used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<ChannelId>,
}

/// What an agent is doing.
///
/// ```
/// let idle = dirigent_store::export::ExportedAgent::default();
/// assert!(idle.active_in.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ExportedAgent {
    /// The channels in which the agent has the floor.
    pub active_in: Vec<ChannelId>,
    /// The channels in which the agent waits for its turn.
    pub queued_in: Vec<ChannelId>,
    /// The channels in which the agent's turn waits until a person was answered.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waiting_in: Vec<ChannelId>,
    /// The channels in which the agent was last known to be offline.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub offline_in: Vec<ChannelId>,
}

/// The state of a channel.
///
/// ```
/// fn floor(channel: &dirigent_store::export::ExportedChannel) -> Option<&dirigent::AgentId> {
///     channel.active_agent.as_ref()
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ExportedChannel {
    /// The mode, for example `chat`.
    pub mode: &'static str,
    /// The turn state, for example `normal` or `shuffle`.
    pub turn_state: &'static str,
    /// The phase of the turn.
    pub phase: &'static str,
    /// The speaker list in order, without agents that have left, are muted or are away.
    pub queue: Vec<AgentId>,
    /// The place of the speaker in that list.
    pub current_index: Option<usize>,
    /// The agent that has the floor.
    pub active_agent: Option<AgentId>,
    /// The time at which the turn was granted, if it is in the history.
    pub turn_started_at: Option<u64>,
    /// The time at which the turn ends if it has not ended before.
    pub turn_timeout_at: Option<u64>,
}

/// One change of a channel.
///
/// ```
/// fn why(entry: &dirigent_store::export::HistoryEntry) -> &str {
///     entry.cause
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct HistoryEntry {
    /// The time of the change, in milliseconds since 1970 (UTC).
    pub time: u64,
    /// The channel that changed.
    pub channel: ChannelId,
    /// The agent that the change is about.
    pub agent: Option<AgentId>,
    /// The phase before the change.
    pub from: &'static str,
    /// The phase after the change.
    pub to: &'static str,
    /// The cause of the change, with the name that [`Cause::as_str`](dirigent::operate::Cause::as_str) returns.
    pub cause: &'static str,
}

impl OrchestrationState {
    /// The usual name of the file.
    pub const FILE_NAME: &'static str = "orchestration-state.json";

    /// Reads the state of all channels. `config` contains the rules of the channels, because the deadlines depend
    /// on them.
    ///
    /// # Errors
    ///
    /// Returns the errors of the store. A single channel that cannot be used is listed in `unreadable` instead.
    pub async fn of(
        store: &dyn ChannelStore,
        config: Arc<Config>,
        now: Timestamp,
    ) -> Result<Self, ApiError> {
        let names = store.agents().await?;
        let mut state = Self {
            version: 1,
            last_updated: now.as_millis(),
            agents: names.iter().map(|name| (name.clone(), ExportedAgent::default())).collect(),
            channels: BTreeMap::new(),
            history: VecDeque::new(),
            unreadable: Vec::new(),
        };
        for channel in store.channels().await? {
            let stored = match store.load(channel).await {
                Ok(Some(stored)) => stored,
                Ok(None) => continue,
                Err(LoadError::Store(error)) => return Err(error),
                // The record is damaged, or a newer version wrote it.
                Err(_) => {
                    state.unreadable.push(channel);
                    continue;
                }
            };
            match TurnMachine::restore(Arc::clone(&config), &stored.record.snapshot) {
                Ok(machine) => {
                    let history = store.history(channel).await?;
                    state.add(channel, &machine, &history, &names);
                }
                Err(_) => state.unreadable.push(channel),
            }
        }
        Ok(state)
    }

    /// Writes the state to a file, as a whole and synced. An old file is replaced. This works on the calling
    /// thread.
    ///
    /// # Errors
    ///
    /// Returns an error if the system refused. Then the old file is unchanged.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), StoreError> {
        // A struct of texts and numbers always has a form in JSON.
        let text = serde_json::to_vec_pretty(self).unwrap_or_default();
        replace(path.as_ref(), &text)
    }

    /// Writes the file again after every change of a channel, as long as the library runs. It reads the store each
    /// time and writes on a thread of its own. `at_most_every` is the wait between a change and the file, so that one
    /// write includes all changes of that time. With [`Duration::ZERO`] each change is followed by its own write,
    /// unless more changes arrive during one. If the file cannot be written, the next change tries again. It looks
    /// at all channels each time, so it is for programs with hundreds of channels.
    ///
    /// The file is never read back, because a restart continues from the store.
    ///
    /// # Cancellation
    ///
    /// You can drop the future to stop it. The file stays as it was last written.
    pub async fn keep_saved(
        dirigent: Dirigent,
        store: Arc<dyn ChannelStore>,
        config: Arc<Config>,
        clock: Arc<dyn Clock>,
        path: PathBuf,
        at_most_every: Duration,
    ) {
        let mut changes = dirigent.events();
        // This handle would keep the library running forever.
        drop(dirigent);
        while changes.next().await.is_some() {
            clock.sleep_until(clock.now() + at_most_every).await;
            while changes.try_next().is_some() {}
            match Self::of(store.as_ref(), Arc::clone(&config), clock.now()).await {
                Ok(state) => {
                    let to = path.clone();
                    // The wait for the disk must not delay the program's tasks.
                    let saved = worker::once("dirigent-state", &path, move || state.save(to));
                    if let Err(error) = saved.await {
                        tracing::warn!(%error, "the state of all channels was not saved");
                    }
                }
                Err(error) => tracing::warn!(%error, "the state of all channels could not be read"),
            }
        }
    }

    fn add(
        &mut self,
        channel: ChannelId,
        machine: &TurnMachine,
        history: &[Transition],
        names: &[AgentId],
    ) {
        let name = |key: AgentKey| {
            let known = usize::try_from(key.get()).ok().and_then(|at| names.get(at));
            known.cloned().unwrap_or_else(|| "unknown".into())
        };
        let view = machine.view();
        let speaker = view.speaker();
        let keys = view.list().map(|seat| seat.agent).chain(view.away().iter().map(|it| it.agent));
        for key in keys.collect::<BTreeSet<_>>() {
            let agent = self.agents.entry(name(key)).or_default();
            match machine.agent_state(key) {
                Doing::Active => agent.active_in.push(channel),
                Doing::Queued => agent.queued_in.push(channel),
                Doing::Waiting => agent.waiting_in.push(channel),
                Doing::Offline => agent.offline_in.push(channel),
                Doing::Idle => {}
            }
        }
        let queue = || view.list().filter(Seat::is_available).map(|seat| seat.agent);
        let state = ExportedChannel {
            mode: view.mode().as_str(),
            turn_state: view.turn_state().as_str(),
            phase: view.phase().as_str(),
            queue: queue().map(name).collect(),
            current_index: queue().position(|agent| Some(agent) == speaker),
            active_agent: speaker.map(name),
            turn_started_at: speaker.and_then(|_| granted_at(history, view.turn())),
            turn_timeout_at: view.turn_ends_at().map(Timestamp::as_millis),
        };
        self.channels.insert(channel, state);
        for change in history {
            self.tell(HistoryEntry {
                time: change.at.as_millis(),
                channel,
                agent: change.agent.map(name),
                from: change.from.as_str(),
                to: change.to.as_str(),
                cause: change.cause.as_str(),
            });
        }
    }

    /// Adds an entry in the order of time, and keeps only the newest of all channels.
    fn tell(&mut self, entry: HistoryEntry) {
        let at = self.history.partition_point(|known| known.time <= entry.time);
        self.history.insert(at, entry);
        if self.history.len() > HISTORY_MAX {
            self.history.pop_front();
        }
    }
}

fn granted_at(history: &[Transition], turn: TurnId) -> Option<u64> {
    let granted = |change: &&Transition| change.turn == turn && change.to == PhaseKind::Granted;
    history.iter().find(granted).map(|change| change.at.as_millis())
}
