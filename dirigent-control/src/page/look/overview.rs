//! All channels. Those that need a person come first.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::row::Row;
use crate::page::places::Places;

/// The number of channels on a page. So a page stays below 60 KB, even with long names and topics.
pub(crate) const PAGE: usize = 40;

/// A search for channels.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Query {
    /// A text in the channel's name, topic, guild, speaker or id.
    #[serde(default)]
    pub(crate) find: String,
    /// The mode of the channels.
    #[serde(default)]
    pub(crate) mode: String,
    /// A filter. `needs` selects channels that need a person, `live` those with an agent that has the floor, and
    /// `managed` those with a mode.
    #[serde(default)]
    pub(crate) show: String,
    /// The order: by `name`, by `since` (longest without a change first), or by `changed` (newest change first). By
    /// default channels that need a person come first, and then the channels by guild.
    #[serde(default)]
    pub(crate) sort: String,
    /// The number of the page. The first is 1.
    #[serde(default)]
    pub(crate) page: Option<u32>,
}

/// The channels that match a search. Those that need a person come first.
///
/// ```
/// fn urgent(overview: &dirigent_control::Overview) -> usize {
///     overview.need_person
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Overview {
    /// The channels of this page.
    pub channels: Vec<Row>,
    /// The number of this page. The first is 1.
    pub page: usize,
    /// The number of pages.
    pub pages: usize,
    /// The number of channels that match.
    pub found: usize,
    /// The number of all channels.
    pub all: usize,
    /// The number of all channels with an agent that has the floor.
    pub live: usize,
    /// The number of all channels that need a person.
    pub need_person: usize,
    /// The reason why guilds and names may be out of date.
    pub trouble: Option<String>,
    /// The other processes that do not answer. Their channels are shown in their last known state.
    pub silent: Vec<String>,
    /// The names of guilds that the moderator administers and that have no channel in the list.
    pub guilds_without: Vec<String>,
    /// The ids of the channels that need a person, if there are few. With them a page notices a new one.
    #[serde(skip)]
    pub(crate) needing: Vec<String>,
}

/// If more channels need a person, a page knows only their number.
const NEEDING_MAX: usize = 100;

impl Overview {
    pub(crate) fn of(rows: &[Row], query: &Query, places: &Places) -> Self {
        let all = rows.len();
        let live = rows.iter().filter(|row| row.is_live).count();
        let needing = || rows.iter().filter(|row| row.needs_person.is_some());
        let need_person = needing().count();
        let needing = needing().filter(|_| need_person <= NEEDING_MAX).map(|row| row.id.clone());
        let mut taken: Vec<&Row> = rows.iter().filter(|row| query.takes(row)).collect();
        query.sort(&mut taken);
        let found = taken.len();
        let pages = found.div_ceil(PAGE).max(1);
        let page = query.page.and_then(|page| usize::try_from(page).ok()).unwrap_or(1);
        let page = page.clamp(1, pages);
        let channels = taken.into_iter().skip((page - 1) * PAGE).take(PAGE).cloned().collect();
        let (trouble, silent) = (places.trouble.clone(), Vec::new());
        let mut guilds_without = places.guilds_without(rows.iter().map(|row| row.id.as_str()));
        guilds_without.sort_unstable();
        Self {
            channels,
            page,
            pages,
            found,
            all,
            live,
            need_person,
            trouble,
            silent,
            guilds_without,
            needing: needing.collect(),
        }
    }
}

/// The channels under one heading.
pub(crate) struct Group<'a> {
    pub(crate) heading: String,
    pub(crate) rows: Vec<&'a Row>,
}

impl Overview {
    /// Returns the channels of this page under headings.
    pub(crate) fn groups(&self, query: &Query) -> Vec<Group<'_>> {
        let mut groups: Vec<Group<'_>> = Vec::new();
        if let Some(heading) = query.heading().filter(|_| !self.channels.is_empty()) {
            return vec![Group {
                heading: heading.to_owned(),
                rows: self.channels.iter().collect(),
            }];
        }
        for row in &self.channels {
            let guild = if row.guild.is_empty() {
                "Where the moderator is no administrator"
            } else {
                &row.guild
            };
            let needs = if row.needs_person.is_some() { "Needs a person · " } else { "" };
            let heading = format!("{needs}{guild}");
            match groups.last_mut().filter(|group| group.heading == heading) {
                Some(group) => group.rows.push(row),
                None => groups.push(Group { heading, rows: vec![row] }),
            }
        }
        groups
    }
}

/// Returns the place of a row. Channels that need a person come first, then the guilds. Within a guild channels with a mode
/// come first, and archived ones last. Names decide the rest, so that no row moves while agents take turns.
fn rank(row: &Row) -> (u8, &str, &str, &str, &str) {
    let group = u8::from(row.needs_person.is_none());
    // A channel without a guild comes after all guilds.
    let guild = if row.guild.is_empty() { "\u{10FFFF}" } else { &row.guild };
    let quiet = match (&*row.mode, &*row.turns) {
        (_, "archived") => "2",
        ("none", _) => "1",
        _ => "0",
    };
    (group, guild, quiet, &row.name, &row.id)
}

fn by_name(row: &Row) -> (String, &str, &str) {
    (row.name.to_lowercase(), &row.guild, &row.id)
}

impl Query {
    fn takes(&self, row: &Row) -> bool {
        let is_shown = match self.show.as_str() {
            "needs" => row.needs_person.is_some(),
            "live" => row.is_live,
            "managed" => row.mode != "none",
            "paused" => row.pause.is_some(),
            _ => true,
        };
        let find = self.find.trim().to_lowercase();
        let texts = [
            Some(&row.name),
            row.topic.as_ref(),
            Some(&row.guild),
            row.speaker.as_ref(),
            Some(&row.id),
        ];
        let is_found = find.is_empty()
            || texts.into_iter().flatten().any(|text| text.to_lowercase().contains(&find));
        is_shown && is_found && (self.mode.is_empty() || self.mode == row.mode)
    }

    fn sort(&self, rows: &mut [&Row]) {
        let known = |row: &Row| (row.since.is_none(), row.since);
        match self.sort.as_str() {
            "name" => rows.sort_by(|a, b| by_name(a).cmp(&by_name(b))),
            "since" => rows.sort_by_key(|row| known(row)),
            "changed" => rows.sort_by_key(|row| std::cmp::Reverse(row.since)),
            _ => rows.sort_by(|a, b| rank(a).cmp(&rank(b))),
        }
    }

    /// Returns the heading of rows that are not grouped.
    pub(crate) fn heading(&self) -> Option<&'static str> {
        match self.sort.as_str() {
            "name" => Some("By name"),
            "since" => Some("Those that are as they are for the longest"),
            "changed" => Some("Those that changed last"),
            _ => None,
        }
    }

    /// Returns true if the list has every channel.
    pub(crate) const fn is_plain(&self) -> bool {
        self.find.is_empty() && self.mode.is_empty() && self.show.is_empty()
    }

    /// Returns the query of another page, as it is written in an address.
    pub(crate) fn at(&self, page: usize) -> String {
        form_urlencoded::Serializer::new(String::new())
            .append_pair("find", &self.find)
            .append_pair("mode", &self.mode)
            .append_pair("show", &self.show)
            .append_pair("sort", &self.sort)
            .append_pair("page", &page.to_string())
            .finish()
    }
}
