//! Stores in JSON files that people can read. `form` and `channel_file` are the format, `channels` keeps channels,
//! `identities` the registry, and `recording` a channel's recorded inputs.

pub(crate) mod channels;
pub(crate) mod identities;
pub(crate) mod recording;
pub(crate) mod report;
