//! The gateway, with its sessions over WebSocket.
//!
//! `conversation` decides what is said, without a socket. Sessions outlive their connections
//! (`session`, `replay`), and get events while they happen (`subscriber`).

use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::{Error, Message};

use super::outage::ServerOutage;
use super::state::ServerContext;

mod close;
mod command_limit;
mod compression;
mod control;
mod conversation;
mod faults;
mod frame;
mod heartbeat;
mod identify;
mod intents;
mod line;
mod members;
mod picture;
mod replay;
mod session;
mod sessions;
mod shard;
mod subscriber;

pub use control::SessionInfo;
pub use faults::{GatewayFault, GatewayFaults};
pub(crate) use sessions::Gateway;

use close::Close;
use compression::Compression;
use conversation::{Act, Conversation};

/// A client's connection.
pub(crate) type Socket = WebSocketStream<TokioIo<Upgraded>>;

/// How long to wait for a client that was asked to leave.
const FAREWELL: Duration = Duration::from_secs(5);

/// Serves one connection until it ends. `query` is the query string of its address.
pub(crate) async fn connect(state: Arc<ServerContext>, mut socket: Socket, query: String) {
    let (compression, hello) = match Conversation::on_open(&query) {
        Ok(open) => open,
        Err(close) => return farewell(&state, &mut socket, close).await,
    };
    let now = state.discord.clock().now();
    let conversation = Conversation::new(Arc::clone(&state), now);
    let beside = Arc::clone(&state);
    let mut line = Line { state: beside, socket, compression, conversation };
    let code = tokio::select! {
        biased;
        () = state.outages.begins(ServerOutage::GatewayCut) => None,
        code = line.run(hello) => code,
    };
    let now = line.state.discord.clock().now();
    line.conversation.on_end(code, now);
}

/// A connection that was greeted.
struct Line {
    state: Arc<ServerContext>,
    socket: Socket,
    compression: Compression,
    conversation: Conversation,
}

/// The end of a connection. If the client closed it, this is its code.
type Ended = Option<u16>;

impl Line {
    async fn run(&mut self, hello: Act) -> Ended {
        let bell = self.conversation.bell();
        let state = Arc::clone(&self.state);
        let clock = state.discord.clock();
        if let Err(ended) = self.act(vec![hello]).await {
            return ended;
        }
        loop {
            let due = self.conversation.due();
            let acts = tokio::select! {
                message = self.socket.next() => match message {
                    Some(Ok(message)) => match self.hear(message) {
                        Ok(acts) => acts,
                        Err(ended) => {
                            // The answer to a close frame must still be sent.
                            let _ = self.socket.flush().await;
                            return ended;
                        }
                    },
                    Some(Err(_)) | None => return None,
                },
                () = bell.notified() => self.conversation.on_time(clock.now()),
                () = clock.sleep_until(due) => self.conversation.on_time(clock.now()),
            };
            if let Err(ended) = self.act(acts).await {
                return ended;
            }
        }
    }

    fn hear(&mut self, message: Message) -> Result<Vec<Act>, Ended> {
        let now = self.state.discord.clock().now();
        match message {
            Message::Text(text) => Ok(self.conversation.on_payload(text.as_bytes(), now)),
            Message::Binary(bytes) => Ok(self.conversation.on_payload(&bytes, now)),
            Message::Close(frame) => Err(frame.map(|frame| u16::from(frame.code))),
            Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => Ok(Vec::new()),
        }
    }

    async fn act(&mut self, acts: Vec<Act>) -> Result<(), Ended> {
        for act in acts {
            let payload = match act {
                Act::Say(payload) => payload,
                Act::Cut => return Err(None),
                Act::Close(close) => {
                    farewell(&self.state, &mut self.socket, close).await;
                    return Err(None);
                }
            };
            let packed = self.compression.pack(&payload, self.conversation.packs());
            let message = packed.map_or_else(|| Message::text(&*payload), Message::binary);
            if self.socket.send(message).await.is_err() {
                return Err(None);
            }
        }
        Ok(())
    }
}

/// Closes with a code, and waits a while until the client has read it.
async fn farewell(state: &ServerContext, socket: &mut Socket, close: Close) {
    let (code, reason) = (close.code(), close.reason());
    if close.is_lack() {
        tracing::error!(
            code,
            reason,
            "the loopback Discord does not have what a client asks of the gateway"
        );
    } else {
        tracing::debug!(code, reason, "a gateway connection is closed");
    }
    let frame = CloseFrame { code: code.into(), reason: reason.into() };
    let closed: Result<(), Error> = socket.close(Some(frame)).await;
    if closed.is_err() {
        return;
    }
    let clock = state.discord.clock();
    let patience = clock.sleep_until(clock.now() + FAREWELL);
    tokio::select! {
        () = async { while let Some(Ok(_)) = socket.next().await {} } => {}
        () = patience => {}
    }
}
