//! The file host, which gives a message's files to everyone who knows their address.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use dirigent::ChannelId;
use futures_util::{StreamExt as _, stream};
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING};
use http::{Method, Response, StatusCode};
use http_body_util::StreamBody;
use hyper::body::{Body, Bytes, Frame};

use super::LoopbackDiscord;
use super::alterations::{AlteredFile, headers};
use super::state::ServerContext;
use super::wire::FILES;
use dirigent_testkit::memory_discord::attachment::Attachment;
use dirigent_testkit::memory_discord::world::World;

/// The most files of a message (resources/message).
pub(super) const FILES_MAX: usize = 10;

/// The largest file, in bytes (reference, uploading files).
pub(super) const FILE_BYTES_MAX: usize = 10 << 20;

/// Creates a file of a new message. Its kind comes from its name, or otherwise from the sender.
pub(super) fn attachment(
    id: u64,
    filename: &str,
    sent_as: Option<&str>,
    bytes: impl Into<Arc<[u8]>>,
) -> Attachment {
    let bytes = bytes.into();
    let guessed = mime_guess::from_path(filename).first().map(|kind| kind.to_string());
    let mut content_type = guessed
        .or_else(|| sent_as.map(str::to_owned))
        .unwrap_or_else(|| "application/octet-stream".to_owned());
    if content_type.starts_with("text/") && !content_type.contains(';') && is_text(&bytes) {
        content_type.push_str("; charset=utf-8");
    }
    Attachment { id, filename: plain_name(filename), description: None, content_type, bytes }
}

fn is_text(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok()
}

/// Returns a file name that can stand in an address.
pub(super) fn plain_name(name: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '-' | '_');
    name.chars().map(|it| if is_plain(it) { it } else { '_' }).collect()
}

/// Returns true if a path belongs to a file.
pub(super) fn is_file(path: &str) -> bool {
    path.starts_with(FILES)
}

/// Answers with the file of a path, with the changes of a test.
pub(super) fn answer(
    state: &Arc<ServerContext>,
    method: &Method,
    path: &str,
) -> Response<impl Body<Data = Bytes, Error = Infallible> + Send + 'static> {
    let file = state.alterations.change_file(file(state, method, path));
    let mut headers = headers(&file.headers);
    if !headers.contains_key(TRANSFER_ENCODING) {
        // If a test sets another length, keep it.
        headers.entry(CONTENT_LENGTH).or_insert_with(|| file.bytes.len().into());
    }
    let (bytes, delay, beside) = (Bytes::from(file.bytes), file.delay, Arc::clone(state));
    let bytes = stream::once(async move {
        let clock = beside.discord.clock();
        if delay > Duration::ZERO {
            clock.sleep_until(clock.now() + delay).await;
        }
        Ok(Frame::data(bytes))
    });
    // hyper drops unsent bytes if a body ends too early, and a client would not see how it ended.
    let end = stream::once(async {
        tokio::task::yield_now().await;
        Ok(Frame::data(Bytes::new()))
    });
    let mut response = Response::new(StreamBody::new(bytes.chain(end)));
    *response.status_mut() = StatusCode::from_u16(file.status).unwrap_or(StatusCode::NOT_FOUND);
    *response.headers_mut() = headers;
    response
}

fn file(state: &ServerContext, method: &Method, path: &str) -> AlteredFile {
    let world = state.discord.world();
    let found = find(&world, path).filter(|_| matches!(*method, Method::GET | Method::HEAD));
    let (status, content_type, bytes) = found.map_or_else(
        || (404, "text/plain".to_owned(), b"There is no such file.".to_vec()),
        |found| (200, found.content_type.clone(), found.bytes.to_vec()),
    );
    AlteredFile {
        path: path.to_owned(),
        status,
        headers: BTreeMap::from([(CONTENT_TYPE.to_string(), content_type)]),
        bytes,
        delay: Duration::ZERO,
    }
}

fn find<'a>(world: &'a World, path: &str) -> Option<&'a Attachment> {
    let mut parts = path.strip_prefix(FILES)?.split('/');
    let channel = ChannelId::new(parts.next()?.parse().ok()?);
    let (id, filename): (u64, _) = (parts.next()?.parse().ok()?, parts.next()?);
    let messages = &world.places.rooms.get(&channel)?.messages;
    let mut details = messages.iter().filter_map(|message| messages.details(message.id));
    details.find_map(|details| {
        let mut attachments = details.rare.as_ref()?.media.attachments.iter();
        attachments.find(|attachment| attachment.id == id && attachment.filename == filename)
    })
}

impl LoopbackDiscord {
    /// Returns the address of the file host, for example `http://127.0.0.1:8120`. The addresses of all files begin
    /// with it, as Discord's begin with `https://cdn.discordapp.com`. If you want it to misbehave, use
    /// [`Alterations::files`].
    ///
    /// [`Alterations::files`]: crate::Alterations::files
    pub fn file_host(&self) -> String {
        self.state.discord.world().web_address.clone()
    }
}
