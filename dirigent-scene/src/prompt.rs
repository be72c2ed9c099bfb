//! The words that the coordinator itself says to actors: a closed set.

/// Everything that the coordinator ever says to an actor in words of its own. The rest of what an actor is given is the
/// host's briefing, and what other characters said.
///
/// ```
/// use dirigent_scene::Prompt;
/// assert!(Prompt::Correction.as_str().starts_with("Your last response did not use <thinking>"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Prompt {
    /// The end of every briefing.
    Instruction,
    /// After an output that does not keep the protocol.
    Correction,
    /// Once, at the soft cap.
    WindDown,
    /// After the scene, or when the character leaves it.
    Journal,
    /// The actor has the turn, and nothing was said to it since its last one.
    YourTurn,
}

impl Prompt {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Instruction, Self::Correction, Self::WindDown, Self::Journal, Self::YourTurn];

    /// Returns the exact words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Instruction => {
                "The scene begins now. Wait for the other character to speak, or speak first if the scene briefing \
                 calls for it."
            }
            Self::Correction => {
                "Your last response did not use <thinking> and <speech> tags. Please reformat without changing the \
                 content."
            }
            Self::WindDown => {
                "You sense the natural end of this conversation approaching. Bring it to a close in your own way over \
                 the next 2–3 turns."
            }
            Self::Journal => {
                "The scene has ended. Step partly back — not out of the character, but into reflective mode. Write a \
                 brief journal entry (200–500 words) in the character's first-person voice about what happened in the \
                 scene, what surprised them, what they're left thinking, what they might do or feel differently next \
                 time. This will become part of the character's memory for the next scene they're in."
            }
            Self::YourTurn => "[It is your turn to speak.]",
        }
    }
}
