//! Refusals, with Discord's codes.

use serde_json::{Value, json};

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) code: u32,
    message: String,
    errors: Option<Value>,
}

/// The refusals with one meaning (topics/opcodes-and-status-codes).
macro_rules! refusals {
    ($($(#[$doc:meta])* $name:ident = $status:literal, $code:literal, $message:literal;)+) => {
        impl Refusal {
            $($(#[$doc])*
            pub(crate) fn $name() -> Self {
                Self::new($status, $code, $message)
            })+
        }
    };
}

refusals! {
    unauthorized = 401, 0, "401: Unauthorized";
    wrong_method = 405, 0, "405: Method Not Allowed";
    too_large = 413, 40005, "Request entity too large";
    /// The `User-Agent` is not that of a bot.
    bad_agent = 403, 40333, "internal network error";
    unknown_channel = 404, 10003, "Unknown Channel";
    unknown_guild = 404, 10004, "Unknown Guild";
    unknown_member = 404, 10007, "Unknown Member";
    unknown_message = 404, 10008, "Unknown Message";
    unknown_overwrite = 404, 10009, "Unknown Overwrite";
    unknown_role = 404, 10011, "Unknown Role";
    unknown_user = 404, 10013, "Unknown User";
    unknown_emoji = 404, 10014, "Unknown Emoji";
    unknown_webhook = 404, 10015, "Unknown Webhook";
    unknown_sticker = 404, 10060, "Unknown Sticker";
    unknown_interaction = 404, 10062, "Unknown interaction";
    unknown_command = 404, 10063, "Unknown application command";
    too_many_pins = 400, 30003, "Maximum number of pins reached for the channel (250)";
    too_many_webhooks = 400, 30007, "Maximum number of webhooks reached (15)";
    too_many_reactions = 400, 30010, "Maximum number of reactions reached (20)";
    answered_already = 400, 40060, "Interaction has already been acknowledged.";
    missing_access = 403, 50001, "Missing Access";
    not_the_author = 403, 50005, "Cannot edit a message authored by another user";
    empty_message = 400, 50006, "Cannot send an empty message";
    cannot_talk_to = 403, 50007, "Cannot send messages to this user";
    no_text_channel = 400, 50008, "Cannot send messages in a non-text channel";
    missing_permissions = 403, 50013, "Missing Permissions";
    bulk_size = 400, 50016, "Provided too few or too many messages to delete. Must provide at least 2 and fewer than 100 messages to delete.";
    system_message = 403, 50021, "Cannot execute action on a system message";
    not_here = 400, 50024, "Cannot execute action on this channel type";
    invalid_token = 401, 50027, "Invalid Webhook Token";
    invalid_role = 400, 50028, "Invalid role";
    too_old = 400, 50034, "A message provided was too old to bulk delete";
    bad_form = 400, 50035, "Invalid Form Body: the multipart form cannot be read";
    bad_json = 400, 50109, "The request body contains invalid JSON.";
    thread_archived = 400, 50083, "Thread is archived";
    no_reply_without_history = 400, 160_002, "Cannot reply without permission to read message history";
    thread_there_already = 400, 160_004, "A thread has already been created for this message";
    thread_locked = 400, 160_005, "Thread is locked";
}

impl Refusal {
    pub(crate) fn new(status: u16, code: u32, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), errors: None }
    }

    /// Returns a refusal because a part of the request is wrong.
    pub(crate) fn invalid(field: &str, code: &str, message: &str) -> Self {
        let errors = json!({ "_errors": [{ "code": code, "message": message }] });
        Self { errors: Some(nested(field, errors)), ..Self::new(400, 50035, "Invalid Form Body") }
    }

    /// Returns the refusal with the full name of the field. `name` is its name in its own object.
    pub(crate) fn of_field(self, name: &str, field: &str) -> Self {
        let errors = self.errors.as_ref().and_then(|errors| errors.get(name)).cloned();
        Self { errors: errors.map(|errors| nested(field, errors)).or(self.errors), ..self }
    }

    /// Returns a refusal because a number is out of bounds.
    pub(crate) fn out_of_bounds(field: &str, lowest: u64, highest: u64) -> Self {
        let message = format!("int value should be between {lowest} and {highest}.");
        Self::invalid(field, "NUMBER_TYPE_MAX", &message)
    }

    /// Returns a refusal because a text has a wrong length.
    pub(crate) fn wrong_length(field: &str, lowest: usize, highest: usize) -> Self {
        let message = format!("Must be between {lowest} and {highest} in length.");
        Self::invalid(field, "BASE_TYPE_BAD_LENGTH", &message)
    }

    /// Returns a refusal because this server lacks a real feature of Discord. It is logged as an error, so that you do
    /// not believe it was done.
    pub(crate) fn lacking(what: &str) -> Self {
        tracing::error!(what, "the loopback Discord does not have this");
        Self::new(501, 0, format!("The loopback Discord does not have this: {what}"))
    }

    /// Returns the body of the answer.
    pub(crate) fn body(&self) -> Value {
        let mut body = json!({ "message": self.message, "code": self.code });
        if let (Some(errors), Some(fields)) = (&self.errors, body.as_object_mut()) {
            fields.insert("errors".to_owned(), errors.clone());
        }
        body
    }
}

/// Nests the errors of a field, by the points in its name.
fn nested(field: &str, mut errors: Value) -> Value {
    for part in field.split('.').rev() {
        errors = json!({ part: errors });
    }
    errors
}
