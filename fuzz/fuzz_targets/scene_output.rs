#![no_main]

#[path = "../bodies/scene_output.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| body::scene_output(bytes));
