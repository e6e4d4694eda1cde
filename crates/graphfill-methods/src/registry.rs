//! The list of methods: one line each.

use graphfill_data::did_you_mean;

use crate::arb::Arb;
use crate::arwmf::Arwmf;
use crate::auto::Auto;
use crate::column_mean::ColumnMean;
use crate::error::{MethodError, Result};
use crate::feature_propagation::FeaturePropagation;
use crate::gnn::{Gnn, GraphNetwork};
use crate::grape::Grape;
use crate::graph_rna::GraphRna;
use crate::method::Method;
use crate::neighbour_mean::NeighbourMean;
use crate::parameters::FixedParameters;
use crate::pcfi::Pcfi;
use crate::propagation::Propagation;
use crate::sat::Sat;
use crate::svga::{Svga, SvgaR, SvgaU};
use crate::svga_p::SvgaP;
use crate::vae::Vae;

/// The propagation methods, simplest first.
const PROPAGATIONS: [&dyn Propagation; 5] =
    [&ColumnMean, &NeighbourMean, &FeaturePropagation, &Arb, &Pcfi];

/// Every method, simplest first.
pub fn all() -> Vec<&'static dyn Method> {
    vec![
        &ColumnMean,
        &NeighbourMean,
        &FeaturePropagation,
        &Arb,
        &Pcfi,
        &Vae,
        &GraphNetwork::Gcn,
        &GraphNetwork::Sage,
        &GraphNetwork::Gat,
        &Gnn,
        &GraphRna,
        &Arwmf,
        &Sat,
        &Grape,
        &SvgaR,
        &SvgaU,
        &Svga,
        &SvgaP,
        &Auto,
    ]
}

/// The propagation methods, simplest first.
pub(crate) fn propagations() -> [&'static dyn Method; 5] {
    [&ColumnMean, &NeighbourMean, &FeaturePropagation, &Arb, &Pcfi]
}

/// The methods that are worth comparing on any table: the propagation methods and the one that learns
/// quickly.
pub fn usual() -> Vec<&'static dyn Method> {
    let mut usual = propagations().to_vec();
    usual.push(&SvgaP);
    usual
}

/// The method of that name.
pub fn find(name: &str) -> Result<&'static dyn Method> {
    let found = all().into_iter().find(|method| method.info().name == name);
    found.ok_or_else(|| unknown(name))
}

pub(crate) fn propagation(name: &str) -> Result<&'static dyn Propagation> {
    let found = PROPAGATIONS.into_iter().find(|method| method.info().name == name);
    found.ok_or_else(|| unknown(name))
}

fn unknown(name: &str) -> MethodError {
    let known: Vec<&str> = all().iter().map(|method| method.info().name).collect();
    let closest = did_you_mean(name, known.iter().copied()).map(str::to_owned);
    MethodError::UnknownMethod { name: name.to_owned(), known: known.join(", "), closest }
}

/// Fails if a fixed parameter belongs to no method, or is out of its range.
pub fn check_parameters(fixed: &FixedParameters) -> Result<()> {
    for name in fixed.methods() {
        let info = find(name)?.info();
        fixed.of(name).check(name, info.parameters)?;
    }
    Ok(())
}
