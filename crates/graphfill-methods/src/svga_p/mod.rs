//! SVGA-P: SVGA on a propagation prior.
//!
//! Propagation is hard to beat where neighbours are alike, and needs no training; what SVGA adds is
//! what columns have to do with one another. So here propagation speaks first, in several ways
//! ([`components`]) that known cells weigh ([`blend`]), and a small graph network with SVGA's field
//! learns where it is wrong ([`model`]). A tenth of SVGA's updates is enough, and nothing is learnt for
//! single nodes, so that nodes which arrive later are estimated without training again.

mod blend;
mod components;
mod compression;
mod evidence;
mod least_squares;
mod method;
mod model;
mod prior;
mod row_model;
mod settings;

pub use method::{SvgaP, expected_seconds};
