//! Stores in JSON files: commits and registrations come in, and files that people can read stand for them.

pub(crate) mod channel_file;
pub(crate) mod channels;
pub(crate) mod fields;
mod form;
pub(crate) mod identities;
pub(crate) mod recording;
pub(crate) mod report;
