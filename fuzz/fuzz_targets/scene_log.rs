#![no_main]

#[path = "../bodies/scene_log.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| body::scene_log(bytes));
