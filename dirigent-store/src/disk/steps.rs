//! Records the steps that are performed on files, in order. So a test sees a missing sync without a
//! disk that loses power. A test can also make a sync fail without a disk that breaks.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// One step on the file or the folder with this path.
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

/// Notes a step before it is performed. If this returns an error, that error is the result of the
/// step.
pub(super) fn note(step: Step) -> io::Result<()> {
    let fails = FAILING.lock().unwrap().contains(&step);
    STEPS.lock().unwrap().push(step);
    if fails { Err(io::Error::other("on purpose")) } else { Ok(()) }
}

/// Makes this step fail from now on.
pub(crate) fn fail(step: Step) {
    FAILING.lock().unwrap().push(step);
}

/// Takes out the steps below a folder since the last call.
pub(crate) fn take(below: &Path) -> Vec<Step> {
    let mut steps = STEPS.lock().unwrap();
    let (taken, left) = steps.drain(..).partition(|step| step.path().starts_with(below));
    *steps = left;
    taken
}
