//! `dirigent run` as two processes on one PostgreSQL and one NATS server, and `dirigent move`.

use std::collections::BTreeSet;
use std::time::Duration;

use dirigent::{ChannelId, UserId};
use dirigent_llm::script::{LoopbackLlm, ScriptedAnswer};
use dirigent_verify::database::Database;
use dirigent_verify::nats::NatsServer;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::stage::{ANY_PORT, BotStage, Program, SECRET, http, page_and_front, until};

/// How long all channels together may take for a round.
const PATIENCE: Duration = Duration::from_secs(300);

/// The database of a test; `None`, and said aloud, where no server is installed.
fn database() -> Option<(Database, String)> {
    let Some(server) = Database::start().unwrap() else {
        eprintln!("skipped: no PostgreSQL is installed (Debian: apt-get install postgresql)");
        return None;
    };
    let address = server.create().unwrap();
    Some((server, address))
}

/// What the page about several processes gives to the NATS server: each process hears what it is asked, and what it is answered.
const NATS: &str = include_str!("../deploy/cluster/nats.conf");

/// Says something new each time it is asked.
async fn model() -> LoopbackLlm {
    let model = LoopbackLlm::start().await.unwrap();
    model.script((0..500).map(|number| ScriptedAnswer::text(format!("Thought {number}."))));
    model
}

struct Fleet {
    stage: BotStage,
    channels: Vec<ChannelId>,
    developer: UserId,
    database: String,
    _servers: (Database, NatsServer),
}

impl Fleet {
    async fn new(model: &LoopbackLlm) -> Option<Self> {
        let (server, database) = database()?;
        let nats = NatsServer::start(
            &NATS.replace("$BOT_1_PASSWORD", SECRET).replace("$BOT_2_PASSWORD", SECRET),
        );
        let nats = nats.unwrap()?;
        let stage = BotStage::new().await;
        let developer = stage.discord.add_bot();
        let members = [stage.moderator, stage.person, developer];
        let rooms = (0..16).map(|room| format!("room-{room}"));
        let channels: Vec<_> =
            rooms.map(|room| stage.discord.add_channel(stage.guild, &room, &members)).collect();
        let config = stage.config(&model.url());
        let (head, agents) = config.split_once("[[channels]]").unwrap();
        let (_, agents) = agents.split_once("\n\n").unwrap();
        let all = channels.iter().map(|channel| format!("[[channels]]\nid = \"{channel}\"\n"));
        stage.write(&format!(
            "{head}[store]\npostgres = {{ env = \"DATABASE_OF_THIS_TEST\" }}\n\
             [cluster]\nprocess = {{ env = \"PROCESS_OF_THIS_TEST\" }}\nnats = \"{}\"\n\
             password = {{ env = \"SECRET_OF_THIS_TEST\" }}\nsecret = {{ env = \"SECRET_OF_THIS_TEST\" }}\n\
             {}[rules.ceilings.chat]\ncycles = 1\n\
             [[agents]]\nname = \"developer\"\nkind = \"asks\"\naccount = \"{developer}\"\n{agents}\n{}",
            nats.address(),
            page_and_front(ANY_PORT, "{ env = \"SECRET_OF_THIS_TEST\" }", &["developer"]),
            all.collect::<String>(),
        ));
        stage.discord.account(developer).set_name("Developer");
        Some(Self { stage, channels, developer, database, _servers: (server, nats) })
    }

    fn start(&self, name: &str, arguments: &[&str]) -> Program {
        let mut command = self.stage.command(arguments);
        command.env("PROCESS_OF_THIS_TEST", name).env("DATABASE_OF_THIS_TEST", &self.database);
        Program::start(command)
    }

    fn ask_all(&self, question: &str) {
        for channel in &self.channels {
            self.stage.discord.say(*channel, self.stage.person, question);
        }
    }

    /// How much was said there; without what the moderator wrote.
    fn said(&self, channel: ChannelId) -> usize {
        let all = self.stage.discord.messages(channel);
        all.iter().filter(|message| message.author != self.stage.moderator).count()
    }

