//! The webhooks of personas: finding them, and creating missing ones.
//!
//! A webhook is recognised by its id. Its name ends with a number that follows from the id, so if a person renames it,
//! it cannot be mistaken for another. Only webhooks of this application are considered.

use dirigent::hooks::RunId;
use dirigent::host::plain::folded;
use dirigent::ports::{ApiError, ErrorKind, WriteBar};
use dirigent::{ChannelId, UserId};
use serde_json::json;
use twilight_http::routing::Route;
use twilight_model::guild::Permissions;

use super::table::{Home, Webhook, is_persona};
use crate::rest_error::{WEBHOOKS_FULL, is_webhooks_code};
use crate::route::Ask;
use crate::wire::is_thread;
use crate::{DiscordAccount, NeededPermission, RestError, wire};

/// The most characters of a persona's name in a webhook's name, which has at most 80.
const SHORT: usize = 50;

const REASON: &str = "an agent speaks through it";

/// The most members that are compared if their names begin like a persona's.
const NAMES_MAX: u16 = 100;

/// Returns true if a request failed because its webhook no longer exists.
pub(super) fn is_gone(error: &ApiError) -> bool {
    error.post_failure().code.is_some_and(is_webhooks_code)
}

/// Returns the name of a persona's webhook. Without an id it is that of one being created.
fn webhook_name(application: u64, persona: &str, folded: &str, webhook: Option<u64>) -> String {
    let short: String = persona.chars().take(SHORT).collect();
    let id = webhook.unwrap_or(0);
    let mark = RunId::from_text(&format!("{application} {id} {folded}")).get();
    let new = if webhook.is_none() { "new " } else { "" };
    format!("{} ({new}{mark:016x})", short.trim_end())
}

impl DiscordAccount {
    async fn home(&self, channel: ChannelId) -> Result<Home, ApiError> {
        let known = self.guild_cache.home(channel).or_else(|| self.personas.home(channel));
        if let Some(home) = known {
            return Ok(home);
        }
        let asked = self.wire_channel(channel.get()).await?;
        let parent = asked.parent_id.filter(|_| is_thread(asked.kind));
        let guild = asked.guild_id.ok_or_else(lacks)?.0;
        let home = Home { channel: parent.unwrap_or(asked.id).0, guild };
        self.personas.set_home(channel, home);
        Ok(home)
    }

    /// Reads the webhooks that post in the channel, if they are not known yet or some personas lack one.
    pub(super) async fn webhooks_known(&self, channel: ChannelId) -> Result<Home, ApiError> {
        let home = self.home(channel).await?;
        let is_known = || {
            let is_listed = self.personas.is_listed(home.channel);
            is_listed && !self.personas.is_stale(home.channel, self.clock().now())
        };
        if !is_known() {
            let _one_at_a_time = self.unfinished.webhooks.resume(home.channel).await;
            if !is_known() {
                self.read_webhooks(home).await?;
            }
        }
        Ok(home)
    }

    /// Reads the webhooks before the channel's history, because they decide whose messages it has. If this account may
    /// not see webhooks, no persona has one.
    pub(crate) async fn authors_known(&self, channel: ChannelId) -> Result<(), ApiError> {
        if self.personas.is_empty() {
            return Ok(());
        }
        match self.webhooks_known(channel).await {
            Err(error) if error.kind() != ErrorKind::Forbidden => Err(error),
            Err(_) | Ok(_) => Ok(()),
        }
    }

    async fn read_webhooks(&self, home: Home) -> Result<Vec<wire::Webhook>, ApiError> {
        let application = self.application().await?.id;
        let (channel_id, route) =
            (home.channel, Route::GetChannelWebhooks { channel_id: home.channel });
        let ask = Ask::bare("get channel webhooks", channel_id, &route);
        let asked = if self.may_manage(home) { self.read(ask).await } else { Err(lacks()) };
        let mut all: Vec<wire::Webhook> = match asked {
            Err(error) if error.kind() == ErrorKind::Forbidden => {
                self.personas.bar(channel_id, self.clock().now());
                return Err(error);
            }
            read => read?,
        };
        let used = all.len();
        all.retain(|webhook| webhook.application_id == Some(application));
        let mut found = Vec::new();
        for persona in self.personas.users() {
            let Some((name, folded)) = self.personas.name(persona) else { continue };
            let is_its = |webhook: &&wire::Webhook| {
                let name = webhook_name(application.0, &name, &folded, Some(webhook.id.0));
                webhook.name.as_deref() == Some(&name)
            };
            found.extend(all.iter().find(is_its).and_then(|it| Some((persona, usable(it)?))));
        }
        let before = self.personas.shortage(channel_id);
        self.personas.list(channel_id, found, used, self.clock().now());
        let shortage = self.personas.shortage(channel_id);
        if let Some(shortage) = shortage.filter(|_| shortage != before) {
            tracing::warn!("{shortage}");
        }
        Ok(all)
    }

    /// Returns the persona's webhook for the channel. It is created if there is none.
    pub(super) async fn webhook(
        &self,
        channel: ChannelId,
        persona: UserId,
    ) -> Result<(Webhook, Home), ApiError> {
        let home = self.home(channel).await?;
        if let Some(known) = self.personas.webhook(home.channel, persona) {
            return Ok((known, home));
        }
        let _one_at_a_time = self.unfinished.webhooks.resume(home.channel).await;
        if let Some(known) = self.personas.webhook(home.channel, persona) {
            return Ok((known, home));
        }
        // Another process may have created it.
        let ours = self.read_webhooks(home).await?;
        if let Some(known) = self.personas.webhook(home.channel, persona) {
            return Ok((known, home));
        }
        Ok((self.make_webhook(home, persona, &ours).await?, home))
    }

