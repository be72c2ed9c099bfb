//! Describes a scene.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use dirigent::host::IntoShared;
use dirigent::host::plain::is_line_break;
use dirigent::{Clock, SystemClock};

use crate::actor::{ActorFactory, CastRole};
use crate::briefing::Briefing;
use crate::character::Character;
use crate::choices::Choices;
use crate::cue::SpeechFrame;
use crate::director::Director;
use crate::ending::CloseSigns;
use crate::judge::Judge;
use crate::machine::{FrameRule, Plan};
use crate::material::Material;
use crate::outlet::Outlet;
use crate::scene::Scene;
use crate::scene::deadlines::SceneDeadlines;
use crate::scene::error::SceneBuildError;
use crate::scene::folder::SceneFolder;
use crate::scene::setup::{CharacterSummary, Hands, Setup};
use crate::slug::Slug;
use crate::transcript::Transcript;

/// Describes a scene. You get one from [`Scene::builder`], which has an example.
pub struct SceneBuilder {
    choices: Choices,
    title: Arc<str>,
    setting: Arc<str>,
    system_prompt: Material,
    cast: Vec<Character>,
    waiting: Vec<Character>,
    first_speaker: Option<Slug>,
    /// The rules. Its roles are added last.
    plan: Plan,
    folder: Option<SceneFolder>,
    draws_picture: bool,
    actors: Option<Box<dyn ActorFactory>>,
    judge: Option<Box<dyn Judge>>,
    director: Box<dyn Director>,
    outlet: Option<Box<dyn Outlet>>,
    clock: Arc<dyn Clock>,
    deadlines: SceneDeadlines,
}

/// A director without directions.
struct NoDirector;

impl Director for NoDirector {}

impl SceneBuilder {
    pub(super) fn new(choices: Choices) -> Self {
        Self {
            choices,
            title: "Scene".into(),
            setting: "".into(),
            system_prompt: Material::default(),
            cast: Vec::new(),
            waiting: Vec::new(),
            first_speaker: None,
            plan: Plan::new([]),
            folder: None,
            draws_picture: false,
            actors: None,
            judge: None,
            director: Box::new(NoDirector),
            outlet: None,
            clock: Arc::new(SystemClock::new()),
            deadlines: SceneDeadlines::default(),
        }
    }

    /// Sets the title, for example "Scene 001 — Morning kitchen". It is the first line of the transcript, and part of
    /// the journals' headings. Default `Scene`.
    #[must_use]
    pub fn title(mut self, title: impl Into<Arc<str>>) -> Self {
        self.title = title.into();
        self
    }

    /// Sets the setting, which is one line of the transcript, for example "A kitchen, early". Empty by default.
    #[must_use]
    pub fn setting(mut self, setting: impl Into<Arc<str>>) -> Self {
        self.setting = setting.into();
        self
    }

    /// Sets the system prompt of all actors that have none of their own. Empty by default.
    #[must_use]
    pub fn system_prompt(mut self, text: Material) -> Self {
        self.system_prompt = text;
        self
    }

    /// Adds a character that is present from the beginning. A scene needs at least two.
    #[must_use]
    pub fn character(mut self, character: Character) -> Self {
        self.cast.push(character);
        self
    }

    /// Adds a character that waits until the [`Director`] lets it [enter](crate::Direction::Enter).
    #[must_use]
    pub fn waiting(mut self, character: Character) -> Self {
        self.waiting.push(character);
        self
    }

    /// Sets the first speaker. By default it is the first character.
    #[must_use]
    pub fn first_speaker(mut self, slug: Slug) -> Self {
        self.first_speaker = Some(slug);
        self
    }

    /// Sets the soft and the hard cap, as the mean number of speeches for each character present. After the soft cap
    /// (default 40) the next actor gets the wind-down prompt. After the hard cap (default 60) the scene ends.
    #[must_use]
    pub fn caps(mut self, soft: u32, hard: u32) -> Self {
        (self.plan.soft_cap, self.plan.hard_cap) = (soft, hard);
        self
    }

