//! The library's tools, for models that create channels and discussions.

use std::sync::Arc;

use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use dirigent::ChannelId;
use dirigent::tools::{Caller, definitions};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::asking::{bound, channel_id};
use crate::keys::Asker;
use crate::parts::FrontParts;
use crate::problem::Problem;

/// A tool, in the words that a model reads.
#[derive(Serialize, ToSchema)]
pub(crate) struct Tool {
    #[schema(value_type = String)]
    name: &'static str,
    #[schema(value_type = String)]
    description: &'static str,
    /// The JSON schema of its arguments.
    parameters: Value,
}

/// A model's call of a tool.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolUse {
    agent: String,
    /// The channel where the agent was addressed.
    channel: String,
    /// The arguments as the model wrote them.
    arguments: Value,
}

/// The tool that registers an agent.
const REGISTER: &str = "dirigent-register";

impl FrontParts {
    /// Returns whether an agent registers itself with an account that is in the channel. Until then the registry does
    /// not know that the agent is there.
    async fn registers_here(
        &self,
        channel: ChannelId,
        tool: &str,
        arguments: &Value,
    ) -> Result<bool, Problem> {
        let account = arguments.get("discordUserId").and_then(Value::as_str);
        let account = account.filter(|_| tool == REGISTER).and_then(|it| it.parse().ok());
        let Some(account) = account else { return Ok(false) };
        let there = self.chat.members(channel, vec![account]).await;
        Ok(there.map_err(|error| Problem::chat(&error))?.contains(&account))
    }
}

/// Lists the tools.
#[utoipa::path(get, path = "/tools", responses((status = 200, body = [Tool])))]
pub(crate) async fn tools() -> Json<Vec<Tool>> {
    let told = definitions().into_iter().map(|it| Tool {
        name: it.name,
        description: it.description,
        parameters: it.parameters,
    });
    Json(told.collect())
}

/// Carries out a tool call. A refusal (status 422) has `error` and `message`: give it to the model as the answer.
#[utoipa::path(post, path = "/tools/{name}", params(("name" = String, Path)), request_body = ToolUse, responses((status = 200, body = Value), (status = "4XX", body = Problem), (status = "5XX", body = Problem)))]
pub(crate) async fn use_tool(
    State(front): State<Arc<FrontParts>>,
    Extension(asker): Extension<Arc<Asker>>,
    Path(name): Path<String>,
    body: Result<Json<ToolUse>, JsonRejection>,
) -> Result<Response, Problem> {
    let Json(ToolUse { agent, channel, arguments }) = body?;
    let (agent, channel) = (bound(&asker, &agent)?, channel_id(&channel)?);
    let there = front.agents_in(channel).await?;
    let is_there = there.iter().any(|it| it.agent_id == agent);
    if !is_there && !front.registers_here(channel, &name, &arguments).await? {
        return Err(Problem::not_here());
    }
    let info = front.chat.channel(channel).await.map_err(|error| Problem::chat(&error))?;
    let caller = Caller { guild: info.guild, channel: Some(channel), ..Caller::new(agent) };
    Ok(match front.tools.call(&caller, &name, &arguments).await {
        Ok(answer) => Json(answer).into_response(),
        Err(error) => (StatusCode::UNPROCESSABLE_ENTITY, Json(error)).into_response(),
    })
}
