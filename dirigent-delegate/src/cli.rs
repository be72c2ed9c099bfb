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

/// The longest message that is given to a program, in bytes: systems limit the length of one argument.
pub(crate) const MESSAGE_MAX: usize = 100_000;

/// An agent that is a program: it is started for each task, with the message as its last argument after `--`, and what it writes to
/// its standard output is the result. No shell is involved, so no character of a message means anything but itself.
///
/// The result is text: escapes of terminals (colours, for example) and control characters are taken out, white space stays as it is, TAB
/// and carriage return included, and a backspace takes back the character before it.
///
/// The program reads nothing, leads a process group of its own, and is killed with everything that it started when it is late, silent
/// for too long or too talkative, when the task is cancelled, and when the future is dropped. What it started and left behind is
/// killed when it ends, too.
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

/// What bounds a program beside the task's deadline.
///
/// ```
/// let limits = dirigent_delegate::CliLimits::default();
/// assert_eq!((limits.idle.as_secs(), limits.output), (120, 1_048_576));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CliLimits {
    /// How long the program may write nothing. Default 120 s.
    pub idle: Duration,
    /// The most bytes that it may write to each of its outputs. A program that writes more is killed, and what it wrote is a partial
    /// result. Default 1 MiB.
    pub output: usize,
}

impl Default for CliLimits {
    fn default() -> Self {
        Self { idle: Duration::from_secs(120), output: 1_024 * 1_024 }
    }
}

impl CliDelegate {
    /// Creates an agent that is this program, a path or a name that is looked up in `PATH`. It is looked for with each task.
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

    /// Adds an argument before the message: a command, an option, or an option's value.
    #[must_use]
    pub fn option(mut self, argument: impl Into<OsString>) -> Self {
        self.options.push(argument.into());
        self
    }

    /// Sets the option that names the model, `--model` mostly: it and the task's model stand before the message when the task has
    /// one. Default: the model is not handed on.
    #[must_use]
    pub fn model_option(mut self, option: impl Into<OsString>) -> Self {
        self.model_option = Some(option.into());
        self
    }

    /// Sets the option that says how much the model is to think: it and the level's name ([`Thinking::as_str`](crate::Thinking::as_str))
    /// stand before the message when the person asked for a level. Default: the level is not handed on.
    #[must_use]
    pub fn thinking_option(mut self, option: impl Into<OsString>) -> Self {
        self.thinking_option = Some(option.into());
        self
    }

    /// Sets the option that names a file to look at: it and a path stand before the message for each image of the person's. The files
    /// are written for the task, can be read by the host's own user alone, and are gone when it ends. Default: images are not handed on.
    #[must_use]
    pub fn image_option(mut self, option: impl Into<OsString>) -> Self {
        self.image_option = Some(option.into());
        self
    }

    /// Sets the folder in which the program works. Default: the host's own.
    #[must_use]
    pub fn workspace(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Sets a variable of the program's environment.
    ///
    /// By default the environment holds the usual variables of the host's (`PATH`, `HOME`, `LANG`, `LC_*`, `TERM`, `TMPDIR`, folders of
    /// `XDG` and the like) and none that may be a secret: what the program needs beside them is set here, or handed on with
    /// [`pass_env`](Self::pass_env). Of two orders for one variable the later holds.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.set(name.into(), value.into());
        self
    }

    /// Hands on a variable of the host's, if the host has it: the key that the program needs for its own model, for example. An agent
    /// with a shell can read it.
    #[must_use]
    pub fn pass_env(mut self, name: impl Into<OsString>) -> Self {
        self.environment.pass(name.into());
        self
    }

    /// Hands on all of the host's variables, except those of [`without_env`](Self::without_env). Default: only the usual ones. Do not
    /// use it in a host whose environment holds a token.
    #[must_use]
    pub fn pass_all_env(mut self) -> Self {
        self.environment.pass_all();
        self
    }

    /// Leaves a variable out of the program's environment.
    ///
    /// Important: this alone hides no secret. On Linux a program that runs as the host's user can read the host's own environment, in
    /// `/proc/PID/environ`. Call [`hide_process`](crate::hide_process) first in `main`, or let the program run as another user.
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

    /// Lets a guard clean up when the host itself is killed. Default: then the program goes on until it ends.
    #[must_use]
    pub fn guard(mut self, guard: Guard) -> Self {
        self.guard = Some(guard);
        self
    }

    /// Sets where time comes from. Default: the [`SystemClock`].
    #[must_use]
    pub fn clock(mut self, clock: impl IntoShared<dyn Clock>) -> Self {
        self.clock = clock.into_shared();
        self
    }

    pub(crate) fn set_program(&mut self, program: impl Into<OsString>) {
        self.program = program.into();
    }

    /// What is started with these arguments.
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
        // After this nothing is an option, whatever it looks like.
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
            // What it complains about is no progress.
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
    /// Writes the task's images, if the program can be given any.
    async fn attach(&self, task: &Task) -> Result<Option<Attachments>, String> {
        if self.image_option.is_none() || task.images().is_empty() {
            return Ok(None);
        }
        let images = task.images().to_vec();
        let written = tokio::task::spawn_blocking(move || Attachments::write(&images)).await;
        written.map_err(|error| format!("An image cannot be written: {error}."))?.map(Some)
    }

    /// A sentence that names the program, because the agent's name does not say what runs.
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

/// Shows no option and no variable: both may hold secrets.
impl fmt::Debug for CliDelegate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CliDelegate")
            .field("program", &self.program)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
