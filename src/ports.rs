//! What a host or an adapter implements: the traits through which the library reaches a chat, stores, agents and time.

pub(crate) mod agent;
pub(crate) mod clock;
pub(crate) mod discord;
pub(crate) mod identity;
pub(crate) mod into_shared;
pub(crate) mod orchestrator;
pub(crate) mod store;
pub(crate) mod waker;
