#![no_main]
#![allow(dead_code, reason = "each target runs its own body")]

#[path = "../bodies/foreign.rs"]
mod foreign;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| foreign::identity_file(bytes));
