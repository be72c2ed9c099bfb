//! Sign-outs in all processes. A session is signed, so each process with the same tokens admits its cookie, unless it
//! knows that the visitor has signed out.
//!
//! A sign-out is told to the other processes at once. Before a process judges a session, it asks the others for the
//! sign-outs that it may have missed: while it was not reached, or before it started.

use std::sync::{Arc, PoisonError};

use futures_util::future::join_all;

use crate::page::auth::EndedSession;
use crate::page::heard_peers::Heard;
use crate::page::peers::{PageAnswer, PageQuestion, Peers};
use crate::page::shared::PageContext;

impl PageContext {
    /// Ends sessions in all processes. Returns the processes that did not answer.
    pub(crate) async fn sign_out(&self, ended: Vec<EndedSession>) -> Vec<String> {
        self.end_sessions(&ended);
        let Some(peers) = self.peers.as_ref().filter(|_| !ended.is_empty()) else {
            return Vec::new();
        };
        let others = peers.others();
        let told = others.iter().map(|peer| self.has_answered(peers, peer, ended.clone()));
        let told = join_all(told).await;
        others.into_iter().zip(told).filter(|(_, told)| !told).map(|(peer, _)| peer).collect()
    }

    /// Ends sessions in this process, and their open pages.
    pub(crate) fn end_sessions(&self, ended: &[EndedSession]) {
        let is_new = {
            let mut auth = self.auth.lock().unwrap_or_else(PoisonError::into_inner);
            auth.end(self.clock.now(), ended.iter().map(|ended| ended.0))
        };
        if is_new {
            self.sign_outs.send_modify(|sign_outs| *sign_outs += 1);
        }
    }

    /// Returns the sessions that visitors ended.
    pub(crate) fn ended_sessions(&self) -> Vec<EndedSession> {
        let auth = self.auth.lock().unwrap_or_else(PoisonError::into_inner);
        auth.ended().map(EndedSession).collect()
    }

    /// Asks the other processes for their sign-outs, each at most once a second. A visitor waits for these answers at
    /// most 2 s. A process that did not answer the last time is asked without a visitor who waits, so that it does not
    /// make the page slow.
    pub(crate) async fn hear_sign_outs(self: &Arc<Self>) {
        let Some(peers) = &self.peers else { return };
        let mut heard = self.heard.0.lock().await;
        let (others, now) = (peers.others(), self.clock.now());
        heard.retain(|peer, _| others.contains(peer));
        let (mut asked, mut silent) = (Vec::new(), Vec::new());
        for peer in others {
            match heard.get(&peer) {
                Some(before) if before.is_fresh(now) => {}
                Some(before) if !before.has_answered => silent.push(peer),
                _ => asked.push(peer),
            }
        }
        for peer in silent {
            heard.insert(peer.clone(), Heard { at: now, has_answered: false });
            let (shared, peers) = (Arc::clone(self), Arc::clone(peers));
            tokio::spawn(async move {
                if shared.has_answered(&peers, &peer, Vec::new()).await {
                    let mut heard = shared.heard.0.lock().await;
                    heard.insert(peer, Heard { at: now, has_answered: true });
                }
            });
        }
        let answers = asked.iter().map(|peer| self.has_answered(peers, peer, Vec::new()));
        let answers = join_all(answers).await;
        for (peer, has_answered) in asked.into_iter().zip(answers) {
            heard.insert(peer, Heard { at: now, has_answered });
        }
    }

    /// Tells another process of sign-outs, and hears of those that it knows. Returns true if it answered.
    async fn has_answered(
        &self,
        peers: &Arc<dyn Peers>,
        peer: &str,
        ended: Vec<EndedSession>,
    ) -> bool {
        let question = PageQuestion::SignOuts { ended };
        match self.across().ask_peer(peers, peer, &question).await {
            Ok(PageAnswer::SignOuts { ended }) => {
                self.end_sessions(&ended);
                true
            }
            Ok(_) | Err(_) => false,
        }
    }
}
