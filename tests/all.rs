//! Everything that is tested of the driver through its public API, as one program.
#![cfg(test)]

mod auto_traits;
mod driver;
mod foreign_corpus;
mod promises;
mod properties;
mod room_is_pure;
mod split;
mod tools;
mod transcript;
