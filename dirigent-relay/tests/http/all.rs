//! The transport over HTTP/2, on loopback.

mod certificates;
mod fixture;
mod questions;
