//! TLS with ring, so that no host has to choose or install a provider.

use std::sync::{Arc, OnceLock};

use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls_platform_verifier::BuilderVerifierExt as _;

use crate::error::ChatError;

/// The configuration of all endpoints of the process: the roots of the operating system are read once.
pub(crate) fn config() -> Result<ClientConfig, ChatError> {
    static CONFIG: OnceLock<Option<ClientConfig>> = OnceLock::new();
    CONFIG.get_or_init(build).clone().ok_or(ChatError::BadEndpoint)
}

fn build() -> Option<ClientConfig> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider);
    let builder = builder.with_safe_default_protocol_versions().ok()?;
    Some(builder.with_platform_verifier().ok()?.with_no_client_auth())
}

#[cfg(test)]
mod tests {
    #[test]
    fn tls_needs_no_provider_to_be_installed() {
        assert!(super::config().is_ok());
    }
}
