#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| polycache_check_decoders::encrypted::check(data));
