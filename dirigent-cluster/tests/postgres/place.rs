//! A database of a test's own, on a server that all tests share.

use std::sync::OnceLock;
use std::time::Duration;

use dirigent::ChannelId;
use dirigent::ports::{Ownership, Standing};
use dirigent::store::Barred;
use dirigent_cluster::{PostgresOptions, PostgresStore};
use dirigent_verify::database::Database;

/// The server; `None`, and said aloud, where there is none.
pub(crate) fn server() -> Option<&'static Database> {
    // Its keeper stops it when this process ends.
    static SERVER: OnceLock<Option<Database>> = OnceLock::new();
    let server = SERVER.get_or_init(|| Database::start().unwrap()).as_ref();
    if server.is_none() {
        eprintln!("skipped: no PostgreSQL is installed (Debian: apt-get install postgresql)");
    }
    server
}

/// A database of a test's own.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) server: &'static Database,
    pub(crate) address: String,
}

/// A store whose link runs.
pub(crate) struct Opened {
    pub(crate) store: PostgresStore,
    link: tokio::task::JoinHandle<()>,
}

impl Place {
    pub(crate) const TTL: Duration = Duration::from_secs(2);

    pub(crate) fn new() -> Option<Self> {
        let server = server()?;
        Some(Self { server, address: server.create().unwrap() })
    }

    /// On a server that no other test uses.
    pub(crate) fn of_its_own() -> Option<Self> {
        server()?;
        let server: &'static Database = Box::leak(Box::new(Database::start().unwrap()?));
        Some(Self { server, address: server.create().unwrap() })
    }

    pub(crate) fn options(&self) -> PostgresOptions {
        PostgresOptions::new(&*self.address).shards(8).ttl(Self::TTL)
    }

    pub(crate) async fn open(&self) -> Opened {
        self.open_as(self.options()).await
    }

    /// Opens it, and waits until all shards are this store's.
    pub(crate) async fn open_as(&self, options: PostgresOptions) -> Opened {
        let opened = Opened::new(options).await;
        while opened.store.share().0 < 8
            || opened.store.standing(ChannelId::new(1)) != Standing::Held
        {
            opened.store.changed().await;
        }
        opened
    }

    pub(crate) fn sql(&self, sql: &str) -> String {
        self.server.sql(&self.address, sql).unwrap()
    }
}

impl Opened {
    pub(crate) async fn new(options: PostgresOptions) -> Self {
        let (store, link) = PostgresStore::open(options).await.unwrap();
        Self { store, link: tokio::spawn(link.run()) }
    }

    /// Ends it in order.
    pub(crate) async fn close(self) {
        self.store.close().await;
        self.link.await.unwrap();
    }

    /// Ends it as a kill would.
    pub(crate) async fn kill(self) {
        self.link.abort();
        let _ = self.link.await;
    }
}

/// Spoils a channel's record: with a checksum that is wrong, or with a right one and a mode that this version does not know.
pub(crate) fn spoil(place: &Place, channel: ChannelId, how: Barred) {
    let id = channel.get().cast_signed();
    let read = |column: &str| {
        place.sql(&format!("SELECT {column} FROM dirigent.channels WHERE id = {id}"))
    };
    let (revision, mut checksum, mut record) = (read("revision"), read("checksum"), read("record"));
    let (_, rest) = record.split_once("\"mode\": \"").unwrap();
    let (mode, _) = rest.split_once('"').unwrap();
    record = record.replacen(&format!("\"{mode}\""), "\"assembly\"", 1);
    if how == Barred::OtherVersion {
        let sum = crc32fast::hash(format!("2 {channel} {revision} {record}").as_bytes());
        checksum = format!("{sum:08x}");
    }
    place.sql(&format!(
        "UPDATE dirigent.channels SET checksum = '{checksum}', record = $x${record}$x$ WHERE id = {id}"
    ));
}