    /// Asks this front for the developer's turns in all channels until so much was said in each.
    async fn developer_asks(&self, front: &str, count: usize) {
        let secret = format!("desk.{SECRET}");
        let mut number = 0;
        loop {
            let rest = self.channels.iter().filter(|channel| self.said(**channel) < count);
            let rest: Vec<_> = rest.copied().collect();
            if rest.is_empty() {
                return;
            }
            for channel in rest {
                number += 1;
                let mut run = json!({ "agent": "developer", "channel": channel.to_string(), "run": format!("{count}-{number}") });
                let (status, answer) =
                    http(front, "POST /v1/begin", &secret, &run.to_string()).await;
                // While the channel changes hands, no process answers for it.
                let answer: Value = serde_json::from_str(&answer).unwrap_or_default();
                if status != 200 || answer["allowed"] != true {
                    continue;
                }
                let words = format!("Noted {count}-{number}.");
                (run["outcome"], run["text"]) = ("spoke".into(), words.clone().into());
                // The answer may be lost while the channel changes hands. The end of the same run counts once.
                let answer = loop {
                    let told = http(front, "POST /v1/end", &secret, &run.to_string()).await;
                    if told.0 == 200 {
                        break told.1;
                    }
                };
                assert!(answer.contains("\"accepted\":true"), "{answer}");
                self.stage.discord.say(channel, self.developer, words);
            }
            let mut looks = 0;
            until("a moment", || std::mem::replace(&mut looks, 1) == 1).await;
        }
    }
}

/// The channels of which a process said that their mode is given.
fn given(program: &Program) -> BTreeSet<String> {
    let log = program.errors();
    let lines = log.lines().filter(|line| line.contains("its mode is chat"));
    lines
        .filter_map(|line| line.split_once("channel=").map(|(_, id)| id.trim().to_owned()))
        .collect()
}

#[tokio::test]
async fn two_processes_share_the_channels_and_the_other_goes_on_after_a_kill() {
    let model = model().await;
    let Some(fleet) = Fleet::new(&model).await else { return };
    let config = std::fs::read_to_string(fleet.stage.file()).unwrap();
    let few = config.rsplitn(15, "[[channels]]").last().unwrap();
    std::fs::write(fleet.stage.folder.path().join("few.toml"), few).unwrap();
    let check = fleet.start("bot-1", &["check", "--config", "few.toml"]);
    let (code, found, log) = check.end().await;
    assert_eq!(code, Some(0), "{found}\n{log}");
    assert!(found.contains("ok  store: postgresql://"), "{found}");

    let first = fleet.start("bot-1", &["run"]);
    let front = first.after("the front is at http://").await;
    let page = first.after("the page is at http://").await.replace("/dirigent", "");
    first.says("its mode is chat").await;
    let second = fleet.start("bot-2", &["run"]);
    second.says("its mode is chat").await;
    until("each channel's mode", || given(&first).union(&given(&second)).count() == 16).await;

    fleet.ask_all("Should we build it?");
    // At the first process, for channels of both.
    timeout(PATIENCE, fleet.developer_asks(&front, 4)).await.unwrap();
    let (status, shown) = http(&page, "GET /dirigent/api/channels", SECRET, "").await;
    assert_eq!(status, 200, "{shown}");
    let unseen: Vec<_> =
        fleet.channels.iter().filter(|channel| !shown.contains(&channel.to_string())).collect();
    assert!(unseen.is_empty(), "{unseen:?} are not on the page: {shown}");

    second.signal("-KILL");
    second.end().await;
    fleet.ask_all("And when?");
    timeout(PATIENCE, fleet.developer_asks(&front, 8)).await.unwrap();
    first.signal("-TERM");
    let (code, _, log) = first.end().await;
    assert_eq!(code, Some(0), "{log}");
    for channel in &fleet.channels {
        let words = fleet.stage.discord.messages(*channel);
        assert_eq!(fleet.said(*channel), 8, "two questions, three agents: {words:?}\n{log}");
    }
    assert!(!log.contains(SECRET), "{log}");
}

#[tokio::test]
async fn what_is_wrong_with_a_cluster_is_named_without_its_value() {
    let Some((_server, address)) = database() else { return };
    let stage = BotStage::new().await;
    let cluster = "[cluster]\nprocess = { env = \"PROCESS_OF_THIS_TEST\" }\nnats = \"nats://127.0.0.1:1\"\nsecret = { env = \"CLUSTER_OF_THIS_TEST\" }\ncertificate = \"authority.pem\"\n";
    let config = stage.config("http://127.0.0.1:1/v1");
    stage.write(&format!(
        "{config}[store]\npostgres = {{ env = \"DATABASE_OF_THIS_TEST\" }}\n{cluster}"
    ));
    for (process, secret, expected) in [
        (
            "Not A Name",
            SECRET,
            ":21: cluster.process: not the name of a process: expected 1 to 64 of a-z",
        ),
        (
            "bot-1",
            "4f1c0de",
            ":23: cluster.secret: a secret has at least 32 bytes; take 32 random ones",
        ),
        ("bot-1", SECRET, ":24: cluster.certificate: cannot be read: No such file"),
    ] {
        let mut command = stage.command(&["run"]);
        command.env("PROCESS_OF_THIS_TEST", process).env("CLUSTER_OF_THIS_TEST", secret);
        command.env("DATABASE_OF_THIS_TEST", &address);
        let (code, _, log) = Program::start(command).end().await;
        assert_eq!(code, Some(1), "{log}");
        let said = log.lines().last().unwrap_or_default();
        assert!(said.starts_with(&format!("dirigent.toml{expected}")), "{log}");
        assert!(!log.contains(secret) && !log.contains("Not A Name"), "{log}");
    }
    // One that is there is read: then the server is missing.
    std::fs::write(stage.folder.path().join("authority.pem"), "").unwrap();
    let mut command = stage.command(&["run"]);
    command.env("PROCESS_OF_THIS_TEST", "bot-1").env("CLUSTER_OF_THIS_TEST", SECRET);
    command.env("DATABASE_OF_THIS_TEST", &address);
    let (code, _, log) = Program::start(command).end().await;
    let said = log.lines().last().unwrap_or_default();
    assert!(code == Some(1) && said.starts_with("dirigent.toml:22: cluster.nats: "), "{log}");
}

