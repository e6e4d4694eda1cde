//! Steps after the first allocate nothing, on any thread.

mod training;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

/// The system's allocator, counting.
struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is handed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::SeqCst);
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer comes from `alloc` above, hence from the system's allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Alone in its file: another test's allocations would be counted too.
#[test]
fn steps_allocate_nothing() {
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        let mut session = training::session(5);
        // A thread sets itself up when it first looks for work, which may be late.
        pool.broadcast(|_| ());
        // From outside the pool, handing over a job would allocate.
        let allocated = pool.install(|| {
            session.run("train").expect("the first step");
            let before = ALLOCATIONS.load(Ordering::SeqCst);
            assert!(before > 0, "the allocator counts");
            for _ in 0..20 {
                session.run("train").expect("a step");
            }
            ALLOCATIONS.load(Ordering::SeqCst) - before
        });
        assert_eq!(allocated, 0, "with {threads} threads");
    }
}
