//! Agents that are programs: how they are started, what becomes of what they write, and that nothing of them is left.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use dirigent::{Clock as _, SystemClock};
use dirigent_delegate::{
    CliDelegate, Delegate as _, DelegationStatus, Guard, Image, Task, TaskOutcome, Thinking,
    UserRequest,
};
use tempfile::TempDir;

use crate::examples::program;

/// An agent that does what its message says.
pub(crate) fn child() -> CliDelegate {
    CliDelegate::new(program("delegate_child")).option("run").model_option("--model")
}

/// A sentence that names that program.
fn child_says(what: &str) -> String {
    format!("The program {} {what}", program("delegate_child").display())
}

async fn run(order: &str) -> TaskOutcome {
    child().run(Task::new(order)).await
}

/// A folder in which processes note themselves.
pub(crate) struct Register(TempDir);

impl Register {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// The processes that have noted themselves and are alive.
    pub(crate) fn alive(&self) -> Vec<PathBuf> {
        self.noted().into_iter().filter(|process| is_alive(process)).collect()
    }

    fn noted(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path()).unwrap();
        entries.map(|entry| Path::new("/proc").join(entry.unwrap().file_name())).collect()
    }

    /// Waits until this number of processes has noted itself.
    pub(crate) async fn fill(&self, count: usize) {
        until(|| self.noted().len() >= count).await;
    }

    /// Waits until none of them is alive; fails if that takes more than a few seconds.
    pub(crate) async fn empty(&self) {
        until(|| self.alive().is_empty()).await;
    }
}

/// Whether a process is there and no zombie.
fn is_alive(process: &Path) -> bool {
    let Ok(stat) = fs::read_to_string(process.join("stat")) else {
        return false;
    };
    let state = stat.rsplit(')').next().unwrap_or_default().trim_start();
    !state.starts_with(['Z', 'X'])
}

/// Looks again and again, for at most ten seconds.
pub(crate) async fn until(is_so: impl Fn() -> bool + Send) {
    let clock = SystemClock::new();
    let late = clock.now() + Duration::from_secs(10);
    while !is_so() {
        assert!(clock.now() < late, "it never came to be");
        clock.sleep_until(clock.now() + Duration::from_millis(5)).await;
    }
}

/// R303, O14
#[tokio::test]
async fn the_message_is_the_last_argument_and_never_an_option() {
    let hostile = [
        "--attach=http://127.0.0.1:1",
        "-m",
        "--",
        "$(reboot) `x` ; rm -rf / | & > \" ' \\ *\n%PATH%",
        "🔚 ü",
    ];
    for message in hostile {
        let agent =
            CliDelegate::new(program("delegate_echo")).option("run").model_option("--model");
        let plain = agent.run(Task::new(message)).await;
        let arguments: Vec<String> = serde_json::from_str(&plain.output).unwrap();
        assert_eq!(arguments, ["run", "--", message]);
        let modelled = agent.run(Task::new(message).with_model("anthropic/claude-sonnet-4")).await;
        let arguments: Vec<String> = serde_json::from_str(&modelled.output).unwrap();
        assert_eq!(arguments, ["run", "--model", "anthropic/claude-sonnet-4", "--", message]);
    }
}

/// R304
#[tokio::test]
async fn exit_code_0_is_success_with_what_was_written() {
    let outcome = run("say one moan careful say two").await;
    assert_eq!((outcome.status, &*outcome.output), (DelegationStatus::Success, "one\ntwo\n"));
    assert_eq!(outcome.error_message, None, "a warning is no error");
}

/// R304
#[tokio::test]
async fn any_other_code_is_an_error_with_what_was_complained() {
    let outcome = run("say half moan no_disk exit 3").await;
    assert_eq!((outcome.status, &*outcome.output), (DelegationStatus::Error, "half\n"));
    assert_eq!(outcome.error_message.as_deref(), Some("no_disk"));
    let silent = run("exit 3").await;
    assert_eq!(silent.error_message, Some(child_says("failed (exit status: 3).")));
}

/// R304, O16
#[tokio::test]
async fn exit_code_0_without_output_is_partial() {
    for order in ["exit 0", "moan careful exit 0"] {
        let outcome = run(order).await;
        assert_eq!((outcome.status, &*outcome.output), (DelegationStatus::Partial, ""));
        assert_eq!(outcome.error_message, Some(child_says("ended well and wrote nothing.")));
    }
}

