//! The `.npz` layout of the gnn-benchmark collection.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    graphfill_fuzz::read_file("graph.npz", &graphfill_fuzz::archive(bytes));
    graphfill_fuzz::read_file("graph.npz", bytes);
});
