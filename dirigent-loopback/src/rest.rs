//! Discord's REST API. `table` lists the routes, and a file for each kind of request performs it. This file does
//! what comes before and after: the token, limits, faults, and the count of traffic.

use std::time::Duration;

use dirigent::UserId;
use dirigent::ports::Timestamp;
use http::header::{AUTHORIZATION, USER_AGENT};
use http::{HeaderMap, HeaderValue, Request, Response};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};

use super::endpoint::{self, Matched, RestRoute, Unmatched};
use super::faults::RestFault;
use super::limits::{Standing, TooMany};
use super::server::Cut;
use super::state::ServerContext;
use super::traffic;

mod ask;
mod attachments;
mod body;
mod channels;
mod commands;
mod components;
mod draft;
mod embeds;
mod guilds;
mod interactions;
mod messages;
mod pins;
mod posting;
mod reactions;
pub(super) mod refusal;
pub(super) mod reply;
mod sight;
mod table;
mod threads;
mod upload;
mod users;
mod webhook_messages;
mod webhooks;

use ask::Ask;
use refusal::Refusal;
use reply::Reply;
use upload::{read_body, take_body};

/// An answer and its limits, or no answer.
struct Outcome {
    /// The answer. `None` cuts the connection.
    reply: Option<Reply>,
    standing: Option<Standing>,
    account: Option<UserId>,
    endpoint: Option<RestRoute>,
}

impl Outcome {
    /// Returns an outcome without an answer.
    fn unanswered(request: &Request<Incoming>) -> Self {
        let matched = matched(request.method().as_str(), request.uri().path());
        let endpoint = matched.ok().map(|matched| matched.endpoint);
        Self { reply: None, standing: None, account: None, endpoint }
    }

    fn early(reply: Reply, endpoint: Option<RestRoute>) -> Self {
        Self { reply: Some(reply), standing: None, account: None, endpoint }
    }
}

impl Refusal {
    fn reply(&self) -> Reply {
        let mut reply = Reply::json(self.body());
        reply.status = self.status;
        reply
    }
}

