//! The two choices before every scene, with the texts that present and record them.

use std::fmt::{self, Write as _};

/// The kind of isolation between actors. It describes the [`ActorFactory`](crate::ActorFactory) that you pass, and the
/// notes record it. The coordinator behaves the same with either. There is no default.
///
/// ```
/// use dirigent_scene::Isolation;
///
/// let chosen = Isolation::from_letter('b').unwrap();
/// assert_eq!(chosen, Isolation::Conversations);
/// assert!(chosen.trade_off().contains("reproducible"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the choice is between these two")]
pub enum Isolation {
    /// (a): each actor is a sub-agent in the session that runs the scene.
    SubAgents,
    /// (b): each actor has its own conversation through an API.
    Conversations,
}

impl Isolation {
    /// Both options, in the order of their presentation.
    pub const ALL: [Self; 2] = [Self::SubAgents, Self::Conversations];

    /// Returns the option's letter.
    pub const fn letter(self) -> char {
        match self {
            Self::SubAgents => 'a',
            Self::Conversations => 'b',
        }
    }

    /// Returns the option with this letter, in either case.
    pub fn from_letter(letter: char) -> Option<Self> {
        Self::ALL.into_iter().find(|option| option.letter() == letter.to_ascii_lowercase())
    }

    /// Returns the option's name, as the notes record it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SubAgents => "sub-agents in the current session",
            Self::Conversations => "separate API conversations",
        }
    }

    /// Returns the meaning of the option.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::SubAgents => {
                "Each character is played by a sub-agent of the current session, with a fresh context that has seen \
                 no other actor's profile, journal, speech or thinking."
            }
            Self::Conversations => {
                "Each actor is a conversation of its own with a model's API: separate calls, separate conversation \
                 ids, no shared message history."
            }
        }
    }

    /// Returns what you need for the option.
    pub const fn requires(self) -> &'static str {
        match self {
            Self::SubAgents => "A session that can start sub-agents.",
            Self::Conversations => "A model's endpoint, and its key where it wants one.",
        }
    }

    /// Returns the advantages and disadvantages of the option.
    pub const fn trade_off(self) -> &'static str {
        match self {
            Self::SubAgents => "Faster to iterate on during development, harder to log in detail.",
            Self::Conversations => {
                "More reproducible and easier to log in detail, but needs an endpoint."
            }
        }
    }
}

/// The coordinator of a scene. There is no default. The engine itself is always code; roles A and B add a
/// [`Judge`](crate::Judge), which only decides whether the scene has ended.
///
/// ```
/// use dirigent_scene::CoordinatorRole;
///
/// assert!(CoordinatorRole::Code.trade_off().contains("deterministic"));
/// assert!(!CoordinatorRole::Code.wants_judge() && CoordinatorRole::Parent.wants_judge());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the choice is between these three")]
pub enum CoordinatorRole {
    /// A: the context that starts the scene judges it.
    Parent,
    /// B: a sub-agent with a coordinator's prompt judges it.
    SubAgent,
    /// C: only code.
    Code,
}

impl CoordinatorRole {
    /// The options, in the order of their presentation.
    pub const ALL: [Self; 3] = [Self::Parent, Self::SubAgent, Self::Code];

    /// Returns the option's letter.
    pub const fn letter(self) -> char {
        match self {
            Self::Parent => 'A',
            Self::SubAgent => 'B',
            Self::Code => 'C',
        }
    }

    /// Returns the option with this letter, in either case.
    pub fn from_letter(letter: char) -> Option<Self> {
        Self::ALL.into_iter().find(|option| option.letter() == letter.to_ascii_uppercase())
    }

    /// Returns the option's name, as the notes record it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Parent => "parent LLM context (this session)",
            Self::SubAgent => "dedicated coordinator sub-agent",
            Self::Code => "pure code, no LLM in the coordinator",
        }
    }

    /// Returns the advantages and disadvantages of the option.
    pub const fn trade_off(self) -> &'static str {
        match self {
            Self::Parent => {
                "Simple, observable, capable of judgement. But the parent carries the context that it has loaded \
                 (project files, earlier talk), which risks a bias in routing. Best for pilots."
            }
            Self::SubAgent => {
                "Isolated from the parent's context, reproducible. But it adds a model call per turn to a job that is \
                 mostly mechanical. Rarely right unless the coordinator is also a creative participant."
            }
            Self::Code => {
                "Cheapest, most deterministic, no bias in routing. But judgement calls (is this a natural close?) are \
                 harder without a model to ask. Best for production."
            }
        }
    }

    /// Returns true if a scene with this role has a [`Judge`](crate::Judge).
    pub const fn wants_judge(self) -> bool {
        !matches!(self, Self::Code)
    }
}

/// Returns both choices with all options and trade-offs, as text for the person who chooses.
///
/// ```
/// let text = dirigent_scene::present_choices();
/// assert!(text.contains("(a) sub-agents") && text.contains("C  pure code"));
/// ```
pub fn present_choices() -> String {
    let mut text = String::from("Choice 1: how the actors are isolated from one another\n");
    for option in Isolation::ALL {
        let _ = write!(
            text,
            "\n  ({}) {}\n      {}\n      Requires: {}\n      Trade-off: {}\n",
            option.letter(),
            option.name(),
            option.meaning(),
            option.requires(),
            option.trade_off()
        );
    }
    text.push_str("\nChoice 2: who plays the coordinator\n");
    for option in CoordinatorRole::ALL {
        let _ = write!(
            text,
            "\n  {}  {}\n      Trade-off: {}\n",
            option.letter(),
            option.name(),
            option.trade_off()
        );
    }
    text
}

/// The two lines at the top of a scene's notes.
///
/// ```
/// use dirigent_scene::{Choices, CoordinatorRole, Isolation};
///
/// let choices = Choices { isolation: Isolation::Conversations, role: CoordinatorRole::Code };
/// assert!(choices.to_string().starts_with("Isolation:        (b) — separate API conversations\n"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "two choices and nothing else")]
pub struct Choices {
    /// The kind of isolation between actors.
    pub isolation: Isolation,
    /// The coordinator of the scene.
    pub role: CoordinatorRole,
}

impl fmt::Display for Choices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { isolation, role } = self;
        writeln!(f, "Isolation:        ({}) — {}", isolation.letter(), isolation.name())?;
        writeln!(f, "Coordinator role: {}  — {}", role.letter(), role.name())
    }
}
