//! Tests of the methods through their public door.

mod filling;
mod references;
mod support;
mod surprises;
