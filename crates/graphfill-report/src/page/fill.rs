//! The report page of `fill`: puts the sections together and sums them up in one paragraph.

use super::calibration::{self, pooled};
use super::card::{COLUMNS, MAX_DRAWN, PlotData};
use super::chosen;
use super::data::{ColumnPage, FillPage};
use super::document::{Document, paragraph, run_section};
use super::format::{count, counted, duration, level, name, percent, sentence};
use super::observed::better;
use super::plot::Plot;
use super::{distribution, draw, groups, missing, observed};

/// The size of a page from which on fewer cells are drawn.
const MAX_BYTES: usize = 1_900_000;
/// Cells per column: of the columns that are drawn, and of the others at first and at the least.
const MAX_CELLS: usize = 200;
const MIN_CELLS: usize = 8;

const LEGEND: &str = "<p class=\"legend\"><span><svg viewBox=\"0 0 16 16\" aria-hidden=\"true\"><path class=\"iv\" d=\"M8 1V15\"/><path class=\"dt big\" d=\"M8 8h0\"/></svg> estimate, and its interval</span><span><svg viewBox=\"0 0 16 16\" aria-hidden=\"true\"><path class=\"iv io\" d=\"M8 1V15\"/><path class=\"cr\" d=\"M5 5L11 11M5 11L11 5\"/></svg> its interval misses the observed value</span><span><svg viewBox=\"0 0 16 16\" aria-hidden=\"true\"><path class=\"dg\" d=\"M1 15L15 1\"/></svg> estimated = observed</span></p>\n";
const DENSITY_LEGEND: &str = "<p class=\"legend\"><span><svg viewBox=\"0 0 16 16\" aria-hidden=\"true\"><path class=\"ob\" d=\"M1 15V4H15V15z\"/></svg> observed</span><span><svg viewBox=\"0 0 16 16\" aria-hidden=\"true\"><path class=\"es\" d=\"M1 15V4H15V15z\"/></svg> estimated</span></p>\n";

impl FillPage {
    /// The page as HTML: one file that loads nothing, the same bytes for the same page.
    ///
    /// With many columns fewer cells per column are kept, so that 500 columns need less than 2 MB.
    pub fn to_html(&self) -> String {
        let mut max_cells = MAX_CELLS;
        loop {
            let html = self.to_html_with(max_cells);
            if html.len() <= MAX_BYTES || max_cells <= MIN_CELLS {
                return html;
            }
            max_cells = (max_cells * 2 / 3).max(MIN_CELLS);
        }
    }

    /// Observed against estimated values of the column with the most missing cells, as an SVG image that
    /// stands by itself; none where nothing was calibrated.
    pub fn first_plot(&self) -> Option<String> {
        let mut order: Vec<usize> = (0..self.columns.len()).collect();
        order.sort_by_key(|index| (std::cmp::Reverse(self.columns[*index].missing), *index));
        let plots = order.iter().filter_map(|&index| {
            observed::plot(index, &self.columns[index], self.nominal(), MAX_CELLS)
        });
        let plot = plots.into_iter().next()?;
        Some(draw::standalone(&plot.fitted()))
    }

    fn to_html_with(&self, max_cells: usize) -> String {
        // The columns with the most missing cells first, as a reader meets them.
        let mut order: Vec<usize> = (0..self.columns.len()).collect();
        order.sort_by_key(|index| (std::cmp::Reverse(self.columns[*index].missing), *index));
        let mut page = Document {
            title: if self.title.is_empty() { "Report".to_owned() } else { name(&self.title) },
            kind: "Estimated attributes",
            summary: self.summary(),
            warnings: self.warnings.iter().map(|warning| sentence(warning)).collect(),
            facts: self.facts(),
            ..Document::default()
        };
        let plots = &mut page.plots;
        let sections = [
            ("observed", "Observed against estimated", self.observed(&order, max_cells, plots)),
            ("missing", "What was missing", missing::section(self, plots)),
            ("distributions", "Distributions", self.distributions(&order, plots)),
            ("calibration", "Calibration", calibration::section(self, &order, plots)),
            ("groups", "Distance and degree", groups::section(self, plots)),
            ("methods", "Methods", chosen::section(self, &order, plots)),
            ("run", "This run", run_section(&self.run)),
        ];
        for (id, title, html) in sections {
            page.section(id, title, html);
        }
        page.to_html()
    }

