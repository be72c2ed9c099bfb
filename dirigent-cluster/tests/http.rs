//! The transport over HTTP/2, on loopback.

mod broken;
mod certificates;
mod fixture;
mod hostile;
mod proxy;
mod questions;
mod rejections;
mod trust;
mod wire;
