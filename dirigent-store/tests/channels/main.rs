//! The store of channels, from the outside.

#![cfg(test)]

mod bad_input;
mod contract;
mod crash;
mod damage;
mod export;
mod history;
mod mount;
mod place;
mod power;
mod record;
mod refused;
mod turns;
