//! Folders that nobody may change.

use std::path::PathBuf;
use std::process::Command;

use crate::shared::left_out::left_out;
use crate::shared::mount::succeeds;

/// Folders that nobody may change, not even the superuser, until this is dropped.
pub(crate) struct Unchangeable(Vec<PathBuf>);

impl Unchangeable {
    /// None where that is not possible, which is said.
    pub(crate) fn new(folders: Vec<PathBuf>) -> Option<Self> {
        let unchangeable = Self(folders);
        if unchangeable.set("+i") {
            return Some(unchangeable);
        }
        left_out("no folder can be made unchangeable here");
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
