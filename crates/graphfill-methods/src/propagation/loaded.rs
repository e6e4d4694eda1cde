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
    /// Which list of rows is looked at, of those that the matrices were told; without one, all rows.
    pub(super) look: Option<usize>,
    /// What tells it from other panels that were loaded.
    pub(super) number: u64,
}

impl<'a> Loaded<'a> {
    /// The same, of which only the rows of a list are looked at; see [`Operators::looking_at`].
    #[must_use]
    pub fn looked_at(self, list: usize) -> Self {
        Loaded { look: Some(list), ..self }
    }

    /// The programs that run rounds on a device, unless rounds are run on the processor.
    pub(crate) fn programs(&self) -> Option<&'a Programs<'a>> {
        self.operators.programs()
    }
}
