//! The bot, and its self-test.
#![cfg(test)]

mod conversation;
mod self_test;
