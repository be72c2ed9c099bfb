//! Shards, and the epochs in which they are held.

use std::fmt;

use dirigent::ChannelId;

/// A part of all channels. One process acts for it at a time.
///
/// ```
/// use dirigent_cluster::lease::Shard;
/// assert_eq!(Shard::new(7).get(), 7);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shard(u16);

impl Shard {
    /// Creates the shard with this number, counted from 0.
    pub const fn new(number: u16) -> Self {
        Self(number)
    }

    /// Returns the shard's number.
    pub const fn get(self) -> u16 {
        self.0
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The number of a shard's term. It rises each time the shard gets an owner, and a commit of an earlier term is
/// refused.
///
/// ```
/// use dirigent_cluster::lease::Epoch;
/// assert!(Epoch::new(2) > Epoch::new(1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch(u64);

impl Epoch {
    /// Creates the epoch with this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Returns the epoch's number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Returns the shard of a channel among `shards`, which must not be 0. Every process must compute the same one. All
/// bits of the id count, because ids that were made at the same time differ in few.
///
/// ```
/// use dirigent::ChannelId;
/// use dirigent_cluster::lease::{Shard, shard_of};
///
/// let shard = shard_of(ChannelId::new(123456789012345678), 256);
/// assert!(shard.get() < 256);
/// assert_eq!(shard_of(ChannelId::new(5), 1), Shard::new(0));
/// ```
pub fn shard_of(channel: ChannelId, shards: u16) -> Shard {
    // Fibonacci hashing: the high bits of the product depend on all bits.
    let mixed = (channel.get() ^ (channel.get() >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let shard = (u128::from(mixed) * u128::from(shards)) >> 64;
    Shard(u16::try_from(shard).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ids as Discord makes them: milliseconds in the high bits, a worker and a count in the low ones.
    #[test]
    fn channels_that_were_made_one_after_the_other_are_spread_over_all_shards() {
        let mut counts = vec![0_u32; 256];
        for number in 0..25_600_u64 {
            let id = ((1_000_000_000_000 + number * 37) << 22) | (number % 3);
            counts[usize::from(shard_of(ChannelId::new(id), 256).get())] += 1;
        }
        let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
        assert!(*least > 50 && *most < 200, "{least} to {most} channels a shard");
    }
}
