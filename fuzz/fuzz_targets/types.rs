//! A types file.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    graphfill_fuzz::read_types(bytes);
});
