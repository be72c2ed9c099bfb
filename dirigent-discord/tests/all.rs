//! The adapter's tests, in one program.
#![cfg(test)]

mod account;
mod contract;
mod heard;
mod personas;
mod soak;