/// R305
#[tokio::test]
async fn a_program_that_cannot_be_started_is_an_error_result() {
    let folder = TempDir::new().unwrap();
    let agents = [
        CliDelegate::new("no-such-program-anywhere"),
        CliDelegate::new(folder.path()),
        CliDelegate::new(""),
        child().workspace(folder.path().join("nowhere")),
    ];
    for agent in agents {
        let outcome = agent.run(Task::new("say one")).await;
        assert_eq!(outcome.status, DelegationStatus::Error, "{agent:?}");
        let message = outcome.error_message.unwrap();
        assert!(message.contains(" cannot be started: "), "{message}");
    }
    let zero = run("say a\0b").await;
    assert_eq!(zero.status, DelegationStatus::Error);
}

/// DG7: of a program, its folder, its interpreter and its guard the system says the same when they are not there.
#[tokio::test]
async fn a_program_that_cannot_be_started_is_told_with_what_is_missing() {
    let folder = TempDir::new().unwrap();
    let (gone, script) = (folder.path().join("gone"), folder.path().join("script"));
    // Written by another process: one that this process still writes to cannot be executed.
    let write = format!("printf '#!/no/interpreter\\n' > {0} && chmod +x {0}", script.display());
    assert!(std::process::Command::new("sh").args(["-c", &write]).status().unwrap().success());
    let (child_path, shown) = (program("delegate_child"), gone.display());
    let missing = "No such file or directory (os error 2)";
    let worlds = [
        (CliDelegate::new("no-such"), format!("The program no-such cannot be started: {missing}.")),
        (CliDelegate::new(&gone), format!("The program {shown} cannot be started: {missing}.")),
        (
            child().workspace(&gone),
            format!(
                "The program {} cannot be started: {shown} is no folder.",
                child_path.display()
            ),
        ),
        (
            CliDelegate::new(&script),
            format!(
                "The program {} cannot be started: its interpreter is not there.",
                script.display()
            ),
        ),
        (
            child().guard(Guard::program(&gone)),
            format!("The guard {shown} cannot be started: {missing}."),
        ),
    ];
    for (agent, expected) in worlds {
        let outcome = agent.run(Task::new("say one")).await;
        assert_eq!(outcome.status, DelegationStatus::Error);
        assert_eq!(outcome.error_message, Some(expected));
    }
}

/// DG7
#[tokio::test]
async fn what_a_late_or_silent_program_complained_about_is_told() {
    let clock = SystemClock::new();
    let soon =
        Task::new("moan sign_in wait").with_deadline(clock.now() + Duration::from_millis(700));
    let late = child().run(soon).await.error_message;
    let expected = child_says("did not end in time, and was killed. It complained:\nsign_in");
    assert_eq!(late, Some(expected));
    let silent = child().limits(|limits| limits.idle = Duration::from_millis(700));
    let silent = silent.run(Task::new("moan sign_in wait")).await.error_message.unwrap();
    assert!(silent.ends_with("and was killed. It complained:\nsign_in"), "{silent}");
}

/// O14
#[tokio::test]
async fn a_message_that_is_too_long_is_refused() {
    let words = "x".repeat(100_000 - 4);
    let outcome = child().run(Task::new(format!("say {words}"))).await;
    assert_eq!((outcome.status, outcome.output.len()), (DelegationStatus::Success, 99_997));
    let outcome = child().run(Task::new(format!("say {words}x"))).await;
    let expected = format!(
        "The message has 100001 bytes; the program {} can be given 100000.",
        program("delegate_child").display()
    );
    assert_eq!((outcome.status, outcome.error_message), (DelegationStatus::Error, Some(expected)));
}

#[tokio::test]
async fn a_program_has_nothing_to_read() {
    assert_eq!(run("read").await.output, "0\n");
}

/// R307
#[tokio::test]
async fn a_program_works_in_the_workspace() {
    let folder = TempDir::new().unwrap();
    let here = folder.path().canonicalize().unwrap();
    let output = child().workspace(&here).run(Task::new("folder variable PWD")).await.output;
    let shown = here.to_str().unwrap();
    assert_eq!(output, format!("{shown}\nSome(\"{shown}\")\n"));
}

/// DG2: a program is given the usual variables and what the host lists, and no other variable of the host's.
#[tokio::test]
async fn a_program_is_given_the_usual_variables_and_what_the_host_lists() {
    // Cargo sets these for a test; they stand for the host's secrets.
    let order = "variable CARGO_PKG_NAME variable CARGO_MANIFEST_DIR variable GIVEN variable PATH";
    let path = format!("{:?}", std::env::var("PATH").ok());
    let (name, given) = ("Some(\"dirigent-delegate\")", "Some(\"yes\")");
    let folder = format!("{:?}", std::env::var("CARGO_MANIFEST_DIR").ok());
    let worlds = [
        (child(), ["None", "None", "None", &path]),
        (child().env("GIVEN", "yes"), ["None", "None", given, &path]),
        (child().pass_env("CARGO_PKG_NAME").pass_env("GIVEN"), [name, "None", "None", &path]),
        (child().pass_all_env(), [name, &folder, "None", &path]),
        (child().pass_all_env().without_env("CARGO_PKG_NAME"), ["None", &folder, "None", &path]),
        (child().without_env("PATH"), ["None", "None", "None", "None"]),
        (child().env("GIVEN", "no").without_env("GIVEN"), ["None", "None", "None", &path]),
        (child().without_env("GIVEN").env("GIVEN", "yes"), ["None", "None", given, &path]),
    ];
    for (at, (agent, expected)) in worlds.into_iter().enumerate() {
        let output = agent.run(Task::new(order)).await.output;
        assert_eq!(output.lines().collect::<Vec<_>>(), expected, "world {at}");
    }
}

