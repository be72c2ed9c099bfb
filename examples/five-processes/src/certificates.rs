//! An authority of the five, and a certificate for all of them: they live on one machine.

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

use crate::Result;

/// As PEM.
pub(crate) struct Certificates {
    pub(crate) authority: String,
    pub(crate) chain: String,
    pub(crate) key: String,
}

impl Certificates {
    pub(crate) fn new() -> Result<Self> {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate()?;
        let authority = params.self_signed(&key)?.pem();
        let issuer = Issuer::new(params, key);
        let key = KeyPair::generate()?;
        let chain =
            CertificateParams::new(vec!["127.0.0.1".to_owned()])?.signed_by(&key, &issuer)?;
        Ok(Self { authority, chain: chain.pem(), key: key.serialize_pem() })
    }
}
