//! One entry of the registry.

use dirigent::UserId;
use dirigent::ports::Identity;

use crate::agent_name::{NAME_MAX, is_name, is_short};
use crate::record::fields::{Field, Fields, quoted, string};

const ACCOUNT: &str = "discordUserId";
const AGENT: &str = "agentId";
const NAME: &str = "agentName";

/// The smallest number with 15 digits.
const SMALLEST_ACCOUNT: u64 = 100_000_000_000_000;

/// Why an entry does not count. The entry stays in the file as it is.
///
/// ```
/// use dirigent_store::{BadEntry, parse_identities};
///
/// let file = br#"[{ "discordUserId": 123456789012345678, "agentId": "a", "agentName": "A" }]"#;
/// let parsed = parse_identities(file)?;
/// assert_eq!(parsed.bad_entries(), [(1, BadEntry::NotText { field: "discordUserId" })]);
/// # Ok::<(), dirigent_store::BadFile>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum BadEntry {
    /// The entry is not an object, or it has a name that is not text.
    #[error("it is no object with fields")]
    NotAnObject,
    /// A field is missing.
    #[error("it has no {field}")]
    Missing {
        /// The name of the field.
        field: &'static str,
    },
    /// A field is there twice.
    #[error("it has more than one {field}")]
    Repeated {
        /// The name of the field.
        field: &'static str,
    },
    /// A field is not a string. For example, an id without quotes would lose digits.
    #[error("its {field} is no text in quotes")]
    NotText {
        /// The name of the field.
        field: &'static str,
    },
    /// The account is not a Discord id.
    #[error("its discordUserId is no Discord id: expected 15 to 20 decimal digits, not zero")]
    BadAccount,
    /// The agent's id is blank, is longer than 100 characters, or has characters that are invisible,
    /// break a line or change the direction of the text ([`dirigent::host::plain::is_name`]).
    #[error("its agentId is blank, has over {NAME_MAX} characters, or one that cannot be shown")]
    BadAgent,
    /// The name is longer than 100 characters.
    #[error("its agentName has over {NAME_MAX} characters")]
    LongName,
    /// An earlier entry has the same agent.
    #[error("its agentId is that of an earlier entry")]
    AgentTwice,
    /// An earlier entry has the same account.
    #[error("its discordUserId is that of an earlier entry")]
    AccountTwice,
}

/// Checks if an identity can be an entry. If this refuses it, a read skips such an entry.
///
/// # Errors
///
/// Returns the reason if it cannot.
pub fn check(identity: &Identity) -> Result<(), BadEntry> {
    if identity.discord_user_id.get() < SMALLEST_ACCOUNT {
        return Err(BadEntry::BadAccount);
    }
    if !is_name(identity.agent_id.as_str()) {
        return Err(BadEntry::BadAgent);
    }
    if is_short(&identity.agent_name) { Ok(()) } else { Err(BadEntry::LongName) }
}

pub(super) fn read(text: &str) -> Result<Identity, BadEntry> {
    let fields = Fields::of(text).map_err(|_| BadEntry::NotAnObject)?;
    let account: UserId = text_of(&fields, ACCOUNT)?.parse().map_err(|_| BadEntry::BadAccount)?;
    let identity = Identity {
        discord_user_id: account,
        agent_id: text_of(&fields, AGENT)?.into(),
        agent_name: text_of(&fields, NAME)?,
    };
    check(&identity).map(|()| identity)
}

/// Writes an entry. Fields of the old entry that the store does not know keep their place and their
/// value.
pub(super) fn write(identity: &Identity, old: Option<&str>) -> Box<str> {
    let mut ours = vec![
        (ACCOUNT, quoted(&identity.discord_user_id.to_string())),
        (AGENT, quoted(identity.agent_id.as_str())),
        (NAME, quoted(&identity.agent_name)),
    ];
    let mut lines = Vec::new();
    let old = old.and_then(|old| Fields::of(old).ok());
    for (name, value) in old.iter().flat_map(Fields::iter) {
        let new = ours.iter().position(|(known, _)| *known == name).map(|at| ours.remove(at).1);
        lines.push(format!("    {}: {}", quoted(name), new.as_deref().unwrap_or(value)));
    }
    lines.extend(ours.into_iter().map(|(name, value)| format!("    \"{name}\": {value}")));
    format!("{{\n{}\n  }}", lines.join(",\n")).into()
}

fn text_of(fields: &Fields<'_>, field: &'static str) -> Result<String, BadEntry> {
    match fields.field(field) {
        Field::Missing => Err(BadEntry::Missing { field }),
        Field::Repeated => Err(BadEntry::Repeated { field }),
        Field::Found(value) => string(value).ok_or(BadEntry::NotText { field }),
    }
}
