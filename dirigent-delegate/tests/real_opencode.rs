//! The real opencode, at a scripted model: a process, a server, and nothing left after an abort. `.ci/opencode` installs it and runs
//! these; `DIRIGENT_OPENCODE` says where the program is.

use std::fs;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use dirigent::Clock as _;
use dirigent_delegate::config::{OpencodeMode, OrchestratorConfig};
use dirigent_delegate::{
    Delegate as _, DelegationStatus, Guard, OpenCode, Router, Task, UserRequest,
};
use dirigent_llm::script::{LoopbackLlm, ScriptedAnswer};
use dirigent_testkit::ManualClock;
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::Notify;

use crate::cli::until;
use crate::fixture::{OPENCODE, Script, calls};

/// What opencode fetches at its start, switched off.
const SETTINGS: [&str; 4] = [
    "OPENCODE_DISABLE_AUTOUPDATE",
    "OPENCODE_DISABLE_MODELS_FETCH",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS",
    "OPENCODE_DISABLE_LSP_DOWNLOAD",
];

/// A run that is killed in the middle leaves no opencode.
fn guard() -> Guard {
    Guard::program(env!("CARGO_BIN_EXE_delegate-guard"))
}

/// opencode in a home and a project of its own, at a model of its own.
struct Workshop {
    model: LoopbackLlm,
    folder: TempDir,
    config: OrchestratorConfig,
}

