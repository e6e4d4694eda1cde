//! SVGA-P against its equations in double precision: both networks, the components of the prior with
//! their folds, and the blend.

use std::sync::Arc;

use arrow_array::{BooleanArray, Float64Array, StringArray};
use graphfill_data::block::{BlockBuilder, BlockLayout};
use graphfill_data::{CellMask, Column, IdColumn, Kind as ColumnKind, NodeIds, NodeTable, splits};
use graphfill_engine::{Likelihood, Plan, Program, Schedule};

use super::components::{FIELDS, Source, WAYS};
use super::method::Network;
use super::model::{INPUT, Model, OFFSET, OFFSET_SCALE};
use super::prior::{Input, Prior};
use super::row_model::{Batches, Names, RowModel, TREES_SCALE};
use crate::encoder::NormalisedGraph;
use crate::features::{ColumnMeans, Features};
use crate::learning::{LikelihoodOptions, Likelihoods, Observed};
use crate::method::Task;
use crate::reference::{
    Block, Dense, Kind, Learning, Matrices, SEED, Table, Updates, adjacency, drawn, field,
    gathered, graph, linear, normalised, numbers, relu, singles, unit, with_self_loops,
};
use crate::svga::{Known, TRAINING};

const NODES: usize = 9;
const OBSERVED: [u32; 7] = [0, 1, 3, 4, 5, 7, 8];
const WIDTH: usize = 4;
const RATE: f32 = 0.01;
/// Components of numbers, without the one that needs a spectral embedding.
const NUMBER_WAYS: usize = WAYS + FIELDS.len();

/// Labels of some nodes, for the engine and for the reference.
fn labels() -> (Observed, Table) {
    let (rows, classes): (Vec<u32>, Vec<u32>) = (vec![0, 2, 5, 6], vec![1, 0, 1, 1]);
    let likelihood = Likelihood::new(rows.len()).categorical(2, classes.clone(), 1.0);
    let is_class = |row: usize, class: usize| f64::from(u8::from(classes[row] as usize == class));
    let cells = Dense::new(rows.len(), 2, is_class);
    let table = Table { blocks: vec![Block { kind: Kind::Categorical, weight: 1.0, cells }] };
    (Observed { rows, likelihood: Arc::new(likelihood.expect("a likelihood")) }, table)
}

fn some(seed: u64, rows: usize, columns: usize) -> Dense {
    Dense::of_singles(columns, &numbers(seed, rows * columns))
}

/// The graph network: dropout of inputs, hidden rows and latents; the prior with its scale; labels;
/// the field. Each of the last two is also left out.
#[test]
fn updates_of_the_graph_network_follow_its_equations() {
    const INPUTS: usize = 3;
    for (dropout, lambda, with_labels) in
        [(0.5f32, 2.0f32, true), (0.0, 2.0, false), (0.5, 0.0, true)]
    {
        let beta = 0.5f32;
        let model =
            Model { width: WIDTH, inputs: INPUTS, dropout, lambda, beta, learning_rate: RATE };
        let table = Table::mixed(OBSERVED.len(), Kind::Multinomial);
        let features = table.columns();
        let observed = Observed { rows: OBSERVED.to_vec(), likelihood: table.likelihood() };
        let (label_rows, label_table) = labels();
        let rows_of_labels = label_rows.rows.clone();
        let known = Known { features: observed, labels: with_labels.then_some(label_rows) };
        let normalised = NormalisedGraph::new(&graph(NODES)).expect("a graph");
        let program = model.training(&normalised, &known).expect("a program");
        let mut session = crate::device::session(Plan::new(vec![program]).expect("a plan"), SEED);
        Updates::disturb(&mut session);
        let input = some(21, NODES, INPUTS);
        let prior = some(22, OBSERVED.len(), features);
        session.write(INPUT, &singles(&input)).expect("an input");
        session.write(OFFSET, &singles(&prior)).expect("an input");

        let draws = |step: usize| -> Matrices {
            let record = |program: &Program| {
                let mask = |name: &str, shape: [usize; 2], rate: f32| {
                    program.output(name, program.constant(shape, 1.0).dropout(rate));
                };
                mask("input", [NODES, INPUTS], 0.5);
                mask("hidden", [NODES, WIDTH], 0.5);
                let zeros = program.constant([NODES, WIDTH], 0.0);
                program.output("directions", zeros.normalise_rows());
                mask("latent", [OBSERVED.len(), WIDTH], dropout);
                mask("labels", [rows_of_labels.len(), WIDTH], dropout);
            };
            let wanted =
                [("input", INPUTS), ("hidden", WIDTH), ("latent", WIDTH), ("labels", WIDTH)];
            drawn(TRAINING, step, record, &wanted)
        };
        let draws: Vec<Matrices> = (0..3).map(draws).collect();
        let columns = |name: &str| match name {
            "features.weight" | "features.bias" => features,
            "labels.weight" | "labels.bias" => 2,
            OFFSET_SCALE => 1,
            _ => WIDTH,
        };
        let updates = Updates {
            program: TRAINING,
            columns: &columns,
            is_learned: &|_| true,
            learning: Learning::rate(f64::from(RATE)),
        };
        updates.check(&mut session, |parameters, update| {
            let draws = &draws[update];
            let seen = input.times(&draws["input"]).product(&parameters["input.weight"]);
            let hidden = relu(&seen.plus_row(&parameters["encoder.first_bias"]));
            let spread = with_self_loops(NODES).product(&hidden.times(&draws["hidden"]));
            let raw = spread.product(&parameters["encoder.weight"]);
            let latent = unit(&raw.plus_row(&parameters["encoder.second_bias"]));
            let rows = gathered(&latent, &OBSERVED).times(&draws["latent"]);
            let scale = parameters[OFFSET_SCALE].at(0, 0);
            let scores = linear(parameters, "features", &rows).plus(&prior.scaled(scale));
            let mut loss = table.loss(&scores);
            if with_labels {
                let rows = gathered(&latent, &rows_of_labels).times(&draws["labels"]);
                loss += label_table.loss(&linear(parameters, "labels", &rows));
            }
            loss + f64::from(lambda) / NODES as f64 * field(NODES, &latent, f64::from(beta))
        });
    }
}

