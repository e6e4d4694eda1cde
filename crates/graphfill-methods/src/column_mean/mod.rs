//! The mean of each column: what a method must beat to be worth running.
//!
//!   x̂_i = mean of the known x_j, whatever the graph

use crate::error::Result;
use crate::method::{DeviceUse, MethodInfo};
use crate::parameters;
use crate::parameters::Parameters;
use crate::propagation::{Each, Loaded, Propagation};

parameters! {
    /// Column mean; the most frequent level of a category.
    pub struct ColumnMean {}
}

impl Propagation for ColumnMean {
    fn info(&self) -> &'static MethodInfo {
        &MethodInfo {
            name: "column-mean",
            title: "Column mean",
            about: "The mean of each column (the most frequent level of a category); ignores the graph.",
            reference: "",
            edges: "uses no edges",
            parameters: ColumnMean::PARAMETERS,
        }
    }

    fn device_use(&self) -> DeviceUse {
        DeviceUse::Ignored
    }

    fn run(
        &self,
        loaded: &Loaded<'_>,
        _parameters: &Parameters,
        _rounds: &[usize],
        each: &mut Each<'_>,
    ) -> Result<()> {
        let panel = loaded.panel;
        let means = panel.known_means();
        let rows = panel.known.len();
        let values: Vec<f32> = means.iter().copied().cycle().take(rows * panel.width).collect();
        each(1, &values);
        Ok(())
    }
}
