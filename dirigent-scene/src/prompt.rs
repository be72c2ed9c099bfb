//! The coordinator's own words to actors, which are a closed set.

/// All the coordinator's own words to an actor. Everything else that an actor reads is your briefing, and the speech of
/// other characters.
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
    /// Sent after an output that does not follow the protocol.
    Correction,
    /// Sent once, at the soft cap.
    WindDown,
    /// Sent after the scene, or when the character leaves it.
    Journal,
    /// Sent if the actor has the turn but has heard no speech since its last one.
    YourTurn,
}

impl Prompt {
    /// All prompts.
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