    async fn make_webhook(
        &self,
        home: Home,
        persona: UserId,
        ours: &[wire::Webhook],
    ) -> Result<Webhook, ApiError> {
        let (name, folded) = self.personas.name(persona).ok_or_else(super::gone)?;
        let (application, channel_id) = (self.application().await?.id.0, home.channel);
        let new = webhook_name(application, &name, &folded, None);
        // This one was created when the answer was lost or the process was killed. It has posted nothing.
        for left in ours.iter().filter(|webhook| webhook.name.as_deref() == Some(&new)) {
            let route = Route::DeleteWebhook { token: None, webhook_id: left.id.0 };
            self.ask(Ask::because("delete webhook", channel_id, &route, REASON)?).await?;
        }
        let route = Route::CreateWebhook { channel_id };
        let body = json!({ "name": new });
        let ask = Ask::with_body("create webhook", channel_id, &route, &body, Some(REASON))?;
        let made = self.read::<wire::Webhook>(ask).await.map_err(no_place)?;
        let name = webhook_name(application, &name, &folded, Some(made.id.0));
        let route = Route::UpdateWebhook { token: None, webhook_id: made.id.0 };
        let body = json!({ "name": name });
        let ask = Ask::with_body("modify webhook", channel_id, &route, &body, Some(REASON))?;
        self.ask(ask).await?;
        let webhook = usable(&made).ok_or_else(|| RestError::Unreadable.report())?;
        self.personas.made(home.channel, persona, webhook.clone());
        Ok(webhook)
    }

    /// Returns the personas that can post in the channel. They need a webhook there, or one that can be created, and no
    /// member of the guild may have a similar name.
    pub(crate) async fn personas_in(
        &self,
        channel: ChannelId,
        among: &[UserId],
    ) -> Result<Vec<UserId>, ApiError> {
        if among.is_empty() {
            return Ok(Vec::new());
        }
        let home = match self.webhooks_known(channel).await {
            Err(error) if error.kind() == ErrorKind::Forbidden => return Ok(Vec::new()),
            known => known?,
        };
        let mut present = self.with_place(home);
        present.retain(|persona| among.contains(persona));
        let mut named = Vec::new();
        for persona in present {
            if self.is_name_free(home.guild, persona).await? {
                named.push(persona);
            }
        }
        Ok(named)
    }

    /// Returns true if this account may manage webhooks there, or if that is unknown.
    fn may_manage(&self, home: Home) -> bool {
        let (channel, now) = (ChannelId::new(home.channel), self.clock().now());
        self.guild_cache.may(channel, Permissions::MANAGE_WEBHOOKS, now) != Some(false)
    }

    fn with_place(&self, home: Home) -> Vec<UserId> {
        self.personas.with_place(home.channel, self.may_manage(home))
    }

    /// Returns why these personas cannot post in a channel with known webhooks.
    pub(crate) fn persona_bars(
        &self,
        channel: ChannelId,
        among: &[UserId],
    ) -> Vec<(UserId, WriteBar)> {
        let mut among = among.iter().filter(|user| is_persona(**user)).peekable();
        let any = among.peek().is_some();
        let known = || self.guild_cache.home(channel).or_else(|| self.personas.home(channel));
        let home = any.then(known).flatten();
        let Some(home) = home.filter(|home| self.personas.is_listed(home.channel)) else {
            return Vec::new();
        };
        let placed = self.with_place(home);
        let now = self.clock().now();
        let bar = |persona: &UserId| match self.personas.is_name_free(home.guild, *persona, now) {
            _ if !placed.contains(persona) => Some((*persona, WriteBar::NoWebhook)),
            Some(false) => Some((*persona, WriteBar::NameTaken)),
            Some(true) | None => None,
        };
        among.filter_map(bar).collect()
    }

    /// Returns true if no member of the guild has a name that people cannot tell from the persona's. It is checked
    /// again after ten minutes, and when the gateway reports a member.
    async fn is_name_free(&self, guild_id: u64, persona: UserId) -> Result<bool, ApiError> {
        let now = self.clock().now();
        if self.personas.is_name_free(guild_id, persona, now) == Some(true) {
            return Ok(true);
        }
        let Some((name, like)) = self.personas.name(persona) else { return Ok(false) };
        let route = Route::SearchGuildMembers { guild_id, limit: Some(NAMES_MAX), query: &name };
        let ask = Ask::bare("search guild members", guild_id, &route);
        let members: Vec<wire::Member> = match self.read(ask).await {
            // It could not be checked.
            Err(error) if error.kind() == ErrorKind::Forbidden => return Ok(true),
            read => read?,
        };
        let is_taken = members.iter().any(|member| member.names().any(|name| folded(name) == like));
        self.personas.set_name_free(guild_id, persona, !is_taken, now);
        Ok(!is_taken)
    }
}

/// Returns a webhook if it can be used to post.
fn usable(webhook: &wire::Webhook) -> Option<Webhook> {
    Some(Webhook { id: webhook.id.user(), token: webhook.token.as_deref()?.into() })
}

fn lacks() -> ApiError {
    RestError::Lacks(NeededPermission::ManageWebhooks).report()
}

/// Makes the error one of permissions, because the text is not to blame for fifteen webhooks.
fn no_place(error: ApiError) -> ApiError {
    if error.post_failure().code != Some(WEBHOOKS_FULL) {
        return error;
    }
    let refused = RestError::Refused { status: 400, code: Some(WEBHOOKS_FULL) };
    let error = ApiError::new(ErrorKind::Forbidden).with_code(WEBHOOKS_FULL);
    error.with_source(refused)
}
