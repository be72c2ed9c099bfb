//! The body of a request: JSON, or a form with files.

use std::convert::Infallible;

use futures_util::stream;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use http_body_util::{BodyExt, Limited};
use hyper::body::{Bytes, Incoming};
use multer::Multipart;
use serde_json::{Map, Value};

use super::refusal::Refusal;

/// The longest body that Discord takes.
const BODY_BYTES_MAX: usize = 25 << 20;

/// A file of a form.
#[derive(Clone, Debug)]
pub(super) struct Upload {
    /// The number in its field's name, as in `files[0]`.
    pub(super) number: u64,
    pub(super) filename: String,
    pub(super) content_type: Option<String>,
    pub(super) bytes: Bytes,
}

/// A body that was read.
#[derive(Clone, Debug, Default)]
pub(super) struct Body {
    /// Null where there is none.
    pub(super) json: Value,
    pub(super) files: Vec<Upload>,
}

/// Takes a body in, before anything is answered: a client that still sends one takes an answer for a
/// lost connection.
pub(super) async fn take_body(body: Incoming) -> Result<Bytes, Refusal> {
    let collected = Limited::new(body, BODY_BYTES_MAX).collect().await;
    Ok(collected.map_err(|_| Refusal::too_large())?.to_bytes())
}

/// Reads a body that was taken in.
pub(super) async fn read_body(headers: &HeaderMap, bytes: Bytes) -> Result<Body, Refusal> {
    if bytes.is_empty() {
        return Ok(Body::default());
    }
    match boundary(headers)? {
        Some(boundary) => read_form(bytes, boundary).await,
        None => Ok(Body { json: json(&bytes)?, files: Vec::new() }),
    }
}

/// What parts a form; none for a body that is no form.
fn boundary(headers: &HeaderMap) -> Result<Option<String>, Refusal> {
    let content_type = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("");
    if !content_type.starts_with("multipart/") {
        return Ok(None);
    }
    multer::parse_boundary(content_type).map(Some).map_err(|_| Refusal::bad_form())
}

/// Reads a form: `payload_json` is the body, `files[n]` its files. Other fields are texts of the body.
async fn read_form(bytes: Bytes, boundary: String) -> Result<Body, Refusal> {
    let whole = stream::once(std::future::ready(Ok::<_, Infallible>(bytes)));
    let mut form = Multipart::new(whole, boundary);
    let mut body = Body::default();
    let mut texts = Map::new();
    while let Some(field) = form.next_field().await.map_err(|_| Refusal::bad_form())? {
        let name = field.name().unwrap_or_default().to_owned();
        let filename = field.file_name().map(str::to_owned);
        let content_type = field.content_type().map(ToString::to_string);
        let bytes = field.bytes().await.map_err(|_| Refusal::bad_form())?;
        match (name.as_str(), filename) {
            ("payload_json", _) => body.json = json(&bytes)?,
            (_, Some(filename)) => {
                let number = number_of(&name).ok_or_else(|| Refusal::lacking("such a file"))?;
                body.files.push(Upload { number, filename, content_type, bytes });
            }
            (_, None) => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                texts.insert(name, Value::String(text));
            }
        }
    }
    if !texts.is_empty() || body.json.is_null() {
        match body.json.as_object_mut() {
            Some(fields) => fields.extend(texts),
            None => body.json = Value::Object(texts),
        }
    }
    Ok(body)
}

/// The number of a file's field: `files[3]`, or `file` and `file3` as it was before.
fn number_of(field: &str) -> Option<u64> {
    match field.strip_prefix("files[") {
        Some(rest) => rest.strip_suffix(']')?.parse().ok(),
        None if field == "file" => Some(0),
        None => field.strip_prefix("file")?.parse().ok(),
    }
}

fn json(bytes: &[u8]) -> Result<Value, Refusal> {
    serde_json::from_slice(bytes).map_err(|_| Refusal::bad_json())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_field_of_a_file_has_a_number() {
        let numbers = ["files[0]", "files[12]", "file", "file7"].map(number_of);
        assert_eq!(numbers, [Some(0), Some(12), Some(0), Some(7)]);
        assert_eq!(["files[]", "picture", "files[one]"].map(number_of), [None; 3]);
    }
}