/// The network of rows: hidden cells are not shown and alone judged, whole rows are hidden too, the
/// prior has a scale per feature, weights decay.
#[test]
fn updates_of_the_row_network_follow_its_equations() {
    const INPUTS: usize = 3;
    const HIDDEN_ROWS: f32 = 0.3;
    // As in the model.
    const HIDDEN_SHARE: f32 = 0.25;
    for (with_labels, has_trees) in [(true, false), (false, false), (false, true)] {
        let table = Table::mixed(NODES, Kind::BalancedBernoulli);
        let features = table.columns();
        let cells = table.cells();
        let model = RowModel {
            width: WIDTH,
            context: INPUTS,
            has_trees,
            cells: cells.clone(),
            hidden_rows: HIDDEN_ROWS,
            schedule: Schedule::Constant(RATE),
        };
        let names = Names::of(0);
        let (label_rows, label_table) = labels();
        let rows_of_labels = label_rows.rows.clone();
        let rows = (0..NODES as u32).collect();
        let known = Known {
            features: Observed { rows, likelihood: table.likelihood() },
            labels: with_labels.then_some(label_rows),
        };
        let program = model.training(&names, &known, Batches::One).expect("a program");
        let mut session = crate::device::session(Plan::new(vec![program]).expect("a plan"), SEED);
        Updates::disturb(&mut session);
        let (is_known, values) = (table.known(), some(31, NODES, features));
        let (context, prior) = (some(32, NODES, INPUTS), some(33, NODES, features));
        let inputs = [
            (&names.known, &is_known),
            (&names.values, &values),
            (&names.context, &context),
            (&names.offset, &prior),
        ];
        for (name, matrix) in inputs {
            session.write(name, &singles(matrix)).expect("an input");
        }
        let trees = some(34, NODES, features);
        if has_trees {
            session.write(&names.trees, &singles(&trees)).expect("an input");
        }

        let draws = |step: usize| -> Matrices {
            let record = |program: &Program| {
                let hidden = program.hidden_cells(NODES, &cells, HIDDEN_SHARE, HIDDEN_ROWS);
                program.output("hidden", hidden);
                program.output("mask", program.constant([NODES, WIDTH], 1.0).dropout(0.1));
            };
            drawn(TRAINING, step, record, &[("hidden", features), ("mask", WIDTH)])
        };
        let draws: Vec<Matrices> = (0..3).map(draws).collect();
        let columns = |name: &str| match name {
            "features.weight" | "features.bias" | OFFSET_SCALE | TREES_SCALE => features,
            "labels.weight" | "labels.bias" => 2,
            _ => WIDTH,
        };
        let updates = Updates {
            program: TRAINING,
            columns: &columns,
            is_learned: &|_| true,
            learning: Learning { decoupled_decay: 1e-3, ..Learning::rate(f64::from(RATE)) },
        };
        updates.check(&mut session, |parameters, update| {
            let hidden = &draws[update]["hidden"];
            let shown = is_known.zip(hidden, |known, hidden| known * (1.0 - hidden));
            let first = values
                .times(&shown)
                .product(&parameters["values.weight"])
                .plus(&shown.product(&parameters["shown.weight"]))
                .plus(&context.product(&parameters["context.weight"]))
                .plus_row(&parameters["first.bias"]);
            let first = relu(&first).times(&draws[update]["mask"]);
            let latent = relu(&linear(parameters, "second", &first));
            let scaled = |matrix: &Dense, scale: &str| {
                let scale = &parameters[scale];
                Dense::new(NODES, features, |i, k| matrix.at(i, k) * scale.at(0, k))
            };
            let mut scores = linear(parameters, "features", &latent);
            scores = scores.plus(&scaled(&prior, OFFSET_SCALE));
            if has_trees {
                scores = scores.plus(&scaled(&trees, TREES_SCALE));
            }
            // The expected share of hidden cells: the loss is a mean over them.
            let share = f64::from(HIDDEN_ROWS + (1.0 - HIDDEN_ROWS) * HIDDEN_SHARE);
            let mut loss = table.weighted_loss(&scores, hidden) / share;
            if with_labels {
                let rows = gathered(&latent, &rows_of_labels);
                loss += label_table.loss(&linear(parameters, "labels", &rows));
            }
            loss
        });
    }
}

