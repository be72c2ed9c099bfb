#![no_main]

#[path = "../bodies/ego_file.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| body::ego_file(bytes));
