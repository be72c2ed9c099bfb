//! The names of things: agents, messages, runs, turns and pending effects.
//!
//! All of them are plain numbers. The driver maps them to the world outside, for example to Discord ids or to a host's
//! run names. If you embed the core in a program of your own, you do that.

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

            /// Returns the number inside.
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
    /// A registered agent. The driver assigns the keys and stores them, so that an agent keeps its place if it gets
    /// another Discord account.
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
    /// One run of an agent, from the gate call before the model to the end after it.
    ///
    /// ```
    /// use dirigent_core::RunId;
    /// assert_eq!(RunId::from_text("run-a"), RunId::from_text("run-a"));
    /// assert_ne!(RunId::from_text("run-a"), RunId::from_text("run-b"));
    /// ```
    RunId(u64), "run-"
}

impl RunId {
    /// Turns a host's textual run name into an id. It is a 64-bit FNV-1a hash, which stays the same across versions.
    ///
    /// 64 bits are plenty, because a run is compared only with the recent runs of its channel.
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
    /// One turn of one agent. It rises by one with every grant of a channel.
    ///
    /// ```
    /// use dirigent_core::TurnId;
    /// assert!(TurnId::new(1) < TurnId::new(2));
    /// ```
    TurnId(u64), "turn-"
}

id! {
    /// The number of an effect that must be settled. It rises by one with every such effect.
    ///
    /// ```
    /// use dirigent_core::Ticket;
    /// assert_eq!(Ticket::new(7).get(), 7);
    /// ```
    Ticket(u64), "ticket-"
}
