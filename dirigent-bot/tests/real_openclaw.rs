//! The real OpenClaw at one table, with the plugin of `plugins/openclaw` and without, at a scripted model. `.ci/openclaw` installs
//! OpenClaw and runs these; `DIRIGENT_OPENCLAW` is the folder that has its `node_modules`, and `DIRIGENT_TURNS` the number of turns
//! with the plugin.

use std::collections::HashSet;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::ports::{GuildId, Timestamp};
use dirigent::{ChannelId, Clock, SystemClock, UserId};
use dirigent_llm::script::{LoopbackLlm, ScriptedAnswer};
use dirigent_loopback::LoopbackDiscord;
use dirigent_testkit::MemoryDiscord;
use dirigent_testkit::memory_discord::Event;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Command;

use crate::stage::{PROGRAM, Program, SECRET, within};

const AGENTS: [&str; 3] = ["developer", "reviewer", "tester"];
/// The longest wait for the next sign. OpenClaw starts for a minute on a busy machine, and a turn takes seconds there.
const PATIENCE: Duration = Duration::from_secs(200);
/// With these words OpenClaw itself speaks.
const NOTICES: [&str; 2] =
    ["⚠️ Agent couldn't generate", "I'm continuing your interrupted request"];
/// Longer than a reply under way takes.
const SURELY: Duration = Duration::from_secs(8);

/// What was heard from outside, with the agent's number.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Heard {
    /// The moderator posted the agent's trigger.
    Called(usize),
    /// Its model was asked.
    Asked(usize),
    Said(usize, String),
}

/// How the agents take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    WithPlugin,
    Observed,
}

/// A table of three agents of one OpenClaw, in a Discord on this machine.
struct Evening {
    kind: Kind,
    discord: MemoryDiscord,
    server: LoopbackDiscord,
    guild: GuildId,
    channel: ChannelId,
    person: UserId,
    moderator: UserId,
    agents: Vec<UserId>,
    model: Arc<LoopbackLlm>,
    /// The words that the model was told to say.
    script: Mutex<Vec<String>>,
    folder: TempDir,
    ports: [u16; 2],
    heard: Arc<Mutex<Vec<(Timestamp, Heard)>>>,
}

/// A program while it runs, with all its processes. It is killed in the end.
struct Running(Program);

impl Drop for Running {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = self.0.out() + &self.0.errors();
            let known = ["dirigent::runtime::signals", "dirigent:", "WARN", "ERROR"];
            let lines = log.lines().filter(|line| known.iter().any(|it| line.contains(it)));
            let newest = lines.collect::<Vec<_>>();
            println!("{}", newest[newest.len().saturating_sub(60)..].join("\n"));
        }
        let Some(id) = self.0.child.id() else { return };
        let group = format!("-{id}");
        let killed = std::process::Command::new("kill").args(["-9", "--", &group]).status();
        assert!(killed.unwrap().success());
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

impl Evening {
    async fn new(kind: Kind) -> Self {
        let discord = MemoryDiscord::new(Arc::new(SystemClock::new()));
        let (moderator, person) = (discord.add_bot(), discord.add_human());
        let agents = AGENTS.map(|name| {
            let account = discord.add_bot();
            discord.account(account).set_name(name);
            account
        });
        let guild = discord.add_guild(person);
        let members = [&[moderator, person][..], &agents].concat();
        let channel = discord.add_channel(guild, "round-table", &members);
        let server = LoopbackDiscord::start(discord.clone()).await.unwrap();
        let model = Arc::new(LoopbackLlm::start().await.unwrap());
        model.cycle([ScriptedAnswer::text("[[pass]]")]);
        let evening = Self {
            kind,
            discord,
            server,
            guild,
            channel,
            person,
            moderator,
            agents: agents.to_vec(),
            model,
            script: Mutex::default(),
            folder: TempDir::new().unwrap(),
            ports: [free_port(), free_port()],
            heard: Arc::default(),
        };
        evening.hear();
        evening
    }

