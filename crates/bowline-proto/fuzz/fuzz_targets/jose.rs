//! Any bytes, read as tokens, keys and key files: no panic, and nothing is
//! believed that nobody signed.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| bowline::jose::__read_anything(data));
