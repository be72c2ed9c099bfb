//! File systems of a test's own, where the superuser runs it.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::shared::left_out::left_out;

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
            left_out("nothing can be mounted here");
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

/// A file system on a disk that can be stopped at once: the disk is a file in another file system,
/// which can be frozen.
pub(crate) struct Disk {
    /// Goes before what is below it.
    inner: Mount,
    outer: Mount,
}

impl Disk {
    pub(crate) fn path(&self) -> &Path {
        self.inner.path()
    }

    /// A disk of a few megabytes; none where that is not allowed, which is said.
    pub(crate) fn new(home: &Path) -> Option<Self> {
        let outer = image(home.join("outer"), 64)?;
        let outer = Mount::looped(outer)?;
        let inner = Mount::looped(image(outer.path().join("disk"), 24)?)?;
        Some(Self { inner, outer })
    }

    /// What is on the disk in this moment. Nothing that waits is written before.
    pub(crate) fn copy(&self, to: &Path) {
        let outer = self.outer.path();
        let freeze = |how: &str| succeeds(Command::new("fsfreeze").arg(how).arg(outer));
        assert!(freeze("--freeze"), "cannot freeze the disk");
        let copied = fs::copy(outer.join("disk"), to);
        assert!(freeze("--unfreeze"), "cannot thaw the disk");
        copied.unwrap();
    }
}

/// A file with an empty file system in it; none where there is no program for that.
pub(crate) fn image(path: PathBuf, megabytes: u64) -> Option<PathBuf> {
    let file = fs::File::create(&path).unwrap();
    file.set_len(megabytes << 20).unwrap();
    let mut command = Command::new("mkfs.ext4");
    if succeeds(command.args(["-q", "-F"]).arg(&path)) {
        Some(path)
    } else {
        left_out("there is no mkfs.ext4 here");
        None
    }
}

/// Whether a program is there and does what it is told.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}
