//! All tests of the relay from outside, in one program.
#![cfg(test)]

mod commands;
mod fleet;
mod forgery;
mod forwarding;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "control")]
mod page;
mod peers;
mod remote;
mod roles;
mod rules;
mod worlds;
