//! Connections that are encrypted: all of them, or none is made.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use dirigent::ports::{Ownership, Standing};
use dirigent_cluster::{PostgresOptions, PostgresStore};
use dirigent_store::OpenError;
use rustls::pki_types::CertificateDer;

use crate::postgres::leases::{follow, until};
use crate::postgres::place::{Opened, Place};
use crate::shared::commits::{HERE, fact, stored};

/// A server that listens on the loopback network and encrypts, for `localhost`; and its certificate.
struct Encrypted {
    place: Place,
    port: u16,
    certificate: CertificateDer<'static>,
}

impl Encrypted {
    fn start() -> Option<Self> {
        let place = Place::of_its_own()?;
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let certificate = made.cert.der().clone();
        let data = place.server.folder().join("data");
        let owner = fs::metadata(&data).unwrap();
        let files = [
            ("server.crt", "CERTIFICATE", certificate.to_vec()),
            ("server.key", "PRIVATE KEY", made.signing_key.serialize_der()),
        ];
        for (name, label, content) in files {
            let (path, text) = (data.join(name), STANDARD.encode(content));
            fs::write(&path, format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n"))
                .unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            chown(&path, Some(owner.uid()), Some(owner.gid())).unwrap();
        }
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        place.server.stop("fast").unwrap();
        let settings = format!("-c listen_addresses=127.0.0.1 -c port={port} -c ssl=on");
        place.server.start_again(&settings).unwrap();
        let address = format!("{} port={port}", place.address);
        Some(Self { place: Place { address, ..place }, port, certificate })
    }

    /// The address of the server under this name.
    fn named(&self, host: &str) -> String {
        let port = self.port;
        format!("host={host} hostaddr=127.0.0.1 port={port} user=postgres dbname=d0")
    }

    fn options(&self, address: &str) -> PostgresOptions {
        let options = PostgresOptions::new(address).shards(8).ttl(Place::TTL);
        options.tls(trusting(&self.certificate))
    }
}

/// Trusts this certificate only.
fn trusting(certificate: &CertificateDer<'static>) -> rustls::ClientConfig {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth()
}

/// Why a store did not open.
async fn refusal(options: PostgresOptions) -> String {
    let error: OpenError = PostgresStore::open(options).await.map(drop).unwrap_err();
    let mut said = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        said = format!("{said}: {cause}");
        source = cause.source();
    }
    said
}

#[tokio::test(flavor = "multi_thread")]
async fn all_connections_are_encrypted_and_the_certificate_is_checked() {
    let Some(server) = Encrypted::start() else { return };
    let opened = Opened::new(server.options(&server.named("localhost"))).await;
    follow(&opened.store);
    until("held", || opened.store.standing(HERE) == Standing::Held).await;
    fact(&opened.store, HERE, 0, 1).await;
    assert_eq!(stored(&opened.store, HERE).await, Some((1, 1)));
    let encrypted = "SELECT s.ssl, count(*) FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid) \
        WHERE a.application_name = 'dirigent' GROUP BY s.ssl";
    until("connected", || server.place.sql(encrypted) == "t|3").await;
    opened.close().await;

    let said = refusal(server.options(&server.named("db.internal"))).await;
    assert!(said.contains("certificate not valid for name"), "{said}");
    let other = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let options = server.options(&server.named("localhost")).tls(trusting(other.cert.der()));
    let said = refusal(options).await;
    assert!(said.contains("invalid peer certificate"), "{said}");
}

/// With `sslmode=prefer`, the client's default, it would go on in plain text.
#[tokio::test(flavor = "multi_thread")]
async fn with_tls_a_server_that_does_not_encrypt_is_not_used() {
    let Some(place) = Place::new() else { return };
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    for mode in ["", "sslmode=prefer", "sslmode=require"] {
        let options = PostgresOptions::new(format!("{} {mode}", place.address));
        let said = refusal(options.tls(trusting(made.cert.der()))).await;
        assert!(said.contains("does not support TLS"), "{mode}: {said}");
    }
    let options = PostgresOptions::new(format!("{} sslmode=disable", place.address));
    let said = refusal(options.tls(trusting(made.cert.der()))).await;
    assert!(said.contains("the address says sslmode=disable"), "{said}");
    let options = PostgresOptions::new(format!("{} sslmode=require", place.address));
    let said = refusal(options).await;
    assert!(said.contains("the options have no TLS"), "{said}");
}
