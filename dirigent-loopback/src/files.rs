//! The files of messages, which anyone may read who knows their address.

use dirigent::ChannelId;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Method, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Bytes;

use super::state::ServerContext;
use super::wire::FILES;
use dirigent_testkit::memory_discord::attachment::Attachment;
use dirigent_testkit::memory_discord::world::World;

/// Whether a path is that of a file.
pub(super) fn is_file(path: &str) -> bool {
    path.starts_with(FILES)
}

/// Answers with the file of a path.
pub(super) fn answer(state: &ServerContext, method: &Method, path: &str) -> Response<Full<Bytes>> {
    let world = state.discord.world();
    let found = find(&world, path).filter(|_| matches!(*method, Method::GET | Method::HEAD));
    let Some(attachment) = found else {
        let mut response = Response::new(Full::from("There is no such file."));
        *response.status_mut() = StatusCode::NOT_FOUND;
        return response;
    };
    let bytes = Bytes::copy_from_slice(&attachment.bytes);
    let mut response = Response::new(Full::new(bytes));
    if let Ok(content_type) = HeaderValue::from_str(&attachment.content_type) {
        response.headers_mut().insert(CONTENT_TYPE, content_type);
    }
    response
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