/// Answers a request, and counts it.
pub(super) async fn answer(
    state: &ServerContext,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Cut> {
    let came_at = state.discord.clock().now();
    let hanging = state.outages.hanging();
    let mut outcome = match hanging {
        Some(false) => Outcome::unanswered(&request),
        Some(true) | None => outcome(state, came_at, request).await,
    };
    if hanging.is_some() {
        outcome.reply = None;
    }
    let Outcome { reply, standing, account, endpoint } = outcome;
    let (status, scope) = (reply.as_ref().map(|reply| reply.status), None);
    let scope = reply.as_ref().map_or(scope, |reply| reply.scope);
    if let Some(status) = status {
        state.counters().answered(came_at, status, scope);
    }
    tracing::debug!(?endpoint, ?status, "answered");
    state.traffic().record(traffic::ReceivedRequest {
        at: came_at,
        account,
        endpoint,
        status,
        scope,
    });
    if hanging.is_some() {
        return std::future::pending().await;
    }
    let Some(reply) = reply else { return Err(Cut) };
    let response = reply.respond(standing.as_ref());
    match endpoint {
        Some(endpoint) => Ok(state.alterations.change_answer((endpoint, account), response).await),
        None => Ok(response),
    }
}

async fn outcome(state: &ServerContext, now: Timestamp, request: Request<Incoming>) -> Outcome {
    if let Some(wait) = state.counters().ban_left(now) {
        return Outcome::early(Reply::turned_away(wait), None);
    }
    let (head, body) = request.into_parts();
    let bytes = take_body(body).await;
    let matched = match matched(head.method.as_str(), head.uri.path()) {
        Ok(matched) => matched,
        Err(refusal) => return Outcome::early(refusal.reply(), None),
    };
    let endpoint = matched.endpoint;
    let refused = |refusal: Refusal| Outcome::early(refusal.reply(), Some(endpoint));
    let me = match authenticate(state, &head.headers, endpoint) {
        Ok(me) => me,
        Err(refusal) => return refused(refusal),
    };
    let agent = head.headers.get(USER_AGENT).map_or(&[][..], HeaderValue::as_bytes);
    if !endpoint.takes_any_agent() && !state.user_agents().takes(agent) {
        return refused(Refusal::bad_agent());
    }
    let query = head.uri.query().unwrap_or_default();
    let body = match bytes {
        Ok(bytes) => read_body(&head.headers, bytes).await,
        Err(refusal) => Err(refusal),
    };
    let body = match body {
        Ok(body) if body.files.is_empty() || endpoint.takes_files() => body,
        Ok(_) => return refused(Refusal::lacking("files with this request")),
        Err(refusal) => return refused(refusal),
    };
    let (standing, too_many) = state.counters().count(now, me, &matched);
    let reply = if let Some(too_many) = too_many {
        Some(Reply::too_many(&too_many))
    } else {
        let ask = Ask::new(state, matched, me, (query, body));
        with_faults(state, me, &ask).await
    };
    // Clients expect no limits on answers to commands, because Discord has none.
    let standing = Some(standing).filter(|_| endpoint != RestRoute::CreateInteractionAnswer);
    Outcome { reply, standing, account: me, endpoint: Some(endpoint) }
}

/// Performs a request, with a fault if there is one. `None` cuts the connection.
async fn with_faults(state: &ServerContext, me: Option<UserId>, ask: &Ask) -> Option<Reply> {
    let endpoint = ask.matched.endpoint;
    let fault = state.faults().draw(me, endpoint);
    if let Some(RestFault::SlowRequest { by }) = fault {
        wait(state, by).await;
    }
    let is_applied = fault.is_none_or(RestFault::is_applied);
    let reply = is_applied.then(|| {
        let carried_out = table::carry_out(state, &mut state.discord.world(), ask);
        carried_out.unwrap_or_else(|refusal| refusal.reply())
    });
    match fault {
        None | Some(RestFault::SlowRequest { .. }) => reply,
        Some(RestFault::SlowAnswer { by }) => {
            wait(state, by).await;
            reply
        }
        Some(RestFault::LostAnswer | RestFault::NotDelivered) => None,
        Some(RestFault::ServerError { status, .. }) => Some(Reply::server_error(status)),
        Some(RestFault::RateLimited { scope, retry_after: wait }) => {
            Some(Reply::too_many(&TooMany { scope, wait }))
        }
        Some(RestFault::TurnedAway { retry_after }) => Some(Reply::turned_away(retry_after)),
        Some(RestFault::Unauthorized) => Some(Refusal::unauthorized().reply()),
        Some(RestFault::Forbidden) => Some(Refusal::missing_permissions().reply()),
    }
}

async fn wait(state: &ServerContext, by: Duration) {
    let clock = state.discord.clock();
    clock.sleep_until(clock.now() + by).await;
}

/// Returns the route. If this server does not have it, it is refused loudly.
fn matched(method: &str, path: &str) -> Result<Matched, Refusal> {
    let below = path.strip_prefix("/api/v10/").or_else(|| path.strip_prefix("/api/v9/"));
    // The address of a webhook contains no version.
    let below =
        below.or_else(|| path.strip_prefix("/api/").filter(|it| it.starts_with("webhooks/")));
    let path = without_tokens(path);
    let unknown = || {
        tracing::error!(method, path, "the loopback Discord does not have this route");
        let said = format!("404: Not Found. The loopback Discord does not have {method} {path}");
        Refusal::new(404, 0, said)
    };
    let below = below.ok_or_else(unknown)?;
    endpoint::find(method, below).map_err(|unmatched| match unmatched {
        Unmatched::Path => unknown(),
        Unmatched::Method => {
            tracing::error!(method, path, "the loopback Discord does not have this method");
            Refusal::wrong_method()
        }
        Unmatched::Id => Refusal::invalid("id", "NUMBER_TYPE_COERCE", "Value is not snowflake."),
    })
}

/// Returns a path with only its words and numbers, because the rest may be secret.
fn without_tokens(path: &str) -> String {
    let is_plain = |part: &str| {
        part.len() <= 32
            && (part.bytes().all(|byte| byte.is_ascii_digit())
                || part.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'@' | b'-'))
                || part == "v10"
                || part == "v9")
    };
    let parts = path.split('/').map(|part| if is_plain(part) { part } else { "{}" });
    parts.collect::<Vec<_>>().join("/")
}

/// Returns the account of the token. Answers to commands need none.
fn authenticate(
    state: &ServerContext,
    headers: &HeaderMap,
    endpoint: RestRoute,
) -> Result<Option<UserId>, Refusal> {
    if endpoint.is_interaction() || endpoint == RestRoute::GetGateway {
        return Ok(None);
    }
    let token = headers.get(AUTHORIZATION).and_then(|token| token.to_str().ok());
    let holder =
        token.filter(|token| token.starts_with("Bot ")).and_then(|token| state.holder(token));
    holder.map(Some).ok_or_else(Refusal::unauthorized)
}
