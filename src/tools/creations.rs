//! Whether an agent may create a further channel.

use super::{Caller, ToolError, Tools};
use crate::ports::discord::ChannelInfo;
use crate::runtime::creations::{Creation, TooMany};
use crate::values::error::ApiError;
use crate::values::id::GuildId;
use crate::values::load_error::LoadError;
use crate::{ChannelId, Mode};
use dirigent_core::TurnState;

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
            let view = state.room.look().machine().view();
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

impl From<TooMany> for ToolError {
    fn from(TooMany { scope, limit, retry_after }: TooMany) -> Self {
        Self::CreationLimit { scope, limit, retry_after }
    }
}