/// The cells of a table whose tags, the last four columns, are hidden together: one draw tells them all.
fn hidden_together(table: &Table) -> Vec<u32> {
    let mut cells = table.cells();
    let first = cells.len() - 4;
    let tag = cells[first];
    cells[first..].fill(tag);
    cells
}

/// The row network is judged on hidden cells alone: the loss of an update is the same whatever the
/// cells are that it was shown.
#[test]
fn the_row_network_is_not_judged_on_what_it_sees() {
    let (mut seen, mut judged) = (0, Vec::new());
    let loss = |table: &Table| {
        let cells = hidden_together(table);
        let features = table.columns();
        let (width, context) = (WIDTH, 1);
        let (hidden_rows, schedule) = (0.1, Schedule::Constant(RATE));
        let model = RowModel { width, context, has_trees: false, cells, hidden_rows, schedule };
        let names = Names::of(0);
        let rows = (0..NODES as u32).collect();
        let features_known = Observed { rows, likelihood: table.likelihood() };
        let known = Known { features: features_known, labels: None };
        let program = model.training(&names, &known, Batches::One);
        let plan = Plan::new(vec![program.expect("a program")]).expect("a plan");
        let mut session = crate::device::session(plan, SEED);
        Updates::disturb(&mut session);
        session.write(&names.known, &vec![1.0; NODES * features]).expect("an input");
        session.run(TRAINING).expect("an update");
        session.scalar(TRAINING, "loss").expect("a loss")
    };
    let table = Table::mixed(NODES, Kind::Multinomial);
    let record = |program: &Program| {
        program.output("hidden", program.hidden_cells(NODES, &hidden_together(&table), 0.25, 0.1));
    };
    let hidden = drawn(TRAINING, 0, record, &[("hidden", table.columns())]);
    let before = loss(&table);
    let tags = table.blocks.len() - 1;
    let first = table.columns() - 4;
    // Rows that have a tag before and after: the mean is over as many rows.
    for row in 1..NODES {
        for tag in (0..4).filter(|tag| hidden["hidden"].at(row, first + tag) == 0.0) {
            let mut other = table.clone();
            let cells = &mut other.blocks[tags].cells;
            let had_any = cells.row(row).contains(&1.0);
            cells.set(row, tag, 1.0 - cells.at(row, tag));
            if had_any && cells.row(row).contains(&1.0) {
                seen += 1;
                judged.extend((loss(&other) != before).then_some((row, tag)));
            }
        }
    }
    assert!(seen > 10, "{seen}");
    assert!(judged.is_empty(), "{} of {seen} shown cells are judged: {judged:?}", judged.len());
}

