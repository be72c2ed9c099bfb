//! The configuration as its file has it.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use dirigent::settings::{LostRuns, ObservedBot, Rules};
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
    pub(crate) cluster: Option<ClusterConfig>,
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

/// The store of the channels. Without a key it is memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoreConfig {
    pub(crate) sqlite: Option<PathBuf>,
    pub(crate) json: Option<PathBuf>,
    /// The address of a database that several processes may share.
    pub(crate) postgres: Option<Secret>,
}

/// Several processes that share a database: the name of this one, and its way to the others.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClusterConfig {
    #[serde(default = "dirigent")]
    pub(crate) name: String,
    /// No secret, but read like one, because all processes have one file and each has another name.
    pub(crate) process: Secret,
    pub(crate) nats: String,
    pub(crate) password: Option<Secret>,
    pub(crate) certificate: Option<PathBuf>,
    pub(crate) secret: Secret,
}

fn dirigent() -> String {
    "dirigent".to_owned()
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

/// An agent. A model, or a program that asks, has its words. It posts as a persona or with an account.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentConfig {
    pub(crate) name: String,
    /// `asks` if a program asks the front for it; `observed` for a bot that runs without asking; `observed-openclaw`
    /// for such a bot of OpenClaw without the plugin.
    pub(crate) kind: Option<String>,
    pub(crate) observed: Option<ObservedConfig>,
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

    /// Returns how to observe the agent, if it runs without asking.
    pub(crate) fn observed(&self) -> Option<ObservedBot> {
        let usual = match self.kind.as_deref()? {
            "observed" => ObservedBot::default(),
            "observed-openclaw" => ObservedBot::open_claw(),
            _ => return None,
        };
        let keys = self.observed.as_ref().and_then(|it| it.over(usual.clone()).ok());
        Some(keys.unwrap_or(usual))
    }
}

/// The settings that differ from those of its kind of bot.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "toml::Table")]
pub(crate) struct ObservedConfig(toml::Table);

impl ObservedConfig {
    fn over(&self, usual: ObservedBot) -> Result<ObservedBot, toml::de::Error> {
        usual.read_over(self.0.clone())
    }
}

impl TryFrom<toml::Table> for ObservedConfig {
    type Error = String;

    fn try_from(keys: toml::Table) -> Result<Self, String> {
        let config = Self(keys);
        let bot =
            config.over(ObservedBot::default()).map_err(|error| error.message().to_owned())?;
        if bot.silent_after.is_zero() {
            return Err(
                "silent_after: each of its turns would be over at once: write \"15s\"".to_owned()
            );
        }
        Ok(config)
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
    /// `chat`, if it is missing.
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

/// A Discord id: a number in quotes, because it is long.
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
    /// Everything that is wrong with the file, each with its line and its key.
    pub(crate) fn read(path: &Path) -> Result<(Self, Text), BadConfig> {
        let text = Text::read(path)?;
        let mut config = Self::parse(&text)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let certificate = config.cluster.iter_mut().filter_map(|it| it.certificate.as_mut());
        let store = [&mut config.store.sqlite, &mut config.store.json].into_iter().flatten();
        for path in store.chain(certificate) {
            *path = folder.join(&path);
        }
        let read = |(key, secret): (String, &mut Secret)| Some((key, secret.read(folder).err()?));
        text.check(config.secrets().into_iter().filter_map(read).collect())?;
        Ok((config, text))
    }

    /// Reads a text, without the secrets.
    pub(crate) fn parse(text: &Text) -> Result<Self, BadConfig> {
        let mut config: Self = text.parse()?;
        if config.front.is_some() {
            config.expect_askers(text);
        }
        text.check(crate::rules::wrong(&config))?;
        Ok(config)
    }

    /// Sets what the file leaves out, because programs that ask come and go, and outlive a restart of this one.
    fn expect_askers(&mut self, text: &Text) {
        let Rules { config, settings } = &mut self.rules;
        if !text.has("rules.hooks.lost_runs") {
            settings.hooks.lost_runs = LostRuns::Keep;
        }
        if !text.has("rules.order.auto_requeue") {
            config.order.auto_requeue = true;
        }
    }

    /// Returns every secret with its key.
    pub(crate) fn secrets(&mut self) -> Vec<(String, &mut Secret)> {
        let mut all = vec![("discord.token".to_owned(), &mut self.discord.token)];
        all.extend(self.store.postgres.iter_mut().map(|it| ("store.postgres".to_owned(), it)));
        if let Some(ClusterConfig { process, password, secret, .. }) = &mut self.cluster {
            all.extend([
                ("cluster.process".to_owned(), process),
                ("cluster.secret".to_owned(), secret),
            ]);
            all.extend(password.iter_mut().map(|it| ("cluster.password".to_owned(), it)));
        }
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn parsed(more: &str) -> BotConfig {
        let text = format!("[discord]\ntoken = {{ env = \"T\" }}\n{more}");
        BotConfig::parse(&Text::new("dirigent.toml", text)).unwrap()
    }

    const FRONT: &str = "[front]\nlisten = \"127.0.0.1:0\"\nhosts = []\n";

    #[test]
    fn with_a_front_the_rules_expect_askers_but_for_what_the_file_says() {
        let chosen = |config: &BotConfig| {
            let hooks = &config.rules.settings.hooks;
            (hooks.lost_runs, config.rules.config.order.auto_requeue)
        };
        assert_eq!(chosen(&parsed("")), (LostRuns::Skip, false));
        assert_eq!(chosen(&parsed(FRONT)), (LostRuns::Keep, true));
        let says = "[rules]\nhooks.lost_runs = \"skip\"\norder = { auto_requeue = false }";
        let says = parsed(&format!("{FRONT}{says}"));
        assert_eq!(chosen(&says), (LostRuns::Skip, false));
    }

    #[test]
    fn an_observed_bot_is_as_its_kind_but_for_the_keys_that_are_written() {
        let observed = |kind: &str, keys: &str| {
            let agent = format!(
                "[[agents]]\nname = \"helper\"\nkind = \"{kind}\"\naccount = \"7\"\n{keys}"
            );
            parsed(&agent).agents.remove(0).observed().unwrap()
        };
        assert_eq!(observed("observed", ""), ObservedBot::default());
        let keys = "observed = { silent_after = \"20s\", answers_people_within = \"1s\", trigger_stays = \"2s\", removes = true,\n\
             pass_words = [\"-\"], notices = [\"Error*\"], remedy = \"Let it be.\" }";
        let expected = |usual: ObservedBot| {
            usual.with(|bot| {
                bot.silent_after = Duration::from_secs(20);
                bot.answers_people_within = Duration::from_secs(1);
                bot.trigger_stays = Duration::from_secs(2);
                bot.removes = true;
                bot.pass_words = vec!["-".to_owned()];
                bot.notices = vec!["Error*".to_owned()];
                bot.remedy = "Let it be.".to_owned();
            })
        };
        assert_eq!(observed("observed", &keys.replace('\n', "")), expected(ObservedBot::default()));
        let some = observed("observed-openclaw", "observed = { removes = true }");
        assert_eq!(some, ObservedBot::open_claw().with(|bot| bot.removes = true));
    }
}