/// R306, R312, O15
#[tokio::test]
async fn when_its_time_is_over_a_program_and_all_that_it_started_is_gone() {
    let (register, clock) = (Register::new(), SystemClock::new());
    let folder = register.path().display();
    let order = format!("stubborn say half note {folder} child {folder} detached {folder} wait");
    let agent = child();
    let task = Task::new(order).with_deadline(clock.now() + Duration::from_millis(1_500));
    let (outcome, ()) = tokio::join!(agent.run(task), async {
        register.fill(3).await;
        assert_eq!(register.alive().len(), 3);
    });
    assert_eq!((outcome.status, &*outcome.output), (DelegationStatus::Timeout, "half\n"));
    assert_eq!(outcome.error_message, Some(child_says("did not end in time, and was killed.")));
    register.empty().await;
    let late = child()
        .run(Task::new("wait").with_deadline(clock.now() + Duration::from_millis(400)))
        .await;
    assert_eq!((late.status, &*late.output), (DelegationStatus::Timeout, ""));
}

#[tokio::test]
async fn when_its_future_is_dropped_a_program_and_all_that_it_started_is_gone() {
    let register = Register::new();
    let folder = register.path().display();
    let order =
        format!("stubborn note {folder} child {folder} bare {folder} detached {folder} wait");
    for round in 1..=3 {
        let agent = child();
        tokio::select! {
            outcome = agent.run(Task::new(&*order)) => panic!("it ended: {outcome:?}"),
            () = register.fill(4 * round) => {}
        }
        register.empty().await;
    }
}

#[tokio::test]
async fn processes_that_go_on_starting_others_are_gone_as_well() {
    let register = Register::new();
    let order = format!("family {} wait", register.path().display());
    let agent = child();
    tokio::select! {
        outcome = agent.run(Task::new(order)) => panic!("it ended: {outcome:?}"),
        () = register.fill(5) => {}
    }
    register.empty().await;
}

#[tokio::test]
async fn what_a_program_left_behind_is_gone_when_it_ended_and_its_output_is_there() {
    let register = Register::new();
    let folder = register.path().display();
    let outcome = run(&format!("child {folder} detached {folder} say done")).await;
    // The processes that are left hold the output open: it is not waited for long.
    assert_eq!((outcome.status, &*outcome.output), (DelegationStatus::Success, "done\n"));
    register.empty().await;
}

#[tokio::test]
async fn a_program_that_writes_without_end_is_killed_and_what_it_wrote_is_partial() {
    let agent = child().limits(|limits| limits.output = 100_000);
    let outcome = agent.run(Task::new("flood")).await;
    assert_eq!((outcome.status, outcome.output.len()), (DelegationStatus::Partial, 100_000));
    let expected = child_says("wrote more than 100000 bytes, and was killed.");
    assert_eq!(outcome.error_message, Some(expected));
    let exact = child().limits(|limits| limits.output = 4).run(Task::new("say abc")).await;
    assert_eq!((exact.status, &*exact.output), (DelegationStatus::Success, "abc\n"));
    let more = child().limits(|limits| limits.output = 3).run(Task::new("say abc")).await;
    assert_eq!((more.status, &*more.output), (DelegationStatus::Partial, "abc"));
}

/// What is no text becomes text: no zero is in it, which no program could be given as an argument, and no escape of a terminal.
#[tokio::test]
async fn garbage_becomes_text() {
    let outcome = run("garbage").await;
    assert_eq!(outcome.status, DelegationStatus::Success);
    assert_eq!(outcome.output, "a\u{fffd}\u{fffd}b\u{fffd}(c\n");
    let before =
        dirigent_delegate::AgentResult::new("Child", "child".into(), DelegationStatus::Success)
            .with_output(outcome.output);
    let next = CliDelegate::new(program("delegate_echo"));
    let outcome = next.run(Task::new("Go on").with_previous(vec![before])).await;
    assert_eq!(outcome.status, DelegationStatus::Success, "{:?}", outcome.error_message);
}

