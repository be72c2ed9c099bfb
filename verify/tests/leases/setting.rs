//! What bounds a world of leases.

/// What bounds the world, and what of the rule is left out on purpose.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) processes: u8,
    pub(super) ticks_max: u8,
    pub(super) turns_max: u8,
    pub(super) crashes_max: u8,
    pub(super) pauses_max: u8,
    /// How many requests and answers may be lost.
    pub(super) cuts_max: u8,
    /// How many ticks a clock may miss.
    pub(super) lags_max: u8,
    /// How many of them the margin is for.
    pub(super) lag_promised: u8,
    /// How many requests that were given up may still arrive.
    pub(super) late_max: usize,
    pub(super) fences: bool,
    pub(super) stores_first: bool,
    /// How much earlier than its expiry a lease is trusted no more, in ticks.
    pub(super) margin: u8,
}

impl Setting {
    pub(super) fn of(processes: u8) -> Self {
        Self {
            processes,
            ticks_max: 4,
            turns_max: 2,
            crashes_max: 0,
            pauses_max: 0,
            cuts_max: 1,
            lags_max: 0,
            lag_promised: 1,
            late_max: 0,
            fences: true,
            stores_first: true,
            margin: 1,
        }
    }
}