    /// Writes down what is said, and when the model is asked.
    fn hear(&self) {
        let clock = SystemClock::new();
        let note = {
            let heard = Arc::clone(&self.heard);
            move |what| heard.lock().unwrap().push((clock.now(), what))
        };
        let (mut events, moderator) = (self.discord.events(), self.moderator);
        let (agents, noted) = (self.agents.clone(), note.clone());
        tokio::spawn(async move {
            while let Some(event) = events.next().await {
                let Event::MessageCreated(message) = event else { continue };
                let mentioned = |user: &UserId| message.content.contains(&format!("<@{user}>"));
                if message.author == moderator {
                    agents
                        .iter()
                        .position(mentioned)
                        .into_iter()
                        .for_each(|it| noted(Heard::Called(it)));
                } else if let Some(agent) = agents.iter().position(|it| *it == message.author) {
                    noted(Heard::Said(agent, message.content.to_string()));
                }
            }
        });
        let model = Arc::clone(&self.model);
        tokio::spawn(async move {
            for number in 0.. {
                model.requested(number + 1).await;
                let asked = model.requests().swap_remove(number);
                let name = asked.body["model"].as_str().unwrap_or_default();
                if let Some(agent) = AGENTS.iter().position(|it| *it == name) {
                    note(Heard::Asked(agent));
                }
            }
        });
    }

    fn heard(&self) -> Vec<(Timestamp, Heard)> {
        self.heard.lock().unwrap().clone()
    }

    fn count(&self, is: impl Fn(&Heard) -> bool) -> usize {
        self.heard().iter().filter(|(_, what)| is(what)).count()
    }

    fn asked(&self) -> usize {
        self.count(|it| matches!(it, Heard::Asked(_)))
    }

    fn says(&self, words: &str) {
        self.discord.say(self.channel, self.person, words);
    }

    /// Has the model say so many words that no agent has said before, and pass then. Each takes more than half a second, so that a
    /// kill finds it under way.
    fn gives(&self, count: usize) {
        let mut script = self.script.lock().unwrap();
        for _ in 0..count {
            let number = script.len();
            let words = format!("Thought number {number} of this evening, which is new.");
            let pass = number % 7 == 6;
            let text = if pass { "[[pass]]".to_owned() } else { words };
            script.push(text.clone());
            self.model.script([ScriptedAnswer { pause_ms: 60, ..ScriptedAnswer::text(text) }]);
        }
    }

    async fn wait(&self, what: &str, is_so: impl FnMut() -> bool) {
        assert!(within(PATIENCE, is_so).await, "{what} did not happen: {:?}", self.heard());
    }

    /// Starts the moderator. It has its state from its last start.
    async fn dirigent(&self) -> Running {
        let file = self.folder.path().join("dirigent.toml");
        let kind = if self.kind == Kind::WithPlugin { "asks" } else { "observed-openclaw" };
        let agents = AGENTS.iter().zip(&self.agents).map(|(name, account)| {
            format!("[[agents]]\nname = \"{name}\"\nkind = \"{kind}\"\naccount = \"{account}\"\n")
        });
        let config = format!(
            "[discord]\ntoken = {{ env = \"TOKEN_OF_THIS_TEST\" }}\naddress = \"http://{}\"\n\
             [store]\nsqlite = \"dirigent.sqlite\"\n\
             [front]\nlisten = \"127.0.0.1:{}\"\nhosts = [{{ name = \"openclaw\", secret = {{ env = \"SECRET_OF_THIS_TEST\" }}, agents = {AGENTS:?} }}]\n\
             [rules.ceilings.chat]\nturns = 1000\ncycles = 1000\n[rules.hooks]\nheartbeat = {{ period = \"5s\", misses = 9 }}\n\
             [[channels]]\nid = \"{}\"\n{}",
            self.server.address(),
            self.ports[0],
            self.channel,
            agents.collect::<String>()
        );
        fs::write(&file, config).unwrap();
        let mut command = Command::new(PROGRAM);
        command.args(["run", "--verbose", "--config"]).arg(file).current_dir(&self.folder);
        command.env("TOKEN_OF_THIS_TEST", self.server.token(self.moderator));
        command.env("SECRET_OF_THIS_TEST", SECRET).process_group(0);
        let program = Running(Program::start(command));
        program.0.says("take turns here.").await;
        program
    }

