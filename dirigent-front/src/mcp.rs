//! A seat over MCP: five tools for a coding agent that waits for its turn and takes it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use dirigent::ports::{ApiError, ChatKind, ErrorKind, HistoryRequest, Identity};
use dirigent::{AgentError, AgentId, ChannelId, Reply};
use http::StatusCode;
use http::request::Parts;
use rmcp::handler::server::common::schema_for_input;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    Implementation, JsonObject, ListToolsResult, PaginatedRequestParams, ServerCapabilities,
    ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::asking::{Run, begin_in_seat, channel_id, end_in_seat};
use crate::keys::Asker;
use crate::missed::{Missed, described, missed};
use crate::parts::FrontParts;
use crate::problem::Problem;
use crate::reading::Why;

/// The longest wait of one call, because clients give up after a minute.
const WAIT_MAX: u8 = 50;
/// The interval between signs of life of an agent that waits.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// The messages in a `read` without a limit.
const READ: u8 = 30;

const INSTRUCTIONS: &str = "You sit at a table with people and other agents. Call wait_for_turn, and call it again as long as it brings no turn. \
    If it brings one, read what was said, and end the turn with say or with pass. Then wait for the next one. \
    Only say is heard: what you write elsewhere is not posted.";

/// Waits until it is your turn, and begins it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WaitForTurn {
    /// The longest wait, 1 to 50 seconds. Default: 50.
    #[serde(default)]
    seconds: Option<u8>,
}

/// Reads the newest messages of a channel.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Read {
    /// The channel, as a turn names it. You may leave it out if you sit in one channel only.
    #[serde(default)]
    channel: Option<String>,
    /// The number of messages, 1 to 100. Default: 30.
    #[serde(default)]
    limit: Option<u8>,
}

/// Posts your words, and ends your turn.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Say {
    /// The turn, as `wait_for_turn` returned it.
    turn: String,
    /// Your words, as people will read them.
    text: String,
}

/// Ends your turn without words.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Pass {
    /// The turn, as `wait_for_turn` returned it.
    turn: String,
}

/// Explains why you may, or may not, speak now.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AskWhy {
    /// The channel, as a turn names it. You may leave it out if you sit in one channel only.
    #[serde(default)]
    channel: Option<String>,
}

/// The turn that an agent waited for.
#[derive(Serialize)]
struct MyTurn {
    /// The name of the turn, for `say` and `pass`.
    turn: String,
    channel: String,
    agent: String,
    /// Who the agent is, who else is there, and that it is its turn.
    briefing: Option<String>,
    /// The messages since the agent's last turn, the oldest first.
    missed: Option<Vec<Missed>>,
}

/// The messages of a channel.
#[derive(Serialize)]
struct Messages {
    channel: String,
    messages: Vec<Missed>,
}

/// Returns the endpoint for the front's router. It keeps no sessions. The front has checked a request's secret, `Host`,
/// `Origin` and length before.
pub(crate) fn endpoint(
    front: &Arc<FrontParts>,
) -> StreamableHttpService<Table, NeverSessionManager> {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .disable_allowed_hosts();
    let table = Table { front: Arc::clone(front) };
    StreamableHttpService::new(move || Ok(table.clone()), Arc::default(), config)
}

/// The seats of the front, as tools.
#[derive(Clone)]
pub(crate) struct Table {
    front: Arc<FrontParts>,
}

impl ServerHandler for Table {
    fn get_info(&self) -> ServerConfig {
        let me = Implementation::new("dirigent", env!("CARGO_PKG_VERSION"));
        let can = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(can).with_server_info(me).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let reads = || ToolAnnotations::new().read_only(true);
        let speaks = || ToolAnnotations::new().read_only(false).destructive(false).idempotent(true);
        let tools = [
            tool::<WaitForTurn>("wait_for_turn", speaks()),
            tool::<Read>("read", reads()),
            tool::<Say>("say", speaks()),
            tool::<Pass>("pass", speaks()),
            tool::<AskWhy>("why", reads()),
        ];
        let tools = tools.into_iter().collect::<Result<_, _>>();
        Ok(ListToolsResult::with_all_items(
            tools.map_err(|what| ErrorData::internal_error(what, None))?,
        ))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let asker =
            context.extensions.get::<Parts>().and_then(|it| it.extensions.get::<Arc<Asker>>());
        let Some(asker) = asker else {
            return Err(ErrorData::internal_error("the front did not say who asks", None));
        };
        let answered = tokio::select! {
            biased;
            // The client went away, so its place is free for the next one.
            () = context.ct.cancelled() => Err(Problem::invalid("it was cancelled")),
            answered = self.answer(asker, &call.name, call.arguments.unwrap_or_default()) => answered,
        };
        Ok(match answered {
            Ok(told) => CallToolResult::structured(told),
            Err(problem) => CallToolResult::error(vec![ContentBlock::text(problem.detail)]),
        }
        .into())
    }
}

