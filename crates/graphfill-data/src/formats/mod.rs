//! One file a format.

pub(crate) mod open;
