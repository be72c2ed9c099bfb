//! Pure functions on text: text enters, and parts, mentions and names leave.

pub(crate) mod mentions;
pub mod plain;
pub(crate) mod repetition;
pub(crate) mod split;
pub(crate) mod transcript;
mod unicode;
