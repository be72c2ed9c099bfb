//! Reads one shard's events, one after the other.

use std::fmt;
use std::sync::Arc;

use dirigent::command::SlashCommand;
use dirigent::ports::{AuthorKind, Standing};
use dirigent::{ChannelId, ChatMessage, DiscordApi as _, MessageId, Settings, UserId};
use twilight_model::gateway::event::Event;
use twilight_model::gateway::{Intents, ShardId};

use super::FeedParts;
use super::channel_event::ChannelEvent;
use super::task_queue::Task;
use crate::guild_cache::{MembershipChanges, Watched};
use crate::news::{Cached, News, Unreadable};
use crate::slash::Use;
use crate::wire::pushed::{Interaction, PushedGuild, PushedReaction};
use crate::wire::{Channel, Number};
use crate::{DiscordAccount, GatewayCloseReason, SetupIssue, diagnose};

/// Reported as a channel's newest message, this id makes the driver read the channel, because the driver cannot know
/// it.
const UNHEARD: MessageId = MessageId::new(u64::MAX);

/// The entrance for the events of one shard, in their order. You get it from [`Feed::shard`](super::Feed::shard).
#[derive(Clone)]
pub struct ShardFeed {
    shared: Arc<FeedParts>,
    shard: ShardId,
}

impl ShardFeed {
    pub(super) const fn new(shared: Arc<FeedParts>, id: ShardId) -> Self {
        Self { shared, shard: id }
    }

    /// Reads a gateway's message in its raw JSON. Messages that do not concern the library are skipped.
    ///
    /// Prefer this to [`event`](Self::event), because it reads partial updates, and keeps the nonce, so that the
    /// library recognises its own posts.
    ///
    /// It returns without waiting, so that your gateway loop never misses a heartbeat. Call it within a tokio runtime.
    /// Events that must wait for the driver's store are passed on by the [`FeedWork`](crate::FeedWork), in order for
    /// each channel. At most 1,024 events of a channel and 8,192 in all can wait. Beyond that, a channel's events are
    /// condensed to its newest message's id and to the accounts that joined or left, and the driver reads the messages
    /// from the history. Events that cannot be read or reported are warnings in the log, at most one a minute of each
    /// kind.
    pub fn text(&self, text: &str) {
        self.take(News::in_text(text));
    }

    /// Reads an event of twilight's gateway, as [`text`](Self::text) reads raw text.
    pub fn event(&self, event: &Event) {
        if let Event::GatewayClose(frame) = event {
            let _ = self.closed(frame.as_ref().map(|frame| frame.code));
            return;
        }
        self.take(News::in_event(event));
    }

    /// Reports that the connection was closed, with its code if there was one. The cached data of its guilds is then
    /// not used until the session is resumed or a new one begins. Until then no agent of theirs is passed over because
    /// it does not start. If no new connection can help, it returns why and logs it.
    ///
    /// Call it if you pass raw text, and with `None` also after an error of the shard. Twilight's events include it.
    pub fn closed(&self, code: Option<u16>) -> Option<SetupIssue> {
        let FeedParts { dirigent, account, .. } = &*self.shared;
        account.guild_cache.interrupted(self.shard);
        let (account, shard) = (Arc::clone(account), self.shard);
        dirigent.disconnected(shard.number(), move |channel| {
            account.guild_cache.is_told_by(shard, channel)
        });
        let finding = code.and_then(GatewayCloseReason::of).map(SetupIssue::Closed)?;
        tracing::error!(shard = self.shard.number(), "{finding}");
        Some(finding)
    }

    fn take(&self, news: Result<Option<News>, Unreadable>) {
        let news = match news {
            Ok(Some(news)) => news,
            Ok(None) => return,
            Err(Unreadable { kind }) => return self.log_unreadable(&kind),
        };
        let account = &self.shared.account;
        match news {
            News::Created(message) => self.created(account.told(message)),
            News::Updated(message) => {
                let message = account.told(message);
                self.tell(message.channel, ChannelEvent::Updated(message));
            }
            News::Deleted(channel, messages) => self.tell(channel, ChannelEvent::Deleted(messages)),
            News::Typing(typing) => {
                let channel = ChannelId::new(typing.channel_id.0);
                self.tell(channel, ChannelEvent::Typing(typing.user_id.user()));
            }
            News::Reaction(reaction) => self.reacted(&reaction),
            News::Ready(ready) => {
                // If there are several shards, one may well be empty.
                if self.shard.number() == 0 && ready.guilds.is_some_and(|guilds| guilds.is_empty())
                {
                    tracing::warn!("the moderator's bot is in no server: invite it");
                }
                self.ready(ready.user.id.user());
            }
            News::Resumed => {
                account.guild_cache.session_resumed(self.shard);
                self.shared.dirigent.resumed(self.shard.number());
            }
            News::Guild(guild) => self.guild(&guild),
            News::ChannelDeleted(gone) => self.gone(gone.id.0),
            News::Interaction(interaction) => self.used(*interaction),
            News::Cached(event) => self.cached(event),
        }
    }

