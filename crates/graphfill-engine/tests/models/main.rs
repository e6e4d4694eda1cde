//! Every kind of model that the engine is there for, as a small program on a small graph with two
//! communities: each must learn, and what it learns must be read by a program that only predicts.

#[path = "../device/mod.rs"]
mod device;

mod classifiers;
mod community;
mod graph_networks;
mod mixed_table;
mod shared_latent;
mod variational;
mod walks;
