//! The kit itself: its Discord, its clock, and what it asks of implementations.
#![cfg(test)]

mod contracts;
mod manual_clock;
mod memory_discord;
