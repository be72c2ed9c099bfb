//! Wrong configurations: each is refused with its file, its line, its key and what to write.

use crate::stage::{BotStage, SECRET, page_and_front};

/// What is right, to be made wrong.
fn right() -> String {
    let [page, front] = ["127.0.0.1:8130", "127.0.0.1:8131"];
    let served = page_and_front([page, front], "{ env = \"SECRET_OF_THIS_TEST\" }", &["clerk"]);
    format!("{DISCORD}{served}{AGENTS}")
}

const DISCORD: &str = r#"[discord]
token = { env = "TOKEN_OF_THIS_TEST" }
address = "http://127.0.0.1:1"
"#;

const AGENTS: &str = r#"[[agents]]
name = "critic"
persona = { name = "Critic" }
model = { url = "http://127.0.0.1:1/v1", name = "m" }
[[agents]]
name = "clerk"
kind = "asks"
account = "200000000000000001"
[[channels]]
id = "200000000000000009"
"#;

/// What is replaced, by what, and what is said of it: line, key, and the remedy.
const WRONG: [(&str, &str, &str); 43] = [
    (
        "[discord]\n",
        "[dicord]\n",
        ":1: dicord: unknown key `dicord`: write one of `discord`, `store`",
    ),
    (
        "[discord]\ntoken = { env = \"TOKEN_OF_THIS_TEST\" }\naddress = \"http://127.0.0.1:1\"\n",
        "",
        ":1: the key discord is missing: write [discord] and token = { env = \"DISCORD_TOKEN\" } below it",
    ),
    (
        "token = { env = \"TOKEN_OF_THIS_TEST\" }\n",
        "",
        ":1: discord: the key token is missing: write token = { env = \"NAME\" }",
    ),
    (
        "token = { env = \"TOKEN_OF_THIS_TEST\" }",
        "token = \"4f1c0de4f1c0de4f1c0de4f1c0de4f1c\"",
        ":2: discord.token: write { env = \"NAME\" } or { file = \"PATH\" }: a secret never stands in this file",
    ),
    (
        "{ env = \"TOKEN_OF_THIS_TEST\" }",
        "{ var = \"TOKEN_OF_THIS_TEST\" }",
        ":2: discord.token.var: unknown key `var`: write `env` or `file`",
    ),
    (
        "TOKEN_OF_THIS_TEST",
        "NOT_SET_IN_THIS_TEST",
        ":2: discord.token: the environment variable NOT_SET_IN_THIS_TEST is not set: export it",
    ),
    ("{ env = \"TOKEN_OF_THIS_TEST\" }", "{ file = \"no.token\" }", ":2: discord.token: the file "),
    (
        "http://127.0.0.1:1\"",
        "https://127.0.0.1:1\"",
        ":3: discord.address: this is for a Discord on this machine, without TLS: write \"http://127.0.0.1:8120\", or take the key away",
    ),
    (
        "http://127.0.0.1:1\"",
        "http://\"",
        ":1: discord: not an address for the proxy or the files: expected http://host:port",
    ),
    (
        "127.0.0.1:8130",
        "localhost",
        ":5: page.listen: invalid socket address syntax: write an address with a port, for example \"127.0.0.1:8130\"",
    ),
    (
        "operators = [{ name = \"ada\", token = { env = \"SECRET_OF_THIS_TEST\" } }]",
        "operators = []",
        ":6: page.operators: no one could sign in: write operators = [{ name = \"ada\"",
    ),
    ("name = \"ada\"", "name = \"\"", ":4: page: an operator's name must be 1 to 100 characters"),
    (
        "127.0.0.1:8131",
        "0.0.0.0:8131",
        ":8: front.listen: secrets would cross the network in plain text: write \"127.0.0.1:8131\", or behind_tls = true",
    ),
    (
        "127.0.0.1:8131",
        "127.0.0.1:8130",
        ":8: front.listen: the page listens there: give the front another port",
    ),
    (
        "[\"clerk\"]",
        "[\"clerk\", \"clark\"]",
        ":9: front.hosts[0].agents: there is no agent \"clark\": add [[agents]] with name = \"clark\"",
    ),
    (
        "[\"clerk\"]",
        "[\"critic\"]",
        ":16: agents[1].kind: no program may ask for \"clerk\": name it in the agents of a host of [front]",
    ),
    (
        "\"desk\"",
        "\"my desk\"",
        ":9: front.hosts: \"my desk\" is no name of a host: take 1 to 32 of a-z",
    ),
    (
        "name = \"critic\"",
        "name = \"clerk\"",
        ":15: agents[1].name: an agent before it is called \"clerk\", too",
    ),
    (
        "name = \"critic\"",
        "name = \"\"",
        ":11: agents[0].name: an agent's name is one line that people can see: write name = \"critic\"",
    ),
    ("name = \"clerk\"\n", "", ":14: agents[1]: the key name is missing: write name = \"critic\""),
    (
        "\"asks\"\naccount = \"200000000000000001\"",
        "\"observed\"\npersona = { name = \"Clerk\" }",
        ":16: agents[1].kind: an observed bot has an account of its own: write account = \"ID\"",
    ),
    (
        "\"asks\"",
        "\"asks\"\nobserved = { removes = true }",
        ":17: agents[1].observed: an observed bot alone has this key: write kind = \"observed\"",
    ),
    (
        "\"asks\"",
        "\"observed\"\nobserved = { silent_for = \"15s\" }",
        ":17: agents[1].observed.silent_for: unknown key `silent_for`: write one of `silent_after`, `answers",
    ),
    (
        "\"asks\"",
        "\"observed\"\nobserved = { removes = true, silent_after = 15 }",
        ":17: agents[1].observed.silent_after: write a time with its unit, such as",
    ),
    (
        "\"asks\"",
        "\"observed-openclaw\"\nobserved = { silent_after = \"0s\" }",
        ":17: agents[1].observed.silent_after: each of its turns would be over at once: write \"15s\"",
    ),
    ("\"asks\"", "\"ask\"", ":16: agents[1].kind: there is no kind \"ask\": write \"asks\""),
    (
        "account = \"200000000000000001\"",
        "account = \"clerk#0001\"",
        ":17: agents[1].account: \"clerk#0001\" is no id: copy it at Discord, in Developer Mode",
    ),
    (
        "account = \"200000000000000001\"\n",
        "",
        ":14: agents[1]: it has no account: write account = \"ID\" of its bot, or persona",
    ),
    (
        "persona = { name = \"Critic\" }\n",
        "",
        ":10: agents[0]: it has no account: write persona = { name = \"Critic\" }, or token",
    ),
    (
        "persona = { name = \"Critic\" }",
        "persona = { name = \"Critic\" }\naccount = \"7\"",
        ":10: agents[0]: it has more than one account: keep one of persona, token and account",
    ),
    (
        "persona = { name = \"Critic\" }",
        "account = \"7\"",
        ":12: agents[0].account: Dirigent posts for an agent with a model: write token",
    ),
    (
        "persona = { name = \"Critic\" }",
        "persona = { name = \"Discord\" }",
        ":12: agents[0].persona: a persona's name must not have \"discord\" in it",
    ),
    (
        "{ name = \"Critic\" }",
        "{ name = \"Critic\", avatar = \"critic.png\" }",
        ":12: agents[0].persona: a persona's picture must be an address with https://",
    ),
    (
        "model = { url = \"http://127.0.0.1:1/v1\", name = \"m\" }\n",
        "",
        ":10: agents[0]: nothing speaks for it: write model = { url = ",
    ),
    (
        "\"http://127.0.0.1:1/v1\"",
        "\"127.0.0.1:1\"",
        ":13: agents[0].model.url: \"127.0.0.1:1\" is no address: write \"http://127",
    ),
    (
        "kind = \"asks\"",
        "kind = \"asks\"\nmodel = { url = \"http://127.0.0.1:1/v1\", name = \"m\" }",
        ":17: agents[1].model: an agent that asks has a model of its own: take model away, or kind",
    ),
    (
        "id = \"200000000000000009\"",
        "id = \"200000000000000009\"\nmode = \"talk\"",
        ":20: channels[0].mode: there is no mode \"talk\" to give: write \"chat\", \"report\" or",
    ),
    (
        "[page]",
        "[store]\njson = \"state\"\npostgres = { env = \"SECRET_OF_THIS_TEST\" }\n[page]",
        ":4: store: there is one store: write sqlite, json or postgres",
    ),
    (
        "[page]",
        "[cluster]\nnats = \"nats://127.0.0.1:4222\"\nsecret = { env = \"SECRET_OF_THIS_TEST\" }\n[page]",
        ":4: cluster: the key process is missing: write process = { env = \"NAME\" }, or for example",
    ),
    (
        "[page]",
        "[cluster]\nprocess = { env = \"SECRET_OF_THIS_TEST\" }\nsecret = { env = \"SECRET_OF_THIS_TEST\" }\n[page]",
        ":4: cluster: the key nats is missing: write nats = \"nats://127.0.0.1:4222\"",
    ),
    (
        "[page]",
        "[cluster]\nprocess = { env = \"SECRET_OF_THIS_TEST\" }\nnats = \"nats://127.0.0.1:4222\"\nsecret = { env = \"SECRET_OF_THIS_TEST\" }\n[page]",
        ":4: cluster: several processes share a database: write [store] and postgres = { env = \"DATABASE_URL\" }",
    ),
    (
        "[page]",
        "[store]\npostgres = { env = \"SECRET_OF_THIS_TEST\" }\n[page]",
        ":5: store.postgres: ",
    ),
    (
        "[[channels]]",
        "[rules.ceilings.chat]\nturnz = 3\n[[channels]]",
        ":19: rules.ceilings.chat.turnz: unknown key `turnz`: write `turns` or `cycles`",
    ),
];

