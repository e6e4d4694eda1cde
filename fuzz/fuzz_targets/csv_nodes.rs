//! A node table as text: `nodes.csv`, and the same bytes as `.tsv.gz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    graphfill_fuzz::read_file("nodes.csv", bytes);
    graphfill_fuzz::read_file("nodes.tsv.gz", bytes);
});
