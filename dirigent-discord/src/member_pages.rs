//! All members of a guild, page by page.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use dirigent::{ApiError, Timestamp};
use twilight_http::routing::Route;

use crate::route::Ask;
use crate::{DiscordAccount, RestError, wire};

/// How many members a page has; Discord's default is one.
const PAGE: u16 = 1_000;

/// How long pages that were read are worth going on with.
const FRESH: Duration = Duration::from_secs(30);

/// Reads that were broken off, by guild. A guild of many pages does not fit into the limits of one call;
/// when the call is repeated, it goes on where it stood.
#[derive(Debug, Default)]
pub(crate) struct Unfinished(Mutex<HashMap<u64, Pages>>);

/// The pages read so far.
#[derive(Debug)]
struct Pages {
    since: Timestamp,
    members: Vec<wire::Member>,
    /// The highest id among them.
    after: Option<u64>,
}

impl Unfinished {
    fn take(&self, guild: u64, now: Timestamp) -> Pages {
        let mut unfinished = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        unfinished.retain(|_, pages| now.since(pages.since) < FRESH);
        let fresh = Pages { since: now, members: Vec::new(), after: None };
        unfinished.remove(&guild).unwrap_or(fresh)
    }
}

/// A read under way. Dropped before its end, it leaves its pages to the next one.
struct Reading<'a> {
    unfinished: &'a Unfinished,
    guild: u64,
    pages: Option<Pages>,
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        if let Some(pages) = self.pages.take().filter(|pages| pages.after.is_some()) {
            let mut unfinished = self.unfinished.0.lock().unwrap_or_else(PoisonError::into_inner);
            unfinished.insert(self.guild, pages);
        }
    }
}

impl DiscordAccount {
    /// Reads all members of a guild. It takes the members intent; without it, Discord forbids
    /// this.
    pub(crate) async fn guild_members(&self, guild: u64) -> Result<Vec<wire::Member>, ApiError> {
        let pages = Some(self.unfinished.take(guild, self.clock().now()));
        let mut reading = Reading { unfinished: &self.unfinished, guild, pages };
        while let Some(pages) = &mut reading.pages {
            let (after, limit) = (pages.after, Some(PAGE));
            let route = Route::GetGuildMembers { guild_id: guild, after, limit };
            let ask = Ask::bare("list guild members", guild, &route);
            let page: Vec<wire::Member> = self.read(ask).await?;
            let is_last = page.len() < usize::from(PAGE);
            pages.members.extend(page);
            let highest = pages.members.iter().map(|member| member.user().get()).max();
            if is_last {
                break;
            }
            if highest <= after {
                // A page that leads nowhere would be read for ever.
                reading.pages = None;
                return Err(RestError::Unreadable.report());
            }
            pages.after = highest;
        }
        Ok(reading.pages.take().map(|pages| pages.members).unwrap_or_default())
    }
}
