//! What operations hold for themselves, in the memory of a card: sparse matrices, targets.

use std::collections::HashMap;
use std::sync::Arc;

use super::Card;
use super::driver::{Memory, Stream, problem};
use crate::cuda::call::{Content, Identity};
use crate::cuda::{Address, Constants};

/// What operations hold for themselves, on the card.
#[derive(Debug)]
pub(super) struct Uploads {
    memory: HashMap<Identity, Memory>,
    card: Arc<Card>,
}

impl Uploads {
    pub(super) fn new(card: &Arc<Card>) -> Self {
        Uploads { memory: HashMap::new(), card: Arc::clone(card) }
    }
}

impl Constants for Uploads {
    fn constant(
        &mut self,
        identity: Identity,
        content: &mut Content<'_>,
    ) -> Result<Address, String> {
        if let Some(known) = self.memory.get(&identity) {
            return Ok(known.address());
        }
        let bytes = content();
        let memory = Memory::new(&self.card.context, bytes.len()).map_err(problem)?;
        let stream = Stream::new(&self.card.context).map_err(problem)?;
        stream.write(memory.address(), &bytes).map_err(problem)?;
        let address = memory.address();
        self.memory.insert(identity, memory);
        Ok(address)
    }
}
