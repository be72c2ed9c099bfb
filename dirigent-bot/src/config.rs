//! The configuration as its file has it.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use dirigent::settings::Rules;
use dirigent::{AgentId, ChannelId, Mode};
use serde::Deserialize;

use crate::problem::{BadConfig, Text};
use crate::secret::Secret;

/// The whole file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BotConfig {
    pub(crate) discord: DiscordConfig,
    #[serde(default)]
    pub(crate) store: StoreConfig,
    pub(crate) page: Option<PageConfig>,
    pub(crate) front: Option<FrontConfig>,
    #[serde(default)]
    pub(crate) rules: Rules,
    #[serde(default)]
    pub(crate) agents: Vec<AgentConfig>,
    #[serde(default)]
    pub(crate) channels: Vec<ChannelConfig>,
}

/// The moderator's account.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DiscordConfig {
    pub(crate) token: Secret,
    /// A Discord on this machine, for example the program `loopback-discord`.
    pub(crate) address: Option<String>,
}

/// Where channels are kept: in memory if neither is given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoreConfig {
    pub(crate) sqlite: Option<PathBuf>,
    pub(crate) json: Option<PathBuf>,
}

/// The control page.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PageConfig {
    pub(crate) listen: SocketAddr,
    pub(crate) operators: Vec<OperatorConfig>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OperatorConfig {
    pub(crate) name: String,
    pub(crate) token: Secret,
}

/// The front, where programs ask for the turns of their agents.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FrontConfig {
    pub(crate) listen: SocketAddr,
    #[serde(default)]
    pub(crate) behind_tls: bool,
    pub(crate) hosts: Vec<HostConfig>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HostConfig {
    pub(crate) name: String,
    pub(crate) secret: Secret,
    pub(crate) agents: Vec<String>,
}

/// An agent. Its words come from a model, or from a program that asks; it posts as a persona or with an account.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentConfig {
    pub(crate) name: String,
    /// `asks`, for an agent whose words come from a program that asks the front; `observed`, for a bot that runs without asking, and
    /// `observed-openclaw`, for one of OpenClaw without the plugin.
    pub(crate) kind: Option<String>,
    pub(crate) persona: Option<PersonaConfig>,
    pub(crate) token: Option<Secret>,
    pub(crate) account: Option<Id>,
    pub(crate) model: Option<ModelConfig>,
    #[serde(default)]
    pub(crate) briefing: String,
}

impl AgentConfig {
    pub(crate) fn id(&self) -> AgentId {
        self.name.as_str().into()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PersonaConfig {
    pub(crate) name: String,
    pub(crate) avatar: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ModelConfig {
    pub(crate) url: String,
    pub(crate) name: String,
    pub(crate) key: Option<Secret>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChannelConfig {
    pub(crate) id: Id,
    /// `chat`, if it is not there.
    pub(crate) mode: Option<String>,
}

impl ChannelConfig {
    pub(crate) const fn id(&self) -> ChannelId {
        ChannelId::new(self.id.0)
    }

    pub(crate) fn mode(&self) -> Option<Mode> {
        self.mode.as_deref().map_or(Some(Mode::Chat), |mode| mode.parse().ok())
    }
}

/// An id of Discord's: a number, which stands in quotes because it is long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Id(pub(crate) u64);

impl TryFrom<String> for Id {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let id = text.parse().ok().filter(|id| *id > 0);
        id.map(Id).ok_or_else(|| {
            format!("{text:?} is no id: copy it at Discord, in Developer Mode, for example \"200000000000000009\"")
        })
    }
}

impl BotConfig {
    /// Reads a file, and the secrets that it names.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it, each with its line and its key.
    pub(crate) fn read(path: &Path) -> Result<(Self, Text), BadConfig> {
        let text = Text::read(path)?;
        let mut config = Self::parse(&text)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        for store in [&mut config.store.sqlite, &mut config.store.json].into_iter().flatten() {
            *store = folder.join(&store);
        }
        let read = |(key, secret): (String, &mut Secret)| Some((key, secret.read(folder).err()?));
        text.check(config.secrets().into_iter().filter_map(read).collect())?;
        Ok((config, text))
    }

    /// Reads a text, without the secrets.
    pub(crate) fn parse(text: &Text) -> Result<Self, BadConfig> {
        let config: Self = text.parse()?;
        text.check(crate::rules::wrong(&config))?;
        Ok(config)
    }

    /// Every secret, with the key of its place.
    pub(crate) fn secrets(&mut self) -> Vec<(String, &mut Secret)> {
        let mut all = vec![("discord.token".to_owned(), &mut self.discord.token)];
        let operators = self.page.iter_mut().flat_map(|page| &mut page.operators).enumerate();
        all.extend(
            operators.map(|(at, it)| (format!("page.operators[{at}].token"), &mut it.token)),
        );
        let hosts = self.front.iter_mut().flat_map(|front| &mut front.hosts).enumerate();
        all.extend(hosts.map(|(at, it)| (format!("front.hosts[{at}].secret"), &mut it.secret)));
        for (at, agent) in self.agents.iter_mut().enumerate() {
            all.extend(agent.token.iter_mut().map(|it| (format!("agents[{at}].token"), it)));
            let key = agent.model.iter_mut().filter_map(|model| model.key.as_mut());
            all.extend(key.map(|it| (format!("agents[{at}].model.key"), it)));
        }
        all
    }
}
