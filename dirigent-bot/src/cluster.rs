//! Several processes of the program that share their channels. PostgreSQL stores the channels, and NATS carries
//! requests to another process's channel. Each process hears all servers.

use std::sync::Arc;

use dirigent::host::Builder;
use dirigent::{Dirigent, MemoryIdentities, SystemClock};
use dirigent_cluster::{
    Instance, Nats, OwnerRequests, PagePeers, PageService, PostgresLink, PostgresOptions,
    PostgresStore,
};
use dirigent_control::{Control, ControlBuilder, Figure};
use dirigent_relay::{Client, HostId, Keyring, Secret, Server};
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio::task::JoinSet;

use crate::bot::Result;
use crate::config::ClusterConfig;

/// The part of Discord's 50 requests a second that each process takes.
pub(crate) const REQUESTS_PER_SECOND: usize = 25;

/// A key, and what is wrong with it.
type Wrong = (&'static str, String);

/// The place of this process among the others.
pub(crate) struct Cluster {
    pub(crate) store: PostgresStore,
    /// `None` once it runs.
    pub(crate) link: Option<PostgresLink>,
    way: Option<Way>,
}

/// The way to the other processes, and from them.
struct Way {
    nats: Nats,
    client: Client,
    /// `None` once it answers.
    server: Option<Server>,
}

impl Cluster {
    /// Opens the database, and connects to the NATS server. It takes no channel yet.
    pub(crate) async fn join(address: &str, config: Option<&ClusterConfig>) -> Result<Self, Wrong> {
        let options = PostgresOptions::new(address);
        let Some(config) = config else { return Self::open(address, options).await };
        let options = options.cluster(&config.name).process(&config.process.value);
        let mut cluster = Self::open(address, options).await?;
        cluster.way = Some(Way::new(config).await?);
        Ok(cluster)
    }

    /// Opens the database alone.
    pub(crate) async fn open(address: &str, mut options: PostgresOptions) -> Result<Self, Wrong> {
        if address.contains("sslmode=require") {
            options = options.tls(tls().map_err(|what| ("store.postgres", what.to_string()))?);
        }
        let opened = PostgresStore::open(options).await;
        let (store, link) = opened.map_err(|what| ("store.postgres", what.to_string()))?;
        Ok(Self { store, link: Some(link), way: None })
    }

    /// Adds its part to the library's builder.
    pub(crate) fn builder(&self, builder: Builder) -> Builder {
        let builder = builder.ownership(self.store.clone());
        let Some(way) = &self.way else { return builder };
        builder.neighbours(OwnerRequests::new(way.client.clone(), Arc::new(self.store.clone())))
    }

    /// Lets the control page show the channels of all processes.
    pub(crate) fn page(&self, page: ControlBuilder) -> ControlBuilder {
        let store = self.store.clone();
        let page = page.figures(move || {
            let (held, processes) = store.share();
            Figure::leases(held, processes, store.taken())
        });
        let Some(way) = &self.way else { return page };
        page.peers(PagePeers::new(way.client.clone(), Arc::new(self.store.clone())))
    }

    /// Begins to take channels, and to answer the others.
    pub(crate) fn start(
        &mut self,
        dirigent: &Dirigent,
        identities: &MemoryIdentities,
        page: Option<&Control>,
        work: &mut JoinSet<Result>,
    ) {
        if let Some(link) = self.link.take() {
            work.spawn(async move {
                link.run().await;
                Ok(())
            });
        }
        let Some(way) = &mut self.way else { return };
        let Some(server) = way.server.take() else { return };
        let (registry, owners) = (Arc::new(identities.clone()), Arc::new(self.store.clone()));
        let (client, settings) = (way.client.clone(), dirigent.settings().clone());
        let instance = Instance::new(dirigent.clone(), registry, client, owners, settings);
        let server = server.with(Arc::new(instance));
        let server = match page {
            Some(page) => server.with(Arc::new(PageService::new(page.clone()))),
            None => server,
        };
        let nats = way.nats.clone();
        work.spawn(async move { Ok(nats.serve(Arc::new(server)).await?) });
    }
}

impl Way {
    async fn new(config: &ClusterConfig) -> Result<Self, Wrong> {
        // An error shows no value, because a wrong variable may have a secret.
        let parsed = |key, name: &str| -> Result<HostId, Wrong> {
            name.parse().map_err(|error| (key, format!("{error}: for example bot-1")))
        };
        let name = parsed("cluster.name", &config.name)?;
        let me = parsed("cluster.process", &config.process.value)?;
        let secret = Secret::new(config.secret.value.as_bytes());
        let secret = secret.map_err(|what| ("cluster.secret", what.to_string()))?;
        let mut options = async_nats::ConnectOptions::new()
            .custom_inbox_prefix(format!("{name}-answers.{me}"))
            .ping_interval(std::time::Duration::from_secs(2));
        if let Some(password) = &config.password {
            options = options.user_and_password(me.to_string(), password.value.clone());
        }
        if let Some(certificate) = &config.certificate {
            std::fs::metadata(certificate)
                .map_err(|what| ("cluster.certificate", format!("cannot be read: {what}")))?;
            options = options.add_root_certificates(certificate.clone());
        }
        let connection = options.connect(&config.nats).await.map_err(|what| {
            (
                "cluster.nats",
                format!(
                    "{what}: start the NATS server, or correct the address or cluster.password"
                ),
            )
        })?;
        let nats = Nats::new(connection, &name);
        let keys = Keyring::of_cluster(me, &secret);
        let client =
            Client::new(keys.clone(), Arc::new(nats.clone()), Arc::new(SystemClock::new()));
        let server = Server::new(keys).map_err(|what| ("cluster", what.to_string()))?;
        Ok(Self { nats, client, server: Some(server) })
    }
}

/// Returns the encryption for the database. It trusts the authorities that this machine trusts.
fn tls() -> Result<rustls::ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider);
    Ok(config
        .with_safe_default_protocol_versions()?
        .with_platform_verifier()?
        .with_no_client_auth())
}
