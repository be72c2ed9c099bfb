//! Replays recordings beside the bot's own threads.

use std::sync::Arc;

use crate::drawing::Replay;
use dirigent::ChannelId;
use dirigent::snapshot::AgentKey;

use crate::page::gather::unreadable;
use crate::page::problem::Problem;
use crate::page::shared::PageContext;

impl PageContext {
    /// Replays a channel of this process from its own recording. Returns JSON.
    pub(crate) async fn own_replay(&self, id: ChannelId) -> Result<String, Problem> {
        self.must_exist(id).await?;
        let recorded = self.recorder.as_ref().and_then(|recorder| recorder.channel(id));
        let recorded = recorded.ok_or_else(|| {
            Problem::new(
                404,
                "not-recorded",
                "this channel is not recorded; the host can give a MemoryRecorder",
            )
        })?;
        let names = self.names();
        let dirigent = self.dirigent.clone();
        let name = move |key: AgentKey| dirigent.agent(key).map(|agent| names.of(&agent).into());
        let replay = move || {
            let replay = Replay::of(&recorded, name).map_err(unreadable)?;
            serde_json::to_string(&replay)
                .map_err(|_| Problem::new(500, "failed", "the replay cannot be written"))
        };
        self.beside(replay).await
    }

    /// Replays a recording from a file. It is not stored.
    pub(crate) async fn replay_file(&self, text: String) -> Result<Replay, Problem> {
        let reader = self.recordings.clone();
        let reader =
            reader.ok_or_else(|| Problem::new(404, "no-reader", "the host reads no recordings"))?;
        let answer = move || {
            let file = reader.read(&text).map_err(Problem::invalid)?;
            let name = |key: AgentKey| file.agents.get(usize::try_from(key.get()).ok()?).cloned();
            let replay = Replay::of(&file.recorded, name);
            replay.map_err(|error| Problem::invalid(error.to_string()))
        };
        self.beside(answer).await
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
