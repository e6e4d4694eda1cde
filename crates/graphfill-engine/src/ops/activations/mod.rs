//! Functions of single numbers:  out = f(x),  ∂out/∂x = f′(x), told by out alone
//!
//! All of them have a slope that is a function of their value, so that the value may be written over
//! what it was computed from.

mod elu;
mod exp;
mod leaky_relu;
mod relu;
mod sigmoid;
mod tanh;

use std::fmt::Debug;

use crate::Shape;
use crate::cpu::{Call, Combine, Convert, combine, convert};
use crate::cuda;
use crate::cuda::{Function, finishing_source};
use crate::program::{Backward, Mismatch, Operation};

/// A function of one number. Mark the methods `#[inline(always)]`.
trait Activation: Debug + Clone + Copy + Send + Sync + 'static {
    const NAME: &'static str;

    fn value(self, x: f32) -> f32;

    /// f′(x), given f(x).
    fn slope(self, value: f32) -> f32;

    /// Its name and what it depends on, in the identity of an operation.
    fn identity(self) -> String {
        Self::NAME.to_owned()
    }

    /// The function of `finish.cuh` that computes it, and the leak, if it has one.
    fn in_kernels(self) -> (Function, f32);
}

const KERNELS: cuda::Source = finishing_source!("activations.cu");
const ACTIVATE: cuda::Kernel = KERNELS.kernel("activate");
const ACTIVATE_GRADIENT: cuda::Kernel = KERNELS.kernel("activate_gradient");

#[derive(Debug)]
struct Activate<A>(A);

#[derive(Debug)]
struct ActivateGradient<A>(A);

impl<A: Activation> Convert for Activate<A> {
    #[inline(always)]
    fn convert(&self, x: f32) -> f32 {
        self.0.value(x)
    }
}

impl<A: Activation> Combine for ActivateGradient<A> {
    #[inline(always)]
    fn combine(&self, gradient: f32, value: f32) -> f32 {
        gradient * self.0.slope(value)
    }
}

impl<A: Activation> Operation for Activate<A> {
    fn name(&self) -> &'static str {
        A::NAME
    }

    fn identity(&self) -> String {
        format!("activate({})", self.0.identity())
    }

    fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        Ok(vec![inputs[0]])
    }

    fn gradient(&self, backward: &mut Backward<'_, '_>) {
        let (gradient, value) = (backward.upstream(0), backward.output(0));
        let operation = ActivateGradient(self.0);
        backward.add(0, backward.program().record(operation, &[gradient, value]));
    }

    fn in_place(&self) -> &'static [(usize, usize)] {
        &[(0, 0)]
    }

    fn cpu(&self, call: &mut Call<'_>) {
        convert(call.input_unless_in_place(0), call.output(0), self);
    }

    fn cuda_finish(&self, _call: &cuda::Call<'_>) -> Option<cuda::Finish> {
        let (kind, leak) = self.0.in_kernels();
        Some(cuda::Finish::Activate(kind as u32, leak))
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let quads = call.input_shape(0).len().div_ceil(4);
        let (kind, leak) = self.0.in_kernels();
        let (input, output) = (call.input(0), call.output(0));
        let arguments =
            [(kind as u32).into(), leak.into(), input.into(), output.into(), quads.into()];
        call.launch(ACTIVATE, cuda::Grid::strided(quads), arguments);
        Ok(())
    }
}

/// gradient · f′, inputs: the gradient of the output, the output.
impl<A: Activation> Operation for ActivateGradient<A> {
    fn name(&self) -> &'static str {
        A::NAME
    }

    fn identity(&self) -> String {
        format!("activate_gradient({})", self.0.identity())
    }

    fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        Ok(vec![inputs[0]])
    }

    fn in_place(&self) -> &'static [(usize, usize)] {
        &[(0, 0), (0, 1)]
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let (gradient, value) = (call.input_unless_in_place(0), call.input_unless_in_place(1));
        combine(gradient, value, call.output(0), self);
    }

    /// Where the gradient is what it is written over.
    fn cuda_finish(&self, call: &cuda::Call<'_>) -> Option<cuda::Finish> {
        let (kind, leak) = self.0.in_kernels();
        let value = call.input(1);
        (value != call.output(0)).then_some(cuda::Finish::Slope(kind as u32, leak, value))
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let quads = call.input_shape(0).len().div_ceil(4);
        let (kind, leak) = self.0.in_kernels();
        let arguments = [
            (kind as u32).into(),
            leak.into(),
            call.input(0).into(),
            call.input(1).into(),
            call.output(0).into(),
            quads.into(),
        ];
        call.launch(ACTIVATE_GRADIENT, cuda::Grid::strided(quads), arguments);
        Ok(())
    }
}
