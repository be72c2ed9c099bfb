//! What a session asked to hear of (docs: events/gateway, gateway intents).

use std::ops::BitOr;

/// Gateway intents, as the bits that IDENTIFY carries.
///
/// ```
/// use dirigent_testkit::loopback::Intents;
///
/// let intents = Intents::GUILDS | Intents::MESSAGE_CONTENT;
/// assert_eq!(intents.bits(), 1 | 1 << 15);
/// assert!(intents.contains(Intents::GUILDS));
/// assert_eq!(intents.privileged(), Intents::MESSAGE_CONTENT);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Intents(u64);

impl Intents {
    /// Nothing but what everybody hears.
    pub const NONE: Self = Self(0);
    /// Guilds, roles, channels, threads.
    pub const GUILDS: Self = Self(1 << 0);
    /// Members who come, go and change. Privileged.
    pub const GUILD_MEMBERS: Self = Self(1 << 1);
    /// Who is online. Privileged; nothing here is pushed for it.
    pub const GUILD_PRESENCES: Self = Self(1 << 8);
    /// Messages in guilds.
    pub const GUILD_MESSAGES: Self = Self(1 << 9);
    /// Reactions in guilds.
    pub const GUILD_MESSAGE_REACTIONS: Self = Self(1 << 10);
    /// Who types in guilds.
    pub const GUILD_MESSAGE_TYPING: Self = Self(1 << 11);
    /// Direct messages.
    pub const DIRECT_MESSAGES: Self = Self(1 << 12);
    /// Reactions in direct messages.
    pub const DIRECT_MESSAGE_REACTIONS: Self = Self(1 << 13);
    /// Who types in direct messages.
    pub const DIRECT_MESSAGE_TYPING: Self = Self(1 << 14);
    /// What messages say. Privileged.
    pub const MESSAGE_CONTENT: Self = Self(1 << 15);
    /// All three that an account must be allowed.
    pub const PRIVILEGED: Self =
        Self(Self::GUILD_MEMBERS.0 | Self::GUILD_PRESENCES.0 | Self::MESSAGE_CONTENT.0);

    /// Every bit that means something.
    const KNOWN: u64 = 0x1_ffff | 1 << 20 | 1 << 21 | 1 << 24 | 1 << 25;

    /// None where a bit means nothing.
    pub const fn from_bits(bits: u64) -> Option<Self> {
        if bits & !Self::KNOWN == 0 { Some(Self(bits)) } else { None }
    }

    /// The bits.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Whether all of these are among them.
    pub const fn contains(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }

    /// Those among them that an account must be allowed.
    #[must_use]
    pub const fn privileged(self) -> Self {
        Self(self.0 & Self::PRIVILEGED.0)
    }

    /// Whether an event of this name is pushed to a session with these intents. An event that has no
    /// intent goes to everybody.
    pub(super) fn hear(self, event: &str, in_guild: bool) -> bool {
        let wanted = match event {
            "GUILD_CREATE" | "GUILD_UPDATE" | "GUILD_DELETE" | "GUILD_ROLE_CREATE"
            | "GUILD_ROLE_UPDATE" | "GUILD_ROLE_DELETE" | "CHANNEL_CREATE" | "CHANNEL_UPDATE"
            | "CHANNEL_DELETE" | "CHANNEL_PINS_UPDATE" | "THREAD_CREATE" | "THREAD_UPDATE"
            | "THREAD_DELETE" | "THREAD_LIST_SYNC" | "THREAD_MEMBER_UPDATE" => Self::GUILDS,
            // Of the app itself it comes with GUILDS too, of others only with GUILD_MEMBERS.
            "THREAD_MEMBERS_UPDATE" => return self.0 & (Self::GUILDS | Self::GUILD_MEMBERS).0 != 0,
            "GUILD_MEMBER_ADD" | "GUILD_MEMBER_UPDATE" | "GUILD_MEMBER_REMOVE" => {
                Self::GUILD_MEMBERS
            }
            "PRESENCE_UPDATE" => Self::GUILD_PRESENCES,
            "MESSAGE_CREATE" | "MESSAGE_UPDATE" | "MESSAGE_DELETE" | "MESSAGE_DELETE_BULK" => {
                if in_guild { Self::GUILD_MESSAGES } else { Self::DIRECT_MESSAGES }
            }
            "MESSAGE_REACTION_ADD" | "MESSAGE_REACTION_REMOVE" | "MESSAGE_REACTION_REMOVE_ALL"
            | "MESSAGE_REACTION_REMOVE_EMOJI" => {
                if in_guild {
                    Self::GUILD_MESSAGE_REACTIONS
                } else {
                    Self::DIRECT_MESSAGE_REACTIONS
                }
            }
            "TYPING_START" => {
                if in_guild { Self::GUILD_MESSAGE_TYPING } else { Self::DIRECT_MESSAGE_TYPING }
            }
            _ => Self::NONE,
        };
        self.contains(wanted)
    }
}

impl BitOr for Intents {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bit_without_meaning_is_refused() {
        assert_eq!(Intents::from_bits(1 << 17), None);
        assert_eq!(Intents::from_bits(1 << 40), None);
        assert_eq!(Intents::from_bits(1 << 9), Some(Intents::GUILD_MESSAGES));
    }

    #[test]
    fn each_event_needs_its_intent() {
        let guild_messages = Intents::GUILD_MESSAGES;
        assert!(guild_messages.hear("MESSAGE_CREATE", true));
        assert!(!guild_messages.hear("MESSAGE_CREATE", false));
        assert!(!guild_messages.hear("TYPING_START", true));
        assert!(!guild_messages.hear("GUILD_CREATE", true));
        assert!(!Intents::GUILDS.hear("GUILD_MEMBER_ADD", true));
        assert!(Intents::DIRECT_MESSAGES.hear("MESSAGE_DELETE", false));
        assert!(Intents::NONE.hear("INTERACTION_CREATE", true));
        assert!(Intents::NONE.hear("READY", false));
    }
}
