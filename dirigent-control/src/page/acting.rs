//! Does the work that needs a person: sends a result to another channel, or posts a text as the moderator.

use std::sync::atomic::Ordering;
use std::time::Duration;

use dirigent::ChannelId;
use dirigent::ports::{ApiError, Certainty, ChannelInfo, ChannelKind, Nonce, Post};

use crate::page::look::Row;
use crate::page::places::Places;
use crate::page::post_text::PostText;
use crate::page::problem::Problem;
use crate::page::shared::PageContext;

/// The longest wait for the chat.
pub(crate) const POST_LIMIT: Duration = Duration::from_secs(8);
/// Separates the nonces of these posts from those of the library.
const BY_HAND: u64 = 1 << 30;
/// The words for the people of a channel if the chat does not return their names.
const PEOPLE: &str = "the people who were given access to the channel";

impl Places {
    /// Returns the other text channels of the channel's guild.
    pub(crate) fn others_of_its_guild(
        &self,
        channel: ChannelId,
    ) -> impl Iterator<Item = &ChannelInfo> {
        let guild = self.channels.get(&channel).and_then(|info| info.guild);
        let is_other = move |info: &&ChannelInfo| {
            let is_text = matches!(info.kind, ChannelKind::Text | ChannelKind::Announcement);
            guild.is_some() && info.guild == guild && info.id != channel && is_text
        };
        self.channels.values().filter(is_other)
    }
}

impl PageContext {
    /// Refuses a channel outside the discussion's guild, because the discussion is not meant for others.
    pub(crate) async fn must_be_of_its_guild(
        &self,
        channel: ChannelId,
        to: ChannelId,
    ) -> Result<(), Problem> {
        let places = self.places.get(&self.dirigent).await;
        let is_fit = places.others_of_its_guild(channel).any(|info| info.id == to);
        let detail = "a result can only be sent to another text channel of the discussion's guild";
        if is_fit { Ok(()) } else { Err(Problem::new(422, "other-guild", detail)) }
    }

    /// Returns the question that is asked before a result is sent there. It names the people who can read
    /// there.
    pub(crate) async fn asks_before_sending(&self, row: &Row, to: ChannelId) -> String {
        let places = self.places.get(&self.dirigent).await;
        let info = places.channels.get(&to);
        let name = info.map_or_else(|| to.to_string(), |info| info.name.clone());
        let readers = match info {
            Some(info) if !info.private => {
                let guild = info.guild.and_then(|guild| places.guilds.get(&guild));
                format!("everyone in {}", guild.map_or("its guild", String::as_str))
            }
            Some(_) | None => self.readers_of(to).await,
        };
        format!("Send the result of {} to {name}? Who can read it there: {readers}.", row.name)
    }

    /// Names everyone who can read in a private channel: agents, people and roles, as far as the chat
    /// answers in time.
    async fn readers_of(&self, channel: ChannelId) -> String {
        let agents = self.dirigent.agents();
        let mut known: Vec<_> = agents.iter().map(|agent| agent.discord_user_id).collect();
        let asked = async {
            let seen_by = self.chat.members(channel, known.clone()).await?;
            known.extend(self.chat.me().await.ok());
            Ok::<_, ApiError>((seen_by, self.chat.readers(channel, &known).await.ok().flatten()))
        };
        let (people, limit) = (PEOPLE.to_owned(), self.clock.now() + POST_LIMIT);
        let asked = tokio::select! {
            biased;
            asked = asked => asked.ok(),
            () = self.clock.sleep_until(limit) => None,
        };
        let Some((seen_by, readers)) = asked else {
            return format!("agents that the chat does not name now, and {people}");
        };
        let seeing = agents.into_iter().filter(|agent| seen_by.contains(&agent.discord_user_id));
        let mut names: Vec<_> = seeing.map(|agent| agent.agent_name).collect();
        names.sort_unstable();
        match readers {
            Some(readers) => names.extend(readers.into_iter().map(|it| match it.user {
                Some(_) => it.name,
                None => format!("everyone with the role {}", it.name),
            })),
            None => names.push(people),
        }
        if names.is_empty() {
            return "only the moderator".to_owned();
        }
        listed(&names)
    }

    /// Posts a text as the moderator in a channel of this process. It pings no account.
    pub(crate) async fn own_post(
        &self,
        channel: ChannelId,
        text: &PostText,
    ) -> Result<(), Problem> {
        self.must_exist(channel).await?;
        let text = fit(text, self.chat.longest_message())?;
        let now = self.clock.now();
        let number = self.posts.fetch_add(1, Ordering::Relaxed) % BY_HAND;
        let nonce = Nonce::from_parts(channel.get(), now.as_millis(), BY_HAND | number);
        let posted = tokio::select! {
            biased;
            posted = self.chat.post(Post::new(channel, text, nonce)) => posted,
            () = self.clock.sleep_until(now + POST_LIMIT) => return Err(in_doubt()),
        };
        posted.map(drop).map_err(|error: ApiError| match error.certainty() {
            Certainty::NotDone => {
                Problem::new(502, "not-posted", format!("nothing was posted: {error}"))
            }
            Certainty::Unknown => in_doubt(),
        })
    }
}

/// Joins names, for example "Anna, Ben and Cleo".
fn listed(names: &[String]) -> String {
    match names {
        [names @ .., last] if !names.is_empty() => format!("{} and {last}", names.join(", ")),
        names => names.concat(),
    }
}

fn in_doubt() -> Problem {
    let detail =
        "the chat did not answer: the text may be in the channel; look before you post it again";
    Problem::new(503, "post-in-doubt", detail)
}

/// Returns the text as it is posted.
fn fit(text: &PostText, longest: usize) -> Result<String, Problem> {
    // A browser ends lines with both characters.
    let text = text.0.replace("\r\n", "\n");
    let text = text.trim();
    let units = text.encode_utf16().count();
    if units == 0 || units > longest {
        let detail = format!("a text must have 1 to {longest} characters; this one has {units}");
        return Err(Problem::invalid(detail));
    }
    Ok(text.to_owned())
}