    fn observed(&self, order: &[usize], max_cells: usize, plots: &mut PlotData) -> String {
        let drawn: Vec<Plot> = order
            .iter()
            .enumerate()
            .filter_map(|(position, &index)| {
                let max_cells = if position < MAX_DRAWN { MAX_CELLS } else { max_cells };
                observed::plot(index, &self.columns[index], self.nominal(), max_cells)
            })
            .collect();
        if self.columns.is_empty() {
            return String::new();
        }
        if drawn.is_empty() {
            let measured = self.columns.iter().any(|column| column.error.is_some());
            let errors = match measured {
                true => " The table of methods, below, has the errors that are known.",
                false => " Until then nothing is known about the error of the estimates.",
            };
            return format!(
                "<p class=\"none\"><strong>Not calibrated:</strong> run with intervals to compare \
                 estimates with the observed values of hidden cells.{errors}</p>\n"
            );
        }
        let bars = match self.nominal() {
            Some(nominal) => format!(
                "Bars are intervals that should hold the observed value in {} of cases.",
                level(nominal)
            ),
            None => {
                "Not calibrated: run with intervals to see bars around the estimates.".to_owned()
            }
        };
        let text = format!(
            "Some observed cells were hidden and estimated like missing ones. The nearer a point is to \
             the diagonal, the better the estimate. {bars}"
        );
        paragraph(&text) + LEGEND + &plots.grid("o", COLUMNS, &drawn)
    }

    fn distributions(&self, order: &[usize], plots: &mut PlotData) -> String {
        let drawn: Vec<Plot> = order
            .iter()
            .filter_map(|&index| distribution::plot(index, &self.columns[index]))
            .collect();
        if drawn.is_empty() {
            return String::new();
        }
        let text = "Estimates vary less than observed values: an estimate is the expected value, \
                    without the noise of a single node. A shift of the estimates may be right, where \
                    nodes with missing values differ from the others, or a sign of bias.";
        paragraph(text) + DENSITY_LEGEND + &plots.grid("d", COLUMNS, &drawn)
    }

    fn measured(&self) -> Vec<&ColumnPage> {
        self.columns.iter().filter(|column| !column.coverage.is_empty()).collect()
    }

    /// One paragraph for a reader with half a minute.
    fn summary(&self) -> String {
        let title = if self.title.is_empty() { "the table".to_owned() } else { name(&self.title) };
        if self.columns.is_empty() {
            return format!(
                "Nothing was estimated: no column of {title} has missing cells. The graph has {} and {}.",
                counted(self.nodes, "node"),
                counted(self.edges, "edge")
            );
        }
        let mut text = format!(
            "{} in {} of {} were estimated from {} and {}.",
            counted(self.estimated, "missing cell"),
            counted(self.columns.len(), "column"),
            title,
            counted(self.nodes, "node"),
            counted(self.edges, "edge")
        );
        let mut gains: Vec<f64> =
            self.columns.iter().filter_map(|column| column.error.as_ref()?.gain()).collect();
        gains.sort_by(f64::total_cmp);
        if let [gain] = gains[..] {
            text += &format!(" On hidden cells the estimates are {}.", better(gain));
        } else if !gains.is_empty() {
            let better = gains.iter().filter(|gain| **gain > 0.0).count();
            let median = gains[gains.len() / 2];
            text += &format!(
                " On hidden cells the estimates are better than the mean or most frequent level in {} \
                 of {}; in the median column they are {}.",
                count(better),
                counted(gains.len(), "measured column"),
                match median >= 0.0 {
                    true => format!("{} better", percent(median)),
                    false => format!("{} worse", percent(-median)),
                }
            );
        }
        let measured = self.measured();
        let overall = self.nominal().and_then(|nominal| {
            pooled(&measured).into_iter().find(|known| (known.nominal - nominal).abs() < 1e-9)
        });
        text += &match (self.nominal(), overall) {
            (Some(nominal), Some(real)) => format!(
                " Of {} intervals and sets with a nominal coverage of {}, {} hold the observed value.",
                count(real.cells),
                level(nominal),
                percent(real.real)
            ),
            _ => " No observed cells were hidden in this run, so nothing here shows how far estimates are off: that takes a run that trains, with intervals or a report."
                .to_owned(),
        };
        text
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = vec![
            ("nodes", count(self.nodes)),
            ("edges", count(self.edges)),
            ("columns", count(self.columns.len())),
            ("cells estimated", count(self.estimated)),
        ];
        if let Some(nominal) = self.nominal() {
            let real = pooled(&self.measured());
            let real = real.iter().find(|known| (known.nominal - nominal).abs() < 1e-9);
            if let Some(real) = real {
                facts.push((
                    "real coverage",
                    format!("{} (nominal {})", percent(real.real), level(nominal)),
                ));
            }
        }
        facts.push(("time", duration(self.run.seconds)));
        facts
    }
}
