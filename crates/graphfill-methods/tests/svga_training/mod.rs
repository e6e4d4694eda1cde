//! Training as a whole, with dropout and noise.

use std::sync::Arc;

use graphfill_engine::{Likelihood, Plan, Session};
use graphfill_methods::svga::{Model, NormalisedGraph, TRAINING};

use crate::svga_problem::{Edges, Numbers, TRAINED, Variant, listed, observed_nodes, training};

/// Enough that every kernel has work for several threads.
const NODES: usize = 300;
const SEED: u64 = 11;
const VARIANTS: [Variant; 2] = [Variant::Restricted, Variant::Stochastic];

fn update(session: &mut Session, updates: usize) {
    for _ in 0..updates {
        session.run(TRAINING).expect("an update");
    }
}

/// The bits of all parameters and of Adam's moments.
fn bits(session: &Session) -> Vec<u32> {
    let kept = |name: &str| {
        let moment = |which: &str| format!("{TRAINING}/{name}/{which}_moment");
        [name.to_owned(), moment("first"), moment("second")]
    };
    let numbers = session
        .parameters()
        .flat_map(kept)
        .flat_map(|name| session.buffer(&name).expect("a buffer"));
    numbers.map(f32::to_bits).collect()
}

#[test]
fn training_does_not_depend_on_the_number_of_threads() {
    for variant in VARIANTS {
        let trained = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.expect("a pool").install(|| {
                let mut session = training(variant, NODES, SEED);
                session.watch(1);
                update(&mut session, 5);
                bits(&session)
            })
        };
        let alone = trained(1);
        let width = TRAINED.width;
        let encoder = NODES * width + width + width * width + width;
        let encoders = if variant == Variant::Restricted { 1 } else { 2 };
        assert_eq!(alone.len(), 3 * (encoders * encoder + width * 50 + 50));
        for threads in [2, 3] {
            assert!(trained(threads) == alone, "{variant:?} with {threads} threads");
        }
    }
}

#[test]
fn a_loaded_session_goes_on_to_the_bit() {
    let folder = tempfile::tempdir().expect("a folder");
    for variant in VARIANTS {
        let path = folder.path().join(format!("{variant:?}.safetensors"));
        let mut whole = training(variant, NODES, SEED);
        update(&mut whole, 5);
        let mut first = training(variant, NODES, SEED);
        update(&mut first, 3);
        first.save(&path).expect("a file");
        // Of another seed: its own parameters and draws would end elsewhere.
        let mut second = training(variant, NODES, SEED + 1);
        second.load(&path).expect("the same program");
        assert!(bits(&second) == bits(&first), "{variant:?} as it was saved");
        update(&mut second, 2);
        assert!(bits(&second) == bits(&whole), "{variant:?} as if never interrupted");
        let mut other = training(variant, NODES, SEED + 1);
        update(&mut other, 5);
        assert!(bits(&other) != bits(&whole), "the seed matters");
    }
}

/// Two communities, hardly any edge between them, each with its own 20 words.
pub(crate) struct Communities {
    pub(crate) graph: NormalisedGraph,
    pub(crate) observed: Vec<u32>,
    pub(crate) likelihood: Arc<Likelihood>,
}

impl Communities {
    pub(crate) fn new() -> Self {
        const MEMBERS: usize = 40;
        let nodes = 2 * MEMBERS;
        let mut numbers = Numbers::new(3);
        let mut list = Vec::new();
        for source in 0..nodes {
            let community = source / MEMBERS;
            for _ in 0..3 {
                list.push((
                    source as u32,
                    (community * MEMBERS + numbers.below(MEMBERS)) as u32,
                    1.0,
                ));
            }
        }
        list.push((0, nodes as u32 - 1, 1.0));
        let graph = Edges { nodes, list, weighted: false }.graph();
        let observed = observed_nodes(nodes);
        let mut words = Vec::new();
        for &node in &observed {
            let community = node as usize / MEMBERS;
            words.extend((0..40).map(|word| {
                f32::from(u8::from(word / 20 == community && numbers.uniform() < 0.9))
            }));
        }
        let likelihood =
            Likelihood::new(observed.len()).balanced_bernoulli(listed(40, &words), 1.0);
        let likelihood = Arc::new(likelihood.expect("a likelihood"));
        Communities { graph, observed, likelihood }
    }
}

/// λ of [`TRAINED`] that gives the field so much weight per column of the latents: the divergence of
/// SVGA-U is a sum over columns, SVGA's regulariser has one determinant for all of them.
pub(crate) fn lambda_of(variant: Variant, weight: f32) -> f32 {
    match variant {
        Variant::Restricted => weight,
        Variant::Stochastic => weight / TRAINED.width as f32,
    }
}

#[test]
fn training_learns_two_communities() {
    let Communities { graph, observed, likelihood } = Communities::new();
    for variant in VARIANTS {
        for lambda in [0.0, 0.1] {
            let model = Model { lambda: lambda_of(variant, lambda), ..TRAINED };
            let program = variant.training(&model, &graph, &observed, &likelihood);
            let plan = Plan::new(vec![program.expect("a program")]).expect("a plan");
            let mut session = crate::device::session(plan, SEED);
            update(&mut session, 1);
            let read = |session: &Session, name: &str| session.scalar(TRAINING, name).expect(name);
            let first = ["loss", "features"].map(|name| read(&session, name));
            update(&mut session, 99);
            let last = ["loss", "features"].map(|name| read(&session, name));
            let halved = first.iter().zip(&last).all(|(first, last)| *last <= 0.5 * first);
            assert!(halved, "{variant:?}, λ = {lambda}: {first:?} became {last:?}");
        }
    }
}
