//! The `User-Agent` headers of clients. Discord asks for `DiscordBot (url, version)`, but also serves other bots.

use std::collections::BTreeSet;

use super::LoopbackDiscord;

/// The most different headers that are remembered and logged. More could only come from a client that keeps changing
/// its header.
const LOGGED_MAX: usize = 100;

/// The most characters of a header that are logged.
const LOGGED_CHARS_MAX: usize = 200;

/// Decides which clients are served, and logs each odd header once.
#[derive(Debug, Default)]
pub(super) struct UserAgents {
    is_strict: bool,
    logged: BTreeSet<String>,
}

impl UserAgents {
    /// Returns true if a request with this header is served. The header is empty if there is none.
    pub(super) fn takes(&mut self, agent: &[u8]) -> bool {
        if agent.starts_with(b"DiscordBot (") {
            return true;
        }
        let agent = String::from_utf8_lossy(agent);
        let agent: String = agent.chars().take(LOGGED_CHARS_MAX).collect();
        if self.logged.len() < LOGGED_MAX && self.logged.insert(agent.clone()) {
            tracing::warn!(
                ?agent,
                is_refused = self.is_strict,
                "a client's User-Agent is not `DiscordBot (url, version)`, as Discord asks for"
            );
        }
        !self.is_strict
    }
}

impl LoopbackDiscord {
    /// Refuses clients from now on if their `User-Agent` is not `DiscordBot (url, version)`, with status 403 and code
    /// 40333. Discord documents this form, so turn it on to test your own client. By default any header is accepted,
    /// because Discord serves well-known clients that send another. Each odd header is then logged once, as a warning.
    ///
    /// Webhooks and answers to commands are open to all clients either way.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use dirigent_loopback::LoopbackDiscord;
    /// use dirigent_testkit::{ManualClock, MemoryDiscord};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let server = LoopbackDiscord::start(MemoryDiscord::new(Arc::new(ManualClock::new()))).await?;
    /// server.refuse_odd_agents();
    /// # Ok(())
    /// # }
    /// ```
    pub fn refuse_odd_agents(&self) {
        self.state.user_agents().is_strict = true;
    }
}
