//! Says why an account could not be set up.

/// Why an account could not be set up.
///
/// ```
/// use dirigent::SystemClock;
/// use dirigent_discord::{AccountBuildError, DiscordAccount};
///
/// let built = DiscordAccount::builder("two words", SystemClock::new()).build();
/// assert_eq!(built.err(), Some(AccountBuildError::BadToken));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AccountBuildError {
    /// The token is empty, or contains characters that no token has.
    #[error("not a bot's token: it is empty or has spaces or control characters in it")]
    BadToken,
    /// The address of the proxy or of the files is not a scheme and a host.
    #[error(
        "not an address for the proxy or the files: expected http://host:port or https://host:port"
    )]
    BadProxy,
    /// Discord needs TLS, and there is none.
    #[error(
        "no TLS: switch on one of the crate's TLS features, and see that root certificates are there"
    )]
    NoTls,
}
