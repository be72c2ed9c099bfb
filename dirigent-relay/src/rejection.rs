//! Why a question was not taken.

/// Why a question was not taken by the process that it reached: nothing was done. Each has a [code](Self::code) for
/// transports.
///
/// ```
/// use dirigent_relay::Rejection;
///
/// assert_eq!(Rejection::Replayed.code(), "replayed");
/// assert_eq!(Rejection::named("replayed"), Some(Rejection::Replayed));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Rejection {
    /// It is no question as this version writes them.
    #[error("the question is malformed, or of another version of the relay")]
    Malformed,
    /// It is larger than [`QUESTION_MAX`](crate::QUESTION_MAX).
    #[error("the question is too large")]
    TooLarge,
    /// It is for another process.
    #[error(
        "the question is for another process: two have one address, or the address is another's"
    )]
    Misdirected,
    /// It names a process that is not known here.
    #[error("the asking process is not known here: add it to the keyring")]
    UnknownHost,
    /// It was not sealed with the secret of the process that it names.
    #[error("the question is forged, or the two processes have different secrets")]
    Forged,
    /// It was taken once already.
    #[error("the question was taken already")]
    Replayed,
}

impl Rejection {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Malformed,
        Self::TooLarge,
        Self::Misdirected,
        Self::UnknownHost,
        Self::Forged,
        Self::Replayed,
    ];

    /// Returns the word for it on the wire.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::TooLarge => "too-large",
            Self::Misdirected => "misdirected",
            Self::UnknownHost => "unknown-host",
            Self::Forged => "forged",
            Self::Replayed => "replayed",
        }
    }

    /// The one with this word.
    pub fn named(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rejection| rejection.code() == code)
    }
}
