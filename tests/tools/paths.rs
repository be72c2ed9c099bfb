//! Which paths `discussion-complete` takes: files in `{workspace}/discussion-summary/`, as
//! themselves. A refused one concludes nothing.

use std::fs;
use std::path::Path;

use dirigent::ChannelId;
use dirigent::operate::DiscussionState;
use dirigent::tools::{Caller, ToolError};
use dirigent_verify::stage::Stage;
use serde_json::{Value, json};

use super::folder::Workspace;
use super::{assert_refused, call, opened, session, stage_with_admin_moderator};

/// A discussion of agent "a", and its workspace.
struct Table {
    stage: Stage,
    workspace: Workspace,
    channel: ChannelId,
}

impl Table {
    fn new() -> Self {
        let mut stage = stage_with_admin_moderator();
        let channel = opened(&mut stage, &["b"]);
        Self { stage, workspace: Workspace::new(), channel }
    }

    fn complete(&mut self, summary: &str) -> Result<Value, ToolError> {
        let root = self.workspace.root().to_owned();
        self.complete_in(&root, summary)
    }

    fn complete_in(&mut self, workspace: &Path, summary: &str) -> Result<Value, ToolError> {
        let workspace = Some(workspace.to_owned());
        let caller = Caller { workspace, ..session(&self.stage, "a") };
        let arguments = json!({ "discussion-channel": self.channel, "summary": summary });
        call(&mut self.stage, &caller, "discussion-complete", arguments)
    }

    #[track_caller]
    fn refuses(&mut self, summary: &str, code: &str) {
        let message = assert_refused(self.complete(summary), code);
        assert!(message.len() < 300, "{message}");
        let channel = self.channel;
        let discussion =
            self.stage.call(move |d| async move { d.channel(channel).discussion().await });
        assert_eq!(discussion.unwrap().unwrap().state, DiscussionState::Open);
    }

    #[track_caller]
    fn takes(&mut self, summary: &str) -> String {
        self.complete(summary).unwrap()["summary"].as_str().unwrap().to_owned()
    }
}

/// R150, D87
#[test]
fn paths_outside_the_folder_are_refused() {
    let mut table = Table::new();
    let outside = table.workspace.around().join("secret.md");
    fs::write(&outside, "secret").unwrap();
    table.workspace.write("other.md", "x");
    table.workspace.write("discussion-summary-x/plan.md", "x");
    table.workspace.write("discussion-summary/plan.md", "x");
    table.workspace.write("other/discussion-summary/plan.md", "x");
    let root = table.workspace.root().to_str().unwrap().to_owned();
    let paths = [
        "../secret.md".to_owned(),
        "discussion-summary/../../secret.md".to_owned(),
        "discussion-summary/../other.md".to_owned(),
        "discussion-summary/../discussion-summary/plan.md".to_owned(),
        "discussion-summary/..".to_owned(),
        "other.md".to_owned(),
        ".".to_owned(),
        "./".to_owned(),
        "plan.md".to_owned(),
        "discussion-summary-x/plan.md".to_owned(),
        "other/discussion-summary/plan.md".to_owned(),
        "Discussion-Summary/plan.md".to_owned(),
        " discussion-summary/plan.md".to_owned(),
        "~/discussion-summary/plan.md".to_owned(),
        "file:discussion-summary/plan.md".to_owned(),
        "/".to_owned(),
        "/etc/passwd".to_owned(),
        "/proc/self/environ".to_owned(),
        "/discussion-summary/plan.md".to_owned(),
        outside.to_str().unwrap().to_owned(),
        root.clone(),
        format!("{root}-x/discussion-summary/plan.md"),
        format!("{root}/../secret.md"),
        format!("{root}/discussion-summary-x/plan.md"),
        format!("{root}/other.md"),
    ];
    for path in paths {
        table.refuses(&path, "summary-outside");
    }
}

/// R150
#[test]
fn the_folder_itself_and_folders_in_it_are_no_summary() {
    let mut table = Table::new();
    table.workspace.write("discussion-summary/deep/plan.md", "x");
    for path in ["discussion-summary", "discussion-summary/", "./discussion-summary/."] {
        table.refuses(path, "summary-not-a-file");
    }
    table.refuses("discussion-summary/deep", "summary-not-a-file");
    table.refuses("discussion-summary/deep/", "summary-not-a-file");
}

/// R151, D87
#[test]
fn a_path_that_leads_nowhere_is_refused() {
    let mut table = Table::new();
    table.workspace.write("discussion-summary/plan.md", "x");
    table.refuses("discussion-summary/plan.txt", "summary-missing");
    table.refuses("discussion-summary/deep/plan.md", "summary-missing");
    table.refuses("discussion-summary/plan.md/more", "summary-missing");
    table.refuses(&format!("discussion-summary/{}", "x".repeat(300)), "summary-missing");
    fs::remove_dir_all(table.workspace.root().join("discussion-summary")).unwrap();
    table.refuses("discussion-summary/plan.md", "summary-missing");
    fs::write(table.workspace.root().join("discussion-summary"), "x").unwrap();
    table.refuses("discussion-summary", "summary-not-a-file");
    table.refuses("discussion-summary/plan.md", "summary-missing");
}

