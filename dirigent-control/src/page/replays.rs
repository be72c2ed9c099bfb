//! Replays recordings beside the bot's own threads.

use std::sync::Arc;

use crate::drawing::{Replay, WhatIf, WhatIfAsked};
use dirigent::replay::RecordedChannel;
use dirigent::snapshot::AgentKey;
use dirigent::{AgentId, ChannelId};

use crate::page::gather::unreadable;
use crate::page::ports::{PlayWhatIf, ReadRecording, RecordingFile};
use crate::page::problem::Problem;
use crate::page::shared::PageContext;

/// The most characters of the rules that somebody wants to try.
const ASKED_MAX: usize = 4_000;

impl PageContext {
    /// Replays a channel of this process from its own recording. Returns JSON.
    pub(crate) async fn own_replay(&self, id: ChannelId) -> Result<String, Problem> {
        let (recorded, name) = self.own_recording(id).await?;
        self.beside(move || json(&Replay::of(&recorded, name).map_err(unreadable)?)).await
    }

    /// Plays a channel of this process again under other rules, from its own recording. Returns JSON.
    pub(crate) async fn own_what_if(
        &self,
        id: ChannelId,
        asked: &WhatIfAsked,
    ) -> Result<String, Problem> {
        let player = self.player(asked)?;
        let (recorded, name) = self.own_recording(id).await?;
        let asked = asked.clone();
        let work = move || json(&player.play(&recorded, &name, &asked).map_err(Problem::invalid)?);
        self.beside(work).await
    }

    /// Replays a recording from a file. It is not stored.
    pub(crate) async fn replay_file(&self, text: String) -> Result<Replay, Problem> {
        let reader = self.reader()?;
        let answer = move || {
            let file = reader.read(&text).map_err(Problem::invalid)?;
            let replay = Replay::of(&file.recorded, named(&file));
            replay.map_err(|error| Problem::invalid(error.to_string()))
        };
        self.beside(answer).await
    }

    /// Plays a recording from a file again under other rules. It is not stored.
    pub(crate) async fn what_if_file(
        &self,
        text: String,
        asked: WhatIfAsked,
    ) -> Result<WhatIf, Problem> {
        let (reader, player) = (self.reader()?, self.player(&asked)?);
        let answer = move || {
            let file = reader.read(&text).map_err(Problem::invalid)?;
            player.play(&file.recorded, &named(&file), &asked).map_err(Problem::invalid)
        };
        self.beside(answer).await
    }

    /// Returns the recording of a channel of this process, and the names of its agents.
    async fn own_recording(
        &self,
        id: ChannelId,
    ) -> Result<(RecordedChannel, impl Fn(AgentKey) -> Option<AgentId> + use<>), Problem> {
        self.must_exist(id).await?;
        let recorded = self.recorder.as_ref().and_then(|recorder| recorder.channel(id));
        let recorded = recorded.ok_or_else(|| {
            Problem::new(
                404,
                "not-recorded",
                "this channel is not recorded; the host can give a MemoryRecorder",
            )
        })?;
        let (names, dirigent) = (self.names(), self.dirigent.clone());
        let name = move |key: AgentKey| dirigent.agent(key).map(|agent| names.of(&agent).into());
        Ok((recorded, name))
    }

    fn reader(&self) -> Result<Arc<dyn ReadRecording>, Problem> {
        let none = || Problem::new(404, "no-reader", "the host reads no recordings");
        self.recordings.clone().ok_or_else(none)
    }

    fn player(&self, asked: &WhatIfAsked) -> Result<Arc<dyn PlayWhatIf>, Problem> {
        if asked.set.len() + asked.assume.len() > ASKED_MAX {
            return Err(Problem::invalid(format!("the rules have more than {ASKED_MAX} bytes")));
        }
        let none =
            || Problem::new(404, "no-player", "the host plays no recording under other rules");
        self.what_if.clone().ok_or_else(none)
    }

    /// Runs work that takes long, because a long recording takes some seconds of a core. So only a few are
    /// replayed at the same time, and none on a thread of the bot.
    pub(crate) async fn beside<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let ended = || Problem::new(500, "failed", "the recording cannot be replayed");
        let place = Arc::clone(&self.replays).acquire_owned().await.map_err(|_| ended())?;
        // The place is taken until the work ends, even if the visitor has gone.
        let work = move || {
            let _place = place;
            work()
        };
        tokio::task::spawn_blocking(work).await.map_err(|_| ended())?
    }
}

/// Returns the names of a file's agents.
fn named(file: &RecordingFile) -> impl Fn(AgentKey) -> Option<AgentId> + '_ {
    |key| file.agents.get(usize::try_from(key.get()).ok()?).cloned()
}

fn json(drawn: &impl serde::Serialize) -> Result<String, Problem> {
    let failed = |_| Problem::new(500, "failed", "the replay cannot be written");
    serde_json::to_string(drawn).map_err(failed)
}
