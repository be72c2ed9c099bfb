#![no_main]

#[path = "../bodies/identity_file.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| body::identity_file(bytes));
