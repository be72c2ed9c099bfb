//! The configuration: the object `orchestrator` of your configuration file.

mod error;

use std::fs;
use std::io::Read as _;
use std::num::{NonZeroU16, NonZeroU32, NonZeroU64};
use std::path::Path;
use std::time::Duration;

use json_comments::CommentSettings;
use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

pub use error::OrchestratorConfigError;

/// The settings of the orchestrator, which are the object `orchestrator` in JSON. Every field has a default, and an
/// unknown field is an error. If the specification calls a field optional, `null` means its default. The file may
/// contain comments (`//` and `/* */`).
///
/// ```
/// use dirigent_delegate::config::OrchestratorConfig;
///
/// let file = r#"{
///   // The fast one decides.
///   "orchestrator": { "enabled": true, "model": "openai/gpt-5-mini", "maxParallelAgents": 2 }
/// }"#;
/// let config = OrchestratorConfig::from_document(file)?;
/// assert!(config.enabled && config.parallel_execution);
/// assert_eq!(config.max_parallel_agents.get(), 2);
/// assert_eq!(config.agents.opencode.binary, "opencode");
///
/// let wrong = r#"{ "orchestrator": { "agents": { "opencode": { "timeoutMs": 0 } } } }"#;
/// let error = OrchestratorConfig::from_document(wrong).unwrap_err();
/// assert_eq!(error.field(), "orchestrator.agents.opencode.timeoutMs");
/// # Ok::<(), dirigent_delegate::config::OrchestratorConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct OrchestratorConfig {
    /// Sends messages to the routing model if true. If false, which is the default, they go unchanged to the default
    /// agent.
    pub enabled: bool,
    /// The routing model, as `provider/model`. It does not change the agents' models. Default
    /// `google-gemini-cli/gemini-3-flash-preview`.
    #[schemars(length(min = 1))]
    pub model: String,
    /// The models to ask, in this order, if the one before fails. Default none.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<Names>")]
    pub fallbacks: Vec<String>,
    /// The agents that can get work.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<AgentsConfig>")]
    pub agents: AgentsConfig,
    /// Runs the delegations of a message at the same time if true, which is the default. Otherwise they run one after
    /// the other, in the order of the calls.
    #[serde(deserialize_with = "parallel_execution")]
    #[schemars(with = "Option<bool>")]
    pub parallel_execution: bool,
    /// The most delegations that run at the same time, counted over all messages of a [`Router`](crate::Router). Others
    /// wait. Default 3.
    #[serde(deserialize_with = "max_parallel_agents")]
    #[schemars(with = "Option<NonZeroU32>")]
    pub max_parallel_agents: NonZeroU32,
}

/// The agents that the configuration knows.
///
/// ```
/// use dirigent_delegate::config::{AgentsConfig, OpencodeMode};
/// assert_eq!(AgentsConfig::default().opencode.mode, OpencodeMode::Cli);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct AgentsConfig {
    /// The coding agent, opencode.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<OpenCodeConfig>")]
    pub opencode: OpenCodeConfig,
    /// The search agent.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<ResearchConfig>")]
    pub research: ResearchConfig,
    /// Your own agent.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<EmbeddedConfig>")]
    pub embedded: EmbeddedConfig,
}

/// Settings of the coding agent, opencode.
///
/// ```
/// use dirigent_delegate::config::OpenCodeConfig;
/// use std::time::Duration;
/// assert_eq!(OpenCodeConfig::default().timeout(), Duration::from_secs(300));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct OpenCodeConfig {
    /// Lets the routing model delegate to opencode. Default true.
    pub enabled: bool,
    /// The model that opencode uses, as `provider/model`. By default opencode chooses.
    #[schemars(length(min = 1))]
    pub model: Option<String>,
    /// Runs each delegation as a process, or in a session of a server. Default `cli`.
    pub mode: OpencodeMode,
    /// The program. Default `opencode`, which is looked up in `PATH`.
    #[serde(deserialize_with = "binary")]
    #[schemars(with = "Option<String>", length(min = 1))]
    pub binary: String,
    /// The longest time of a delegation, in milliseconds. Default 300,000.
    #[serde(deserialize_with = "timeout_ms")]
    #[schemars(with = "Option<NonZeroU64>")]
    pub timeout_ms: NonZeroU64,
    /// The port of `opencode serve`. By default a free one is taken.
    pub serve_port: Option<NonZeroU16>,
}

