//! Agents that are programs.

mod attachment;

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use dirigent::host::IntoShared;
use dirigent::{Clock, SystemClock};

use crate::delegate::{Delegate, Task, TaskOutcome};
use crate::process::{Bounds, End, Ended, Environment, Guard, Launch};
use crate::terminal::{progress, text, with_complaint};
use attachment::Attachments;

/// The longest message that a program can get, in bytes. Systems limit the length of an argument.
pub(crate) const MESSAGE_MAX: usize = 100_000;

/// An agent that is a program. Each task starts it, with the message as its last argument after `--`. Its standard
/// output is the result. No shell is involved, so no character of a message has a special meaning.
///
/// The result is text without escapes of terminals (for example colours) and without control characters. White space
/// stays as it is, including TAB and carriage return. A backspace removes the character before it.
///
/// The program has no input, and leads a process group of its own. It is killed if it is late, silent for too long or
/// too talkative, if the task is cancelled, or if the future is dropped. Everything that it started is killed with it.
/// The same happens to what it leaves behind when it ends by itself.
///
/// ```
/// use dirigent_delegate::{CliDelegate, Delegate, DelegationStatus, Task};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let echo = CliDelegate::new("printf").option("%s").option("said:%s");
/// # let _ = &echo;
/// let cat = CliDelegate::new("basename");
/// let outcome = cat.run(Task::new("--help/me")).await;
/// assert_eq!((outcome.status, &*outcome.output), (DelegationStatus::Success, "me\n"));
/// # }
/// ```
#[derive(Clone)]
pub struct CliDelegate {
    program: OsString,
    options: Vec<OsString>,
    model_option: Option<OsString>,
    thinking_option: Option<OsString>,
    image_option: Option<OsString>,
    folder: Option<PathBuf>,
    environment: Environment,
    limits: CliLimits,
    guard: Option<Guard>,
    clock: Arc<dyn Clock>,
}

/// Limits of a program, in addition to the task's deadline.
///
/// ```
/// let limits = dirigent_delegate::CliLimits::default();
/// assert_eq!((limits.idle.as_secs(), limits.output), (120, 1_048_576));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CliLimits {
    /// The longest time without output. Default 120 s.
    pub idle: Duration,
    /// The most bytes that the program may write to each of its outputs. If it writes more, it is killed, and what it
    /// wrote is a partial result. Default 1 MiB.
    pub output: usize,
}

impl Default for CliLimits {
    fn default() -> Self {
        Self { idle: Duration::from_secs(120), output: 1_024 * 1_024 }
    }
}

impl CliDelegate {
    /// Creates an agent from a program. Give a path, or a name that each task looks up in `PATH`.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            options: Vec::new(),
            model_option: None,
            thinking_option: None,
            image_option: None,
            folder: None,
            environment: Environment::default(),
            limits: CliLimits::default(),
            guard: None,
            clock: Arc::new(SystemClock::new()),
        }
    }

    /// Adds an argument before the message, for example a command, an option or the value of an option.
    #[must_use]
    pub fn option(mut self, argument: impl Into<OsString>) -> Self {
        self.options.push(argument.into());
        self
    }

    /// Sets the option that names the model, which is usually `--model`. If a task has a model, the option and the
    /// model stand before the message. By default the program does not learn the model.
    #[must_use]
    pub fn model_option(mut self, option: impl Into<OsString>) -> Self {
        self.model_option = Some(option.into());
        self
    }

    /// Sets the option that says how much the model should think. If the person asked for a level, the option and the
    /// level's name ([`Thinking::as_str`](crate::Thinking::as_str)) stand before the message. By default the program
    /// does not learn the level.
    #[must_use]
    pub fn thinking_option(mut self, option: impl Into<OsString>) -> Self {
        self.thinking_option = Some(option.into());
        self
    }

    /// Sets the option that names a file to look at. For each image of the person, the option and a path stand before
    /// the message. The images are private files that only your own user can read, and are deleted when the task ends.
    /// By default the program gets no images.
    #[must_use]
    pub fn image_option(mut self, option: impl Into<OsString>) -> Self {
        self.image_option = Some(option.into());
        self
    }

    /// Sets the program's working folder. By default it is that of your process.
    #[must_use]
    pub fn workspace(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Sets a variable of the program's environment.
    ///
    /// By default the program gets only the usual variables of your process, because any other may be a secret. These
    /// are `PATH`, `HOME`, `LANG`, `LC_*`, `TERM`, `TMPDIR`, the folders of `XDG` and the like. If it needs more, set
    /// them here, or pass them on with [`pass_env`](Self::pass_env). If you name a variable twice, the later call wins.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.set(name.into(), value.into());
        self
    }

    /// Passes on a variable of your process, if it is set. For example, use it for the key that the program needs for
    /// its own model. An agent with a shell can read it.
    #[must_use]
    pub fn pass_env(mut self, name: impl Into<OsString>) -> Self {
        self.environment.pass(name.into());
        self
    }

    /// Passes on all variables of your process, except those of [`without_env`](Self::without_env). By default only the
    /// usual ones are passed on. Do not use this if your environment contains a token.
    #[must_use]
    pub fn pass_all_env(mut self) -> Self {
        self.environment.pass_all();
        self
    }

    /// Removes a variable from the program's environment.
    ///
    /// Important: this alone hides no secret. On Linux a program that runs as your user can read your process's own
    /// environment, in `/proc/PID/environ`. Call [`hide_process`](crate::hide_process) first in `main`, or let the
    /// program run as another user.
    #[must_use]
    pub fn without_env(mut self, name: impl Into<OsString>) -> Self {
        self.environment.remove(name.into());
        self
    }

    /// Changes the limits.
    #[must_use]
    pub fn limits(mut self, change: impl FnOnce(&mut CliLimits)) -> Self {
        change(&mut self.limits);
        self
    }

    /// Lets a guard clean up if your own process is killed. Without a guard the program then runs until it ends by
    /// itself.
    #[must_use]
    pub fn guard(mut self, guard: Guard) -> Self {
        self.guard = Some(guard);
        self
    }

    /// Sets the clock. By default it is the [`SystemClock`]; set another one in tests.
    #[must_use]
    pub fn clock(mut self, clock: impl IntoShared<dyn Clock>) -> Self {
        self.clock = clock.into_shared();
        self
    }

    pub(crate) fn set_program(&mut self, program: impl Into<OsString>) {
        self.program = program.into();
    }

    /// Describes the process to start with these arguments.
    pub(crate) fn launch(&self, arguments: Vec<OsString>) -> Launch {
        Launch {
            program: self.program.clone(),
            arguments,
            folder: self.folder.clone(),
            environment: self.environment.clone(),
            guard: self.guard.clone(),
            has_input: false,
        }
    }

    #[cfg(feature = "acp")]
    pub(crate) fn options(&self) -> &[OsString] {
        &self.options
    }

    #[cfg(feature = "acp")]
    pub(crate) const fn bounds(&self) -> CliLimits {
        self.limits
    }

    #[cfg(any(feature = "acp", feature = "serve"))]
    pub(crate) fn folder(&self) -> Option<&std::path::Path> {
        self.folder.as_deref()
    }

    #[cfg(any(feature = "acp", feature = "serve"))]
    pub(crate) fn time(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    fn arguments(&self, task: &Task, prompt: &str, images: &[PathBuf]) -> Vec<OsString> {
        let mut arguments = self.options.clone();
        if let (Some(option), Some(model)) = (&self.model_option, task.model()) {
            arguments.extend([option.clone(), model.into()]);
        }
        if let (Some(option), Some(level)) = (&self.thinking_option, task.thinking()) {
            arguments.extend([option.clone(), level.as_str().into()]);
        }
        if let Some(option) = &self.image_option {
            arguments.extend(images.iter().flat_map(|image| [option.clone(), image.into()]));
        }
        // After `--` no text is taken for an option, whatever it looks like.
        arguments.extend(["--".into(), prompt.into()]);
        arguments
    }
}