/// The prior's table: a number, a truth value, a category of three levels and four tags.
const ROWS: usize = 24;
const FEATURES: usize = 9;
const CELL_OF_FEATURE: [usize; FEATURES] = [0, 1, 2, 2, 2, 3, 4, 5, 6];
const CELLS: usize = 7;
const NUMBER: usize = 0;
const BOOLEAN: usize = 1;
const CATEGORY: std::ops::Range<usize> = 2..5;
const TAGS: std::ops::Range<usize> = 5..9;

/// The raw value of a feature.
fn value(row: usize, feature: usize) -> f64 {
    let is = |one: bool| f64::from(u8::from(one));
    match feature {
        NUMBER => 3.0 + f64::from(numbers(91, ROWS)[row]) + 0.1 * row as f64,
        BOOLEAN => is((row / 4 + row % 3) % 2 == 0),
        2..5 => is((row / 5 + row % 2) % 3 == feature - 2),
        _ => is((row / 3 + (feature - 5) * (1 + row % 2)) % 3 == 0),
    }
}

/// Every sixth row is unknown, and the number and a tag of another sixth.
fn is_unknown(row: usize, cell: usize) -> bool {
    row % 6 == 5 || row % 6 == 4 && (cell == 0 || cell == 4)
}

fn unknown() -> CellMask {
    CellMask::build(ROWS, CELLS, |row, cells| {
        let unknown = (0..CELLS).filter(|&cell| is_unknown(row, cell));
        cells.extend(unknown.map(|cell| cell as u32));
    })
}

/// The table, with `by` added to the number of one row.
fn node_table(moved: Option<(usize, f64)>) -> NodeTable {
    let number = |row: usize| match moved {
        Some((other, by)) if other == row => value(row, NUMBER) + by,
        _ => value(row, NUMBER),
    };
    let all = || 0..ROWS;
    let numbers: Float64Array = all().map(|row| Some(number(row))).collect();
    let booleans: BooleanArray = all().map(|row| Some(value(row, BOOLEAN) == 1.0)).collect();
    let level = |row: usize| (0..3).find(|level| value(row, CATEGORY.start + level) == 1.0);
    let levels: StringArray =
        all().map(|row| level(row).map(|level| ["a", "b", "c"][level])).collect();
    let mut tags = BlockBuilder::new(TAGS.len(), BlockLayout::List);
    for row in all() {
        let ones = TAGS.filter(|&feature| value(row, feature) == 1.0);
        let mut cells: Vec<(u32, f64)> = ones.map(|f| ((f - TAGS.start) as u32, 1.0)).collect();
        tags.push_row(&mut cells);
    }
    let columns = vec![
        Column::new("number", ColumnKind::Number, Arc::new(numbers)),
        Column::new("boolean", ColumnKind::Boolean, Arc::new(booleans)),
        Column::new("category", ColumnKind::Category, Arc::new(levels)),
        Column::block("tags", tags.finish(CellMask::none(ROWS, TAGS.len()))),
    ];
    NodeTable::new(IdColumn::default(), NodeIds::numbered(ROWS), columns, None).expect("a table")
}

/// Known cells as propagation sees them: a standardised number, zeros and ones.
fn score(row: usize, feature: usize) -> f64 {
    if feature != NUMBER {
        return value(row, feature);
    }
    let known = (0..ROWS).filter(|&row| !is_unknown(row, 0)).map(|row| value(row, NUMBER));
    let known: Vec<f64> = known.collect();
    let mean = known.iter().sum::<f64>() / known.len() as f64;
    let variance = known.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / known.len() as f64;
    (value(row, NUMBER) - mean) / variance.sqrt()
}

fn is_known(row: usize, feature: usize) -> bool {
    !is_unknown(row, CELL_OF_FEATURE[feature])
}

