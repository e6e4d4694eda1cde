//! Two communities of nodes that mostly know their own and mostly use their own words, and what the
//! tests of all models do with them.

use std::sync::Arc;

use graphfill_engine::{
    Adam, Likelihood, Matrix, Plan, Program, Schedule, Session, Shape, SparseMatrix, SparseRows,
    Targets,
};

pub(crate) const NODES: usize = 40;
pub(crate) const WORDS: usize = 30;

/// Which of the two a node belongs to.
pub(crate) fn community(node: usize) -> usize {
    node / (NODES / 2)
}

/// Which of the two mostly uses a word.
fn users(word: usize) -> usize {
    word / (WORDS / 2)
}

/// Numbers from 0 to 1 that are always the same (Knuth's generator).
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Numbers(seed)
    }

    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) as f64 / (1u64 << 31) as f64
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() * bound as f64) as usize
    }
}

pub(crate) struct Community {
    /// For each node, those that it knows, which know it too.
    pub(crate) neighbours: Vec<Vec<u32>>,
    /// For each node, the words that it uses.
    pub(crate) words: Vec<Vec<u32>>,
}

impl Community {
    pub(crate) fn new() -> Self {
        let mut numbers = Numbers::new(3);
        let mut neighbours = vec![Vec::new(); NODES];
        for node in 0..NODES {
            for other in node + 1..NODES {
                let same = community(node) == community(other);
                // A ring through each community, so that nobody is alone.
                let next = same && other == node + 1;
                if numbers.next() < if same { 0.25 } else { 0.01 } || next {
                    neighbours[node].push(other as u32);
                    neighbours[other].push(node as u32);
                }
            }
        }
        let mut uses = |node: usize, word: usize| {
            numbers.next() < if community(node) == users(word) { 0.8 } else { 0.05 }
        };
        let mut codes = |node: usize| {
            (0..WORDS).filter(|&word| uses(node, word)).map(|word| word as u32).collect()
        };
        let words = (0..NODES).map(&mut codes).collect();
        neighbours.iter_mut().for_each(|row| row.sort_unstable());
        Community { neighbours, words }
    }

    /// D^−½ (A + I) D^−½
    pub(crate) fn normalised(&self) -> Arc<SparseMatrix> {
        let rows = self.with_selves();
        let root = |node: usize| (rows[node].len() as f32).sqrt();
        let weights = |(node, row): (usize, &Vec<u32>)| -> Vec<f32> {
            row.iter().map(|&other| 1.0 / (root(node) * root(other as usize))).collect()
        };
        let values = rows.iter().enumerate().flat_map(weights).collect();
        let (offsets, columns) = compressed(&rows);
        Arc::new(SparseMatrix::symmetric(offsets, columns, Some(values)))
    }

    /// Row i of its product with a matrix is the mean of the rows of the neighbours of i.
    pub(crate) fn means(&self) -> Arc<SparseMatrix> {
        let share = |row: &Vec<u32>| vec![1.0 / row.len() as f32; row.len()];
        let values = self.neighbours.iter().flat_map(share).collect();
        let (offsets, columns) = compressed(&self.neighbours);
        Arc::new(SparseMatrix::new(offsets, columns, Some(values), NODES))
    }

    /// Who attends to whom: to neighbours and to oneself.
    pub(crate) fn attention(&self) -> Arc<SparseMatrix> {
        let (offsets, columns) = compressed(&self.with_selves());
        Arc::new(SparseMatrix::symmetric(offsets, columns, None))
    }

    /// Every edge once.
    pub(crate) fn edges(&self) -> Arc<[[u32; 2]]> {
        let codes = |(node, row): (usize, &Vec<u32>)| {
            let edges: Vec<_> = row.iter().map(|&other| [node as u32, other]).collect();
            edges.into_iter().filter(|edge| edge[0] < edge[1])
        };
        self.neighbours.iter().enumerate().flat_map(codes).collect()
    }

    /// The words of some nodes, as a table to be multiplied with.
    pub(crate) fn table(&self, nodes: &[u32]) -> Arc<SparseMatrix> {
        let (offsets, columns) = compressed(&self.words_of(nodes));
        Arc::new(SparseMatrix::new(offsets, columns, None, WORDS))
    }

    /// The words of some nodes, as cells to be told from scores.
    pub(crate) fn cells(&self, nodes: &[u32]) -> Arc<Likelihood> {
        let (offsets, columns) = compressed(&self.words_of(nodes));
        let targets = Targets::Sparse(SparseRows::new(offsets, columns, None, WORDS));
        let likelihood = Likelihood::new(nodes.len()).balanced_bernoulli(targets, 1.0);
        Arc::new(likelihood.expect("words"))
    }