    fn cached(&self, event: Cached) {
        let place = place_of(&event);
        let moves = self.apply(event);
        // Do this before the consequences of joining and leaving, so that an account that may not write gets no turn.
        self.rights_changed(place);
        for (channel, user) in moves.joined {
            self.tell(channel, ChannelEvent::Joined(user));
        }
        for (channel, user) in moves.left {
            self.tell(channel, ChannelEvent::Left(user));
        }
        for channel in moves.regained {
            self.tell(channel, ChannelEvent::Newest(UNHEARD, None));
        }
    }

    /// Reports to the driver that permissions may have changed in managed channels.
    fn rights_changed(&self, place: Option<Changed>) {
        let Some(Changed { guild, channel, user }) = place else {
            return;
        };
        let FeedParts { dirigent, account, .. } = &*self.shared;
        let concerns =
            |user| account.guild_cache.is_me(user) || dirigent.agent_accounts().contains(&user);
        if user.is_some_and(|user| !concerns(user)) {
            return;
        }
        let mut channels = account.guild_cache.channels_of(guild, channel);
        channels.retain(|channel| self.concerns(*channel));
        if !channels.is_empty() {
            dirigent.rights_changed(&channels);
        }
    }

    /// Reports an event to the driver, in order for each channel.
    fn tell(&self, channel: ChannelId, event: ChannelEvent) {
        let FeedParts { dirigent, account, queues, tasks, .. } = &*self.shared;
        let now = account.clock().now();
        let left = queues.tell(dirigent, channel, event, now);
        if let Some(Err(Task::Tell(job))) = left.map(|job| tasks.send(Task::Tell(job.into()))) {
            queues.drop_job(*job, now);
        }
    }

    /// The log must not contain the text, because a person may have written it.
    fn log_unreadable(&self, kind: &str) {
        let now = self.shared.account.clock().now();
        if let Some(suppressed) = self.shared.unreadable.admit(kind, now) {
            tracing::warn!(kind, suppressed, "an event of the gateway could not be read");
        }
    }

    /// Changes the guild cache. Returns the accounts that then see more or fewer channels.
    fn apply(&self, event: Cached) -> MembershipChanges {
        let FeedParts { dirigent, account, .. } = &*self.shared;
        let (guild_cache, now) = (&account.guild_cache, account.clock().now());
        let users = dirigent.agent_accounts();
        let channels = |channel| self.concerns(channel);
        let watched = Watched { users: &users, channels: &channels };
        match event {
            Cached::GuildUpdated(guild) => guild_cache.rules(guild.rules(), &watched),
            Cached::GuildDeleted(gone) => {
                let guild = gone.id.0;
                let channels = guild_cache.channels_of(guild, None);
                guild_cache.guild_away(guild);
                let is_outage = gone.unavailable == Some(true);
                tracing::info!(guild, is_outage, "a guild is away");
                if !is_outage {
                    for gone in channels {
                        account.personas.forget_channel(gone.get());
                    }
                    self.shared.left(guild);
                }
                MembershipChanges::default()
            }
            Cached::Role(pushed) => guild_cache.role(pushed.guild_id.0, &pushed.role, &watched),
            Cached::RoleDeleted(gone) => {
                guild_cache.role_gone(gone.guild_id.0, gone.role_id.0, &watched)
            }
            Cached::Channel(channel) => guild_cache.channel(&channel, &watched),
            Cached::Threads(list) => {
                let mut moves = MembershipChanges::default();
                for mut thread in list.threads {
                    thread.guild_id.get_or_insert(list.guild_id);
                    moves.regained.extend(guild_cache.channel(&thread, &watched).regained);
                }
                moves
            }
            Cached::ThreadMembers(update) => guild_cache.thread_members(&update, &watched),
            Cached::Member(pushed) => {
                // Most members are no agents, and a guild may have many.
                let user = pushed.member.user();
                let users: Vec<_> = users.iter().copied().filter(|known| *known == user).collect();
                let watched = Watched { users: &users, ..watched };
                let mut changes = guild_cache.member(&pushed, now, &watched);
                let guild = pushed.guild_id.0;
                for persona in account.personas.named_like(guild, &pushed.member, now) {
                    let mut channels = guild_cache.channels_of(guild, None);
                    channels.retain(|channel| self.concerns(*channel));
                    changes.left.extend(channels.into_iter().map(|channel| (channel, persona)));
                }
                changes
            }
            Cached::MemberRemoved(gone) => {
                guild_cache.member_gone(gone.guild_id.0, gone.user.id.user(), &watched)
            }
        }
    }

