//! A registry that scans `ego.json` before the first read.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use dirigent::ports::{ApiError, Identity, RegisterError};
use dirigent::{AgentId, IdentityStore};

use super::{Detection, EgoAbsent, EgoOptions, EgoReport, scan_ego};
use crate::error::OpenError;
use crate::json::identities::JsonIdentities;

/// A registry around another one. It scans `ego.json` once, before it is read for the first time, which happens
/// when the driver starts. Clones share the registry, so you can keep one for the report and for
/// [`rescan`](Self::rescan).
///
/// A change that you make through this registry waits for a running scan. So a scan never overwrites an agent that
/// is registered in the meantime.
///
/// ```
/// use dirigent::{IdentityStore, MemoryIdentities};
/// use dirigent_store::ego::{EgoOptions, ScannedIdentities};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dirigent::ports::ApiError> {
/// let registry = MemoryIdentities::new();
/// let identities = ScannedIdentities::new(registry, "/nowhere/ego.json", EgoOptions::default());
/// assert!(identities.report().is_none());
/// assert!(identities.all().await?.is_empty());
/// assert!(identities.report().is_some());
/// assert!(!identities.is_detected());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ScannedIdentities<S> {
    shared: Arc<Scanner<S>>,
}

#[derive(Debug)]
struct Scanner<S> {
    registry: S,
    path: PathBuf,
    options: EgoOptions,
    /// Held during a scan or a write.
    turn: tokio::sync::Mutex<()>,
    /// The report of the last scan. `None` before the first one.
    report: Mutex<Option<Arc<EgoReport>>>,
}

/// Why `ego.json` was not scanned again.
///
/// ```
/// use dirigent_store::ego::{EgoAbsent, RescanError};
/// let refused = RescanError::Absent(EgoAbsent::NoFile);
/// assert_eq!(refused.to_string(), "the ego.json of padded-cell cannot be used: there is no file");
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RescanError {
    /// There is no padded-cell to read from.
    #[error("the ego.json of padded-cell cannot be used: {0}")]
    Absent(EgoAbsent),
    /// The registry could not be read.
    #[error(transparent)]
    Store(#[from] ApiError),
}

impl<S> Clone for ScannedIdentities<S> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<S> ScannedIdentities<S> {
    /// Creates a registry that scans this file into another registry. The file is not read yet.
    pub fn new(registry: S, path: impl AsRef<Path>, options: EgoOptions) -> Self {
        let turn = tokio::sync::Mutex::new(());
        let path = path.as_ref().to_owned();
        let report = Mutex::new(None);
        Self { shared: Arc::new(Scanner { registry, path, options, turn, report }) }
    }

    /// Returns the registry inside. A change that you make there directly does not wait for a scan.
    pub fn inner(&self) -> &S {
        &self.shared.registry
    }

    /// Returns the report of the last scan, or `None` before the first one.
    pub fn report(&self) -> Option<Arc<EgoReport>> {
        self.shared.report.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns true if the last scan detected padded-cell. For example, a page can then offer to scan again.
    pub fn is_detected(&self) -> bool {
        self.report().is_some_and(|report| report.is_detected())
    }
}

/// The folder in the home folder that contains both files by default.
const DEFAULT_FOLDER: &str = ".openclaw";

const EGO_FILE_NAME: &str = "ego.json";

impl ScannedIdentities<JsonIdentities> {
    /// Opens the registry at its default path, which is `.openclaw/dirigent-identity.json` in the home folder of
    /// the process's user. It scans `ego.json` in the same folder. A missing file is not an error: the registry's
    /// folder is created, and without `ego.json` no agent is added.
    ///
    /// This works on the calling thread, like [`JsonIdentities::open`].
    ///
    /// # Errors
    ///
    /// Returns [`OpenError::NoHome`] if the home folder is not known, and otherwise the errors of
    /// [`JsonIdentities::open`].
    ///
    /// ```no_run
    /// use dirigent_store::ego::{EgoOptions, ScannedIdentities};
    ///
    /// // For `Dirigent::builder`; the scan happens when the driver starts.
    /// let identities = ScannedIdentities::open_default(EgoOptions::default())?;
    /// # Ok::<(), dirigent_store::OpenError>(())
    /// ```
    pub fn open_default(options: EgoOptions) -> Result<Self, OpenError> {
        let home = std::env::home_dir().filter(|home| home.is_absolute());
        Self::open_in(home.ok_or(OpenError::NoHome)?.join(DEFAULT_FOLDER), options)
    }

    /// Opens the registry like [`open_default`](Self::open_default), but with both files in this folder.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`JsonIdentities::open`].
    pub fn open_in(folder: impl AsRef<Path>, options: EgoOptions) -> Result<Self, OpenError> {
        let folder = folder.as_ref();
        let registry = JsonIdentities::open(folder.join(JsonIdentities::FILE_NAME))?;
        Ok(Self::new(registry, folder.join(EGO_FILE_NAME), options))
    }
}

impl<S: IdentityStore> ScannedIdentities<S> {
    /// Scans the file again. If the report lists added or changed agents, call
    /// [`Dirigent::identities_changed`](dirigent::Dirigent::identities_changed), because the driver keeps what it
    /// has read.
    ///
    /// # Errors
    ///
    /// Returns [`RescanError::Absent`] if there is no padded-cell to read from. [`report`](Self::report) and
    /// [`is_detected`](Self::is_detected) then say so as well, and the registry stays as it is. Returns
    /// [`RescanError::Store`] if the registry cannot be read. Then the last report stays.
    pub async fn rescan(&self) -> Result<Arc<EgoReport>, RescanError> {
        let _turn = self.shared.turn.lock().await;
        let report = self.scan().await?;
        match &report.detection {
            Detection::Detected => Ok(report),
            Detection::Absent(why) => Err(RescanError::Absent(why.clone())),
        }
    }

    async fn scan(&self) -> Result<Arc<EgoReport>, ApiError> {
        let Scanner { registry, path, options, report, .. } = &*self.shared;
        let found = Arc::new(scan_ego(path, registry, options).await?);
        *report.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&found));
        Ok(found)
    }
}

#[async_trait]
impl<S: IdentityStore> IdentityStore for ScannedIdentities<S> {
    async fn all(&self) -> Result<Vec<Identity>, ApiError> {
        if self.report().is_none() {
            let _turn = self.shared.turn.lock().await;
            // The task that held the lock may have scanned already.
            if self.report().is_none() {
                self.scan().await?;
            }
        }
        self.shared.registry.all().await
    }

    async fn register(&self, identity: Identity) -> Result<(), RegisterError> {
        let _turn = self.shared.turn.lock().await;
        self.shared.registry.register(identity).await
    }

    async fn remove(&self, agent: AgentId) -> Result<bool, ApiError> {
        let _turn = self.shared.turn.lock().await;
        self.shared.registry.remove(agent).await
    }

    async fn changed_elsewhere(&self) {
        self.shared.registry.changed_elsewhere().await;
    }
}
