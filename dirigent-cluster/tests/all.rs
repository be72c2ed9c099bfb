//! All tests of several processes from outside, in one program.
#![cfg(test)]

mod carried_on;
mod commands;
mod ending;
mod ends;
mod fleet;
mod forwarding;
#[cfg(feature = "nats")]
mod nats;
#[cfg(feature = "control")]
mod page;
mod peers;
#[path = "../../dirigent-relay/tests/place.rs"]
mod place;
#[cfg(feature = "postgres")]
mod postgres;
#[path = "../../dirigent-relay/tests/raw.rs"]
mod raw;
// What a master answers to its slaves, each of several processes answers as well: the same tests, with this crate's fleet.
#[path = "../../dirigent-relay/tests/roles.rs"]
mod roles;
#[path = "../../dirigent-relay/tests/rules.rs"]
mod rules;
#[cfg(feature = "postgres")]
mod shared;
mod slaves;
mod tools;
mod worlds;
