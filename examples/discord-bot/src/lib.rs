//! What the bot is made of beside its `main`: its connections, and a self-test of what it assumes about Discord.

pub mod gateway;
pub mod self_test;
