//! A folder with a registry in it.

use std::fs;
use std::path::{Path, PathBuf};

use dirigent::ports::{Identity, RegisterError};
use dirigent::{AgentId, IdentityStore, UserId};
use dirigent_store::JsonIdentities;

/// A folder of a test's own.
pub(crate) struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// A folder in which the registry's file says this.
    pub(crate) fn with(content: impl AsRef<[u8]>) -> Self {
        let place = Self::new();
        place.write(content);
        place
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The registry's file.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder().join(JsonIdentities::FILE_NAME)
    }

    pub(crate) fn open(&self) -> JsonIdentities {
        JsonIdentities::open(self.path()).unwrap()
    }

    pub(crate) fn write(&self, content: impl AsRef<[u8]>) {
        fs::write(self.path(), content).unwrap();
    }

    pub(crate) fn read(&self) -> String {
        fs::read_to_string(self.path()).unwrap()
    }

    /// The names in the folder, without the lock's.
    pub(crate) fn names(&self) -> Vec<String> {
        let names = fs::read_dir(self.folder()).unwrap();
        let mut names: Vec<_> =
            names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|name| name != ".dirigent-identity.json.lock");
        names.sort();
        names
    }
}

pub(crate) fn account(number: u64) -> UserId {
    UserId::new(123_456_789_012_345_000 + number)
}

pub(crate) fn entry(agent: &str, number: u64) -> Identity {
    let agent_name = format!("Agent {agent}");
    Identity { discord_user_id: account(number), agent_id: agent.into(), agent_name }
}

/// Registers an agent.
pub(crate) async fn put(store: &dyn IdentityStore, agent: &str, number: u64) {
    store.register(entry(agent, number)).await.unwrap();
}

/// Who has which account: `zoe 3, adam 9`.
pub(crate) async fn who(store: &dyn IdentityStore) -> String {
    let all = store.all().await.unwrap();
    let who = all.iter().map(|found| {
        let number = found.discord_user_id.get().wrapping_sub(account(0).get());
        format!("{} {number}", found.agent_id)
    });
    who.collect::<Vec<_>>().join(", ")
}

/// The owner that a refusal names.
pub(crate) fn owner(refusal: Result<(), RegisterError>) -> AgentId {
    match refusal {
        Err(RegisterError::AccountTaken { owner }) => owner,
        other => panic!("expected a taken account, found {other:?}"),
    }
}
