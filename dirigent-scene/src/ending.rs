//! Detects a speech that closes the scene, by closing phrases (`words`) and stage directions (`direction`).

use std::fmt;

mod direction;
mod words;

use self::direction::{Exits, split_directions};
use self::words::{clauses, last_sentences};

/// A speech that consists of this closes the scene at once; a final period is tolerated.
pub const EXPLICIT_END: &str = "*[the scene ends here]*";

/// By what words and actions a scene closes naturally. The defaults are few: where it is not sure, a scene goes on.
///
/// ```
/// use dirigent_scene::CloseSigns;
///
/// let signs = CloseSigns::default();
/// assert!(signs.is_close("Thank you both, this was generous.", "Maria"));
/// assert!(signs.is_close("*[walks out without looking back]*", "Maria"));
/// assert!(!signs.is_close("*[stands up]* Thank you both? For what?", "Maria"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct CloseSigns {
    phrases: Vec<Vec<String>>,
    exits: Exits,
}

impl CloseSigns {
    /// The phrases that close a scene unless others are set.
    pub const PHRASES: [&'static str; 5] = [
        "thank you both",
        "I'll let you go",
        "I should head out",
        "safe travels",
        "I should let you get on with your day",
    ];

    /// The actions that close a scene unless others are set. What ends with `…` may go on in any way.
    pub const EXITS: [&'static str; 13] = [
        "leaves",
        "leaves the room…",
        "leaves the house…",
        "leaves the flat…",
        "leaves the apartment…",
        "leaves the building…",
        "leaves through…",
        "leaves without…",
        "exits…",
        "walks out…",
        "goes out…",
        "heads out…",
        "closes the door behind…",
    ];

    /// Sets what is looked for. Case, punctuation and the kind of quotes do not matter. A phrase counts
    /// - in one of the last two sentences, stage directions left out,
    /// - unless the sentence is a question, a word such as `not`, `if` or `until` stands before it in its clause, or `first`,
    ///   `on` or `ahead` follows.
    ///
    /// An action counts in a stage direction in square brackets, after which at most one sentence is said; as what the
    /// speaker does (`leaves`, `she leaves`, `Maria slowly leaves`), and not where the direction then has the character come back.
    pub fn new<'a>(
        phrases: impl IntoIterator<Item = &'a str>,
        exits: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let phrases = phrases.into_iter().flat_map(clauses).map(|clause| clause.words);
        let phrases = phrases.filter(|words| !words.is_empty()).collect();
        Self { phrases, exits: Exits::new(exits) }
    }

    /// Returns whether this speech closes the scene naturally.
    pub fn is_close(&self, speech: &str, speaker: &str) -> bool {
        let (said, directions) = split_directions(speech);
        let mut sentences = last_sentences(&said, 2);
        sentences.any(|sentence| self.has_phrase(sentence))
            || self.exits.is_exit(&directions, speaker)
    }

    fn has_phrase(&self, sentence: &str) -> bool {
        !sentence.trim_end_matches(['"', '\'', '”', '’', ')', '*']).ends_with('?')
            && clauses(sentence)
                .any(|clause| self.phrases.iter().any(|phrase| clause.closes_with(phrase)))
    }
}

impl Default for CloseSigns {
    fn default() -> Self {
        Self::new(Self::PHRASES, Self::EXITS)
    }
}

impl fmt::Debug for CloseSigns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CloseSigns").field("phrases", &self.phrases.len()).finish_non_exhaustive()
    }
}

/// Whether a speech is the explicit signal.
pub(crate) fn is_explicit_end(speech: &str) -> bool {
    let speech = speech.trim();
    let without_period = speech.strip_suffix('.').unwrap_or(speech);
    without_period == EXPLICIT_END || without_period == "*[the scene ends here.]*"
}
