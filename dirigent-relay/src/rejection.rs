//! The reasons to reject a question.

/// The reason why the process that a question reached rejected it. It carried out no part of it. Each reason has a
/// [code](Self::code) for transports.
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
    /// The bytes are not a question in the form of this version.
    #[error("the question is malformed, or of another version of the relay")]
    Malformed,
    /// The question is larger than [`QUESTION_MAX`](crate::QUESTION_MAX).
    #[error("the question is too large")]
    TooLarge,
    /// The question is for another process.
    #[error(
        "the question is for another process: two have one address, or the address is another's"
    )]
    Misdirected,
    /// The question names a process that is not known here.
    #[error("the asking process is not known here: add it to the keyring")]
    UnknownHost,
    /// The question was not sealed with the secret of the process that it names.
    #[error("the question is forged, or the two processes have different secrets")]
    Forged,
    /// The question was accepted once already.
    #[error("the question was taken already")]
    Replayed,
}

impl Rejection {
    /// All rejections.
    pub const ALL: [Self; 6] = [
        Self::Malformed,
        Self::TooLarge,
        Self::Misdirected,
        Self::UnknownHost,
        Self::Forged,
        Self::Replayed,
    ];

    /// Returns the word for this rejection on the wire.
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

    /// Returns the rejection with this word.
    pub fn named(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rejection| rejection.code() == code)
    }
}
