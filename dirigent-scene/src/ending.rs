//! Detects a speech that closes the scene, by closing phrases (`words`) and stage directions (`direction`).

use std::fmt;

mod direction;
mod words;

use self::direction::{Exits, split_directions};
use self::words::{clauses, is_question, is_stay, last_sentences, sentences};

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
    /// The phrases that close a scene unless others are set.
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

    /// The actions that close a scene unless others are set. What ends with `…` may go on in any way. What ends with `?` only
    /// begins to be an exit, and closes where nothing else is done after it and nothing is said but a farewell. `/` stands
    /// between words of which each will do; which coat or whose room it is makes no difference.
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

    /// Sets what is looked for. Case, punctuation and the kind of quotes do not matter. A phrase counts
    /// - in one of the last two sentences, stage directions left out,
    /// - unless the sentence is a question, a word such as `not`, `if` or `until` stands before it in its clause, or `first`,
    ///   `on` or `ahead` follows.
    ///
    /// An action counts in a stage direction in square brackets, after which at most one sentence is said; as what the
    /// speaker does (`leaves`, `she leaves`, `Maria slowly leaves`), not as an errand (`leaves the room to …`), and not where the
    /// direction then has the character come back.
    ///
    /// Neither counts where the speaker says that it comes back, or that the others are to wait or to come along: `I'll be right back`.
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

/// Whether a speech is the explicit signal.
pub(crate) fn is_explicit_end(speech: &str) -> bool {
    let speech = speech.trim();
    let without_period = speech.strip_suffix('.').unwrap_or(speech);
    without_period == EXPLICIT_END || without_period == "*[the scene ends here.]*"
}
