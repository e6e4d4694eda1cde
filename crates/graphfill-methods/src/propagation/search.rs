//! The choice of parameters by validation.
//!
//! A candidate is a setting (ARB: α and β) with a number of rounds. Of one setting every number of
//! rounds is scored on the way of a single run, so that the work of a search is
//!
//!   settings × rounds × validation sets × columns × (arcs + nodes)      multiplications
//!
//! Small searches compare all candidates on all cells. Others have two stages:
//!
//!   1. all settings with up to [`EARLY_ROUNDS`] rounds, on a sample of the columns of wide blocks;
//!      not every round is scored, but those on a grid of growing steps
//!   2. the [`FINALISTS`] best settings of each group, with the rounds around their best, on all
//!      columns. If the best setting was best at the last of the early rounds, it continues.
//!
//! The score of a choice is always one over all validation cells.
//!
//! On directed graphs the share of in-arcs ([`super::IN_SHARE`]) is chosen last: the search above takes
//! both directions alike, and only the settings that were best for some group are compared with all shares
//! and rounds. Of equals, both directions alike wins.
//!
//! Sizes were chosen on graphs that are in no table of results, with ARB on four splits each. Samples of
//! 128 columns with two finalists lost 0.0018 of recall@50 on actor against the comparison of all
//! candidates, 256 with three lost 0.0001 with all rounds in the first stage. As it stands, test scores
//! differ by less than their standard error over splits (actor: recall@10 −0.0007, gds_imdb: −0.0011,
//! cora_ml: R² −0.00002, twitch_ptbr, reddit_users, steam_core: none), in a third to a fourteenth of the
//! time.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use super::direction::{BOTH, candidate_shares};
use super::{IN_SHARE, Operators, Propagation, Purpose, ROUNDS};
use crate::error::Result;
use crate::features::{ColumnMeans, ColumnSample, Features, Group, GroupKind, Panel, Panels};
use crate::method::{Choice, Estimates, HitRate, Score, Task};
use crate::parameters::Parameters;
use crate::selection::{Detail, ScoredCells, Scores, ValidationRows};

/// How much work a search may be, in multiplications.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    /// Of a search that has no stages.
    pub(super) small: f64,
    /// Of the first stage, as far as [`MIN_SAMPLE`] columns allow.
    pub(super) first_stage: f64,
}

impl Budget {
    /// A fraction of a second each, on a CPU.
    const DEFAULT: Budget = Budget { small: 2e8, first_stage: 2e9 };
}

/// Columns of a block below which a sample no longer ranks settings as the block does.
const MIN_SAMPLE: usize = 256;
/// Settings of each group that reach the second stage.
const FINALISTS: usize = 3;
/// The rounds of the first stage: later ones change little.
const EARLY_ROUNDS: usize = 16;
/// Up to here every round is on the grid; beyond, steps grow by [`ROUND_STEP`].
const DENSE_ROUNDS: usize = 6;
const ROUND_STEP: f64 = 1.25;
/// Rounds on either side of the best one that the second stage scores at the least.
const NEAR_ROUNDS: usize = 2;

