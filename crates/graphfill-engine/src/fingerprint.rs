//! Fingerprints: 64-bit hashes that say whether two things are the same. A variant of FNV-1a over words of
//! 64 bits instead of bytes, with the high half folded into the low one after each word. Checkpoints depend on
//! it: it never changes. Not for anything that somebody might forge.

/// A fingerprint in the making.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fingerprint(u64);

impl Default for Fingerprint {
    fn default() -> Self {
        Fingerprint(0xcbf2_9ce4_8422_2325)
    }
}

impl Fingerprint {
    const PRIME: u64 = 0x0000_0100_0000_01b3;

    /// The fingerprint of a text.
    pub(crate) fn of(text: &str) -> u64 {
        let mut fingerprint = Fingerprint::default();
        fingerprint.add_all(text.bytes().map(u64::from));
        fingerprint.value()
    }

    pub(crate) fn add_all(&mut self, words: impl IntoIterator<Item = u64>) {
        for word in words {
            self.0 = (self.0 ^ word).wrapping_mul(Self::PRIME);
            // Whole words at a time instead of bytes: their high halves must come down.
            self.0 ^= self.0 >> 32;
        }
    }

    pub(crate) fn value(self) -> u64 {
        self.0
    }
}
