//! The programs that run rounds with one matrix on panels of one width.
//!
//!   symmetric   start: one ← observed      ping: other ← a round of one      pong: one ← a round of other
//!   adjacency   start: messages ← observed weigh: weights ← A · confidences
//!               round: values ← A · messages ⊘ weights, known cells reset
//!               send:  messages ← confidences ∘ values
//!
//! and, for each subset of rows and each buffer that is read, a program that gathers those rows.
//! Cells that are not known are NaN in `observed`, and 0 at the start.

use std::sync::Arc;

use graphfill_engine::{
    Device, MemoryLimit, Plan, Program, PropagationRound, Recorded, Session, Shape, SparseMatrix,
    SparseRows,
};
use rayon::prelude::*;

use super::{Each, Loaded};
use crate::error::Result;
use crate::features::Panel;

/// Which matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Matrix {
    /// S.
    Symmetric,
    /// A.
    Adjacency,
}

const START: &str = "start";
const PING: &str = "ping";
const PONG: &str = "pong";
const WEIGH: &str = "weigh";
const ROUND: &str = "round";
const SEND: &str = "send";

const OBSERVED: &str = "observed";
const SHARES: &str = "shares";
const ONE: &str = "one";
const OTHER: &str = "other";
const CONFIDENCES: &str = "confidences";
const WEIGHTS: &str = "weights";
const MESSAGES: &str = "messages";
const VALUES: &str = "values";

/// The rows that a program gathers.
const ROWS: &str = "rows";

/// A session of these programs, and what the host has seen of it.
pub(super) struct Runner {
    matrix: Matrix,
    width: usize,
    session: Session,
    row_subsets: Vec<Vec<u32>>,
    /// The panel whose known cells are on the device.
    observed_of: Option<u64>,
    /// nodes × width. After a subset of rows was read, other rows hold what they held.
    seen: Vec<f32>,
    gathered: Vec<f32>,
}