    /// Sets how many speeches may follow a natural close. With 1, the default, the other character can for example
    /// answer a farewell.
    #[must_use]
    pub fn closing_replies(mut self, count: u32) -> Self {
        self.plan.closing_replies = count;
        self
    }

    /// Sets how often an actor is asked to reformat one output. Default 3.
    #[must_use]
    pub fn corrections_max(mut self, count: u32) -> Self {
        self.plan.corrections_max = count;
        self
    }

    /// Sets the words and actions that close a scene naturally. The default is [`CloseSigns::default`].
    #[must_use]
    pub fn close_signs(mut self, signs: CloseSigns) -> Self {
        self.plan.signs = signs;
        self
    }

    /// Sets a function that frames speech, from the names of the speaker and the listener. By default there is no frame
    /// between two characters, and [`SpeechFrame::named`] among more.
    #[must_use]
    pub fn frame(
        mut self,
        rule: impl Fn(&str, &str) -> Option<SpeechFrame> + Send + Sync + 'static,
    ) -> Self {
        self.plan.frame = FrameRule::custom(rule);
        self
    }

    /// Stores outputs that do not follow the protocol in the log, as `raw` of their `correct` event. Default false.
    #[must_use]
    pub const fn keep_raw(mut self, keep: bool) -> Self {
        self.plan.keep_raw = keep;
        self
    }