/// R150, R151
#[test]
fn a_path_that_does_not_fit_into_one_line_is_refused() {
    let mut table = Table::new();
    let long = format!("discussion-summary/{}.md", "x/".repeat(500));
    let marks = format!("discussion-summary/{}.md", "_".repeat(500));
    let bad = [
        "",
        "  ",
        "discussion-summary/a\nb.md",
        "discussion-summary/a\rb.md",
        "discussion-summary/a`b.md",
        "discussion-summary/a\u{0}b.md",
        "discussion-summary/a\u{1B}[31m.md",
        "discussion-summary/a\u{202E}dm.b",
        "discussion-summary/a\u{2028}b.md",
        "discussion-summary/a\u{E0068}\u{E0069}.md",
        &marks,
        &long,
    ];
    for path in bad {
        table.refuses(path, "summary-path");
    }
}

/// R151
#[test]
fn relative_and_absolute_paths_of_the_file_are_taken() {
    let paths: [fn(&str) -> String; 5] = [
        |_| "discussion-summary/deep/my plan é.md".to_owned(),
        |_| "./discussion-summary/./deep//my plan é.md".to_owned(),
        |root| format!("{root}/discussion-summary/deep/my plan é.md"),
        |root| format!("{root}//./discussion-summary/deep/my plan é.md"),
        |root| format!("{root}/discussion-summary/deep/my plan é.md/."),
    ];
    for path in paths {
        let mut table = Table::new();
        table.workspace.write("discussion-summary/deep/my plan é.md", "x");
        let root = table.workspace.root().to_str().unwrap().to_owned();
        assert_eq!(table.takes(&path(&root)), "discussion-summary/deep/my plan é.md");
    }
}

/// R150
#[test]
fn a_workspace_that_is_none_is_refused() {
    let mut table = Table::new();
    table.workspace.write("discussion-summary/plan.md", "x");
    let nowhere = table.workspace.around().join("nowhere");
    let file = table.workspace.root().join("discussion-summary/plan.md");
    for workspace in [nowhere.as_path(), file.as_path(), Path::new("."), Path::new("")] {
        let answer = table.complete_in(workspace, "discussion-summary/plan.md");
        assert_refused(answer, "no-workspace");
    }
}

#[cfg(unix)]
mod unix {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;
    use std::path::Path;
    use std::process::Command;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::{Table, Workspace};
    use crate::tools::folder::ELSEWHERE;

    /// R150, D87
    #[test]
    fn a_file_that_is_a_link_is_refused_wherever_it_leads() {
        let mut table = Table::new();
        let folder = table.workspace.root().join("discussion-summary");
        let outside = table.workspace.around().join("secret.md");
        fs::write(&outside, "secret").unwrap();
        let inside = table.workspace.write("discussion-summary/plan.md", "x");
        symlink(&outside, folder.join("out.md")).unwrap();
        symlink("../../secret.md", folder.join("relative.md")).unwrap();
        symlink(&inside, folder.join("in.md")).unwrap();
        symlink("nowhere", folder.join("dangling.md")).unwrap();
        symlink("loop.md", folder.join("loop.md")).unwrap();
        symlink("/dev/zero", folder.join("zero.md")).unwrap();
        for name in ["out", "relative", "in", "dangling", "loop", "zero"] {
            table.refuses(&format!("discussion-summary/{name}.md"), "summary-link");
        }
    }

