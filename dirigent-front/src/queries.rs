//! The parameters of requests that only read.

use serde::Deserialize;
use utoipa::IntoParams;

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct WhyAsked {
    pub(crate) agent: String,
    pub(crate) channel: String,
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct StateAsked {
    pub(crate) channel: String,
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct TurnsAsked {
    /// The agents, separated by commas. Default: all that are bound to the secret.
    #[serde(default)]
    pub(crate) agents: Option<String>,
    /// Only the turns in this channel. If another process owns it, the refusal names that process.
    #[serde(default)]
    pub(crate) channel: Option<String>,
}
