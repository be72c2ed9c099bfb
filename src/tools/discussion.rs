//! `create-discussion-channel`.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use super::arguments::Arguments;
use super::fields::{Fields, needed};
use super::opening::is_absent;
use super::{CallbackPolicy, Caller, ToolError, Tools};
use crate::ports::creation::{CreatedChannel, Opening};
use crate::ports::discord::{ChannelKind, NewChannel};
use crate::record::discussion::Discussion;
use crate::text::plain::is_visible;
use crate::values::id::GuildId;
use crate::{ChannelId, Mode, UserId};

const GUIDE_CHARS_MAX: usize = 16_000;
/// The longest name that is made from a guide, in characters.
const NAME_CHARS_MAX: usize = 40;
/// The number of the guide's words that become the name.
const NAME_WORDS_MAX: usize = 6;

/// The arguments of `create-discussion-channel`. `Debug` shows no text.
///
/// ```
/// use dirigent::tools::CreateDiscussionChannel;
/// let call: CreateDiscussionChannel = serde_json::from_str(
///     r#"{
///         "callback-guild": "123456789012345678",
///         "callbackChannel": "223456789012345678",
///         "discussion-guide": "Which plan? Done when two agree.",
///         "participants": ["323456789012345678"]
///     }"#,
/// )?;
/// assert_eq!(call.participants.len(), 1);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "kebab-case")]
#[expect(clippy::exhaustive_structs, reason = "the seed names exactly these arguments")]
pub struct CreateDiscussionChannel {
    /// Id of the Discord server (guild) in which you are now. The discussion is opened there.
    pub callback_guild: GuildId,
    /// Id of the channel in which you are now, in that server. The result is posted there.
    pub callback_channel: ChannelId,
    /// What the participants must know: the topic, the goals, and when the discussion is done. At
    /// most 16,000 characters.
    #[schemars(length(min = 1, max = 16_000))]
    pub discussion_guide: String,
    /// Discord user ids of those who take part, agents and people, in the order in which the agents
    /// speak first. You take part in any case.
    pub participants: Vec<UserId>,
}

impl fmt::Debug for CreateDiscussionChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CreateDiscussionChannel")
            .field("callback_guild", &self.callback_guild)
            .field("callback_channel", &self.callback_channel)
            .field("discussion_guide", &format_args!("{} bytes", self.discussion_guide.len()))
            .field("participants", &self.participants)
            .finish()
    }
}

/// A discussion that was opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DiscussionReady {
    /// The discussion's channel. `discussion-complete` needs its id.
    pub discussion_channel: ChannelId,
    /// The name, as Discord accepted it.
    pub name: String,
    /// The accounts that can see the channel and write in it, besides the moderator. The initiator is among them.
    pub members: Vec<UserId>,
    /// The members that are not registered agents, and so get no turns.
    pub unregistered: Vec<UserId>,
    /// Warnings for the initiator.
    pub warnings: Vec<String>,
}

impl Tools {
    /// Opens a discussion in the callback guild, with the caller as its initiator. The guild must be that of the
    /// caller's session, and the caller must see the callback channel, unless the host's [`CallbackPolicy`] allows
    /// others.
    ///
    /// # Errors
    ///
    /// Fails with a [`ToolError`]. No channel is left behind unless the error says so.
    pub async fn create_discussion_channel(
        &self,
        caller: &Caller,
        arguments: CreateDiscussionChannel,
    ) -> Result<DiscussionReady, ToolError> {
        let arguments = arguments.checked()?;
        self.dirigent.live().await?;
        let inside = self.membership(caller, arguments.participants)?;
        // Without an account the initiator could not see its own discussion.
        let account = inside.caller.ok_or(ToolError::CallerUnregistered)?;
        let (guild, callback) = (arguments.callback_guild, arguments.callback_channel);
        self.check_guild(caller, guild)?;
        if !self.moderated(guild).await? {
            return Err(ToolError::NotAdministrator);
        }
        // Otherwise the agents would learn only at the end that their result cannot be posted.
        self.check_callback(guild, callback).await?;
        self.check_sight(callback, account).await?;
        let warnings = inside.warning().into_iter().chain(elsewhere(caller, guild, callback));
        let warnings = warnings.collect();
        let name = name_of(&arguments.discussion_guide);
        let terms =
            Discussion { callback, callback_guild: Some(guild), guide: arguments.discussion_guide };
        let opening = Opening { initiator: caller.agent.clone(), terms: Some(terms) };
        let made = CreatedChannel {
            mode: Mode::Discussion,
            members: inside.agents,
            opening: Some(opening),
        };
        let channel = NewChannel { guild, name, members: inside.users.clone() };
        let info = self.open(caller, channel, made).await?;
        Ok(DiscussionReady {
            discussion_channel: info.id,
            name: info.name,
            members: inside.users,
            unregistered: inside.unregistered,
            warnings,
        })
    }

