//! GRAPE's program against its equations in double precision; see the [module](super).

use std::sync::Arc;

use arrow_array::{BooleanArray, Float64Array, StringArray};
use graphfill_data::{CellMask, Column, IdColumn, Kind as ColumnKind, NodeIds, NodeTable};
use graphfill_engine::{Plan, Program};

use super::edges::Edges;
use super::model::{BASE, Model, UNIT_VECTORS, VALUES};
use crate::features::Features;
use crate::learning::{BinaryLoss, LikelihoodOptions, Likelihoods, Observed};
use crate::reference::{
    Block, Dense, Kind, Learning, Matrices, SEED, Table, Updates, drawn, gathered, linear, numbers,
    relu, singles,
};
use crate::svga::TRAINING;

const ROWS: usize = 8;
const WIDTH: usize = 4;
const DEPTH: usize = 2;
const SHARE: f32 = 0.4;
/// The cell of each feature: a number, a truth value, a category of three levels.
const CELLS: [u32; 5] = [0, 1, 2, 2, 2];
const FEATURES: usize = CELLS.len();
/// Nothing is known of row 6.
const OBSERVED: [u32; 7] = [0, 1, 2, 3, 4, 5, 7];

fn height(row: usize) -> f64 {
    [1.7, 1.5, 2.1, 1.9, 1.2, 1.6, 9.0, 1.4][row]
}

fn is_keen(row: usize) -> bool {
    row % 3 != 1
}

fn level(row: usize) -> usize {
    row % 3
}

fn is_unknown(row: usize, cell: u32) -> bool {
    row == 6 || (row, cell) == (2, 0) || (row, cell) == (4, 1) || (row, cell) == (5, 2)
}

fn node_table() -> NodeTable {
    let all = || 0..ROWS;
    let heights: Float64Array = all().map(|row| Some(height(row))).collect();
    let keen: BooleanArray = all().map(|row| Some(is_keen(row))).collect();
    let colours: StringArray =
        all().map(|row| Some(["blue", "green", "red"][level(row)])).collect();
    let columns = vec![
        Column::new("height", ColumnKind::Number, Arc::new(heights)),
        Column::new("keen", ColumnKind::Boolean, Arc::new(keen)),
        Column::new("colour", ColumnKind::Category, Arc::new(colours)),
    ];
    NodeTable::new(IdColumn::default(), NodeIds::numbered(ROWS), columns, None).expect("a table")
}

/// The score of each cell, NaN where unknown: standardised numbers, zeros and ones.
fn scores() -> Dense {
    let known: Vec<f64> = (0..ROWS).filter(|&row| !is_unknown(row, 0)).map(height).collect();
    let mean = known.iter().sum::<f64>() / known.len() as f64;
    let variance = known.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / known.len() as f64;
    let is_one = |one: bool| f64::from(u8::from(one));
    Dense::new(ROWS, FEATURES, |row, feature| match feature {
        _ if is_unknown(row, CELLS[feature]) => f64::NAN,
        0 => (height(row) - mean) / variance.sqrt(),
        1 => is_one(is_keen(row)),
        _ => is_one(level(row) == feature - 2),
    })
}

/// What is known of the observed rows; every column weighs the same.
fn table() -> Table {
    let scores = gathered(&scores(), &OBSERVED);
    let kinds = [(Kind::SquaredError, 0, 1), (Kind::Bernoulli, 1, 1), (Kind::Categorical, 2, 3)];
    let block = |(kind, first, width): (Kind, usize, usize)| Block {
        kind,
        weight: 1.0 / 3.0,
        cells: Dense::new(OBSERVED.len(), width, |row, k| scores.at(row, first + k)),
    };
    Table { blocks: kinds.map(block).into() }
}

