//! The database, from the outside.

mod contract;
mod crash;
mod damage;
mod erasure;
mod group;
mod place;
mod power;
mod record;
mod refused;
mod trace;