    /// R150, D87
    #[test]
    fn a_folder_that_is_a_link_is_refused() {
        let mut table = Table::new();
        let folder = table.workspace.root().join("discussion-summary");
        let outside = table.workspace.around().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("plan.md"), "secret").unwrap();
        symlink(&outside, folder.join("deep")).unwrap();
        table.refuses("discussion-summary/deep/plan.md", "summary-link");
        symlink("/proc/self", folder.join("self")).unwrap();
        table.refuses("discussion-summary/self/environ", "summary-link");
        symlink(".", folder.join("here")).unwrap();
        table.refuses("discussion-summary/here/here/plan.md", "summary-link");
    }

    /// R150, D87
    #[test]
    fn a_discussion_summary_that_is_itself_a_link_is_refused() {
        let mut table = Table::new();
        let folder = table.workspace.root().join("discussion-summary");
        fs::remove_dir(&folder).unwrap();
        let outside = table.workspace.around().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("plan.md"), "secret").unwrap();
        symlink(&outside, &folder).unwrap();
        table.refuses("discussion-summary/plan.md", "summary-link");
        table.refuses(folder.join("plan.md").to_str().unwrap(), "summary-link");
        // What the link leads to is no part of the workspace either.
        table.refuses(outside.join("plan.md").to_str().unwrap(), "summary-outside");
    }

    /// R150
    #[test]
    fn a_workspace_may_be_reached_through_a_link_of_the_hosts() {
        for by_its_own_name in [true, false] {
            let mut table = Table::new();
            let file = table.workspace.write("discussion-summary/plan.md", "x");
            let link = table.workspace.around().join("link");
            symlink(table.workspace.root(), &link).unwrap();
            let named = if by_its_own_name {
                file.clone()
            } else {
                link.join("discussion-summary/plan.md")
            };
            let answer = table.complete_in(&link, named.to_str().unwrap()).unwrap();
            assert_eq!(answer["summary"], "discussion-summary/plan.md");
        }
    }

    /// R151
    #[test]
    fn pipes_sockets_and_devices_are_no_files_and_block_nobody() {
        let mut table = Table::new();
        let folder = table.workspace.root().join("discussion-summary");
        let made = Command::new("mkfifo").arg(folder.join("pipe")).status().unwrap();
        assert!(made.success());
        table.refuses("discussion-summary/pipe", "summary-not-a-file");
        // The name of a socket may be 108 bytes long: it is bound through a shorter one.
        let short = std::env::temp_dir().join(format!("dirigent-socket-{}", std::process::id()));
        symlink(&folder, &short).unwrap();
        let socket = UnixListener::bind(short.join("socket")).unwrap();
        fs::remove_file(&short).unwrap();
        table.refuses("discussion-summary/socket", "summary-not-a-file");
        drop(socket);
        // Only root may make devices.
        let device = Command::new("mknod").arg(folder.join("null")).args(["c", "1", "3"]).output();
        if device.is_ok_and(|made| made.status.success()) {
            table.refuses("discussion-summary/null", "summary-not-a-file");
        }
    }

    /// R150
    #[test]
    fn a_hard_link_is_a_file_like_any_other_and_only_its_own_path_is_told() {
        let mut table = Table::new();
        let outside = table.workspace.around().join("secret.md");
        fs::write(&outside, "secret").unwrap();
        let folder = table.workspace.root().join("discussion-summary");
        fs::hard_link(&outside, folder.join("plan.md")).unwrap();
        let told = table.takes("discussion-summary/plan.md");
        assert_eq!(told, "discussion-summary/plan.md");
    }

    /// R150, D87
    #[test]
    fn a_link_that_is_put_in_between_is_never_followed() {
        const SWAPS: u32 = 500;
        let workspace = Workspace::new();
        let file = workspace.write("discussion-summary/plan.md", "not empty");
        let outside = workspace.around().join("empty.md");
        fs::write(&outside, "").unwrap();
        let (swaps, root) = (AtomicU32::new(0), workspace.root().to_owned());
        let mut refused = 0;
        std::thread::scope(|scope| {
            // Now a file, now a link to another one, and never nothing.
            scope.spawn(|| {
                let new = root.join("new");
                while swaps.load(Ordering::Relaxed) < SWAPS {
                    swaps.fetch_add(1, Ordering::Relaxed);
                    symlink(&outside, &new).unwrap();
                    fs::rename(&new, &file).unwrap();
                    fs::write(&new, "not empty").unwrap();
                    fs::rename(&new, &file).unwrap();
                }
            });
            while swaps.load(Ordering::Relaxed) < SWAPS {
                let mut table = Table::new();
                while swaps.load(Ordering::Relaxed) < SWAPS {
                    match table.complete_in(&root, "discussion-summary/plan.md") {
                        // Had the link been followed, the summary would be empty.
                        Ok(answer) => {
                            assert_eq!(answer["warnings"], serde_json::json!([]));
                            break;
                        }
                        Err(error) => {
                            assert_eq!(error.code(), "summary-link");
                            refused += 1;
                        }
                    }
                }
            }
        });
        assert!(refused > 0, "the link was never met");
    }

    /// Runs a test of this module in a process without rights, since the superuser may read everything.
    fn again_as_nobody(test: &str) {
        use std::os::unix::process::CommandExt;

        let home = Workspace::below(&std::env::temp_dir());
        let anyone = |path: &Path| fs::set_permissions(path, fs::Permissions::from_mode(0o777));
        anyone(home.around()).unwrap();
        let program = home.around().join("program");
        fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        anyone(&program).unwrap();
        let (_, module) = module_path!().split_once("::").unwrap();
        let mut command = Command::new(&program);
        command.args(["--exact", &format!("{module}::{test}")]).env(ELSEWHERE, home.around());
        let output = command.current_dir(home.around()).uid(65_534).gid(65_534).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let passed = output.status.success() && said.contains("1 passed");
        assert!(passed, "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    }

    /// R151
    #[test]
    fn an_unreadable_file_is_refused() {
        let mut table = Table::new();
        let file = table.workspace.write("discussion-summary/plan.md", "x");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
        if fs::read(&file).is_ok() {
            return again_as_nobody("an_unreadable_file_is_refused");
        }
        table.refuses("discussion-summary/plan.md", "summary-unreadable");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o400)).unwrap();
        table.takes("discussion-summary/plan.md");
    }

    /// R151
    #[test]
    fn a_huge_file_is_not_read() {
        let mut table = Table::new();
        let path = table.workspace.write("discussion-summary/plan.md", "");
        fs::File::options().write(true).open(path).unwrap().set_len(1 << 40).unwrap();
        table.takes("discussion-summary/plan.md");
    }
}
