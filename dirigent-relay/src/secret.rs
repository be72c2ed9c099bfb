//! The secret of one process.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::HostId;

/// The secret of a process, which proves that a question is its own. Give it only to that process and to those that it
/// asks. `Debug` does not show it.
///
/// ```
/// use dirigent_relay::Secret;
///
/// let secret = Secret::new(&[7; 32])?;
/// assert_eq!(format!("{secret:?}"), "Secret");
/// assert!(Secret::new(b"too short").is_err());
/// # Ok::<(), dirigent_relay::WeakSecret>(())
/// ```
#[derive(Clone)]
pub struct Secret(Hmac<Sha256>);

/// The error for a secret that has fewer than 32 bytes. Take 32 random bytes, for example from `openssl rand -hex 32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a secret has at least 32 bytes; take 32 random ones, for example of `openssl rand -hex 32`"
)]
#[non_exhaustive]
pub struct WeakSecret;

/// The error for a system without random bytes, which a process that answers needs at its start.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the system gave no random bytes: {0}")]
#[non_exhaustive]
pub struct NoRandomness(#[source] getrandom::Error);

impl Secret {
    /// The fewest bytes of a secret.
    pub const MIN: usize = 32;

    /// Creates a secret from these bytes, which must be random.
    ///
    /// # Errors
    ///
    /// Returns [`WeakSecret`] if there are fewer bytes than [`MIN`](Self::MIN).
    pub fn new(bytes: &[u8]) -> Result<Self, WeakSecret> {
        if bytes.len() < Self::MIN {
            return Err(WeakSecret);
        }
        Hmac::new_from_slice(bytes).map(Self).map_err(|_| WeakSecret)
    }

    /// Creates a secret from the system's random bytes.
    ///
    /// # Errors
    ///
    /// Returns [`NoRandomness`] if the system has none.
    pub fn random() -> Result<Self, NoRandomness> {
        let mut bytes = [0; 64];
        getrandom::fill(&mut bytes).map_err(NoRandomness)?;
        Ok(Self(Hmac::new(&bytes.into())))
    }

    /// Returns the secret of one process, made from this secret of all processes together. The secret of one process is
    /// not enough to make that of another.
    #[must_use]
    pub fn of_host(&self, host: &HostId) -> Self {
        let made = self.sign(&[b"dirigent relay host", host.as_str().as_bytes()]);
        // HMAC would pad a shorter key to a whole block, so this block is the same key as its first 32 bytes.
        let mut block = [0; 64];
        for (to, from) in block.iter_mut().zip(made) {
            *to = from;
        }
        Self(Hmac::new(&block.into()))
    }

    /// Signs the parts, each with its length.
    pub(crate) fn sign(&self, parts: &[&[u8]]) -> [u8; 32] {
        self.over(parts).finalize().into_bytes().into()
    }

    /// Returns true if the parts were signed with this secret. It takes the same time for a right and a wrong seal, so
    /// that an attacker learns no part of it.
    pub(crate) fn is_signed(&self, parts: &[&[u8]], seal: &[u8]) -> bool {
        self.over(parts).verify_slice(seal).is_ok()
    }

    fn over(&self, parts: &[&[u8]]) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        for part in parts {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        mac
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}
