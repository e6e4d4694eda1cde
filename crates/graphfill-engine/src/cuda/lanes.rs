//! Which steps of a program may run side by side.
//!
//! A step waits for those before it that write what it reads or writes, or read what it writes: by
//! their places in the arena, so that steps which share memory never meet. Steps are dealt out to a
//! few lanes, which run side by side; each lane runs its own in order.

use crate::plan::{Place, Step};

/// Lanes that steps are dealt out to.
pub(crate) const LANES: usize = 4;

/// When a step runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Turn {
    /// The lane that it runs on.
    pub(crate) lane: usize,
    /// Steps of other lanes that it waits for.
    pub(crate) after: Vec<usize>,
}

/// What a step reads and what it writes.
#[derive(Debug, Clone, Default)]
struct Touched {
    read: Vec<Place>,
    written: Vec<Place>,
}

impl Touched {
    fn of(step: &Step) -> Self {
        let mut written: Vec<Place> = step.outputs.iter().flatten().copied().collect();
        written.push(step.scratch);
        Touched { read: step.inputs.clone(), written }
    }

    fn waits_for(&self, earlier: &Touched) -> bool {
        meet(&earlier.written, &self.read)
            || meet(&earlier.written, &self.written)
            || meet(&earlier.read, &self.written)
    }
}

fn meet(some: &[Place], others: &[Place]) -> bool {
    let overlap = |one: &Place, other: &Place| {
        let (begin, end) = (one.offset.max(other.offset), |place: &Place| place.offset + place.len);
        begin < end(one).min(end(other))
    };
    some.iter().any(|one| others.iter().any(|other| overlap(one, other)))
}

/// The turns of steps, where each does, beside its own work, that of so many steps after it.
pub(crate) fn deal(steps: &[Step], joined: &[usize]) -> Vec<Turn> {
    let mut touched: Vec<Touched> = steps.iter().map(Touched::of).collect();
    for (step, &joined) in joined.iter().enumerate() {
        for other in step + 1..=step + joined {
            let other = std::mem::take(&mut touched[other]);
            touched[step].read.extend(other.read);
            touched[step].written.extend(other.written);
        }
    }
    deal_touched(&touched)
}

fn deal_touched(steps: &[Touched]) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    // For each step, all that are done before it begins.
    let mut before: Vec<Vec<bool>> = Vec::new();
    let mut last: [Option<usize>; LANES] = [None; LANES];
    for (step, own) in steps.iter().enumerate() {
        let mut done = vec![false; step];
        // From the latest on: what that one waited for needs no waiting.
        let mut after = Vec::new();
        for earlier in (0..step).rev() {
            if !done[earlier] && own.waits_for(&steps[earlier]) {
                after.push(earlier);
                done[earlier] = true;
                let known = before[earlier].iter().enumerate().filter(|(_, done)| **done);
                known.for_each(|(at, _)| done[at] = true);
            }
        }
        let free = |lane: &usize| last[*lane].is_none_or(|tail| done[tail]);
        // A lane that it waits for anyway, the one that was busy last; else one that never was.
        let lane = (0..LANES)
            .filter(free)
            .max_by_key(|&lane| last[lane])
            .or_else(|| (0..LANES).min_by_key(|&lane| last[lane]))
            .unwrap_or(0);
        if let Some(tail) = last[lane] {
            done[tail] = true;
            let known: Vec<usize> = (0..tail).filter(|&at| before[tail][at]).collect();
            known.into_iter().for_each(|at| done[at] = true);
        }
        last[lane] = Some(step);
        after.retain(|&earlier| turns[earlier].lane != lane);
        turns.push(Turn { lane, after });
        before.push(done);
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn touched(read: &[usize], written: &[usize]) -> Touched {
        let places =
            |all: &[usize]| all.iter().map(|&at| Place { offset: 10 * at, len: 10 }).collect();
        Touched { read: places(read), written: places(written) }
    }

    #[test]
    fn independent_steps_run_side_by_side() {
        // 0 → {1 → 3, 2 → 4} → 5
        let steps = [
            touched(&[], &[0]),
            touched(&[0], &[1]),
            touched(&[0], &[2]),
            touched(&[1], &[3]),
            touched(&[2], &[4]),
            touched(&[3, 4], &[5]),
        ];
        let turns = deal_touched(&steps);
        assert_eq!(turns[1].lane, turns[0].lane);
        assert_ne!(turns[2].lane, turns[1].lane);
        assert_eq!(turns[2].after, [0]);
        assert_eq!((turns[3].lane, turns[4].lane), (turns[1].lane, turns[2].lane));
        assert_eq!(turns[5].after.len(), 1);
    }

    #[test]
    fn memory_that_is_used_again_is_waited_for() {
        // The second reads what the third overwrites.
        let steps = [touched(&[], &[0]), touched(&[0], &[1]), touched(&[], &[0])];
        let turns = deal_touched(&steps);
        let waits = |step: usize, other: usize| {
            turns[step].lane == turns[other].lane || turns[step].after.contains(&other)
        };
        assert!(waits(2, 1));
    }

    proptest! {
        /// Everything that a step must wait for is done before it: on its own lane, or by waiting.
        #[test]
        fn nothing_runs_too_early(
            steps in prop::collection::vec(
                (prop::collection::vec(0usize..8, 0..3), prop::collection::vec(0usize..8, 1..3)),
                0..30,
            ),
        ) {
            let steps: Vec<Touched> = steps.iter().map(|(r, w)| touched(r, w)).collect();
            let turns = deal_touched(&steps);
            let mut done: Vec<Vec<usize>> = Vec::new();
            for (step, turn) in turns.iter().enumerate() {
                let tail = (0..step).rev().find(|&other| turns[other].lane == turn.lane);
                let mut own: Vec<usize> = tail.into_iter().chain(turn.after.clone()).collect();
                for known in own.clone() {
                    own.extend(&done[known]);
                }
                for earlier in 0..step {
                    prop_assert!(!steps[step].waits_for(&steps[earlier]) || own.contains(&earlier));
                }
                done.push(own);
            }
        }
    }
}
