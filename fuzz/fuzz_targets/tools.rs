#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| dirigent_verify::fuzzing::tools(bytes));
