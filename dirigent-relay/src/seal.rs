//! A question and its answer as sealed bytes. The seal proves who asks and who is asked, and that no other process
//! wrote them.
//!
//! | a question | bytes |
//! | --- | --- |
//! | `DRL1` | 4 |
//! | length of the asker's name, its name | 1, up to 64 |
//! | length of the asked one's name, its name | 1, up to 64 |
//! | session: number, proof | 8, 16 |
//! | the question's number in its session | 8 |
//! | seal: HMAC-SHA256 over rule, all of the above, and body | 32 |
//! | body, JSON | the rest |
//!
//! An answer has three parts: a status, a seal, and the body. The seal covers the question's seal, the status and the
//! body.

mod session;
mod window;

use crate::{HostId, Rejection, Secret};

pub(crate) use session::{SessionId, Sessions, Taken};

const MAGIC: &[u8; 4] = b"DRL1";
const SEAL: usize = 32;
const QUESTION: &[u8] = b"dirigent relay question";
const ANSWER: &[u8] = b"dirigent relay answer";

/// The part of a question before its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) from: HostId,
    pub(crate) to: HostId,
    pub(crate) session: SessionId,
    pub(crate) number: u64,
}

/// A question that was read, but not verified yet.
pub(crate) struct Sealed<'a> {
    pub(crate) header: Header,
    /// All bytes before the seal.
    head: &'a [u8],
    pub(crate) seal: &'a [u8],
    pub(crate) body: &'a [u8],
}

/// The kind of answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// The body is the rule's answer.
    Done = 0,
    /// The body says why the process refuses.
    Refused = 1,
    /// The process did not look at the question. The body is the session to ask in.
    NewSession = 2,
}

impl Header {
    fn write(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for name in [&self.from, &self.to] {
            // A name has at most 64 bytes, so its length fits into one.
            bytes.push(u8::try_from(name.as_str().len()).unwrap_or(u8::MAX));
            bytes.extend_from_slice(name.as_str().as_bytes());
        }
        bytes.extend_from_slice(&self.session.to_bytes());
        bytes.extend_from_slice(&self.number.to_be_bytes());
        bytes
    }

    /// Seals a question. Returns the bytes and their seal.
    pub(crate) fn seal(&self, secret: &Secret, rule: &str, body: &[u8]) -> (Vec<u8>, [u8; SEAL]) {
        let mut bytes = self.write();
        let seal = secret.sign(&[QUESTION, rule.as_bytes(), &bytes, body]);
        bytes.extend_from_slice(&seal);
        bytes.extend_from_slice(body);
        (bytes, seal)
    }
}

impl<'a> Sealed<'a> {
    /// Takes the bytes of a question apart.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, Rejection> {
        Self::parts(bytes).ok_or(Rejection::Malformed)
    }

    fn parts(bytes: &'a [u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(MAGIC)?;
        let (from, rest) = name(rest)?;
        let (to, rest) = name(rest)?;
        let (session, rest) = rest.split_at_checked(SessionId::BYTES)?;
        let (number, rest) = rest.split_at_checked(8)?;
        let (seal, body) = rest.split_at_checked(SEAL)?;
        let head = bytes.get(..bytes.len() - rest.len())?;
        let session = SessionId::from_bytes(session)?;
        let number = u64::from_be_bytes(number.try_into().ok()?);
        Some(Self { header: Header { from, to, session, number }, head, seal, body })
    }

    /// Returns true if the question was sealed with this secret, for this rule.
    pub(crate) fn is_sealed(&self, secret: &Secret, rule: &str) -> bool {
        secret.is_signed(&[QUESTION, rule.as_bytes(), self.head, self.body], self.seal)
    }
}

fn name(bytes: &[u8]) -> Option<(HostId, &[u8])> {
    let (length, rest) = bytes.split_first()?;
    let (name, rest) = rest.split_at_checked(usize::from(*length))?;
    let name = std::str::from_utf8(name).ok()?.parse().ok()?;
    Some((name, rest))
}

/// Seals the answer to the question with this seal.
pub(crate) fn seal_answer(
    secret: &Secret,
    question: &[u8],
    status: Status,
    body: &[u8],
) -> Vec<u8> {
    let status = [status as u8];
    let seal = secret.sign(&[ANSWER, question, &status, body]);
    [&status, &seal[..], body].concat()
}

/// Reads the answer to the question with this seal. Returns `None` if the asked process did not write it.
pub(crate) fn open_answer<'a>(
    secret: &Secret,
    question: &[u8],
    answer: &'a [u8],
) -> Option<(Status, &'a [u8])> {
    let (status, rest) = answer.split_at_checked(1)?;
    let (seal, body) = rest.split_at_checked(SEAL)?;
    if !secret.is_signed(&[ANSWER, question, status, body], seal) {
        return None;
    }
    let status = match status {
        [0] => Status::Done,
        [1] => Status::Refused,
        [2] => Status::NewSession,
        _ => return None,
    };
    Some((status, body))
}
