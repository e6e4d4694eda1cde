//! Adam:  m ← β₁m + (1 − β₁)g,  v ← β₂v + (1 − β₂)g²,
//!        p ← p − rate · (m / (1 − β₁ᵗ)) / (√(v / (1 − β₂ᵗ)) + ε)
//!
//! t counts the steps of the program from 1. p, m, v and g have the same shape; they are read and
//! written in one pass, p, m and v in place. An optional scalar scales g as it is read (clipping).
//! Coupled weight decay adds w·p to g; decoupled takes rate · w · p from p, past the moments.

use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

use super::Schedule;
use crate::Shape;
use crate::cpu::{Call, PORTION};
use crate::cuda;
use crate::program::{Mismatch, Operation};

/// The optimiser Adam with its settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Adam {
    /// The learning rate of each step.
    pub schedule: Schedule,
    /// β₁, how much of the mean of gradients stays in a step.
    pub first_decay: f32,
    /// β₂, how much of the mean of squared gradients stays in a step.
    pub second_decay: f32,
    /// ε, which keeps the division finite.
    pub epsilon: f32,
    /// What draws parameters to 0.
    pub weight_decay: WeightDecay,
}

/// How parameters are drawn to 0.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum WeightDecay {
    /// Not at all.
    None,
    /// By so much of the parameter added to its gradient: the penalty w/2 · p² in the loss.
    Coupled(f32),
    /// By so much of the parameter times the learning rate, apart from the gradient.
    Decoupled(f32),
}

impl Default for Adam {
    fn default() -> Self {
        Adam {
            schedule: Schedule::Constant(1e-3),
            first_decay: 0.9,
            second_decay: 0.999,
            epsilon: 1e-8,
            weight_decay: WeightDecay::None,
        }
    }
}

impl Adam {
    /// The usual settings with a learning rate of one's own.
    pub fn new(schedule: Schedule) -> Self {
        Adam { schedule, ..Adam::default() }
    }

    /// The same with a weight decay.
    #[must_use]
    pub fn with_weight_decay(self, weight_decay: WeightDecay) -> Self {
        Adam { weight_decay, ..self }
    }

    /// What is wrong with the settings.
    pub(super) fn problem(&self) -> Option<String> {
        let decay = [self.first_decay, self.second_decay];
        if let Some(decay) = decay.into_iter().find(|decay| !(0.0..1.0).contains(decay)) {
            return Some(format!("a decay of the moments is {decay}, not in 0 ≤ decay < 1"));
        }
        if !(self.epsilon > 0.0 && self.epsilon.is_finite()) {
            return Some(format!("epsilon is {}; it must be above 0", self.epsilon));
        }
        let (WeightDecay::Coupled(weight) | WeightDecay::Decoupled(weight)) = self.weight_decay
        else {
            return self.schedule.problem();
        };
        if !(weight >= 0.0 && weight.is_finite()) {
            return Some(format!("the weight decay is {weight}; it must not be below 0"));
        }
        self.schedule.problem()
    }

    /// The coupled and the decoupled weight decay.
    fn decays(&self) -> (f32, f32) {
        match self.weight_decay {
            WeightDecay::None => (0.0, 0.0),
            WeightDecay::Coupled(weight) => (weight, 0.0),
            WeightDecay::Decoupled(weight) => (0.0, weight),
        }
    }

    /// The factors of the step after so many others.
    fn factors(&self, step: u64, gradient_scale: f32) -> Factors {
        let (first_decay, second_decay) =
            (f64::from(self.first_decay), f64::from(self.second_decay));
        let rate = self.schedule.rate(step);
        let correction = |decay: f64| 1.0 - decay.powf((step + 1) as f64);
        let (coupled, decoupled) = self.decays();
        Factors {
            gradient_scale,
            coupled,
            keep: 1.0 - rate * decoupled,
            first_old: self.first_decay,
            first_new: (1.0 - first_decay) as f32,
            second_old: self.second_decay,
            second_new: (1.0 - second_decay) as f32,
            length: (f64::from(rate) / correction(first_decay)) as f32,
            root: (1.0 / correction(second_decay).sqrt()) as f32,
            epsilon: self.epsilon,
        }
    }
}

const ADAM: cuda::Kernel = cuda::Source::new("adam.cu", include_str!("adam.cu")).kernel("adam");

/// One step. Inputs: parameter, first moment, second moment, which the outputs replace; gradient;
/// perhaps what the gradient is to be multiplied by.
#[derive(Debug)]
pub(super) struct Update(pub(super) Adam);

