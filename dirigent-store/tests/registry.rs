//! The registry in a file, and the scan of `ego.json`, from the outside.

mod bad_input;
mod contract;
mod crash;
mod ego;
mod ego_bad_input;
mod file;
mod place;
mod refused;
mod scanned;