#[async_trait]
impl Delegate for CliDelegate {
    async fn run(&self, task: Task) -> TaskOutcome {
        let prompt = task.prompt();
        if prompt.len() > MESSAGE_MAX {
            return TaskOutcome::error(format!(
                "The message has {} bytes; the program {} can be given {MESSAGE_MAX}.",
                prompt.len(),
                self.program.to_string_lossy()
            ));
        }
        let attached = match self.attach(&task).await {
            Ok(attached) => attached,
            Err(problem) => return TaskOutcome::error(problem),
        };
        let images = attached.as_ref().map_or(&[][..], |attached| &attached.files);
        let process = match self.launch(self.arguments(&task, &prompt, images)).start() {
            Ok(process) => process,
            Err(problem) => return TaskOutcome::error(problem),
        };
        let CliLimits { idle, output } = self.limits;
        let bounds = Bounds { deadline: task.deadline(), idle, output };
        let report = |written: &[u8]| {
            // Complaints are no progress.
            if !written.is_empty() {
                task.progress(&progress(written));
            }
        };
        match process.finish(bounds, &self.clock, report).await {
            Ok(ended) => self.outcome(ended),
            Err(error) => TaskOutcome::error(self.says(&format!("was lost: {error}."))),
        }
    }
}

impl CliDelegate {
    /// Writes the task's images, if the program can get any.
    async fn attach(&self, task: &Task) -> Result<Option<Attachments>, String> {
        if self.image_option.is_none() || task.images().is_empty() {
            return Ok(None);
        }
        let images = task.images().to_vec();
        let written = tokio::task::spawn_blocking(move || Attachments::write(&images)).await;
        written.map_err(|error| format!("An image cannot be written: {error}."))?.map(Some)
    }

    /// Returns a sentence that names the program, because the agent's name does not say which program runs.
    pub(crate) fn says(&self, what: &str) -> String {
        format!("The program {} {what}", self.program.to_string_lossy())
    }

    fn outcome(&self, ended: Ended) -> TaskOutcome {
        let Ended { stdout, stderr, end } = ended;
        let output = text(&stdout);
        match end {
            End::Exited(status) if status.success() && output.trim().is_empty() => {
                TaskOutcome::partial("", self.says("ended well and wrote nothing."))
            }
            End::Exited(status) if status.success() => TaskOutcome::success(output),
            End::Exited(status) => {
                let said = text(&stderr);
                let message = match said.trim() {
                    "" => self.says(&format!("failed ({status}).")),
                    said => said.to_owned(),
                };
                TaskOutcome { output, ..TaskOutcome::error(message) }
            }
            End::Late => {
                let message = self.says("did not end in time, and was killed.");
                TaskOutcome::timeout(output, with_complaint(&message, &stderr))
            }
            End::Idle => {
                let idle = self.limits.idle.as_secs();
                let message = self.says(&format!("wrote nothing for {idle} s, and was killed."));
                TaskOutcome::timeout(output, with_complaint(&message, &stderr))
            }
            End::TooMuch => {
                let most = self.limits.output;
                let message = self.says(&format!("wrote more than {most} bytes, and was killed."));
                TaskOutcome::partial(output, message)
            }
        }
    }
}

/// Hides options and variables, because both may contain secrets.
impl fmt::Debug for CliDelegate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CliDelegate")
            .field("program", &self.program)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
