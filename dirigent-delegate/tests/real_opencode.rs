//! The real opencode, at a scripted model: a process, a server, and nothing left after an abort. `.ci/opencode` installs it and runs
//! these; `DIRIGENT_OPENCODE` says where the program is.

use std::fs;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use dirigent::{Clock as _, SystemClock};
use dirigent_delegate::config::{Mode, OrchestratorConfig};
use dirigent_delegate::{Delegate as _, OpenCode, Request, Router, Status, Task};
use dirigent_llm_loopback::{Answer, LoopbackLlm};
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::Notify;

use crate::cli::until;
use crate::fixture::{OPENCODE, Script, calls};

/// opencode in a home and a project of its own, at a model of its own.
struct Workshop {
    model: LoopbackLlm,
    folder: TempDir,
    config: OrchestratorConfig,
}

impl Workshop {
    async fn new(mode: Mode) -> Self {
        let program =
            std::env::var("DIRIGENT_OPENCODE").expect("DIRIGENT_OPENCODE names the program");
        let (model, folder) = (LoopbackLlm::start().await.unwrap(), TempDir::new().unwrap());
        let provider = json!({
            "npm": "@ai-sdk/openai-compatible",
            "name": "Local",
            "options": { "baseURL": model.url() },
            "models": { "smol": { "name": "smol", "limit": { "context": 8_192, "output": 512 } } },
        });
        let settings = json!({ "provider": { "local": provider }, "permission": { "*": "deny" } });
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
        OpenCode::new()
            .workspace(folder.join("project"))
            .env("HOME", folder.join("home"))
            .env("OPENCODE_DISABLE_AUTOUPDATE", "1")
            .env("OPENCODE_DISABLE_MODELS_FETCH", "1")
            .env("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1")
            .env("OPENCODE_DISABLE_LSP_DOWNLOAD", "1")
            .without_env("XDG_CONFIG_HOME")
            .without_env("XDG_DATA_HOME")
    }

    /// What a router that delegates everything to opencode answers.
    async fn ask(&self, agent: OpenCode, message: &str) -> dirigent_delegate::Response {
        let script = Script::new([calls(&[(OPENCODE, message)])]);
        let router =
            Router::builder(script).config(self.config.clone()).open_code(agent).build().unwrap();
        router.answer(Request::new("channel-7", message)).await.unwrap()
    }

    fn task(&self, message: &str) -> Task {
        Task::new(message)
            .with_request(Request::new("channel-7", message))
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
    let workshop = Workshop::new(Mode::Cli).await;
    workshop.model.cycle([Answer::text("Hello from the model.")]);
    let response = workshop.ask(workshop.agent(), "--attach=http://127.0.0.1:1 Say hello").await;
    let result = &response.agent_results[0];
    assert_eq!(result.status, Status::Success, "{:?}", result.error_message);
    assert_eq!(response.payloads[0].text.trim(), "Hello from the model.");
    let asked = workshop.model.requests();
    let is_asked = asked
        .iter()
        .any(|request| request.body.to_string().contains("--attach=http://127.0.0.1:1 Say hello"));
    assert!(is_asked, "the message came to the model as it is");
    workshop.is_empty().await;
}

#[tokio::test]
#[ignore = "needs opencode: .ci/opencode"]
async fn tasks_are_delegated_to_a_server_in_one_session_and_it_ends_with_the_agent() {
    let workshop = Workshop::new(Mode::Serve).await;
    workshop.model.cycle([Answer::text("Hello from the model.")]);
    let agent = workshop.agent();
    for message in ["--attach=http://127.0.0.1:1 Say hello", "And again"] {
        let response = workshop.ask(agent.clone(), message).await;
        let result = &response.agent_results[0];
        assert_eq!(result.status, Status::Success, "{:?}", result.error_message);
        assert_eq!(response.payloads[0].text, "Hello from the model.");
        assert_eq!(result.model.as_deref(), Some("local/smol"));
        assert!(result.token_usage.is_some_and(|usage| usage.input + usage.output > 0));
    }
    let last = workshop.model.requests().pop().unwrap().body.to_string();
    assert!(last.contains("Say hello") && last.contains("And again"), "the session remembers");
    assert!(workshop.processes() > 0);
    drop(agent);
    workshop.is_empty().await;
}

/// R306
#[tokio::test]
#[ignore = "needs opencode: .ci/opencode"]
async fn a_task_that_is_aborted_in_the_middle_leaves_no_process() {
    for mode in [Mode::Cli, Mode::Serve] {
        let workshop = Workshop::new(mode).await;
        workshop
            .model
            .cycle([Answer { stalls_after: Some(3), ..Answer::text("One two three four five.") }]);
        let agent = workshop.agent();
        let (asked, task) = (Arc::new(Notify::new()), workshop.task("Count"));
        let telling = Arc::clone(&asked);
        let task = task.on_progress(move |_| telling.notify_one());
        tokio::select! {
            outcome = agent.run(task) => panic!("it ended: {outcome:?} {:?}", outcome.error_message),
            () = async {
                workshop.model.requested(1).await;
                if mode == Mode::Serve {
                    asked.notified().await;
                }
            } => {}
        }
        if mode == Mode::Serve {
            // The session is told to stop, which ends its request to the model.
            workshop.model.given_up(1).await;
        }
        drop(agent);
        workshop.is_empty().await;
    }
}

/// R306, R312
#[tokio::test]
#[ignore = "needs opencode: .ci/opencode"]
async fn a_task_that_is_late_is_a_timeout_with_what_was_said() {
    let workshop = Workshop::new(Mode::Serve).await;
    workshop.model.cycle([Answer::text("Ready.")]);
    let agent = workshop.agent();
    assert_eq!(agent.run(workshop.task("Begin")).await.status, Status::Success);
    workshop
        .model
        .cycle([Answer { stalls_after: Some(3), ..Answer::text("One two three four five.") }]);
    let deadline = SystemClock::new().now() + Duration::from_secs(4);
    let outcome = agent.run(workshop.task("Count").with_deadline(deadline)).await;
    assert_eq!(
        (outcome.status, &*outcome.output),
        (Status::Timeout, "One two"),
        "{:?}",
        outcome.error_message
    );
    drop(agent);
    workshop.is_empty().await;
}
