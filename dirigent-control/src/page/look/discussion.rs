//! A discussion, and its posts that are still to be sent.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use dirigent::ChannelId;
use dirigent::operate::{DiscussionState, DiscussionStatus, OutboxEntry, PostState};
use dirigent::ports::{ChannelInfo, Timestamp};
use dirigent::store::OutboxKind;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::row::Names;
use crate::page::places::Places;

/// A discussion.
///
/// ```
/// fn is_over(discussion: &dirigent_control::DiscussionLook) -> bool {
///     discussion.state != "open"
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DiscussionLook {
    /// The state: `open`, `concluded` or `archived`.
    pub state: Cow<'static, str>,
    /// The name of the account that opened it.
    pub initiator: Option<String>,
    /// The channel that gets the result, by name or id.
    pub callback: Option<String>,
    /// The callback channel's id.
    pub callback_id: Option<String>,
    /// The guide of the discussion.
    pub guide: Option<String>,
    /// The guide and the result, as far as they are still to be posted.
    pub outbox: Vec<OutboxLook>,
}

/// A discussion's guide or result that is still to be posted.
///
/// ```
/// fn is_stuck(post: &dirigent_control::OutboxLook) -> bool {
///     post.state == "given-up"
/// }
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct OutboxLook {
    /// The kind: `guide` or `result`.
    pub what: Cow<'static, str>,
    /// The channel that gets it, by name or id.
    pub to: String,
    /// The id of that channel.
    pub to_id: String,
    /// The number of its messages that are in the channel.
    pub posted: usize,
    /// The number of its messages.
    pub parts: usize,
    /// The state: `ready`, `under-way`, `waiting` or `given-up`.
    pub state: Cow<'static, str>,
    /// The time of the next try, in milliseconds of Unix time, if it is known.
    pub until: Option<u64>,
    /// True if its next message may be in the channel already.
    pub in_doubt: bool,
    /// A sentence that says all of this.
    pub sentence: String,
    /// The text, if it could not be delivered. `Debug` hides it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The names of the channels that can get the undelivered result instead, by id, at most 500.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub targets: BTreeMap<String, String>,
}

impl fmt::Debug for OutboxLook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutboxLook").field("sentence", &self.sentence).finish_non_exhaustive()
    }
}

impl DiscussionLook {
    pub(super) fn of(
        id: Option<ChannelId>,
        told: &DiscussionStatus,
        names: &Names,
        places: &Places,
    ) -> Self {
        let terms = told.terms.as_deref();
        Self {
            state: match told.state {
                DiscussionState::Concluded => "concluded",
                DiscussionState::Archived => "archived",
                DiscussionState::Open | _ => "open",
            }
            .into(),
            initiator: told.initiator.as_ref().map(|initiator| names.of(initiator)),
            callback: terms.map(|terms| called(terms.callback, places)),
            callback_id: terms.map(|terms| terms.callback.to_string()),
            guide: terms.map(|terms| terms.guide.clone()),
            outbox: told
                .outbox
                .iter()
                .map(|unposted| OutboxLook::of(id, unposted, places))
                .collect(),
        }
    }
}

/// The most channels that the page offers for a result.
const TARGETS: usize = 500;

impl OutboxLook {
    /// Returns true if it could not be delivered, so that a person can act.
    pub(crate) const fn is_undelivered(&self) -> bool {
        self.text.is_some()
    }

    /// Returns the channels that can get it, sorted by name.
    pub(crate) fn targets_by_name(&self) -> Vec<(&String, &String)> {
        let mut targets: Vec<_> = self.targets.iter().map(|(id, name)| (name, id)).collect();
        targets.sort_unstable();
        targets
    }

    fn of(id: Option<ChannelId>, unposted: &OutboxEntry, places: &Places) -> Self {
        let OutboxEntry { posted, parts, in_doubt, .. } = *unposted;
        let what = match unposted.kind {
            OutboxKind::Guide => "guide",
            OutboxKind::Result => "result",
        };
        let (state, waits) = match unposted.state {
            PostState::UnderWay => ("under-way", "is being posted"),
            PostState::Waiting(_) => ("waiting", "is tried again, as an attempt failed"),
            PostState::GivenUp => ("given-up", "was given up: the chat does not take it"),
            PostState::Ready | _ => ("ready", "is about to be posted"),
        };
        let until = if let PostState::Waiting(until) = unposted.state { until } else { None };
        let until = until.map(Timestamp::as_millis);
        let progress = match parts {
            0 | 1 => String::new(),
            parts => format!("; {posted} of {parts} messages are there"),
        };
        let doubt =
            if in_doubt { "; the next one may be there already, and is looked for" } else { "" };
        let sentence = format!("The {what} {waits}{progress}{doubt}.");
        let is_undelivered =
            matches!(unposted.state, PostState::Waiting(_) | PostState::GivenUp) && posted < parts;
        let target = |info: &ChannelInfo| (info.id.to_string(), info.name.clone());
        let targets = id.filter(|_| is_undelivered && unposted.kind == OutboxKind::Result);
        let targets = targets.map(|id| {
            let others = places.others_of_its_guild(id).filter(|info| info.id != unposted.to);
            others.take(TARGETS).map(target).collect()
        });
        let to = called(unposted.to, places);
        Self {
            what: what.into(),
            to,
            to_id: unposted.to.to_string(),
            posted,
            parts,
            state: state.into(),
            until,
            in_doubt,
            sentence,
            text: is_undelivered.then(|| unposted.text.to_string()),
            targets: targets.unwrap_or_default(),
        }
    }
}

/// Returns a channel's name, or its id if the chat does not return the name.
fn called(channel: ChannelId, places: &Places) -> String {
    let info = places.channels.get(&channel);
    info.map_or_else(|| channel.to_string(), |info| info.name.clone())
}
