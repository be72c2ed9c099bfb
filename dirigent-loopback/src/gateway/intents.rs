//! The events that a session asked for (docs: events/gateway, gateway intents).

use crate::wire::intent;

/// Gateway intents, as the bits of IDENTIFY.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Intents(u64);

impl Intents {
    /// Every bit that Discord knows.
    const KNOWN: u64 = 0x1_ffff | 1 << 20 | 1 << 21 | 1 << 24 | 1 << 25;

    /// Intents that an account needs permission for.
    const PRIVILEGED: u64 = intent::MEMBERS | intent::PRESENCES | intent::CONTENT;

    /// Returns `None` if a bit is unknown.
    pub(super) const fn from_bits(bits: u64) -> Option<Self> {
        if bits & !Self::KNOWN == 0 { Some(Self(bits)) } else { None }
    }

    pub(super) const fn bits(self) -> u64 {
        self.0
    }

    /// Returns true if the session has this intent.
    pub(super) const fn has(self, intent: u64) -> bool {
        self.0 & intent != 0
    }

    /// Returns true if the session gets events that need one of these intents; 0 needs none.
    pub(super) const fn hear(self, wanted: u64) -> bool {
        wanted == 0 || self.has(wanted)
    }

    /// Returns true if an account with these privileged intents may have all the intents it asked
    /// for.
    pub(super) const fn are_allowed(self, privileged: u64) -> bool {
        self.0 & Self::PRIVILEGED & !privileged == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bit_without_meaning_is_refused() {
        assert_eq!(Intents::from_bits(1 << 17), None);
        assert_eq!(Intents::from_bits(1 << 40), None);
        assert!(Intents::from_bits(intent::GUILD_MESSAGES).is_some());
    }

    #[test]
    fn only_privileged_ones_must_be_allowed() {
        let intents = Intents::from_bits(intent::GUILDS | intent::CONTENT).unwrap();
        assert!(!intents.are_allowed(0));
        assert!(!intents.are_allowed(intent::MEMBERS));
        assert!(intents.are_allowed(intent::CONTENT));
        assert!(Intents::from_bits(intent::GUILDS).unwrap().are_allowed(0));
    }

    #[test]
    fn an_event_is_told_to_who_asked_for_one_of_its_intents() {
        let intents = Intents::from_bits(intent::GUILDS).unwrap();
        assert!(intents.hear(0));
        assert!(intents.hear(intent::GUILDS | intent::MEMBERS));
        assert!(!intents.hear(intent::MEMBERS));
    }
}
