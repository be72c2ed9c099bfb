//! Agents that live in other processes than the one that acts for the channel.

mod account;
mod calls;
mod conversation;
mod failures;
mod fixture;
mod refusals;
mod signals;
mod way;
mod worlds;
