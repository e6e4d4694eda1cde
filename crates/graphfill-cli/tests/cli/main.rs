//! The program as a person meets it: what it prints, what it writes, how it ends.

mod bad_calls;
mod devices;
mod directed;
mod documents;
mod downloads;
mod evaluating;
mod filling;
mod labels;
mod limits;
mod looking;
mod models;
mod printing;
mod reproducing;
mod resuming;
mod stopping;
mod support;
mod tables;
mod timing;
mod tuning;
mod uncertain_calls;
mod uncertain_models;
mod uncertainty;