/// The components of one feature where only some cells are known, nodes × 1 each:
///
///   arb       X ← α S X + (1 − α) · mean of X;  known cells ← β X + (1 − β) x
///   one hop   (A x + mean) / (A 1_known + 1)
///   two hops  (A A x + mean) / (A A 1_known + 1)
///   fields    (M + σ² Q)⁻¹ M x within the known values, Q = (L / d̄ + κ I)^ν
fn components_of(feature: usize, known: &dyn Fn(usize) -> bool) -> Vec<Dense> {
    let (a, s) = (adjacency(ROWS), normalised(&adjacency(ROWS)));
    let x = Dense::new(ROWS, 1, |row, _| if known(row) { score(row, feature) } else { 0.0 });
    let ones = Dense::new(ROWS, 1, |row, _| f64::from(u8::from(known(row))));
    let mean = x.column_sums().at(0, 0) / ones.column_sums().at(0, 0);
    let (alpha, beta, usual) =
        if TAGS.contains(&feature) { (0.98, 0.9, 10) } else { (1.0, 0.6, 14) };
    let arb = |rounds: usize| {
        (0..rounds).fold(x.clone(), |before, _| {
            let mean = before.column_sums().at(0, 0) / ROWS as f64;
            let passed = s.product(&before).map(|sum| alpha * sum + (1.0 - alpha) * mean);
            Dense::new(ROWS, 1, |row, _| match known(row) {
                true => beta * passed.at(row, 0) + (1.0 - beta) * x.at(row, 0),
                false => passed.at(row, 0),
            })
        })
    };
    let shrunk = |sums: &Dense, counts: &Dense| sums.zip(counts, |sum, k| (sum + mean) / (k + 1.0));
    let (sums, counts) = (a.product(&x), a.product(&ones));
    let two_hops = shrunk(&a.product(&sums), &a.product(&counts));
    let mut all = vec![arb(usual), arb(3), arb(30), shrunk(&sums, &counts), two_hops];
    let degrees = a.product(&Dense::new(ROWS, 1, |_, _| 1.0));
    let mean_degree = degrees.column_sums().at(0, 0) / ROWS as f64;
    for field in FIELDS {
        let factor = Dense::new(ROWS, ROWS, |i, k| {
            let own = degrees.at(i, 0) / mean_degree + f64::from(field.kappa);
            (if i == k { own } else { 0.0 }) - a.at(i, k) / mean_degree
        });
        let precision = (1..field.smoothness).fold(factor.clone(), |q, _| q.product(&factor));
        let seen = Dense::new(ROWS, ROWS, |i, k| f64::from(u8::from(i == k && known(i))));
        let system = precision.scaled(f64::from(field.noise)).plus(&seen);
        // Within the known values, and the mean.
        let known = (0..ROWS).map(|row| x.at(row, 0));
        let (low, high) = known.fold((0.0f64, 0.0f64), |(low, high), x| (low.min(x), high.max(x)));
        let estimates = system.log_determinant_and_inverse().1.product(&x);
        all.push(estimates.map(|estimate| estimate.clamp(low, high)));
    }
    all
}

/// The components of all cells, nodes × features each. A known cell has those of a run in which its
/// fold's rows are hidden: known rows are shuffled and dealt to ten folds.
fn components() -> Vec<Dense> {
    let seen: Vec<u32> = (0..ROWS as u32).filter(|row| row % 6 != 5).collect();
    let order = splits::shuffled(&seen, 0);
    let fold = |row: usize| order.iter().position(|&other| other as usize == row).map(|at| at % 10);
    let mut all = vec![Dense::new(ROWS, FEATURES, |_, _| f64::NAN); NUMBER_WAYS];
    for feature in 0..FEATURES {
        let mut take = |hidden: Option<usize>| {
            let known =
                |row: usize| is_known(row, feature) && (hidden.is_none() || fold(row) != hidden);
            let found = components_of(feature, &known);
            for row in 0..ROWS {
                let own = if is_known(row, feature) { fold(row) } else { None };
                if own == hidden {
                    let pairs = all.iter_mut().zip(&found);
                    pairs.for_each(|(all, found)| all.set(row, feature, found.at(row, 0)));
                }
            }
        };
        take(None);
        (0..10).for_each(|fold| take(Some(fold)));
    }
    all
}

fn largest_difference(found: impl Fn(usize, usize) -> f64, expected: &Dense) -> f64 {
    let mut largest: f64 = 0.0;
    for row in 0..expected.rows {
        for column in 0..expected.columns {
            let off = (found(row, column) - expected.at(row, column)).abs();
            // Not `max`, which would pass over NaN.
            largest = if off <= largest { largest } else { off };
        }
    }
    largest
}

