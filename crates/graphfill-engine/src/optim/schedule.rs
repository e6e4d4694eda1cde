//! The learning rate of a step:  constant, or  to + (from − to) · (1 + cos(π · step / steps)) / 2

/// How the learning rate changes with the steps of a program.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Schedule {
    /// The same in every step.
    Constant(f32),
    /// Half a wave of the cosine, from the first step to the last.
    Cosine {
        /// The rate of step 0.
        from: f32,
        /// The rate after `steps` steps, and ever after.
        to: f32,
        /// How many steps the way takes.
        steps: u64,
    },
}

impl Schedule {
    /// The learning rate of a step, counted from 0.
    pub fn rate(self, step: u64) -> f32 {
        match self {
            Schedule::Constant(rate) => rate,
            Schedule::Cosine { to, steps, .. } if step >= steps => to,
            Schedule::Cosine { from, to, steps } => {
                let angle = std::f64::consts::PI * step as f64 / steps as f64;
                let share = (1.0 + angle.cos()) / 2.0;
                (f64::from(to) + (f64::from(from) - f64::from(to)) * share) as f32
            }
        }
    }

    /// What is wrong with it.
    pub(super) fn problem(self) -> Option<String> {
        let rates = match self {
            Schedule::Constant(rate) => [rate, rate],
            Schedule::Cosine { from, to, .. } => [from, to],
        };
        let wrong = rates.into_iter().find(|rate| !(rate.is_finite() && *rate >= 0.0))?;
        Some(format!("the learning rate is {wrong}; it must be a finite number, not below 0"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_stays() {
        assert_eq!(Schedule::Constant(0.01).rate(0), 0.01);
        assert_eq!(Schedule::Constant(0.01).rate(u64::MAX), 0.01);
    }

    #[test]
    fn the_cosine_goes_from_one_end_to_the_other() {
        let schedule = Schedule::Cosine { from: 0.3, to: 0.1, steps: 100 };
        assert_eq!(schedule.rate(0), 0.3);
        assert!((schedule.rate(50) - 0.2).abs() < 1e-7);
        let quarter = 0.2 + 0.1 * std::f32::consts::FRAC_1_SQRT_2;
        assert!((schedule.rate(25) - quarter).abs() < 1e-7);
        assert_eq!(schedule.rate(100), 0.1);
        assert_eq!(schedule.rate(1000), 0.1);
        let falls = (0..100).all(|step| schedule.rate(step + 1) < schedule.rate(step));
        assert!(falls);
    }

    #[test]
    fn no_way_at_all_is_its_end() {
        assert_eq!(Schedule::Cosine { from: 0.3, to: 0.1, steps: 0 }.rate(0), 0.1);
    }
}
