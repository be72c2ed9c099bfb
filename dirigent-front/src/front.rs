//! The front and its builder.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use axum::middleware::from_fn_with_state;
use axum::routing::get;
use axum::{Json, Router};
use dirigent::ports::GuildApi;
use dirigent::tools::Tools;
use dirigent::{AgentId, Clock, Dirigent, SystemClock};
use http::StatusCode;
use utoipa::OpenApi as _;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::door::door;
use crate::keys::{Asker, Keys, SECRET_MIN};
use crate::missed::Given;
use crate::parts::FrontParts;
use crate::problem::Problem;
use crate::seats::Seats;
use crate::{asking, reading, tool_calls, turns};

/// Answers programs that ask for the turns of their agents. Clones share it.
///
/// A request carries its program's secret: `Authorization: Bearer NAME.SECRET`. A program asks for its own agents only,
/// and reads only channels that one of them is in.
#[derive(Clone)]
pub struct Front {
    shared: Arc<FrontParts>,
}

/// Builds a [`Front`].
pub struct FrontBuilder {
    front: FrontParts,
    wrong: Option<FrontError>,
}

/// The reason why a [`Front`] cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FrontError {
    /// There is no host, so no program could ask.
    #[error("no host is known: give at least one with `host`")]
    NoHost,
    /// Such a name cannot stand before the dot in a header.
    #[error("{0:?} is no name of a host: take 1 to 32 of a-z, 0-9, - and _")]
    BadName(String),
    /// An attacker could guess the secret.
    #[error(
        "the secret of {0:?} has fewer than 16 bytes: take 32 random ones, for example from `openssl rand -hex 32`"
    )]
    WeakSecret(String),
    /// Two programs would take turns for one agent. Bind it to one of them.
    #[error("{agent} is bound to {first:?} and to {second:?}: one program speaks for it")]
    BoundTwice {
        /// The agent.
        agent: AgentId,
        /// The host that had it first.
        first: String,
        /// The other host.
        second: String,
    },
}

impl Front {
    /// Creates a builder. `chat` is the moderator's account, because it knows a channel's members and messages.
    pub fn builder(dirigent: Dirigent, chat: Arc<dyn GuildApi>) -> FrontBuilder {
        let tools = Tools::new(dirigent.clone(), Arc::clone(&chat));
        let front = FrontParts {
            dirigent,
            chat,
            tools,
            seats: Seats::new(),
            keys: Keys::default(),
            given: Given::default(),
            clock: Arc::new(SystemClock::new()),
            names: Vec::new(),
            is_behind_tls: false,
        };
        FrontBuilder { front, wrong: None }
    }

    /// Replaces all secrets of a host at once. To change a secret without a pause, first set the old and the new one.
    /// Then give the program the new one, and set the new one alone. Returns `false` if there is no such host.
    ///
    /// # Errors
    ///
    /// [`FrontError::WeakSecret`] if one of them has fewer than 16 bytes. Then no secret changes.
    pub fn set_secrets(&self, host: &str, secrets: &[&str]) -> Result<bool, FrontError> {
        if secrets.iter().any(|secret| secret.len() < SECRET_MIN) {
            return Err(FrontError::WeakSecret(host.to_owned()));
        }
        let asker = self.shared.keys.askers.get(host);
        if let Some(asker) = asker {
            asker.set_secrets(secrets.iter().copied());
        }
        Ok(asker.is_some())
    }

    /// Returns how many requests had a wrong secret since the start, by the name of the host. Those with an
    /// unknown name stand under the empty one.
    pub fn failed_secrets(&self) -> BTreeMap<String, u64> {
        self.shared.keys.failed()
    }

    /// Returns whether the front may listen at this address. Beyond this machine it needs TLS.
    pub(crate) fn may_listen_at(&self, address: IpAddr) -> bool {
        address.is_loopback() || self.shared.is_behind_tls
    }