/// Chooses parameters for each group.
pub(super) fn choose<P: Propagation>(method: &P, task: &Task<'_>) -> Result<Vec<Choice>> {
    let fixed = method.parameters();
    let rounds = candidate_rounds(method, &fixed);
    let features = task.features;
    let info = method.info();
    let shares = candidate_shares(info.name, info.parameters, &fixed, task)?;
    let mut settings =
        [Purpose::Ranking, Purpose::Values].map(|purpose| method.settings(purpose, &fixed));
    if let Some(&[share]) = shares.as_deref() {
        settings = settings.map(|settings| with_shares(&settings, &[share]));
    }
    let has_rounds = rounds.end() > rounds.start();
    let find = |settings: &[Vec<Parameters>; 2]| {
        let is_open = settings.iter().any(|settings| settings.len() > 1) || has_rounds;
        match is_open && !task.validation.is_empty() {
            true => search(method, task, (Operators::of(task), Budget::DEFAULT), settings, &rounds),
            false => Ok(vec![None; features.groups().len()]),
        }
    };
    let best = match shares.as_deref() {
        Some(shares @ [_, _, ..]) => {
            let of_shares = |settings: &Vec<Parameters>| with_shares(settings, shares);
            if settings.iter().any(|settings| settings.len() > 1) {
                let best = find(&settings)?;
                settings = best_settings(features, &settings, &best);
            }
            settings = [0, 1].map(|side| of_shares(&settings[side]));
            find(&settings)?
        }
        _ => find(&settings)?,
    };
    let choices = features.groups().iter().zip(best).map(|(group, best)| {
        let purpose = purpose_of(group);
        let (parameters, validation) = match (best, shares.as_deref()) {
            (Some(best), _) => {
                (best.parameters(method, &settings[purpose as usize]), Some(best.score))
            }
            (None, None) => (method.default(purpose, &fixed), None),
            (None, Some(_)) => {
                let share = fixed.get(IN_SHARE).unwrap_or(BOTH);
                (method.default(purpose, &fixed).with(IN_SHARE, share), None)
            }
        };
        let (group, method) = (group.name.clone(), method.info().name.to_owned());
        Choice { group, method, parameters, validation, reason: None }
    });
    Ok(choices.collect())
}

/// Every setting with every share, one share after the other: a device keeps one matrix at a time.
fn with_shares(settings: &[Parameters], shares: &[f64]) -> Vec<Parameters> {
    let with_share =
        |&share: &f64| settings.iter().map(move |setting| setting.clone().with(IN_SHARE, share));
    shares.iter().flat_map(with_share).collect()
}

/// The settings that were best for some group, of each purpose; the first where there is none.
fn best_settings(
    features: &Features<'_>,
    settings: &[Vec<Parameters>; 2],
    best: &[Option<Best>],
) -> [Vec<Parameters>; 2] {
    [0, 1].map(|side| {
        let groups = features.groups().iter().zip(best);
        let own = groups.filter(|(group, _)| purpose_of(group) as usize == side);
        let chosen: BTreeSet<usize> =
            own.filter_map(|(_, best)| best.map(|best| best.setting)).collect();
        match chosen.is_empty() {
            true => settings[side].iter().take(1).cloned().collect(),
            false => chosen.into_iter().map(|at| settings[side][at].clone()).collect(),
        }
    })
}

fn purpose_of(group: &Group) -> Purpose {
    if group.is_ranking() { Purpose::Ranking } else { Purpose::Values }
}

fn candidate_rounds<P: Propagation>(method: &P, fixed: &Parameters) -> RangeInclusive<usize> {
    match fixed.get(ROUNDS) {
        Some(rounds) => rounds as usize..=rounds as usize,
        None => 1..=method.max_rounds(),
    }
}

/// The best candidate of a group.
#[derive(Debug, Clone, Copy)]
pub(super) struct Best {
    pub(super) setting: usize,
    pub(super) round: usize,
    pub(super) score: Score,
}

impl Best {
    fn with_hit_rate(self, hit_rate: Option<HitRate>) -> Self {
        Best { score: Score { hit_rate, ..self.score }, ..self }
    }

    fn parameters<P: Propagation>(&self, method: &P, settings: &[Parameters]) -> Parameters {
        let parameters = settings[self.setting].clone();
        let has_rounds = method.info().parameters.iter().any(|info| info.name == ROUNDS);
        if has_rounds { parameters.with(ROUNDS, self.round as f64) } else { parameters }
    }
}

/// The candidates of each purpose: settings by their position, with the rounds to score of each.
type Candidates = [BTreeMap<usize, Vec<usize>>; 2];

