//! Creates a channel, first in Discord, and then its mode. If one of them fails, the other is undone.

use super::{Caller, ToolError, Tools};
use crate::ports::creation::CreatedChannel;
use crate::ports::discord::{ChannelInfo, NewChannel};
use crate::settings::limits::WORK_TIME;
use crate::values::error::{ApiError, Certainty, ErrorKind};
use crate::values::id::GuildId;
use crate::{CallError, ChannelId, UserId};

impl Tools {
    /// Creates a channel in Discord and stores its mode, if the host's limits allow one more.
    pub(super) async fn open(
        &self,
        caller: &Caller,
        channel: NewChannel,
        made: CreatedChannel,
    ) -> Result<ChannelInfo, ToolError> {
        let shared = &self.dirigent.runtime;
        let (now, limit) = (shared.clock.now(), shared.settings.limits.creations);
        let mut counted = shared.creations.begin(now, limit, caller.agent.clone())?;
        counted.start();
        let creation = self.guild_api.create_channel(channel.clone());
        // There is only one attempt, because a second one might create a second channel.
        let info = match shared.within(WORK_TIME, creation).await.and_then(|created| created) {
            Ok(info) => info,
            Err(error) => {
                if error.certainty() == Certainty::NotDone {
                    counted.created_nothing();
                }
                return Err(self.not_created(channel, error).await);
            }
        };
        match self.dirigent.channel(info.id).register(made).await {
            Ok(()) => Ok(info),
            Err(error) => Err(self.undo(info.id, error).await),
        }
    }

    /// Fails before a channel is created if the moderator is not in the guild. Returns whether it is an administrator
    /// there.
    pub(super) async fn moderated(&self, guild: GuildId) -> Result<bool, ToolError> {
        let shared = &self.dirigent.runtime;
        let moderator = shared.registry.directory().moderator().ok_or(ToolError::NotRunning)?;
        let asked = shared.retry(|| self.guild_api.is_administrator(guild, moderator)).await;
        asked.map_err(|error| {
            if is_absent(&error) { ToolError::ModeratorMissing } else { ToolError::Failed(error) }
        })
    }

    /// Takes back a channel whose mode could not be stored. Without a mode it would look like any other channel.
    async fn undo(&self, channel: ChannelId, source: CallError) -> ToolError {
        tracing::warn!(%channel, error = %source, "a mode could not be stored: the channel is deleted again");
        // The mode may still reach the store, and the record would then outlive the channel.
        if matches!(source, CallError::NotStored | CallError::Failed(_)) {
            self.dirigent.channel(channel).take_back();
        }
        let shared = &self.dirigent.runtime;
        match shared.retry(|| self.guild_api.delete_channel(channel)).await {
            Ok(()) => ToolError::NotStored { source },
            // A person deleted it first, or the answer to an earlier attempt was lost.
            Err(error) if error.kind() == ErrorKind::Gone => ToolError::NotStored { source },
            Err(error) => {
                tracing::error!(%channel, %error, "a channel without a mode is left behind");
                ToolError::LeftBehind { channel, source }
            }
        }
    }

    /// Returns the reason why Discord did not create the channel.
    async fn not_created(&self, channel: NewChannel, error: ApiError) -> ToolError {
        // A second attempt could create a second channel, so the agent must look first.
        if error.certainty() == Certainty::Unknown {
            return ToolError::CreationInDoubt { name: channel.name, source: error };
        }
        // Discord refuses the whole channel because of one account that is not in the guild, so the answer names it.
        if error.kind() == ErrorKind::Invalid {
            let strangers = self.strangers(channel.guild, channel.members).await;
            if !strangers.is_empty() {
                return ToolError::Strangers { users: strangers };
            }
        }
        ToolError::CreationRefused { source: error }
    }

    /// Returns which of these accounts are not in the guild, as far as Discord answers.
    async fn strangers(&self, guild: GuildId, users: Vec<UserId>) -> Vec<UserId> {
        let shared = &self.dirigent.runtime;
        let give_up = shared.clock.now() + WORK_TIME;
        let mut strangers = Vec::new();
        for user in users {
            let asked = self.guild_api.is_administrator(guild, user);
            let remaining = give_up.since(shared.clock.now());
            match shared.within(remaining, asked).await.and_then(|answer| answer) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Gone => strangers.push(user),
                // Discord is busy, so the answer uses the accounts that are already known.
                Err(_) => break,
            }
        }
        strangers
    }
}

/// Returns whether Discord says that a guild does not exist, or that the account may not look at it.
pub(super) fn is_absent(error: &ApiError) -> bool {
    matches!(error.kind(), ErrorKind::Gone | ErrorKind::Forbidden)
}
