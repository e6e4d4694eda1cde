//! A panel in front of the matrices that it is multiplied with.

use super::Operators;
use super::programs::Programs;
use crate::features::Panel;

/// What a propagation method works on.
pub struct Loaded<'a> {
    /// The matrices.
    pub operators: &'a Operators<'a>,
    /// The panel.
    pub panel: &'a Panel,
    /// Which subset of rows is read back, of those that the matrices know; without one, all rows.
    pub(super) rows: Option<usize>,
    /// What tells it from other panels that were loaded.
    pub(super) number: u64,
}

impl<'a> Loaded<'a> {
    /// The same, of which only a subset of rows is read; see [`Operators::with_row_subsets`].
    #[must_use]
    pub fn with_rows(self, subset: usize) -> Self {
        Loaded { rows: Some(subset), ..self }
    }

    /// The same panel, of which all rows are read.
    pub(crate) fn with_all_rows(&self) -> Self {
        Loaded { rows: None, ..*self }
    }

    /// The programs that run rounds on a device, unless rounds are run on the CPU.
    pub(crate) fn programs(&self) -> Option<&'a Programs<'a>> {
        self.operators.programs()
    }
}