/// Describes a tool by the documentation of its arguments, so that the two agree.
fn tool<T: JsonSchema + 'static>(
    name: &'static str,
    hints: ToolAnnotations,
) -> Result<Tool, String> {
    let described = schemars::schema_for!(T);
    let about = described.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    Ok(Tool::new(name, about, schema_for_input::<T>()?).with_annotations(hints))
}

fn arguments<T: DeserializeOwned>(given: JsonObject) -> Result<T, Problem> {
    serde_json::from_value(Value::Object(given))
        .map_err(|error| Problem::invalid(error.to_string()))
}

fn told(answer: impl Serialize) -> Result<Value, Problem> {
    serde_json::to_value(answer).map_err(|error| Problem::invalid(error.to_string()))
}

impl Table {
    async fn answer(&self, asker: &Asker, tool: &str, given: JsonObject) -> Result<Value, Problem> {
        let seated: BTreeSet<_> =
            asker.agents.iter().filter(|it| self.front.seats.has(it)).cloned().collect();
        if seated.is_empty() {
            let detail = "none of your agents has a seat: give one a persona or a token of its own, so that Dirigent posts for it";
            return Err(Problem::new(StatusCode::CONFLICT, "urn:dirigent:problem:no-seat", detail));
        }
        self.beat(&seated).await;
        match tool {
            "wait_for_turn" => self.wait_for_turn(asker, &seated, arguments(given)?).await,
            "read" => self.read(&seated, arguments(given)?).await,
            "say" => {
                let Say { turn, text } = arguments(given)?;
                self.end(&seated, &turn, || Ok(Reply::text(text.clone()))).await
            }
            "pass" => {
                let Pass { turn } = arguments(given)?;
                self.end(&seated, &turn, || Ok(Reply::Pass)).await
            }
            "why" => self.why(seated, arguments(given)?).await,
            other => Err(Problem::invalid(format!("there is no tool {other:?}"))),
        }
    }

    /// Reports the agents as alive, because they call a tool. A failure is no reason to refuse the call.
    async fn beat(&self, seated: &BTreeSet<AgentId>) {
        for agent in seated {
            let _ = self.front.dirigent.heartbeat(agent).await;
        }
    }

    async fn wait_for_turn(
        &self,
        asker: &Asker,
        seated: &BTreeSet<AgentId>,
        WaitForTurn { seconds }: WaitForTurn,
    ) -> Result<Value, Problem> {
        let seconds = seconds.unwrap_or(WAIT_MAX);
        if !(1..=WAIT_MAX).contains(&seconds) {
            return Err(Problem::invalid(format!(
                "wait 1 to {WAIT_MAX} seconds, and call it again"
            )));
        }
        let _place = asker.place()?;
        let mut news = self.front.seats.news();
        let until = self.front.clock.now() + Duration::from_secs(seconds.into());
        loop {
            if let Some(turn) = self.begin(seated) {
                return told(turn);
            }
            let now = self.front.clock.now();
            if now >= until {
                return told(
                    serde_json::json!({ "turn": null, "next": "It is not your turn yet: call wait_for_turn again." }),
                );
            }
            let beat = until.min(now + HEARTBEAT);
            tokio::select! {
                _ = news.changed() => {}
                () = self.front.clock.sleep_until(beat) => self.beat(seated).await,
            }
        }
    }

