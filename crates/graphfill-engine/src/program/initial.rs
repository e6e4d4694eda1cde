//! What a parameter holds before the first step.

use crate::Shape;
use crate::random::{Key, normals, uniforms};

/// The distribution of a parameter's first values.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Initial {
    /// The same number everywhere.
    Constant(f32),
    /// Uniform within ±√(6 / (rows + columns)).
    Glorot,
    /// Uniform within ± this.
    Uniform(f32),
    /// Normal with mean 0 and this standard deviation.
    Normal(f32),
}

impl Initial {
    /// Zeros.
    pub const ZEROS: Initial = Initial::Constant(0.0);

    /// What fingerprints of programs know of it.
    pub(crate) fn identity(self) -> String {
        match self {
            Initial::Constant(value) => format!("constant {value}"),
            Initial::Glorot => "glorot".to_owned(),
            Initial::Uniform(bound) => format!("uniform {bound}"),
            Initial::Normal(deviation) => format!("normal {deviation}"),
        }
    }

    /// Draws the values of the buffer `name`: they depend on the seed and the name alone.
    pub(crate) fn draw(self, seed: u64, name: &str, shape: Shape) -> Vec<f32> {
        let mut values = vec![0.0; shape.len()];
        let key = Key::of_initial(seed, name);
        let uniform = |values: &mut [f32], bound: f32| {
            uniforms(key, values);
            values.iter_mut().for_each(|value| *value = (2.0 * *value - 1.0) * bound);
        };
        match self {
            Initial::Constant(value) => values.fill(value),
            Initial::Glorot => {
                let both = (shape.rows + shape.columns) as f32;
                uniform(&mut values, (6.0 / both).sqrt());
            }
            Initial::Uniform(bound) => uniform(&mut values, bound),
            Initial::Normal(deviation) => {
                normals(key, 0, &mut values);
                values.iter_mut().for_each(|value| *value *= deviation);
            }
        }
        values
    }
}
