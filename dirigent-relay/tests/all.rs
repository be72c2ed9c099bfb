//! All tests of the relay from outside, in one program.
#![cfg(test)]

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

#[cfg(feature = "http")]
#[path = "http/all.rs"]
mod http;
