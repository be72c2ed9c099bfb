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

    pub(crate) fn path(&self) -> &Path {
        self.home.path()
    }

    /// Lets nobody write any more, or lets them again.
    pub(crate) fn remount(&self, how: &str) {
        let mut command = Command::new("mount");
        let how = format!("remount,{how}");
        assert!(succeeds(command.args(["-o", &how]).arg(self.path())), "cannot {how}");
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        succeeds(Command::new("umount").arg("--lazy").arg(self.home.path()));
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
