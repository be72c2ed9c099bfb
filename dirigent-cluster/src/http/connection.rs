//! One connection of a client, as the server sees it.

use std::future::poll_fn;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use h2::server::Connection;
use tokio::net::TcpStream;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use super::keep_alive::until_silent;
use super::limits::{CONNECTION_WINDOW, HEAD_MAX, STREAM_WINDOW, TAKEN_BACK_MAX};
use super::server::HttpService;
use super::socket::{ALPN, Socket};
use super::stream::serve_question;

/// Serves one connection until it ends. Its questions end with it.
pub(super) async fn serve_connection(
    shared: Arc<HttpService>,
    stream: TcpStream,
    stopping: watch::Receiver<bool>,
) {
    let clock = &shared.clock;
    let late = clock.sleep_until(clock.now() + shared.limits.handshake);
    let opened = tokio::select! {
        biased;
        opened = open(&shared, stream) => opened,
        () = late => Err("it took too long".into()),
    };
    let served = match opened {
        Ok(connection) => serve(&shared, connection, stopping).await.map_err(Into::into),
        Err(error) => Err(error),
    };
    if let Err(error) = served {
        tracing::debug!(%error, "a connection of another process has failed");
    }
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

async fn open(
    shared: &HttpService,
    stream: TcpStream,
) -> Result<Connection<Socket, Bytes>, Failure> {
    stream.set_nodelay(true)?;
    let socket = encrypted(shared, stream).await?;
    let questions = u32::try_from(shared.limits.questions).unwrap_or(u32::MAX);
    let connection = h2::server::Builder::new()
        .max_header_list_size(HEAD_MAX)
        .initial_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_concurrent_streams(questions)
        .max_pending_accept_reset_streams(TAKEN_BACK_MAX)
        .handshake(socket)
        .await?;
    Ok(connection)
}

async fn encrypted(shared: &HttpService, stream: TcpStream) -> io::Result<Socket> {
    let Some(tls) = &shared.tls else { return Ok(Box::new(stream)) };
    let stream = TlsAcceptor::from(tls.clone()).accept(stream).await?;
    if stream.get_ref().1.alpn_protocol() != Some(ALPN) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "the client does not ask for HTTP/2",
        ));
    }
    Ok(Box::new(stream))
}

async fn serve(
    shared: &Arc<HttpService>,
    mut connection: Connection<Socket, Bytes>,
    mut stopping: watch::Receiver<bool>,
) -> Result<(), h2::Error> {
    let suspicion = Notify::new();
    let silent = until_silent(connection.ping_pong(), shared.clock.clone(), &suspicion);
    tokio::pin!(silent);
    let mut is_stopping = false;
    let mut questions = JoinSet::new();
    loop {
        tokio::select! {
            accepted = poll_fn(|context| connection.poll_accept(context)) => match accepted {
                Some(accepted) => {
                    let (request, respond) = accepted?;
                    questions.spawn(serve_question(shared.clone(), request, respond));
                }
                None => return Ok(()),
            },
            Some(ended) = questions.join_next(), if !questions.is_empty() => {
                if ended.is_err() {
                    tracing::error!("a question of another process was not answered: its service panicked");
                }
            }
            stopped = stopping.wait_for(|is_stopping| *is_stopping), if !is_stopping => {
                drop(stopped);
                is_stopping = true;
                connection.graceful_shutdown();
            }
            () = &mut silent => {
                tracing::warn!("another process does not answer; its connection is closed");
                return Ok(());
            }
        }
    }
}
