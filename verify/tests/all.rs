//! Machine against model, both in hostile worlds, the driver too, and the corpora of the fuzzers, as one program.
#![cfg(test)]

mod corpus;
mod differential;
mod driver_crashes;
mod driver_simulation;
mod leases;
mod simulation;
mod stage_contract;
mod stateright;
