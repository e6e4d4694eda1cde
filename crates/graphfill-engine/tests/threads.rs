//! The same bits from any number of threads.

mod training;

fn trained(threads: usize) -> (Vec<u32>, f32) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
    pool.install(|| {
        let mut session = training::session(11);
        session.watch(1);
        for _ in 0..10 {
            session.run("train").expect("a step");
        }
        let names: Vec<String> = session.parameters().map(str::to_owned).collect();
        let numbers = names.iter().flat_map(|name| session.buffer(name).expect("a parameter"));
        let bits = numbers.map(f32::to_bits).collect();
        (bits, session.scalar("train", "loss").expect("a loss"))
    })
}

#[test]
fn training_does_not_depend_on_the_number_of_threads() {
    let (alone, loss) = trained(1);
    assert!(loss.is_finite());
    assert_eq!(alone.len(), 24 * 40 + 40 + 40 * 7 + 7);
    for threads in [2, 3] {
        assert_eq!(trained(threads).0, alone, "{threads} threads");
    }
}

/// Sessions share a device, and nothing else.
#[test]
fn two_sessions_at_once_do_as_each_does_alone() {
    let bits = |seed: u64| {
        let mut session = training::session(seed);
        for _ in 0..10 {
            session.run("train").expect("a step");
        }
        let names: Vec<String> = session.parameters().map(str::to_owned).collect();
        let numbers = names.iter().flat_map(|name| session.buffer(name).expect("a parameter"));
        numbers.map(f32::to_bits).collect::<Vec<_>>()
    };
    let alone = [bits(3), bits(4)];
    let together = std::thread::scope(|scope| {
        let threads = [3, 4].map(|seed| scope.spawn(move || bits(seed)));
        threads.map(|thread| thread.join().expect("a session"))
    });
    assert_eq!(alone, together);
    assert_ne!(alone[0], alone[1]);
    // Run in turn, too.
    let (mut one, mut other) = (training::session(3), training::session(4));
    for _ in 0..10 {
        one.run("train").expect("a step");
        other.run("train").expect("a step");
    }
    for (session, alone) in [(&one, &alone[0]), (&other, &alone[1])] {
        let names: Vec<String> = session.parameters().map(str::to_owned).collect();
        let numbers = names.iter().flat_map(|name| session.buffer(name).expect("a parameter"));
        assert_eq!(numbers.map(f32::to_bits).collect::<Vec<_>>(), *alone);
    }
}