/// DG1: what a program writes is its result to the letter, but for what only a terminal understands, and so are its complaints and
/// its progress.
#[tokio::test]
async fn white_space_stays_and_only_what_a_terminal_understands_goes() {
    let worlds = [
        ("all:\n\tcc x.c\n", "all:\n\tcc x.c\n"),
        ("a\tb\r\n1\t2\r\n", "a\tb\r\n1\t2\r\n"),
        ("10%\r100%\r\n", "10%\r100%\r\n"),
        ("\u{1b}[32mall:\u{1b}[0m\n\tcc\n", "all:\n\tcc\n"),
        ("\u{1b}]0;never ended\n\tstill here", "\n\tstill here"),
        ("N\u{8}NA\u{8}A\u{7}\n", "NA\n"),
    ];
    for (written, expected) in worlds {
        let json = serde_json::to_string(written).unwrap().replace(' ', "\\u0020");
        let told = Arc::new(std::sync::Mutex::new(String::new()));
        let telling = Arc::clone(&told);
        let task = Task::new(format!("raw {json}"));
        let task = task.on_progress(move |text| text.clone_into(&mut telling.lock().unwrap()));
        let outcome = child().run(task).await;
        assert_eq!((outcome.status, &*outcome.output), (DelegationStatus::Success, expected));
        assert_eq!(*told.lock().unwrap(), expected);
        let failed = run(&format!("raw {json} moan-raw {json} exit 3")).await;
        assert_eq!((failed.status, &*failed.output), (DelegationStatus::Error, expected));
        assert_eq!(failed.error_message.as_deref(), Some(expected.trim()));
    }
}

/// R319
#[tokio::test]
async fn images_are_files_and_the_thinking_level_an_option_where_the_program_knows_them() {
    let with = |data: &str| {
        let mut request = UserRequest::new("channel-7", "Look");
        request.thinking = Some(Thinking::High);
        request.images = vec![Image::new("image/png", data), Image::new("../../x", "AAAAAAAA")];
        request
    };
    let agent = child().image_option("--file");
    let outcome = agent.run(Task::new("files").with_request(with("AAAA"))).await;
    let lines: Vec<&str> = outcome.output.lines().collect();
    assert_eq!((lines[0], lines[2]), ("image-0.png 3", "image-1.bin 6"));
    assert!(!Path::new(lines[1]).exists() && !Path::new(lines[3]).exists(), "they are gone");
    let broken = agent.run(Task::new("files").with_request(with("no base64!"))).await;
    let expected = "An image of the message is not in base64.";
    assert_eq!(
        (broken.status, broken.error_message.as_deref()),
        (DelegationStatus::Error, Some(expected))
    );
    let echo = CliDelegate::new(program("delegate_echo")).thinking_option("--variant");
    let output = echo.run(Task::new("Look").with_request(with("AAAA"))).await.output;
    assert_eq!(output.trim(), r#"["--variant","high","--","Look"]"#);
}

#[tokio::test]
async fn a_program_that_is_silent_for_too_long_is_killed() {
    let register = Register::new();
    let agent = child().limits(|limits| limits.idle = Duration::from_secs(1));
    let outcome =
        agent.run(Task::new(format!("say half note {} wait", register.path().display()))).await;
    assert_eq!((outcome.status, &*outcome.output), (DelegationStatus::Timeout, "half\n"));
    let expected = child_says("wrote nothing for 1 s, and was killed.");
    assert_eq!(outcome.error_message, Some(expected));
    register.empty().await;
}

#[tokio::test]
async fn what_is_written_is_told_as_progress() {
    let told = Arc::new(std::sync::Mutex::new(Vec::new()));
    let telling = Arc::clone(&told);
    let task =
        Task::new("say one").on_progress(move |text| telling.lock().unwrap().push(text.to_owned()));
    child().run(task).await;
    assert_eq!(*told.lock().unwrap(), ["one\n"]);
}

#[tokio::test]
async fn results_before_a_task_are_part_of_the_message() {
    let before = dirigent_delegate::AgentResult::new(
        "Research",
        "research".into(),
        DelegationStatus::Success,
    )
    .with_output("Hooks.");
    let agent = CliDelegate::new(program("delegate_echo"));
    let output = agent.run(Task::new("Build").with_previous(vec![before])).await.output;
    let arguments: Vec<String> = serde_json::from_str(&output).unwrap();
    assert_eq!(arguments[1], "Build\n\nWhat other agents found before:\n\n**Research:**\nHooks.");
}

#[test]
fn neither_options_nor_variables_are_shown() {
    let agent = child().option("--password=hidden-word").env("TOKEN", "hidden-word");
    assert!(!format!("{agent:?} {agent:#?}").contains("hidden-word"));
}
