//! Connections of clients, all within one task.

use std::convert::Infallible;
use std::sync::Arc;

use http::{Request, Response, StatusCode, header};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::Role;

use super::outage::ServerOutage;
use super::state::{ServerContext, Task};
use super::{files, gateway, rest};

/// The connection must be cut without an answer.
#[derive(Debug)]
pub(super) struct Cut;

impl std::fmt::Display for Cut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the connection is cut on purpose")
    }
}

impl std::error::Error for Cut {}

/// A body of any kind.
type AnyBody = UnsyncBoxBody<Bytes, Infallible>;

/// Serves until stopped or dropped. It leaves no task behind.
pub(super) async fn serve(
    state: Arc<ServerContext>,
    mut started: mpsc::UnboundedReceiver<Task>,
    mut stopped: oneshot::Receiver<()>,
) {
    let mut tasks = JoinSet::new();
    loop {
        tokio::select! {
            _ = &mut stopped => break,
            Some(task) = started.recv() => drop(tasks.spawn(task)),
            Some(_) = tasks.join_next() => {}
            stream = state.door.accept() => {
                let beside = Arc::clone(&state);
                tasks.spawn(async move {
                    tokio::select! {
                        biased;
                        () = beside.outages.begins(ServerOutage::RestRefused) => {}
                        () = connection(stream, Arc::clone(&beside)) => {}
                    }
                });
            }
        }
    }
    tasks.shutdown().await;
}

async fn connection(stream: TcpStream, state: Arc<ServerContext>) {
    // Answers are small, so none must wait for another.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| answer(Arc::clone(&state), request));
    let served = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    if let Err(error) = served.with_upgrades().await {
        tracing::debug!(%error, "a connection ended");
    }
}

async fn answer(
    state: Arc<ServerContext>,
    request: Request<Incoming>,
) -> Result<Response<AnyBody>, Cut> {
    if is_upgrade(&request) {
        let is_cut = state.outages.has(ServerOutage::GatewayCut);
        return if is_cut {
            Err(Cut)
        } else {
            Ok(upgrade(&state, request).map(Full::boxed_unsync))
        };
    }
    if files::is_file(request.uri().path()) {
        let answer = files::answer(&state, request.method(), request.uri().path());
        return Ok(answer.map(BodyExt::boxed_unsync));
    }
    Ok(rest::answer(&state, request).await?.map(Full::boxed_unsync))
}

fn is_upgrade(request: &Request<Incoming>) -> bool {
    let upgrade = request.headers().get(header::UPGRADE);
    upgrade.is_some_and(|to| to.as_bytes().eq_ignore_ascii_case(b"websocket"))
}

/// Turns the connection into one of the gateway.
fn upgrade(state: &Arc<ServerContext>, mut request: Request<Incoming>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    let Some(key) = request.headers().get(header::SEC_WEBSOCKET_KEY) else {
        *response.status_mut() = StatusCode::BAD_REQUEST;
        return response;
    };
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let accept = derive_accept_key(key.as_bytes());
    let headers = response.headers_mut();
    headers.insert(header::CONNECTION, header::HeaderValue::from_static("Upgrade"));
    headers.insert(header::UPGRADE, header::HeaderValue::from_static("websocket"));
    if let Ok(accept) = header::HeaderValue::from_str(&accept) {
        headers.insert(header::SEC_WEBSOCKET_ACCEPT, accept);
    }
    let query = request.uri().query().unwrap_or_default().to_owned();
    let upgraded = hyper::upgrade::on(&mut request);
    let beside = Arc::clone(state);
    state.run(async move {
        if let Ok(upgraded) = upgraded.await {
            let io = TokioIo::new(upgraded);
            let socket = WebSocketStream::from_raw_socket(io, Role::Server, None).await;
            gateway::connect(beside, socket, query).await;
        }
    });
    response
}
