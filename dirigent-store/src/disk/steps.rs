//! What was done to files, in order, so that a test sees a sync that was left out without a disk that
//! loses power; and syncs that fail, without a disk that breaks.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// One thing that was done, on the file or folder of this path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    SyncFile(PathBuf),
    Put(PathBuf),
    SyncFolder(PathBuf),
}

impl Step {
    fn path(&self) -> &Path {
        let (Self::SyncFile(path) | Self::Put(path) | Self::SyncFolder(path)) = self;
        path
    }
}

static STEPS: Mutex<Vec<Step>> = Mutex::new(Vec::new());

/// The steps that fail.
static FAILING: Mutex<Vec<Step>> = Mutex::new(Vec::new());

/// Notes a step before it is taken. An error is what comes of it in its place.
pub(super) fn note(step: Step) -> io::Result<()> {
    let fails = FAILING.lock().unwrap().contains(&step);
    STEPS.lock().unwrap().push(step);
    if fails { Err(io::Error::other("on purpose")) } else { Ok(()) }
}

/// From now on this step fails.
pub(crate) fn fail(step: Step) {
    FAILING.lock().unwrap().push(step);
}

/// Takes what was done below a folder since it was asked last.
pub(crate) fn take(below: &Path) -> Vec<Step> {
    let mut steps = STEPS.lock().unwrap();
    let (taken, left) = steps.drain(..).partition(|step| step.path().starts_with(below));
    *steps = left;
    taken
}