/// arb with the usual, few and many rounds, one hop, two hops; of known cells (folds of several rows),
/// of holes and of unknown rows; of numbers and of what is 0 or 1.
#[test]
fn components_follow_their_equations() {
    let (table, graph, unknown) = (node_table(None), graph(ROWS), unknown());
    let features = Features::of(&table);
    let context = crate::Context::default();
    let task = Task::new(&graph, &features, &unknown, &context);
    let likelihoods = Likelihoods::fit(&features, &unknown, LikelihoodOptions::PLAIN);
    let centres = ColumnMeans::of(&features, &unknown);
    let source = Source::new(&task, &unknown, &likelihoods, &centres.means, None);
    let expected = components();
    let mut compared = 0;
    for range in source.panels().iter() {
        let found = source.components(range.clone()).expect("components");
        for (part, expected) in expected.iter().take(found.parts.len()).enumerate() {
            let expected = Dense::new(ROWS, range.len(), |i, k| expected.at(i, range.start + k));
            let value = |row: usize, k: usize| found.value(part, row, range.start + k);
            let off = largest_difference(value, &expected);
            let most = if part < WAYS { 1e-5 } else { 1e-3 };
            assert!(off < most, "component {part} of {range:?} is off by {off}");
            compared += 1;
        }
    }
    assert_eq!(compared, WAYS + NUMBER_WAYS, "a panel of values and one of tags");
}

/// With the scale of the column as it was, another number changes what others are told and nothing of
/// its own components.
#[test]
fn a_known_number_has_no_part_in_its_own_components() {
    let (graph, unknown) = (graph(ROWS), unknown());
    let before_table = node_table(None);
    let before_features = Features::of(&before_table);
    let likelihoods = Likelihoods::fit(&before_features, &unknown, LikelihoodOptions::PLAIN);
    let centres = ColumnMeans::of(&before_features, &unknown);
    let components = |table: &NodeTable| -> Vec<[f64; NUMBER_WAYS]> {
        let features = Features::of(table);
        let context = crate::Context::default();
        let task = Task::new(&graph, &features, &unknown, &context);
        let source = Source::new(&task, &unknown, &likelihoods, &centres.means, None);
        let range = source.panels().iter().next().expect("a panel");
        let found = source.components(range).expect("components");
        (0..ROWS).map(|row| std::array::from_fn(|part| found.value(part, row, NUMBER))).collect()
    };
    let before = components(&before_table);
    for row in (0..ROWS).filter(|&row| is_known(row, NUMBER)) {
        let after = components(&node_table(Some((row, 2.5))));
        assert_eq!(before[row], after[row], "row {row} has seen its own number");
        assert_ne!(before, after, "others are told of row {row}");
    }
}

/// ln(1 + k) of the known neighbours of a node.
fn neighbours(row: usize) -> f64 {
    let a = adjacency(ROWS);
    let known = (0..ROWS).filter(|&other| a.at(row, other) == 1.0 && other % 6 != 5);
    (known.count() as f64).ln_1p()
}

/// w by least squares over some rows, held near a guess: (FᵀF/n + diag(pulls))⁻¹ (Fᵀx/n + pulls ∘ guess).
fn held_near(f: &Dense, x: &Dense, rows: &[u32], pulls: &[f64], guess: &[f64]) -> Dense {
    let (f, x) = (gathered(f, rows), gathered(x, rows));
    let share = 1.0 / rows.len().max(1) as f64;
    let terms = pulls.len();
    let diagonal =
        Dense::new(terms, terms, |row, column| if row == column { pulls[row] } else { 0.0 });
    let left = f.transposed().product(&f).scaled(share).plus(&diagonal);
    let held = Dense::new(terms, 1, |term, _| pulls[term] * guess[term]);
    let right = f.transposed().product(&x).scaled(share).plus(&held);
    left.log_determinant_and_inverse().1.product(&right)
}

/// Σ (f·w − x)² over some rows.
fn squared_error(f: &Dense, x: &Dense, rows: &[u32], w: &Dense) -> f64 {
    let off = gathered(f, rows).product(w).plus(&gathered(x, rows).scaled(-1.0));
    (0..rows.len()).map(|row| off.at(row, 0).powi(2)).sum()
}

