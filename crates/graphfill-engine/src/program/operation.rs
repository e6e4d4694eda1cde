//! What every operation says about itself. To add one, implement [`Operation`] in a file of its own
//! under `ops/`, with the method that records it.

use std::fmt;
use std::panic::Location;

use super::Backward;
use crate::Shape;
use crate::cpu::Call;
use crate::cuda;
use crate::error::EngineError;

/// The most inputs that an operation may have.
pub(crate) const MOST_INPUTS: usize = 12;

/// The most outputs that an operation may have.
pub(crate) const MOST_OUTPUTS: usize = 12;

/// A matrix-level operation: how shapes follow, how gradients flow, how a device computes it.
///
/// Its [`identity`](Operation::identity) must tell everything that it depends on.
pub trait Operation: fmt::Debug + Send + Sync {
    /// What error messages and listings call it.
    fn name(&self) -> &'static str;

    /// A text that tells this operation from every other one: what it computes, with everything that
    /// the result depends on beside the inputs (rates, random streams, fingerprints of sparse
    /// matrices and of targets).
    ///
    /// Fingerprints of programs are made of it, and checkpoints are loaded only where the fingerprint
    /// is the same. So it must not change when a type or a field is renamed, nor be as long as what it
    /// stands for.
    fn identity(&self) -> String;

    /// The shapes of the outputs, or why the inputs don't fit.
    fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch>;

    /// Records the operations that turn the gradients of the outputs into those of the inputs.
    /// The default has no gradient, and says so when one is asked for.
    fn gradient(&self, backward: &mut Backward<'_, '_>) {
        backward.refuse();
    }

    /// Which output may be written over which input, as `(output, input)`, if nobody needs the
    /// input any more. [`Call::input`] of that input is then gone; the output holds its numbers.
    fn in_place(&self) -> &'static [(usize, usize)] {
        &[]
    }

    /// Numbers of temporary memory.
    fn scratch(&self, inputs: &[Shape], wanted: &[bool]) -> usize {
        let _ = (inputs, wanted);
        0
    }

    /// Floating-point operations that the wanted outputs cannot do without: multiplications and
    /// additions of products, the rest being negligible beside them.
    fn arithmetic(&self, inputs: &[Shape], wanted: &[bool]) -> u64 {
        let _ = (inputs, wanted);
        0
    }

    /// What it holds beside its buffers.
    fn constants(&self) -> Vec<Constant> {
        Vec::new()
    }

    /// Computes the wanted outputs on the processor.
    fn cpu(&self, call: &mut Call<'_>);

    /// Numbers of temporary memory on a CUDA card.
    fn cuda_scratch(&self, inputs: &[Shape], wanted: &[bool]) -> usize {
        let _ = (inputs, wanted);
        0
    }

    /// What it does to single numbers, where it works in place: the operation before it may do that
    /// as well, while it has the numbers at hand.
    fn cuda_finish(&self, call: &cuda::Call<'_>) -> Option<cuda::Finish> {
        let _ = call;
        None
    }

    /// Whether it can do, on a card, what comes after it.
    fn cuda_can_finish(&self, finishes: &[cuda::Finish]) -> bool {
        finishes.is_empty()
    }

    /// Says what a CUDA card does to compute the wanted outputs, or why it cannot.
    /// The default cannot.
    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let _ = call;
        Err("it has no kernel for CUDA; train on the CPU".to_owned())
    }
}

/// Memory that an operation holds for itself: a sparse matrix, targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constant {
    /// Its address, by which two operations that share it are recognised.
    pub identity: usize,
    /// Its size.
    pub bytes: u64,
}

impl Constant {
    /// What an `Arc` holds.
    pub fn shared<T>(of: &std::sync::Arc<T>, bytes: u64) -> Self {
        Constant { identity: std::sync::Arc::as_ptr(of).addr(), bytes }
    }
}

/// Two shapes that should fit and don't.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mismatch {
    left: Shape,
    right: Shape,
    rule: &'static str,
}

impl Mismatch {
    /// `left` does not fit `right`, as `rule` asks.
    pub fn new(left: Shape, right: Shape, rule: &'static str) -> Self {
        Mismatch { left, right, rule }
    }

    /// A mismatch unless `holds`.
    pub fn unless(
        holds: bool,
        left: Shape,
        right: Shape,
        rule: &'static str,
    ) -> Result<(), Mismatch> {
        if holds { Ok(()) } else { Err(Mismatch { left, right, rule }) }
    }

    pub(super) fn at(self, operation: &'static str, place: &Location<'_>) -> EngineError {
        let Mismatch { left, right, rule } = self;
        EngineError::Shape { operation, place: place.to_string(), left, right, rule }
    }
}
