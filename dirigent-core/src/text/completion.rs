//! The policies for when a reply completes its turn: at the end of the run, or with a signal in its text.

use alloc::borrow::Cow;

use crate::text::reply::SilencePolicy;
use crate::text::reply::is_space;
use crate::{Outcome, Tail};

/// The event that completes a turn.
///
/// ```
/// use dirigent_core::text::{CompletionPolicy, Signal, SilencePolicy};
/// use dirigent_core::{Outcome, Tail};
///
/// let policy = CompletionPolicy::Signal(Signal::default());
/// let silence = SilencePolicy::Strict;
/// let done = policy.outcome(silence, "Here you are. TURN_COMPLETE");
/// assert_eq!(done, Outcome::Spoke { tail: Tail::of("Here you are.") });
/// let more = policy.outcome(silence, "Let me look at that.");
/// assert!(matches!(more, Outcome::Unfinished { .. }));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CompletionPolicy {
    /// The end of the run.
    #[default]
    RunEnd,
    /// A reply that ends with this signal. Other replies leave the turn open.
    Signal(Signal),
}

impl CompletionPolicy {
    /// Returns the part of a reply that reaches the channel: the result of [`SilencePolicy::deliverable`], without the
    /// signal if that is stripped. It is empty if the reply consists of the signal only.
    ///
    /// ```
    /// use dirigent_core::text::{CompletionPolicy, Signal, SilencePolicy};
    ///
    /// let policy = CompletionPolicy::Signal(Signal::default());
    /// assert_eq!(policy.deliverable(SilencePolicy::Strict, "Fine. TURN_COMPLETE"), "Fine.");
    /// assert_eq!(policy.deliverable(SilencePolicy::Strict, "NO_REPLY TURN_COMPLETE"), "");
    /// ```
    #[must_use]
    pub fn deliverable<'a>(&self, silence: SilencePolicy, text: &'a str) -> &'a str {
        self.read(silence, text).delivered
    }

    /// Returns the tail that identifies a text. A signal at the end of the text is left out, so that a reply is
    /// recognised whether the signal stands in the reported text, in the post, or in both. The tail is empty if the
    /// text is only the signal. Use the same policy for reported and for posted texts.
    ///
    /// ```
    /// use dirigent_core::text::{CompletionPolicy, Signal};
    /// use dirigent_core::Tail;
    ///
    /// let policy = CompletionPolicy::Signal(Signal::default());
    /// assert_eq!(policy.tail("Fine. TURN_COMPLETE"), Tail::of("Fine."));
    /// assert_eq!(CompletionPolicy::RunEnd.tail("Fine."), Tail::of("Fine."));
    /// ```
    pub fn tail(&self, text: &str) -> Tail {
        match self {
            Self::RunEnd => Tail::of(text),
            Self::Signal(signal) => Tail::of(signal.strip(text)),
        }
    }

    /// Returns true if a text is only the signal, so that it is no part of a reply.
    ///
    /// ```
    /// use dirigent_core::text::{CompletionPolicy, Signal};
    ///
    /// let policy = CompletionPolicy::Signal(Signal::default());
    /// assert!(policy.is_only_signal(" TURN_COMPLETE\n"));
    /// assert!(!policy.is_only_signal("Fine. TURN_COMPLETE") && !policy.is_only_signal(""));
    /// assert!(!CompletionPolicy::RunEnd.is_only_signal("TURN_COMPLETE"));
    /// ```
    pub fn is_only_signal(&self, text: &str) -> bool {
        match self {
            Self::RunEnd => false,
            Self::Signal(signal) => {
                signal.ends(text) && signal.strip(text).trim_matches(is_space).is_empty()
            }
        }
    }

    /// Returns the outcome of a run that ended with this text. It is [`Outcome::Pass`] if no text would be delivered,
    /// [`Outcome::Spoke`] if the turn is complete, and otherwise [`Outcome::Unfinished`]. The last two have the
    /// [tail](Self::tail) of the delivered text.
    ///
    /// ```
    /// use dirigent_core::text::{CompletionPolicy, Signal, SilencePolicy};
    /// use dirigent_core::Outcome;
    ///
    /// let policy = CompletionPolicy::Signal(Signal::default());
    /// assert_eq!(policy.outcome(SilencePolicy::Strict, "NO_REPLY\nTURN_COMPLETE"), Outcome::Pass);
    /// assert_eq!(policy.outcome(SilencePolicy::Strict, "NO_REPLY"), Outcome::Pass);
    /// ```
    pub fn outcome(&self, silence: SilencePolicy, text: &str) -> Outcome {
        let Reading { delivered, is_complete } = self.read(silence, text);
        let tail = self.tail(delivered);
        match (delivered.is_empty(), is_complete) {
            (true, _) => Outcome::Pass,
            (false, true) => Outcome::Spoke { tail },
            (false, false) => Outcome::Unfinished { tail },
        }
    }

    /// Returns the delivered part of a reply, and whether it completes the turn, without the tail. Use it if you
    /// deliver first and report afterwards.
    pub fn read<'a>(&self, silence: SilencePolicy, text: &'a str) -> Reading<'a> {
        let spoken = silence.deliverable(text);
        let Self::Signal(signal) = self else {
            return Reading { delivered: spoken, is_complete: true };
        };
        let stripped = silence.deliverable(signal.strip(spoken));
        let delivered = if signal.stripped || stripped.is_empty() { stripped } else { spoken };
        Reading { delivered, is_complete: signal.ends(spoken) }
    }
}

