//! Creating a channel: first in Discord, then its mode, and neither without the other.

use super::creations::Creation;
use super::{Caller, ToolError, Tools};
use crate::{
    ApiError, CallError, Certainty, ChannelId, ChannelInfo, CreatedChannel, ErrorKind, GuildId,
    LoadError, Mode, NewChannel, TurnState, UserId,
};

impl Tools {
    /// Creates a channel in Discord and stores its mode, if the host's limits allow one more.
    pub(super) async fn open(
        &self,
        caller: &Caller,
        channel: NewChannel,
        made: CreatedChannel,
    ) -> Result<ChannelInfo, ToolError> {
        let shared = &self.dirigent.runtime;
        let limit = shared.settings.work_deadline;
        let mut counted = self.admit(caller, channel.guild).await?;
        counted.start();
        let creation = self.guild_api.create_channel(channel.clone());
        // One attempt: a second one might make a second channel.
        let info = match shared.within(limit, creation).await.and_then(|created| created) {
            Ok(info) => info,
            Err(error) => {
                if error.certainty() == Certainty::NotDone {
                    counted.created_nothing();
                }
                return Err(self.not_created(channel, error).await);
            }
        };
        match self.dirigent.created(info.id, made).await {
            Ok(()) => Ok(info),
            Err(error) => Err(self.undo(info.id, error).await),
        }
    }

    /// Counts a creation that is about to start, unless a limit is reached.
    async fn admit(&self, caller: &Caller, guild: GuildId) -> Result<Creation<'_>, ToolError> {
        let shared = &self.dirigent.runtime;
        let limits = shared.settings.creations;
        let counted =
            shared.creations.begin(shared.clock.now(), limits, caller.agent.clone(), guild)?;
        if let Some(max) = limits.open {
            // What is being created may be listed already, and then counts twice: that errs on the safe side.
            let room = max.saturating_sub(counted.others_under_way());
            if self.open_channels(guild, room).await? >= room {
                return Err(ToolError::OpenLimit { max });
            }
        }
        Ok(counted)
    }

    /// How many open channels the guild has: private ones that have a mode and are not archived. Counts no
    /// further than to `enough`.
    async fn open_channels(&self, guild: GuildId, enough: usize) -> Result<usize, ToolError> {
        let shared = &self.dirigent.runtime;
        let listed = shared.retry(|| self.guild_api.channels(guild)).await?;
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
    async fn is_open(&self, channel: ChannelId) -> Result<bool, ToolError> {
        let shared = &self.dirigent.runtime;
        if let Some(room) = shared.awake(channel) {
            let state = room.lock();
            let view = state.room.machine().view();
            return Ok(view.mode() != Mode::None && view.turn_state() != TurnState::Archived);
        }
        let limit = shared.settings.call_deadline;
        match shared.within(limit, shared.store.load(channel)).await? {
            Ok(None) => Ok(false),
            Ok(Some(stored)) => {
                let snapshot = &stored.record.snapshot;
                Ok(snapshot.mode != Mode::None && snapshot.archived.is_none())
            }
            Err(LoadError::Barred { .. }) => Ok(true),
            Err(LoadError::Store(error)) => Err(ToolError::Failed(error)),
        }
    }

    /// Fails before anything is created if the moderator is not in the guild. Says whether it
    /// is an administrator there.
    pub(super) async fn moderated(&self, guild: GuildId) -> Result<bool, ToolError> {
        let shared = &self.dirigent.runtime;
        let moderator = shared.registry.moderator().ok_or(ToolError::NotRunning)?;
        let asked = shared.retry(|| self.guild_api.is_administrator(guild, moderator)).await;
        asked.map_err(|error| {
            if is_absent(&error) { ToolError::ModeratorMissing } else { ToolError::Failed(error) }
        })
    }

    /// Takes back a channel whose mode could not be stored. Without one it would look like any
    /// other channel.
    async fn undo(&self, channel: ChannelId, source: CallError) -> ToolError {
        tracing::warn!(%channel, error = %source, "a mode could not be stored: the channel is deleted again");
        if matches!(source, CallError::NotStored | CallError::Failed(_)) {
            self.dirigent.take_back(channel);
        }
        let shared = &self.dirigent.runtime;
        match shared.retry(|| self.guild_api.delete_channel(channel)).await {
            Ok(()) => ToolError::NotStored { source },
            Err(error) if error.kind() == ErrorKind::Gone => ToolError::NotStored { source },
            Err(error) => {
                tracing::error!(%channel, %error, "a channel without a mode is left behind");
                ToolError::LeftBehind { channel, source }
            }
        }
    }

    /// Why Discord did not create the channel.
    async fn not_created(&self, channel: NewChannel, error: ApiError) -> ToolError {
        if error.certainty() == Certainty::Unknown {
            return ToolError::CreationInDoubt { name: channel.name, source: error };
        }
        if error.kind() == ErrorKind::Invalid {
            let strangers = self.strangers(channel.guild, channel.members).await;
            if !strangers.is_empty() {
                return ToolError::Strangers { users: strangers };
            }
        }
        ToolError::CreationRefused { source: error }
    }

    /// Which of these are not in the guild, as far as that can be found out.
    async fn strangers(&self, guild: GuildId, users: Vec<UserId>) -> Vec<UserId> {
        let shared = &self.dirigent.runtime;
        let give_up = shared.clock.now() + shared.settings.work_deadline;
        let mut strangers = Vec::new();
        for user in users {
            let asked = self.guild_api.is_administrator(guild, user);
            let remaining = give_up.since(shared.clock.now());
            match shared.within(remaining, asked).await.and_then(|answer| answer) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Gone => strangers.push(user),
                // Discord is busy with something else: what is known has to do.
                Err(_) => break,
            }
        }
        strangers
    }
}

/// Discord says of a guild that it does not exist, or that one may not look at it.
pub(super) fn is_absent(error: &ApiError) -> bool {
    matches!(error.kind(), ErrorKind::Gone | ErrorKind::Forbidden)
}
