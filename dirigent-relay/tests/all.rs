//! All tests of the relay from outside, in one program.
#![cfg(test)]

mod fleet;
mod forgery;
mod place;
mod raw;
mod roles;
mod rules;
