//! Whatever is drawn, a figure is well-formed XML without a number that is none.

mod any_points;
mod outcomes;
mod snapshot;
mod well_formed;