/// Scores of all cells, rows × features, where only some known cells send messages.
fn predicted(parameters: &Matrices, base: &Dense, shown: &Dense) -> Dense {
    let scores = scores();
    let known: Vec<[usize; 2]> = (0..ROWS)
        .flat_map(|row| (0..FEATURES).map(move |feature| [row, feature]))
        .filter(|&[row, feature]| !scores.at(row, feature).is_nan())
        .collect();
    let mut cells = Dense::new(known.len(), 1, |cell, _| scores.at(known[cell][0], known[cell][1]));
    // Rows and features as nodes.
    let mut nodes =
        [Dense::new(ROWS, FEATURES, |_, _| 1.0 / FEATURES as f64), Dense::identity(FEATURES)];
    for layer in 0..DEPTH {
        let named = |part: &str| format!("layer.{layer}.{part}");
        let of_cells = linear(parameters, &named("message.cell"), &cells);
        let updated = [0, 1].map(|side| {
            let senders = nodes[1 - side].product(&parameters[&named("message.node")]);
            let count = nodes[side].rows;
            let mut means = Dense::new(count, WIDTH, |_, _| 0.0);
            for node in 0..count {
                let mut messages = 0.0;
                let mut sums = [0.0; WIDTH];
                for (cell, ends) in known.iter().enumerate() {
                    if ends[side] == node && shown.at(ends[0], ends[1]) == 1.0 {
                        messages += 1.0;
                        for (k, sum) in sums.iter_mut().enumerate() {
                            *sum += (senders.at(ends[1 - side], k) + of_cells.at(cell, k)).max(0.0);
                        }
                    }
                }
                let share = 1.0 / f64::sqrt(messages * messages + 0.01);
                sums.iter().enumerate().for_each(|(k, sum)| means.set(node, k, sum * share));
            }
            let common = means.column_sums().scaled(-1.0 / count as f64);
            let usual = (known.len() as f64 / count as f64).sqrt();
            let means = means.plus_row(&common).scaled(usual);
            let own = nodes[side].product(&parameters[&named("update.node")]);
            relu(&own.plus(&linear(parameters, &named("update.mean"), &means)))
        });
        nodes = updated;
        if layer + 1 < DEPTH {
            let own = linear(parameters, &named("cell.own"), &cells);
            let [of_rows, of_features] = [(0, "cell.row"), (1, "cell.feature")]
                .map(|(side, part)| nodes[side].product(&parameters[&named(part)]));
            cells = Dense::new(known.len(), WIDTH, |cell, k| {
                let [row, feature] = known[cell];
                (own.at(cell, k) + of_rows.at(row, k) + of_features.at(feature, k)).max(0.0)
            });
        }
    }
    let latent = relu(&linear(parameters, "rows.readout", &nodes[0]));
    let weight = nodes[1].product(&parameters["features.readout"]);
    let bias = nodes[1].product(&parameters["features.bias"]).plus(base);
    latent.product(&weight.transposed()).plus_row(&bias.transposed())
}

/// Messages both ways, two layers with updates of cells between them, hidden cells that send nothing
/// and are alone judged, a row without any cell, gradients shortened to length 1.
#[test]
fn updates_follow_the_equations() {
    let node_table = node_table();
    let features = Features::of(&node_table);
    let unknown = CellMask::build(ROWS, 3, |row, cells| {
        cells.extend((0..3).filter(|&cell| is_unknown(row, cell)));
    });
    let likelihoods = Likelihoods::fit(
        &features,
        &unknown,
        LikelihoodOptions { binary: BinaryLoss::BalancedBernoulli, ..LikelihoodOptions::PLAIN },
    );
    let edges = Edges::of(&features, &unknown, &likelihoods);
    let scores = scores();
    for (pair, &value) in edges.pairs.iter().zip(&edges.values) {
        let expected = scores.at(pair[0] as usize, pair[1] as usize);
        assert!((f64::from(value) - expected).abs() < 1e-6, "{pair:?}: {value}, not {expected}");
    }
    let known = Observed::features(&features, &unknown, &likelihoods);
    let known = known.expect("a likelihood");
    assert_eq!(known.rows, OBSERVED);

    let model = Model { width: WIDTH, depth: DEPTH, hidden_share: SHARE, learning_rate: 0.01 };
    let program = model.training(&edges, &CELLS, &known).expect("a program");
    let mut session = crate::device::session(Plan::new(vec![program]).expect("a plan"), SEED);
    Updates::disturb(&mut session);
    let base = Dense::of_singles(1, &numbers(77, FEATURES));
    session.write(VALUES, &edges.values).expect("an input");
    session.write(UNIT_VECTORS, &singles(&Dense::identity(FEATURES))).expect("an input");
    session.write(BASE, &singles(&base)).expect("an input");

    let draws: Vec<Dense> = (0..3)
        .map(|step| {
            let record = |program: &Program| {
                program.output("hidden", program.hidden_cells(ROWS, &CELLS, SHARE, 0.0));
            };
            drawn(TRAINING, step, record, &[("hidden", FEATURES)]).remove("hidden").expect("drawn")
        })
        .collect();
    let table = table();
    let updates = Updates {
        program: TRAINING,
        columns: &|name| if name == "features.bias" { 1 } else { WIDTH },
        is_learned: &|_| true,
        learning: Learning { clip: Some(1.0), ..Learning::rate(0.01) },
    };
    updates.check(&mut session, |parameters, update| {
        let hidden = &draws[update];
        let scores = predicted(parameters, &base, &hidden.map(|hidden| 1.0 - hidden));
        let weights = gathered(hidden, &OBSERVED);
        table.weighted_loss(&gathered(&scores, &OBSERVED), &weights) / f64::from(SHARE)
    });
}