    /// Returns the clock of all limits.
    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        &self.shared.clock
    }

    /// Returns the router for a server of yours: all paths below `/v1`, and `/mcp` with the feature `mcp`. It checks
    /// the secret, the `Host` and the `Origin` of each request. TLS is your server's part.
    pub fn router(&self) -> Router {
        let (api, document) = OpenApiRouter::with_openapi(Document::openapi())
            .routes(routes!(asking::begin))
            .routes(routes!(asking::end))
            .routes(routes!(asking::say))
            .routes(routes!(asking::heartbeat))
            .routes(routes!(turns::turns))
            .routes(routes!(reading::why))
            .routes(routes!(reading::state))
            .routes(routes!(tool_calls::tools))
            .routes(routes!(tool_calls::use_tool))
            .split_for_parts();
        let document = Arc::new(document);
        let told = move || async move { Json((*document).clone()) };
        let router = Router::new().nest("/v1", api.route("/openapi.json", get(told)));
        #[cfg(feature = "mcp")]
        let router = router.route_service("/mcp", crate::mcp::endpoint(&self.shared));
        router
            .fallback(nowhere)
            .layer(from_fn_with_state(Arc::clone(&self.shared), door))
            .with_state(Arc::clone(&self.shared))
    }
}

async fn nowhere() -> Problem {
    let detail = "there is no such request: see /v1/openapi.json";
    Problem::new(StatusCode::NOT_FOUND, "urn:dirigent:problem:not-found", detail)
}

/// The description of all requests, made from their code.
#[derive(utoipa::OpenApi)]
#[openapi(
    info(title = "Dirigent's front", description = "Agents in any language ask for their turns. Stay silent unless an answer says `allowed: true`."),
    servers((url = "/v1")),
    modifiers(&Bearer),
    security(("bearer" = []))
)]
struct Document;

struct Bearer;

impl utoipa::Modify for Bearer {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
        let components = document.components.get_or_insert_default();
        let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        components.add_security_scheme("bearer", scheme);
    }
}

impl FrontBuilder {
    /// Adds a host: a program that asks for these agents, with its secret. If you add a name again, the host has both
    /// secrets and all the agents.
    #[must_use]
    pub fn host<A: Into<AgentId>>(
        mut self,
        name: &str,
        secret: &str,
        agents: impl IntoIterator<Item = A>,
    ) -> Self {
        let is_sign =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
        if !(1..=32).contains(&name.len()) || !name.bytes().all(is_sign) {
            self.wrong.get_or_insert(FrontError::BadName(name.to_owned()));
            return self;
        }
        if secret.len() < SECRET_MIN {
            self.wrong.get_or_insert(FrontError::WeakSecret(name.to_owned()));
            return self;
        }
        let askers = &mut self.front.keys.askers;
        let agents: Vec<AgentId> = agents.into_iter().map(Into::into).collect();
        for other in askers.values().filter(|other| other.name != name) {
            if let Some(agent) = agents.iter().find(|agent| other.agents.contains(*agent)) {
                self.wrong.get_or_insert(FrontError::BoundTwice {
                    agent: agent.clone(),
                    first: other.name.clone(),
                    second: name.to_owned(),
                });
                return self;
            }
        }
        let mut asker = askers.remove(name).and_then(Arc::into_inner);
        let known = asker.get_or_insert_with(|| Asker::new(name.to_owned()));
        known.add_secret(secret);
        known.agents.extend(agents);
        askers.extend(asker.map(|asker| (name.to_owned(), Arc::new(asker))));
        self
    }

    /// Sets the seats of agents without a bot. Default: none.
    #[must_use]
    pub fn seats(mut self, seats: Seats) -> Self {
        self.front.seats = seats;
        self
    }

    /// Sets the clock. Default: the system's.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.front.clock = clock;
        self
    }

    /// Adds a name of the front, for example `front.example.org`. A request to another name is refused, because a web
    /// page could have sent it. You need not add the names of this machine.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.front.names.push(name.into());
        self
    }

    /// Declares that TLS ends before the front, so that [`Front::serve`] may listen beyond this machine. Without it
    /// that is refused, because secrets would cross the network in plain text.
    #[must_use]
    pub const fn behind_tls(mut self) -> Self {
        self.front.is_behind_tls = true;
        self
    }

    /// Builds the front.
    ///
    /// # Errors
    ///
    /// The first error, in the order of your calls.
    pub fn build(self) -> Result<Front, FrontError> {
        match self.wrong {
            Some(wrong) => Err(wrong),
            None if self.front.keys.askers.is_empty() => Err(FrontError::NoHost),
            None => Ok(Front { shared: Arc::new(self.front) }),
        }
    }
}

impl fmt::Debug for Front {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Front")
            .field("hosts", &self.shared.keys.askers.keys())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for FrontBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrontBuilder").finish_non_exhaustive()
    }
}
