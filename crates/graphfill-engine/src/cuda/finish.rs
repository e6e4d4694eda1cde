//! What is done to single numbers right after they were computed, by the kernel that computed them:
//! a bias, an activation, a sum. Each would otherwise read and write the whole matrix once more.

use super::{Address, Argument, Define};

/// The functions of single numbers that `finish.cuh` has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    Relu = 0,
    LeakyRelu = 1,
    Elu = 2,
    Exp = 3,
    Sigmoid = 4,
    Tanh = 5,
}

/// No function.
const NO_FUNCTION: u32 = u32::MAX;

/// The constants of `finish.cuh`.
pub(crate) const FINISH_DEFINES: &[Define] = &[
    Define::count("RELU", Function::Relu as usize),
    Define::count("LEAKY_RELU", Function::LeakyRelu as usize),
    Define::count("ELU", Function::Elu as usize),
    Define::count("EXP", Function::Exp as usize),
    Define::count("SIGMOID", Function::Sigmoid as usize),
    Define::count("TANH", Function::Tanh as usize),
    Define::count("NO_FUNCTION", NO_FUNCTION as usize),
];

/// A function of one number of a matrix, x ← f(x), by its row and column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Finish {
    /// x + row[column]
    AddRow(Address),
    /// The function of that number in `finish.cuh`, with its leak.
    Activate(u32, f32),
    /// x times the slope of that function where its value is that of the other matrix.
    Slope(u32, f32, Address),
    /// own · x + weight · other; without another matrix own · x.
    Combine {
        /// What x is multiplied by.
        own: f32,
        /// The other matrix.
        other: Option<Address>,
        /// What it is multiplied by.
        weight: f32,
    },
}

/// Finishes in the order in which kernels can do them: each of them once at most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Finishes {
    row: Option<Address>,
    activation: u32,
    leak: f32,
    slope: Option<Address>,
    own: f32,
    other: Option<Address>,
    weight: f32,
}

impl Finishes {
    /// All of these, one after the other, unless kernels cannot do them in that order.
    pub(crate) fn of(list: &[Finish]) -> Option<Self> {
        let mut all = Finishes {
            row: None,
            activation: NO_FUNCTION,
            leak: 0.0,
            slope: None,
            own: 1.0,
            other: None,
            weight: 0.0,
        };
        let mut stage = 0;
        for finish in list {
            let own = match finish {
                Finish::AddRow(_) => 1,
                Finish::Activate(..) | Finish::Slope(..) => 2,
                Finish::Combine { .. } => 3,
            };
            if own <= stage {
                return None;
            }
            stage = own;
            match *finish {
                Finish::AddRow(row) => all.row = Some(row),
                Finish::Activate(kind, leak) => (all.activation, all.leak) = (kind, leak),
                Finish::Slope(kind, leak, value) => {
                    (all.activation, all.leak, all.slope) = (kind, leak, Some(value));
                }
                Finish::Combine { own, other, weight } => {
                    (all.own, all.other, all.weight) = (own, other, weight);
                }
            }
        }
        Some(all)
    }

    /// As the arguments that kernels take for them.
    pub(crate) fn arguments(&self) -> [Argument; 7] {
        [
            self.row.into(),
            self.activation.into(),
            self.leak.into(),
            self.slope.into(),
            self.own.into(),
            self.other.into(),
            self.weight.into(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_kernels_do_in_that_order_is_joined() {
        let (row, activate) = (Finish::AddRow(Address(64)), Finish::Activate(0, 0.0));
        let combine = Finish::Combine { own: 2.0, other: None, weight: 0.0 };
        assert!(Finishes::of(&[]).is_some());
        assert!(Finishes::of(&[row, activate, combine]).is_some());
        assert!(Finishes::of(&[row, combine]).is_some());
        assert!(Finishes::of(&[activate, row]).is_none());
        assert!(Finishes::of(&[combine, activate]).is_none());
        assert!(Finishes::of(&[row, row]).is_none());
    }
}