/// The best candidate of each group, of all settings (of rankings, of values) and rounds.
pub(super) fn search<P: Propagation>(
    method: &P,
    task: &Task<'_>,
    (operators, budget): (Operators<'_>, Budget),
    settings: &[Vec<Parameters>; 2],
    rounds: &RangeInclusive<usize>,
) -> Result<Vec<Option<Best>>> {
    // Where methods are compared on held-out cells, their scores are those of the comparison.
    let is_reported = task.held_out.is_empty();
    // Cells on which methods are compared choose no parameters.
    let unknown = task.held_out.iter().fold(task.unknown.clone(), |all, set| all.union(set));
    let task = &Task { unknown: &unknown, held_out: &[], ..*task };
    let sets: Vec<ValidationRows> =
        task.validation.iter().map(|cells| ValidationRows::of(task.features, cells)).collect();
    let operators = operators.with_row_subsets(scored_rows(task.features, &sets));
    let comparison = Comparison { method, operators: &operators, settings };
    let finish = |best: Vec<Option<Best>>| match is_reported {
        true => comparison.with_hit_rates(task, &sets, best),
        false => Ok(best),
    };
    let all = |rounds: Vec<usize>| -> Candidates {
        [0, 1].map(|side| (0..settings[side].len()).map(|at| (at, rounds.clone())).collect())
    };
    let grid = round_grid(rounds);
    let early: Vec<usize> = grid.iter().copied().filter(|&round| round <= EARLY_ROUNDS).collect();
    let work = |rounds: usize| multiplications_per_column(task, settings, rounds);
    if work(*rounds.end()) * task.features.width() as f64 <= budget.small || early.is_empty() {
        let every_round = rounds.clone().collect();
        let scored = comparison.scores(task, &sets, &all(every_round), None)?;
        return finish(best_of_each(&scored));
    }
    let max_columns = ((budget.first_stage / work(EARLY_ROUNDS)) as usize).max(MIN_SAMPLE);
    let sample = ColumnSample::of(task.features, task.unknown, max_columns);
    let features = sample.features();
    let unknown = sample.cells(task.unknown);
    let validation: Vec<_> = task.validation.iter().map(|cells| sample.cells(cells)).collect();
    let sampled = Task { features: &features, unknown: &unknown, validation: &validation, ..*task };
    let sampled_sets: Vec<ValidationRows> =
        validation.iter().map(|cells| ValidationRows::of(&features, cells)).collect();
    // The rows that are scored may be others where cells of other columns touched them.
    let sampled_operators =
        Operators::of(task).with_row_subsets(scored_rows(&features, &sampled_sets));
    let first = Comparison { operators: &sampled_operators, ..comparison };
    let scored = first.scores(&sampled, &sampled_sets, &all(early.clone()), None)?;
    let finalists = finalists(task.features, &scored, early.len(), &grid);
    let scored = comparison.scores(task, &sets, &finalists, None)?;
    finish(best_of_each(&scored))
}

/// The work of a search on one column, of the purpose with more settings.
fn multiplications_per_column(
    task: &Task<'_>,
    settings: &[Vec<Parameters>; 2],
    max_rounds: usize,
) -> f64 {
    let settings = settings.iter().map(Vec::len).max().unwrap_or(1);
    let graph = task.graph.all_neighbours().len() + task.graph.nodes();
    graph as f64 * (settings * max_rounds * task.validation.len()) as f64
}

/// The rounds that the first stage scores: all up to [`DENSE_ROUNDS`], then in growing steps, and the
/// last.
fn round_grid(rounds: &RangeInclusive<usize>) -> Vec<usize> {
    let mut grid = Vec::new();
    let mut next = *rounds.start();
    while next < *rounds.end() {
        grid.push(next);
        let grown = (next as f64 * ROUND_STEP).ceil() as usize;
        next = if next < DENSE_ROUNDS { next + 1 } else { grown };
    }
    grid.push(*rounds.end());
    grid
}

/// The best settings of each group with the rounds around their best. The first `early` rounds of the
/// grid were scored; where the best setting was best at the last of them, it continues.
fn finalists(
    features: &Features<'_>,
    scored: &[Vec<Best>],
    early: usize,
    grid: &[usize],
) -> Candidates {
    let mut chosen: [BTreeMap<usize, BTreeSet<usize>>; 2] = Default::default();
    for (group, candidates) in features.groups().iter().zip(scored) {
        let mut of_setting: BTreeMap<usize, Best> = BTreeMap::new();
        for &candidate in candidates {
            let best = of_setting.entry(candidate.setting).or_insert(candidate);
            if candidate.score.is_better_than(&best.score) {
                *best = candidate;
            }
        }
        let mut left: Vec<Best> = of_setting.into_values().collect();
        for place in 0..FINALISTS {
            let Some(best) = best_of(&left) else { break };
            left.retain(|other| other.setting != best.setting);
            let side = &mut chosen[purpose_of(group) as usize];
            let chosen_rounds = side.entry(best.setting).or_default();
            chosen_rounds.extend(rounds_around(best.round, grid));
            if place == 0 && best.round == grid[early - 1] {
                chosen_rounds.extend(&grid[early..]);
            }
        }
    }
    chosen.map(|side| {
        side.into_iter().map(|(at, rounds)| (at, rounds.into_iter().collect())).collect()
    })
}

/// The rounds between the neighbours of `best` on the grid, [`NEAR_ROUNDS`] on each side at the least.
fn rounds_around(best: usize, grid: &[usize]) -> RangeInclusive<usize> {
    let at = grid.partition_point(|&round| round < best);
    let before = if at > 0 { grid[at - 1] + 1 } else { best };
    let after = grid.get(at + 1).map_or(best, |&next| next - 1);
    let (first, last) = (grid[0], grid[grid.len() - 1]);
    before.min(best.saturating_sub(NEAR_ROUNDS).max(first))
        ..=after.max(best + NEAR_ROUNDS).min(last)
}

/// The best candidate; the first of equals.
fn best_of(candidates: &[Best]) -> Option<Best> {
    candidates
        .iter()
        .copied()
        .reduce(|best, other| if other.score.is_better_than(&best.score) { other } else { best })
}

fn best_of_each(scored: &[Vec<Best>]) -> Vec<Option<Best>> {
    scored.iter().map(|candidates| best_of(candidates)).collect()
}

/// A method and all of its settings.
struct Comparison<'a, P> {
    method: &'a P,
    operators: &'a Operators<'a>,
    settings: &'a [Vec<Parameters>; 2],
}

