//! A form with files, as a post with files is sent: `payload_json` is what is held against the document.

use std::convert::Infallible;
use std::future::ready;

use futures_util::FutureExt;
use futures_util::stream;
use multer::Multipart;

use super::exchange::Request;

/// The type of a form's body.
pub(super) const FORM: &str = "multipart/form-data";

const PAYLOAD: &str = "payload_json";

/// Discord's names of files, `files[0]` to `files[9]`: the document writes them down for some forms only.
const FILES_MAX: usize = 10;

/// The JSON of a form, after its other parts were looked at.
///
/// # Errors
///
/// Says what is wrong with the form.
pub(super) fn payload(request: &Request) -> Result<Vec<u8>, String> {
    let boundary = multer::parse_boundary(request.get("content-type").unwrap_or_default());
    let boundary = boundary.map_err(|_| "has no boundary".to_owned())?;
    let whole = stream::once(ready(Ok::<_, Infallible>(request.bytes().to_vec())));
    let read = read(Multipart::new(whole, boundary));
    // All bytes are there, so that nothing is waited for.
    read.now_or_never().unwrap_or_else(|| Err("does not end".to_owned()))
}

async fn read(mut form: Multipart<'_>) -> Result<Vec<u8>, String> {
    let (mut payload, mut files) = (None, 0);
    let unreadable = |error: multer::Error| format!("cannot be read: {error}");
    while let Some(part) = form.next_field().await.map_err(unreadable)? {
        let (name, file) = (part.name().unwrap_or_default().to_owned(), part.file_name().is_some());
        let bytes = part.bytes().await.map_err(unreadable)?;
        if name == PAYLOAD && payload.replace(bytes.to_vec()).is_none() {
            continue;
        }
        if !file || files == FILES_MAX || name != format!("files[{files}]") {
            return Err(format!("`{name}` is neither {PAYLOAD} nor the next file"));
        }
        files += 1;
    }
    payload.ok_or_else(|| format!("has no {PAYLOAD}"))
}

/// The same request with other JSON in its form.
pub(super) fn with_payload(request: &Request, payload: &[u8], bytes: &[u8]) -> Request {
    let body = request.bytes();
    let found = body.windows(payload.len()).position(|window| window == payload);
    let (before, rest) = body.split_at(found.unwrap_or_default());
    let after = rest.get(payload.len()..).unwrap_or_default();
    request.clone().body([before, bytes, after].concat())
}
