//! The API for programs. It can do everything that the page can.

use std::sync::Arc;

use axum::extract::{DefaultBodyLimit, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Json, Router};
use http::header;
use serde::{Deserialize, Serialize};
use utoipa::openapi::OpenApi as Document;
use utoipa::{OpenApi, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::drawing::{WhatIf, WhatIfAsked};
use crate::page::channel_id::channel_id;
use crate::page::extract::{Asked, Named, Sent};
use crate::page::look::{self, AgentReport, ChannelLook, IdentityLook, Overview, RegistryLook};
use crate::page::made_once::Freshness;
use crate::page::many;
use crate::page::messages::Messages;
use crate::page::order::{GivenOrder, reason_of};
use crate::page::peers::PageQuestion;
use crate::page::ports::ScanReport;
use crate::page::problem::Problem;
use crate::page::shared::PageContext;
use crate::page::visitor::Visitor;

/// The largest recording that is read, in bytes.
pub(crate) const RECORDING_MAX: usize = 8 * 1024 * 1024;

type Ctl = State<Arc<PageContext>>;
type Answer<T> = Result<Json<T>, Problem>;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Dirigent control",
        description = "See, understand and steer every channel. Each request brings a token as \
                       `Authorization: Bearer`; a viewer's token may only read."
    ),
    servers((url = "/dirigent/api")),
    components(schemas(Problem)),
    modifiers(&Bearer),
    security(("bearer" = []))
)]
struct Api;

struct Bearer;

impl utoipa::Modify for Bearer {
    fn modify(&self, document: &mut Document) {
        use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
        let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("bearer", SecurityScheme::Http(scheme));
    }
}

/// The outcome of an order.
#[derive(Serialize, ToSchema)]
struct Done {
    /// Always true, because a refusal is a problem.
    done: bool,
}

/// An agent's account and name.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Registration {
    /// The account, with 15 to 20 digits. It must be a bot in a guild that the moderator administers.
    discord_user_id: String,
    /// The name for people. Without it, the agent keeps its present name.
    #[serde(default)]
    agent_name: Option<String>,
}

pub(crate) fn routes() -> (Router<Arc<PageContext>>, Document) {
    OpenApiRouter::with_openapi(Api::openapi())
        .routes(routes!(channels))
        .routes(routes!(channel))
        .routes(routes!(messages))
        .routes(routes!(order))
        .routes(routes!(many::logged, many::order_many))
        .routes(routes!(score))
        .routes(routes!(replay))
        .routes(routes!(what_if))
        .routes(routes!(agent))
        .routes(routes!(identities))
        .routes(routes!(register, remove))
        .routes(routes!(scan))
        .merge(
            OpenApiRouter::new()
                .routes(routes!(replay_file))
                .routes(routes!(what_if_file))
                .layer(DefaultBodyLimit::max(RECORDING_MAX)),
        )
        .split_for_parts()
}

/// Serves the document itself.
pub(crate) fn served(document: Document) -> Router<Arc<PageContext>> {
    let document = Arc::new(document);
    let answer = move |State(shared): Ctl| {
        let mut document = (*document).clone();
        document.servers = Some(vec![utoipa::openapi::Server::new(format!("{}/api", shared.base))]);
        async move { Json(document) }
    };
    Router::new().route("/openapi.json", get(answer))
}

/// Lists every channel, 40 on a page. Channels that need a person come first.
#[utoipa::path(get, path = "/channels", params(look::Query), responses((status = 200, body = Overview), Problem))]
async fn channels(State(shared): Ctl, Asked(query): Asked<look::Query>) -> Answer<Overview> {
    shared.across().overview(&query, Freshness::Now).await.map(Json)
}

/// Returns one channel.
///
/// You see who speaks, why the others do not, and the orders that you can give.
#[utoipa::path(get, path = "/channels/{id}", params(("id" = String, Path, description = "The channel")), responses((status = 200, body = ChannelLook), Problem))]
async fn channel(State(shared): Ctl, Named(id): Named<String>) -> Answer<ChannelLook> {
    shared.across().sheet(channel_id(&id)?).await.map(|sheet| Json(sheet.look))
}

/// Returns the newest messages of a channel, at most 12.
///
/// They are read from the chat now and are not stored.
#[utoipa::path(get, path = "/channels/{id}/messages", params(("id" = String, Path, description = "The channel")), responses((status = 200, body = Messages), Problem))]
async fn messages(State(shared): Ctl, Named(id): Named<String>) -> Answer<Messages> {
    shared.messages(channel_id(&id)?).await.map(Json)
}

/// Gives a channel an order.
#[utoipa::path(post, path = "/channels/{id}/orders", params(("id" = String, Path, description = "The channel")),
    request_body = GivenOrder, responses((status = 200, body = Done), Problem))]
async fn order(
    State(shared): Ctl,
    Extension(visitor): Extension<Visitor>,
    Named(id): Named<String>,
    Sent(given): Sent<GivenOrder>,
) -> Answer<Done> {
    let id = channel_id(&id)?;
    let reason = reason_of(given.reason.as_deref())?;
    shared.across().order(id, given.order.told()?, &visitor.name, reason).await?;
    Ok(Json(Done { done: true }))
}

/// Returns the channel's score as an SVG file.
#[utoipa::path(get, path = "/channels/{id}/score.svg", params(("id" = String, Path, description = "The channel")),
    responses((status = 200, body = String, content_type = "image/svg+xml"), Problem))]
