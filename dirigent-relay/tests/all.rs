//! All tests of the relay from outside, in one program.
#![cfg(test)]

mod carried_on;
mod commands;
mod ending;
mod ends;
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
mod tools;
mod worlds;
