//! Bytes as a source of numbers that never runs dry.

use dirigent_core::Timestamp;

/// Takes numbers off the front; zeros when there is nothing left.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    pub(super) fn byte(&mut self) -> u8 {
        match self.bytes.split_first() {
            Some((first, rest)) => {
                self.bytes = rest;
                *first
            }
            None => 0,
        }
    }

    pub(super) fn number(&mut self) -> u64 {
        (0..8).fold(0, |number, _| number << 8 | u64::from(self.byte()))
    }

    /// A number that is usually small, so that numbers meet.
    pub(super) fn small(&mut self) -> u64 {
        match self.byte() {
            255 => u64::MAX,
            254 => self.number(),
            small => u64::from(small),
        }
    }

    pub(super) fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    pub(super) fn moment(&mut self) -> Timestamp {
        Timestamp::from_millis(self.small().saturating_mul(997))
    }

    pub(super) fn maybe<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.flag().then(|| read(self))
    }

    /// A list of at most `most` values, usually of a few.
    pub(super) fn list<T>(&mut self, most: u8, mut read: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let count = match self.byte() {
            255 => most,
            few => few % 6,
        };
        (0..count).map(|_| read(self)).collect()
    }

    pub(super) const fn rest(&self) -> &'a [u8] {
        self.bytes
    }
}