/// The reading of a reply under a policy.
///
/// ```
/// use dirigent_core::text::{CompletionPolicy, SilencePolicy};
///
/// let reading = CompletionPolicy::RunEnd.read(SilencePolicy::Strict, "That is all. NO_REPLY");
/// assert_eq!((reading.delivered, reading.is_complete), ("That is all.", true));
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "an answer that hosts take apart")]
pub struct Reading<'a> {
    /// The text that reaches the channel. It may be empty.
    pub delivered: &'a str,
    /// True if no more text is to follow in this turn.
    pub is_complete: bool,
}

impl core::fmt::Debug for Reading<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Reading")
            .field("delivered", &format_args!("{} bytes", self.delivered.len()))
            .field("is_complete", &self.is_complete)
            .finish()
    }
}

/// The words that complete an agent's turn.
///
/// ```
/// use dirigent_core::text::Signal;
///
/// let mut signal = Signal::default();
/// assert!(signal.ends("Done.\n\nTURN_COMPLETE\n"));
/// assert!(!signal.ends("TURN_COMPLETE is what I would say"));
/// assert!(signal.ends("NOT_TURN_COMPLETE"));
/// signal.word_boundary = true;
/// assert!(!signal.ends("NOT_TURN_COMPLETE"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Signal {
    /// The words. Only white space may follow them. Default `TURN_COMPLETE`.
    pub token: Cow<'static, str>,
    /// True if they must be words of their own, and not the end of a longer word. Default false.
    pub word_boundary: bool,
    /// True if you remove them before you post the reply. Default true.
    pub stripped: bool,
}

impl Default for Signal {
    fn default() -> Self {
        Self { token: Cow::Borrowed("TURN_COMPLETE"), word_boundary: false, stripped: true }
    }
}

impl Signal {
    /// Creates a signal with other words.
    ///
    /// ```
    /// assert!(dirigent_core::text::Signal::with_token("OVER").ends("Roger. OVER"));
    /// ```
    pub fn with_token(token: impl Into<Cow<'static, str>>) -> Self {
        Self { token: token.into(), ..Self::default() }
    }

    /// Returns true if a text ends with the signal.
    ///
    /// ```
    /// assert!(dirigent_core::text::Signal::default().ends("TURN_COMPLETE"));
    /// ```
    pub fn ends(&self, text: &str) -> bool {
        self.before(text).is_some()
    }