    fn created(&self, message: ChatMessage) {
        let (channel, account) = (message.channel, &self.shared.account);
        let is_known = self.shared.dirigent.channel(channel).is_known();
        let is_webhook = message.author_kind == AuthorKind::Webhook;
        let looks_up = is_webhook || !is_known;
        let parent = if looks_up { account.guild_cache.parent(channel) } else { None };
        if is_webhook && account.personas.is_unclear(parent.unwrap_or(channel)) {
            // It may be a persona's from before a restart. The history is read once its channel's webhooks are known.
            return self.tell(channel, ChannelEvent::Newest(message.id, parent));
        }
        let parent = parent.filter(|_| !is_known);
        self.tell(channel, ChannelEvent::Created(message, parent));
    }

    /// Stops the channel if a person reacts to an agent's message with the emoji that you chose.
    fn reacted(&self, reaction: &PushedReaction) {
        let FeedParts { dirigent, account, stop_reaction, .. } = &*self.shared;
        let (Some(stop), Some(name)) = (stop_reaction, &reaction.emoji.name) else {
            return;
        };
        // Clients may add the selector that makes it an emoji.
        let is_it = reaction.emoji.id.is_none()
            && name.trim_end_matches('\u{fe0f}') == stop.trim_end_matches('\u{fe0f}');
        let is_person = reaction.member.as_ref().is_some_and(|by| by.user.bot != Some(true));
        let author = reaction.message_author_id.map(Number::user);
        let is_agents = author.is_some_and(|author| {
            dirigent.agent_accounts().contains(&author) || account.personas.is_their_webhook(author)
        });
        if is_it && is_person && is_agents {
            self.tell(ChannelId::new(reaction.channel_id.0), ChannelEvent::Stopped);
        }
    }

    /// Handles a new session, which does not push earlier events. If guilds are pushed, they name their channels'
    /// newest messages. Otherwise every channel is checked.
    fn ready(&self, me: UserId) {
        let FeedParts { dirigent, account, intents, tasks, .. } = &*self.shared;
        account.guild_cache.session_began(self.shard, me);
        account.know_me(me);
        let _ = tasks.send(Task::Diagnose);
        if intents.contains(Intents::GUILDS) {
            dirigent.session_began(self.shard.number());
        } else {
            let _ = tasks.send(Task::Reconnected);
        }
    }

    fn guild(&self, guild: &PushedGuild) {
        let FeedParts { account, tasks, registers, .. } = &*self.shared;
        account.guild_cache.guild(self.shard, guild, account.clock().now());
        self.rights_changed(Some(Changed { guild: guild.id.0, channel: None, user: None }));
        if guild.unavailable == Some(true) || guild.owner_id.is_none() {
            return;
        }
        if self.shared.is_new(guild.id.0) {
            self.log_findings(guild);
        }
        if *registers {
            let _ = tasks.send(Task::Register(guild.id.0));
        }
        let missed_since = account.clock().now().saturating_sub(Settings::MISSED_IN_THREAD);
        for channel in guild.channels.iter().chain(&guild.threads) {
            let id = ChannelId::new(channel.id.0);
            let Some(newest) = channel.last_message_id.map(|newest| MessageId::new(newest.0))
            else {
                continue;
            };
            let parent = channel.parent_id.filter(|_| crate::wire::is_thread(channel.kind));
            // The thread may have begun during the gap.
            let may_be_new = parent.is_some() && account.sent_at(newest) >= missed_since;
            if may_be_new || self.concerns(id) {
                let parent = parent.map(|parent| ChannelId::new(parent.0));
                self.tell(id, ChannelEvent::Newest(newest, parent));
            }
        }
    }

