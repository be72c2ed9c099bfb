//! The stores, from the outside: all tests in one program.

#![cfg(test)]

mod busy_first;
mod channels;
mod driver;
mod recording;
mod registry;
mod shared;
#[cfg(feature = "sqlite")]
mod sqlite;
mod state_file;