impl Runner {
    /// With a limit, the error of a plan that needs more comes before any of the device is taken.
    pub(super) fn new(
        matrix: Matrix,
        rows: &Arc<SparseRows>,
        width: usize,
        row_subsets: &[Vec<u32>],
        (device, limit): (&Device, Option<MemoryLimit>),
    ) -> Result<Self> {
        let panel = Shape::new(rows.shape().rows, width);
        let mut programs = match matrix {
            Matrix::Symmetric => symmetric_programs(rows, panel)?,
            Matrix::Adjacency => adjacency_programs(rows, panel)?,
        };
        let read: &[&str] = match matrix {
            Matrix::Symmetric => &[ONE, OTHER],
            Matrix::Adjacency => &[VALUES],
        };
        for (subset, rows) in row_subsets.iter().enumerate() {
            let chosen = Arc::new(SparseMatrix::selection(rows, panel.rows));
            for buffer in read {
                let program = Program::new(&gather_name(buffer, subset));
                program.output(ROWS, program.sparse_product(&chosen, program.state(buffer, panel)));
                programs.push(program.finish()?);
            }
        }
        let mut plan = Plan::new(programs)?.on(device);
        if let Some(limit) = limit {
            plan.check_memory(limit, "the number of nodes")?;
        }
        Ok(Runner {
            matrix,
            width,
            session: Session::new(plan, 0)?,
            row_subsets: row_subsets.to_vec(),
            observed_of: None,
            seen: vec![0.0; panel.len()],
            gathered: Vec::new(),
        })
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// See [`Programs::mix`](super::programs::Programs::mix).
    pub(super) fn mix(
        &mut self,
        loaded: &Loaded<'_>,
        shares: [f32; 2],
        rounds: &[usize],
        each: &mut Each<'_>,
    ) -> Result<()> {
        self.upload(loaded)?;
        self.session.write(SHARES, &shares)?;
        self.run(loaded, rounds, each)
    }

    /// See [`Programs::weigh`](super::programs::Programs::weigh).
    pub(super) fn weigh(
        &mut self,
        loaded: &Loaded<'_>,
        confidences: &[f32],
        rounds: &[usize],
        each: &mut Each<'_>,
    ) -> Result<()> {
        self.upload(loaded)?;
        self.session.write(CONFIDENCES, confidences)?;
        self.session.run(WEIGH)?;
        self.run(loaded, rounds, each)
    }

    /// A · X.
    pub(super) fn product(&mut self, panel: &[f32]) -> Result<Vec<f32>> {
        self.session.write(CONFIDENCES, panel)?;
        self.session.run(WEIGH)?;
        Ok(self.session.buffer(WEIGHTS)?)
    }

    /// Uploads the known cells of a panel, unless they are there.
    fn upload(&mut self, loaded: &Loaded<'_>) -> Result<()> {
        if self.observed_of != Some(loaded.number) {
            self.observed_of = None;
            self.session.write(OBSERVED, &observed(loaded.panel))?;
            self.observed_of = Some(loaded.number);
        }
        Ok(())
    }

    fn run(&mut self, loaded: &Loaded<'_>, rounds: &[usize], each: &mut Each<'_>) -> Result<()> {
        let Some(&last) = rounds.last() else { return Ok(()) };
        self.session.run(START)?;
        self.begin_round(1)?;
        for round in 1..=last {
            let wanted = rounds.contains(&round);
            if wanted {
                self.read(round, loaded.rows)?;
            }
            // The device computes the next round while the host reads this one.
            if round < last {
                self.begin_round(round + 1)?;
            }
            if wanted {
                each(round, &self.seen);
            }
        }
        Ok(())
    }

    fn begin_round(&mut self, round: usize) -> Result<()> {
        match self.matrix {
            Matrix::Symmetric if round % 2 == 1 => self.session.run(PING)?,
            Matrix::Symmetric => self.session.run(PONG)?,
            Matrix::Adjacency => {
                if round > 1 {
                    self.session.run(SEND)?;
                }
                self.session.run(ROUND)?;
            }
        }
        Ok(())
    }

    /// Copies what a round gave to the host: some rows, or all.
    fn read(&mut self, round: usize, subset: Option<usize>) -> Result<()> {
        let buffer = match self.matrix {
            Matrix::Symmetric if round % 2 == 1 => OTHER,
            Matrix::Symmetric => ONE,
            Matrix::Adjacency => VALUES,
        };
        let Some(subset) = subset else {
            return Ok(self.session.buffer_into(buffer, &mut self.seen)?);
        };
        let (name, rows) = (gather_name(buffer, subset), &self.row_subsets[subset]);
        self.gathered.resize(rows.len() * self.width, 0.0);
        self.session.run(&name)?;
        self.session.read_into(&name, ROWS, &mut self.gathered)?;
        for (&row, values) in rows.iter().zip(self.gathered.chunks_exact(self.width)) {
            let at = row as usize * self.width;
            self.seen[at..at + self.width].copy_from_slice(values);
        }
        Ok(())
    }
}

fn gather_name(buffer: &str, subset: usize) -> String {
    format!("rows {subset} of {buffer}")
}

fn symmetric_programs(matrix: &Arc<SparseRows>, panel: Shape) -> Result<Vec<Recorded>> {
    let start = Program::new(START);
    start.send(start.state(ONE, panel), start.input(OBSERVED, panel), None);
    let round = |name: &str, from: &str, to: &str| {
        let program = Program::new(name);
        let round = PropagationRound {
            matrix,
            from: program.state(from, panel),
            given: Some(program.input(OBSERVED, panel)),
            shares: Some(program.input(SHARES, [1, 2])),
            divisors: None,
        };
        program.propagate(program.state(to, panel), &round);
        program.finish()
    };
    Ok(vec![start.finish()?, round(PING, ONE, OTHER)?, round(PONG, OTHER, ONE)?])
}

fn adjacency_programs(matrix: &Arc<SparseRows>, panel: Shape) -> Result<Vec<Recorded>> {
    let start = Program::new(START);
    start.send(start.state(MESSAGES, panel), start.input(OBSERVED, panel), None);
    let weigh = Program::new(WEIGH);
    let from = weigh.input(CONFIDENCES, panel);
    let product = PropagationRound { matrix, from, given: None, shares: None, divisors: None };
    weigh.propagate(weigh.state(WEIGHTS, panel), &product);
    let round = Program::new(ROUND);
    let weighed_mean = PropagationRound {
        matrix,
        from: round.state(MESSAGES, panel),
        given: Some(round.input(OBSERVED, panel)),
        shares: None,
        divisors: Some(round.state(WEIGHTS, panel)),
    };
    round.propagate(round.state(VALUES, panel), &weighed_mean);
    let send = Program::new(SEND);
    let confidences = Some(send.input(CONFIDENCES, panel));
    send.send(send.state(MESSAGES, panel), send.state(VALUES, panel), confidences);
    Ok(vec![start.finish()?, weigh.finish()?, round.finish()?, send.finish()?])
}

/// The known cells of a panel, NaN elsewhere. Its unused columns are known to be 0.
fn observed(panel: &Panel) -> Vec<f32> {
    let mut observed = panel.values.clone();
    let all_known = panel.all_known();
    observed.par_chunks_mut(panel.width).zip(&panel.known).for_each(|(row, &known)| {
        if known == all_known {
            return;
        }
        for (column, value) in row[..panel.features.len()].iter_mut().enumerate() {
            if known >> column & 1 == 0 {
                *value = f32::NAN;
            }
        }
    });
    observed
}
