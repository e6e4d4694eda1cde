//! Columns out of drawn values, and the plain columns of numbers.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array};

use super::GeneratorConfig;
use super::draws::normal;
use super::latents::{Latents, along, direction};
use crate::column::Column;
use crate::infer::typed_column;
use crate::kind::DeclaredKind;
use crate::random_stream::{self, Purpose};

/// How much of a number follows the latents, and how much is the node's own: squares add up to 1.
const SHARED: f64 = 0.8;
const OWN: f64 = 0.6;

/// A column of this kind, or unused where all its cells are the same.
pub(super) fn column(name: &str, kind: DeclaredKind, cells: ArrayRef) -> Column {
    typed_column(name, cells, Some(kind)).expect("drawn cells are of the kind they are drawn for")
}

/// `value` with so many decimals.
pub(super) fn rounded(value: f64, decimals: u32) -> f64 {
    let unit = f64::from(10u32.pow(decimals));
    (value * unit).round() / unit
}

/// `x1`, `x2`, …: each along a direction of its own, with its own mean and spread.
pub(super) fn numbers(config: &GeneratorConfig, count: usize, latents: &Latents) -> Vec<Column> {
    let mut random = random_stream::open(config.seed, Purpose::Columns);
    let column_of = |number: usize| {
        let towards = direction(&mut random);
        let length = along(&towards, &towards).sqrt().max(1e-6);
        let mean = 5.0 * normal(&mut random);
        let spread = 0.5 + normal(&mut random).abs();
        let cells = latents.iter().map(|latent| {
            let shared = along(&towards, &latent) / length;
            let value = mean + spread * (SHARED * shared + OWN * normal(&mut random));
            rounded(value, 3)
        });
        let cells = Float64Array::from_iter_values(cells);
        column(&format!("x{number}"), DeclaredKind::Number, Arc::new(cells))
    };
    (1..=count).map(column_of).collect()
}
