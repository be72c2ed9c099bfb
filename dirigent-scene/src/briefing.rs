//! The text that an actor reads before the scene.

use std::fmt;

use crate::character::Character;
use crate::material::Material;
use crate::prompt::Prompt;

/// The briefing of one actor, in five parts with a fixed order. It contains only what belongs to its own character.
///
/// ```
/// use dirigent_scene::{BriefingPart, Character, Material, briefing_for_tests};
///
/// let maria = Character::new("Maria").profile(Material::new("A doctor."));
/// let briefing = briefing_for_tests(&maria, &Material::new("Stay in character."));
/// let order: Vec<BriefingPart> = briefing.parts().map(|(part, _)| part).collect();
/// assert_eq!(order, BriefingPart::ORDER);
/// assert!(briefing.text().starts_with("Stay in character.\n\n# YOUR CHARACTER\n\nA doctor."));
/// ```
#[derive(Clone)]
pub struct Briefing {
    system_prompt: Material,
    profile: Material,
    journal: Material,
    perspective: Material,
}

/// A part of a briefing.
///
/// ```
/// assert_eq!(dirigent_scene::BriefingPart::ORDER.len(), 5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a briefing has these five parts")]
pub enum BriefingPart {
    /// The actor's system prompt.
    SystemPrompt,
    /// The character's profile.
    Profile,
    /// The character's journal.
    Journal,
    /// The scene, as this character sees it.
    Perspective,
    /// [`Prompt::Instruction`].
    Instruction,
}

impl BriefingPart {
    /// All parts, in order.
    pub const ORDER: [Self; 5] =
        [Self::SystemPrompt, Self::Profile, Self::Journal, Self::Perspective, Self::Instruction];

    /// Returns the heading of this part in [`Briefing::text`].
    pub const fn heading(self) -> Option<&'static str> {
        match self {
            Self::SystemPrompt | Self::Instruction => None,
            Self::Profile => Some("YOUR CHARACTER"),
            Self::Journal => Some("YOUR JOURNAL"),
            Self::Perspective => Some("THE SCENE — your perspective"),
        }
    }
}

impl Briefing {
    pub(crate) fn of(character: &Character, system_prompt: &Material) -> Self {
        Self {
            system_prompt: character.system_prompt.as_ref().unwrap_or(system_prompt).clone(),
            profile: character.profile.clone(),
            journal: character.journal.clone(),
            perspective: character.perspective.clone(),
        }
    }

    /// Returns all parts in order, including empty ones.
    pub fn parts(&self) -> impl Iterator<Item = (BriefingPart, &str)> {
        BriefingPart::ORDER.into_iter().map(|part| (part, self.part(part)))
    }

    /// Returns one part.
    pub fn part(&self, part: BriefingPart) -> &str {
        match part {
            BriefingPart::SystemPrompt => self.system_prompt.reveal(),
            BriefingPart::Profile => self.profile.reveal(),
            BriefingPart::Journal => self.journal.reveal(),
            BriefingPart::Perspective => self.perspective.reveal(),
            BriefingPart::Instruction => Prompt::Instruction.as_str(),
        }
    }

    /// Returns all parts except the instruction as one text with headings, for a system message. Empty parts are left
    /// out.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (part, words) in self.parts() {
            if part == BriefingPart::Instruction || words.trim().is_empty() {
                continue;
            }
            if !text.is_empty() {
                text.push_str("\n\n");
            }
            if let Some(heading) = part.heading() {
                text.push_str("# ");
                text.push_str(heading);
                text.push_str("\n\n");
            }
            text.push_str(words.trim());
        }
        text
    }
}

/// Hides all words.
impl fmt::Debug for Briefing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Briefing(..)")
    }
}

/// Creates a briefing as a scene would, so that you can test an actor.
pub fn briefing_for_tests(character: &Character, system_prompt: &Material) -> Briefing {
    Briefing::of(character, system_prompt)
}
