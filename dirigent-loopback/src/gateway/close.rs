//! Why the gateway ends a connection (docs: topics/opcodes-and-status-codes).

/// Why the gateway closes a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Close {
    UnknownOpcode,
    DecodeError,
    NotAuthenticated,
    AuthenticationFailed,
    AlreadyAuthenticated,
    InvalidSeq,
    RateLimited,
    SessionTimedOut,
    InvalidShard,
    ShardingRequired,
    InvalidApiVersion,
    InvalidIntents,
    DisallowedIntents,
    /// A code that a test ordered.
    Ordered(u16),
    /// Something that this server lacks. It is logged as an error, so that you do not mistake it for Discord's
    /// answer.
    Lacking(&'static str),
    /// The address asks for an encoding that this server lacks. Clients consider the code final. They do not try
    /// again, which is right, because the same address would always be refused.
    NotSpoken(&'static str),
}

impl Close {
    /// Returns the status code of the close frame.
    pub(super) const fn code(self) -> u16 {
        match self {
            Self::Lacking(_) => 4000,
            Self::UnknownOpcode => 4001,
            Self::DecodeError => 4002,
            Self::NotAuthenticated => 4003,
            Self::AuthenticationFailed => 4004,
            Self::AlreadyAuthenticated => 4005,
            Self::InvalidSeq => 4007,
            Self::RateLimited => 4008,
            Self::SessionTimedOut => 4009,
            Self::InvalidShard => 4010,
            Self::ShardingRequired => 4011,
            Self::InvalidApiVersion | Self::NotSpoken(_) => 4012,
            Self::InvalidIntents => 4013,
            Self::DisallowedIntents => 4014,
            Self::Ordered(code) => code,
        }
    }

    /// Returns the words of the close frame.
    pub(super) const fn reason(self) -> &'static str {
        match self {
            Self::UnknownOpcode => "Unknown opcode.",
            Self::DecodeError => "Error while decoding payload.",
            Self::NotAuthenticated => "Not authenticated.",
            Self::AuthenticationFailed => "Authentication failed.",
            Self::AlreadyAuthenticated => "Already authenticated.",
            Self::InvalidSeq => "Invalid sequence.",
            Self::RateLimited => "You are being rate limited.",
            Self::SessionTimedOut => "Session timed out.",
            Self::InvalidShard => "Invalid shard.",
            Self::ShardingRequired => "Sharding required.",
            Self::InvalidApiVersion => "Invalid API version.",
            Self::InvalidIntents => "Invalid intent(s).",
            Self::DisallowedIntents => "Disallowed intent(s).",
            Self::Ordered(_) => "Ordered by the test.",
            Self::Lacking(what) | Self::NotSpoken(what) => what,
        }
    }

    /// Returns true if this server lacks something, and the client made no mistake.
    pub(super) const fn is_lack(self) -> bool {
        matches!(self, Self::Lacking(_) | Self::NotSpoken(_))
    }

    /// Returns true if the session ends with the connection, whichever side closed it. A resume is then impossible.
    pub(super) const fn ends_session(code: u16) -> bool {
        matches!(code, 1000 | 1001 | 4004 | 4007 | 4009..=4014)
    }
}
