//! A pickle of arrays.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    graphfill_datasets::fuzz_pickle(bytes);
});
