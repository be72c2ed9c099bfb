//! The store of channels, from the outside.

mod bad_input;
mod commits;
mod contract;
mod crash;
mod damage;
mod erasure;
mod export;
mod history;
mod opaque;
mod place;
mod power;
mod record;
mod refused;
mod unchangeable;
