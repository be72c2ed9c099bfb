//! A store on a PostgreSQL server of the bench's own, whose link runs on a thread of its own.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

use dirigent::ChannelId;
use dirigent::ports::{Ownership, Standing};
use dirigent_cluster::{PostgresOptions, PostgresStore};
use dirigent_verify::database::Database;

/// A store, and the thread of its link.
pub(crate) struct Linked {
    pub(crate) store: PostgresStore,
    thread: JoinHandle<()>,
}

/// The address of the database of this name, which is made when it is asked for first.
fn address(name: &Path) -> String {
    static SERVER: OnceLock<(Database, Mutex<HashMap<String, String>>)> = OnceLock::new();
    let (server, made) = SERVER.get_or_init(|| {
        let server = Database::start().unwrap();
        (server.expect("no PostgreSQL is installed"), Mutex::default())
    });
    let mut made = made.lock().unwrap();
    made.entry(name.display().to_string()).or_insert_with(|| server.create().unwrap()).clone()
}

impl Linked {
    /// Opens it, and waits until every channel is its own.
    pub(crate) fn open(path: &Path) -> Self {
        let options = PostgresOptions::new(address(path)).ttl(Duration::from_secs(10));
        let (give, given) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async {
                let (store, link) = PostgresStore::open(options).await.unwrap();
                let held = async {
                    while store.standing(ChannelId::new(1)) != Standing::Held {
                        store.changed().await;
                    }
                    give.send(store.clone()).unwrap();
                    std::future::pending::<()>().await;
                };
                tokio::select! {
                    () = link.run() => {}
                    () = held => {}
                }
            });
        });
        Self { store: given.recv().unwrap(), thread }
    }

    pub(crate) async fn close(self) {
        assert!(self.store.problems().is_empty());
        self.store.close().await;
        self.thread.join().unwrap();
    }
}
