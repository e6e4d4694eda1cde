//! The choice of parameters by validation: every setting is run once to the most rounds, and every
//! round on the way is a candidate.

use std::ops::RangeInclusive;

use super::chosen::Chosen;
use super::{Operators, Propagation, Purpose, ROUNDS};
use crate::error::Result;
use crate::features::{Centres, Features, Group, GroupKind, Panel, Panels};
use crate::method::{Choice, Estimates, Fitted, Score, Task};
use crate::parameters::Parameters;
use crate::selection::{Detail, ScoredCells, Scores, ValidationRows};

/// Chooses parameters for each group and binds them to the method.
pub(super) fn fit<'a, P: Propagation>(method: &P, task: &Task<'a>) -> Result<Box<dyn Fitted + 'a>> {
    let name = method.info().name;
    let fixed = task.fixed.of(name);
    fixed.check(name, method.info().parameters)?;
    let rounds = candidate_rounds(method, &fixed);
    let features = task.features;
    let purposes = [Purpose::Ranking, Purpose::Values];
    let settings = purposes.map(|purpose| method.settings(purpose, &fixed));
    let open = settings.iter().any(|settings| settings.len() > 1) || rounds.end() > rounds.start();
    let best = if open && !task.validation.is_empty() {
        let operators = Operators::of(task);
        compare(method, task, operators, &settings, &rounds)?
    } else {
        vec![None; features.groups().len()]
    };
    let choices = features.groups().iter().zip(best).map(|(group, best)| {
        let purpose = purpose_of(group);
        let (parameters, validation) = match best {
            Some(best) => (best.parameters(method, &settings[purpose as usize]), Some(best.score)),
            None => (method.default(purpose, &fixed), None),
        };
        Choice { group: group.name.clone(), method: name, parameters, validation, reason: None }
    });
    Ok(Box::new(Chosen::new(task, choices.collect())))
}

pub(super) fn purpose_of(group: &Group) -> Purpose {
    if group.is_ranking() { Purpose::Ranking } else { Purpose::Values }
}

fn candidate_rounds<P: Propagation>(method: &P, fixed: &Parameters) -> RangeInclusive<usize> {
    match fixed.get(ROUNDS) {
        Some(rounds) => rounds as usize..=rounds as usize,
        None => 1..=method.most_rounds(),
    }
}

/// The best candidate of a group.
#[derive(Debug, Clone)]
pub(super) struct Best {
    pub(super) setting: usize,
    pub(super) round: usize,
    pub(super) score: Score,
}

impl Best {
    fn parameters<P: Propagation>(&self, method: &P, settings: &[Parameters]) -> Parameters {
        let parameters = settings[self.setting].clone();
        let has_rounds = method.info().parameters.iter().any(|info| info.name == ROUNDS);
        if has_rounds { parameters.with(ROUNDS, self.round as f64) } else { parameters }
    }
}

/// The candidates of one purpose, scored on all sets of validation cells.
pub(super) fn compare<P: Propagation>(
    method: &P,
    task: &Task<'_>,
    operators: Operators<'_>,
    settings: &[Vec<Parameters>; 2],
    rounds: &RangeInclusive<usize>,
) -> Result<Vec<Option<Best>>> {
    let features = task.features;
    let panels = Panels::on(&task.training.device, features, &task.wanted());
    let sets: Vec<ValidationRows> =
        task.validation.iter().map(|cells| ValidationRows::of(task.features, cells)).collect();
    let operators = operators.looking_at(scored_rows(features, &sets));
    let all_rounds: Vec<usize> = rounds.clone().collect();
    let count = rounds.end() - rounds.start() + 1;
    let blank = Scores::new(features, &sets, task.ranking_depth, Detail::Totals);
    let mut scores: Vec<Vec<Scores>> =
        settings.iter().map(|settings| vec![blank.clone(); settings.len() * count]).collect();

    let runs: usize = panels.iter().map(|panel| settings[side(features, panel.start)].len()).sum();
    let title = format!("{}: choosing parameters", method.info().name);
    task.progress.begin(&title, Some((runs * task.validation.len()) as u64));
    for (set, hidden) in task.validation.iter().enumerate() {
        let unknown = task.unknown.union(hidden);
        let offsets = Centres::of(features, &unknown).offsets(features);
        for range in panels.iter() {
            let side = side(features, range.start);
            let panel = Panel::load(features, range.clone(), &unknown, &offsets);
            let cells = ScoredCells::new(features, &sets[set], hidden, range.clone());
            let loaded = operators.load(&panel).looked_at(2 * set + side);
            for (position, setting) in settings[side].iter().enumerate() {
                method.run(&loaded, setting, &all_rounds, &mut |round, values| {
                    let estimates = Estimates {
                        features: (range.start, range.end),
                        width: panel.width,
                        values,
                        offsets: &panel.offsets,
                    };
                    let candidate = position * count + round - rounds.start();
                    scores[side][candidate].add(&cells, &sets[..set], &estimates);
                })?;
                task.progress.advance(1);
                task.progress.check()?;
            }
        }
    }
    task.progress.end();
    Ok(best_of_each(features, &scores, &sets, rounds, count))
}

/// The rows of each set that are scored in panels of rankings, and in panels of values.
fn scored_rows(features: &Features<'_>, sets: &[ValidationRows]) -> Vec<Vec<u32>> {
    let values = |group: &&Group| purpose_of(group) == Purpose::Values;
    let mut values = features.groups().iter().filter(values);
    let only_blocks = values.all(|group| group.kind == GroupKind::NumericBlock);
    let of_set = |rows: &ValidationRows| {
        let row = |at: usize| rows.rows()[at];
        let all = || rows.rows().to_vec();
        let values = if only_blocks { rows.summed().map(row).collect() } else { all() };
        [rows.ranked().map(row).collect(), values]
    };
    sets.iter().flat_map(of_set).collect()
}

/// Which settings apply to the panel that starts at a feature: ranking groups have panels of
/// their own.
fn side(features: &Features<'_>, feature: usize) -> usize {
    let group = features.groups().iter().find(|group| group.features.contains(&feature));
    group.map_or(Purpose::Values, purpose_of) as usize
}

fn best_of_each(
    features: &Features<'_>,
    scores: &[Vec<Scores>],
    sets: &[ValidationRows],
    rounds: &RangeInclusive<usize>,
    count: usize,
) -> Vec<Option<Best>> {
    let mut best: Vec<Option<Best>> = vec![None; features.groups().len()];
    for (side, candidates) in scores.iter().enumerate() {
        for (candidate, scores) in candidates.iter().enumerate() {
            for (group, score) in scores.finish(sets).into_iter().enumerate() {
                let own = purpose_of(&features.groups()[group]) as usize == side;
                let Some(score) = score.filter(|_| own) else { continue };
                let better = best[group].as_ref().is_none_or(|b| score.is_better_than(&b.score));
                if better {
                    let (setting, round) = (candidate / count, rounds.start() + candidate % count);
                    best[group] = Some(Best { setting, round, score });
                }
            }
        }
    }
    best
}
