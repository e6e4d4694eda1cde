//! Tables of more than 300 features that have a wide block beside other columns: an embedding or words, and
//! some numbers or categories with missing cells of their own.
//!
//! A row's Gaussian over all of them would be too large, and propagation alone would know nothing of the row.
//! So there are two models:
//!
//! - **the rest** of the table, with a [summary](super::summary) of each wide block as further evidence;
//! - **the blocks**, as in any table of that width. It is not trained where no cell of a block is missing.
//!
//! A checkpoint keeps the blocks' model, which takes long; the other one is trained again on going on.

use graphfill_data::CellMask;
use graphfill_engine::TensorStore;

use super::evidence;
use super::method::SvgaP;
use super::summary::{Spaces, SummaryTable, shape};
use crate::context::Context;
use crate::error::Result;
use crate::features::Features;
use crate::learning::{History, StopReason};
use crate::method::{Choice, EstimateSink, Estimates, Fitted, Method, Task};

/// What the names of the rest's texts and tensors begin with in a saved state.
const REST: &str = "rest: ";

/// Has a model estimate something for a task.
type Estimating<'e> = dyn Fn(&dyn Fitted, &Task<'_>, &mut dyn EstimateSink) -> Result<()> + 'e;

/// Both models of a table.
pub(super) struct WideFitted {
    spaces: Spaces,
    table: SummaryTable,
    rest: Box<dyn Fitted>,
    blocks: Option<Box<dyn Fitted>>,
    choices: Vec<Choice>,
}

/// A task on the table with summaries.
struct Rest<'a> {
    features: Features<'a>,
    unknown: CellMask,
    validation: Vec<CellMask>,
    held_out: Vec<CellMask>,
    watched: Vec<CellMask>,
    groups: Vec<bool>,
}

impl<'a> Rest<'a> {
    fn of(task: &'a Task<'_>, table: &'a SummaryTable, wide: &[bool]) -> Self {
        let masks = |sets: &[CellMask]| sets.iter().map(|set| table.mask(set)).collect();
        Rest {
            features: table.features(task.features),
            unknown: table.mask(task.unknown),
            validation: masks(task.validation),
            held_out: masks(task.held_out),
            watched: masks(task.watched),
            groups: asked(task, |group| !wide[group]),
        }
    }

    fn task<'t>(&'t self, task: &Task<'t>) -> Task<'t> {
        Task {
            features: &self.features,
            unknown: &self.unknown,
            validation: &self.validation,
            held_out: &self.held_out,
            watched: &self.watched,
            groups: Some(&self.groups),
            ..*task
        }
    }
}

/// The groups that a task asks for and that are of one kind.
fn asked(task: &Task<'_>, is_own: impl Fn(usize) -> bool) -> Vec<bool> {
    let groups = 0..task.features.groups().len();
    groups.map(|at| is_own(at) && task.groups.is_none_or(|groups| groups[at])).collect()
}

/// Whether any cell of a group must be estimated, and is asked for.
fn is_wanted(task: &Task<'_>, groups: &[bool]) -> bool {
    task.wanted().iter().zip(groups).any(|(wanted, own)| *wanted && *own)
}

/// What would be fitted to a task: the rest's features, and whether the blocks need a model; none where the
/// table has no wide block beside other columns, or no row that knows some of its cells.
pub(super) fn plan(task: &Task<'_>) -> Option<(usize, bool)> {
    let (wide, width) = shape(task.features)?;
    let rest = asked(task, |group| !wide[group]);
    let partly = |row: usize| !task.unknown.is_whole(row) && !task.unknown.cells(row).is_empty();
    if !is_wanted(task, &rest) || !(0..task.features.rows()).any(partly) {
        return None;
    }
    let groups = task.features.groups().iter().zip(&wide);
    let features = groups.map(|(group, wide)| if *wide { width } else { group.features.len() });
    Some((features.sum(), is_wanted(task, &asked(task, |group| wide[group]))))
}

impl WideFitted {
    /// Fits both models; none where the table needs them not.
    pub(super) fn fit(method: &SvgaP, task: &Task<'_>) -> Result<Option<Self>> {
        let Some(((wide, width), (_, has_blocks))) = shape(task.features).zip(plan(task)) else {
            return Ok(None);
        };
        let spaces = Spaces::fit(task, &wide, width)?;
        let table = spaces.table(task);
        let context = Context {
            checkpoint: task.context.checkpoint.clone().filter(|_| !has_blocks),
            ..task.context.clone()
        };
        let rest = {
            let own = Rest::of(task, &table, &wide);
            let own = Task { context: &context, ..own.task(task) };
            if !evidence::is_there(&own, own.unknown) {
                return Ok(None);
            }
            let labels = own.labels.filter(|_| !has_blocks);
            method.fit_task(&Task { labels, ..own })?
        };
        let blocks = match has_blocks {
            true => {
                let groups = asked(task, |group| wide[group]);
                Some(method.fit_whole(&Task { groups: Some(&groups), ..*task })?)
            }
            false => None,
        };
        Ok(Some(Self::new(spaces, table, rest, blocks)))
    }

    /// Both models of a saved state; none where it has one of the whole table.
    pub(super) fn restore(
        method: &SvgaP,
        task: &Task<'_>,
        state: &TensorStore,
    ) -> Result<Option<Self>> {
        let Some(spaces) = Spaces::read(state)? else { return Ok(None) };
        let table = spaces.table(task);
        let own = Rest::of(task, &table, &spaces.wide());
        let own = own.task(task);
        let (rest, blocks) = match state.texts.contains_key(BLOCKS) {
            true => {
                let rest = method.restore_whole(&own, &rest_of(state))?;
                (rest, Some(method.restore_whole(task, state)?))
            }
            false => (method.restore_whole(&own, state)?, None),
        };
        Ok(Some(Self::new(spaces, table, rest, blocks)))
    }

