//! The store of channels, from the outside.

#![cfg(test)]

mod bad_input;
#[path = "../shared/commits.rs"]
mod commits;
mod contract;
mod crash;
mod damage;
#[path = "../shared/erased.rs"]
mod erased;
mod erasure;
mod export;
mod history;
#[path = "../shared/left_out.rs"]
mod left_out;
#[path = "../shared/mount.rs"]
mod mount;
mod place;
mod power;
#[path = "../shared/process.rs"]
mod process;
mod record;
mod refused;
#[path = "../shared/refused.rs"]
mod refused_alike;
mod turns;
mod unchangeable;
