//! Scenes in which actors play characters in isolation from one another. A coordinator routes their speech, records
//! everything, detects the end, asks for journals and closes the scene. It never writes a line of dialogue.
//!
//! ```
//! use dirigent_scene::{Cast, Character, CoordinatorRole, Isolation, Material, Scene, ScriptedActor};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path().join("scene-001");
//! let maria = || ScriptedActor::new(["<thinking>It is him.</thinking><speech>*[opens the door]* Hi, come in.</speech>"]);
//! let sam = || ScriptedActor::new(["<thinking>Not now.</thinking><speech>*[turns round and walks out]*</speech>"]);
//! let scene = Scene::builder(Isolation::Conversations, CoordinatorRole::Code)
//!     .title("Scene 001 — Morning kitchen")
//!     .character(Character::new("Sam Reed").profile(Material::new("He owes Maria money.")))
//!     .character(Character::new("Maria Stern").profile(Material::new("A doctor. Sam does not know that.")))
//!     .actors(Cast::new().actor("maria-stern", maria).actor("sam-reed", sam))
//!     .folder(&folder)
//!     .build()?;
//! let epilogue = scene.run().await?;
//! println!("{} after {} turns", epilogue.report().reason, epilogue.report().summary.turns());
//! # Ok(())
//! # }
//! ```
//!
//! # Start here
//!
//! | you want to | start with |
//! | --- | --- |
//! | present the two choices that come before a scene | [`present_choices`], [`Isolation`], [`CoordinatorRole`] |
//! | describe and play a scene | [`Scene::builder`], [`Character`], [`Material`] |
//! | play a character with your own code | [`Actor`], [`ActorFactory`], [`Cast`] |
//! | … with a language model (feature `llm`) | `ModelActors` |
//! | … with a person | [`HumanActor`] |
//! | have a model judge when the scene has ended | [`Judge`] |
//! | let characters whisper, enter and leave | [`Director`] |
//! | play in a Discord channel | [`ChannelOutlet`] |
//! | ask an actor something after the scene | [`Epilogue::interview`] |
//! | go on with a scene whose process died | [`Scene::resume`], [`ActorFactory::restore`] |
//! | read, replay, compare, draw a scene | [`SceneLog`], [`Playback`], [`Comparison`], [`Picture`], and the program `scene-log` |
//! | drive a scene yourself, without tasks and files | [`machine`] |
//!
//! # What cannot happen
//!
//! - **Thinking does not cross.** A [`Cue`] consists of [`Speech`] and the fixed [`Prompt`]s, and [`Thoughts`] cannot
//!   be turned into either. Thinking goes only into the event log.
//! - **The coordinator does not speak.** Its own words to actors are the five [`Prompt`]s. A [`SpeechFrame`] is made
//!   from names alone.
//! - **The coordinator does not read.** A [`Material`] is opaque to it: it cannot be compared, measured or printed. A
//!   factory gets a name, and an actor only its own [`Briefing`].
//! - **A judge cannot talk.** Its answer is one of two values.
//! - **No choice is made silently.** [`Scene::builder`] requires both choices, and the notes that record them are on
//!   disk before the first actor exists.
//! - **No speech can pose as another.** No line of it can begin like a line of another character or of the coordinator.
//! - **An actor hears each thing once.** A cue contains what is new. Actors must remember the rest, so one that does
//!   not cannot be resumed.
//!
//! `Debug`, errors and log lines contain no word that was said, thought or briefed.

// `machine` is the scene as a value, and `scene` its driver. `cue`, `protocol`, `prompt`, `material` and `briefing` are
// what an actor gets. Only `briefing` reveals the texts that it alone may read. `actor`, `judge`, `director` and
// `outlet` are traits, implemented by `cast`, `scripted`, `human` and `model`. `event`, `log`, `transcript` and
// `picture` need no scene.

mod actor;
mod briefing;
mod cast;
mod character;
mod choices;
mod cue;
mod director;
mod ending;
mod entries;
mod event;
mod files;
mod human;
mod judge;
#[cfg(test)]
mod kills;
mod lines;
mod log;
pub mod machine;
mod material;
#[cfg(feature = "llm")]
mod model;
mod outlet;
mod picture;
mod prompt;
mod protocol;
mod scene;
mod scripted;
mod slug;
mod transcript;

pub use actor::{Actor, ActorError, ActorFactory, CastRole, Output, Restored};
pub use async_trait::async_trait;
pub use briefing::{Briefing, BriefingPart, briefing_for_tests};
pub use cast::Cast;
pub use character::Character;
pub use choices::{Choices, CoordinatorRole, Isolation, present_choices};
pub use cue::{Cue, CueKind, HeardSpeech, SpeechFrame};
pub use director::{Audience, BadDirection, Direction, Director, Moment};
pub use ending::{CloseSigns, EXPLICIT_END};
pub use event::{CloseReason, EventKind, SceneEvent, Source};
pub use files::{FileAction, FileError};
pub use human::{HumanActor, NotAsked, Prompter};
pub use judge::{Judge, JudgeError, Judgement, SpokenLine};
pub use log::comparison::{CharacterSummary, Comparison, SceneSummary};
pub use log::playback::{Playback, Step};
pub use log::{LogError, SceneLog};
pub use material::{Material, MaterialError, Unreadable};
#[cfg(feature = "llm")]
pub use model::ModelActors;
pub use outlet::channel::ChannelOutlet;
pub use outlet::{Outlet, ShowError};
pub use picture::Picture;
pub use prompt::Prompt;
pub use protocol::{Malformed, Parsed, Speech, Thoughts, parse_output};
pub use scene::{
    Doing, Epilogue, InterviewError, Report, ResumeError, Scene, SceneBuildError, SceneBuilder,
    SceneDeadlines, SceneError, SceneFolder,
};
pub use scripted::ScriptedActor;
pub use slug::{BadSlug, Slug};
pub use transcript::Transcript;

/// Runs the code of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
