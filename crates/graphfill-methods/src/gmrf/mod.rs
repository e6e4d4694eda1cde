//! GMRF regression: known values are noisy observations of a Gaussian Markov random field over the graph.
//!
//!   z ~ N(0, Q⁻¹),  Q = (L / d̄ + κ I)^ν      L = D − A, d̄ the mean degree     nodes × nodes
//!   x = z + noise of variance σ²             in the known cells
//!   ẑ = (M + σ² Q)⁻¹ M x                     M = 1 in known cells, 0 elsewhere
//!
//! It is SVGA's prior on the values themselves, as kriging has it on maps: ν says how smooth the field is,
//! 1/√κ how far values reach, σ² how much of a value is its own. All three are chosen by validation, for
//! every group of columns. The mean of a column is subtracted before.
//!
//! The system is solved by conjugate gradients, for all columns of a panel at the same time.

mod solver;

use crate::error::Result;
use crate::method::{DeviceUse, MethodInfo};
use crate::parameters;
use crate::parameters::{Allowed, Parameters};
use crate::propagation::{Each, Loaded, Propagation, Purpose};

pub(crate) use solver::{Field, solve};

const SMOOTHNESS: &str = "nu";
const KAPPA: &str = "kappa";
const NOISE: &str = "noise";

/// ν, κ^ν and σ² worth comparing. The same κ would let smooth fields run free where few cells are known.
const GRID: ([f64; 3], [f64; 4], [f64; 3]) =
    ([1.0, 2.0, 3.0], [0.001, 0.01, 0.1, 1.0], [0.03, 0.3, 3.0]);
/// The residual of the solution. With 1e-3, errors on climate are 2% larger.
const TOLERANCE: f64 = 1e-5;
/// ν, κ and σ² where nothing can be compared.
const DEFAULT: Field = Field { smoothness: 1, kappa: 0.1, noise: 0.3 };

parameters! {
    /// Regression on a Gaussian Markov random field.
    pub struct Gmrf {
        /// ν, smoothness of the field
        nu: Option<usize> = None, Allowed::Whole { min: 1.0, max: 8.0 }, default "1 to 3 by validation, else 1";
        /// κ, pull of every value towards the column's mean
        kappa: Option<f64> = None, Allowed::Number { min: 0.0001, max: 1000.0 }, default "by validation, else 0.1";
        /// σ², variance of what is a value's own
        noise: Option<f64> = None, Allowed::Number { min: 0.0001, max: 1000.0 }, default "by validation, else 0.3";
    }
}

impl Propagation for Gmrf {
    fn info(&self) -> &'static MethodInfo {
        &MethodInfo {
            name: "gmrf",
            title: "GMRF regression",
            about: "Known values as noisy observations of a Gaussian Markov random field over the graph, as in kriging.",
            reference: "Rue and Held, Gaussian Markov Random Fields, 2005",
            edges: "takes edges as undirected; edge weights count",
            parameters: Gmrf::PARAMETERS,
        }
    }

    fn settings(&self, _purpose: Purpose, fixed: &Parameters) -> Vec<Parameters> {
        let open = |name: &str, grid: &[f64]| match fixed.get(name) {
            Some(value) => vec![value],
            None => grid.to_vec(),
        };
        let noises = open(NOISE, &GRID.2);
        let mut settings = Vec::new();
        for nu in open(SMOOTHNESS, &GRID.0) {
            let kappas = GRID.1.map(|pull| (pull.powf(1.0 / nu) * 1000.0).round() / 1000.0);
            for &kappa in &open(KAPPA, &kappas) {
                for &noise in &noises {
                    let setting = Parameters::default().with(SMOOTHNESS, nu).with(KAPPA, kappa);
                    settings.push(setting.with(NOISE, noise));
                }
            }
        }
        settings
    }

    fn default(&self, _purpose: Purpose, fixed: &Parameters) -> Parameters {
        let given = |name: &str, value: f64| fixed.get(name).unwrap_or(value);
        Parameters::default()
            .with(SMOOTHNESS, given(SMOOTHNESS, DEFAULT.smoothness as f64))
            .with(KAPPA, given(KAPPA, f64::from(DEFAULT.kappa)))
            .with(NOISE, given(NOISE, f64::from(DEFAULT.noise)))
    }

    fn device_use(&self) -> DeviceUse {
        DeviceUse::Ignored
    }

    fn run(
        &self,
        loaded: &Loaded<'_>,
        parameters: &Parameters,
        rounds: &[usize],
        each: &mut Each<'_>,
    ) -> Result<()> {
        let field = Field {
            smoothness: parameters.get(SMOOTHNESS).map_or(DEFAULT.smoothness, |nu| nu as usize),
            kappa: parameters.get(KAPPA).map_or(DEFAULT.kappa, |kappa| kappa as f32),
            noise: parameters.get(NOISE).map_or(DEFAULT.noise, |noise| noise as f32),
        };
        let estimates = solve(loaded.operators, loaded.panel, field, TOLERANCE);
        rounds.iter().for_each(|&round| each(round, &estimates));
        Ok(())
    }
}