    fn new(
        spaces: Spaces,
        table: SummaryTable,
        rest: Box<dyn Fitted>,
        blocks: Option<Box<dyn Fitted>>,
    ) -> Self {
        let mut choices = rest.choices().to_vec();
        if let Some(blocks) = &blocks {
            let own = choices.iter_mut().zip(blocks.choices()).zip(spaces.wide());
            own.filter(|(_, wide)| *wide).for_each(|((choice, own), _)| *choice = own.clone());
        }
        WideFitted { spaces, table, rest, blocks, choices }
    }

    /// Estimates of the rest and of the blocks, with what each is to be asked.
    fn each(
        &self,
        task: &Task<'_>,
        sink: &mut dyn EstimateSink,
        estimate: &Estimating<'_>,
    ) -> Result<()> {
        let wide = self.spaces.wide();
        let rest = Rest::of(task, &self.table, &wide);
        let own = &rest.task(task);
        let groups = &rest.groups;
        let (from, to) = (own.features, task.features);
        estimate(&*self.rest, own, &mut PartSink { from, to, groups, sink })?;
        if let Some(blocks) = &self.blocks {
            let groups = &asked(task, |group| wide[group]);
            let own = &Task { groups: Some(groups), ..*task };
            estimate(&**blocks, own, &mut PartSink { from: to, to, groups, sink })?;
        }
        Ok(())
    }
}

/// The rest's part of a state that has both models.
fn rest_of(state: &TensorStore) -> TensorStore {
    let mut rest = TensorStore::default();
    let named = |name: &str| name.strip_prefix(REST).map(str::to_owned);
    let texts = state.texts.iter().filter_map(|(name, own)| Some((named(name)?, own.clone())));
    rest.texts.extend(texts);
    let tensors = state.tensors.iter();
    rest.tensors.extend(tensors.filter_map(|(name, own)| Some((named(name)?, own.clone()))));
    rest
}

/// The text of a state whose blocks have a model.
const BLOCKS: &str = "blocks are modelled";

impl Fitted for WideFitted {
    fn choices(&self) -> &[Choice] {
        &self.choices
    }

    fn estimate(&self, task: &Task<'_>, sink: &mut dyn EstimateSink) -> Result<()> {
        self.each(task, sink, &|fitted, task, sink| fitted.estimate(task, sink))
    }

    fn held_out_sets(&self, task: &Task<'_>) -> usize {
        let models = [Some(&self.rest), self.blocks.as_ref()].into_iter().flatten();
        models.map(|fitted| fitted.held_out_sets(task)).min().unwrap_or(0)
    }

    fn estimate_held_out(
        &self,
        task: &Task<'_>,
        set: usize,
        sink: &mut dyn EstimateSink,
    ) -> Result<()> {
        self.each(task, sink, &|fitted, task, sink| fitted.estimate_held_out(task, set, sink))
    }

    /// What a training goes on from comes first: the blocks' model with the rest's beside it, or the rest's
    /// where it is the only one.
    fn state(&self) -> Result<TensorStore> {
        let rest = self.rest.state()?;
        let mut store = match &self.blocks {
            None => rest,
            Some(blocks) => {
                let mut store = blocks.state()?;
                let named = |name: String| format!("{REST}{name}");
                store.texts.insert(BLOCKS.to_owned(), String::new());
                store.texts.extend(rest.texts.into_iter().map(|(name, text)| (named(name), text)));
                let tensors = rest.tensors.into_iter().map(|(name, own)| (named(name), own));
                store.tensors.extend(tensors);
                store
            }
        };
        self.spaces.write(&mut store);
        Ok(store)
    }

    fn labels(&self) -> Option<&[u32]> {
        self.blocks.as_ref().unwrap_or(&self.rest).labels()
    }

    fn validation_score(&self) -> Option<f64> {
        let own = self.rest.validation_score();
        match self.blocks.as_ref().and_then(|blocks| blocks.validation_score()) {
            Some(blocks) => own.map(|own| (own + blocks) / 2.0),
            None => own,
        }
    }

    fn history(&self) -> Option<&History> {
        self.blocks.as_ref().unwrap_or(&self.rest).history()
    }

    fn stopped_early(&self) -> Option<StopReason> {
        let blocks = self.blocks.as_ref().and_then(|blocks| blocks.stopped_early());
        self.rest.stopped_early().or(blocks)
    }
}

/// Passes on the estimates of some groups, at the places that they have in the whole table.
struct PartSink<'a, 'b> {
    from: &'b Features<'a>,
    to: &'b Features<'a>,
    groups: &'b [bool],
    sink: &'b mut dyn EstimateSink,
}

impl EstimateSink for PartSink<'_, '_> {
    fn accept(&mut self, estimates: &Estimates<'_>) -> Result<()> {
        for (at, group, inside) in self.from.groups_in(estimates.features()) {
            if self.groups[at] {
                let start = self.to.groups()[at].features.start;
                let own = inside.start - group.features.start + start;
                let own = (own, own + inside.len());
                self.sink.accept(&Estimates { features: own, ..estimates.part(inside) })?;
            }
        }
        Ok(())
    }
}
