//! TLS with ring, so that you need not choose or install a provider.

use std::sync::{Arc, OnceLock};

use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls_platform_verifier::BuilderVerifierExt as _;

use crate::error::ChatError;

/// Returns the TLS configuration that all endpoints of the process share. The operating system's root
/// certificates are read once.
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
