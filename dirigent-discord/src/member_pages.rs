//! Reads all members of a guild, page by page.

use dirigent::ports::ApiError;
use twilight_http::routing::Route;

use crate::route::Ask;
use crate::{DiscordAccount, RestError, wire};

/// The members on a page. Discord's default is one.
const PAGE: u16 = 1_000;

impl DiscordAccount {
    /// Reads all members of a guild. It needs the members intent; without it Discord forbids this. A guild
    /// of many pages does not fit into the limits of one call. If you repeat the call, it goes on where it
    /// stopped, however long the list is.
    pub(crate) async fn guild_members(&self, guild: u64) -> Result<Vec<wire::Member>, ApiError> {
        let mut reading = self.unfinished.lists.resume(guild).await;
        loop {
            let after = reading.at(self.clock().now()).after;
            let route = Route::GetGuildMembers { guild_id: guild, after, limit: Some(PAGE) };
            let ask = Ask::bare("list guild members", guild, &route);
            let page: Vec<wire::Member> = self.read(ask).await?;
            let is_last = page.len() < usize::from(PAGE);
            let highest = page.iter().map(|member| member.user().get()).max();
            let pages = reading.at(self.clock().now());
            pages.members.extend(page);
            if is_last {
                return Ok(reading.finish().members);
            }
            if highest <= after {
                // A page that leads nowhere would be read for ever.
                reading.discard();
                return Err(RestError::Unreadable.report());
            }
            pages.after = highest;
        }
    }
}
