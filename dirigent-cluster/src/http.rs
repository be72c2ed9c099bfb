//! A transport over HTTP/2 and TLS 1.3.
//!
//! A question is `POST /dirigent/relay/1/{rule}` with the sealed bytes as its body, and the answer is the body of a 200. A
//! rejection is another status, with its [code](dirigent_relay::Rejection::code) as the body.
//!
//! [`HttpRelay`] asks: it keeps one connection to each process, makes it when it is needed, pings it every 10 s, and makes it again
//! when it is lost. It spawns nothing: [`HttpLink::run`] does its work. [`HttpServer`] answers, with limits on all that a
//! client may send, hold or delay.
//!
//! ```
//! use std::sync::Arc;
//!
//! use dirigent::SystemClock;
//! use dirigent_cluster::http::{AddressBook, HttpRelay, HttpServer};
//! use dirigent_relay::{Client, Keyring, Relay, Secret, Server};
//! use tokio::net::TcpListener;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let cluster = Secret::new(&[1; 32])?;
//! let keys = Keyring::of_cluster("bot-1".parse()?, &cluster);
//! let server = Arc::new(Server::new(keys, Secret::new(&[2; 32])?));
//! let listener = TcpListener::bind("127.0.0.1:0").await?;
//! let addresses = AddressBook::new();
//! addresses.set("bot-1".parse()?, listener.local_addr()?.into());
//! // Without certificates, as this is one machine; elsewhere `HttpServer::builder` and `HttpRelay::builder`.
//! tokio::spawn(HttpServer::plain_on_loopback(server).build().serve(listener));
//!
//! let (relay, link) = HttpRelay::plain_on_loopback(addresses).build();
//! tokio::spawn(link.run());
//! let keys = Keyring::of_cluster("bot-2".parse()?, &cluster);
//! let client = Client::new(keys, Arc::new(relay), Arc::new(SystemClock::new()));
//! # let _ = client;
//! # Ok(())
//! # }
//! ```

mod address;
mod body;
mod connection;
mod connector;
mod error;
mod exchange;
mod keep_alive;
mod limits;
mod link;
mod pool;
mod relay;
mod server;
mod socket;
mod status;
mod stream;
mod tls;

pub use address::{AddressBook, Addresses, BadAddress, HostAddress};
pub use error::{HttpError, ServeError};
pub use link::HttpLink;
pub use relay::{HttpRelay, HttpRelayBuilder};
pub use server::{HttpServer, HttpServerBuilder};
pub use tls::{ClientTls, ServerTls, TlsError};