/// o of the number: Σ_j (φ·w_j) P_j, with the guess, the pull and the use of φ that five folds of the rows
/// find best.
fn blended_number(components: &[Dense]) -> Vec<f64> {
    let all: Vec<f64> = (0..ROWS).map(neighbours).collect();
    let mean = all.iter().sum::<f64>() / ROWS as f64;
    let deviation = (all.iter().map(|k| (k - mean).powi(2)).sum::<f64>() / ROWS as f64).sqrt();
    let count = 3 * NUMBER_WAYS;
    let f = Dense::new(ROWS, count, |row, term| {
        let none = if all[row] == 0.0 { 1.0 } else { 0.0 };
        let context = [1.0, (all[row] - mean) / deviation, none];
        components[term / 3].at(row, NUMBER) * context[term % 3]
    });
    let x = Dense::new(ROWS, 1, |row, _| match is_known(row, NUMBER) {
        true => score(row, NUMBER),
        false => 0.0,
    });
    // Rows of which anything is known are dealt out to the folds in turn.
    let seen: Vec<usize> = (0..ROWS).filter(|row| row % 6 != 5).collect();
    let known = |inside: Option<usize>, outside: Option<usize>| -> Vec<u32> {
        let seen = seen.iter().enumerate().filter(|&(at, &row)| {
            is_known(row, NUMBER)
                && inside.is_none_or(|fold| at % 5 == fold)
                && outside.is_none_or(|fold| at % 5 != fold)
        });
        seen.map(|(_, &row)| row as u32).collect()
    };
    let pulls = |pull: f64, has_context: bool| -> Vec<f64> {
        let of = |term: usize| if term % 3 > 0 && !has_context { 1e6 } else { pull };
        (0..count).map(of).collect()
    };
    let alone = |part: usize| -> Vec<f64> {
        (0..count).map(|term| if term == part * 3 { 1.0 } else { 0.0 }).collect()
    };
    let guess = |kind: usize, rows: &[u32]| -> Vec<f64> {
        let error = |part: &usize| {
            let w = Dense::new(count, 1, |term, _| alone(*part)[term]);
            squared_error(&f, &x, rows, &w)
        };
        match kind {
            0 => alone(0),
            1 => {
                let parts = (0..NUMBER_WAYS).min_by(|a, b| error(a).total_cmp(&error(b)));
                alone(parts.expect("a component"))
            }
            2 => {
                let w = held_near(&f, &x, rows, &pulls(1e-3, false), &alone(0));
                (0..count).map(|term| w.at(term, 0)).collect()
            }
            _ => {
                let share = 1.0 / NUMBER_WAYS as f64;
                (0..count).map(|term| if term % 3 == 0 { share } else { 0.0 }).collect()
            }
        }
    };
    let mut best = (f64::INFINITY, 0, 0.0, false);
    for kind in 0..4 {
        for pull in [1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0] {
            for has_context in [false, true] {
                let error: f64 = (0..5)
                    .map(|fold| {
                        let rest = known(None, Some(fold));
                        let guess = guess(kind, &rest);
                        let w = held_near(&f, &x, &rest, &pulls(pull, has_context), &guess);
                        squared_error(&f, &x, &known(Some(fold), None), &w)
                    })
                    .sum();
                if error < best.0 {
                    best = (error, kind, pull, has_context);
                }
            }
        }
    }
    let rows = known(None, None);
    let w = held_near(&f, &x, &rows, &pulls(best.2, best.3), &guess(best.1, &rows));
    let blended = f.product(&w);
    (0..ROWS).map(|row| blended.at(row, 0)).collect()
}

/// The weights of a mixture by expectation maximisation; `likely[i][j]` is how likely component j
/// finds observation i, which weighs `weigh[i]`.
fn mixture(likely: &[Vec<f64>], weigh: &[f64]) -> Vec<f64> {
    let count = likely[0].len();
    let mut weights = vec![1.0 / count as f64; count];
    for _ in 0..60 {
        let mut next = vec![0.0; count];
        for (likely, weigh) in likely.iter().zip(weigh) {
            let joint: Vec<f64> = likely.iter().zip(&weights).map(|(p, w)| p * w).collect();
            let total: f64 = joint.iter().sum();
            next.iter_mut().zip(joint).for_each(|(next, joint)| *next += weigh * joint / total);
        }
        let total: f64 = next.iter().sum();
        weights = next.iter().map(|weight| weight / total).collect();
    }
    weights
}

const SMALL: f64 = 1e-4;

