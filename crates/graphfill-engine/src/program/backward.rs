//! Reverse-mode differentiation:  ∂loss/∂input = Σ over uses (∂loss/∂output) · (∂output/∂input)
//!
//! The nodes are walked backwards. Each one turns the gradients of its outputs, by then complete,
//! into contributions to those of its inputs. A contribution is a weight times a matrix, or a weight
//! alone for a scalar whose gradient is a constant (a loss, mostly), so that weighting a term of the
//! loss costs nothing: the weights meet in the one linear combination that sums contributions up.

use std::panic::Location;
use std::sync::Arc;

use super::{MOST_OUTPUTS, Matrix, Operation, Program, ValueId};
use crate::Shape;
use crate::error::EngineError;
use crate::ops::{Fill, linear_combination};

/// One summand of a gradient.
#[derive(Debug, Clone, Copy)]
struct Part<'p> {
    weight: f32,
    /// Without one the summand is the weight itself, a scalar.
    matrix: Option<Matrix<'p>>,
}

/// What an operation works with while it records its gradient.
#[derive(Debug)]
pub struct Backward<'b, 'p> {
    program: &'p Program,
    name: &'static str,
    place: &'static Location<'static>,
    inputs: Vec<Matrix<'p>>,
    outputs: Vec<Matrix<'p>>,
    wanted: Vec<bool>,
    parts: &'b mut Vec<Vec<Part<'p>>>,
    /// The outputs whose gradients were looked at.
    asked: [bool; MOST_OUTPUTS],
}

impl Program {
    /// Appends the gradient operations of a scalar; its gradients with respect to the parameters of
    /// these names, in their order.
    #[track_caller]
    pub fn differentiate<'p>(&'p self, loss: Matrix<'p>, parameters: &[&str]) -> Vec<Matrix<'p>> {
        self.check_own("differentiate", &[loss]);
        if loss.shape() != Shape::SCALAR {
            let shape = loss.shape();
            self.fail("differentiate", format!("the loss is {shape}, not a single number"));
        }
        // Loops, not closures: those would hide the caller's line from messages.
        let mut wanted: Vec<Option<Matrix<'p>>> = Vec::new();
        for name in parameters {
            wanted.push(self.find_named(name));
        }
        if self.recording.borrow().has_failed() {
            // Shapes mean nothing any more; the mistake is told when the program is finished.
            return vec![loss; parameters.len()];
        }
        let depends = self.depending_on(&wanted);
        let mut parts: Vec<Vec<Part<'p>>> = vec![Vec::new(); depends.len()];
        parts[loss.value.0].push(Part { weight: 1.0, matrix: None });
        let nodes = self.recording.borrow().nodes.len();
        for node in (0..nodes).rev() {
            self.step_backward(node, &depends, &mut parts);
        }
        let mut gradients = Vec::new();
        for (name, found) in parameters.iter().zip(wanted) {
            let found = found.unwrap_or(loss);
            match combine(self, &mut parts[found.value.0]) {
                Some(part) => gradients.push(part.materialise(self)),
                None => {
                    self.fail("differentiate", format!("the loss does not depend on `{name}`"));
                    gradients.push(found);
                }
            }
        }
        gradients
    }

    #[track_caller]
    pub(crate) fn find_named(&self, name: &str) -> Option<Matrix<'_>> {
        let recording = self.recording.borrow();
        let found = recording.named.iter().find(|named| named.name == name);
        let matrix =
            found.map(|found| Matrix { program: self, value: found.value, shape: found.shape });
        drop(recording);
        if matrix.is_none() {
            self.fail("differentiate", format!("the program has no parameter `{name}`"));
        }
        matrix
    }

    /// For each value, whether it depends on one of these.
    fn depending_on(&self, wanted: &[Option<Matrix<'_>>]) -> Vec<bool> {
        let recording = self.recording.borrow();
        let mut depends = vec![false; recording.values.len()];
        for matrix in wanted.iter().flatten() {
            depends[matrix.value.0] = true;
        }
        for node in &recording.nodes {
            if node.inputs.iter().any(|input| depends[input.0]) {
                node.outputs.iter().for_each(|output| depends[output.0] = true);
            }
        }
        depends
    }

    fn step_backward<'p>(&'p self, node: usize, depends: &[bool], parts: &mut Vec<Vec<Part<'p>>>) {
        let recording = self.recording.borrow();
        let found = &recording.nodes[node];
        let reached = found.outputs.iter().any(|output| !parts[output.0].is_empty());
        let wanted: Vec<bool> = found.inputs.iter().map(|input| depends[input.0]).collect();
        if !reached || !wanted.contains(&true) {
            return;
        }
        let matrix = |&value: &ValueId| {
            let shape = recording.values[value.0].shape;
            Matrix { program: self, value, shape }
        };
        let inputs: Vec<_> = found.inputs.iter().map(matrix).collect();
        let outputs: Vec<_> = found.outputs.iter().map(matrix).collect();
        let operation: Arc<dyn Operation> = Arc::clone(&found.operation);
        let (name, place, before) = (operation.name(), found.place, recording.nodes.len());
        drop(recording);
        let program = self;
        let asked = [false; MOST_OUTPUTS];
        let mut backward = Backward { program, name, place, inputs, outputs, wanted, parts, asked };
        operation.gradient(&mut backward);
        backward.refuse_unasked();
        // A gradient belongs to the line of the operation that it is of.
        let mut recording = self.recording.borrow_mut();
        recording.nodes[before..].iter_mut().for_each(|node| node.place = place);
    }
}

