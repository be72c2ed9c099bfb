//! One process that decides. The tests that name this also run with the fleet of `dirigent-cluster`, in which each process is
//! one of several.

use std::ops::Deref;
use std::sync::Arc;

use dirigent::settings::LostRuns;
use dirigent::{Clock, Dirigent, IdentityStore, Settings};
use dirigent_relay::{Keyring, Master, Relay, Server, Service};

use super::place::Place;
pub(crate) use super::place::{SECOND, host, secret};

/// The process.
pub(crate) struct Process {
    pub(crate) dirigent: Dirigent,
    /// What answers the rules of turns.
    pub(crate) answers: Arc<dyn Service>,
}

/// The place with its process.
pub(crate) struct Fleet {
    place: Place,
}

impl Deref for Fleet {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.place
    }
}

impl AsRef<Dirigent> for Process {
    fn as_ref(&self) -> &Dirigent {
        &self.dirigent
    }
}

impl Fleet {
    pub(crate) async fn new() -> Self {
        Self { place: Place::new().await }
    }

    /// The keys of a process that acts for channels.
    pub(crate) fn keys(name: &str) -> Keyring {
        Place::keys(name)
    }

    /// Starts the process, which asks no other.
    pub(crate) fn start_with(
        &mut self,
        _: &str,
        keys: Keyring,
        _: Arc<dyn Relay>,
        more: Vec<Arc<dyn Service>>,
    ) -> Process {
        let settings =
            Settings::default().with(|settings| settings.hooks.lost_runs = LostRuns::Keep);
        let clock: Arc<dyn Clock> = Arc::new(self.clock.clone());
        let (dirigent, driver) = Dirigent::builder(self.discord.account(self.moderator))
            .clock(clock)
            .identities(Arc::clone(&self.registry))
            .settings(settings)
            .build()
            .unwrap();
        let registry = Arc::clone(&self.registry) as Arc<dyn IdentityStore>;
        let answers: Arc<dyn Service> = Arc::new(Master::new(dirigent.clone(), registry));
        let server = Server::with_start(keys, secret(11)).with(Arc::clone(&answers));
        self.relay.connect(Arc::new(more.into_iter().fold(server, Server::with)));
        tokio::spawn(async move { driver.run().await.unwrap() });
        Process { dirigent, answers }
    }
}
