//! Orders for many channels, and the log of orders.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use dirigent::ChannelId;
use dirigent::ports::ChannelRequest;
use futures_util::stream::{self, StreamExt as _};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::page::extract::Sent;
use crate::page::look::{LoggedOrder, Row};
use crate::page::made_once::Freshness;
use crate::page::order::{Told, reason_of};
use crate::page::problem::Problem;
use crate::page::shared::PageContext;
use crate::page::visitor::Visitor;

/// The number of channels that get an order at the same time.
const AT_ONCE: usize = 16;

/// An order for many channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ManyOrder {
    Stop,
    Hold,
    Resume,
}

impl ManyOrder {
    pub(crate) const fn request(self) -> ChannelRequest {
        match self {
            Self::Stop => ChannelRequest::Stop,
            Self::Hold => ChannelRequest::Hold,
            Self::Resume => ChannelRequest::Resume,
        }
    }

    /// Returns the order as the first word of a sentence.
    pub(crate) const fn verb(self) -> &'static str {
        match self {
            Self::Stop => "Stop",
            Self::Hold => "Hold",
            Self::Resume => "Resume",
        }
    }

    /// Returns true if the order changes a channel in this state, as far as the state is known.
    fn concerns(self, row: &Row) -> bool {
        let keeps_turns = matches!(&*row.turns, "normal" | "shuffle");
        let pause = row.pause.as_deref();
        match self {
            // Little is known about a channel if its process does not answer.
            _ if row.is_away => row.turns != "archived",
            Self::Stop => keeps_turns && pause != Some("stopped"),
            Self::Hold => keeps_turns && pause.is_none(),
            Self::Resume => pause.is_some(),
        }
    }
}

/// An order for many channels.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct OrderMany {
    /// The order: `stop`, `hold` or `resume`.
    pub(crate) order: ManyOrder,
    /// The ids of the channels.
    #[serde(default)]
    pub(crate) channels: BTreeSet<String>,
    /// True for every channel that the order would change, instead of `channels`.
    #[serde(default)]
    pub(crate) all: bool,
    /// The reason, at most 200 characters.
    #[serde(default)]
    pub(crate) reason: Option<String>,
}

/// The outcome of an order for many channels.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ManyDone {
    /// The number of channels that performed it.
    pub(crate) done: usize,
    /// The channels that did not, each with the reason.
    pub(crate) refused: Vec<ManyRefused>,
}

/// A channel that did not perform an order.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ManyRefused {
    /// The id of the channel.
    pub(crate) channel: String,
    /// The channel's name.
    pub(crate) name: String,
    /// The reason for the refusal.
    pub(crate) problem: Problem,
}

/// The newest orders.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Orders {
    /// The orders, at most 500, the newest one first.
    orders: Vec<LoggedOrder>,
}

/// Lists the newest orders of this process, for all channels.
#[utoipa::path(get, path = "/orders", responses((status = 200, body = Orders), Problem))]
pub(crate) async fn logged(State(shared): State<Arc<PageContext>>) -> Json<Orders> {
    Json(Orders { orders: shared.order_log.of_all().await })
}

/// Stops, holds or resumes many channels at once, or all of them.
#[utoipa::path(post, path = "/orders", request_body = OrderMany, responses((status = 200, body = ManyDone), Problem))]
pub(crate) async fn order_many(
    State(shared): State<Arc<PageContext>>,
    Extension(visitor): Extension<Visitor>,
    Sent(many): Sent<OrderMany>,
) -> Result<Json<ManyDone>, Problem> {
    let chosen = shared.chosen(&many).await?;
    shared.give_many(&many, chosen, &visitor).await.map(Json)
}

impl PageContext {
    /// Returns the chosen channels.
    pub(crate) async fn chosen(&self, many: &OrderMany) -> Result<Vec<Row>, Problem> {
        let rows = self.across().rows(Freshness::Now).await?;
        let is_meant = |row: &&Row| {
            if many.all { many.order.concerns(row) } else { many.channels.contains(&row.id) }
        };
        let chosen: Vec<_> = rows.iter().filter(is_meant).cloned().collect();
        if !many.all && many.channels.is_empty() {
            return Err(Problem::invalid("no channel was chosen"));
        }
        if !many.all && chosen.len() < many.channels.len() {
            return Err(Problem::not_found("channel, for one of those that were chosen"));
        }
        Ok(chosen)
    }

    pub(crate) async fn give_many(
        &self,
        many: &OrderMany,
        chosen: Vec<Row>,
        visitor: &Visitor,
    ) -> Result<ManyDone, Problem> {
        let reason = reason_of(many.reason.as_deref())?;
        let given = stream::iter(chosen)
            .map(|row| {
                let reason = reason.clone();
                async move {
                    let Ok(id) = row.id.parse::<ChannelId>() else { return (row, Ok(())) };
                    let request = Told::Request(many.order.request());
                    let given = self.across().order(id, request, &visitor.name, reason).await;
                    (row, given)
                }
            })
            .buffered(AT_ONCE);
        let given: Vec<_> = given.collect().await;
        let all = given.len();
        let refused: Vec<_> = given
            .into_iter()
            .filter_map(|(Row { id, name, .. }, given)| {
                Some(ManyRefused { channel: id, name, problem: given.err()? })
            })
            .collect();
        Ok(ManyDone { done: all - refused.len(), refused })
    }
}