    /// Starts OpenClaw, and waits until its accounts are connected.
    async fn openclaw(&self) -> Running {
        let installed =
            PathBuf::from(std::env::var("DIRIGENT_OPENCLAW").expect("the folder of OpenClaw"));
        let home = self.folder.path().join("home");
        let state = home.join(".openclaw");
        let config = state.join("openclaw.json");
        if !config.exists() {
            // It trusts the plugin for Discord that it has installed itself, and knows that by its state.
            fs::create_dir_all(&state).unwrap();
            let from = ["state", "config-journal-fingerprint.key"]
                .map(|it| installed.join("home/.openclaw").join(it));
            let copied = std::process::Command::new("cp").arg("-a").args(from).arg(&state).status();
            assert!(copied.unwrap().success());
            fs::write(&config, self.config(&home).to_string()).unwrap();
        }
        let mut command = Command::new(installed.join("node_modules/.bin/openclaw"));
        command.args(["gateway", "run"]).current_dir(&home);
        command.env("HOME", &home).env("OPENCLAW_HOME", &home).env("OPENCLAW_STATE_DIR", &state);
        command
            .env("OPENCLAW_CONFIG_PATH", &config)
            .env("DIRIGENT_SECRET", format!("openclaw.{SECRET}"));
        command.env("DISCORD_API_URL", format!("http://{}/api/v10", self.server.address()));
        // Nothing goes beyond this machine.
        for name in ["OPENCLAW_NO_AUTO_UPDATE", "OPENCLAW_OFFLINE", "DO_NOT_TRACK"] {
            command.env(name, "1");
        }
        command
            .env("OPENCLAW_LOAD_SHELL_ENV", "0")
            .env_remove("DISCORD_TOKEN")
            .env_remove("DISCORD_BOT_TOKEN");
        command.process_group(0);
        let program = Running(Program::start(command));
        let is_there = || {
            let log = program.0.out() + &program.0.errors();
            match self.kind {
                Kind::WithPlugin => {
                    log.contains("dirigent: connected: developer, reviewer, tester")
                }
                Kind::Observed => log.matches("Discord bot probe resolved").count() == AGENTS.len(),
            }
        };
        let is_there = within(PATIENCE, is_there).await;
        assert!(is_there, "OpenClaw does not start:\n{}\n{}", program.0.out(), program.0.errors());
        program
    }

