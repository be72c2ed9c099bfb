//! A client that knows nothing of sessions.

use std::net::SocketAddr;

use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;

use super::*;

/// How long a test waits for what must come; only a failing one takes so long.
const PATIENCE: Duration = Duration::from_secs(20);

pub(super) struct Client {
    socket: WebSocketStream<TcpStream>,
    /// The number of the newest event.
    pub(super) seq: u64,
}

/// What came over the wire.
#[derive(Debug, PartialEq)]
pub(super) enum Heard {
    Payload(Value),
    Packed(Vec<u8>),
    Closed(Option<u16>),
    Cut,
}

impl Client {
    pub(super) async fn open(address: SocketAddr, query: &str) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        let url = format!("ws://{address}/{query}");
        let (socket, _) = tokio_tungstenite::client_async(url, stream).await.unwrap();
        Self { socket, seq: 0 }
    }

    pub(super) async fn send(&mut self, payload: &Value) {
        self.send_text(&payload.to_string()).await;
    }

    pub(super) async fn send_text(&mut self, payload: &str) {
        self.socket.send(Message::text(payload)).await.unwrap();
    }

    pub(super) async fn hear(&mut self) -> Heard {
        let message = tokio::time::timeout(PATIENCE, self.socket.next()).await.unwrap();
        match message {
            Some(Ok(Message::Text(text))) => {
                let payload: Value = serde_json::from_str(&text).unwrap();
                self.seq = payload["s"].as_u64().unwrap_or(self.seq);
                Heard::Payload(payload)
            }
            Some(Ok(Message::Binary(bytes))) => Heard::Packed(bytes.to_vec()),
            Some(Ok(Message::Close(frame))) => Heard::Closed(frame.map(|frame| frame.code.into())),
            Some(Ok(_)) => unreachable!("the gateway pings with payloads only"),
            Some(Err(_)) | None => Heard::Cut,
        }
    }

    pub(super) async fn payload(&mut self) -> Value {
        let heard = self.hear().await;
        let Heard::Payload(payload) = heard else {
            panic!("a payload was expected, and it was {heard:?}");
        };
        payload
    }

    /// The data of the next event, which must have this name.
    pub(super) async fn event(&mut self, name: &str) -> Value {
        let mut payload = self.payload().await;
        assert_eq!((&payload["op"], &payload["t"]), (&json!(0), &json!(name)), "{payload}");
        payload["d"].take()
    }

    /// The next event must be this mark; its number in the session comes back.
    pub(super) async fn mark(&mut self, number: u64) -> u64 {
        assert_eq!(self.event("MARK").await["number"], number);
        self.seq
    }

    /// The code with which the gateway closes the connection now.
    pub(super) async fn closed(&mut self) -> u16 {
        let heard = self.hear().await;
        let Heard::Closed(Some(code)) = heard else {
            panic!("a close frame was expected, and it was {heard:?}");
        };
        code
    }

    /// Closes with this code, or without a word.
    pub(super) async fn leave(mut self, code: Option<u16>) {
        if let Some(code) = code {
            let frame = CloseFrame { code: code.into(), reason: "".into() };
            self.socket.close(Some(frame)).await.unwrap();
            while let Some(Ok(_)) = self.socket.next().await {}
        }
    }
}
