//! What a host calls: calls enter, and become events of a room; answers and reports leave.

pub(crate) mod asking;
pub(crate) mod builder;
pub(crate) mod channel;
pub mod command;
pub(crate) mod deferral;
pub(crate) mod discussion;
pub(crate) mod erasure;
pub(crate) mod explanation;
pub(crate) mod gateway;
pub(crate) mod handle;
pub(crate) mod identity_line;
pub(crate) mod operate;
pub(crate) mod permit;
pub(crate) mod presence;
pub(crate) mod status;