    /// The words of all nodes, as numbers.
    pub(crate) fn dense_words(&self) -> Vec<f32> {
        let uses = |at: usize| self.words[at / WORDS].contains(&((at % WORDS) as u32));
        (0..NODES * WORDS).map(|at| if uses(at) { 1.0 } else { 0.0 }).collect()
    }

    fn words_of(&self, nodes: &[u32]) -> Vec<Vec<u32>> {
        nodes.iter().map(|&node| self.words[node as usize].clone()).collect()
    }

    fn with_selves(&self) -> Vec<Vec<u32>> {
        let mut rows = self.neighbours.clone();
        for (node, row) in rows.iter_mut().enumerate() {
            row.push(node as u32);
            row.sort_unstable();
        }
        rows
    }
}

pub(crate) fn all_nodes() -> Vec<u32> {
    (0..NODES as u32).collect()
}

/// Compressed rows: where each begins, and the columns of all.
pub(crate) fn compressed(rows: &[Vec<u32>]) -> (Vec<usize>, Vec<u32>) {
    let mut offsets = vec![0];
    rows.iter().for_each(|row| offsets.push(offsets[offsets.len() - 1] + row.len()));
    (offsets, rows.concat())
}

/// The share of nodes whose own community's words have the higher scores.
pub(crate) fn told_apart(scores: &[f32], nodes: &[u32]) -> f64 {
    let told = |&(&node, row): &(&u32, &[f32])| {
        let mean = |of: usize| -> f32 {
            (0..WORDS).filter(|&word| users(word) == of).map(|word| row[word]).sum()
        };
        let own = community(node as usize);
        mean(own) > mean(1 - own)
    };
    assert_eq!(scores.len(), nodes.len() * WORDS);
    let rows = nodes.iter().zip(scores.chunks_exact(WORDS));
    rows.filter(|row| told(row)).count() as f64 / nodes.len() as f64
}

pub(crate) fn adam(rate: f32) -> Adam {
    Adam::new(Schedule::Constant(rate))
}

/// Minimises a loss, the output `loss`, by all parameters that were recorded so far.
pub(crate) fn minimise<'p>(program: &'p Program, loss: Matrix<'p>, adam: &Adam, clip: Option<f32>) {
    program.output("loss", loss);
    let names = program.parameters();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    program.minimise(loss, adam, clip, &names);
}

/// A session of these programs that looks for NaN and infinity in every step.
pub(crate) fn session(programs: Vec<Program>) -> Session {
    let recorded = |program: Program| program.finish().expect("a program without mistakes");
    let plan = Plan::new(programs.into_iter().map(recorded).collect()).expect("a plan");
    let mut session = crate::device::session(plan, 7);
    session.watch(1);
    session
}

/// The loss of a program that is run now.
pub(crate) fn loss_now(session: &mut Session, program: &str) -> f32 {
    session.run(program).expect("finite numbers");
    session.scalar(program, "loss").expect("a loss")
}

/// Trains; the loss must fall to a part of what it was at first.
pub(crate) fn train(session: &mut Session, program: &str, steps: usize, part: f32) {
    let first = loss_now(session, program);
    let mut last = first;
    for _ in 1..steps {
        last = loss_now(session, program);
    }
    assert!(last < part * first, "the loss was {first} and is {last}");
}

/// Checks a model of the scores of all words of all nodes. It is recorded twice: to be trained,
/// with this rate of dropout, and to predict, with a rate of 0.
pub(crate) fn check_word_model(
    graph: &Community,
    dropout: f32,
    steps: usize,
    model: impl for<'p> Fn(&'p Program, f32) -> Matrix<'p>,
) {
    let (training, prediction) = (Program::new("training"), Program::new("prediction"));
    let cells = graph.cells(&all_nodes());
    let scores = model(&training, dropout);
    assert_eq!(scores.shape(), Shape::new(NODES, WORDS));
    minimise(&training, scores.loss(&cells), &adam(0.01), None);
    let scores = model(&prediction, 0.0);
    prediction.output("scores", scores);
    prediction.output("loss", scores.loss(&cells));
    let mut session = session(vec![training, prediction]);
    let before = loss_now(&mut session, "prediction");
    train(&mut session, "training", steps, 0.7);
    let after = loss_now(&mut session, "prediction");
    assert!(after < 0.6 * before, "the loss of predictions was {before} and is {after}");
    assert_eq!(after, loss_now(&mut session, "prediction"), "predicting changes nothing");
    let scores = session.read("prediction", "scores").expect("scores");
    assert_eq!(told_apart(&scores, &all_nodes()), 1.0);
}
