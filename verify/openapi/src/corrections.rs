//! Where Discord's document says something else than Discord's documentation.
//!
//! The document calls itself a preview and sends its readers to the documentation where the two differ. The
//! adapter follows the documentation; each place where that matters stands here with its reason. A
//! correction that no longer fits stops the check, so that none outlives its reason.

use super::correction::Correction;

const NUMBER: &str = r#"{"type": ["integer", "null"]}"#;
const TEXT: &str = r#"{"type": ["string", "null"], "pattern": "^(0|[1-9][0-9]*)$"}"#;
const BITS: &str = "permissions are written as decimal text, also in overwrites, since version 8 of the API \
    (topics/permissions, resources/channel)";

const COMMAND_NUMBER: &str =
    r#"{"type": ["integer", "null"], "minimum": 0, "maximum": 18014398509481983}"#;
const COMMAND_BITS: &str =
    "`default_member_permissions` is a bit set written as text (interactions/application-commands)";

/// All corrections of Discord's document.
///
/// ```
/// assert!(check_contract::CORRECTIONS.iter().all(|correction| !correction.because.is_empty()));
/// ```
pub const CORRECTIONS: &[Correction] = &[
    bits("/components/schemas/ChannelPermissionOverwriteRequest/properties/allow"),
    bits("/components/schemas/ChannelPermissionOverwriteRequest/properties/deny"),
    bits(
        "/paths/~1channels~1{channel_id}~1permissions~1{overwrite_id}/put/requestBody/content\
        /application~1json/schema/properties/allow",
    ),
    bits(
        "/paths/~1channels~1{channel_id}~1permissions~1{overwrite_id}/put/requestBody/content\
        /application~1json/schema/properties/deny",
    ),
    Correction {
        at: "/components/schemas/MessageCreateRequest/properties/content",
        from: r#"{"type": ["string", "null"], "maxLength": 4000}"#,
        to: r#"{"type": ["string", "null"], "maxLength": 2000}"#,
        because: "4,000 characters are for people with a subscription; a bot's message has at most 2,000 \
            (resources/message)",
    },
    Correction {
        at: "/components/schemas/MessageReferenceType/oneOf",
        from: r#"[{"title": "DEFAULT", "description": "Reference to a message", "const": 0}]"#,
        to: r#"[{"title": "DEFAULT", "const": 0}, {"title": "FORWARD", "const": 1}]"#,
        because: "a forward has a reference of type 1 (resources/message, message reference types)",
    },
    command_bits(
        "/components/schemas/ApplicationCommandCreateRequest/properties/default_member_permissions",
    ),
    command_bits(
        "/components/schemas/ApplicationCommandUpdateRequest/properties/default_member_permissions",
    ),
];

const fn bits(at: &'static str) -> Correction {
    Correction { at, from: NUMBER, to: TEXT, because: BITS }
}

const fn command_bits(at: &'static str) -> Correction {
    Correction { at, from: COMMAND_NUMBER, to: TEXT, because: COMMAND_BITS }
}
