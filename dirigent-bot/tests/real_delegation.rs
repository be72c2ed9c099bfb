//! The whole chain with what is not ours: a person asks in a channel of a Discord on this machine, a hosted agent delegates to the
//! real opencode, that asks a real language model, and the result stands in the channel. `.ci/opencode --real` has both and runs
//! this; `DIRIGENT_OPENCODE` is the program, `DIRIGENT_LLM_URL` says where the model is, and `DIRIGENT_LLM_MODEL` is its name there.

use std::env;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use dirigent::prelude::*;
use dirigent_delegate::config::OrchestratorConfig;
use dirigent_delegate::model::{ChatAnswer, ModelError, ModelToolCall, Question, RoutingModel};
use dirigent_delegate::{OpenCode, Router, RouterAgent};
use dirigent_discord::{DiscordAccount, Feed};
use futures_util::StreamExt as _;
use serde_json::json;
use twilight_gateway::{ConfigBuilder, Message, Shard, ShardId};

use crate::stage::{BotStage, within};

/// How long the model may take. opencode's instructions are 160 tokens with the prompt below, which a busy machine reads in a minute.
const PATIENCE: Duration = Duration::from_secs(20 * 60);
const QUESTION: &str = "Say hello in one short sentence.";

/// Delegates everything: a model that is small enough for this machine does not choose among agents.
struct Everything;

#[dirigent::async_trait]
impl RoutingModel for Everything {
    async fn ask(&self, _: &str, question: &Question<'static>) -> Result<ChatAnswer, ModelError> {
        let message = Some(json!({ "message": question.user_message() }));
        Ok(ChatAnswer::calls(vec![ModelToolCall::new("1", "delegate_to_opencode", message)]))
    }
}

/// opencode in a home and a project of its own. Its model has room for little, so it gets short instructions and no tools.
fn opencode(folder: &std::path::Path) -> (OpenCode, OrchestratorConfig) {
    let (url, model) = (
        env::var("DIRIGENT_LLM_URL").unwrap(),
        env::var("DIRIGENT_LLM_MODEL").unwrap_or_else(|_| "default".to_owned()),
    );
    let settings = json!({
        "model": format!("local/{model}"),
        "provider": { "local": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Local",
            "options": { "baseURL": url },
            "models": { &model: { "name": &model, "limit": { "context": 4_096, "output": 128 } } },
        } },
        "permission": { "*": "deny" },
        "agent": {
            "build": { "prompt": "Answer in one short sentence.", "tools": { "*": false } },
            "title": { "disable": true },
        },
    });
    for name in ["home", "project"] {
        std::fs::create_dir(folder.join(name)).unwrap();
    }
    std::fs::write(folder.join("project/opencode.json"), settings.to_string()).unwrap();
    let config = OrchestratorConfig::new(|config| {
        config.enabled = true;
        let opencode = &mut config.agents.opencode;
        opencode.binary = env::var("DIRIGENT_OPENCODE").unwrap();
        opencode.model = Some(format!("local/{model}"));
        opencode.timeout_ms =
            NonZeroU64::new(u64::try_from(PATIENCE.as_millis()).unwrap()).unwrap();
    });
    let settings = ["AUTOUPDATE", "MODELS_FETCH", "DEFAULT_PLUGINS", "LSP_DOWNLOAD"];
    let agent = OpenCode::new().workspace(folder.join("project")).env("HOME", folder.join("home"));
    let agent = settings
        .iter()
        .fold(agent, |agent, name| agent.env(format!("OPENCODE_DISABLE_{name}"), "1"));
    (agent.without_env("XDG_CONFIG_HOME").without_env("XDG_DATA_HOME"), config)
}

#[tokio::test]
#[ignore = "needs opencode and a language model: .ci/opencode --real"]
async fn a_question_in_a_channel_is_answered_by_a_model_behind_opencode() {
    let stage = BotStage::new().await;
    let coder = stage.discord.add_bot();
    assert!(stage.discord.join(stage.channel, coder));
    let address = stage.server.address();
    let account = |bot| {
        let account = DiscordAccount::builder(stage.server.token(bot), SystemClock::new());
        Arc::new(account.proxy(format!("http://{address}")).build().unwrap())
    };
    let (agent, config) = opencode(stage.folder.path());
    let router = Router::builder(Everything).config(config).open_code(agent).build().unwrap();
    let behind = agent_fn(|_: Turn| async { Ok(Reply::Pass) });
    let moderator = account(stage.moderator);
    let (dirigent, driver) = Dirigent::builder(moderator.clone())
        .config(Config::default().with(|config| {
            config.order.single_agent = true;
            config.deadlines.run = Some(PATIENCE);
        }))
        .host("coder", RouterAgent::new(router, behind), account(coder))
        .build()
        .unwrap();
    let driver = tokio::spawn(driver.run());
    let (feed, work) = Feed::builder(dirigent.clone(), moderator, Feed::INTENTS).build();
    let work = tokio::spawn(work.run());
    let config = ConfigBuilder::new(stage.server.token(stage.moderator), Feed::INTENTS);
    let mut shard =
        Shard::with_config(ShardId::ONE, config.proxy_url(format!("ws://{address}")).build());
    let hearing = tokio::spawn(async move {
        let events = feed.shard(ShardId::ONE);
        while let Some(message) = shard.next().await {
            match message {
                Ok(Message::Text(text)) => events.text(&text),
                Ok(Message::Close(frame)) => _ = events.closed(frame.map(|frame| frame.code)),
                Err(_) => _ = events.closed(None),
            }
        }
    });
    dirigent.channel(stage.channel).set_mode(Mode::Chat).await.unwrap();

    let clock = SystemClock::new();
    let asked = clock.now();
    stage.discord.say(stage.channel, stage.person, QUESTION);
    let answer = || {
        let messages = stage.discord.messages(stage.channel);
        messages.iter().find(|it| it.author == coder).map(|it| it.content.to_string())
    };
    assert!(within(PATIENCE * 2, || answer().is_some()).await, "{:?}", stage.said());
    let (answer, took) = (answer().unwrap(), clock.now().since(asked));
    println!("{} characters after {} s: {answer}", answer.chars().count(), took.as_secs());
    assert!(!answer.trim().is_empty() && !answer.contains("Error:**"), "{answer}");
    for task in [hearing, work] {
        task.abort();
    }
    driver.abort();
}
