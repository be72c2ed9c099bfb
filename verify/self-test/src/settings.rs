//! With which accounts, and where.

use std::env;

use practice::Token;

use super::trouble::Trouble;

/// The variables in which a token of a second account is looked for.
const SECOND_TOKENS: [&str; 4] =
    ["OPTIMIST_TOKEN", "SCEPTIC_TOKEN", "HISTORIAN_TOKEN", "DEVELOPER_TOKEN"];

/// With which accounts a self-test is carried out, and where.
///
/// ```
/// use self_test::Settings;
/// use practice::Token;
///
/// let settings = Settings::new(7, Token::new("secret".to_owned()))
///     .with_second(Token::new("also secret".to_owned()))
///     .at("http://127.0.0.1:8120", "ws://127.0.0.1:8121");
/// assert!(!format!("{settings:?}").contains("secret"));
/// ```
#[derive(Debug)]
pub struct Settings {
    pub(crate) channel: u64,
    pub(crate) first: Token,
    pub(crate) second: Option<Token>,
    pub(crate) address: Option<String>,
    pub(crate) gateway: Option<String>,
}

impl Settings {
    /// A self-test in this channel of Discord with one account.
    pub const fn new(channel: u64, token: Token) -> Self {
        Self { channel, first: token, second: None, address: None, gateway: None }
    }

    /// Takes a second account, which sees what the first one writes.
    #[must_use]
    pub fn with_second(self, token: Token) -> Self {
        Self { second: Some(token), ..self }
    }

    /// Asks a Discord on this machine: `http://host:port`, and its gateway at `ws://host:port`.
    #[must_use]
    pub fn at(self, address: impl Into<String>, gateway: impl Into<String>) -> Self {
        Self { address: Some(address.into()), gateway: Some(gateway.into()), ..self }
    }

    /// Takes all of it from the environment: `DISCORD_TOKEN`; the second token from the first of `OPTIMIST_TOKEN`,
    /// `SCEPTIC_TOKEN`, `HISTORIAN_TOKEN` and `DEVELOPER_TOKEN` that is set; `DISCORD_PROXY_URL` and
    /// `DISCORD_GATEWAY_URL`, which a Discord on this machine sets.
    ///
    /// # Errors
    ///
    /// When there is no `DISCORD_TOKEN`, or one of the two addresses without the other.
    pub fn from_environment(channel: u64) -> Result<Self, Trouble> {
        let set = |name: &str| env::var(name).ok().filter(|value| !value.trim().is_empty());
        let first = set("DISCORD_TOKEN").map(Token::new).ok_or(Trouble::NoToken)?;
        let second = SECOND_TOKENS.into_iter().find_map(set).map(Token::new);
        let (address, gateway) = (set("DISCORD_PROXY_URL"), set("DISCORD_GATEWAY_URL"));
        if address.is_some() != gateway.is_some() {
            return Err(Trouble::OneAddress);
        }
        Ok(Self { channel, first, second, address, gateway })
    }
}
