//! The names of things: agents, messages, runs, turns and pending effects.
//!
//! All are plain numbers. Who maps them to the outside (a Discord id, a host's run name) is the
//! driver, or another program that embeds the core.

use core::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty), $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name($inner);

        impl $name {
            /// Wraps the number.
            pub const fn new(value: $inner) -> Self {
                Self(value)
            }

            /// The number inside.
            pub const fn get(self) -> $inner {
                self.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(self, f)
            }
        }
    };
}

id! {
    /// One registered agent. The driver hands out keys and persists them, so that an agent whose
    /// Discord account is re-pointed keeps its place.
    ///
    /// ```
    /// use dirigent_core::AgentKey;
    /// assert_eq!(AgentKey::new(3).to_string(), "agent-3");
    /// ```
    AgentKey(u32), "agent-"
}

id! {
    /// A chat message. Ids rise with time and are compared as numbers, never as text.
    ///
    /// ```
    /// use dirigent_core::MessageId;
    /// assert!(MessageId::new(9) < MessageId::new(10));
    /// ```
    MessageId(u64), "message-"
}

id! {
    /// One run of an agent: from the gate call before the model to the end after it.
    ///
    /// ```
    /// use dirigent_core::RunId;
    /// assert_eq!(RunId::from_text("run-a"), RunId::from_text("run-a"));
    /// assert_ne!(RunId::from_text("run-a"), RunId::from_text("run-b"));
    /// ```
    RunId(u64), "run-"
}

impl RunId {
    /// Turns a host's textual run name into an id (64-bit FNV-1a, stable across versions).
    ///
    /// Runs are compared only with the recent runs of the same channel, so 64 bits are plenty.
    pub const fn from_text(name: &str) -> Self {
        let bytes = name.as_bytes();
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut rest = bytes;
        while let [first, tail @ ..] = rest {
            hash = (hash ^ *first as u64).wrapping_mul(0x0000_0100_0000_01b3);
            rest = tail;
        }
        Self(hash)
    }
}

id! {
    /// One turn of one agent; rises by one with every grant of a channel.
    ///
    /// ```
    /// use dirigent_core::TurnId;
    /// assert!(TurnId::new(1) < TurnId::new(2));
    /// ```
    TurnId(u64), "turn-"
}

id! {
    /// The number of an effect that must be settled. Rises by one with every such effect.
    ///
    /// ```
    /// use dirigent_core::Ticket;
    /// assert_eq!(Ticket::new(7).get(), 7);
    /// ```
    Ticket(u64), "ticket-"
}
