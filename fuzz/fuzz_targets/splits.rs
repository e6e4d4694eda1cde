//! A file of splits.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    graphfill_fuzz::read_splits(&graphfill_fuzz::archive(bytes));
    graphfill_fuzz::read_splits(bytes);
});
