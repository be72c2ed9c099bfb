//! All tests of the relay from outside, in one program.
#![expect(clippy::unwrap_used, reason = "tests")]

#[path = "all/fleet.rs"]
mod fleet;
#[path = "all/forgery.rs"]
mod forgery;
#[path = "all/peers.rs"]
mod peers;
#[path = "all/roles.rs"]
mod roles;
#[path = "all/rules.rs"]
mod rules;