async fn score(State(shared): Ctl, Named(id): Named<String>) -> Result<Response, Problem> {
    let id = channel_id(&id)?;
    let svg = shared.across().file(id, &PageQuestion::Score { channel: id }).await?;
    let name = format!("attachment; filename=\"score-{id}.svg\"");
    // An opened file may run no code, and its own style is the only one.
    let policy = "default-src 'none'; style-src 'unsafe-inline'; sandbox";
    let headers = [
        (header::CONTENT_TYPE, "image/svg+xml".to_owned()),
        (header::CONTENT_DISPOSITION, name),
        (header::CONTENT_SECURITY_POLICY, policy.to_owned()),
    ];
    Ok((headers, svg).into_response())
}

/// Replays the channel's own recording with the turn machine.
#[utoipa::path(get, path = "/channels/{id}/replay", params(("id" = String, Path, description = "The channel")),
    responses((status = 200, body = serde_json::Value), Problem))]
async fn replay(State(shared): Ctl, Named(id): Named<String>) -> Result<Response, Problem> {
    let channel = channel_id(&id)?;
    let json = shared.across().file(channel, &PageQuestion::Replay { channel }).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], json).into_response())
}

/// Plays the channel's own recording again under other rules.
///
/// The answer has the recorded evening first, then one evening for each line of `set`.
#[utoipa::path(get, path = "/channels/{id}/what-if", params(("id" = String, Path, description = "The channel"),
    ("set" = String, Query, description = "One rule set a line, for example `order.skip_passed=true`"),
    ("assume" = Option<String>, Query, description = "What an agent does that is asked as it was not then: `pass` or `next`")),
    responses((status = 200, body = serde_json::Value), Problem))]
async fn what_if(
    State(shared): Ctl,
    Named(id): Named<String>,
    Asked(asked): Asked<WhatIfAsked>,
) -> Result<Response, Problem> {
    let channel = channel_id(&id)?;
    let json = shared.across().file(channel, &PageQuestion::WhatIf { channel, asked }).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], json).into_response())
}

/// Plays a recording from a file again under other rules. It is not stored.
#[utoipa::path(post, path = "/what-if", request_body(content = String, content_type = "text/plain"),
    params(("set" = String, Query, description = "One rule set a line"), ("assume" = Option<String>, Query, description = "`pass` or `next`")),
    responses((status = 200, body = serde_json::Value), Problem))]
async fn what_if_file(
    State(shared): Ctl,
    Asked(asked): Asked<WhatIfAsked>,
    text: Result<String, axum::extract::rejection::StringRejection>,
) -> Answer<WhatIf> {
    shared.what_if_file(read(text)?, asked).await.map(Json)
}

/// Returns the body of a request as text.
fn read(
    text: Result<String, axum::extract::rejection::StringRejection>,
) -> Result<String, Problem> {
    text.map_err(|error| Problem::new(error.status().as_u16(), "unreadable", error.body_text()))
}

/// Replays a recording from a file with the turn machine. It is not stored.
#[utoipa::path(post, path = "/replay", request_body(content = String, content_type = "text/plain"), responses((status = 200, body = serde_json::Value), Problem))]
async fn replay_file(
    State(shared): Ctl,
    text: Result<String, axum::extract::rejection::StringRejection>,
) -> Answer<crate::drawing::Replay> {
    shared.replay_file(read(text)?).await.map(Json)
}

/// Returns one agent in all channels.
///
/// You see its state there, its turns by day and its failures, as far as they are recorded.
#[utoipa::path(get, path = "/agents/{agent}", params(("agent" = String, Path, description = "The agent's id")), responses((status = 200, body = AgentReport), Problem))]
async fn agent(State(shared): Ctl, Named(agent): Named<String>) -> Answer<AgentReport> {
    shared.across().agent(&agent).await.map(Json)
}

/// Returns the registry of agents.
#[utoipa::path(get, path = "/identities", responses((status = 200, body = RegistryLook), Problem))]
async fn identities(State(shared): Ctl) -> Answer<RegistryLook> {
    shared.registry().await.map(Json)
}

/// Adds an agent, or changes its account and name, with the same checks as the agents' own tool.
#[utoipa::path(put, path = "/identities/{agent}", params(("agent" = String, Path, description = "The agent's id")),
    request_body = Registration, responses((status = 200, body = IdentityLook), Problem))]
async fn register(
    State(shared): Ctl,
    Extension(visitor): Extension<Visitor>,
    Named(agent): Named<String>,
    Sent(registration): Sent<Registration>,
) -> Answer<IdentityLook> {
    let Registration { discord_user_id, agent_name } = registration;
    let entry = (discord_user_id.as_str(), agent_name);
    let registered = shared.register(&visitor.name, &agent, entry, None).await;
    registered.map_err(|rejection| rejection.problem)?;
    let identities = shared.registry().await?.identities;
    let own = identities.into_iter().find(|identity| identity.agent_id == agent.trim());
    own.map(Json).ok_or_else(|| Problem::not_found("agent in the registry"))
}

/// Removes an agent from the registry.
#[utoipa::path(delete, path = "/identities/{agent}", params(("agent" = String, Path, description = "The agent's id")),
    responses((status = 200, body = Done), Problem))]
async fn remove(
    State(shared): Ctl,
    Extension(visitor): Extension<Visitor>,
    Named(agent): Named<String>,
) -> Answer<Done> {
    let removed = shared.remove(&visitor.name, &agent, None).await;
    removed.map_err(|rejection| rejection.problem)?;
    Ok(Json(Done { done: true }))
}

/// Scans `ego.json` into the registry, if the file is there now.
#[utoipa::path(post, path = "/identities-scan", responses((status = 200, body = ScanReport), Problem))]
async fn scan(State(shared): Ctl, Extension(visitor): Extension<Visitor>) -> Answer<ScanReport> {
    shared.scan(&visitor.name).await.map(Json)
}
