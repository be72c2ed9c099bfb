//! The database, from the outside.

#![cfg(test)]

#[path = "../shared/commits.rs"]
mod commits;
mod contract;
mod crash;
mod damage;
#[path = "../shared/erased.rs"]
mod erased;
mod erasure;
mod group;
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
mod trace;
