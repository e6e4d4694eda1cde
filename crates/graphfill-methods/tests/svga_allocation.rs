//! Updates of SVGA after the first allocate nothing, on any thread that has a part in them.

#[path = "../../graphfill-engine/tests/device/mod.rs"]
mod device;
mod svga_problem;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use graphfill_methods::svga::TRAINING;
use svga_problem::{Variant, training};

/// The system's allocator, counting.
struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Whether this thread's allocations count. Those of the test harness and of threads that come
    /// or go don't.
    static COUNTED: Cell<bool> = const { Cell::new(false) };
}

// SAFETY: every call is handed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if COUNTED.get() {
            ALLOCATIONS.fetch_add(1, Ordering::SeqCst);
        }
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

#[test]
fn updates_allocate_nothing() {
    for variant in [Variant::Restricted, Variant::Stochastic] {
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.expect("a pool");
            let mut session = training(variant, 300, 5);
            pool.broadcast(|_| COUNTED.set(true));
            // From outside the pool, handing over a job would allocate.
            let (first, others) = pool.install(|| {
                let begin = ALLOCATIONS.load(Ordering::SeqCst);
                drop(std::hint::black_box(vec![0; 100]));
                session.run(TRAINING).expect("the first update");
                let first = ALLOCATIONS.load(Ordering::SeqCst);
                for _ in 0..20 {
                    session.run(TRAINING).expect("an update");
                }
                (first - begin, ALLOCATIONS.load(Ordering::SeqCst) - first)
            });
            pool.broadcast(|_| COUNTED.set(false));
            assert!(first > 0, "the allocator counts");
            assert_eq!(others, 0, "{variant:?} with {threads} threads");
        }
    }
}
