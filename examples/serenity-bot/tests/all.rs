//! The bot's tests, in one program.
#![cfg(test)]

mod contract;
mod conversation;
