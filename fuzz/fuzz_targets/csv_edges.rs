//! An edge list as text, with and without a node table beside it.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    graphfill_fuzz::read_edges("edges.csv", bytes);
    graphfill_fuzz::read_file("edges.csv", bytes);
});
