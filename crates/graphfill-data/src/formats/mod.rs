//! One file a format.

mod feature_rows;
mod lines;
pub mod ogb;
pub(crate) mod open;
mod pickle;
pub mod planetoid;
mod row_counter;
pub mod steam;

/// Reads a pickle and forgets it: what a fuzzer calls.
#[doc(hidden)]
pub fn fuzz_pickle(bytes: &[u8]) {
    if let Ok(pickle) = pickle::parse(bytes) {
        let heap = &pickle.heap;
        // Only that they come back matters here, with a value or with a problem.
        let _ = pickle::CsrMatrix::of(heap, pickle.root);
        let _ = heap.array(pickle.root).and_then(|array| array.floats(heap));
    }
}
