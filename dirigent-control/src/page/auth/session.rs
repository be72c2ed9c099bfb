//! The session in the cookie. It is signed, so the server remembers only the sessions that were ended early.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use super::VisitorRole;

/// The length of a session, in seconds.
pub(crate) const SESSION_SECONDS: u64 = 12 * 3_600;

/// The key that signs sessions. It comes from the token, so a session survives a restart and becomes invalid with its
/// token.
pub(super) struct SessionKey(Hmac<Sha256>);

impl SessionKey {
    pub(super) fn of(token: &str) -> Self {
        let mut from = keyed(token.as_bytes());
        from.update(b"dirigent-control session, first form");
        Self(keyed(&from.finalize().into_bytes()))
    }

    /// Returns a label for cookies and sessions of this token. A browser does not distinguish ports, so it also sends the cookies of
    /// another bot on this machine. The label has 32 bits, which is too little to help with guessing a token.
    pub(super) fn label(&self) -> u32 {
        let mut mac = self.0.clone();
        mac.update(b"name of the cookie");
        let bytes = mac.finalize().into_bytes();
        bytes.iter().take(4).fold(0, |label, byte| label << 8 | u32::from(*byte))
    }

    fn signing(&self, role: VisitorRole, expires: u64) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        mac.update(format!("{}.{expires}", letter(role)).as_bytes());
        mac
    }
}

/// Returns an HMAC for a key of any length. The key is hashed and filled up to a block.
fn keyed(key: &[u8]) -> Hmac<Sha256> {
    let mut block = [0; 64];
    for (place, byte) in block.iter_mut().zip(Sha256::digest(key)) {
        *place = byte;
    }
    <Hmac<Sha256> as KeyInit>::new(&block.into())
}

const fn letter(role: VisitorRole) -> char {
    match role {
        VisitorRole::Viewer => 'v',
        VisitorRole::Operator => 'o',
    }
}

/// A session as a browser sends it.
pub(super) struct Session<'a> {
    pub(super) role: VisitorRole,
    /// The time at which it expires, in milliseconds of Unix time. Two sessions of one process never expire in the same
    /// millisecond.
    pub(super) expires: u64,
    signature: &'a str,
}

impl<'a> Session<'a> {
    /// Returns the cookie's text for a session until then.
    pub(super) fn begin(role: VisitorRole, expires: u64, key: &SessionKey) -> String {
        let signature = key.signing(role, expires).finalize().into_bytes();
        format!("{}.{expires}.{}", letter(role), URL_SAFE_NO_PAD.encode(signature))
    }

    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let mut parts = text.split('.');
        let (role, expires, signature) = (parts.next()?, parts.next()?, parts.next()?);
        let role = match role {
            "v" => VisitorRole::Viewer,
            "o" => VisitorRole::Operator,
            _ => return None,
        };
        let is_plain = expires.len() <= 15 && expires.bytes().all(|byte| byte.is_ascii_digit());
        let expires = expires.parse().ok().filter(|_| is_plain && !expires.starts_with('0'))?;
        parts.next().is_none().then_some(Self { role, expires, signature })
    }

    /// Compares in constant time.
    pub(super) fn is_signed_with(&self, key: &SessionKey) -> bool {
        let signature = URL_SAFE_NO_PAD.decode(self.signature);
        signature.is_ok_and(|signature| {
            key.signing(self.role, self.expires).verify_slice(&signature).is_ok()
        })
    }
}
