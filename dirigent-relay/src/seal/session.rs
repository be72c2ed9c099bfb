//! Sessions: each accepts every number once. The answering process issues them, so that it never accepts a question
//! again from before its start or from a session that it has forgotten. This needs no clock.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::window::Window;
use crate::{HostId, Secret};

/// The most sessions of one process that are remembered. Each restart of that process begins one.
const SESSIONS_MAX: usize = 4;
const PROOF: usize = 16;

/// A session that the answering process issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SessionId {
    issue: u64,
    proof: [u8; PROOF],
}

impl SessionId {
    pub(crate) const BYTES: usize = 8 + PROOF;
    /// The session of a process that has not received one yet.
    pub(crate) const NONE: Self = Self { issue: 0, proof: [0; PROOF] };

    pub(crate) fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let (issue, proof) = bytes.split_at_mut(8);
        issue.copy_from_slice(&self.issue.to_be_bytes());
        proof.copy_from_slice(&self.proof);
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (issue, proof) = bytes.split_at_checked(8)?;
        Some(Self {
            issue: u64::from_be_bytes(issue.try_into().ok()?),
            proof: proof.try_into().ok()?,
        })
    }
}

/// The result for a question with a valid seal.
pub(crate) enum Taken {
    /// The question is new.
    New,
    /// The question was accepted before, or may have been.
    Again,
    /// This process did not issue the question's session, or has forgotten it. The question must come in this new
    /// session.
    OtherSession(SessionId),
}

/// The sessions that this process issued since it began.
pub(crate) struct Sessions {
    /// A secret that is new at each start, so that sessions of earlier starts are not valid.
    start: Secret,
    issued: AtomicU64,
    hosts: Mutex<HashMap<HostId, Remembered>>,
}

#[derive(Default)]
struct Remembered {
    /// All sessions up to this one are forgotten.
    forgotten: u64,
    windows: BTreeMap<u64, Window>,
}

impl Sessions {
    pub(crate) fn new(start: Secret) -> Self {
        Self { start, issued: AtomicU64::new(0), hosts: Mutex::default() }
    }

    /// Accepts a number of a session that this process issued. Each number is accepted once.
    pub(crate) fn take(&self, host: &HostId, session: SessionId, number: u64) -> Taken {
        let is_ours = session.issue > 0 && self.proof(host, session.issue) == session.proof;
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        let remembered = hosts.entry(host.clone()).or_default();
        if !is_ours || session.issue <= remembered.forgotten {
            drop(hosts);
            return Taken::OtherSession(self.issue(host));
        }
        let window = remembered.windows.entry(session.issue).or_insert_with(Window::new);
        let taken = if window.take(number) { Taken::New } else { Taken::Again };
        while remembered.windows.len() > SESSIONS_MAX {
            if let Some((oldest, _)) = remembered.windows.pop_first() {
                remembered.forgotten = oldest;
            }
        }
        taken
    }

    fn issue(&self, host: &HostId) -> SessionId {
        let issue = self.issued.fetch_add(1, Ordering::Relaxed) + 1;
        SessionId { issue, proof: self.proof(host, issue) }
    }

    fn proof(&self, host: &HostId, issue: u64) -> [u8; PROOF] {
        let whole = self.start.sign(&[host.as_str().as_bytes(), &issue.to_be_bytes()]);
        let mut proof = [0; PROOF];
        for (to, from) in proof.iter_mut().zip(whole) {
            *to = from;
        }
        proof
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(name: &str) -> HostId {
        name.parse().unwrap()
    }

    fn sessions(start: u8) -> Sessions {
        Sessions::new(Secret::new(&[start; 32]).unwrap())
    }

    /// Returns the session that a process without one should ask in.
    fn new_session(sessions: &Sessions, of: &str) -> SessionId {
        let Taken::OtherSession(session) = sessions.take(&host(of), SessionId::NONE, 1) else {
            panic!("no session is one of a process");
        };
        session
    }

    fn is_new(sessions: &Sessions, of: &str, session: SessionId, number: u64) -> bool {
        matches!(sessions.take(&host(of), session, number), Taken::New)
    }

    #[test]
    fn a_session_that_is_forgotten_takes_nothing_again() {
        let sessions = sessions(9);
        let issued: Vec<_> = (0..=SESSIONS_MAX).map(|_| new_session(&sessions, "a")).collect();
        for session in &issued {
            assert!(is_new(&sessions, "a", *session, 7));
        }
        for session in &issued {
            assert!(!is_new(&sessions, "a", *session, 7));
        }
        let taken = sessions.take(&host("a"), issued[0], 8);
        assert!(matches!(taken, Taken::OtherSession(_)), "the oldest is forgotten");
        assert!(is_new(&sessions, "a", issued[1], 8));
    }

    #[test]
    fn a_session_is_that_of_one_process_and_of_one_start() {
        let first = sessions(9);
        let session = new_session(&first, "a");
        assert!(!is_new(&first, "b", session, 1));
        assert!(!is_new(&sessions(10), "a", session, 1));
        assert!(is_new(&first, "a", session, 1));
    }
}
