//! Why the gateway ends a connection (docs: topics/opcodes-and-status-codes).

/// What the gateway says when it closes a connection.
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
    /// Something that this server lacks, logged as an error so that it is not taken for Discord's answer.
    Lacking(&'static str),
    /// The address asks for a form of payloads that this server lacks. Clients take the code for final and do not try
    /// again and again, because the same address would be refused each time.
    NotSpoken(&'static str),
}

impl Close {
    /// The status code of the WebSocket's close frame.
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

    /// The words in the close frame.
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

    /// Whether it is this server that lacks something, and the client did nothing wrong.
    pub(super) const fn is_lack(self) -> bool {
        matches!(self, Self::Lacking(_) | Self::NotSpoken(_))
    }

    /// Whether the session is lost with the connection, no matter which side closed it: what follows is no resume.
    pub(super) const fn ends_session(code: u16) -> bool {
        matches!(code, 1000 | 1001 | 4004 | 4007 | 4009..=4014)
    }
}