impl<'p> Backward<'_, 'p> {
    /// An input of the operation.
    pub fn input(&self, index: usize) -> Matrix<'p> {
        self.inputs[index]
    }

    /// How many inputs it has.
    pub fn inputs(&self) -> usize {
        self.inputs.len()
    }

    /// An output of the operation, which the gradient may read.
    pub fn output(&self, index: usize) -> Matrix<'p> {
        self.outputs[index]
    }

    /// Whether anybody asks for the gradient of that input.
    pub fn wants(&self, input: usize) -> bool {
        self.wanted[input]
    }

    /// The program, to record further operations.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// The complete gradient of an output. (An output that the loss doesn't depend on has none; the
    /// first output of a single-output operation always has.)
    pub fn upstream(&mut self, output: usize) -> Matrix<'p> {
        self.asked[output] = true;
        let value = self.outputs[output].value.0;
        let program = self.program;
        match combine(program, &mut self.parts[value]) {
            Some(part) => {
                let matrix = part.materialise(program);
                self.parts[value] = vec![Part { weight: 1.0, matrix: Some(matrix) }];
                matrix
            }
            None => program.record(Fill::new(self.outputs[output].shape(), 0.0), &[]),
        }
    }

    /// Adds a matrix to the gradient of an input.
    pub fn add(&mut self, input: usize, gradient: Matrix<'p>) {
        self.push(input, Part { weight: 1.0, matrix: Some(gradient) });
    }

    /// Adds `weight` times the gradient of an output of the same shape.
    pub fn pass(&mut self, input: usize, output: usize, weight: f32) {
        self.asked[output] = true;
        let value = self.outputs[output].value.0;
        if let Some(part) = combine(self.program, &mut self.parts[value]) {
            self.push(input, Part { weight: weight * part.weight, ..part });
        }
    }

    /// Adds the gradient of a scalar output times the output's derivative by that input, which the
    /// operation has computed with it.
    pub fn add_derivative(&mut self, input: usize, output: usize, derivative: Matrix<'p>) {
        self.asked[output] = true;
        let value = self.outputs[output].value.0;
        let Some(part) = combine(self.program, &mut self.parts[value]) else { return };
        let matrix = match part.matrix {
            None => derivative,
            Some(upstream) => derivative.scale_by(upstream),
        };
        self.push(input, Part { weight: part.weight, matrix: Some(matrix) });
    }

    /// Says that the operation has no gradient.
    pub fn refuse(&mut self) {
        let (operation, place) = (self.name, self.place.to_string());
        let problem = "this operation has no gradient".to_owned();
        let error = EngineError::Program { operation, place, problem };
        self.program.recording.borrow_mut().fail(error);
    }

    /// A gradient that reached an output and was not looked at would be lost: a derivative that was
    /// computed with a loss, say, has none of its own.
    fn refuse_unasked(&mut self) {
        let reached = |output: &Matrix<'_>| !self.parts[output.value.0].is_empty();
        if self.outputs.iter().zip(self.asked).any(|(output, asked)| !asked && reached(output)) {
            self.refuse();
        }
    }

    fn push(&mut self, input: usize, part: Part<'p>) {
        if !self.wanted[input] {
            return;
        }
        let to = self.inputs[input];
        if let Some(matrix) = part.matrix {
            assert_eq!(matrix.shape(), to.shape(), "the gradient of an input of {}", self.name);
        }
        self.parts[to.value.0].push(part);
    }
}

/// All parts as one, which replaces them.
#[track_caller]
fn combine<'p>(program: &'p Program, parts: &mut Vec<Part<'p>>) -> Option<Part<'p>> {
    let whole = match parts[..] {
        [] => return None,
        [part] => return Some(part),
        _ if parts.iter().all(|part| part.matrix.is_none()) => {
            Part { weight: parts.iter().map(|part| part.weight).sum(), matrix: None }
        }
        _ => {
            let terms: Vec<_> = parts
                .iter()
                .map(|part| match part.matrix {
                    Some(matrix) => (part.weight, matrix),
                    None => (part.weight, program.record(Fill::new(Shape::SCALAR, 1.0), &[])),
                })
                .collect();
            Part { weight: 1.0, matrix: Some(linear_combination(&terms)) }
        }
    };
    *parts = vec![whole];
    Some(whole)
}

impl<'p> Part<'p> {
    #[track_caller]
    fn materialise(self, program: &'p Program) -> Matrix<'p> {
        match self.matrix {
            None => program.record(Fill::new(Shape::SCALAR, self.weight), &[]),
            Some(matrix) if self.weight == 1.0 => matrix,
            Some(matrix) => matrix.scale(self.weight),
        }
    }
}
