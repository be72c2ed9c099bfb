//! `dirigent check` in a Discord on this machine.

use dirigent_llm::script::{LoopbackLlm, ScriptedAnswer};
use dirigent_loopback::RestRoute;
use dirigent_store::SqliteStore;
use dirigent_testkit::memory_discord::Permissions;
use serde_json::Value;

use crate::stage::{BotStage, Program, SECRET};

/// A stage with a model that answers, and a configuration that is right.
async fn right() -> (BotStage, LoopbackLlm, String) {
    let (stage, model) = (BotStage::new().await, LoopbackLlm::start().await.unwrap());
    model.cycle([ScriptedAnswer::text("Yes.")]);
    let config = stage.config(&model.url()) + "[store]\nsqlite = \"dirigent.sqlite\"\n";
    (stage, model, config)
}

/// Checks this, which must be found wrong with these words.
async fn is_wrong(stage: &BotStage, config: &str, words: &str) {
    stage.write(config);
    let (code, said, log) = stage.start(&["check"]).end().await;
    let line = said.lines().find(|line| line.starts_with("WRONG") && line.contains(words));
    assert!(line.is_some() && code == Some(1), "{words:?} is not in\n{said}{log}");
}

#[tokio::test]
async fn what_is_right_is_said_line_by_line_and_ends_with_code_0() {
    let (stage, model, config) = right().await;
    stage.write(&config);
    let (code, said, log) = stage.start(&["check"]).end().await;
    assert_eq!((code, log.as_str()), (Some(0), ""), "{said}");
    for line in [
        "   ok  configuration: dirigent.toml is understood\n".to_owned(),
        "   ok  store: dirigent.sqlite\n".to_owned(),
        format!("   ok  model scripted at {}: it answers\n", model.url()),
        format!("   ok  moderator: Discord knows the token, of the account {}\n", stage.moderator),
        "   ok  gateway: it lets the moderator in\n".to_owned(),
        format!(
            "   ok  channel {}: 2 of 2 agents can take turns: optimist, sceptic\n",
            stage.channel
        ),
        " hint  discord: the bot lacks the permission Administrator".to_owned(),
    ] {
        assert!(said.contains(&line), "{line:?} is not in\n{said}");
    }
    assert_eq!(model.requests().len(), 1, "one question for an endpoint");
    assert!(stage.said().is_empty(), "nothing is posted");

    let (code, json, _) = stage.start(&["check", "--json"]).end().await;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((code, &json["ok"]), (Some(0), &Value::Bool(true)));
    assert_eq!(json["found"][0]["about"], "configuration");
    assert_eq!(json["found"].as_array().unwrap().len(), said.lines().count());
}

#[tokio::test]
async fn what_is_missing_at_discord_is_named() {
    let (stage, _model, config) = right().await;
    let here = format!("id = \"{}\"", stage.channel);
    let gone = config.replace(&here, "id = \"7\"");
    is_wrong(&stage, &gone, "the channel 7 does not exist, or the bot is not in its server").await;

    let (bot, guild) = (stage.discord.add_bot(), stage.discord.guild(stage.guild));
    let front = format!(
        "[front]\nlisten = \"127.0.0.1:0\"\nhosts = [{{ name = \"desk\", secret = {{ env = \"SECRET_OF_THIS_TEST\" }}, agents = [\"clerk\"] }}]\n\
         [[agents]]\nname = \"clerk\"\nkind = \"asks\"\naccount = \"{bot}\"\n"
    );
    let asks = config.clone() + &front;
    is_wrong(&stage, &asks, "clerk (its bot is not in this server: invite it)").await;
    guild.add_member(bot);
    stage.discord.join(stage.channel, bot);
    stage.discord.channel(stage.channel).set_member_overwrite(
        bot,
        Permissions::VIEW_CHANNEL,
        Permissions::SEND_MESSAGES,
    );
    is_wrong(&stage, &asks, "clerk (").await;

    guild.set_role_permissions(stage.role, Permissions::NONE);
    is_wrong(&stage, &config, "the bot lacks the permission Manage Webhooks in the channel").await;
    stage.server.alter().answers(|answer| {
        if answer.endpoint == RestRoute::GetCurrentApplication {
            answer.body["flags"] = 0.into();
        }
    });
    is_wrong(
        &stage,
        &config,
        "the Message Content Intent is not switched on in the developer portal",
    )
    .await;
}

#[tokio::test]
async fn what_is_wrong_on_this_machine_is_named() {
    let (stage, model, config) = right().await;
    let away = config.replace(&model.url(), "http://127.0.0.1:1/v1");
    is_wrong(&stage, &away, "model scripted at http://127.0.0.1:1/v1: ").await;
    let alone = config.rsplit_once("[[agents]]").unwrap().0;
    is_wrong(&stage, alone, "turns are kept among two or more: add [[agents]]").await;
    let taken = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let page = format!(
        "[page]\nlisten = \"{}\"\noperators = [{{ name = \"ada\", token = {{ env = \"SECRET_OF_THIS_TEST\" }} }}]\n",
        taken.local_addr().unwrap()
    );
    is_wrong(&stage, &(config.clone() + &page), "page: dirigent.toml:21: page.listen: 127.0.0.1:")
        .await;
    let store = SqliteStore::open(stage.folder.path().join("dirigent.sqlite")).unwrap();
    is_wrong(&stage, &config, "dirigent.toml:19: store.sqlite: ").await;
    drop(store);
    is_wrong(&stage, "[discord]\n", "dirigent.toml:1: discord: the key token is missing").await;

    stage.write(&config);
    let mut command = stage.command(&["check"]);
    command.env("TOKEN_OF_THIS_TEST", SECRET);
    let (code, said, _) = Program::start(command).end().await;
    assert!(
        code == Some(1) && said.contains("WRONG  moderator: ") && !said.contains(SECRET),
        "{said}"
    );
}
