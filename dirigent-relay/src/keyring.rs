//! Who may ask what: the secrets of the processes, and what each may do.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use dirigent::AgentId;

use crate::{HostId, Secret};

/// What a process may do here.
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
    /// It acts for channels of its own, and is trusted as this process is.
    Peer,
    /// It acts for no channel: it may ask and report for these agents, and look.
    Slave(BTreeSet<AgentId>),
}

impl ProcessRole {
    /// A slave that may act for these agents.
    pub fn slave<A: Into<AgentId>>(agents: impl IntoIterator<Item = A>) -> Self {
        Self::Slave(agents.into_iter().map(Into::into).collect())
    }

    /// Whether it may ask and report for this agent.
    pub fn may_act_for(&self, agent: &AgentId) -> bool {
        match self {
            Self::Peer => true,
            Self::Slave(agents) => agents.contains(agent),
        }
    }
}

/// Which processes this one knows, with the secret of each and what it may do here; and who this one is.
///
/// A question is sealed with the secret of the process that asks, and so is its answer: a slave needs no secret but its
/// own.
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
    /// Of all processes that are peers: while it is changed, the old one and the new one.
    clusters: Vec<Secret>,
    known: BTreeMap<HostId, (Vec<Secret>, ProcessRole)>,
}

impl Keyring {
    /// A process that knows no other yet: it may ask those that know its secret.
    pub const fn new(me: HostId, mine: Secret) -> Self {
        Self { me, mine, clusters: Vec::new(), known: BTreeMap::new() }
    }

    /// A process of a cluster in which every process that has the cluster's secret is a peer, whatever its name.
    /// No slave may have that secret, nor one [made](Secret::of_host) from it.
    pub fn of_cluster(me: HostId, cluster: &Secret) -> Self {
        let mine = cluster.of_host(&me);
        Self { me, mine, clusters: vec![cluster.clone()], known: BTreeMap::new() }
    }

    /// Also takes questions of peers that have this secret, while the cluster's secret is changed. No process falls silent in this order:
    /// give every process the new one here; then every one the new secret as its own, and the old one here; then the new one alone.
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

    /// Knows one more process; one of a cluster that is given here is what is said here. A process that is given again has both secrets,
    /// and the role of the last: so its secret is changed without a pause.
    #[must_use]
    pub fn with(mut self, host: HostId, secret: Secret, role: ProcessRole) -> Self {
        let (mut secrets, _) =
            self.known.remove(&host).unwrap_or_else(|| (Vec::new(), role.clone()));
        secrets.push(secret);
        self.known.insert(host, (secrets, role));
        self
    }

    /// Which process this is.
    pub const fn me(&self) -> &HostId {
        &self.me
    }

    pub(crate) const fn mine(&self) -> &Secret {
        &self.mine
    }

    /// The secrets of a process, and what it may do here.
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
