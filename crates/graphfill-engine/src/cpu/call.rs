//! What a kernel is handed: slices of the arena, and which step it is.

use crate::Shape;
use crate::executor::Context;
use crate::plan::{Place, Step};
use crate::program::{MOST_INPUTS, MOST_OUTPUTS};
use crate::random::Key;

/// The operands of one operation in one step.
#[derive(Debug)]
pub struct Call<'a> {
    inputs: [Option<&'a [f32]>; MOST_INPUTS],
    outputs: [Option<&'a mut [f32]>; MOST_OUTPUTS],
    scratch: Option<&'a mut [f32]>,
    step: &'a Step,
    context: Context,
}

/// What a piece of the arena is lent for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Use {
    Output(usize),
    Scratch,
    Input(usize),
}

impl<'a> Call<'a> {
    /// Lends the pieces of the arena that a step touches. They are cut off one after the other in
    /// the order of their places, so that the borrow checker proves that none overlap.
    pub(super) fn lend(arena: &'a mut [f32], step: &'a Step, context: Context) -> Self {
        let mut call = Call {
            inputs: [None; MOST_INPUTS],
            outputs: [const { None }; MOST_OUTPUTS],
            scratch: None,
            step,
            context,
        };
        let mut pieces = [(Place::default(), Use::Scratch); MOST_INPUTS + MOST_OUTPUTS + 1];
        let uses = step.inputs.iter().enumerate().map(|(at, &place)| (place, Use::Input(at)));
        let outputs = step.outputs.iter().enumerate();
        let uses = uses
            .chain(outputs.filter_map(|(at, place)| Some(((*place)?, Use::Output(at)))))
            .chain([(step.scratch, Use::Scratch)]);
        let mut count = 0;
        for (piece, use_of) in pieces.iter_mut().zip(uses) {
            *piece = use_of;
            count += 1;
        }
        let pieces = &mut pieces[..count];
        pieces.sort_unstable();
        let (mut rest, mut begin) = (arena, 0);
        // The last piece, and the numbers in it if it is only read.
        let mut last: (Option<Place>, Option<&'a [f32]>) = (None, None);
        for &(place, use_of) in pieces.iter() {
            if place.len == 0 {
                call.hand_over(use_of, &mut []);
            } else if last.0 == Some(place) {
                let Use::Input(at) = use_of else {
                    panic!("two outputs of {} share a place", step.operation.name())
                };
                call.inputs[at] = last.1;
            } else {
                let (_, tail) = std::mem::take(&mut rest).split_at_mut(place.offset - begin);
                let (piece, tail) = tail.split_at_mut(place.len);
                (rest, begin) = (tail, place.offset + place.len);
                last = (Some(place), call.hand_over(use_of, piece));
            }
        }
        call
    }

    fn hand_over(&mut self, use_of: Use, piece: &'a mut [f32]) -> Option<&'a [f32]> {
        match use_of {
            Use::Output(at) => self.outputs[at] = Some(piece),
            Use::Scratch => self.scratch = Some(piece),
            Use::Input(at) => {
                self.inputs[at] = Some(piece);
                return self.inputs[at];
            }
        }
        None
    }

    /// An input that no output is written over.
    ///
    /// # Panics
    /// If the operation declared in [`in_place`](crate::Operation::in_place) that one may be.
    pub fn input(&self, index: usize) -> &'a [f32] {
        let name = self.step.operation.name();
        self.inputs[index].unwrap_or_else(|| panic!("input {index} of {name} is overwritten"))
    }

    /// An input, or none where its numbers are in the output that is written over it.
    pub fn input_unless_in_place(&self, index: usize) -> Option<&'a [f32]> {
        self.inputs[index]
    }

    /// An output, to be asked for once.
    ///
    /// # Panics
    /// If nobody wants it, which cannot be where an operation has one output only.
    pub fn output(&mut self, index: usize) -> &'a mut [f32] {
        let name = self.step.operation.name();
        self.outputs[index].take().unwrap_or_else(|| panic!("output {index} of {name} is unwanted"))
    }

    /// An output if anybody wants it, to be asked for once.
    pub fn wanted_output(&mut self, index: usize) -> Option<&'a mut [f32]> {
        self.outputs[index].take()
    }

    /// The temporary memory that the operation asked for, to be asked for once. It begins at a
    /// cache line and holds anything.
    pub fn scratch(&mut self) -> &'a mut [f32] {
        self.scratch.take().unwrap_or_default()
    }

    /// The shape of an input.
    pub fn input_shape(&self, index: usize) -> Shape {
        self.step.input_shapes[index]
    }

    /// The number of inputs.
    pub fn inputs(&self) -> usize {
        self.step.input_shapes.len()
    }

    /// The shape of an output.
    pub fn output_shape(&self, index: usize) -> Shape {
        self.step.output_shapes[index]
    }

    /// What the draws of a stream depend on in this step.
    pub fn key(&self, stream: u32) -> Key {
        Key::new(self.context.seed, stream, self.context.step)
    }

    /// How often the program has been run before.
    pub fn step(&self) -> u64 {
        self.context.step
    }
}
