//! The parts of the codec and of the registry's rules that a store in tables needs. They are for the store on
//! PostgreSQL in `dirigent-cluster`.
//!
//! This module is hidden, because two crates that are released together agree on it: it has a record's text without its
//! envelope, and the unknown fields of newer versions. For a store of your own, use
//! [`ParsedChannel::to_json`](crate::ParsedChannel::to_json) and [`parse_channel`](crate::parse_channel), which keep
//! their form.

pub use crate::json::channels::agents::{Agents, rebuild};
pub use crate::json::channels::history::{line as history_line, parse as parse_history_line};
pub use crate::json::identities::entry::check as check_identity;
pub use crate::problems::Problems;
pub use crate::record::fields::quoted;
pub use crate::record::{
    Extras, LARGEST, WrittenRecord, parse_sound_record, record_checksum, record_text,
};