#[tokio::test]
async fn a_wrong_configuration_is_refused_with_line_key_and_remedy() {
    let stage = BotStage::new().await;
    let (right, mut failed) = (right(), Vec::new());
    for (from, to, expected) in WRONG {
        let config = right.replacen(from, to, 1);
        assert_ne!(config, right, "{from}");
        stage.write(&config);
        let (code, out, said) = stage.start(&["run"]).end().await;
        assert!(!said.contains(SECRET), "{said}");
        let is_one_line = out.is_empty() && said.lines().count() == 1;
        if !(code == Some(1)
            && is_one_line
            && said.starts_with(&format!("dirigent.toml{expected}")))
        {
            failed.push(format!("{expected}\n   but: {said}"));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[tokio::test]
async fn everything_that_is_wrong_is_said_at_once_and_a_missing_file_names_init() {
    let stage = BotStage::new().await;
    stage.write(&right().replace("http://127.0.0.1:1", "ftp://").replace("\"asks\"", "\"ask\""));
    let (_, _, said) = stage.start(&["run"]).end().await;
    let keys = ["discord.address", "agents[0].model.url", "agents[1].kind"];
    assert!(said.lines().count() == 3 && keys.iter().all(|key| said.contains(key)), "{said}");
    let (code, _, said) = stage.start(&["run", "--config", "none.toml"]).end().await;
    assert_eq!(code, Some(1));
    assert!(
        said.starts_with("none.toml: it cannot be read (") && said.contains("`dirigent init`"),
        "{said}"
    );
}

#[tokio::test]
async fn an_agent_needs_a_secret_that_is_not_empty() {
    let stage = BotStage::new().await;
    stage.write(&right().replace("{ env = \"TOKEN_OF_THIS_TEST\" }", "{ file = \"empty\" }"));
    std::fs::write(stage.folder.path().join("empty"), "\n").unwrap();
    let (_, _, said) = stage.start(&["run"]).end().await;
    assert!(
        said.starts_with("dirigent.toml:2: discord.token: the secret is empty: write it into"),
        "{said}"
    );
}

#[tokio::test]
async fn the_file_of_the_page_is_right_but_for_its_secrets() {
    let page = include_str!("../README.md");
    let config = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let stage = BotStage::new().await;
    stage.write(config);
    let (_, _, said) = stage.start(&["run"]).end().await;
    let is_secret =
        |line: &str| line.contains(" is not set: ") || line.contains("ada.token cannot be read");
    assert!(said.lines().count() >= 3 && said.lines().all(is_secret), "{said}");
}
