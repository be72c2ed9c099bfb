//! Shows a message, the agents that answer it, and what they say.
//!
//! Without `--url` a scripted model decides and scripted agents answer. With `--url` a model at a chat endpoint
//! decides. opencode then runs if it is installed, and the model itself plays the other agents.
#![expect(clippy::print_stdout, reason = "a program for the terminal")]

use std::process::ExitCode;

use clap::{Arg, Command};
use dirigent_delegate::config::OrchestratorConfig;
use dirigent_delegate::llm::{ModelDelegate, Providers};
use dirigent_delegate::model::{ChatAnswer, ModelError, ModelToolCall, Question, RoutingModel};
use dirigent_delegate::{
    AgentKind, OpenCode, Response, Router, RouterBuilder, Task, TaskOutcome, UserRequest,
    delegate_fn,
};
use dirigent_llm::Endpoint;
use serde_json::json;

/// Decides by words, where a real model would go by their meaning.
struct Words;

#[dirigent::async_trait]
impl RoutingModel for Words {
    async fn ask(
        &self,
        _model: &str,
        question: &Question<'static>,
    ) -> Result<ChatAnswer, ModelError> {
        let message = question.user_message();
        let lower = message.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let mut calls = Vec::new();
        let mut call = |tool: &str| {
            let arguments = Some(json!({ "message": message }));
            calls.push(ModelToolCall::new(tool, format!("delegate_to_{tool}"), arguments));
        };
        if has(&["research", "what", "who", "when", "weather"]) {
            call("research");
        }
        if has(&["write", "create", "code", "script", "debug", "component"]) {
            call("opencode");
        }
        if has(&["send", "remind", "schedule"]) {
            call("moltbot");
        }
        if calls.is_empty() {
            return Ok(ChatAnswer::text("Hello! What can be done for you?"));
        }
        Ok(ChatAnswer::calls(calls))
    }
}

fn by_script() -> RouterBuilder {
    let says = |words: &'static str| {
        delegate_fn(move |task: Task| async move {
            TaskOutcome::success(format!("{words} \"{}\"", task.message()))
        })
    };
    Router::builder(Words)
        .config(OrchestratorConfig::new(|config| config.enabled = true))
        .open_code(says("Written, as asked:"))
        .research(says("Found, on the question"))
        .embedded(says("Done:"))
}

fn by_model(url: &str, model: &str) -> RouterBuilder {
    let name = format!("example/{model}");
    let mut endpoint = Endpoint::new(url, model).field("max_tokens", 300);
    if let Ok(key) = std::env::var("DIRIGENT_LLM_KEY") {
        endpoint = endpoint.key(key);
    }
    let providers = Providers::new().provider("example", endpoint);
    let agent = |persona: &str| ModelDelegate::new(providers.clone(), &name).persona(persona);
    let config =
        OrchestratorConfig::new(|config| (config.enabled, config.model) = (true, name.clone()));
    Router::builder(providers.clone())
        .config(config)
        .open_code(OpenCode::new())
        .research(agent("You answer questions in a few sentences."))
        .embedded(agent("You are a helpful assistant, and brief."))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments = Command::new("delegate")
        .about("Routes a message to specialised agents")
        .arg(Arg::new("message").value_name("MESSAGE").required(true).help("What a person says"))
        .arg(Arg::new("url").long("url").value_name("URL").help(
            "A chat endpoint, such as http://127.0.0.1:11434/v1; without it a script decides",
        ))
        .arg(
            Arg::new("model")
                .long("model")
                .value_name("NAME")
                .default_value("default")
                .help("The model's name there"),
        )
        .get_matches();
    let text = |name: &str| arguments.get_one::<String>(name).map(String::as_str);
    let builder = match (text("url"), text("model")) {
        (Some(url), Some(model)) => by_model(url, model),
        _ => by_script(),
    };
    let router = match builder.build() {
        Ok(router) => router,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let message = text("message").unwrap_or_default();
    match router.answer(UserRequest::new("example", message)).await {
        Ok(response) => show(&response),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn show(response: &Response) -> ExitCode {
    let kinds: Vec<&str> = response.meta.delegated_agents.iter().map(AgentKind::as_str).collect();
    let decision = if kinds.is_empty() {
        "answered directly".to_owned()
    } else {
        format!("delegated to {}", kinds.join(", "))
    };
    println!(
        "decision: {decision} (by {:?}, {} ms)\n",
        response.meta.orchestrator_model, response.meta.wall_ms
    );
    println!("{}", response.text());
    let is_well = response.payloads.iter().any(|payload| !payload.is_error);
    if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
