//! Names of the processes that held shards at the last look.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::lease::Shard;

/// The names of all processes, and of the shards' holders.
#[derive(Debug, Default)]
pub(super) struct Owners {
    names: BTreeSet<Arc<str>>,
    shards: BTreeMap<Shard, Arc<str>>,
}

impl Owners {
    pub(super) fn holds(&mut self, shard: Shard, name: &str) {
        let name = self.name(name);
        self.shards.insert(shard, name);
    }

    /// Records that there is a process of this name.
    pub(super) fn is_here(&mut self, name: &str) {
        self.name(name);
    }

    fn name(&mut self, name: &str) -> Arc<str> {
        if let Some(name) = self.names.get(name) {
            return Arc::clone(name);
        }
        let name: Arc<str> = name.into();
        self.names.insert(Arc::clone(&name));
        name
    }

    pub(super) fn of(&self, shard: Shard) -> Option<Arc<str>> {
        self.shards.get(&shard).cloned()
    }

    pub(super) fn all(&self) -> Vec<Arc<str>> {
        self.names.iter().cloned().collect()
    }
}
