//! Certificates: whom a client trusts, and a server.

use std::sync::Arc;

use dirigent_cluster::http::{
    ClientTls, HttpError, HttpRelay, HttpServer, ServeError, ServerTls, TlsError,
};
use dirigent_relay::RelayError;
use dirigent_testkit::ManualClock;
use rustls::pki_types::ServerName;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsConnector;

use super::certificates::{Authority, Identity};
use super::fixture::{Answering, Asking, LONG, host, http_error};
use super::wire::closed;

async fn showing(identity: &Identity) -> Answering {
    let tls = identity.server();
    Answering::new(|server| HttpServer::builder(server, tls)).await
}

/// Surely not sent, since the two do not trust each other; and no question arrived.
fn is_distrust(answering: &Answering, error: &RelayError) -> bool {
    let is_tls = matches!(http_error(error), (HttpError::Tls { .. }, true));
    is_tls && error.is_certain() && answering.server.counts() == (0, 0)
}

#[tokio::test]
async fn a_certificate_of_another_authority_is_not_trusted() {
    let authority = Authority::new();
    let answering = showing(&Authority::new().certify("localhost")).await;
    let error = Asking::encrypted(&answering, &authority).echo("x").await.unwrap_err();
    assert!(is_distrust(&answering, &error), "{error}");
}

#[tokio::test]
async fn a_certificate_for_another_name_is_not_trusted() {
    let authority = Authority::new();
    let answering = showing(&authority.certify("bot-3.internal")).await;
    let error = Asking::encrypted(&answering, &authority).echo("x").await.unwrap_err();
    assert!(is_distrust(&answering, &error), "{error}");
    // It is the address that counts.
    let answering = showing(&authority.certify("127.0.0.1")).await;
    answering.book.set(host("bot-1"), answering.address.into());
    assert_eq!(Asking::encrypted(&answering, &authority).echo("x").await.unwrap(), "x");
}

#[tokio::test]
async fn a_certificate_that_has_expired_is_not_trusted() {
    let authority = Authority::new();
    let answering = showing(&authority.certify_in_the_past("localhost")).await;
    let error = Asking::encrypted(&answering, &authority).echo("x").await.unwrap_err();
    assert!(is_distrust(&answering, &error), "{error}");
}

#[tokio::test]
async fn a_server_answers_only_clients_with_a_certificate_where_it_says_so() {
    let (authority, clients) = (Authority::new(), Authority::new());
    let tls = authority.certify("localhost").server();
    let tls = tls.with_client_authorities(clients.pem().as_bytes()).unwrap();
    let answering = Answering::new(|server| HttpServer::builder(server, tls)).await;
    let asking = |tls: ClientTls| Asking::new(HttpRelay::builder(answering.book.clone(), tls));

    let error = asking(authority.trusting()).echo("x").await.unwrap_err();
    assert!(is_distrust(&answering, &error), "without one: {error}");
    let other = authority.certify("bot-2");
    let error = asking(other.shown_by(authority.trusting())).echo("x").await.unwrap_err();
    assert!(is_distrust(&answering, &error), "of another authority: {error}");
    let old = clients.certify_in_the_past("bot-2");
    let error = asking(old.shown_by(authority.trusting())).echo("x").await.unwrap_err();
    assert!(is_distrust(&answering, &error), "an old one: {error}");

    let right = clients.certify("bot-2");
    assert_eq!(asking(right.shown_by(authority.trusting())).echo("x").await.unwrap(), "x");
}

#[tokio::test]
async fn who_encrypts_and_who_does_not_do_not_meet() {
    let authority = Authority::new();
    let (plain, encrypted) = (Answering::plain().await, Answering::encrypted(&authority).await);
    for (answering, error) in [
        (&plain, Asking::encrypted(&plain, &authority).echo("x").await.unwrap_err()),
        (&encrypted, Asking::plain(&encrypted).echo("x").await.unwrap_err()),
    ] {
        assert!(http_error(&error).1 && error.is_certain(), "{error}");
        assert_eq!(answering.server.counts(), (0, 0));
    }
}

