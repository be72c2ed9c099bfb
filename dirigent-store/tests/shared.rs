//! What the tests of several stores use.

pub(crate) mod commits;
pub(crate) mod erased;
pub(crate) mod left_out;
pub(crate) mod mount;
pub(crate) mod power;
pub(crate) mod process;
pub(crate) mod refused;
#[cfg(feature = "sqlite")]
pub(crate) mod story;
