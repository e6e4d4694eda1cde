//! Tests of the methods through their public door.

mod corners;
mod directed;
mod filling;
mod grape;
mod learning;
mod networks;
mod noise;
mod own_propagation;
mod references;
mod secrets;
mod support;
mod surprises;
mod tables;
mod uncertainty;
mod validation;
mod walks;
mod wide;