impl Workshop {
    async fn new(mode: OpencodeMode) -> Self {
        let program =
            std::env::var("DIRIGENT_OPENCODE").expect("DIRIGENT_OPENCODE names the program");
        let (model, folder) = (LoopbackLlm::start().await.unwrap(), TempDir::new().unwrap());
        let provider = json!({
            "npm": "@ai-sdk/openai-compatible",
            "name": "Local",
            "options": { "baseURL": model.url() },
            "models": { "smol": { "name": "smol", "limit": { "context": 8_192, "output": 512 } } },
        });
        let settings = json!({ "model": "local/smol", "provider": { "local": provider }, "permission": { "*": "deny" } });
        for name in ["home", "project"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        fs::write(folder.path().join("project/opencode.json"), settings.to_string()).unwrap();
        let config = OrchestratorConfig::new(|config| {
            config.enabled = true;
            let opencode = &mut config.agents.opencode;
            (opencode.mode, opencode.binary) = (mode, program);
            opencode.model = Some("local/smol".to_owned());
            opencode.timeout_ms = NonZeroU64::new(240_000).unwrap();
        });
        Self { model, folder, config }
    }

    fn agent(&self) -> OpenCode {
        let folder = self.folder.path();
        let agent = OpenCode::new().workspace(folder.join("project")).guard(guard());
        let agent = SETTINGS.iter().fold(agent, |agent, name| agent.env(name, "1"));
        let agent = agent.env("HOME", folder.join("home"));
        agent.without_env("XDG_CONFIG_HOME").without_env("XDG_DATA_HOME")
    }

    /// What a router that delegates everything to opencode answers.
    async fn ask(&self, agent: OpenCode, message: &str) -> dirigent_delegate::Response {
        let script = Script::new([calls(&[(OPENCODE, message)])]);
        let router =
            Router::builder(script).config(self.config.clone()).open_code(agent).build().unwrap();
        router.answer(UserRequest::new("channel-7", message)).await.unwrap()
    }

    fn task(&self, message: &str) -> Task {
        Task::new(message)
            .with_request(UserRequest::new("channel-7", message))
            .with_config(self.config.clone())
            .with_model("local/smol")
    }

    /// How many processes have this home.
    fn processes(&self) -> usize {
        let home = format!("HOME={}", self.folder.path().join("home").display());
        let has_home = |process: &Path| {
            let environment = fs::read(process.join("environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == home.as_bytes())
        };
        let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        processes.filter(|process| has_home(&process.path())).count()
    }

    async fn is_empty(&self) {
        until(|| self.processes() == 0).await;
    }
}

/// R303, R304
#[tokio::test]
#[ignore = "needs opencode: .ci/opencode"]
async fn a_task_is_delegated_to_a_process() {
    let workshop = Workshop::new(OpencodeMode::Cli).await;
    workshop.model.cycle([ScriptedAnswer::text("Hello from the model.")]);
    let response = workshop.ask(workshop.agent(), "--attach=http://127.0.0.1:1 Say hello").await;
    let result = &response.agent_results[0];
    assert_eq!(result.status, DelegationStatus::Success, "{:?}", result.error_message);
    assert_eq!(response.payloads[0].text.trim(), "Hello from the model.");
    let asked = workshop.model.requests();
    let is_asked = asked
        .iter()
        .any(|request| request.body.to_string().contains("--attach=http://127.0.0.1:1 Say hello"));
    assert!(is_asked, "the message came to the model as it is");
    workshop.is_empty().await;
}

/// R318
#[cfg(feature = "acp")]
#[tokio::test]
#[ignore = "needs opencode: .ci/opencode"]
async fn a_task_is_delegated_by_the_agent_client_protocol() {
    let workshop = Workshop::new(OpencodeMode::Cli).await;
    workshop.model.cycle([ScriptedAnswer::text("Hello from the model.")]);
    let agent = dirigent_delegate::CliDelegate::new(&workshop.config.agents.opencode.binary);
    let folder = workshop.folder.path();
    let agent = agent.option("acp").workspace(folder.join("project")).guard(guard());
    let agent = SETTINGS.iter().fold(agent, |agent, name| agent.env(name, "1"));
    let agent = agent.env("HOME", folder.join("home")).without_env("XDG_CONFIG_HOME");
    let agent = dirigent_delegate::AcpDelegate::new(agent.without_env("XDG_DATA_HOME"));
    let outcome = agent.run(workshop.task("Say hello")).await;
    assert_eq!(outcome.status, DelegationStatus::Success, "{:?}", outcome.error_message);
    assert_eq!(outcome.output, "Hello from the model.");
    workshop.is_empty().await;
}

/// R306
#[tokio::test]
#[ignore = "needs opencode: .ci/opencode"]
async fn a_process_that_is_aborted_in_the_middle_leaves_nothing() {
    let workshop = Workshop::new(OpencodeMode::Cli).await;
    workshop.model.cycle([stalling()]);
    let agent = workshop.agent();
    tokio::select! {
        outcome = agent.run(workshop.task("Count")) => panic!("it ended: {outcome:?}"),
        () = async {
            workshop.model.requested(1).await;
            assert!(workshop.processes() > 0);
        } => {}
    }
    workshop.is_empty().await;
}

/// R306, R312
///
/// One server, since its start is most of the time that this takes.
#[tokio::test]
#[ignore = "needs opencode: .ci/opencode"]
async fn a_server_remembers_its_session_and_gives_up_what_is_aborted_or_late() {
    let workshop = Workshop::new(OpencodeMode::Serve).await;
    let agent = workshop.agent();
    let all = async {
        remembers(&workshop, &agent).await;
        workshop.model.cycle([stalling()]);
        aborts(&workshop, &agent).await;
        is_late(&workshop, &agent).await;
    };
    // Nothing here waits for a time to pass, and so a server that hangs would be waited for without end.
    tokio::time::timeout(Duration::from_secs(300), all).await.expect("the server hangs");
    assert!(workshop.processes() > 0);
    drop(agent);
    workshop.is_empty().await;
}

/// An answer that begins and does not go on.
fn stalling() -> ScriptedAnswer {
    ScriptedAnswer { stalls_after: Some(3), ..ScriptedAnswer::text("One two three four five.") }
}

async fn remembers(workshop: &Workshop, agent: &OpenCode) {
    workshop.model.cycle([ScriptedAnswer::text("Hello from the model.")]);
    for message in ["--attach=http://127.0.0.1:1 Say hello", "And again"] {
        let response = workshop.ask(agent.clone(), message).await;
        let result = &response.agent_results[0];
        assert_eq!(result.status, DelegationStatus::Success, "{:?}", result.error_message);
        assert_eq!(response.payloads[0].text, "Hello from the model.");
        assert_eq!(result.model.as_deref(), Some("local/smol"));
        assert!(result.token_usage.is_some_and(|usage| usage.input + usage.output > 0));
    }
    let last = workshop.model.requests().pop().unwrap().body.to_string();
    assert!(last.contains("Say hello") && last.contains("And again"), "the session remembers");
}

/// The session is aborted, which ends its request to the model.
async fn aborts(workshop: &Workshop, agent: &OpenCode) {
    let (said, task) = (Arc::new(Notify::new()), workshop.task("Count"));
    let telling = Arc::clone(&said);
    let task = task.on_progress(move |so_far| {
        assert!("One two ".starts_with(so_far), "only the model's words are told");
        if so_far == "One two " {
            telling.notify_one();
        }
    });
    tokio::select! {
        outcome = agent.run(task) => panic!("it ended: {outcome:?} {:?}", outcome.error_message),
        () = said.notified() => {}
    }
    workshop.model.given_up(1).await;
}

/// The deadline comes once the model has begun: the clock is moved by hand.
async fn is_late(workshop: &Workshop, agent: &OpenCode) {
    let clock = ManualClock::new();
    let (agent, moving) = (agent.clone().clock(clock.clone()), clock.clone());
    let deadline = clock.now() + Duration::from_secs(1);
    let task = workshop.task("Count again").with_deadline(deadline);
    let task = task.on_progress(move |so_far| {
        if so_far == "One two " {
            moving.advance(Duration::from_secs(1));
        }
    });
    let outcome = agent.run(task).await;
    assert_eq!(
        (outcome.status, &*outcome.output),
        (DelegationStatus::Timeout, "One two"),
        "{:?}",
        outcome.error_message
    );
    workshop.model.given_up(2).await;
}
