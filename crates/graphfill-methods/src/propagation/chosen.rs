//! Estimates with chosen parameters: a panel is run once for every different choice among its
//! groups.

use super::{Operators, ROUNDS};
use crate::error::Result;
use crate::features::{Centres, Panel, Panels};
use crate::method::{Choice, EstimateSink, Estimates, Fitted, Task};
use crate::parameters::Parameters;
use crate::registry;

/// A choice of method and parameters for every group.
pub(crate) struct Chosen<'a> {
    operators: Operators<'a>,
    choices: Vec<Choice>,
}

impl<'a> Chosen<'a> {
    pub(crate) fn new(task: &Task<'a>, choices: Vec<Choice>) -> Self {
        Chosen { operators: Operators::of(task), choices }
    }
}

impl Fitted for Chosen<'_> {
    fn choices(&self) -> &[Choice] {
        &self.choices
    }

    fn estimate(&self, task: &Task<'_>, sink: &mut dyn EstimateSink) -> Result<()> {
        let features = task.features;
        let offsets = Centres::of(features, task.unknown).offsets(features);
        let panels = Panels::on(&task.training.device, features, &task.wanted());
        task.progress.begin("estimating", Some(panels.len() as u64));
        for range in panels.iter() {
            let panel = Panel::load(features, range.clone(), task.unknown, &offsets);
            let loaded = self.operators.load(&panel);
            let parts = || {
                let inside = features.groups_in(range.clone());
                inside.map(|(group, _, part)| (part, &self.choices[group]))
            };
            let mut done: Vec<(&str, &Parameters)> = Vec::new();
            for (_, choice) in parts() {
                let own = (choice.method, &choice.parameters);
                if done.contains(&own) {
                    continue;
                }
                done.push(own);
                let alike = |other: &Choice| (other.method, &other.parameters) == own;
                let mut hand_out = |values: &[f32]| {
                    parts().filter(|(_, other)| alike(other)).try_for_each(|(part, _)| {
                        let column = part.start - range.start;
                        sink.accept(&Estimates {
                            features: (part.start, part.end),
                            width: panel.width,
                            values: &values[column..],
                            offsets: &panel.offsets[column..],
                        })
                    })
                };
                let method = registry::propagation(choice.method)?;
                let rounds = choice.parameters.get(ROUNDS).map_or(1, |rounds| rounds as usize);
                let mut handed_out = Ok(());
                method.run(&loaded, &choice.parameters, &[rounds], &mut |_, values| {
                    handed_out = hand_out(values);
                })?;
                handed_out?;
            }
            task.progress.advance(1);
            task.progress.check()?;
        }
        task.progress.end();
        Ok(())
    }
}
