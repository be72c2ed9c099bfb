#![no_main]

#[path = "../bodies/channel_file.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| body::channel_file(bytes));
