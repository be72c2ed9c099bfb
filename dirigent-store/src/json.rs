//! The stores in JSON files that people can read. `channels` stores channels, `identities` the registry, and
//! `recording` the recorded inputs of a channel. The codec is in `record`, because the other stores use it as well.

pub(crate) mod channels;
pub(crate) mod identities;
pub(crate) mod recording;
pub(crate) mod report;
