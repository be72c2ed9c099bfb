//! The coding agent opencode, as a process for each task or as a session of a server.
//!
//! `server` starts `opencode serve`, `client` and `wire` ask it, `heard` reads its events, and `prompt` performs one
//! task. The server is read again after each event, because events can be lost.

#[cfg(feature = "serve")]
mod client;
#[cfg(feature = "serve")]
mod heard;
#[cfg(feature = "serve")]
mod prompt;
#[cfg(feature = "serve")]
mod serve;
#[cfg(feature = "serve")]
mod server;
#[cfg(feature = "serve")]
mod wire;

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use async_trait::async_trait;
use dirigent::Clock;
use dirigent::host::IntoShared;

use crate::cli::{CliDelegate, CliLimits};
use crate::config::{OpencodeMode, OrchestratorConfig};
use crate::delegate::{Delegate, Task, TaskOutcome};
#[cfg(feature = "serve")]
use crate::permission::{PermissionReply, PermissionRequest};
use crate::process::Guard;

/// The coding agent opencode. [`OpenCodeConfig`](crate::config::OpenCodeConfig) names the program, and decides whether
/// each task is a process (`opencode run`) or a prompt in a session of a server (`opencode serve`).
///
/// In mode `serve` the first task starts the server, on 127.0.0.1 and with a random password. It is killed when you
/// drop the last clone of this value. Each of your sessions has its own session there. A task that is late or cancelled
/// is aborted.
///
/// ```
/// use dirigent_delegate::{OpenCode, Router};
/// # use dirigent_delegate::model::{ChatAnswer, ModelError, Question, RoutingModel};
/// # struct Silent;
/// # #[dirigent::async_trait]
/// # impl RoutingModel for Silent {
/// #     async fn ask(&self, _: &str, _: &Question<'static>) -> Result<ChatAnswer, ModelError> { Ok(ChatAnswer::text("Hello!")) }
/// # }
///
/// let coder = OpenCode::new().workspace("/srv/bot/workspace").pass_env("ANTHROPIC_API_KEY");
/// let router = Router::builder(Silent).open_code(coder).build()?;
/// # drop(router);
/// # Ok::<(), dirigent_delegate::RouterBuildError>(())
/// ```
#[derive(Clone)]
pub struct OpenCode {
    process: CliDelegate,
    #[cfg(feature = "serve")]
    serve: serve::Serve,
}

impl Default for OpenCode {
    fn default() -> Self {
        Self::new()
    }
}

impl OpenCode {
    /// Creates an agent that works in the folder of your process. No process is started yet.
    pub fn new() -> Self {
        Self {
            process: CliDelegate::new("opencode"),
            #[cfg(feature = "serve")]
            serve: serve::Serve::default(),
        }
    }

    fn with(mut self, change: impl FnOnce(CliDelegate) -> CliDelegate) -> Self {
        self.process = change(self.process);
        self
    }

    /// Sets the folder in which opencode works. By default it is that of your process.
    #[must_use]
    pub fn workspace(self, folder: impl Into<PathBuf>) -> Self {
        self.with(|process| process.workspace(folder))
    }

    /// Sets a variable of opencode's environment. By default it gets only the usual ones, like a
    /// [`CliDelegate`](CliDelegate::env).
    #[must_use]
    pub fn env(self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.with(|process| process.env(name, value))
    }

    /// Passes on a variable of your process, if it is set. For example, use it for the key of the provider that
    /// opencode uses. An agent with a shell can read it.
    #[must_use]
    pub fn pass_env(self, name: impl Into<OsString>) -> Self {
        self.with(|process| process.pass_env(name))
    }

    /// Passes on all variables of your process, except those of [`without_env`](Self::without_env). By default only the
    /// usual ones are passed on.
    #[must_use]
    pub fn pass_all_env(self) -> Self {
        self.with(CliDelegate::pass_all_env)
    }

    /// Removes a variable from opencode's environment. This alone hides no secret:
    /// [`hide_process`](crate::hide_process) says why.
    #[must_use]
    pub fn without_env(self, name: impl Into<OsString>) -> Self {
        self.with(|process| process.without_env(name))
    }

    /// Changes the limits of a process in mode `cli`.
    #[must_use]
    pub fn limits(self, change: impl FnOnce(&mut CliLimits)) -> Self {
        self.with(|process| process.limits(change))
    }

    /// Lets a guard clean up if your own process is killed. Without a guard opencode then goes on.
    #[must_use]
    pub fn guard(self, guard: Guard) -> Self {
        self.with(|process| process.guard(guard))
    }

    /// Sets the clock. By default it is the [`SystemClock`](dirigent::SystemClock); set another one in tests.
    #[must_use]
    pub fn clock(self, clock: impl IntoShared<dyn Clock>) -> Self {
        self.with(|process| process.clock(clock))
    }

    /// Uses a server that already runs at this address, in mode `serve`. By default a server is started.
    #[cfg(feature = "serve")]
    #[must_use]
    pub fn at(mut self, address: impl Into<String>, password: impl Into<String>) -> Self {
        self.serve.use_address(address.into(), password.into());
        self
    }

    /// Sets a function that answers opencode's requests for permission, in mode `serve`. opencode asks as its own
    /// configuration says. By default every request is rejected.
    #[cfg(feature = "serve")]
    #[must_use]
    pub fn permissions(
        mut self,
        decide: impl Fn(&PermissionRequest) -> PermissionReply + Send + Sync + 'static,
    ) -> Self {
        self.serve.decide_by(decide);
        self
    }

    /// Runs a task as a process.
    async fn run_process(&self, task: Task) -> TaskOutcome {
        let process = self.process.clone().option("run").model_option("--model");
        let mut process = process.thinking_option("--variant").image_option("--file");
        process.set_program(&task.config().agents.opencode.binary);
        process.run(task).await
    }

    #[cfg(feature = "serve")]
    async fn run_session(&self, task: Task) -> TaskOutcome {
        self.serve.run(&self.process, task).await.plain()
    }
}

/// Returned in mode `serve` if the client is not compiled in.
#[cfg(not(feature = "serve"))]
const NO_CLIENT: &str =
    "opencode cannot be used as a server: this program is built without the feature `serve`.";

#[async_trait]
impl Delegate for OpenCode {
    async fn run(&self, task: Task) -> TaskOutcome {
        match task.config().agents.opencode.mode {
            OpencodeMode::Cli => self.run_process(task).await,
            #[cfg(feature = "serve")]
            OpencodeMode::Serve => self.run_session(task).await,
            #[cfg(not(feature = "serve"))]
            OpencodeMode::Serve => TaskOutcome::error(NO_CLIENT),
        }
    }

    fn is_single(&self, config: &OrchestratorConfig) -> bool {
        config.agents.opencode.mode == OpencodeMode::Serve
    }
}

impl fmt::Debug for OpenCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenCode").field("process", &self.process).finish_non_exhaustive()
    }
}
