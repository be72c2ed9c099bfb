//! Checks of a configuration beyond its form.

use std::collections::HashSet;

use dirigent::Mode;

use crate::config::{AgentConfig, BotConfig};

const MODEL: &str = "write model = { url = \"http://127.0.0.1:11434/v1\", name = \"qwen3:8b\" }";
const PERSONA: &str = "persona = { name = \"Critic\" }";
const TOKEN: &str = "token = { env = \"NAME\" }";
const ADDRESS: &str = "this is for a Discord on this machine, without TLS: write \"http://127.0.0.1:8120\", \
    or take the key away to reach Discord itself";
const OPERATORS: &str = "no one could sign in: write operators = [{ name = \"ada\", token = { file = \"ada.token\" } }]";
const PLAIN: &str = "secrets would cross the network in plain text: write \"127.0.0.1:8131\", \
    or behind_tls = true if TLS ends before it";
const POSTGRES: &str =
    "several processes share a database: write [store] and postgres = { env = \"DATABASE_URL\" }";
const NAME: &str = "an agent's name is one line that people can see: write name = \"critic\"";

/// The errors so far, each with its key.
#[derive(Default)]
struct Found(Vec<(String, String)>);

impl Found {
    fn add(&mut self, is_wrong: bool, key: impl Into<String>, what: impl Into<String>) {
        if is_wrong {
            self.0.push((key.into(), what.into()));
        }
    }
}

/// Returns everything that is wrong, each with its key.
pub(crate) fn wrong(config: &BotConfig) -> Vec<(String, String)> {
    let BotConfig { discord, store, cluster, page, front, agents, channels, .. } = config;
    let mut found = Found::default();
    let is_tls = discord.address.as_ref().is_some_and(|it| !it.starts_with("http://"));
    found.add(is_tls, "discord.address", ADDRESS);
    let stores = [store.sqlite.is_some(), store.json.is_some(), store.postgres.is_some()];
    let has_two = stores.into_iter().filter(|has| *has).count() > 1;
    found.add(has_two, "store", "there is one store: write sqlite, json or postgres");
    found.add(cluster.is_some() && store.postgres.is_none(), "cluster", POSTGRES);
    let hosts: Vec<_> = front.iter().flat_map(|front| &front.hosts).collect();
    let mut names = HashSet::new();
    for (at, agent) in agents.iter().enumerate() {
        let (name, key) = (&agent.name, |key: &str| format!("agents[{at}]{key}"));
        let is_no_name = name.trim() != name || name.is_empty() || name.contains(char::is_control);
        found.add(is_no_name, key(".name"), NAME);
        let twice = format!("an agent before it is called {name:?}, too: give each its own name");
        found.add(!names.insert(name), key(".name"), twice);
        if let Err((of, what)) = shape(agent) {
            found.add(true, key(of), what);
        }
        if let Some(url) = agent.model.as_ref().map(|model| &model.url) {
            let what = format!("{url:?} is no address: write \"http://127.0.0.1:11434/v1\"");
            found.add(!url.starts_with("http"), key(".model.url"), what);
        }
        let is_bound = hosts.iter().any(|host| host.agents.contains(name));
        let what =
            format!("no program may ask for {name:?}: name it in the agents of a host of [front]");
        found.add(agent.kind.as_deref() == Some("asks") && !is_bound, key(".kind"), what);
    }
    for (at, host) in hosts.iter().enumerate() {
        for name in host.agents.iter().filter(|name| !names.contains(name)) {
            let what = format!("there is no agent {name:?}: add [[agents]] with name = {name:?}");
            found.add(true, format!("front.hosts[{at}].agents"), what);
        }
    }
    let has_no_operator = page.as_ref().is_some_and(|page| page.operators.is_empty());
    found.add(has_no_operator, "page.operators", OPERATORS);
    if let Some(front) = front {
        found.add(!front.listen.ip().is_loopback() && !front.behind_tls, "front.listen", PLAIN);
        let is_taken = page.as_ref().is_some_and(|page| page.listen == front.listen);
        let what = "the page listens there: give the front another port";
        found.add(is_taken && front.listen.port() != 0, "front.listen", what);
    }
    let mut ids = HashSet::new();
    for (at, channel) in channels.iter().enumerate() {
        let what = "a channel before it has this id, too: write each channel once";
        found.add(!ids.insert(channel.id()), format!("channels[{at}].id"), what);
        let is_mode = matches!(channel.mode(), Some(Mode::None | Mode::Chat | Mode::Report));
        let mode = channel.mode.as_deref().unwrap_or_default();
        let what =
            format!("there is no mode {mode:?} to give: write \"chat\", \"report\" or \"none\"");
        found.add(!is_mode, format!("channels[{at}].mode"), what);
    }
    found.0
}

/// Checks that an agent's keys say who speaks for it, and the account that posts.
fn shape(agent: &AgentConfig) -> Result<(), (&'static str, String)> {
    let faces = [agent.persona.is_some(), agent.token.is_some(), agent.account.is_some()];
    let faces = faces.into_iter().filter(|has| *has).count();
    Err(match (agent.kind.as_deref(), faces, &agent.model) {
        (Some("observed" | "observed-openclaw"), ..) if agent.account.is_none() => (
            ".kind",
            "an observed bot has an account of its own: write account = \"ID\" of that bot"
                .to_owned(),
        ),
        _ if agent.observed.is_some() && agent.observed().is_none() => (
            ".observed",
            "an observed bot alone has this key: write kind = \"observed\", or take it away"
                .to_owned(),
        ),
        (Some(other), ..) if !matches!(other, "asks" | "observed" | "observed-openclaw") => (
            ".kind",
            format!(
                "there is no kind {other:?}: write \"asks\", \"observed\", \"observed-openclaw\", or none and a model"
            ),
        ),
        (Some(_), 0, _) => {
            ("", format!("it has no account: write account = \"ID\" of its bot, or {PERSONA}"))
        }
        (None, 0, _) => ("", format!("it has no account: write {PERSONA}, or {TOKEN}")),
        (_, 2.., _) => {
            ("", "it has more than one account: keep one of persona, token and account".to_owned())
        }
        (Some(_), _, Some(_)) => (
            ".model",
            "an agent that asks has a model of its own: take model away, or kind".to_owned(),
        ),
        (None, _, None) => ("", format!("nothing speaks for it: {MODEL}, or kind = \"asks\"")),
        (None, _, Some(_)) if agent.account.is_some() => (
            ".account",
            format!("Dirigent posts for an agent with a model: write {TOKEN}, or {PERSONA}"),
        ),
        _ => return Ok(()),
    })
}
