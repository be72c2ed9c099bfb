//! The programs that may ask, each with its secrets and its agents.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use dirigent::AgentId;
use http::StatusCode;
use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::problem::Problem;

/// The least bytes of a secret, because fewer could be guessed.
pub(crate) const SECRET_MIN: usize = 16;
/// The most streams of turns for each program.
const STREAMS: usize = 16;

/// One program that asks.
#[derive(Debug)]
pub(crate) struct Asker {
    pub(crate) name: String,
    /// Digests, because comparing them takes the same time whatever the secrets are.
    secrets: RwLock<Vec<[u8; 32]>>,
    pub(crate) agents: BTreeSet<AgentId>,
    streams: Arc<Semaphore>,
    failed: AtomicU64,
}

impl Asker {
    pub(crate) fn new(name: String) -> Self {
        let (secrets, agents, failed) = (RwLock::default(), BTreeSet::new(), AtomicU64::new(0));
        Self { name, secrets, agents, streams: Arc::new(Semaphore::new(STREAMS)), failed }
    }

    pub(crate) fn set_secrets<'a>(&self, secrets: impl IntoIterator<Item = &'a str>) {
        let digests = secrets.into_iter().map(|secret| Sha256::digest(secret).into()).collect();
        *self.secrets.write().unwrap_or_else(PoisonError::into_inner) = digests;
    }

    pub(crate) fn add_secret(&self, secret: &str) {
        let mut secrets = self.secrets.write().unwrap_or_else(PoisonError::into_inner);
        secrets.push(Sha256::digest(secret).into());
    }

    /// Takes a place for waiting for turns, unless all are taken.
    pub(crate) fn place(&self) -> Result<OwnedSemaphorePermit, Problem> {
        Arc::clone(&self.streams).try_acquire_owned().map_err(|_| {
            let detail =
                "too many streams of this host are open: close one, or ask for more agents at once";
            Problem::new(StatusCode::TOO_MANY_REQUESTS, "urn:dirigent:problem:streams", detail)
        })
    }

    fn has(&self, secret: &str) -> bool {
        let brought: [u8; 32] = Sha256::digest(secret).into();
        let secrets = self.secrets.read().unwrap_or_else(PoisonError::into_inner);
        let found = secrets.iter().fold(Choice::from(0), |found, one| found | one.ct_eq(&brought));
        found.into()
    }
}

/// All programs, by name.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    pub(crate) askers: BTreeMap<String, Arc<Asker>>,
    /// Failed attempts with an unknown name.
    unknown: AtomicU64,
}

impl Keys {
    /// Returns the program with this secret, `NAME.SECRET`. A wrong secret is counted for its name. It never bars the
    /// right one, because otherwise a stranger could lock a program out.
    pub(crate) fn asker(&self, token: &str) -> Option<Arc<Asker>> {
        let (name, secret) = token.split_once('.').unwrap_or((token, ""));
        let asker = self.askers.get(name);
        if let Some(asker) = asker.filter(|asker| asker.has(secret)) {
            return Some(Arc::clone(asker));
        }
        let (count, name) = asker.map_or((&self.unknown, "unknown"), |it| (&it.failed, &it.name));
        let failed = count.fetch_add(1, Ordering::Relaxed) + 1;
        // At each doubling, because an attacker may try for hours.
        if failed.is_power_of_two() {
            tracing::warn!(host = name, failed, "a request to the front had a wrong secret");
        }
        None
    }

    /// Returns the attempts with a wrong secret, by name; those with an unknown name stand under "".
    pub(crate) fn failed(&self) -> BTreeMap<String, u64> {
        let known = self.askers.values().map(|asker| (asker.name.clone(), &asker.failed));
        let all = known.chain([(String::new(), &self.unknown)]);
        all.map(|(name, count)| (name, count.load(Ordering::Relaxed))).collect()
    }
}
