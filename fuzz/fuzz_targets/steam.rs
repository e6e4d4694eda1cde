//! Steam's two files, parted by a marker.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    graphfill_fuzz::read_folder(&["user_product_date.csv", "product_tags.csv"], bytes);
});