impl<P: Propagation> Comparison<'_, P> {
    /// The score of every candidate on all validation sets, for each group; with hit rates where the means
    /// of what is known are given.
    fn scores(
        &self,
        task: &Task<'_>,
        sets: &[ValidationRows],
        candidates: &Candidates,
        known: Option<&ColumnMeans>,
    ) -> Result<Vec<Vec<Best>>> {
        let features = task.features;
        let panels = Panels::on(&task.context.device, features, &task.wanted());
        let mut blank = Scores::new(features, sets, task.ranking_depth, Detail::Totals);
        if let Some(known) = known {
            blank = blank.with_hit_rates(features, sets, known);
        }
        let blank_of = |(_, rounds): (&usize, &Vec<usize>)| vec![blank.clone(); rounds.len()];
        let mut scores: Vec<Vec<Vec<Scores>>> =
            candidates.iter().map(|runs| runs.iter().map(blank_of).collect()).collect();
        let runs: usize =
            panels.iter().map(|panel| candidates[side(features, panel.start)].len()).sum();
        let title = format!("{}: choosing parameters", self.method.info().name);
        task.context.progress.begin(&title, Some((runs * task.validation.len()) as u64));
        for (set, hidden) in task.validation.iter().enumerate() {
            let unknown = task.unknown.union(hidden);
            let means = ColumnMeans::of(features, &unknown).offsets(features);
            for range in panels.iter() {
                let side = side(features, range.start);
                let panel = Panel::load(features, range.clone(), &unknown, &means);
                let cells = ScoredCells::new(features, &sets[set], hidden, range.clone());
                let loaded = self.operators.load(&panel).with_rows(2 * set + side);
                for ((&setting, rounds), scores) in candidates[side].iter().zip(&mut scores[side]) {
                    let mut slots = scores.iter_mut();
                    let parameters = &self.settings[side][setting];
                    self.method.run(&loaded, parameters, rounds, &mut |_, values| {
                        let estimates = Estimates {
                            features: (range.start, range.end),
                            width: panel.width,
                            values,
                            column_means: &panel.offsets,
                            scales: None,
                        };
                        if let Some(scores) = slots.next() {
                            scores.add(&cells, &sets[..set], &estimates);
                        }
                    })?;
                    task.context.progress.advance(1);
                    task.context.progress.check()?;
                }
            }
        }
        task.context.progress.end();
        let mut scored: Vec<Vec<Best>> = vec![Vec::new(); features.groups().len()];
        for (side, (candidates, scores)) in candidates.iter().zip(&scores).enumerate() {
            for ((&setting, rounds), scores) in candidates.iter().zip(scores) {
                for (&round, scores) in rounds.iter().zip(scores) {
                    for (group, score) in scores.finish(sets).into_iter().enumerate() {
                        let own = purpose_of(&features.groups()[group]) as usize == side;
                        if let Some(score) = score.filter(|_| own) {
                            scored[group].push(Best { setting, round, score });
                        }
                    }
                }
            }
        }
        Ok(scored)
    }

    /// The best candidates of booleans and categories with their hit rates: each is estimated once more,
    /// because hits take memory for every row, of which a search has too many candidates.
    fn with_hit_rates(
        &self,
        task: &Task<'_>,
        sets: &[ValidationRows],
        mut best: Vec<Option<Best>>,
    ) -> Result<Vec<Option<Best>>> {
        let mut groups_of: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for (group, (about, best)) in task.features.groups().iter().zip(&best).enumerate() {
            if let (true, Some(best)) = (about.has_levels(), best) {
                groups_of.entry((best.setting, best.round)).or_default().push(group);
            }
        }
        if groups_of.is_empty() {
            return Ok(best);
        }
        let unknown = task.validation.iter().fold(task.unknown.clone(), |all, set| all.union(set));
        let known = ColumnMeans::of(task.features, &unknown);
        for ((setting, round), groups) in groups_of {
            let mut is_wanted = vec![false; best.len()];
            groups.iter().for_each(|&group| is_wanted[group] = true);
            let task = &Task { groups: Some(&is_wanted), ..*task };
            let mut candidate = Candidates::default();
            candidate[Purpose::Values as usize].insert(setting, vec![round]);
            let scored = self.scores(task, sets, &candidate, Some(&known))?;
            for group in groups {
                let hit_rate = scored[group].first().and_then(|own| own.score.hit_rate);
                best[group] = best[group].map(|own| own.with_hit_rate(hit_rate));
            }
        }
        Ok(best)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_of_rounds_keeps_both_ends() {
        assert_eq!(round_grid(&(1..=30)), [1, 2, 3, 4, 5, 6, 8, 10, 13, 17, 22, 28, 30]);
        assert_eq!(round_grid(&(7..=7)), [7]);
        assert_eq!(round_grid(&(1..=3)), [1, 2, 3]);
    }

    #[test]
    fn the_second_stage_scores_the_rounds_around_the_best() {
        let grid = round_grid(&(1..=30));
        assert_eq!(rounds_around(1, &grid), 1..=3);
        assert_eq!(rounds_around(3, &grid), 1..=5);
        assert_eq!(rounds_around(13, &grid), 11..=16);
        assert_eq!(rounds_around(30, &grid), 28..=30);
    }
}
