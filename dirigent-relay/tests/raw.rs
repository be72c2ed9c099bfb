//! Questions of a client that knows nothing but JSON.

use dirigent_relay::{Client, Refused, RelayQuestion};
use serde_json::Value;

use super::fleet::host;

/// Any question of one rule.
macro_rules! raw {
    ($($name:ident: $rule:literal),+) => {$(
        #[derive(Serialize, Deserialize)]
        #[serde(transparent)]
        struct $name(Value);

        impl RelayQuestion for $name {
            const RULE: &'static str = $rule;
            type Answer = Value;
        }
    )+};
}
pub(crate) use raw;

/// Why the master refuses this question.
pub(crate) async fn refused<Q: RelayQuestion<Answer = Value>>(
    slave: &Client,
    question: Q,
) -> Refused {
    let error = slave.ask(&host("master"), &question).await.unwrap_err();
    error.refused().cloned().unwrap_or_else(|| panic!("{error}"))
}
