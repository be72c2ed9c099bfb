//! Authorities and certificates of the tests' own.

use dirigent_cluster::http::{ClientTls, ServerTls};
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd,
};

/// An authority.
pub(super) struct Authority {
    certificate: Certificate,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate and its key, as PEM.
pub(super) struct Identity {
    pub(super) chain: String,
    pub(super) key: String,
}

impl Authority {
    pub(super) fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        Self { certificate, issuer: Issuer::new(params, key) }
    }

    pub(super) fn pem(&self) -> String {
        self.certificate.pem()
    }

    pub(super) fn der(&self) -> Vec<u8> {
        self.certificate.der().to_vec()
    }

    /// A certificate for this name.
    pub(super) fn certify(&self, name: &str) -> Identity {
        self.certified(&CertificateParams::new(vec![name.to_owned()]).unwrap())
    }

    /// One that was valid until some years ago.
    pub(super) fn certify_in_the_past(&self, name: &str) -> Identity {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2021, 1, 1);
        self.certified(&params)
    }

    fn certified(&self, params: &CertificateParams) -> Identity {
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Identity { chain: certificate.pem(), key: key.serialize_pem() }
    }

    /// Trusts this authority.
    pub(super) fn trusting(&self) -> ClientTls {
        ClientTls::trusting(self.pem().as_bytes()).unwrap()
    }
}

impl Identity {
    pub(super) fn server(&self) -> ServerTls {
        ServerTls::new(self.chain.as_bytes(), self.key.as_bytes()).unwrap()
    }

    pub(super) fn shown_by(&self, tls: ClientTls) -> ClientTls {
        tls.with_certificate(self.chain.as_bytes(), self.key.as_bytes()).unwrap()
    }
}
