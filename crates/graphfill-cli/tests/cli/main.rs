//! The program as a person meets it: what it prints, what it writes, how it ends.

mod bad_calls;
mod downloads;
mod evaluating;
mod filling;
mod looking;
mod support;
mod timing;