/// o of a group of zeros and ones: ln(c Σ_j w_j Q_j + ε), the last Q being that of all rows.
fn blended_shares(components: &[Dense], group: std::ops::Range<usize>, is_ranking: bool) -> Dense {
    let known: Vec<usize> =
        (0..ROWS).filter(|&row| group.clone().all(|feature| is_known(row, feature))).collect();
    let ones = |row: usize| -> Vec<usize> {
        group.clone().filter(|&feature| value(row, feature) == 1.0).collect()
    };
    let with_ones: Vec<usize> = known.iter().copied().filter(|&r| !ones(r).is_empty()).collect();
    let total: usize = with_ones.iter().map(|&row| ones(row).len()).sum();
    let mean_ones = if is_ranking { total as f64 / with_ones.len() as f64 } else { 1.0 };
    let overall = |feature: usize| -> f64 {
        let own = with_ones.iter().filter(|&&row| value(row, feature) == 1.0);
        let shares = own.map(|&row| 1.0 / ones(row).len() as f64);
        mean_ones * shares.sum::<f64>() / with_ones.len() as f64
    };
    // Q_j of a row.
    let q = |component: usize, row: usize, feature: usize| -> f64 {
        let p = |feature: usize| match components.get(component) {
            Some(values) => values.at(row, feature).max(0.0),
            None => overall(feature),
        };
        (p(feature) + SMALL) / group.clone().map(|other| p(other) + SMALL).sum::<f64>()
    };
    let (mut likely, mut weigh) = (Vec::new(), Vec::new());
    for &row in &with_ones {
        for &one in &ones(row) {
            likely.push((0..=WAYS).map(|component| q(component, row, one)).collect());
            weigh.push(1.0 / ones(row).len() as f64);
        }
    }
    let weights = mixture(&likely, &weigh);
    Dense::new(ROWS, group.len(), |row, k| {
        let terms = weights.iter().enumerate();
        let mixed: f64 = terms.map(|(j, weight)| weight * q(j, row, group.start + k)).sum();
        (mean_ones * mixed + SMALL).ln()
    })
}

/// o of the truth value: the log-odds of Σ_j w_j p_j.
fn blended_boolean(components: &[Dense]) -> Vec<f64> {
    let known: Vec<usize> = (0..ROWS).filter(|&row| is_known(row, BOOLEAN)).collect();
    let overall = known.iter().map(|&row| value(row, BOOLEAN)).sum::<f64>() / known.len() as f64;
    let p = |component: usize, row: usize| match components.get(component) {
        Some(values) => values.at(row, BOOLEAN),
        None => overall,
    };
    let likely: Vec<Vec<f64>> = known
        .iter()
        .map(|&row| {
            let of = |component: usize| {
                let share = p(component, row).clamp(SMALL, 1.0 - SMALL);
                if value(row, BOOLEAN) == 1.0 { share } else { 1.0 - share }
            };
            (0..=WAYS).map(of).collect()
        })
        .collect();
    let weights = mixture(&likely, &vec![1.0; likely.len()]);
    let log_odds = |row: usize| {
        let terms = weights.iter().enumerate();
        let share: f64 = terms.map(|(j, weight)| weight * p(j, row).clamp(0.0, 1.0)).sum();
        let share = share.clamp(SMALL, 1.0 - SMALL);
        (share / (1.0 - share)).ln()
    };
    (0..ROWS).map(log_odds).collect()
}

/// The blend of every kind of column, and what the network sees of it: U = unit(o − column means).
#[test]
fn the_prior_follows_its_equations() {
    let (table, graph, unknown) = (node_table(None), graph(ROWS), unknown());
    let features = Features::of(&table);
    let context = crate::Context::default();
    let task = Task::new(&graph, &features, &unknown, &context);
    let likelihoods = Likelihoods::fit(&features, &unknown, LikelihoodOptions::PLAIN);
    let prior =
        Prior::of(&task, &unknown, &likelihoods, Network::Graph, None, None).expect("a prior");
    let components = components();
    let (number, shares) = (blended_number(&components), &components[..WAYS]);
    let boolean = blended_boolean(shares);
    let category = blended_shares(shares, CATEGORY, false);
    let tags = blended_shares(shares, TAGS, true);
    let expected = Dense::new(ROWS, FEATURES, |row, feature| match feature {
        NUMBER => number[row],
        BOOLEAN => boolean[row],
        2..5 => category.at(row, feature - CATEGORY.start),
        _ => tags.at(row, feature - TAGS.start),
    });
    let found = |row: usize, feature: usize| f64::from(prior.scores[row * FEATURES + feature]);
    let off = largest_difference(found, &expected);
    assert!(off < 1e-3, "the prior is off by {off}");

    let Input::Prior(input, columns) = &prior.input else { panic!("U is expected") };
    assert_eq!(*columns, FEATURES, "a narrow table is not compressed");
    let means = expected.column_sums().scaled(-1.0 / ROWS as f64);
    let expected = unit(&expected.plus_row(&means));
    let off = largest_difference(|row, k| f64::from(input[row * FEATURES + k]), &expected);
    assert!(off < 1e-3, "U is off by {off}");
}