#[tokio::test]
async fn what_a_sqlite_file_keeps_moves_to_postgres_once() {
    let Some((server, address)) = database() else { return };
    let (stage, model) = (BotStage::new().await, model().await);
    let config = stage.config(&model.url());
    stage.write(&format!(
        "{config}[store]\nsqlite = \"dirigent.sqlite\"\n[rules.ceilings.chat]\nturns = 2\n"
    ));
    let program = stage.start(&["run", "--verbose"]);
    program.says("take turns here.").await;
    stage.discord.say(stage.channel, stage.person, "Should we build it?");
    program.says("ceiling-reached").await;
    program.signal("-TERM");
    assert_eq!(program.end().await.0, Some(0));

    let run = async |arguments: &[&str]| {
        let mut command = stage.command(arguments);
        command.env("DATABASE_OF_THIS_TEST", &address);
        Program::start(command).end().await
    };
    let (code, _, said) = run(&["move", "dirigent.sqlite"]).await;
    assert_eq!(code, Some(1));
    assert!(
        said.starts_with("dirigent.toml:18: store: moving ends in PostgreSQL: write postgres ="),
        "{said}"
    );
    stage.write(&format!("{config}[store]\npostgres = {{ env = \"DATABASE_OF_THIS_TEST\" }}\n"));
    let (code, _, said) = run(&["move", "none.sqlite"]).await;
    assert!(
        code == Some(1) && said.starts_with("none.sqlite does not exist: name the SQLite"),
        "{said}"
    );
    let (code, out, said) = run(&["move", "dirigent.sqlite"]).await;
    assert_eq!(code, Some(0), "{said}");
    assert!(
        out.starts_with("0 of 1 channels\n1 of 1 channels\nmoved: 1 channels, 2 agents, "),
        "{out}"
    );
    let (code, out, _) = run(&["move", "dirigent.sqlite"]).await;
    assert!(
        code == Some(0) && out.ends_with("moved: 1 channels, 2 agents, 0 lines of histories\n"),
        "{out}"
    );

    let mut command = stage.command(&["run", "--verbose"]);
    command.env("DATABASE_OF_THIS_TEST", &address);
    let program = Program::start(command);
    program.says("channels=1 store=\"dirigent_cluster::postgres::PostgresStore\"").await;
    program.says("take turns here.").await;
    stage.discord.say(stage.channel, stage.person, "And when?");
    until("what follows", || stage.said().len() >= 6).await;
    program.signal("-TERM");
    assert_eq!(program.end().await.0, Some(0));
    let (code, _, said) = run(&["move", "dirigent.sqlite"]).await;
    let other = format!(
        "the database is in use already: it has another record of channel {}",
        stage.channel
    );
    assert!(code == Some(1) && said.starts_with(&other), "{said}");

    // The database of a cluster with a name is made under that name, and only its processes use it.
    let named = server.create().unwrap();
    stage.write(&format!(
        "{config}[store]\npostgres = {{ env = \"DATABASE_OF_THIS_TEST\" }}\n\
         [cluster]\nname = \"round-table\"\nprocess = {{ env = \"SECRET_OF_THIS_TEST\" }}\n\
         nats = \"nats://127.0.0.1:1\"\nsecret = {{ env = \"SECRET_OF_THIS_TEST\" }}\n"
    ));
    let mut command = stage.command(&["move", "dirigent.sqlite"]);
    command.env("DATABASE_OF_THIS_TEST", &named);
    let (code, out, said) = Program::start(command).end().await;
    assert!(code == Some(0) && out.contains("\nmoved: 1 channels, 2 agents, "), "{out}\n{said}");
    assert_eq!(server.sql(&named, "SELECT name FROM dirigent.cluster").unwrap(), "round-table");
}
