//! The gateway: sessions over WebSocket.

use std::sync::Arc;

use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio_tungstenite::WebSocketStream;

use super::state::State;

/// A client's connection.
pub(crate) type Socket = WebSocketStream<TokioIo<Upgraded>>;

/// What all sessions share.
#[derive(Debug, Default)]
pub(crate) struct Gateway {}

/// Serves one connection until it ends. `query` is what stood after the question mark.
pub(crate) async fn connect(state: Arc<State>, socket: Socket, query: String) {
    let _ = (state, socket, query);
}