    /// Sets the seed for the orders of three or more speakers. Default 0.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.plan.seed = seed;
        self
    }

    /// Sets the folder of the scene's files. It may exist and contain notes and journals, but no earlier scene.
    #[must_use]
    pub fn folder(mut self, path: impl Into<PathBuf>) -> Self {
        self.folder = Some(SceneFolder::new(path));
        self
    }

    /// Draws the picture, `scene.html`, at the end, so that you can watch the scene in a browser. Default false.
    #[must_use]
    pub const fn picture(mut self, draw: bool) -> Self {
        self.draws_picture = draw;
        self
    }

    /// Sets the factory that creates the actors.
    #[must_use]
    pub fn actors(mut self, factory: impl ActorFactory + 'static) -> Self {
        self.actors = Some(Box::new(factory));
        self
    }

    /// Sets the judge. Roles A and B need one, and C refuses it.
    #[must_use]
    pub fn judge(mut self, judge: impl Judge + 'static) -> Self {
        self.judge = Some(Box::new(judge));
        self
    }

    /// Sets the director. Without one all characters are present from beginning to end, and hear everything.
    #[must_use]
    pub fn director(mut self, director: impl Director + 'static) -> Self {
        self.director = Box::new(director);
        self
    }

    /// Sets the outlet that shows the scene while it is played. Without one it is not shown.
    #[must_use]
    pub fn outlet(mut self, outlet: impl Outlet + 'static) -> Self {
        self.outlet = Some(Box::new(outlet));
        self
    }

    /// Sets the clock. By default it is the [`SystemClock`]; set another one in tests.
    #[must_use]
    pub fn clock(mut self, clock: impl IntoShared<dyn Clock>) -> Self {
        self.clock = clock.into_shared();
        self
    }

    /// Changes how long the scene waits for actors, judge and outlet. The default is [`SceneDeadlines::default`].
    #[must_use]
    pub fn deadlines(mut self, change: impl FnOnce(&mut SceneDeadlines)) -> Self {
        change(&mut self.deadlines);
        self
    }

    /// Checks the description. It does not create an actor or write a file yet.
    ///
    /// # Errors
    ///
    /// Returns a [`SceneBuildError`] that names the first problem.
    pub fn build(self) -> Result<Scene, SceneBuildError> {
        let roles = self.roles()?;
        for (field, text, may_be_empty) in
            [("title", &self.title, false), ("setting", &self.setting, true)]
        {
            if text.contains(is_unfit) || (text.trim().is_empty() && !may_be_empty) {
                return Err(SceneBuildError::BadText { field });
            }
        }
        let role = self.choices.role;
        if role.wants_judge() && self.judge.is_none() {
            return Err(SceneBuildError::JudgeMissing { role });
        }
        if !role.wants_judge() && self.judge.is_some() {
            return Err(SceneBuildError::JudgeUnwanted { role });
        }
        let mut plan = self.plan;
        let (soft, hard) = (plan.soft_cap, plan.hard_cap);
        if soft > hard || hard == 0 {
            return Err(SceneBuildError::BadCaps { soft, hard });
        }
        (plan.present, plan.roles) = (self.cast.len(), roles);
        if let Some(slug) = self.first_speaker {
            let seat = plan.seat(&slug).filter(|seat| seat.index() < plan.present);
            plan.first_speaker = seat.ok_or(SceneBuildError::NoFirstSpeaker { slug })?;
        }
        if let Some(field) = self.deadlines.empty() {
            return Err(SceneBuildError::NoTime { field });
        }
        let folder = self.folder.ok_or(SceneBuildError::NoFolder)?;
        let factory = self.actors.ok_or(SceneBuildError::NoActors)?;
        let characters = self.cast.iter().chain(&self.waiting);
        let parts = characters.zip(&plan.roles).map(|(character, role)| CharacterSummary {
            briefing: Briefing::of(character, &self.system_prompt),
            journal_file: match &character.journal_file {
                Some(file) => file.clone(),
                None => folder.journal(role.slug()),
            },
        });
        let parts = parts.collect();
        Ok(Scene(Setup {
            choices: self.choices,
            parts,
            transcript: Transcript::new(self.title, plan.roles.clone()).setting(self.setting),
            plan: Arc::new(plan),
            folder,
            draws_picture: self.draws_picture,
            hands: Hands {
                factory,
                judge: self.judge,
                director: self.director,
                outlet: self.outlet,
                clock: self.clock,
                deadlines: self.deadlines,
            },
        }))
    }

    /// Returns the characters, if their names are usable and different.
    fn roles(&self) -> Result<Vec<CastRole>, SceneBuildError> {
        let count = self.cast.len() + self.waiting.len();
        match self.cast.len() {
            0 => return Err(SceneBuildError::NoCharacters),
            1 => return Err(SceneBuildError::OneCharacter),
            _ if count > Plan::CHARACTERS_MAX => {
                return Err(SceneBuildError::TooManyCharacters { count });
            }
            _ => {}
        }
        let (mut names, mut slugs) = (BTreeSet::new(), BTreeSet::new());
        let characters = self.cast.iter().chain(&self.waiting);
        let roles = (1..).zip(characters).map(|(number, character)| {
            let name = character.name();
            let is_blank = name.trim() != name || name.is_empty();
            if is_blank || name.chars().count() > NAME_MAX || name.contains(is_unfit) {
                return Err(SceneBuildError::BadName { number });
            }
            let name = name.to_owned();
            if !names.insert(name.to_lowercase()) {
                return Err(SceneBuildError::SameName { name });
            }
            let slug = character.slug.clone().map_err(|_| SceneBuildError::BadSlug { name })?;
            if !slugs.insert(slug.clone()) {
                return Err(SceneBuildError::SameSlug { slug });
            }
            Ok(CastRole::new(slug, Arc::clone(&character.name)))
        });
        roles.collect()
    }
}

/// Returns true for a character that must not stand in a name or a title. It would begin a new line, or control a
/// terminal.
fn is_unfit(c: char) -> bool {
    c.is_control() || is_line_break(c)
}

/// The longest display name, in characters.
const NAME_MAX: usize = 100;

impl fmt::Debug for SceneBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SceneBuilder")
            .field("choices", &self.choices)
            .field("cast", &self.cast)
            .field("waiting", &self.waiting)
            .finish_non_exhaustive()
    }
}
