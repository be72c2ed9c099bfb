//! Agents that live in other processes than the one that acts for the channel.

mod account;
mod conversation;
mod fixture;
mod refusals;
