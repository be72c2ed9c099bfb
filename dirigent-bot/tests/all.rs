//! The program, run as a person runs it: in a Discord on this machine, with a scripted model.

#![expect(clippy::unwrap_used, reason = "tests")]

mod check;
mod demo;
mod init;
mod run;
mod stage;
mod trace;
mod wrong;
