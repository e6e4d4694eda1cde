//! Parquet, as a node table and as edges.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    graphfill_fuzz::pass_guarded_panics();
    graphfill_fuzz::read_file("nodes.parquet", bytes);
    graphfill_fuzz::read_edges("edges.parquet", bytes);
});
