//! The files of a message as they are posted.

use dirigent_testkit::memory_discord::attachment::Attachment;
use dirigent_testkit::memory_discord::snowflake::Snowflakes;
use serde_json::{Map, Value};

use super::ask::{number, object, text_of};
use super::refusal::Refusal;
use super::upload::Upload;
use crate::files::{self, FILE_BYTES_MAX, FILES_MAX, plain_name};

/// The bounds of a description, in characters.
const DESCRIPTION: (usize, usize) = (0, 1_024);

/// The bounds of a file name, in characters.
const FILENAME: (usize, usize) = (1, 1_024);

/// Returns the files of a message: those of the request, and the listed ones of those it already has.
/// Without a list all of them stay.
pub(super) fn read(
    fields: &Map<String, Value>,
    uploads: &[Upload],
    had: &[Attachment],
    (ids, now): (&mut Snowflakes, dirigent::ports::Timestamp),
) -> Result<Vec<Attachment>, Refusal> {
    let listed = match fields.get("attachments") {
        None | Some(Value::Null) => None,
        Some(Value::Array(list)) => Some(list),
        Some(_) => {
            let message = "Only lists may be used.";
            return Err(Refusal::invalid("attachments", "LIST_TYPE_CONVERT", message));
        }
    };
    if uploads.iter().any(|upload| upload.bytes.len() > FILE_BYTES_MAX) {
        return Err(Refusal::too_large());
    }
    let mut found = Vec::new();
    let mut is_listed = vec![false; uploads.len()];
    if listed.is_none() {
        found.extend_from_slice(had);
    }
    for (place, entry) in listed.into_iter().flatten().enumerate() {
        let within = format!("attachments.{place}");
        let entry = object(entry, &within)?;
        let upload = upload_of(entry, uploads, &within)?;
        found.push(match upload {
            Some(at) => {
                is_listed.get_mut(at).into_iter().for_each(|it| *it = true);
                let upload = uploads.get(at).ok_or_else(Refusal::bad_form)?;
                described(entry, made(upload, ids.next(now)))?
            }
            None => described(entry, kept(entry, had, &within)?)?,
        });
    }
    let unlisted = uploads.iter().zip(is_listed).filter(|(_, is_listed)| !is_listed);
    found.extend(unlisted.map(|(upload, _)| made(upload, ids.next(now))));
    if found.len() > FILES_MAX {
        return Err(Refusal::wrong_length("attachments", 0, FILES_MAX));
    }
    Ok(found)
}

/// Returns the index of an uploaded file that an entry means, or `None` if it means a file that the
/// message has. Clients send back everything they know of those, and Discord ignores it.
fn upload_of(
    entry: &Map<String, Value>,
    uploads: &[Upload],
    within: &str,
) -> Result<Option<usize>, Refusal> {
    let id = number(entry, "id")?.ok_or_else(|| {
        let message = "This field is required";
        Refusal::invalid(&format!("{within}.id"), "BASE_TYPE_REQUIRED", message)
    })?;
    Ok(uploads.iter().position(|upload| upload.number == id))
}

fn kept(
    entry: &Map<String, Value>,
    had: &[Attachment],
    within: &str,
) -> Result<Attachment, Refusal> {
    let id = number(entry, "id")?;
    let found = had.iter().find(|attachment| Some(attachment.id) == id).cloned();
    found.ok_or_else(|| {
        let message = "There is no such file, neither in the request nor in the message";
        Refusal::invalid(&format!("{within}.id"), "ATTACHMENT_NOT_FOUND", message)
    })
}

/// Returns the file with the details of its list entry.
fn described(entry: &Map<String, Value>, attachment: Attachment) -> Result<Attachment, Refusal> {
    let filename = text_of(entry, "filename", FILENAME)?.map(plain_name);
    let description = text_of(entry, "description", DESCRIPTION)?.map(str::to_owned);
    Ok(Attachment {
        filename: filename.unwrap_or(attachment.filename),
        description: description.or(attachment.description),
        ..attachment
    })
}

/// Creates a file from an upload.
fn made(upload: &Upload, id: u64) -> Attachment {
    files::attachment(id, &upload.filename, upload.content_type.as_deref(), upload.bytes.as_ref())
}
