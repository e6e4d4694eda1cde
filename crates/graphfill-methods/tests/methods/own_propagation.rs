//! A propagation method of another crate: it is not in the registry, and works like those that are.

use graphfill_methods::features::Features;
use graphfill_methods::fill::validation_sets;
use graphfill_methods::propagation::{Each, Loaded, Propagation, Purpose, ROUNDS};
use graphfill_methods::{
    Allowed, Context, MethodInfo, Parameters, Registry, Result, Task, parameters,
};

use crate::support::{Dense, town};

parameters! {
    /// x ← (x + A x) / (1 + degree), known cells left as they are.
    pub struct LazyMean {
        /// how often
        rounds: Option<usize> = None, Allowed::Whole { min: 1.0, max: 9.0 }, default "by validation";
    }
}

impl Propagation for LazyMean {
    fn info(&self) -> &'static MethodInfo {
        &MethodInfo {
            name: "lazy-mean",
            title: "Lazy mean",
            about: "The mean of a node and its neighbours.",
            reference: "",
            edges: "takes edges as undirected; edge weights count",
            parameters: LazyMean::PARAMETERS,
        }
    }

    fn default(&self, _: Purpose, _: &Parameters) -> Parameters {
        Parameters::default().with(ROUNDS, 2.0)
    }

    fn max_rounds(&self) -> usize {
        4
    }

    fn run(
        &self,
        loaded: &Loaded<'_>,
        _: &Parameters,
        rounds: &[usize],
        each: &mut Each<'_>,
    ) -> Result<()> {
        let (panel, graph) = (loaded.panel, loaded.operators.graph());
        let mut values = panel.values.clone();
        for round in 1..=rounds.last().copied().unwrap_or(0) {
            let sums = loaded.operators.adjacency_product(&values, panel.width)?;
            for (node, (row, sums)) in
                values.chunks_mut(panel.width).zip(sums.chunks(panel.width)).enumerate()
            {
                let weight = 1.0 + graph.degree(node) as f32;
                for (column, (value, sum)) in row.iter_mut().zip(sums).enumerate() {
                    if panel.known[node] >> column & 1 == 0 {
                        *value = (*value + sum) / weight;
                    }
                }
            }
            if rounds.contains(&round) {
                each(round, &values);
            }
        }
        Ok(())
    }
}

#[test]
fn a_method_of_another_crate_fits_and_estimates() {
    let registry = Registry::with_defaults();
    assert!(registry.find("lazy-mean").is_err(), "it is not in the registry");
    let method = registry.register(LazyMean::new()).find("lazy-mean").expect("now it is");
    let dataset = town(3);
    let graph = dataset.graph.undirected();
    let features = Features::of(&dataset.table);
    let unknown = features.missing();
    let validation = validation_sets(&features, &unknown, 3);
    let context = Context::default();
    let task = Task { validation: &validation, ..Task::new(&graph, &features, &unknown, &context) };
    let fitted = method.fit_task(&task).expect("fitted");
    assert!(fitted.choices().iter().all(|choice| choice.method == "lazy-mean"));
    assert!(fitted.choices().iter().any(|choice| choice.validation.is_some()));
    let width = features.width();
    let mut dense = Dense { width, values: vec![f64::NAN; features.rows() * width] };
    fitted.estimate(&task, &mut dense).expect("estimated");
    for row in 0..features.rows() {
        for group in features.groups() {
            for feature in group.features.clone() {
                if unknown.contains(row, group.cell_of(feature)) {
                    assert!(dense.values[row * width + feature].is_finite());
                }
            }
        }
    }
}
