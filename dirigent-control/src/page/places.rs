//! Caches the guilds and channels of the chat for half a minute, so that pages rarely ask the chat.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use dirigent::ports::{ApiError, ChannelInfo, ChannelKind, GuildApi, GuildId, Timestamp};
use dirigent::{ChannelId, Clock, Dirigent};
use tokio::sync::Mutex;

const FRESH_FOR: Duration = Duration::from_secs(30);
/// The number of names that are requested at the same time, for channels outside the listed guilds.
const ASKED_MAX: usize = 25;

/// The guilds that the moderator administers, and the channels that the page needs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    pub(crate) guilds: BTreeMap<GuildId, String>,
    pub(crate) channels: BTreeMap<ChannelId, ChannelInfo>,
    /// The reason why the places are old, if the chat did not answer.
    pub(crate) trouble: Option<String>,
}

impl Places {
    /// Returns true if the overview lists the channel without a mode. It lists private text channels of listed guilds.
    pub(crate) fn lists(&self, channel: ChannelId) -> bool {
        self.channels.get(&channel).is_some_and(|info| self.is_private_text(info))
    }

    /// Returns the names of listed guilds that have none of these channels.
    pub(crate) fn guilds_without<'a>(
        &self,
        channels: impl Iterator<Item = &'a str>,
    ) -> Vec<String> {
        let guild_of = |id: &str| self.channels.get(&id.parse().ok()?)?.guild;
        let with: std::collections::BTreeSet<_> = channels.filter_map(guild_of).collect();
        let without = self.guilds.iter().filter(|(guild, _)| !with.contains(guild));
        without.map(|(_, name)| name.clone()).collect()
    }

    fn is_private_text(&self, info: &ChannelInfo) -> bool {
        let is_listed = info.guild.is_some_and(|guild| self.guilds.contains_key(&guild));
        is_listed && info.kind == ChannelKind::Text && info.private
    }
}

/// The newest places from the chat.
pub(crate) struct PlacesCache {
    chat: Arc<dyn GuildApi>,
    clock: Arc<dyn Clock>,
    kept: Mutex<Option<(Timestamp, Arc<Places>)>>,
}

impl PlacesCache {
    pub(crate) fn new(chat: Arc<dyn GuildApi>, clock: Arc<dyn Clock>) -> Self {
        Self { chat, clock, kept: Mutex::default() }
    }

    /// Returns the places, at most half a minute old. If the chat does not answer, returns the last known ones.
    pub(crate) async fn get(&self, dirigent: &Dirigent) -> Arc<Places> {
        let mut kept = self.kept.lock().await;
        let now = self.clock.now();
        if let Some((_, places)) = kept.as_ref().filter(|(at, _)| now.since(*at) < FRESH_FOR) {
            return Arc::clone(places);
        }
        let before = kept.take().map(|(_, places)| places).unwrap_or_default();
        let places = match self.ask(dirigent, &before).await {
            Ok(places) => places,
            Err(error) => Places { trouble: Some(error.to_string()), ..(*before).clone() },
        };
        let places = Arc::new(places);
        *kept = Some((now, Arc::clone(&places)));
        places
    }

    async fn ask(&self, dirigent: &Dirigent, before: &Places) -> Result<Places, ApiError> {
        let me = self.chat.me().await?;
        let mut places = Places::default();
        for guild in self.chat.guilds().await? {
            if !self.chat.is_administrator(guild, me).await? {
                continue;
            }
            let name = self.chat.guild_name(guild).await?;
            places.guilds.insert(guild, name.unwrap_or_else(|| guild.to_string()));
            let channels = self.chat.channels(guild).await?;
            places.channels.extend(channels.into_iter().map(|info| (info.id, info)));
        }
        let elsewhere = dirigent.channels();
        let elsewhere = elsewhere.into_iter().filter(|id| !places.channels.contains_key(id));
        let mut asked = 0;
        for id in elsewhere.collect::<Vec<_>>() {
            if let Some(info) = before.channels.get(&id) {
                places.channels.insert(id, info.clone());
            } else if asked < ASKED_MAX {
                asked += 1;
                // A channel that was deleted or cannot be seen is shown with its id.
                if let Ok(info) = self.chat.channel(id).await {
                    places.channels.insert(id, info);
                }
            }
        }
        Ok(places)
    }
}
