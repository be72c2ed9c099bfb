//! Pure functions on text: splitting replies, mentions, transcripts, repetitions, and names that are safe to post.

pub mod plain;
pub(crate) mod repetition;
pub(crate) mod split;
pub(crate) mod transcript;
mod unicode;
