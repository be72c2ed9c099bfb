//! Finds missing intents and permissions, for example at the start, before a request fails because of them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::Duration;

use dirigent::ChannelId;
use dirigent::ports::{ApiError, ErrorKind, GuildId};
use twilight_http::routing::Route;
use twilight_model::gateway::Intents;
use twilight_model::guild::Permissions;

use crate::permission::{GuildRules, Member};
use crate::persona::table::Personas;
use crate::route::Ask;
use crate::setup_issue::NEEDED_INTENTS;
use crate::wire::{PRIVATE_THREAD, is_thread};
use crate::{DiscordAccount, NeededIntent, NeededPermission, SetupIssue, wire};

/// If fewer session starts than this are left, something is wrong, because no bot needs a thousand a day.
const STARTS_FEW: u32 = 50;

impl DiscordAccount {
    /// Finds what is missing for turns in these channels: privileged intents, and permissions in each channel and its
    /// guild. If you pass the intents of a gateway, it also finds those that you did not ask for. The Server Members
    /// Intent is missing only if you asked for it. It also warns if you may start fewer than 50 more gateway sessions.
    /// The list is empty if all is well.
    ///
    /// It makes requests for each channel, each guild and the account's roles there. With a [`Feed`](crate::Feed) you
    /// do not need it, because the feed writes these findings to the log by itself.
    ///
    /// # Errors
    ///
    /// Returns an error if a request fails in transport, or if the token is refused.
    ///
    /// ```no_run
    /// # async fn example(account: dirigent_discord::DiscordAccount, dirigent: dirigent::Dirigent)
    /// # -> Result<(), dirigent::ports::ApiError> {
    /// for finding in account.diagnose(&dirigent.channels(), None).await? {
    ///     eprintln!("{finding}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn diagnose(
        &self,
        channels: &[ChannelId],
        intents: Option<Intents>,
    ) -> Result<Vec<SetupIssue>, ApiError> {
        let mut findings = intents.map_or_else(Vec::new, not_asked);
        findings.extend(self.not_granted(intents.unwrap_or(NEEDED_INTENTS)).await?);
        findings.extend(self.few_starts().await?);
        let mut guilds: HashMap<u64, (GuildRules, Member)> = HashMap::new();
        for channel in channels {
            let Some(asked) = present(self.wire_channel(channel.get()).await)? else {
                findings.push(SetupIssue::NoChannel(*channel));
                continue;
            };
            let Some(guild) = asked.guild_id.map(|guild| guild.0) else { continue };
            let known = match guilds.entry(guild) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(vacant) => {
                    let Some(own) = present(self.own_rules(guild).await)? else {
                        findings.push(SetupIssue::NoChannel(*channel));
                        continue;
                    };
                    findings.extend(in_guild(&own.0, &own.1));
                    vacant.insert(own)
                }
            };
            let Some(decisive) = present(self.overwritten(asked.clone()).await)? else {
                findings.push(SetupIssue::InChannel(*channel, NeededPermission::ViewChannels));
                continue;
            };
            let found = in_channel(&known.0, &known.1, (&asked, &decisive), &self.personas);
            let is_complete = found.is_empty();
            findings.extend(found);
            if is_complete {
                self.authors_known(*channel).await?;
                findings.extend(self.personas.shortage(decisive.id.0));
            }
        }
        Ok(findings)
    }

    /// Returns the privileged intents that are needed or asked for, but not switched on for this account's application.
    pub(crate) async fn not_granted(&self, asked: Intents) -> Result<Vec<SetupIssue>, ApiError> {
        let Some(flags) = self.application().await?.flags else {
            return Ok(Vec::new());
        };
        let is_missing =
            |intent: &NeededIntent| intent.granted_by().is_some_and(|bits| flags & bits == 0);
        let is_wanted =
            |intent: &NeededIntent| !intent.is_optional() || asked.contains(intent.bit());
        let missing = NeededIntent::ALL.into_iter().filter(is_wanted).filter(is_missing);
        Ok(missing.map(SetupIssue::IntentNotGranted).collect())
    }

    /// Returns how many gateway sessions may still begin, if that is few. For example, a bot that restarts whenever it
    /// ends uses up its 1,000 of a day, and Discord then replaces its token.
    pub(crate) async fn few_starts(&self) -> Result<Option<SetupIssue>, ApiError> {
        let ask = Ask::bare("get gateway bot", 0, &Route::GetGatewayBot);
        let asked = present(self.read::<wire::GatewayBot>(ask).await)?;
        let limit = asked.and_then(|gateway| gateway.session_start_limit);
        Ok(limit.filter(|limit| limit.remaining < STARTS_FEW).map(|limit| {
            let reset_after = Duration::from_millis(limit.reset_after);
            SetupIssue::FewSessionStarts { remaining: limit.remaining, reset_after }
        }))
    }

    async fn own_rules(&self, guild: u64) -> Result<(GuildRules, Member), ApiError> {
        let rules = self.rules(guild).await?;
        let me = self.member(guild, self.known_me().await?).await?;
        Ok((rules, me.read(self.clock().now())))
    }
}

/// Returns the answer, or `None` if it does not exist or is not shown.
fn present<T>(asked: Result<T, ApiError>) -> Result<Option<T>, ApiError> {
    match asked {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.kind(), ErrorKind::Gone | ErrorKind::Forbidden) => Ok(None),
        Err(error) => Err(error),
    }
}

pub(crate) fn not_asked(intents: Intents) -> Vec<SetupIssue> {
    let is_missing =
        |intent: &NeededIntent| !intent.is_optional() && !intents.contains(intent.bit());
    let missing = NeededIntent::ALL.into_iter().filter(is_missing);
    missing.map(SetupIssue::IntentNotAsked).collect()
}

pub(crate) fn in_guild(rules: &GuildRules, me: &Member) -> Vec<SetupIssue> {
    let allowed = rules.base(me);
    let guild = GuildId::new(rules.guild);
    let missing = NeededPermission::OF_GUILD.into_iter();
    let missing = missing.filter(|permission| !allowed.contains(permission.bit()));
    missing.map(|permission| SetupIssue::InGuild(guild, permission)).collect()
}

/// Returns the permissions that this member lacks in a channel. If it does not see the channel, the others do not
/// matter.
pub(crate) fn in_channel(
    rules: &GuildRules,
    me: &Member,
    (channel, decisive): (&wire::Channel, &wire::Channel),
    personas: &Personas,
) -> Vec<SetupIssue> {
    let allowed = rules.in_channel(&decisive.overwrites(), me);
    let id = ChannelId::new(channel.id.0);
    let mut wanted = NeededPermission::of_channel(is_thread(channel.kind)).to_vec();
    if channel.kind == PRIVATE_THREAD {
        wanted.push(NeededPermission::ManageThreads);
    }
    if !personas.is_empty() {
        wanted.push(NeededPermission::ManageWebhooks);
    }
    if !allowed.contains(Permissions::VIEW_CHANNEL) {
        wanted.truncate(1);
    }
    let missing = wanted.into_iter().filter(|permission| !allowed.contains(permission.bit()));
    missing.map(|permission| SetupIssue::InChannel(id, permission)).collect()
}
