//! Folders that cannot be written, disks that are full.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use dirigent::IdentityStore;
use dirigent::ports::{Certainty, RegisterError};
use dirigent_store::ego::{Detection, EgoAbsent, EgoOptions, scan_ego};
use dirigent_store::{Action, JsonIdentities, OpenError, StoreError};

use crate::registry::place::Place;

/// R006
#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_keeps_the_old_file() {
    played("read-only folder", &[]);
}

/// R006
#[cfg(unix)]
#[test]
fn a_full_disk_loses_nothing() {
    // Files of this process end at a few kilobytes, which says `EFBIG` where a disk says `ENOSPC`.
    played("full disk", &["sh", "-c", "trap '' XFSZ; ulimit -f 16; exec \"$0\" \"$@\""]);
}

/// Has a role played by a process that is nobody, since the superuser may write everywhere.
#[cfg(unix)]
fn played(role: &str, wrapper: &[&str]) {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;

    let place = Place::new();
    fs::set_permissions(place.folder(), fs::Permissions::from_mode(0o777)).unwrap();
    let program = place.folder().join("program");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let path = place.folder().join("state/agents.json");
    let plain = crate::registry::crash::other_process(&program, role, &path);
    let mut command = match wrapper {
        [] => plain,
        [first, rest @ ..] => {
            let mut command = std::process::Command::new(first);
            command.args(rest).arg(plain.get_program()).args(plain.get_args());
            command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
            command
        }
    };
    if fs::metadata(place.folder()).unwrap().uid() == 0 {
        command.uid(65_534).gid(65_534);
    }
    // Another test that starts a process at this moment has the copy open for writing until its child runs.
    let mut tries = 0;
    let output = loop {
        match command.output() {
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy && tries < 100_000 => {
                tries += 1;
                std::thread::yield_now();
            }
            output => break output.unwrap(),
        }
    };
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("ack played"), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
}

/// What the other process does.
#[cfg(unix)]
pub(crate) async fn play(role: &str, path: &Path) {
    match role {
        "read-only folder" => in_a_folder_that_cannot_be_written(path).await,
        "full disk" => on_a_full_disk(path).await,
        other => panic!("{other} is no role"),
    }
    println!("\nack played");
}

#[cfg(not(unix))]
pub(crate) async fn play(role: &str, _: &Path) {
    panic!("{role} is no role");
}

#[cfg(unix)]
async fn in_a_folder_that_cannot_be_written(path: &Path) {
    use std::os::unix::fs::PermissionsExt;

    use crate::registry::place::{put, who};

    let folder = path.parent().unwrap();
    let allow = |mode| fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
    let store = JsonIdentities::open(path).unwrap();
    put(&store, "zoe", 3).await;
    let before = fs::read(path).unwrap();
    allow(0o500);
    is_refused(&store, "adam", Action::Write, ErrorKind::PermissionDenied).await;
    assert_eq!(fs::read(path).unwrap(), before);
    assert_eq!(who(&store).await, "zoe 3");
    // Nothing has to be opened again.
    allow(0o700);
    put(&store, "adam", 9).await;
    drop(store);
    // Without its lock file, and then with a file that cannot be read.
    fs::remove_file(folder.join(".agents.json.lock")).unwrap();
    allow(0o500);
    let error = JsonIdentities::open(path).unwrap_err();
    let OpenError::Store(StoreError::Io { action: Action::Lock, .. }) = error else {
        panic!("{error}");
    };
    allow(0o700);
    fs::set_permissions(path, fs::Permissions::from_mode(0o0)).unwrap();
    let error = JsonIdentities::open(path).unwrap_err();
    let OpenError::Store(StoreError::Io { action: Action::Read, .. }) = error else {
        panic!("{error}");
    };
    assert_eq!(fs::read_dir(folder).unwrap().count(), 2, "it was kept aside, or a stray is left");
    // Nor is such a file taken for an `ego.json`.
    let registry = JsonIdentities::open(folder.join("other.json")).unwrap();
    let report = scan_ego(path, &registry, &EgoOptions::default()).await.unwrap();
    let unreadable = EgoAbsent::Unreadable(ErrorKind::PermissionDenied);
    assert_eq!(report.detection, Detection::Absent(unreadable));
}

#[cfg(unix)]
async fn on_a_full_disk(path: &Path) {
    use crate::registry::place::{put, who};

    let store = JsonIdentities::open(path).unwrap();
    let mut number = 0;
    let agent = |number: u64| format!("{number}-{}", "x".repeat(90));
    let before = loop {
        let before = fs::read(path).unwrap_or_default();
        if store.register(crate::registry::place::entry(&agent(number), number)).await.is_err() {
            break before;
        }
        number += 1;
        assert!(number < 1_000, "the disk is never full");
    };
    assert!(number > 5);
    is_refused(&store, &agent(number), Action::Write, ErrorKind::FileTooLarge).await;
    assert_eq!(fs::read(path).unwrap(), before);
    assert_eq!(who(&store).await.split(", ").count() as u64, number);
    let names = fs::read_dir(path.parent().unwrap()).unwrap().count();
    assert_eq!(names, 2, "a temporary file is left");
    // Room again.
    assert!(store.remove(agent(0).as_str().into()).await.unwrap());
    put(&store, "zoe", 500).await;
}

/// Registering fails like this, with nothing done.
async fn is_refused(store: &JsonIdentities, agent: &str, action: Action, kind: ErrorKind) {
    let refused = store.register(crate::registry::place::entry(agent, 900)).await;
    let Err(RegisterError::Store(error)) = refused else { panic!("{refused:?}") };
    assert_eq!(error.certainty(), Certainty::NotDone);
    let source = std::error::Error::source(&error).unwrap();
    match source.downcast_ref() {
        Some(StoreError::Io { action: found, source, .. }) => {
            assert_eq!((*found, source.kind()), (action, kind));
        }
        other => panic!("{other:?}"),
    }
}
