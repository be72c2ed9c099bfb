//! `dirigent run` in a Discord on this machine.

use std::fmt::Write as _;

use dirigent_llm::script::{LoopbackLlm, ScriptedAnswer};
use serde_json::json;

use crate::stage::{BotStage, SECRET, http, until};

async fn model(words: &[&str]) -> LoopbackLlm {
    let model = LoopbackLlm::start().await.unwrap();
    model.script(words.iter().map(|words| ScriptedAnswer::text(*words)));
    model.cycle([ScriptedAnswer::text("NO_REPLY")]);
    model
}

#[tokio::test]
async fn two_personas_speak_in_turn_and_a_signal_ends_with_code_0() {
    let stage = BotStage::new().await;
    let model = model(&["I would build it.", "For whom?"]).await;
    stage.write(&(stage.config(&model.url()) + "[store]\nsqlite = \"state/dirigent.sqlite\"\n"));
    let program = stage.start(&["run"]);
    program.says("its mode is chat. optimist, sceptic take turns here.").await;
    stage.discord.say(stage.channel, stage.person, "Should we build it?");
    until("a round", || stage.said().len() >= 3).await;
    until("one more question, which is passed", || model.requests().len() >= 3).await;
    let said = stage.said();
    let words: Vec<_> = said.iter().map(|(_, words)| words.as_str()).collect();
    assert_eq!(words, ["Should we build it?", "I would build it.", "For whom?"]);
    let mut speakers = [said[1].0.as_str(), said[2].0.as_str()];
    speakers.sort_unstable();
    assert_eq!(speakers, ["Optimist", "Sceptic"]);
    program.signal("-TERM");
    let (code, out, log) = program.end().await;
    assert_eq!((code, out.as_str()), (Some(0), ""), "{log}");
    assert!(stage.folder.path().join("state/dirigent.sqlite").exists());
    assert!(!log.contains(&stage.server.token(stage.moderator)), "{log}");
}

#[tokio::test]
async fn the_rules_of_the_file_hold_and_a_model_gets_its_key() {
    let stage = BotStage::new().await;
    let model = model(&["I would build it.", "For whom?"]).await;
    let config = stage.config(&model.url()) + "[rules.ceilings.chat]\nturns = 1\n";
    let key = "name = \"scripted\", key = { env = \"SECRET_OF_THIS_TEST\" }";
    stage.write(&config.replace("name = \"scripted\"", key));
    let program = stage.start(&["run", "--verbose"]);
    program.says("take turns here.").await;
    stage.discord.say(stage.channel, stage.person, "Should we build it?");
    program.says("ceiling-reached").await;
    assert_eq!(model.requests().len(), 1, "{:?}", stage.said());
    let asked = &model.requests()[0];
    let bearer = format!("Bearer {SECRET}");
    assert!(asked.headers.iter().any(|(_, value)| *value == bearer), "{:?}", asked.headers);
    assert!(!program.errors().contains(SECRET));
}

#[tokio::test]
async fn sighup_applies_what_can_change_and_says_what_cannot() {
    let stage = BotStage::new().await;
    let (first, second) = (model(&[]).await, model(&["The new model speaks."]).await);
    let config = stage.config(&first.url());
    stage.write(&config);
    let program = stage.start(&["run"]);
    program.says("take turns here.").await;

    stage.write(&config.replace("name = \"scripted\"", "nome = \"scripted\""));
    program.signal("-HUP");
    program.says("the configuration stays as it was, because of").await;
    program.says("dirigent.toml:11: agents[0].model.nome: unknown key `nome`").await;

    let mut changed =
        stage.config(&second.url()).replacen("address", "address = \"http://127.0.0.1:1\"\n#", 1);
    write!(changed, "[rules.ceilings.chat]\nturns = 7\n[[agents]]\nname = \"late\"\npersona = {{ name = \"Late\" }}\nmodel = {{ url = \"{}\", name = \"x\" }}\n", second.url()).unwrap();
    stage.write(&changed);
    program.signal("-HUP");
    program
        .says("changed now: rules, what speaks for \"optimist\", what speaks for \"sceptic\"")
        .await;
    program.says("with the next start only: discord, the new agent \"late\"").await;
    stage.discord.say(stage.channel, stage.person, "Who speaks?");
    until("the new model", || {
        stage.said().iter().any(|(_, words)| words == "The new model speaks.")
    })
    .await;
    assert!(first.requests().is_empty());

    stage.write(
        &config
            .replacen("id = ", "mode = \"none\"\nid = ", 1)
            .replace("name = \"sceptic\"", "name = \"critic\""),
    );
    program.signal("-HUP");
    program.says("its mode is none").await;
    program.says("\"sceptic\" is gone").await;
    program.signal("-TERM");
    let (code, _, log) = program.end().await;
    assert_eq!(code, Some(0), "{log}");
}

