//! A folder that is gone when the test is over.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// An agent's workspace with an empty `discussion-summary` in it.
pub(crate) struct Workspace {
    /// The folder around it, for what must be outside.
    around: PathBuf,
    root: PathBuf,
}

/// Where workspaces lie in a process that may not write into the folder of the build.
pub(crate) const ELSEWHERE: &str = "DIRIGENT_TEST_WORKSPACES";

impl Workspace {
    pub(crate) fn new() -> Self {
        let elsewhere = std::env::var_os(ELSEWHERE);
        Self::below(elsewhere.as_deref().unwrap_or(env!("CARGO_TARGET_TMPDIR").as_ref()).as_ref())
    }

    /// A workspace in this folder.
    pub(crate) fn below(folder: &Path) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("workspace-{}-{number}", std::process::id());
        let around = folder.join(name);
        let root = around.join("work");
        fs::create_dir_all(root.join("discussion-summary")).unwrap();
        Self { around: around.canonicalize().unwrap(), root: root.canonicalize().unwrap() }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn around(&self) -> &Path {
        &self.around
    }

    /// Writes a file, with the folders to it.
    pub(crate) fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.around);
    }
}