/// The mode of opencode: one process for each task, or a server.
///
/// ```
/// use dirigent_delegate::config::OpencodeMode;
/// assert_eq!(serde_json::to_string(&OpencodeMode::Serve)?, "\"serve\"");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(clippy::exhaustive_enums, reason = "the two that the configuration knows")]
pub enum OpencodeMode {
    /// A process for each delegation: `opencode run`.
    #[default]
    Cli,
    /// One server with a session for each of your sessions: `opencode serve`.
    Serve,
}

/// Settings of the search agent.
///
/// ```
/// assert!(dirigent_delegate::config::ResearchConfig::default().enabled);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ResearchConfig {
    /// Lets the routing model delegate to this agent. Default true.
    pub enabled: bool,
    /// The agent's model, as `provider/model`. By default the agent chooses.
    #[schemars(length(min = 1))]
    pub model: Option<String>,
}

/// Settings of your own agent.
///
/// ```
/// assert_eq!(dirigent_delegate::config::EmbeddedConfig::default().model, None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct EmbeddedConfig {
    /// Lets the routing model delegate to this agent. Default true.
    pub enabled: bool,
    /// The agent's model, as `provider/model`. With null, the default, it is your default model.
    #[schemars(length(min = 1))]
    pub model: Option<String>,
}

/// The default routing model.
const MODEL: &str = "google-gemini-cli/gemini-3-flash-preview";
/// The default limit of opencode: five minutes.
const OPENCODE_MS: NonZeroU64 = NonZeroU64::new(300_000).unwrap();
/// The default number of delegations at once.
const PARALLEL: NonZeroU32 = NonZeroU32::new(3).unwrap();
/// The default program of opencode.
const BINARY: &str = "opencode";

impl Default for OrchestratorConfig {
    fn default() -> Self {
        Self {
            enabled: false,
            model: MODEL.to_owned(),
            fallbacks: Vec::new(),
            agents: AgentsConfig::default(),
            parallel_execution: true,
            max_parallel_agents: PARALLEL,
        }
    }
}

impl Default for OpenCodeConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            model: None,
            mode: OpencodeMode::default(),
            binary: BINARY.to_owned(),
            timeout_ms: OPENCODE_MS,
            serve_port: None,
        }
    }
}

impl Default for ResearchConfig {
    fn default() -> Self {
        Self { enabled: true, model: None }
    }
}

impl Default for EmbeddedConfig {
    fn default() -> Self {
        Self { enabled: true, model: None }
    }
}

impl OpenCodeConfig {
    /// Returns the longest time of a delegation.
    pub const fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms.get())
    }
}

/// A list of names that are not empty, in the schema.
#[derive(JsonSchema)]
#[schemars(inline)]
struct Names(
    #[expect(dead_code, reason = "the schema needs its type")]
    #[schemars(inner(length(min = 1)))]
    Vec<String>,
);

/// Reads a field that may be `null`. That means the same as leaving it out.
fn or<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D, usual: T) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(usual))
}

fn null_is_default<'de, D: Deserializer<'de>, T>(from: D) -> Result<T, D::Error>
where
    T: Default + Deserialize<'de>,
{
    or(from, T::default())
}

fn parallel_execution<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    or(from, true)
}

fn max_parallel_agents<'de, D: Deserializer<'de>>(from: D) -> Result<NonZeroU32, D::Error> {
    or(from, PARALLEL)
}

fn binary<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    or(from, BINARY.to_owned())
}

fn timeout_ms<'de, D: Deserializer<'de>>(from: D) -> Result<NonZeroU64, D::Error> {
    or(from, OPENCODE_MS)
}

/// Returns the document with spaces in place of comments. Line breaks stay, so that errors name the right line.
fn without_comments(json: &str) -> Result<Vec<u8>, OrchestratorConfigError> {
    let mut stripped = Vec::with_capacity(json.len());
    let mut reading = CommentSettings::c_style().strip_comments(json.as_bytes());
    reading.read_to_end(&mut stripped).map_err(|_| {
        OrchestratorConfigError::new(
            "",
            "a comment or a text does not end, or a `/` begins no comment",
        )
    })?;
    for (byte, original) in stripped.iter_mut().zip(json.bytes()) {
        if original == b'\n' {
            *byte = original;
        }
    }
    Ok(stripped)
}

