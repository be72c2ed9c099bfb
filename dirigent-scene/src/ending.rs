//! Detects a speech that closes the scene, by closing phrases (`words`) and stage directions (`direction`).

use std::fmt;

mod direction;
mod words;

use self::direction::{Exits, split_directions};
use self::words::{clauses, is_question, is_stay, last_sentences, sentences};

/// A speech of only these words closes the scene at once. A final period is accepted.
pub const EXPLICIT_END: &str = "*[the scene ends here]*";

/// The words and actions that close a scene naturally. The defaults are few, because a scene should rather go on than
/// be cut short.
///
/// ```
/// use dirigent_scene::CloseSigns;
///
/// let signs = CloseSigns::default();
/// assert!(signs.is_close("Thank you both, this was generous.", "Maria"));
/// assert!(signs.is_close("*[walks out without looking back]*", "Maria"));
/// assert!(signs.is_close("*[stands up and puts on her coat]* Good night.", "Maria"));
/// assert!(!signs.is_close("*[leaves the room]* I'll be right back.", "Maria"));
/// assert!(!signs.is_close("*[stands up]* Thank you both? For what?", "Maria"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct CloseSigns {
    phrases: Vec<Vec<String>>,
    exits: Exits,
}

impl CloseSigns {
    /// The default phrases that close a scene.
    pub const PHRASES: [&'static str; 8] = [
        "thank you both",
        "I'll let you go",
        "I should head out",
        "safe travels",
        "I should let you get on with your day",
        "Danke euch beiden",
        "gute Reise",
        "一路平安",
    ];

    /// The default actions that close a scene. An action that ends with `…` may go on in any way. One that ends with
    /// `?` only begins an exit, so it counts only if no other action follows and only a farewell is said. `/` separates
    /// alternative words. It makes no difference which coat or whose room it is.
    pub const EXITS: [&'static str; 40] = [
        "leaves/departs",
        "leaves room/house/flat/apartment/building…",
        "leaves through/without…",
        "exits…",
        "walks/goes/heads out…",
        "closes door behind…",
        "stands/gets/standing up?",
        "stands/gets up from chair/seat/table/sofa?",
        "gets/rises to feet?",
        "rises?",
        "rises from chair/seat/table/sofa?",
        "puts/pulls/shrugs/slips/throws/putting on coat/jacket?",
        "puts/pulls coat/jacket on?",
        "slips into coat/jacket?",
        "reaches for coat/jacket?",
        "takes/gets/grabs coat/jacket?",
        "picks up coat/jacket?",
        "walks/goes/heads to/toward/towards door?",
        "heads for door?",
        "verlässt Raum/Zimmer/Haus/Wohnung…",
        "geht",
        "geht hinaus/raus…",
        "schließt Tür hinter…",
        "steht auf?",
        "erhebt sich?",
        "zieht Mantel/Jacke an?",
        "nimmt Mantel/Jacke?",
        "greift nach Mantel/Jacke?",
        "geht zur Tür?",
        "离开",
        "离开房间",
        "起身离开",
        "转身离开",
        "走出去",
        "走出房间",
        "站起来?",
        "起身?",
        "穿上外套?",
        "穿上大衣?",
        "拿起外套?",
    ];

    /// Sets the phrases and actions to look for. Case, punctuation and the kind of quotes do not matter.
    ///
    /// A phrase counts in one of the last two sentences, without stage directions. It does not count if
    /// - the sentence is a question,
    /// - a word such as `not`, `if` or `until` stands before it in its clause,
    /// - `first`, `on` or `ahead` follows it.
    ///
    /// An action counts in a stage direction in square brackets, if at most one sentence is said after it. It must be
    /// what the speaker does (`leaves`, `she leaves`, `Maria slowly leaves`), not an errand (`leaves the room to …`).
    /// It does not count if the character then comes back.
    ///
    /// Neither counts if the speaker says that they will be back, or that the others should wait or come along, for
    /// example `I'll be right back`.
    pub fn new<'a>(
        phrases: impl IntoIterator<Item = &'a str>,
        exits: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let phrases = phrases.into_iter().flat_map(clauses).map(|clause| clause.words);
        let phrases = phrases.filter(|words| !words.is_empty()).collect();
        Self { phrases, exits: Exits::new(exits) }
    }

    /// Returns true if this speech closes the scene naturally.
    pub fn is_close(&self, speech: &str, speaker: &str) -> bool {
        let (said, directions) = split_directions(speech);
        let is_sign = last_sentences(&said, 2).any(|sentence| self.has_phrase(sentence))
            || self.exits.is_exit(&said, &directions, speaker);
        is_sign && !sentences(&said).into_iter().any(is_stay)
    }

    fn has_phrase(&self, sentence: &str) -> bool {
        !is_question(sentence)
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

/// Returns true if a speech is the explicit signal.
pub(crate) fn is_explicit_end(speech: &str) -> bool {
    let speech = speech.trim();
    let without_period = speech.strip_suffix('.').unwrap_or(speech);
    without_period == EXPLICIT_END || without_period == "*[the scene ends here.]*"
}
