//! The methods by name. A [`Registry`] starts with those of this crate; other crates add their own.
//!
//! ```
//! use graphfill_methods::Registry;
//!
//! let registry = Registry::with_defaults();
//! assert_eq!(registry.find("arb")?.info().title, "ARB");
//! # Ok::<(), graphfill_methods::MethodError>(())
//! ```

use std::sync::Arc;

use graphfill_data::did_you_mean;

use crate::arb::Arb;
use crate::arwmf::Arwmf;
use crate::auto::Auto;
use crate::column_mean::ColumnMean;
use crate::error::{MethodError, Result};
use crate::feature_propagation::FeaturePropagation;
use crate::gmrf::Gmrf;
use crate::gnn::GraphNetwork;
use crate::grape::Grape;
use crate::graph_rna::GraphRna;
use crate::method::{DeviceUse, Method};
use crate::neighbour_mean::NeighbourMean;
use crate::parameters::ParamOverrides;
use crate::pcfi::Pcfi;
use crate::sat::Sat;
use crate::svga::Svga;
use crate::svga_p::SvgaP;
use crate::vae::Vae;

/// Methods by name, in the order in which they are listed: simplest first.
#[derive(Clone)]
pub struct Registry {
    methods: Vec<Arc<dyn Method>>,
}

impl Registry {
    /// All methods of this crate.
    pub fn with_defaults() -> Self {
        Registry { methods: Vec::new() }
            .register(ColumnMean::new())
            .register(NeighbourMean::new())
            .register(FeaturePropagation::new())
            .register(Arb::new())
            .register(Pcfi::new())
            .register(Gmrf::new())
            .register(Vae::new())
            .register(GraphNetwork::gcn())
            .register(GraphNetwork::sage())
            .register(GraphNetwork::gat())
            .register(GraphNetwork::new())
            .register(GraphRna::new())
            .register(Arwmf::new())
            .register(Sat::new())
            .register(Grape::new())
            .register(Svga::unregularised())
            .register(Svga::stochastic())
            .register(Svga::new())
            .register(SvgaP::new())
            .register(Auto::new())
    }

    /// Adds a method, in place of one of the same name if there is one.
    #[must_use]
    pub fn register(mut self, method: impl Method + 'static) -> Self {
        let name = method.info().name;
        let method: Arc<dyn Method> = Arc::new(method);
        match self.methods.iter_mut().find(|known| known.info().name == name) {
            Some(known) => *known = method,
            None => self.methods.push(method),
        }
        self
    }

    /// The methods with parameters that a caller sets. `auto` compares the methods with these
    /// parameters, too.
    pub fn with_overrides(mut self, overrides: &ParamOverrides) -> Result<Self> {
        for name in overrides.methods() {
            let method = self.find(name)?.with_parameters(&overrides.of(name))?;
            if let Some(known) = self.methods.iter_mut().find(|known| known.info().name == name) {
                *known = method;
            }
        }
        let candidates = self.methods.clone();
        for method in &mut self.methods {
            if let Some(replaced) = method.with_candidates(&candidates) {
                *method = replaced;
            }
        }
        Ok(self)
    }

    /// Every method.
    pub fn all(&self) -> &[Arc<dyn Method>] {
        &self.methods
    }

    /// The methods that are worth comparing on any table: those that propagate, and svga-p.
    pub fn usual(&self) -> Vec<Arc<dyn Method>> {
        let propagates = |method: &Arc<dyn Method>| method.device_use() == DeviceUse::Propagation;
        let is_usual = |method: &&Arc<dyn Method>| {
            propagates(method) || ["column-mean", "svga-p"].contains(&method.info().name)
        };
        self.methods.iter().filter(is_usual).cloned().collect()
    }

    /// The method of that name.
    pub fn find(&self, name: &str) -> Result<Arc<dyn Method>> {
        let found = self.methods.iter().find(|method| method.info().name == name);
        found.cloned().ok_or_else(|| {
            let known: Vec<&str> = self.methods.iter().map(|method| method.info().name).collect();
            let closest = did_you_mean(name, known.iter().copied()).map(str::to_owned);
            MethodError::UnknownMethod { name: name.to_owned(), known: known.join(", "), closest }
        })
    }
}

impl Default for Registry {
    fn default() -> Self {
        Registry::with_defaults()
    }
}