#[tokio::test]
async fn a_token_that_discord_refuses_ends_the_program_with_a_sentence() {
    let stage = BotStage::new().await;
    stage.write(&stage.config("http://127.0.0.1:1/v1"));
    let mut command = stage.command(&["run"]);
    command.env("TOKEN_OF_THIS_TEST", "wrong.token.here");
    let (code, _, log) = crate::stage::Program::start(command).end().await;
    assert_eq!(code, Some(1), "{log}");
    assert!(log.lines().last().unwrap_or_default().contains("token"), "{log}");
    assert!(!log.contains("wrong.token.here"), "{log}");
}

#[tokio::test]
async fn a_run_that_asked_ends_at_the_process_that_follows_a_kill() {
    let stage = BotStage::new().await;
    let (developer, reviewer) = (stage.discord.add_bot(), stage.discord.add_bot());
    for bot in [developer, reviewer] {
        assert!(stage.discord.join(stage.channel, bot));
    }
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let agent = |name: &str, account| {
        format!("[[agents]]\nname = \"{name}\"\nkind = \"asks\"\naccount = \"{account}\"\n")
    };
    stage.write(&format!(
        "[discord]\ntoken = {{ env = \"TOKEN_OF_THIS_TEST\" }}\naddress = \"http://{}\"\n[store]\nsqlite = \"state/dirigent.sqlite\"\n\
         [[channels]]\nid = \"{}\"\n\
         [front]\nlisten = \"127.0.0.1:{port}\"\nhosts = [{{ name = \"desk\", secret = {{ env = \"SECRET_OF_THIS_TEST\" }}, agents = [\"developer\", \"reviewer\"] }}]\n\
         {}{}",
        stage.server.address(),
        stage.channel,
        agent("developer", developer),
        agent("reviewer", reviewer),
    ));
    let (front, asker) = (format!("127.0.0.1:{port}"), format!("desk.{SECRET}"));
    let program = stage.start(&["run", "--verbose"]);
    program.says("take turns here.").await;
    let alive = json!({ "agents": ["developer", "reviewer"] }).to_string();
    assert_eq!(http(&front, "POST /v1/heartbeat", &asker, &alive).await.0, 200);
    stage.discord.say(stage.channel, stage.person, "Should we build it?");
    program.says("is=\"granted\"").await;
    let mut run = json!({ "channel": stage.channel.to_string(), "run": "1" });
    let mut is_allowed = false;
    for name in ["developer", "reviewer"] {
        if !is_allowed {
            run["agent"] = name.into();
            let (_, answer) = http(&front, "POST /v1/begin", &asker, &run.to_string()).await;
            is_allowed = answer.contains("\"allowed\":true");
        }
    }
    assert!(is_allowed, "{}", program.errors());
    program.signal("-KILL");
    let (_, _, log) = program.end().await;
    let program = stage.start(&["run", "--verbose"]);
    program.says("take turns here.").await;
    run["outcome"] = "spoke".into();
    run["text"] = "I would build it.".into();
    let (status, answer) = http(&front, "POST /v1/end", &asker, &run.to_string()).await;
    let log = format!("{log}\n{}", program.errors());
    assert!(status == 200 && answer.contains("\"accepted\":true"), "{status} {answer}\n{log}");
}
