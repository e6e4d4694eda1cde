//! The paper's experiments: which cells they have, running them, and the paper's own figures.
//!
//! An [`Experiment`] is a grid of [`Cell`]s: data sets × methods × seeds. [`run`] runs the cells that a
//! folder of [`Cells`] does not have yet, several at a time.

mod cell;
mod cells;
mod grid;
pub mod published;
mod subject;
mod work;

pub use cell::{Cell, Failure, Outcome, Work};
pub use cells::Cells;
pub use grid::{GridOptions, GridState, Ran, Watcher, run};
pub use subject::Subject;

use graphfill_methods::{LabelUse, Method, Result, registry};

/// An experiment of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Experiment {
    /// Table 2: recall and nDCG on binary tables.
    Table2,
    /// Table 3: RMSE and R² on continuous tables.
    Table3,
    /// Table 4: accuracy of classifiers on estimated features.
    Table4,
    /// Scores against the share of labels that are shown.
    Labels,
    /// Times against the number of edges.
    Scaling,
    /// Curves of SVGA and of what is left without its parts.
    Ablation,
}

/// How much is done for one data set and method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extent {
    /// The seeds.
    pub seeds: Vec<u64>,
    /// The most updates of one model, where they are limited.
    pub most_updates: Option<u64>,
}

/// Methods that no table compares unless asked for: parts of others, variants, and those for single
/// cells.
const ON_REQUEST: [&str; 7] = ["gcn", "sage", "gat", "svga-r", "svga-u", "grape", "auto"];

/// The shares of nodes whose labels are shown.
const LABEL_SHARES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

impl Experiment {
    /// All of them, in the order of the paper.
    pub const ALL: [Experiment; 6] = [
        Experiment::Table2,
        Experiment::Table3,
        Experiment::Table4,
        Experiment::Labels,
        Experiment::Scaling,
        Experiment::Ablation,
    ];

    /// Its name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Experiment::Table2 => "table2",
            Experiment::Table3 => "table3",
            Experiment::Table4 => "table4",
            Experiment::Labels => "labels",
            Experiment::Scaling => "scaling",
            Experiment::Ablation => "ablation",
        }
    }

    /// The data sets of the paper's experiment.
    pub fn datasets(self) -> &'static [&'static str] {
        match self {
            Experiment::Table2 => &published::RANKED,
            Experiment::Table3 => &published::CONTINUOUS,
            Experiment::Table4 => &published::CLASSIFIED,
            Experiment::Labels => &["cora", "computers"],
            Experiment::Scaling => &["photo", "computers", "steam", "coauthor", "arxiv"],
            Experiment::Ablation => &["cora"],
        }
    }

    /// The methods that take part, those of the paper first and in its order.
    pub fn methods(self) -> Result<Vec<&'static dyn Method>> {
        match self {
            Experiment::Labels => ["svga", "sat"].into_iter().map(registry::find).collect(),
            Experiment::Scaling => Ok(vec![registry::find("svga")?]),
            Experiment::Ablation => {
                ["svga", "svga-r", "svga-u"].into_iter().map(registry::find).collect()
            }
            _ => {
                let place = |method: &&dyn Method| {
                    let name = method.info().name;
                    let place = published::METHODS.iter().position(|known| *known == name);
                    place.unwrap_or(published::METHODS.len())
                };
                let mut methods: Vec<&'static dyn Method> = registry::all()
                    .into_iter()
                    .filter(|method| !ON_REQUEST.contains(&method.info().name))
                    .collect();
                methods.sort_by_key(place);
                Ok(methods)
            }
        }
    }

    /// Its cells, where `extent` says how much is done for a data set and a method.
    pub fn cells(
        self,
        subjects: &[Subject],
        methods: &[&'static dyn Method],
        extent: &dyn Fn(&Subject, &dyn Method) -> Extent,
    ) -> Vec<Cell> {
        let mut cells = Vec::new();
        for (subject, about) in subjects.iter().enumerate() {
            for &method in methods {
                let Extent { mut seeds, most_updates } = extent(about, method);
                if self == Experiment::Scaling {
                    // Repetitions are part of a cell.
                    seeds.truncate(1);
                }
                for (turn, &seed) in seeds.iter().enumerate() {
                    for work in self.works(method, about) {
                        cells.push((turn, Cell { subject, method, seed, work, most_updates }));
                    }
                }
            }
        }
        // Every method's first seed before any second one: a table is there early.
        cells.sort_by_key(|(turn, _)| *turn);
        cells.into_iter().map(|(_, cell)| cell).collect()
    }

    fn works(self, method: &dyn Method, subject: &Subject) -> Vec<Work> {
        match self {
            Experiment::Table2 | Experiment::Table3 => vec![Work::Estimation { labels: 0.0 }],
            Experiment::Table4 | Experiment::Labels if !subject.has_labels() => Vec::new(),
            Experiment::Table4 => vec![Work::Classification],
            Experiment::Labels if method.label_use() == LabelUse::Learnt => {
                LABEL_SHARES.map(|labels| Work::Estimation { labels }).to_vec()
            }
            Experiment::Labels => vec![Work::Estimation { labels: 0.0 }],
            Experiment::Scaling => vec![Work::Timing],
            Experiment::Ablation => vec![Work::Curves],
        }
    }
}