impl Operation for Update {
    fn name(&self) -> &'static str {
        "Adam"
    }

    fn identity(&self) -> String {
        let Adam { schedule, first_decay, second_decay, epsilon, weight_decay } = self.0;
        let schedule = match schedule {
            Schedule::Constant(rate) => format!("constant {rate}"),
            Schedule::Cosine { from, to, steps } => format!("cosine {from} to {to} in {steps}"),
        };
        let weight_decay = match weight_decay {
            WeightDecay::None => "none".to_owned(),
            WeightDecay::Coupled(weight) => format!("coupled {weight}"),
            WeightDecay::Decoupled(weight) => format!("decoupled {weight}"),
        };
        format!(
            "adam(rate={schedule}, decays={first_decay} and {second_decay}, epsilon={epsilon}, \
             weight_decay={weight_decay})"
        )
    }

    fn shapes(&self, inputs: &[Shape]) -> Result<Vec<Shape>, Mismatch> {
        for &other in &inputs[1..4] {
            let rule = "a parameter, its moments and its gradient have the same shape";
            Mismatch::unless(inputs[0] == other, inputs[0], other, rule)?;
        }
        Ok(vec![inputs[0]; 3])
    }

    fn cpu(&self, call: &mut Call<'_>) {
        let scale = if call.inputs() > 4 { call.input(4)[0] } else { 1.0 };
        let factors = self.0.factors(call.step(), scale);
        let gradient = call.input(3);
        let parameter = call.output(0).par_chunks_mut(PORTION);
        let moments = (call.output(1), call.output(2));
        parameter
            .zip(moments.0.par_chunks_mut(PORTION))
            .zip(moments.1.par_chunks_mut(PORTION))
            .zip(gradient.par_chunks(PORTION))
            .for_each(|(((parameter, first), second), gradient)| {
                Arch::new().dispatch(Portion { parameter, first, second, gradient, factors });
            });
    }

    fn cuda(&self, call: &mut cuda::Call<'_>) -> Result<(), String> {
        let quads = call.input_shape(0).len().div_ceil(4);
        let Adam { schedule, first_decay, second_decay, epsilon, .. } = self.0;
        let (from, to, steps) = match schedule {
            Schedule::Constant(rate) => (rate, rate, 0),
            Schedule::Cosine { from, to, steps } => (from, to, steps as usize),
        };
        let (coupled, decoupled) = self.0.decays();
        let scale = (call.inputs() > 4).then(|| call.input(4));
        let arguments = [
            call.context().into(),
            from.into(),
            to.into(),
            steps.into(),
            first_decay.into(),
            second_decay.into(),
            epsilon.into(),
            coupled.into(),
            decoupled.into(),
            scale.into(),
            call.output(0).into(),
            call.output(1).into(),
            call.output(2).into(),
            call.input(3).into(),
            quads.into(),
        ];
        call.launch(ADAM, cuda::Grid::strided(quads), arguments);
        Ok(())
    }
}

/// What stays the same over the numbers of a step.
#[derive(Debug, Clone, Copy)]
struct Factors {
    gradient_scale: f32,
    /// What of the parameter the gradient gets.
    coupled: f32,
    /// What decoupled decay leaves of the parameter.
    keep: f32,
    first_old: f32,
    first_new: f32,
    second_old: f32,
    second_new: f32,
    /// rate / (1 − β₁ᵗ)
    length: f32,
    /// 1 / √(1 − β₂ᵗ)
    root: f32,
    epsilon: f32,
}

struct Portion<'a> {
    parameter: &'a mut [f32],
    first: &'a mut [f32],
    second: &'a mut [f32],
    gradient: &'a [f32],
    factors: Factors,
}

impl NullaryFnOnce for Portion<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let with = self.factors;
        let moments = self.first.iter_mut().zip(self.second);
        let numbers = self.parameter.iter_mut().zip(moments).zip(self.gradient);
        for ((parameter, (first, second)), &gradient) in numbers {
            let gradient = gradient * with.gradient_scale + *parameter * with.coupled;
            let mean = *first * with.first_old + gradient * with.first_new;
            let square = *second * with.second_old + gradient * gradient * with.second_new;
            *first = without_subnormals(mean);
            *second = without_subnormals(square);
            let step = with.length * mean / (square.sqrt() * with.root + with.epsilon);
            *parameter = *parameter * with.keep - step;
        }
    }
}

/// Where gradients stay 0 (a unit that never fires any more), moments shrink to the smallest numbers
/// that there are, where rounding holds them and every operation on them is slow. They mean 0.
#[inline(always)]
fn without_subnormals(x: f32) -> f32 {
    if x.abs() < f32::MIN_POSITIVE { 0.0 } else { x }
}
