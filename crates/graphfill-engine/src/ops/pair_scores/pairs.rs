//! Which pairs: always the same, or drawn anew in each step.

use std::fmt;
use std::sync::Arc;

use crate::cpu::Call;
use crate::cuda;
use crate::fingerprint::Fingerprint;
use crate::program::Constant;
use crate::random::{Key, PAIR_GROUP, pairs_below};

/// A list of pairs of rows, as an operation keeps it.
#[derive(Clone)]
pub(super) enum Pairs {
    Fixed {
        pairs: Arc<[[u32; 2]]>,
        fingerprint: u64,
    },
    /// Drawn from all pairs of rows below `bounds`.
    Sampled {
        count: usize,
        bounds: [u32; 2],
        stream: u32,
    },
}

/// The pairs of one step, in groups of [`PAIR_GROUP`].
#[derive(Debug, Clone, Copy)]
pub(super) enum Groups<'a> {
    Fixed(&'a [[u32; 2]]),
    Sampled { count: usize, bounds: [u32; 2], key: Key },
}

impl Pairs {
    pub(super) fn fixed(pairs: &Arc<[[u32; 2]]>) -> Self {
        let mut fingerprint = Fingerprint::default();
        fingerprint.add_all(pairs.as_flattened().iter().map(|&row| u64::from(row)));
        Pairs::Fixed { pairs: Arc::clone(pairs), fingerprint: fingerprint.value() }
    }

    /// Which pairs they are, in the identity of an operation.
    pub(super) fn identity(&self) -> String {
        match self {
            Pairs::Fixed { pairs, fingerprint } => {
                format!("pairs({}, {fingerprint:016x})", pairs.len())
            }
            Pairs::Sampled { count, bounds: [left, right], stream } => {
                format!("sampled_pairs({count} of {left} × {right}, stream={stream})")
            }
        }
    }

    pub(super) fn count(&self) -> usize {
        match self {
            Pairs::Fixed { pairs, .. } => pairs.len(),
            Pairs::Sampled { count, .. } => *count,
        }
    }

    /// Those of this step.
    pub(super) fn groups(&self, call: &Call<'_>) -> Groups<'_> {
        match self {
            Pairs::Fixed { pairs, .. } => Groups::Fixed(pairs),
            &Pairs::Sampled { count, bounds, stream } => {
                Groups::Sampled { count, bounds, key: call.key(stream) }
            }
        }
    }

    /// What kernels are told of them, these being the rows of both matrices.
    pub(super) fn on_card(
        &self,
        call: &mut cuda::Call<'_>,
        rows: [usize; 2],
    ) -> Result<[cuda::Argument; 5], String> {
        // There are two lists for each, whose places are counted in 32 bits.
        if u32::try_from(2 * self.count()).is_err() {
            return Err(format!("{} pairs are more than a card can list", self.count()));
        }
        let (fixed, stream) = match self {
            Pairs::Fixed { pairs, .. } => {
                let identity = pairs.as_ptr().addr();
                (Some(call.constant(identity, "pairs", || pairs.to_vec())?), 0)
            }
            Pairs::Sampled { stream, .. } => (None, *stream),
        };
        let [left, right] = rows.map(|rows| (rows as u32).into());
        Ok([fixed.into(), call.context().into(), stream.into(), left, right])
    }

    pub(super) fn constants(&self) -> Vec<Constant> {
        match self {
            Pairs::Fixed { pairs, .. } => vec![Constant {
                identity: pairs.as_ptr().addr(),
                bytes: size_of_val(&pairs[..]) as u64,
            }],
            Pairs::Sampled { .. } => Vec::new(),
        }
    }
}

impl fmt::Debug for Pairs {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.identity())
    }
}

impl Groups<'_> {
    pub(super) fn groups(self) -> usize {
        let count = match self {
            Groups::Fixed(pairs) => pairs.len(),
            Groups::Sampled { count, .. } => count,
        };
        count.div_ceil(PAIR_GROUP)
    }

    /// The pairs of a group, and how many of them count.
    #[inline(always)]
    pub(super) fn group(self, group: usize) -> ([[u32; 2]; PAIR_GROUP], usize) {
        let begin = group * PAIR_GROUP;
        match self {
            Groups::Fixed(pairs) => {
                let len = PAIR_GROUP.min(pairs.len() - begin);
                let mut own = [[0; 2]; PAIR_GROUP];
                own[..len].copy_from_slice(&pairs[begin..begin + len]);
                (own, len)
            }
            Groups::Sampled { count, bounds, key } => {
                (pairs_below(key, group as u32, bounds), PAIR_GROUP.min(count - begin))
            }
        }
    }
}
