//! Requests that only read: the state of a channel, and why an agent is silent.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::{Extension, Json};
use dirigent::ports::{ChannelAnswer, ChannelRequest, ExplainAnswer, Identity};
use dirigent::{AgentId, ChannelId};
use serde::Serialize;
use utoipa::ToSchema;

use crate::asking::{bound, channel_id};
use crate::keys::Asker;
use crate::parts::FrontParts;
use crate::problem::Problem;
use crate::queries;

/// The answer whether an agent may speak now, and why.
#[derive(Serialize, ToSchema)]
pub(crate) struct Why {
    pub(crate) allowed: bool,
    pub(crate) text: String,
}

/// The state of a channel.
#[derive(Serialize, ToSchema)]
pub(crate) struct ChannelLook {
    /// The mode: `chat`, `report`, `work`, `discussion` or `none`.
    mode: String,
    /// The state of turn management: `disabled`, `dead`, `normal`, `shuffle` or `archived`.
    turns: String,
    /// The agent that has the floor.
    #[serde(skip_serializing_if = "Option::is_none")]
    speaker: Option<String>,
}

impl FrontParts {
    /// Asks why an agent may, or may not, speak now.
    pub(crate) async fn explained(
        &self,
        agent_id: AgentId,
        channel: ChannelId,
    ) -> Result<ExplainAnswer, Problem> {
        let explain = ChannelRequest::Explain { agent_id };
        let answer = self.dirigent.channel(channel).request(&explain).await?;
        let ChannelAnswer::Explained(why) = answer else { return Err(Problem::strange()) };
        Ok(why)
    }

    /// Returns the agents that are in the channel. If the chat does not answer, the request is refused.
    pub(crate) async fn agents_in(&self, channel: ChannelId) -> Result<Vec<Identity>, Problem> {
        let agents = self.dirigent.agents();
        let accounts = agents.iter().map(|it| it.discord_user_id).collect();
        let there = self.chat.members(channel, accounts).await;
        let there = there.map_err(|error| Problem::chat(&error))?;
        Ok(agents.into_iter().filter(|it| there.contains(&it.discord_user_id)).collect())
    }

    /// Refuses a program if the channel has none of its agents.
    pub(crate) async fn must_be_in(
        &self,
        asker: &Asker,
        channel: ChannelId,
    ) -> Result<(), Problem> {
        let there = self.agents_in(channel).await?;
        let is_own = there.iter().any(|it| asker.agents.contains(&it.agent_id));
        if is_own { Ok(()) } else { Err(Problem::not_here()) }
    }
}

/// Explains why an agent may, or may not, speak now.
#[utoipa::path(get, path = "/why", params(queries::WhyAsked), responses((status = 200, body = Why), (status = "4XX", body = Problem), (status = "5XX", body = Problem)))]
pub(crate) async fn why(
    State(front): State<Arc<FrontParts>>,
    Extension(asker): Extension<Arc<Asker>>,
    Query(query): Query<queries::WhyAsked>,
) -> Result<Json<Why>, Problem> {
    let (agent_id, channel) = (bound(&asker, &query.agent)?, channel_id(&query.channel)?);
    front.must_be_in(&asker, channel).await?;
    let why = front.explained(agent_id, channel).await?;
    Ok(Json(Why { allowed: why.allows, text: why.text }))
}

/// Returns the state of a channel.
#[utoipa::path(get, path = "/state", params(queries::StateAsked), responses((status = 200, body = ChannelLook), (status = "4XX", body = Problem), (status = "5XX", body = Problem)))]
pub(crate) async fn state(
    State(front): State<Arc<FrontParts>>,
    Extension(asker): Extension<Arc<Asker>>,
    Query(query): Query<queries::StateAsked>,
) -> Result<Json<ChannelLook>, Problem> {
    let channel = channel_id(&query.channel)?;
    front.must_be_in(&asker, channel).await?;
    let answer = front.dirigent.channel(channel).request(&ChannelRequest::State).await?;
    let ChannelAnswer::State(state) = answer else { return Err(Problem::strange()) };
    let speaker = state.current_speaker.map(|agent| agent.to_string());
    Ok(Json(ChannelLook { mode: state.mode, turns: state.tm_state, speaker }))
}
