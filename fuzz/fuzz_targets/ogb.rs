//! The files of an OGB set, parted by a marker.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let names = ["edge.csv", "node-feat.csv", "node-label.csv", "num-node-list.csv"];
    graphfill_fuzz::read_folder(&names, bytes);
});