    /// Returns the text without the signal at its end and the white space before that. A text without the signal is
    /// returned unchanged.
    ///
    /// ```
    /// let signal = dirigent_core::text::Signal::default();
    /// assert_eq!(signal.strip("That is all.\nTURN_COMPLETE "), "That is all.");
    /// assert_eq!(signal.strip("More to come "), "More to come ");
    /// ```
    #[must_use]
    pub fn strip<'a>(&self, text: &'a str) -> &'a str {
        let mut rest = text;
        while let Some(before) = self.before(rest) {
            rest = before.trim_end_matches(is_space);
        }
        rest
    }

    /// Returns the text before a signal at its end. A signal without words never matches.
    fn before<'a>(&self, text: &'a str) -> Option<&'a str> {
        let token = Some(&*self.token).filter(|token| !token.is_empty())?;
        let before = text.trim_end_matches(is_space).strip_suffix(token)?;
        let glued = before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        Some(before).filter(|_| !self.word_boundary || !glued)
    }
}

/// The mark that asks for a person. All agents then wait until a person writes. The mark stays in the text.
///
/// ```
/// use dirigent_core::text::{CompletionPolicy, HumanMarker, SilencePolicy};
/// use dirigent_core::Outcome;
///
/// let marker = HumanMarker::default();
/// let policy = CompletionPolicy::RunEnd;
/// let outcome = marker.outcome(&policy, SilencePolicy::Strict, "Which one do you like? 👤");
/// assert!(matches!(outcome, Outcome::AwaitsHuman { .. }));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "a name for a text")]
pub struct HumanMarker(
    /// The mark. Only white space may follow it, and the signal of a completion policy.
    pub Cow<'static, str>,
);

impl Default for HumanMarker {
    fn default() -> Self {
        Self(Cow::Borrowed("👤"))
    }
}

impl HumanMarker {
    /// Returns true if a text ends with the mark.
    ///
    /// ```
    /// assert!(dirigent_core::text::HumanMarker::default().ends("Your turn 👤\n"));
    /// ```
    pub fn ends(&self, text: &str) -> bool {
        !self.0.is_empty() && text.trim_end_matches(is_space).ends_with(&*self.0)
    }

    /// Returns true if the delivered part of a reply asks for a person.
    ///
    /// ```
    /// use dirigent_core::text::{CompletionPolicy, HumanMarker};
    /// assert!(HumanMarker::default().asks(&CompletionPolicy::RunEnd, "Your turn 👤"));
    /// ```
    pub fn asks(&self, policy: &CompletionPolicy, delivered: &str) -> bool {
        match policy {
            CompletionPolicy::RunEnd => self.ends(delivered),
            CompletionPolicy::Signal(signal) => self.ends(signal.strip(delivered)),
        }
    }

    /// Returns the outcome of a run that ended with this text, by the policy and the mark. A reply with the mark
    /// completes its turn, with a signal or without.
    ///
    /// ```
    /// use dirigent_core::text::{CompletionPolicy, HumanMarker, Signal, SilencePolicy};
    /// use dirigent_core::{Outcome, Tail};
    ///
    /// let (marker, silence) = (HumanMarker::default(), SilencePolicy::Strict);
    /// let policy = CompletionPolicy::Signal(Signal::default());
    /// let outcome = marker.outcome(&policy, silence, "Which one? 👤 TURN_COMPLETE");
    /// assert_eq!(outcome, Outcome::AwaitsHuman { tail: Tail::of("Which one? 👤") });
    /// ```
    pub fn outcome(
        &self,
        policy: &CompletionPolicy,
        silence: SilencePolicy,
        text: &str,
    ) -> Outcome {
        let asks = self.asks(policy, policy.deliverable(silence, text));
        match policy.outcome(silence, text) {
            Outcome::Spoke { tail } | Outcome::Unfinished { tail } if asks => {
                Outcome::AwaitsHuman { tail }
            }
            outcome @ (Outcome::Pass
            | Outcome::Repeated
            | Outcome::Spoke { .. }
            | Outcome::Unfinished { .. }
            | Outcome::AwaitsHuman { .. }
            | Outcome::Failed) => outcome,
        }
    }
}
