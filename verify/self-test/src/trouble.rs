//! Why something could not be tried.

/// Why a self-test, or a part of it, could not be carried out. It holds no token and no text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Trouble {
    /// There is no token.
    #[error("DISCORD_TOKEN is not set")]
    NoToken,
    /// The token cannot be one.
    #[error("a token has characters that no token has")]
    BadToken,
    /// Only half of a Discord on this machine is named.
    #[error("DISCORD_PROXY_URL and DISCORD_GATEWAY_URL must both be set, or neither of them")]
    OneAddress,
    /// The address is none.
    #[error("DISCORD_PROXY_URL is not an address such as http://127.0.0.1:8120")]
    BadAddress,
    /// Discord is reached with TLS only.
    #[error(
        "TLS is not available: build with the feature `tls`, and look at the system's certificates"
    )]
    NoTls,
    /// The first requests were refused.
    #[error("{0} was refused with status {1}: {2}")]
    Refused(&'static str, u16, &'static str),
    /// A request was not answered in time, or its connection broke.
    #[error("{0} was not answered")]
    NoAnswer(&'static str),
    /// Discord has a fault of its own.
    #[error("{0} was answered with status {1}")]
    Unavailable(&'static str, u16),
    /// The channel is in no server, or has no messages.
    #[error("the channel is not a text channel of a server")]
    NotInGuild,
    /// No session began.
    #[error("the gateway did not begin a session")]
    NoSession,
    /// All requests that a self-test may send are sent.
    #[error("all of the 60 requests are used up")]
    BudgetSpent,
    /// The time is over.
    #[error("the time was over")]
    Late,
    /// Ctrl-C.
    #[error("it was interrupted")]
    Interrupted,
}
