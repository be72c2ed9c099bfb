//! File systems of a test's own, where the superuser runs it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A mounted file system; it goes when this is dropped.
pub(crate) struct Mount {
    home: tempfile::TempDir,
}

impl Mount {
    /// Mounts something; none where that is not allowed, which is said.
    pub(crate) fn new<S: AsRef<OsStr>>(arguments: &[S]) -> Option<Self> {
        let home = tempfile::tempdir().unwrap();
        let mut command = Command::new("mount");
        command.args(arguments).arg(home.path());
        if succeeds(&mut command) {
            Some(Self { home })
        } else {
            println!("left out: nothing can be mounted here");
            None
        }
    }

    /// A file system in memory of so many kilobytes.
    pub(crate) fn small(kilobytes: u32) -> Option<Self> {
        Self::new(&["-t", "tmpfs", "-o", &format!("size={kilobytes}k"), "tmpfs"])
    }

    /// The file system in a file.
    pub(crate) fn looped(image: PathBuf) -> Option<Self> {
        Self::new(&["-o".into(), "loop,errors=continue".into(), image.into_os_string()])
    }

    pub(crate) fn path(&self) -> &Path {
        self.home.path()
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        succeeds(Command::new("umount").arg("--lazy").arg(self.home.path()));
    }
}

/// Folders that nobody may change, not even the superuser, until this is dropped.
pub(crate) struct Unchangeable(Vec<PathBuf>);

impl Unchangeable {
    /// None where that is not possible, which is said.
    pub(crate) fn new(folders: Vec<PathBuf>) -> Option<Self> {
        let unchangeable = Self(folders);
        if unchangeable.set("+i") {
            return Some(unchangeable);
        }
        println!("left out: no folder can be made unchangeable here");
        None
    }

    fn set(&self, attribute: &str) -> bool {
        succeeds(Command::new("chattr").arg(attribute).args(&self.0))
    }
}

impl Drop for Unchangeable {
    fn drop(&mut self) {
        self.set("-i");
    }
}

/// A file with an empty file system in it; none where there is no program for that.
pub(crate) fn image(path: PathBuf, megabytes: u64) -> Option<PathBuf> {
    let file = std::fs::File::create(&path).unwrap();
    file.set_len(megabytes << 20).unwrap();
    let mut command = Command::new("mkfs.ext4");
    if succeeds(command.args(["-q", "-F"]).arg(&path)) {
        Some(path)
    } else {
        println!("left out: there is no mkfs.ext4 here");
        None
    }
}

/// Whether a program is there and does what it is told.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}
