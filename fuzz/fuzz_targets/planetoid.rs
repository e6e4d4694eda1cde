//! The files of a planetoid set, parted by a marker.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let names = ["allx", "tx", "ally", "ty", "graph", "test.index"];
    let names = names.map(|end| format!("ind.set.{end}"));
    graphfill_fuzz::read_folder(&names, bytes);
});
