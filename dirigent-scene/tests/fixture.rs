//! What the tests share: actors that remember what they were given, and scenes in folders of their own.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use dirigent_scene::{
    Actor, ActorError, ActorFactory, Briefing, CastRole, Character, CoordinatorRole, Cue, CueKind,
    Isolation, Material, Output, Restored, Scene, SceneBuilder, SceneLog, async_trait,
};
use dirigent_testkit::ManualClock;

/// An output in the protocol's form.
pub(crate) fn turn(thinking: &str, speech: &str) -> String {
    format!("<thinking>\n{thinking}\n</thinking>\n\n<speech>\n{speech}\n</speech>")
}

/// What an actor says.
pub(crate) fn says(speech: &str) -> String {
    turn("Hm.", speech)
}

/// What one actor was given, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Given {
    Briefing(String),
    Cue(CueKind, String),
}

/// What happened to actors, and what of them survives a kill.
#[derive(Default)]
pub(crate) struct ActorNotes {
    /// By slug.
    pub(crate) given: BTreeMap<String, Vec<Given>>,
    /// In order, with what was on disk then.
    pub(crate) spawned: Vec<(String, bool)>,
    /// Answers that actors saved, by slug.
    pub(crate) saved: BTreeMap<String, Vec<Output>>,
    pub(crate) dropped: Vec<String>,
    /// Whether actors save what they answer.
    pub(crate) is_saving: bool,
    /// Who fails, and at which answer.
    pub(crate) fails_at: BTreeMap<String, usize>,
    pub(crate) fails_to_spawn: Option<String>,
    /// Interviews: what is answered.
    pub(crate) answers: BTreeMap<String, String>,
}

pub(crate) type SharedNotes = Arc<Mutex<ActorNotes>>;

/// Plays by script, and writes down what its actors are given.
pub(crate) struct Players {
    pub(crate) stage: SharedNotes,
    pub(crate) scripts: BTreeMap<String, Vec<String>>,
    /// A file whose presence is noted at each spawn.
    pub(crate) watched: PathBuf,
}

/// An actor of theirs.
pub(crate) struct Player {
    slug: String,
    stage: SharedNotes,
    script: VecDeque<String>,
    answered: usize,
}

#[async_trait]
impl ActorFactory for Players {
    async fn spawn(&mut self, role: &CastRole) -> Result<Box<dyn Actor>, ActorError> {
        let slug = role.slug().to_string();
        let mut stage = self.stage.lock().unwrap();
        stage.spawned.push((slug.clone(), self.watched.exists()));
        if stage.fails_to_spawn.as_ref() == Some(&slug) {
            return Err(ActorError::new("no room"));
        }
        stage.saved.remove(&slug);
        let script = self.scripts.get(&slug).cloned().unwrap_or_default().into();
        Ok(Box::new(Player { slug, stage: Arc::clone(&self.stage), script, answered: 0 }))
    }

    async fn restore(&mut self, role: &CastRole) -> Result<Option<Restored>, ActorError> {
        let slug = role.slug().to_string();
        let saved = self.stage.lock().unwrap().saved.get(&slug).cloned();
        let Some(saved) = saved else {
            return Ok(None);
        };
        let script: VecDeque<String> = self.scripts.get(&slug).cloned().unwrap_or_default().into();
        let answered = saved.len();
        let script = script.into_iter().skip(answered).collect();
        let player = Player { slug, stage: Arc::clone(&self.stage), script, answered };
        Ok(Some(Restored::new(player, u32::try_from(answered).unwrap(), saved.last().cloned())))
    }
}

#[async_trait]
impl Actor for Player {
    async fn brief(&mut self, briefing: Briefing) -> Result<(), ActorError> {
        let parts: Vec<&str> = briefing.parts().map(|(_, words)| words).collect();
        let given = Given::Briefing(parts.join("|"));
        self.stage.lock().unwrap().given.entry(self.slug.clone()).or_default().push(given);
        Ok(())
    }

