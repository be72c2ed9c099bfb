//! Certificates, keys and whom to trust.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::version::TLS13;
use rustls::{ClientConfig, ServerConfig};

use super::socket::ALPN;

/// How an [`HttpRelay`](crate::http::HttpRelay) encrypts: TLS 1.3, and nothing older. Certificates and keys are given as PEM or as DER.
#[derive(Clone)]
pub struct ClientTls {
    config: Arc<ClientConfig>,
    roots: RootCertStore,
}

/// How an [`HttpServer`](crate::http::HttpServer) encrypts: TLS 1.3, and nothing older. Certificates and keys are given as PEM or as DER.
#[derive(Clone)]
pub struct ServerTls {
    config: Arc<ServerConfig>,
    identity: Arc<Identity>,
}

/// A certificate with what stands between it and its authority, and its key.
struct Identity {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

/// Why certificates or a key cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// There is no certificate in what was given.
    #[error("no certificate was found: expected PEM with BEGIN CERTIFICATE, or one as DER")]
    NoCertificate,
    /// There is no private key in what was given.
    #[error("no private key was found: expected PEM with BEGIN PRIVATE KEY, or one as DER")]
    NoKey,
    /// They cannot be used, or not together.
    #[error("the certificate or its key cannot be used: {0}")]
    Unusable(#[source] Box<dyn Error + Send + Sync>),
}

fn unusable(error: impl Error + Send + Sync + 'static) -> TlsError {
    TlsError::Unusable(Box::new(error))
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

impl ClientTls {
    /// Trusts the processes whose certificates are from these authorities, and no others.
    ///
    /// # Errors
    ///
    /// [`TlsError`] where there is no certificate, or none that can be an authority.
    pub fn trusting(authorities: &[u8]) -> Result<Self, TlsError> {
        let roots = roots(authorities)?;
        let config = client(&roots)?.with_no_client_auth();
        Ok(Self { config: for_http2_client(config), roots })
    }

    /// Shows this certificate to processes that ask for one ([`ServerTls::with_client_authorities`]): first the certificate,
    /// then what stands between it and its authority.
    ///
    /// # Errors
    ///
    /// [`TlsError`] where certificate or key are missing, cannot be used, or do not belong together.
    pub fn with_certificate(self, chain: &[u8], key: &[u8]) -> Result<Self, TlsError> {
        let Identity { chain, key } = Identity::read(chain, key)?;
        let config = client(&self.roots)?.with_client_auth_cert(chain, key).map_err(unusable)?;
        Ok(Self { config: for_http2_client(config), roots: self.roots })
    }

    pub(super) fn config(self) -> Arc<ClientConfig> {
        self.config
    }
}

impl ServerTls {
    /// Shows this certificate: first the certificate, then what stands between it and its authority.
    ///
    /// # Errors
    ///
    /// [`TlsError`] where certificate or key are missing, cannot be used, or do not belong together.
    pub fn new(chain: &[u8], key: &[u8]) -> Result<Self, TlsError> {
        let identity = Identity::read(chain, key)?;
        let config = server()?.with_no_client_auth();
        let identity = Arc::new(identity);
        Ok(Self { config: for_http2_server(config, &identity)?, identity })
    }

    /// Answers only clients whose certificates are from these authorities.
    ///
    /// # Errors
    ///
    /// [`TlsError`] where there is no certificate, or none that can be an authority.
    pub fn with_client_authorities(self, authorities: &[u8]) -> Result<Self, TlsError> {
        let roots = Arc::new(roots(authorities)?);
        let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider());
        let verifier = verifier.build().map_err(unusable)?;
        let config = server()?.with_client_cert_verifier(verifier);
        Ok(Self { config: for_http2_server(config, &self.identity)?, identity: self.identity })
    }

    pub(super) fn config(self) -> Arc<ServerConfig> {
        self.config
    }
}

type Client = rustls::ConfigBuilder<ClientConfig, rustls::client::WantsClientCert>;
type Server = rustls::ConfigBuilder<ServerConfig, rustls::WantsVerifier>;
type CertifiedServer = rustls::ConfigBuilder<ServerConfig, rustls::server::WantsServerCert>;

fn client(roots: &RootCertStore) -> Result<Client, TlsError> {
    let config = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])
        .map_err(unusable)?;
    Ok(config.with_root_certificates(roots.clone()))
}

fn server() -> Result<Server, TlsError> {
    ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])
        .map_err(unusable)
}

fn for_http2_client(mut config: ClientConfig) -> Arc<ClientConfig> {
    config.alpn_protocols = vec![ALPN.to_vec()];
    Arc::new(config)
}

fn for_http2_server(
    config: CertifiedServer,
    identity: &Identity,
) -> Result<Arc<ServerConfig>, TlsError> {
    let (chain, key) = (identity.chain.clone(), identity.key.clone_key());
    let mut config = config.with_single_cert(chain, key).map_err(unusable)?;
    config.alpn_protocols = vec![ALPN.to_vec()];
    Ok(Arc::new(config))
}

impl Identity {
    fn read(chain: &[u8], key: &[u8]) -> Result<Self, TlsError> {
        let chain = certificates(chain)?;
        let key = if is_pem(key) {
            PrivateKeyDer::from_pem_slice(key).map_err(|_| TlsError::NoKey)?
        } else {
            PrivateKeyDer::try_from(key.to_vec()).map_err(|_| TlsError::NoKey)?
        };
        Ok(Self { chain, key })
    }
}

fn roots(authorities: &[u8]) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    for authority in certificates(authorities)? {
        roots.add(authority).map_err(unusable)?;
    }
    Ok(roots)
}

fn certificates(given: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    if !is_pem(given) {
        // DER begins as every sequence does.
        let is_der = given.first() == Some(&0x30);
        return is_der.then(|| vec![given.to_vec().into()]).ok_or(TlsError::NoCertificate);
    }
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(given).collect();
    let found = found.map_err(unusable)?;
    if found.is_empty() { Err(TlsError::NoCertificate) } else { Ok(found) }
}

fn is_pem(given: &[u8]) -> bool {
    given.windows(11).any(|window| window == b"-----BEGIN ")
}

impl fmt::Debug for ClientTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientTls").finish_non_exhaustive()
    }
}

impl fmt::Debug for ServerTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerTls").finish_non_exhaustive()
    }
}
