//! Makes connections, with TLS if it is built in.

use hyper_util::client::legacy::connect::HttpConnector;

use crate::AccountBuildError;

pub(super) const HAS_TLS: bool = cfg!(any(feature = "__rustls", feature = "native-tls"));

#[cfg(feature = "__rustls")]
pub(super) type Connector = hyper_rustls::HttpsConnector<HttpConnector>;

#[cfg(all(feature = "native-tls", not(feature = "__rustls")))]
pub(super) type Connector = hyper_tls::HttpsConnector<HttpConnector>;

#[cfg(not(any(feature = "__rustls", feature = "native-tls")))]
pub(super) type Connector = HttpConnector;

pub(super) fn plain() -> HttpConnector {
    let mut connector = HttpConnector::new();
    connector.enforce_http(false);
    connector.set_nodelay(true);
    connector.set_connect_timeout(Some(super::CONNECT_MAX));
    connector
}

/// Returns a connector with rustls and its own crypto provider, so that you need not install one
/// for the whole program.
#[cfg(feature = "__rustls")]
pub(super) fn connector() -> Result<Connector, AccountBuildError> {
    let provider = rustls::crypto::ring::default_provider();
    let builder = hyper_rustls::HttpsConnectorBuilder::new();
    #[cfg(feature = "rustls-platform-verifier")]
    let verified = builder.with_provider_and_platform_verifier(provider);
    #[cfg(all(feature = "rustls-native-roots", not(feature = "rustls-platform-verifier")))]
    let verified = builder.with_provider_and_native_roots(provider);
    #[cfg(not(any(feature = "rustls-platform-verifier", feature = "rustls-native-roots")))]
    let verified = builder.with_provider_and_webpki_roots(provider);
    let verified = verified.map_err(|_| AccountBuildError::NoTls)?;
    Ok(verified.https_or_http().enable_http1().enable_http2().wrap_connector(plain()))
}

#[cfg(all(feature = "native-tls", not(feature = "__rustls")))]
#[expect(clippy::unnecessary_wraps, reason = "with rustls it may fail")]
pub(super) fn connector() -> Result<Connector, AccountBuildError> {
    Ok(hyper_tls::HttpsConnector::new_with_connector(plain()))
}

#[cfg(not(any(feature = "__rustls", feature = "native-tls")))]
#[expect(clippy::unnecessary_wraps, reason = "with rustls it may fail")]
pub(super) fn connector() -> Result<Connector, AccountBuildError> {
    Ok(plain())
}