    fn config(&self, home: &Path) -> Value {
        let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins/openclaw");
        let mut plugins = json!({
            "slots": { "memory": "none" }, "allow": ["discord"], "load": { "paths": [] },
            "entries": { "discord": { "enabled": true } },
        });
        if self.kind == Kind::WithPlugin {
            let names: Value = AGENTS
                .iter()
                .map(|name| ((*name).to_owned(), (*name).into()))
                .collect::<serde_json::Map<_, _>>()
                .into();
            plugins["allow"] = json!(["discord", "dirigent"]);
            plugins["load"]["paths"] = json!([plugin]);
            plugins["entries"]["dirigent"] = json!({
                "enabled": true, "hooks": { "allowConversationAccess": true },
                "config": { "url": format!("http://127.0.0.1:{}", self.ports[0]), "agents": names },
            });
        }
        let model = |name: &str| {
            json!({
                "id": name, "name": name, "reasoning": false, "input": ["text"], "contextWindow": 120_000, "maxTokens": 4_096,
                "cost": { "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0 },
            })
        };
        let agent = |name: &str| {
            json!({
                "name": name, "workspace": home.join(format!("ws-{name}")), "model": format!("loop/{name}"), "utilityModel": "",
                "skills": [], "identity": { "name": name }, "tools": { "profile": "minimal" },
            })
        };
        let all = |of: &dyn Fn(usize, &str) -> Value| -> Value {
            AGENTS
                .iter()
                .enumerate()
                .map(|(at, name)| ((*name).to_owned(), of(at, name)))
                .collect::<serde_json::Map<_, _>>()
                .into()
        };
        let bindings = AGENTS.map(
            |name| json!({ "agentId": name, "match": { "channel": "discord", "accountId": name } }),
        );
        let room = json!({ "enabled": true, "requireMention": true, "ignoreOtherMentions": true, "users": [self.moderator.to_string()] });
        json!({
            "gateway": { "mode": "local", "bind": "loopback", "port": self.ports[1], "auth": { "mode": "token", "token": "on-loopback-only" } },
            "update": { "checkOnStart": false }, "telemetry": { "enabled": false },
            "models": { "mode": "replace", "providers": { "loop": {
                "baseUrl": self.model.url(), "apiKey": "none", "api": "openai-completions", "timeoutSeconds": 60, "models": AGENTS.map(model),
            } } },
            "agents": {
                "ownership": "explicit", "entries": all(&|_, name| agent(name)),
                "defaults": { "workspace": home.join("ws"), "skipBootstrap": true, "heartbeat": { "every": "0m" }, "silentReply": { "group": "allow" } },
            },
            "bindings": bindings,
            "messages": { "ackReactionScope": "off" },
            "channels": { "discord": {
                "enabled": true, "groupPolicy": "allowlist", "dmPolicy": "disabled", "joinIntro": false, "defaultAccount": "developer",
                "allowBots": true, "commands": { "native": false },
                "guilds": { (self.guild.to_string()): { "requireMention": true, "channels": { (self.channel.to_string()): room } } },
                "accounts": all(&|at, _| json!({ "enabled": true, "token": self.server.token(self.agents[at]) })),
            } },
            "plugins": plugins,
        })
    }

    /// Waits until the model has been asked so often, and once more: that answer is under way when this returns.
    async fn in_a_call_after(&self, calls: usize) {
        while self.asked() <= calls {
            let before = self.asked();
            self.wait("a call of the model", || self.asked() > before).await;
        }
    }

    /// Waits until all agents pass.
    async fn dormant(&self, dirigent: &Running) {
        let log = || dirigent.0.errors() + &dirigent.0.out();
        self.wait("rest", || {
            log()
                .lines()
                .rfind(|line| line.contains(" is=\""))
                .is_some_and(|line| line.contains("is=\"dormant\""))
        })
        .await;
    }

    /// Lets each agent run once and pass: the first run after a start takes long.
    async fn warm(&self, dirigent: &Running) {
        let before = self.asked();
        self.says("Are you there?");
        self.wait("a run of each", || self.asked() >= before + AGENTS.len()).await;
        self.dormant(dirigent).await;
        within(SURELY * 2, || false).await;
        self.dormant(dirigent).await;
    }

    /// Stops the agent that speaks, and hears what comes then. Returns how long it took until the room was at rest.
    async fn stop(&self, dirigent: &Running) -> (Duration, usize) {
        let calls = self.asked();
        self.model.script([ScriptedAnswer {
            pause_ms: 300,
            ..ScriptedAnswer::text("A word that was under way when a person stopped all.")
        }]);
        self.says("One more question.");
        self.in_a_call_after(calls).await;
        let clock = SystemClock::new();
        let (stopped, before) = (clock.now(), self.heard().len());
        self.says("stop");
        self.dormant(dirigent).await;
        let took = clock.now().since(stopped);
        // What is under way ends, and nothing begins.
        within(SURELY, || false).await;
        let after = self.heard().split_off(before);
        let begun = after.iter().find(|(_, it)| !matches!(it, Heard::Said(..)));
        assert_eq!(begun, None, "after a stop");
        (took, after.len())
    }

    /// Prints the figures; returns what was said out of turn, and the words that were given and never said.
    fn judge(&self) -> Judged {
        let (mut speaker, mut called, mut said_at) = (None, None, None);
        let (mut asked, mut said, mut again) = (Vec::new(), Vec::new(), Vec::new());
        let (mut judged, mut once) = (Judged::default(), HashSet::new());
        for (at, what) in self.heard() {
            match what {
                Heard::Called(agent) => {
                    again.extend(said_at.take().map(|before| at.since(before)));
                    (speaker, called) = (Some(agent), Some(at));
                }
                Heard::Asked(agent) if Some(agent) == speaker => {
                    asked.extend(called.map(|called| at.since(called)));
                }
                Heard::Asked(agent) => judged.asked_out_of_turn.push(agent),
                Heard::Said(_, words) if words == "[[pass]]" => {}
                Heard::Said(agent, words) if NOTICES.iter().any(|it| words.starts_with(it)) => {
                    judged.notices.push((agent, words));
                }
                Heard::Said(agent, words) => {
                    if Some(agent) == speaker {
                        said.extend(called.take().map(|called| at.since(called)));
                        said_at = Some(at);
                    } else {
                        judged.said_out_of_turn.push((agent, words.clone()));
                    }
                    if !once.insert(words.clone()) {
                        judged.twice.push(words);
                    }
                }
            }
        }
        let given = self.script.lock().unwrap();
        judged.lost =
            given.iter().filter(|it| *it != "[[pass]]" && !once.contains(*it)).cloned().collect();
        drop(given);
        judged.replies = once.len();
        judged.called = self.count(|it| matches!(it, Heard::Called(_)));
        println!(
            "{:?}: {} triggers, {} calls of the model, {} replies",
            self.kind,
            judged.called,
            self.asked(),
            judged.replies
        );
        println!(
            "  trigger to model: {}; trigger to reply: {}; reply to next trigger: {}",
            spread(asked),
            spread(said),
            spread(again)
        );
        println!(
            "  notices {:?}, out of turn {:?}, lost {:?}",
            judged.notices, judged.said_out_of_turn, judged.lost
        );
        judged
    }
}

#[derive(Debug, Default)]
struct Judged {
    called: usize,
    replies: usize,
    twice: Vec<String>,
    lost: Vec<String>,
    notices: Vec<(usize, String)>,
    said_out_of_turn: Vec<(usize, String)>,
    asked_out_of_turn: Vec<usize>,
}

fn spread(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |part: usize| {
        times.get(times.len().saturating_sub(1) * part / 100).copied().unwrap_or_default()
    };
    format!("median {:?}, 90 % {:?}", at(50), at(90))
}

#[tokio::test]
#[ignore = "needs OpenClaw: .ci/openclaw"]
async fn with_the_plugin_100_turns_and_a_kill_of_each_side_double_and_lose_nothing() {
    let evening = Evening::new(Kind::WithPlugin).await;
    let dirigent = evening.dirigent().await;
    let openclaw = evening.openclaw().await;
    let turns = std::env::var("DIRIGENT_TURNS").map_or(100, |turns| turns.parse().unwrap());
    evening.gives(turns);
    evening.says("What shall we build?");
    evening.in_a_call_after(turns / 3).await;
    drop(dirigent); // kill -9
    let dirigent = evening.dirigent().await;
    evening.in_a_call_after(turns * 2 / 3).await;
    drop(openclaw); // kill -9
    let openclaw = evening.openclaw().await;
    evening.says("Where were we?");
    evening.in_a_call_after(turns).await;
    evening.dormant(&dirigent).await;
    let judged = evening.judge();
    let (took, after) = evening.stop(&dirigent).await;
    println!("  rest {took:?} after a stop");
    assert!(took < Duration::from_secs(1), "{took:?}");
    assert_eq!(after, 0, "the reply under way is not posted");
    assert!(judged.twice.is_empty() && judged.said_out_of_turn.is_empty(), "{judged:#?}");
    assert!(judged.asked_out_of_turn.is_empty(), "{judged:#?}");
    assert!(judged.lost.len() <= 1, "only the answer that OpenClaw was killed in: {judged:#?}");
    let is_known = |notice: &str| notice.starts_with(NOTICES[1]);
    assert!(judged.notices.iter().all(|(_, it)| is_known(it)), "{judged:#?}");
    assert!(judged.notices.len() <= 1, "{judged:#?}");
    drop(openclaw);
}

#[tokio::test]
#[ignore = "needs OpenClaw: .ci/openclaw"]
async fn observed_without_a_plugin_it_takes_turns_and_its_notices_are_no_words() {
    let evening = Evening::new(Kind::Observed).await;
    let dirigent = evening.dirigent().await;
    let openclaw = evening.openclaw().await;
    evening.warm(&dirigent).await;
    let calls = evening.asked();
    evening.gives(14);
    evening.says("What shall we build?");
    evening.in_a_call_after(calls + 10).await;
    drop(dirigent); // kill -9
    let dirigent = evening.dirigent().await;
    evening.in_a_call_after(calls + 14).await;
    evening.dormant(&dirigent).await;
    let calls = evening.asked();
    evening.gives(10);
    evening.says("Who would pay for it?");
    evening.in_a_call_after(calls + 9).await;
    drop(openclaw); // kill -9
    let openclaw = evening.openclaw().await;
    evening.warm(&dirigent).await;
    evening.gives(10);
    // After a pass of its own OpenClaw asks the model again, and posts a notice.
    evening.model.script(["NO_REPLY"; 6].map(ScriptedAnswer::text));
    let calls = evening.asked();
    evening.says("Where were we?");
    evening.in_a_call_after(calls + 16).await;
    evening.dormant(&dirigent).await;
    let judged = evening.judge();
    let (took, after) = evening.stop(&dirigent).await;
    println!("  rest {took:?} after a stop, {after} replies that were under way");
    assert!(took < Duration::from_secs(1), "{took:?}");
    assert!(after <= 1, "only what was under way");
    assert!(judged.twice.is_empty(), "{judged:#?}");
    assert!(judged.notices.iter().any(|(_, it)| it.starts_with(NOTICES[0])), "{judged:#?}");
    // OpenClaw takes up the run that it was killed in by itself.
    assert!(judged.said_out_of_turn.len() <= 1, "{judged:#?}");
    assert!(judged.lost.len() <= 1, "{judged:#?}");
    drop(openclaw);
}
