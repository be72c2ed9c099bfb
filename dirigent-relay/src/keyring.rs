//! The secrets of the processes, and the rights of each.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use dirigent::AgentId;

use crate::{HostId, Secret};

/// The rights of a process here.
///
/// ```
/// use dirigent_relay::ProcessRole;
/// assert!(ProcessRole::slave(["poet"]).may_act_for(&"poet".into()));
/// assert!(!ProcessRole::slave(["poet"]).may_act_for(&"critic".into()));
/// assert!(ProcessRole::Peer.may_act_for(&"critic".into()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "who serves a question must know what each may do")]
pub enum ProcessRole {
    /// It acts for channels of its own, and is trusted as much as this process.
    Peer,
    /// It acts for no channel. It may look, and may ask and report for these agents.
    Slave(BTreeSet<AgentId>),
}

impl ProcessRole {
    /// Creates the role of a slave that may act for these agents.
    pub fn slave<A: Into<AgentId>>(agents: impl IntoIterator<Item = A>) -> Self {
        Self::Slave(agents.into_iter().map(Into::into).collect())
    }

    /// Returns true if the process may ask and report for this agent.
    pub fn may_act_for(&self, agent: &AgentId) -> bool {
        match self {
            Self::Peer => true,
            Self::Slave(agents) => agents.contains(agent),
        }
    }
}

/// The processes that this one knows, each with its secret and its rights here, and the name of this process.
///
/// A question is sealed with the secret of the process that asks, and so is its answer. So a slave needs no secret
/// except its own.
///
/// ```
/// use dirigent_relay::{Keyring, ProcessRole, Secret};
///
/// let (cluster, of_slave) = (Secret::new(&[1; 32])?, Secret::new(&[2; 32])?);
/// // Each of the processes that act for channels; they find each other's secrets by the name.
/// let master = Keyring::of_cluster("bot-1".parse()?, &cluster)
///     .with("slave-1".parse()?, of_slave.clone(), ProcessRole::slave(["poet"]));
/// // One that only asks.
/// let slave = Keyring::new("slave-1".parse()?, of_slave);
/// # let _ = (master, slave);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Keyring {
    me: HostId,
    mine: Secret,
    /// The secrets of all processes that are peers. There are two, an old and a new one, while you change it.
    clusters: Vec<Secret>,
    known: BTreeMap<HostId, (Vec<Secret>, ProcessRole)>,
}

impl Keyring {
    /// Creates the keyring of a process that knows no other yet. It may ask the processes that know its secret.
    pub const fn new(me: HostId, mine: Secret) -> Self {
        Self { me, mine, clusters: Vec::new(), known: BTreeMap::new() }
    }

    /// Creates the keyring of a process in a cluster. Every process that has the cluster's secret is a peer, whatever
    /// its name. So give no slave that secret, nor one that is [made](Secret::of_host) from it.
    pub fn of_cluster(me: HostId, cluster: &Secret) -> Self {
        let mine = cluster.of_host(&me);
        Self { me, mine, clusters: vec![cluster.clone()], known: BTreeMap::new() }
    }

    /// Accepts questions of peers that have this secret, too, while you change the cluster's secret. No process falls
    /// silent if you do it in this order. First give every process the new secret here. Then make the new secret its
    /// own, and give it the old one here. Last, remove the old one.
    ///
    /// ```
    /// use dirigent_relay::{Keyring, Secret};
    ///
    /// let (old, new) = (Secret::new(&[1; 32])?, Secret::new(&[2; 32])?);
    /// let first = Keyring::of_cluster("bot-1".parse()?, &old).with_cluster(&new);
    /// let second = Keyring::of_cluster("bot-1".parse()?, &new).with_cluster(&old);
    /// # let _ = (first, second);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_cluster(mut self, cluster: &Secret) -> Self {
        self.clusters.push(cluster.clone());
        self
    }

    /// Adds one more process. For a process of a cluster, this secret and these rights replace those of a peer. If you
    /// add a process twice, both of its secrets count, with the role of the last call. So you can change its secret
    /// without a pause.
    #[must_use]
    pub fn with(mut self, host: HostId, secret: Secret, role: ProcessRole) -> Self {
        let (mut secrets, _) =
            self.known.remove(&host).unwrap_or_else(|| (Vec::new(), role.clone()));
        secrets.push(secret);
        self.known.insert(host, (secrets, role));
        self
    }

    /// Returns the name of this process.
    pub const fn me(&self) -> &HostId {
        &self.me
    }

    pub(crate) const fn mine(&self) -> &Secret {
        &self.mine
    }

    /// Returns the secrets of a process, and its rights here.
    pub(crate) fn of(&self, host: &HostId) -> Option<(Vec<Secret>, ProcessRole)> {
        if let Some(known) = self.known.get(host) {
            return Some(known.clone());
        }
        let secrets: Vec<_> = self.clusters.iter().map(|cluster| cluster.of_host(host)).collect();
        (!secrets.is_empty()).then_some((secrets, ProcessRole::Peer))
    }
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyring")
            .field("me", &self.me)
            .field("known", &self.known.keys())
            .finish_non_exhaustive()
    }
}
