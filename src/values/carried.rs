//! The result of carrying something to another process.

/// The result of carrying something to the process that acts for a channel.
///
/// ```
/// use dirigent::ports::Carried;
/// assert_eq!(Carried::Answered(7).map(|answer| answer + 1), Carried::Answered(8));
/// assert_ne!(Carried::<u8>::NotCarried, Carried::InDoubt);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "each has a text of its own for the person")]
pub enum Carried<T> {
    /// The process that acts for the channel answered.
    Answered(T),
    /// No process acts for the channel now, or the process that did so no longer does. The request was not carried out.
    NoOwner,
    /// The process that acts for the channel surely did not get it, or does not accept it.
    NotCarried,
    /// The process did not answer in time, or its answer was lost. The request may have been carried out.
    InDoubt,
    /// This process cannot carry such requests.
    NoWay,
}

impl<T> Carried<T> {
    /// Changes the answer, if there is one.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Carried<U> {
        match self {
            Self::Answered(answer) => Carried::Answered(change(answer)),
            Self::NoOwner => Carried::NoOwner,
            Self::NotCarried => Carried::NotCarried,
            Self::InDoubt => Carried::InDoubt,
            Self::NoWay => Carried::NoWay,
        }
    }
}