    async fn respond(&mut self, cue: Cue) -> Result<Output, ActorError> {
        let given = Given::Cue(cue.kind(), cue.text());
        self.stage.lock().unwrap().given.entry(self.slug.clone()).or_default().push(given);
        // A kill may come while it thinks, and before it has saved.
        tokio::task::yield_now().await;
        let output = {
            let mut stage = self.stage.lock().unwrap();
            if stage.fails_at.get(&self.slug) == Some(&self.answered) {
                return Err(ActorError::new("the context is full"));
            }
            if cue.kind() == CueKind::Interview {
                return Ok(Output::text(
                    stage.answers.get(&self.slug).cloned().unwrap_or_default(),
                ));
            }
            let next = self.script.pop_front();
            let output = match (next, cue.kind()) {
                (Some(next), _) => Output::text(next),
                (None, CueKind::Journal) => {
                    Output::text(format!("Dear diary, this was {}.", self.slug))
                }
                (None, _) => return Err(ActorError::new("the script is at its end")),
            };
            if stage.is_saving {
                stage.saved.entry(self.slug.clone()).or_default().push(output.clone());
            }
            output
        };
        self.answered += 1;
        // And between its saving and the scene's hearing of it.
        tokio::task::yield_now().await;
        Ok(output)
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        self.stage.lock().unwrap().dropped.push(self.slug.clone());
    }
}

/// A scene in a folder of its own.
pub(crate) struct Place {
    pub(crate) home: tempfile::TempDir,
    pub(crate) stage: SharedNotes,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) scripts: BTreeMap<String, Vec<String>>,
}

impl Place {
    pub(crate) fn new(scripts: &[(&str, Vec<String>)]) -> Self {
        let scripts = scripts.iter().map(|(slug, script)| ((*slug).to_owned(), script.clone()));
        Self {
            home: tempfile::tempdir().unwrap(),
            stage: SharedNotes::default(),
            clock: Arc::new(ManualClock::new()),
            scripts: scripts.collect(),
        }
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.home.path().join("scene")
    }

    pub(crate) fn players(&self) -> Players {
        Players {
            stage: Arc::clone(&self.stage),
            scripts: self.scripts.clone(),
            watched: self.folder().join("notes.md"),
        }
    }

    /// A scene with code alone in the coordinator, and without characters.
    pub(crate) fn empty(&self) -> SceneBuilder {
        Scene::builder(Isolation::Conversations, CoordinatorRole::Code)
            .title("Scene 001 — Morning kitchen")
            .setting("A kitchen")
            .clock(Arc::clone(&self.clock))
            .actors(self.players())
            .folder(self.folder())
    }

    /// Maria and Sam.
    pub(crate) fn two(&self) -> SceneBuilder {
        self.empty().character(Character::new("Maria")).character(Character::new("Sam"))
    }

    pub(crate) fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.folder().join(file)).unwrap_or_default()
    }

    pub(crate) fn log(&self) -> SceneLog {
        SceneLog::read(self.folder().join("events.json")).unwrap()
    }

    /// The cues of a character, without its briefing.
    pub(crate) fn cues(&self, slug: &str) -> Vec<(CueKind, String)> {
        let stage = self.stage.lock().unwrap();
        let given = stage.given.get(slug).into_iter().flatten();
        given
            .filter_map(|given| match given {
                Given::Cue(kind, text) => Some((*kind, text.clone())),
                Given::Briefing(_) => None,
            })
            .collect()
    }

    pub(crate) fn given(&self, slug: &str) -> Vec<Given> {
        self.stage.lock().unwrap().given.get(slug).cloned().unwrap_or_default()
    }
}

/// The kinds and sources of a log's events, as short words.
pub(crate) fn outline(log: &SceneLog) -> Vec<String> {
    let short = |event: &dirigent_scene::SceneEvent| {
        let whose = event.target.as_ref().map_or(event.from.as_str(), |slug| slug.as_str());
        format!("{} {whose}", event.kind.as_str())
    };
    log.events().iter().map(short).collect()
}

/// All files below a folder.
pub(crate) fn files(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            names.extend(files(&path).into_iter().map(|file| format!("{name}/{file}")));
        } else {
            names.push(name);
        }
    }
    names.sort();
    names
}

/// A text for a briefing.
pub(crate) fn material(text: &str) -> Material {
    Material::new(text)
}