/// The part of the configuration file that is read here.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Document {
    #[serde(deserialize_with = "null_is_default")]
    orchestrator: OrchestratorConfig,
}

/// Places that must hold an object if they are set. Otherwise a list would be read as an object without names.
const OBJECTS: [&str; 6] = [
    "",
    "/orchestrator",
    "/orchestrator/agents",
    "/orchestrator/agents/opencode",
    "/orchestrator/agents/research",
    "/orchestrator/agents/embedded",
];

impl OrchestratorConfig {
    /// Returns the default configuration with your changes.
    ///
    /// ```
    /// use dirigent_delegate::config::OrchestratorConfig;
    /// let config = OrchestratorConfig::new(|config| config.enabled = true);
    /// assert!(config.enabled);
    /// ```
    pub fn new(change: impl FnOnce(&mut Self)) -> Self {
        let mut config = Self::default();
        change(&mut config);
        config
    }

    /// Reads a configuration file like [`from_document`](Self::from_document).
    ///
    /// # Errors
    ///
    /// Returns an error that names the file if it cannot be read, or if a field is wrong or unknown. A file with an
    /// error changes no setting.
    ///
    /// ```
    /// use dirigent_delegate::config::OrchestratorConfig;
    /// let error = OrchestratorConfig::from_file("no/moltbot.json").unwrap_err();
    /// assert!(error.to_string().starts_with("no/moltbot.json: "));
    /// ```
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, OrchestratorConfigError> {
        let path = path.as_ref();
        let config = match fs::read_to_string(path) {
            Ok(json) => Self::from_document(&json),
            Err(error) => Err(OrchestratorConfigError::new("", error.to_string())),
        };
        config.map_err(|error| error.in_file(path))
    }

    /// Reads the object `orchestrator` of a configuration file, and ignores the file's other fields. Without that
    /// object you get the defaults, so the orchestrator is off. Comments (`//` and `/* */`) are skipped.
    ///
    /// # Errors
    ///
    /// Returns the first field that is wrong or unknown. A file with an error changes no setting.
    pub fn from_document(json: &str) -> Result<Self, OrchestratorConfigError> {
        // Some editors begin a file with a mark of its encoding.
        let json = json.strip_prefix('\u{feff}').unwrap_or(json);
        let json = without_comments(json)?;
        let json: Value = serde_json::from_slice(&json)
            .map_err(|error| OrchestratorConfigError::new("", error.to_string()))?;
        for place in OBJECTS {
            if json.pointer(place).is_some_and(Value::is_array) {
                let field = place.trim_start_matches('/').replace('/', ".");
                return Err(OrchestratorConfigError::new(field, "must be an object"));
            }
        }
        let document: Document =
            serde_path_to_error::deserialize(json).map_err(OrchestratorConfigError::read)?;
        document.orchestrator.check()?;
        Ok(document.orchestrator)
    }

    /// Checks what the types cannot: that no name is empty.
    ///
    /// # Errors
    ///
    /// Returns the first field that is wrong.
    pub fn check(&self) -> Result<(), OrchestratorConfigError> {
        let AgentsConfig { opencode, research, embedded } = &self.agents;
        let named = [
            ("model", Some(&self.model)),
            ("agents.opencode.model", opencode.model.as_ref()),
            ("agents.opencode.binary", Some(&opencode.binary)),
            ("agents.research.model", research.model.as_ref()),
            ("agents.embedded.model", embedded.model.as_ref()),
        ];
        let named = named.into_iter().map(|(field, name)| (field.to_owned(), name));
        let fallbacks = self.fallbacks.iter().enumerate();
        let fallbacks = fallbacks.map(|(at, name)| (format!("fallbacks[{at}]"), Some(name)));
        let is_empty = |name: Option<&String>| name.is_some_and(|name| name.trim().is_empty());
        match named.chain(fallbacks).find(|(_, name)| is_empty(*name)) {
            Some((field, _)) => Err(OrchestratorConfigError::new(
                format!("orchestrator.{field}"),
                "must not be empty",
            )),
            None => Ok(()),
        }
    }

    /// Returns the JSON schema of the object `orchestrator`, for editors and for checks of a configuration file.
    ///
    /// ```
    /// let schema = dirigent_delegate::config::OrchestratorConfig::json_schema();
    /// assert_eq!(schema["properties"]["maxParallelAgents"]["minimum"], 1);
    /// ```
    pub fn json_schema() -> Value {
        schema_for!(Self).to_value()
    }
}
