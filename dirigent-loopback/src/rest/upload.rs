//! The body of a request: JSON, a form with files, or a URL-encoded form.

use std::convert::Infallible;

use futures_util::stream;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use http_body_util::{BodyExt, Limited};
use hyper::body::{Bytes, Incoming};
use multer::Multipart;
use serde_json::{Map, Value};

use super::refusal::Refusal;

/// The longest body that Discord accepts.
const BODY_BYTES_MAX: usize = 25 << 20;

/// A file of a form.
#[derive(Clone, Debug)]
pub(super) struct Upload {
    /// The number in the name of its field, as in `files[0]`.
    pub(super) number: u64,
    pub(super) filename: String,
    pub(super) content_type: Option<String>,
    pub(super) bytes: Bytes,
}

/// A body that was read.
#[derive(Clone, Debug, Default)]
pub(super) struct Body {
    /// The JSON, or null if there is none.
    pub(super) json: Value,
    pub(super) files: Vec<Upload>,
}

impl Body {
    /// Adds the texts of a form.
    fn add(&mut self, texts: Map<String, Value>) {
        if texts.is_empty() && !self.json.is_null() {
            return;
        }
        match self.json.as_object_mut() {
            Some(fields) => fields.extend(texts),
            None => self.json = Value::Object(texts),
        }
    }
}

/// Receives the whole body before the answer, because a client that is still sending would take an
/// early answer for a lost connection.
pub(super) async fn take_body(body: Incoming) -> Result<Bytes, Refusal> {
    let collected = Limited::new(body, BODY_BYTES_MAX).collect().await;
    Ok(collected.map_err(|_| Refusal::too_large())?.to_bytes())
}

/// Parses a body.
pub(super) async fn read_body(headers: &HeaderMap, bytes: Bytes) -> Result<Body, Refusal> {
    if bytes.is_empty() {
        return Ok(Body::default());
    }
    let content_type = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("");
    if content_type.starts_with("multipart/") {
        let boundary = multer::parse_boundary(content_type).map_err(|_| Refusal::bad_form())?;
        read_form(bytes, boundary).await
    } else if content_type.starts_with("application/x-www-form-urlencoded") {
        read_pairs(&bytes)
    } else {
        Ok(Body { json: json(&bytes)?, files: Vec::new() })
    }
}

/// Reads a URL-encoded form, which some clients send if there are no files.
fn read_pairs(bytes: &[u8]) -> Result<Body, Refusal> {
    let mut body = Body::default();
    let mut texts = Map::new();
    for (name, value) in form_urlencoded::parse(bytes) {
        if name == "payload_json" {
            body.json = json(value.as_bytes())?;
        } else {
            texts.insert(name.into_owned(), Value::String(value.into_owned()));
        }
    }
    body.add(texts);
    Ok(body)
}

/// Reads a form. `payload_json` is the body, and `files[n]` are its files. Other fields are texts of
/// the body.
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
    body.add(texts);
    Ok(body)
}

/// Returns the number of a file's field: `files[3]`, or the older `file` and `file3`.
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
