//! The Discord on this machine, asked by clients as they are.
#![cfg(test)]

mod gateway;
mod program;
mod rest;
mod twilight;
