//! `create-chat-channel`, `create-report-channel`, `create-work-channel`.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::arguments::Arguments;
use super::fields::{Fields, needed, plain_name};
use super::{Caller, ToolError, Tools};
use crate::ports::creation::CreatedChannel;
use crate::ports::discord::NewChannel;
use crate::{ChannelId, Mode, UserId};

/// The arguments of `create-chat-channel`.
///
/// ```
/// use dirigent::tools::CreateChatChannel;
/// let call: CreateChatChannel = serde_json::from_str(r#"{ "name": " tea-party " }"#)?;
/// assert_eq!(call.name, "tea-party");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema)]
#[expect(clippy::exhaustive_structs, reason = "the seed names exactly these arguments")]
pub struct CreateChatChannel {
    /// The new channel's name, 1 to 100 characters in one line.
    #[schemars(length(min = 1, max = 100))]
    pub name: String,
    /// Discord user ids of those who take part, agents and people, in the order in which the agents
    /// speak first. The moderator bot is a member in any case, and so are you if you are registered.
    #[schemars(default)]
    pub participants: Vec<UserId>,
}

/// The arguments of `create-report-channel`.
///
/// ```
/// use dirigent::tools::CreateReportChannel;
/// let call: CreateReportChannel = serde_json::from_str(r#"{ "name": "nightly" }"#)?;
/// assert!(call.members.is_empty());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema)]
#[expect(clippy::exhaustive_structs, reason = "the seed names exactly these arguments")]
pub struct CreateReportChannel {
    /// The new channel's name, 1 to 100 characters in one line.
    #[schemars(length(min = 1, max = 100))]
    pub name: String,
    /// Discord user ids of those who may read and write in it. The moderator bot is a
    /// member in any case, and so are you if you are registered.
    #[schemars(default)]
    pub members: Vec<UserId>,
}

/// The arguments of `create-work-channel`.
///
/// ```
/// use dirigent::tools::CreateWorkChannel;
/// let call: CreateWorkChannel = serde_json::from_str(r#"{ "name": "bench", "members": [] }"#)?;
/// assert_eq!(call.name, "bench");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema)]
#[expect(clippy::exhaustive_structs, reason = "the seed names exactly these arguments")]
pub struct CreateWorkChannel {
    /// The new channel's name, 1 to 100 characters in one line.
    #[schemars(length(min = 1, max = 100))]
    pub name: String,
    /// Discord user ids of others who may read and write in it. The moderator bot is a
    /// member in any case, and so are you if you are registered.
    #[schemars(default)]
    pub members: Vec<UserId>,
}

/// A chat, report or work channel that was created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ChannelReady {
    /// The id of the channel.
    pub channel_id: ChannelId,
    /// The name, as Discord accepted it.
    pub name: String,
    /// The mode of the channel.
    #[serde(serialize_with = "mode_name")]
    pub mode: Mode,
    /// The accounts that can see the channel and write in it, besides the moderator.
    pub members: Vec<UserId>,
    /// The members that are not registered agents, and so get no turns.
    pub unregistered: Vec<UserId>,
    /// `true` if the caller is a member. It is a member if it has an identity.
    pub caller_added: bool,
    /// Warnings for the caller.
    pub warnings: Vec<String>,
}

impl Tools {
    /// Creates a private channel in the caller's guild, for a conversation with turns.
    ///
    /// # Errors
    ///
    /// Fails with a [`ToolError`]. No channel is left behind unless the error says so.
    pub async fn create_chat_channel(
        &self,
        caller: &Caller,
        arguments: CreateChatChannel,
    ) -> Result<ChannelReady, ToolError> {
        let CreateChatChannel { name, participants } = arguments.checked()?;
        self.create(caller, Mode::Chat, name, participants).await
    }

    /// Creates a private channel in the caller's guild, for reports.
    ///
    /// # Errors
    ///
    /// Fails with a [`ToolError`]. No channel is left behind unless the error says so.
    pub async fn create_report_channel(
        &self,
        caller: &Caller,
        arguments: CreateReportChannel,
    ) -> Result<ChannelReady, ToolError> {
        let CreateReportChannel { name, members } = arguments.checked()?;
        self.create(caller, Mode::Report, name, members).await
    }

    /// Creates a private channel in the caller's guild, for work without turns. Its mode cannot change.
    ///
    /// # Errors
    ///
    /// Fails with a [`ToolError`]. No channel is left behind unless the error says so.
    pub async fn create_work_channel(
        &self,
        caller: &Caller,
        arguments: CreateWorkChannel,
    ) -> Result<ChannelReady, ToolError> {
        let CreateWorkChannel { name, members } = arguments.checked()?;
        self.create(caller, Mode::Work, name, members).await
    }

    async fn create(
        &self,
        caller: &Caller,
        mode: Mode,
        name: String,
        named: Vec<UserId>,
    ) -> Result<ChannelReady, ToolError> {
        let guild = caller.guild.ok_or(ToolError::NotInGuild)?;
        self.dirigent.live().await?;
        let inside = self.membership(caller, named)?;
        self.moderated(guild).await?;
        let warning = if mode.keeps_turns() { inside.warning() } else { None };
        // Without turns it does not matter who speaks first.
        let members = if mode.keeps_turns() { inside.agents } else { Vec::new() };
        let channel = NewChannel { guild, name, members: inside.users.clone() };
        let terms = CreatedChannel { mode, members, opening: None };
        let info = self.open(caller, channel, terms).await?;
        Ok(ChannelReady {
            channel_id: info.id,
            name: info.name,
            mode,
            members: inside.users,
            unregistered: inside.unregistered,
            caller_added: inside.caller.is_some(),
            warnings: warning.into_iter().collect(),
        })
    }
}

impl Arguments for CreateChatChannel {
    const TOOL: &'static str = "create-chat-channel";

    fn read(fields: &Fields<'_>) -> Result<Self, ToolError> {
        let name = needed("name", fields.text("name")?)?;
        Ok(Self { name, participants: fields.ids("participants")?.unwrap_or_default() })
    }

    fn checked(self) -> Result<Self, ToolError> {
        Ok(Self { name: plain_name("name", &self.name)?, ..self })
    }
}

impl Arguments for CreateReportChannel {
    const TOOL: &'static str = "create-report-channel";

    fn read(fields: &Fields<'_>) -> Result<Self, ToolError> {
        let name = needed("name", fields.text("name")?)?;
        Ok(Self { name, members: fields.ids("members")?.unwrap_or_default() })
    }

    fn checked(self) -> Result<Self, ToolError> {
        Ok(Self { name: plain_name("name", &self.name)?, ..self })
    }
}

impl Arguments for CreateWorkChannel {
    const TOOL: &'static str = "create-work-channel";

    fn read(fields: &Fields<'_>) -> Result<Self, ToolError> {
        let name = needed("name", fields.text("name")?)?;
        Ok(Self { name, members: fields.ids("members")?.unwrap_or_default() })
    }

    fn checked(self) -> Result<Self, ToolError> {
        Ok(Self { name: plain_name("name", &self.name)?, ..self })
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn mode_name<S: Serializer>(mode: &Mode, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(mode.as_str())
}
