//! Where processes are reached.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;
use std::sync::{Arc, PoisonError, RwLock};

use ::http::uri::Authority;
use dirigent_relay::HostId;

/// Where a process is reached: a name or an IP address, and a port. Its certificate must be valid for this name or address.
///
/// ```
/// use dirigent_cluster::http::HostAddress;
///
/// let address: HostAddress = "bot-1.internal:7443".parse()?;
/// assert_eq!((address.name(), address.port()), ("bot-1.internal", 7443));
/// assert_eq!("[::1]:7443".parse::<HostAddress>()?.name(), "::1");
/// assert!("bot-1.internal".parse::<HostAddress>().is_err());
/// # Ok::<(), dirigent_cluster::http::BadAddress>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct HostAddress {
    authority: Authority,
    port: u16,
}

/// The text is no address of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the address of a process: expected name:port, for example bot-1.internal:7443")]
#[non_exhaustive]
pub struct BadAddress;

impl HostAddress {
    /// The name or IP address, without brackets.
    pub fn name(&self) -> &str {
        let name = self.authority.host();
        name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name)
    }

    /// The port.
    pub const fn port(&self) -> u16 {
        self.port
    }

    pub(super) const fn authority(&self) -> &Authority {
        &self.authority
    }
}

impl FromStr for HostAddress {
    type Err = BadAddress;

    fn from_str(text: &str) -> Result<Self, BadAddress> {
        let authority: Authority = text.parse().map_err(|_| BadAddress)?;
        let port = authority.port_u16().filter(|port| *port > 0).ok_or(BadAddress)?;
        let is_address = !authority.host().is_empty() && !text.contains('@');
        is_address.then_some(Self { authority, port }).ok_or(BadAddress)
    }
}

impl From<SocketAddr> for HostAddress {
    fn from(address: SocketAddr) -> Self {
        // Without the scope of an IPv6 address, which no authority has.
        let text = match address {
            SocketAddr::V4(address) => address.to_string(),
            SocketAddr::V6(address) => format!("[{}]:{}", address.ip(), address.port()),
        };
        let nowhere = Authority::from_static("0.0.0.0:0");
        Self { authority: text.parse().unwrap_or(nowhere), port: address.port() }
    }
}

impl fmt::Display for HostAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.authority.as_str())
    }
}

impl fmt::Debug for HostAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostAddress({self})")
    }
}

/// Knows where processes are. It is asked for each question, so that it may change at any time: a closure, or an
/// [`AddressBook`].
///
/// ```
/// use dirigent_relay::HostId;
/// use dirigent_cluster::http::HttpRelay;
///
/// // Each process is found under its name.
/// let addresses = |host: &HostId| format!("{host}.internal:7443").parse().ok();
/// let (relay, link) = HttpRelay::plain_on_loopback(addresses).build();
/// # let _ = (relay, link);
/// ```
pub trait Addresses: Send + Sync + 'static {
    /// Where this process is; `None` where it is not known. It must return at once.
    fn address(&self, host: &HostId) -> Option<HostAddress>;
}

impl<F> Addresses for F
where
    F: Fn(&HostId) -> Option<HostAddress> + Send + Sync + 'static,
{
    fn address(&self, host: &HostId) -> Option<HostAddress> {
        self(host)
    }
}

/// The addresses of processes in a map that may be changed at any time. Clones share it.
///
/// ```
/// use dirigent_cluster::http::{AddressBook, Addresses};
///
/// let book = AddressBook::new();
/// book.set("bot-1".parse()?, "10.0.0.7:7443".parse()?);
/// assert!(book.address(&"bot-1".parse()?).is_some());
/// book.remove(&"bot-1".parse()?);
/// assert!(book.address(&"bot-1".parse()?).is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct AddressBook {
    addresses: Arc<RwLock<BTreeMap<HostId, HostAddress>>>,
}

impl AddressBook {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reaches the process there, from the next question on.
    pub fn set(&self, host: HostId, address: HostAddress) {
        self.addresses.write().unwrap_or_else(PoisonError::into_inner).insert(host, address);
    }

    /// Reaches the process no more.
    pub fn remove(&self, host: &HostId) {
        self.addresses.write().unwrap_or_else(PoisonError::into_inner).remove(host);
    }
}

impl FromIterator<(HostId, HostAddress)> for AddressBook {
    fn from_iter<I: IntoIterator<Item = (HostId, HostAddress)>>(addresses: I) -> Self {
        Self { addresses: Arc::new(RwLock::new(addresses.into_iter().collect())) }
    }
}

impl Addresses for AddressBook {
    fn address(&self, host: &HostId) -> Option<HostAddress> {
        self.addresses.read().unwrap_or_else(PoisonError::into_inner).get(host).cloned()
    }
}