    /// Begins the turn of one of these agents. A turn that has begun is returned again.
    fn begin(&self, seated: &BTreeSet<AgentId>) -> Option<MyTurn> {
        let (agent, channel, turn) = self.front.seats.turn_of(seated)?;
        let name = format!("{channel}-{}", turn.get());
        let begun =
            begin_in_seat(&self.front, &Run { agent: agent.clone(), channel, name: name.clone() })?;
        let (briefing, missed) = (begun.briefing, begun.missed);
        Some(MyTurn {
            turn: name,
            channel: channel.to_string(),
            agent: agent.to_string(),
            briefing,
            missed,
        })
    }

    /// Ends a turn. Its name says which agent has it, because only the run that began has this name.
    async fn end(
        &self,
        seated: &BTreeSet<AgentId>,
        turn: &str,
        answer: impl Fn() -> Result<Reply, AgentError>,
    ) -> Result<Value, Problem> {
        let channel = turn.rsplit_once('-').map_or(turn, |(channel, _)| channel);
        let channel = channel_id(channel)
            .map_err(|_| Problem::invalid("a turn is named as wait_for_turn named it"))?;
        for agent in seated {
            let run = Run { agent: agent.clone(), channel, name: turn.to_owned() };
            let ended = end_in_seat(&self.front, &run, answer()).await;
            if ended.accepted {
                return told(ended);
            }
        }
        let detail =
            "this turn is over, so nothing was posted: call wait_for_turn for the next one";
        Err(Problem::new(StatusCode::CONFLICT, "urn:dirigent:problem:over", detail))
    }

    async fn read(
        &self,
        seated: &BTreeSet<AgentId>,
        Read { channel, limit }: Read,
    ) -> Result<Value, Problem> {
        let limit = limit.unwrap_or(READ);
        if !(1..=100).contains(&limit) {
            return Err(Problem::invalid("read 1 to 100 messages"));
        }
        let (channel, present) = self.place(seated, channel.as_deref()).await?;
        let Some(me) = present.iter().find(|it| seated.contains(&it.agent_id)).cloned() else {
            return Err(Problem::not_here());
        };
        let request = HistoryRequest { channel, after: None, limit };
        let page = self.front.chat.history(request).await.map_err(|error| Problem::chat(&error))?;
        // An account without the permission gets an empty history.
        if page.is_empty() && self.front.chat.reads_history(channel) != Some(true) {
            return Err(Problem::chat(&ApiError::new(ErrorKind::Forbidden)));
        }
        let mut page: Vec<_> = page.into_iter().filter(|it| it.kind != ChatKind::System).collect();
        page.sort_unstable_by_key(|message| message.id);
        let messages =
            missed(&described(channel, &me, present, None), page.into_iter().map(Arc::new));
        told(Messages { channel: channel.to_string(), messages })
    }

    async fn why(
        &self,
        seated: BTreeSet<AgentId>,
        AskWhy { channel }: AskWhy,
    ) -> Result<Value, Problem> {
        let (channel, _) = self.place(&seated, channel.as_deref()).await?;
        let mut all = serde_json::Map::new();
        for agent in seated {
            let why = self.front.explained(agent.clone(), channel).await?;
            all.insert(agent.to_string(), told(Why { allowed: why.allows, text: why.text })?);
        }
        Ok(Value::Object(all))
    }

    /// Returns a channel with the agents in it: the one with this name, or the only one with one of these agents.
    async fn place(
        &self,
        seated: &BTreeSet<AgentId>,
        channel: Option<&str>,
    ) -> Result<(ChannelId, Vec<Identity>), Problem> {
        let channels = match channel {
            Some(channel) => vec![channel_id(channel)?],
            None => self.front.dirigent.channels(),
        };
        let mut found = Vec::new();
        for channel in channels {
            let present = self.front.agents_in(channel).await?;
            if present.iter().any(|it| seated.contains(&it.agent_id)) {
                found.push((channel, present));
            }
        }
        match (found.pop(), &*found) {
            (Some(only), []) => Ok(only),
            (None, _) => Err(Problem::not_here()),
            (Some((last, _)), others) => {
                let names = others.iter().map(|(channel, _)| channel).chain([&last]);
                let names: Vec<_> = names.map(ToString::to_string).collect();
                Err(Problem::invalid(format!("say which channel: {}", names.join(", "))))
            }
        }
    }
}
