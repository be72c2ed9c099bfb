//! All tests of the relay from outside, in one program.
#![expect(clippy::indexing_slicing, reason = "tests")]

#[path = "all/forgery.rs"]
mod forgery;