#[tokio::test]
async fn nothing_older_than_tls_1_3_and_nothing_but_http2_is_spoken() {
    let authority = Authority::new();
    let answering = Answering::encrypted(&authority).await;
    let root = CertificateDer::from(authority.der());
    for (version, protocol, is_met) in [
        (&rustls::version::TLS13, &b"h2"[..], true),
        (&rustls::version::TLS12, b"h2", false),
        (&rustls::version::TLS13, b"http/1.1", false),
    ] {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut roots = rustls::RootCertStore::empty();
        roots.add(root.clone()).unwrap();
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[version])
            .unwrap();
        let mut config = config.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = vec![protocol.to_vec()];
        let stream = TcpStream::connect(answering.address).await.unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        let met = TlsConnector::from(Arc::new(config)).connect(name, stream).await;
        assert_eq!(met.is_ok(), is_met, "{version:?} {protocol:?}");
    }
}

#[tokio::test]
async fn a_client_that_does_not_say_what_it_speaks_is_closed() {
    let authority = Authority::new();
    let tls = authority.certify("localhost").server();
    // No ping closes it.
    let clock = Arc::new(ManualClock::new());
    let answering = Answering::new(|server| HttpServer::builder(server, tls).clock(clock)).await;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = rustls::RootCertStore::empty();
    roots.add(authority.der().into()).unwrap();
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap();
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let stream = TcpStream::connect(answering.address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let mut stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut stream, &super::wire::preface()).await.unwrap();
    closed(&mut stream).await;
}

#[tokio::test]
async fn without_tls_only_this_machine_is_reached_and_answered() {
    let answering = Answering::plain().await;
    // Of the addresses for documentation: no connection to it is tried.
    answering.book.set(host("bot-1"), "192.0.2.1:7443".parse().unwrap());
    let error = Asking::plain(&answering).echo("x").await.unwrap_err();
    assert!(matches!(http_error(&error), (HttpError::PlainNotLoopback { .. }, true)), "{error}");

    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let server = HttpServer::plain_on_loopback(answering.server.clone()).build();
    let refused = tokio::time::timeout(LONG, server.serve(listener)).await.unwrap().unwrap_err();
    assert!(matches!(refused, ServeError::PlainNotLoopback { .. }), "{refused}");
}

#[tokio::test]
async fn certificates_and_keys_may_be_der() {
    let authority = Authority::new();
    let Identity { chain, key } = authority.certify("localhost");
    let chain = CertificateDer::from_pem_slice(chain.as_bytes()).unwrap();
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
    let tls = ServerTls::new(&chain, key.secret_der()).unwrap();
    let tls = tls.with_client_authorities(&authority.der()).unwrap();
    let answering = Answering::new(|server| HttpServer::builder(server, tls)).await;
    let client = ClientTls::trusting(&authority.der()).unwrap();
    let client = client.with_certificate(&chain, key.secret_der()).unwrap();
    let asking = Asking::new(HttpRelay::builder(answering.book.clone(), client));
    assert_eq!(asking.echo("x").await.unwrap(), "x");
}

#[test]
fn what_is_no_certificate_or_no_key_is_said_at_once() {
    let authority = Authority::new();
    let (one, other) = (authority.certify("localhost"), authority.certify("localhost"));
    let (chain, key) = (one.chain.as_bytes(), one.key.as_bytes());
    let trusting = || authority.trusting();
    for nothing in [&b""[..], b"nothing", key] {
        assert!(matches!(ClientTls::trusting(nothing), Err(TlsError::NoCertificate)));
        assert!(matches!(ServerTls::new(nothing, key), Err(TlsError::NoCertificate)));
        let shown = trusting().with_certificate(nothing, key);
        assert!(matches!(shown, Err(TlsError::NoCertificate)));
        let tls = one.server().with_client_authorities(nothing);
        assert!(matches!(tls, Err(TlsError::NoCertificate)));
    }
    for nothing in [&b""[..], b"nothing", chain] {
        assert!(matches!(ServerTls::new(chain, nothing), Err(TlsError::NoKey)));
        assert!(matches!(trusting().with_certificate(chain, nothing), Err(TlsError::NoKey)));
    }
    let key = other.key.as_bytes();
    assert!(matches!(ServerTls::new(chain, key), Err(TlsError::Unusable(_))), "of another");
    assert!(matches!(trusting().with_certificate(chain, key), Err(TlsError::Unusable(_))));
    assert!(matches!(ClientTls::trusting(&[0x30, 1, 0]), Err(TlsError::Unusable(_))));
}
