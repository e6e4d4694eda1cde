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