    /// Checks the guild, because an agent may use the moderator's rights only in the guild where a message reached it.
    fn check_guild(&self, caller: &Caller, guild: GuildId) -> Result<(), ToolError> {
        match (self.callbacks, caller.guild) {
            (CallbackPolicy::AnyGuild, _) => Ok(()),
            (CallbackPolicy::SessionGuild, None) => Err(ToolError::NotInGuild),
            (CallbackPolicy::SessionGuild, Some(own)) if own == guild => Ok(()),
            (CallbackPolicy::SessionGuild, Some(_)) => Err(ToolError::OtherGuild),
        }
    }

    /// Checks that the agent can see the callback channel, because it may have text posted only in channels that it
    /// sees.
    async fn check_sight(&self, callback: ChannelId, account: UserId) -> Result<(), ToolError> {
        if self.callbacks == CallbackPolicy::AnyGuild {
            return Ok(());
        }
        match self.dirigent.runtime.retry(|| self.guild_api.can_see(callback, account)).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(ToolError::CallbackUnseen),
            Err(error) if is_absent(&error) => Err(ToolError::CallbackNotFound),
            Err(error) => Err(ToolError::Failed(error)),
        }
    }

    /// Checks that the result can be posted in the callback channel, and that the channel belongs to that guild.
    async fn check_callback(&self, guild: GuildId, callback: ChannelId) -> Result<(), ToolError> {
        let asked = self.dirigent.runtime.retry(|| self.guild_api.channel(callback)).await;
        let info = asked.map_err(|error| {
            if is_absent(&error) { ToolError::CallbackNotFound } else { ToolError::Failed(error) }
        })?;
        match info.kind {
            ChannelKind::Text | ChannelKind::Announcement | ChannelKind::Thread => {}
            ChannelKind::Direct | ChannelKind::Other => return Err(ToolError::CallbackKind),
        }
        if info.guild == Some(guild) { Ok(()) } else { Err(ToolError::CallbackElsewhere) }
    }
}

impl Arguments for CreateDiscussionChannel {
    const TOOL: &'static str = "create-discussion-channel";

    fn read(fields: &Fields<'_>) -> Result<Self, ToolError> {
        Ok(Self {
            callback_guild: needed("callback-guild", fields.id("callback-guild")?)?,
            callback_channel: needed("callback-channel", fields.id("callback-channel")?)?,
            discussion_guide: needed("discussion-guide", fields.text("discussion-guide")?)?,
            participants: needed("participants", fields.ids("participants")?)?,
        })
    }

    fn checked(self) -> Result<Self, ToolError> {
        if !is_visible(&self.discussion_guide) {
            return Err(ToolError::GuideEmpty);
        }
        if self.discussion_guide.chars().nth(GUIDE_CHARS_MAX).is_some() {
            return Err(ToolError::GuideTooLong);
        }
        Ok(self)
    }
}

/// Returns a warning if the callback channel is not the channel that the initiator is in now. Such a channel is
/// accepted.
fn elsewhere(caller: &Caller, guild: GuildId, callback: ChannelId) -> Option<String> {
    let is_other = caller.channel.is_some_and(|channel| channel != callback)
        || caller.guild.is_some_and(|own| own != guild);
    is_other.then(|| {
        "The callback channel is not the channel in which you are now. The result will be posted \
         in the one that you named."
            .to_owned()
    })
}

/// Makes a channel's name from the guide's first words. It is `discussion` if they contain no usable character.
fn name_of(guide: &str) -> String {
    let words = guide.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<String> = words.take(NAME_WORDS_MAX).map(str::to_lowercase).collect();
    let name: String = words.join("-").chars().take(NAME_CHARS_MAX).collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "discussion".to_owned() } else { name.to_owned() }
}
