//! Stores in JSON files that people can read. `channels` keeps channels, `identities` the registry, and `recording` a
//! channel's recorded inputs. The codec is `record`, which the other stores use as well.

pub(crate) mod channels;
pub(crate) mod identities;
pub(crate) mod recording;
pub(crate) mod report;
