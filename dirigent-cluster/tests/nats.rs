//! Questions over a real NATS server. Without one each of these tests says that it was skipped.

mod failures;
mod fixture;
mod permissions;
mod questions;
