//! The order of times, and where the rows of a time lie.

use std::ops::Range;

use super::Direction;

#[derive(Debug, Clone, Copy)]
pub(super) struct Time {
    length: usize,
    direction: Direction,
    batch: usize,
}

impl Time {
    pub(super) fn new(length: usize, direction: Direction, batch: usize) -> Self {
        Time { length, direction, batch }
    }

    /// The times in the order in which they are read.
    pub(super) fn order(self) -> impl DoubleEndedIterator<Item = usize> {
        (0..self.length).map(move |at| match self.direction {
            Direction::Forward => at,
            Direction::Backward => self.length - 1 - at,
        })
    }

    /// The time that is read before that one.
    pub(super) fn before(self, at: usize) -> Option<usize> {
        match self.direction {
            Direction::Forward => at.checked_sub(1),
            Direction::Backward => Some(at + 1).filter(|&before| before < self.length),
        }
    }

    /// The numbers of a time in a matrix of so many columns.
    pub(super) fn rows(self, at: usize, columns: usize) -> Range<usize> {
        let numbers = self.batch * columns;
        at * numbers..(at + 1) * numbers
    }

    /// The states of the time before, to be read, and those of a time, to be written.
    pub(super) fn split(
        self,
        states: &mut [f32],
        at: usize,
        hidden: usize,
    ) -> (Option<&[f32]>, &mut [f32]) {
        let (own, numbers) = (self.rows(at, hidden), self.batch * hidden);
        match (self.before(at), self.direction) {
            (None, _) => (None, &mut states[own]),
            (Some(before), Direction::Forward) => {
                let (earlier, later) = states.split_at_mut(own.start);
                (Some(&earlier[self.rows(before, hidden)]), &mut later[..numbers])
            }
            (Some(_), Direction::Backward) => {
                let (earlier, later) = states.split_at_mut(own.end);
                (Some(&later[..numbers]), &mut earlier[own])
            }
        }
    }
}