    /// Returns true if the channel is managed, here or in another process as far as is known.
    fn concerns(&self, channel: ChannelId) -> bool {
        let channel = self.shared.dirigent.channel(channel);
        channel.is_known() || channel.standing() == Standing::Elsewhere
    }

    /// Logs the missing permissions in a guild and in its managed channels.
    fn log_findings(&self, guild: &PushedGuild) {
        let FeedParts { dirigent, account, .. } = &*self.shared;
        let Some((rules, me)) = account.guild_cache.own_rules(guild.id.0) else {
            return;
        };
        let mut findings = diagnose::in_guild(&rules, &me);
        let all = || guild.channels.iter().chain(&guild.threads);
        for channel in
            all().filter(|channel| dirigent.channel(ChannelId::new(channel.id.0)).is_known())
        {
            let is_parent =
                |other: &&Channel| channel.parent_id.is_some_and(|id| id.0 == other.id.0);
            let parent = all().find(is_parent).filter(|_| crate::wire::is_thread(channel.kind));
            let decisive = parent.unwrap_or(channel);
            findings.extend(diagnose::in_channel(
                &rules,
                &me,
                (channel, decisive),
                &account.personas,
            ));
        }
        for finding in findings {
            match finding {
                SetupIssue::InChannel(..) => tracing::warn!("{finding}"),
                // Only tools and pages need these, and your program may not use them. If they are refused, their
                // answers say so.
                SetupIssue::InGuild(..) => tracing::debug!("{finding}"),
                SetupIssue::IntentNotGranted(_)
                | SetupIssue::IntentNotAsked(_)
                | SetupIssue::NoChannel(_)
                | SetupIssue::TooManyWebhooks(..)
                | SetupIssue::FewSessionStarts { .. }
                | SetupIssue::Closed(_) => tracing::info!("{finding}"),
            }
        }
    }

    fn gone(&self, channel: u64) {
        let DiscordAccount { guild_cache, personas, .. } = &*self.shared.account;
        for gone in guild_cache.channel_gone(channel) {
            personas.forget_channel(gone);
            self.tell(ChannelId::new(gone), ChannelEvent::ChannelDeleted);
        }
    }

    fn used(&self, interaction: Interaction) {
        let FeedParts { account, tasks, registers, may_set_mode, .. } = &*self.shared;
        let used = Use::read(interaction, account.clock().now());
        let Some(mut used) = used.filter(|_| *registers) else {
            return;
        };
        let sets_mode = used.command == SlashCommand::SetChannelMode;
        if let (true, Some(decide), Some(guild), Some(user)) =
            (sets_mode, may_set_mode, used.invoker.guild, used.user)
        {
            used.invoker.host_word = decide(guild, user, used.invoker.permissions);
        }
        tasks.answer(used);
    }
}

impl fmt::Debug for ShardFeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShardFeed").field("shard", &self.shard).finish_non_exhaustive()
    }
}

/// The place of changed permissions.
#[derive(Clone, Copy)]
struct Changed {
    guild: u64,
    /// Set if only this channel and its threads changed.
    channel: Option<u64>,
    /// Set if only this account's permissions changed.
    user: Option<UserId>,
}

/// Returns the place where an event may have changed permissions.
fn place_of(event: &Cached) -> Option<Changed> {
    let (guild, channel, user) = match event {
        Cached::GuildUpdated(guild) => (guild.id, None, None),
        Cached::Role(role) => (role.guild_id, None, None),
        Cached::RoleDeleted(gone) => (gone.guild_id, None, None),
        Cached::Channel(channel) => (channel.guild_id?, Some(channel.id.0), None),
        Cached::Threads(list) => (list.guild_id, None, None),
        Cached::Member(pushed) => (pushed.guild_id, None, Some(pushed.member.user())),
        Cached::MemberRemoved(gone) => (gone.guild_id, None, Some(gone.user.id.user())),
        Cached::GuildDeleted(_) | Cached::ThreadMembers(_) => return None,
    };
    Some(Changed { guild: guild.0, channel, user })
}
