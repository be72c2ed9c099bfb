//! A host that is killed with SIGKILL leaves nothing behind, if it has chosen a guard.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;

use dirigent_delegate::{CliDelegate, Delegate as _, DelegationStatus, Guard, Task};
use tokio::process::{Child, Command};

use crate::cli::{Register, child};
use crate::examples::program;

const GUARD: &str = env!("CARGO_BIN_EXE_delegate-guard");

/// A host, a process of its own, that delegates this order under a guard.
fn host(guard: &str, order: &str) -> Child {
    let mut host = Command::new(program("delegate_host"));
    host.args([guard, order]).stdin(Stdio::null()).kill_on_drop(true);
    host.spawn().unwrap()
}

#[tokio::test]
async fn a_host_that_is_killed_leaves_nothing_when_it_has_a_guard() {
    for guard in [GUARD, "itself"] {
        let register = Register::new();
        let folder = register.path().display();
        let order = format!("stubborn note {folder} child {folder} detached {folder} wait");
        let mut host = host(guard, &order);
        register.fill(3).await;
        assert_eq!(register.alive().len(), 3);
        host.kill().await.unwrap();
        register.empty().await;
    }
}

/// What a program finds of the secret in the host's environment: in how many processes, and whether it can see the host's open files.
/// The host runs as an ordinary user, since nothing is hidden from root.
async fn spied(guard: &str, is_hidden: bool) -> String {
    let folder = tempfile::TempDir::new().unwrap();
    let open = || std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder.path(), open()).unwrap();
    for name in ["delegate_host", "delegate_child"] {
        std::fs::copy(program(name), folder.path().join(name)).unwrap();
    }
    let guard = match guard {
        "itself" => guard.to_owned(),
        guard => {
            let here = folder.path().join("guard");
            std::fs::copy(guard, &here).unwrap();
            here.to_str().unwrap().to_owned()
        }
    };
    let mut host = Command::new(folder.path().join("delegate_host"));
    host.args([&*guard, "spy DELEGATE_SECRET"]).env("DELEGATE_SECRET", "hidden-word");
    host.current_dir(folder.path()).stdin(Stdio::null());
    if is_hidden {
        host.arg("hidden");
    }
    if rustix::process::getuid().is_root() {
        host.uid(65_534).gid(65_534);
    }
    let output = host.output().await.unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{text}");
    String::from_utf8(output.stdout).unwrap()
}

/// DG2: a variable that a program is not given can be read from the host's own environment, unless the host hides itself; then it is
/// in no process that the program can look into, the guard included.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_program_reads_the_hosts_own_environment_unless_the_host_hides_itself() {
    for guard in ["itself", GUARD] {
        assert_eq!(spied(guard, false).await, "1 true\n", "in the host, and not in its guard");
        assert_eq!(spied(guard, true).await, "0 false\n");
    }
}

#[tokio::test]
async fn a_guarded_program_is_run_as_any_other() {
    let agent = child().guard(Guard::program(GUARD));
    let outcome = agent.run(Task::new("say done")).await;
    assert_eq!((outcome.status, &*outcome.output), (DelegationStatus::Success, "done\n"));
    let register = Register::new();
    let order = format!("note {} wait", register.path().display());
    tokio::select! {
        outcome = agent.run(Task::new(order)) => panic!("it ended: {outcome:?}"),
        () = register.fill(1) => {}
    }
    register.empty().await;
}

#[tokio::test]
async fn a_guard_that_cannot_be_started_is_an_error_result() {
    let agent = CliDelegate::new("true").guard(Guard::program(Path::new("/no/such/guard")));
    let outcome = agent.run(Task::new("go")).await;
    assert_eq!(
        outcome.status,
        DelegationStatus::Error,
        "nothing runs without the guard that was asked for"
    );
}

#[tokio::test]
async fn by_hand_the_guard_says_what_it_is_for() {
    let output = Command::new(GUARD).output().await.unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("Guard::program"));
}
