//! Kills a scene at every change on disk.

use std::cell::Cell;

thread_local! {
    /// The number of changes before the scene is killed, or `None` if it lives.
    static LEFT: Cell<Option<u32>> = const { Cell::new(None) };
}

/// A kill.
struct Killed;

/// Called before every change on disk, and in the middle of a write.
pub(crate) fn step() {
    if let Some(left) = LEFT.get() {
        if left == 0 {
            LEFT.set(None);
            std::panic::resume_unwind(Box::new(Killed));
        }
        LEFT.set(Some(left - 1));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::path::{Path, PathBuf};
    use std::pin::{Pin, pin};
    use std::sync::{Arc, Mutex};
    use std::task::{Context, Poll, Waker};

    use dirigent_testkit::ManualClock;

    use super::LEFT;
    use crate::{
        Actor, ActorError, ActorFactory, Briefing, CastRole, Character, CoordinatorRole, Cue,
        CueKind, Direction, Director, Epilogue, Isolation, Moment, Output, Restored, ResumeError,
        Scene, SceneError, Slug, async_trait,
    };

    /// What actors saved, by slug.
    type Saved = Arc<Mutex<BTreeMap<String, Vec<Output>>>>;

    struct Players(Saved);

    struct Player {
        slug: String,
        saved: Saved,
    }

    #[async_trait]
    impl ActorFactory for Players {
        async fn spawn(&mut self, role: &CastRole) -> Result<Box<dyn Actor>, ActorError> {
            self.0.lock().unwrap().insert(role.slug().to_string(), Vec::new());
            Ok(Box::new(Player { slug: role.slug().to_string(), saved: Arc::clone(&self.0) }))
        }

        async fn restore(&mut self, role: &CastRole) -> Result<Option<Restored>, ActorError> {
            let slug = role.slug().to_string();
            let saved = self.0.lock().unwrap().get(&slug).cloned();
            let player = Player { slug, saved: Arc::clone(&self.0) };
            let restored = |saved: Vec<Output>| {
                Restored::new(player, u32::try_from(saved.len()).unwrap(), saved.last().cloned())
            };
            Ok(saved.map(restored))
        }
    }

    #[async_trait]
    impl Actor for Player {
        async fn brief(&mut self, _: Briefing) -> Result<(), ActorError> {
            Ok(())
        }

        async fn respond(&mut self, cue: Cue) -> Result<Output, ActorError> {
            let mut saved = self.saved.lock().unwrap();
            let saved = saved.entry(self.slug.clone()).or_default();
            let output = if cue.kind() == CueKind::Turn {
                let said = match saved.len() {
                    2 => "I should head out.".to_owned(),
                    number => format!("{} {number}\n\nstill", self.slug),
                };
                format!("<thinking>Hm.</thinking><speech>{said}</speech>")
            } else {
                "Dear diary.".to_owned()
            };
            let output = Output::text(output);
            saved.push(output.clone());
            Ok(output)
        }
    }

    /// Zoe enters after two speeches, and Sam leaves after five.
    struct Evening;

    impl Director for Evening {
        fn before_turn(&mut self, moment: &Moment) -> Vec<Direction> {
            match moment.speeches {
                2 => vec![Direction::Enter(Slug::new("zoe").unwrap())],
                5 => vec![Direction::Leave(Slug::new("sam").unwrap())],
                _ => Vec::new(),
            }
        }
    }

    /// A home with journals, one shared by two characters, and scenes.
    struct Home(tempfile::TempDir);

    impl Home {
        fn journal(&self, name: &str) -> PathBuf {
            self.0.path().join("journals").join(name)
        }

        fn folder(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn scene(&self, name: &str, saved: &Saved) -> Scene {
            let character = |name: &str, journal: &str| {
                Character::new(name).journal_file(self.journal(journal))
            };
            Scene::builder(Isolation::Conversations, CoordinatorRole::Code)
                .title("Evening")
                .character(character("Maria", "own.md"))
                .character(character("Sam", "shared.md"))
                .waiting(character("Zoe", "shared.md"))
                .director(Evening)
                .actors(Players(Arc::clone(saved)))
                .clock(ManualClock::new())
                .folder(self.folder(name))
                .picture(true)
                .build()
                .unwrap()
        }

        /// A kill left no file that is not the scene's for good, or one to resume it with.
        #[cfg(target_os = "linux")]
        fn has_no_strange_file(&self) {
            let is_known = |file: &String| {
                let (folder, name) = file.split_once('/').unwrap();
                let known: &[&str] = match folder {
                    "journals" => &["own.md", "shared.md"],
                    _ => &[
                        "notes.md",
                        "events.json",
                        "events.jsonl",
                        "resume.jsonl",
                        "transcript.md",
                        "scene.html",
                    ],
                };
                known.contains(&name)
            };
            let all = files(self.0.path());
            assert!(all.keys().all(is_known), "{:?}", all.keys());
        }

        /// Elsewhere a file needs a name before it takes its own.
        #[cfg(not(target_os = "linux"))]
        fn has_no_strange_file(&self) {}

        fn entries(&self, journal: &str) -> usize {
            const ENTRY: &str = "## 2025-06-15 — Evening\n\nDear diary.\n";
            let text = fs::read_to_string(self.journal(journal)).unwrap_or_default();
            let count = text.matches(ENTRY).count();
            assert_eq!(text, vec![ENTRY; count].join("\n"), "nothing but entries");
            count
        }
    }

    /// What comes of work that is over at once; none where the scene dies before this change on disk.
    fn until<T>(change: u32, work: impl Future<Output = T>) -> Option<T> {
        LEFT.set(Some(change));
        let done = catch_unwind(AssertUnwindSafe(|| {
            match pin!(work).poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(done) => done,
                Poll::Pending => panic!("the scene waits"),
            }
        }));
        LEFT.set(None);
        done.ok()
    }

    const NEVER: u32 = u32::MAX;

    /// All files below a folder, with what is in them.
    fn files(folder: &Path) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                let inner = files(&path).into_iter();
                found.extend(inner.map(|(file, text)| (format!("{name}/{file}"), text)));
            } else {
                found.insert(name, fs::read_to_string(path).unwrap());
            }
        }
        found
    }

    fn body(transcript: &str) -> &str {
        transcript.split_once("\n---\n").map_or("", |(_, body)| body)
    }

    /// A scene that was never killed: its files.
    fn whole() -> BTreeMap<String, String> {
        let home = Home(tempfile::tempdir().unwrap());
        until(NEVER, home.scene("scene", &Saved::default()).run()).unwrap().unwrap();
        assert_eq!((home.entries("own.md"), home.entries("shared.md")), (1, 2));
        files(&home.folder("scene"))
    }

    /// Kills a scene before its nth change on disk; gives its home, and none where it ended first.
    fn killed(at: u32, expected: &BTreeMap<String, String>) -> Option<(Home, Saved)> {
        let (home, saved) = (Home(tempfile::tempdir().unwrap()), Saved::default());
        if until(at, home.scene("scene", &saved).run()).is_some() {
            assert_eq!(&files(&home.folder("scene")), expected);
            return None;
        }
        // What was said so far can be read.
        let transcript = fs::read_to_string(home.folder("scene").join("transcript.md"));
        let (said, all) = (transcript.unwrap_or_default(), &expected["transcript.md"]);
        assert!(body(all).starts_with(body(&said)), "killed at {at}: {said}");
        home.has_no_strange_file();
        // Another scene of the same day, with the same title and words, writes to the same journals, and takes what the killed one left there.
        until(NEVER, home.scene("other", &Saved::default()).run()).unwrap().unwrap();
        home.has_no_strange_file();
        Some((home, saved))
    }

    /// R236, R241, SC4, SC5
    #[test]
    fn killed_at_any_change_on_disk_each_entry_is_there_once_and_nothing_is_left() {
        let expected = whole();
        let mut kills = 0;
        for at in 0.. {
            let Some((home, saved)) = killed(at, &expected) else {
                break;
            };
            kills += 1;
            let resume = || home.scene("scene", &saved).resume();
            // Killed again, at a change that is another one each time.
            let again = until(at % 11, resume()).or_else(|| {
                home.has_no_strange_file();
                until(at % 7, resume())
            });
            home.has_no_strange_file();
            let resumed = match again.unwrap_or_else(|| until(NEVER, resume()).unwrap()) {
                // Nothing had begun, or everything was over.
                Err(SceneError::Resume(ResumeError::NoScene(_))) => {
                    let is_over = home.folder("scene").join("events.json").exists();
                    if is_over {
                        Ok(())
                    } else {
                        until(NEVER, home.scene("scene", &saved).run()).unwrap().map(drop)
                    }
                }
                other => other.map(drop),
            };
            resumed.unwrap_or_else(|error| panic!("killed at {at}: {error}"));
            assert_eq!(files(&home.folder("scene")), expected, "killed at {at}");
            assert_eq!(
                (home.entries("own.md"), home.entries("shared.md")),
                (2, 4),
                "killed at {at}"
            );
        }
        assert!(kills > 80, "{kills}");
    }

    /// R236, SC4, SC5
    #[test]
    fn abandoned_after_a_kill_a_scene_has_the_entries_that_were_recorded_once() {
        let expected = whole();
        for at in 0.. {
            let Some((home, saved)) = killed(at, &expected) else {
                break;
            };
            let abandon = || async { home.scene("scene", &saved).abandon() };
            let again = until(at % 5, abandon());
            match again.unwrap_or_else(|| until(NEVER, abandon()).unwrap()) {
                Ok(_) | Err(SceneError::Resume(ResumeError::NoScene(_))) => {}
                Err(error) => panic!("killed at {at}: {error}"),
            }
            let files = files(home.0.path());
            let log = files.get("scene/events.json").cloned().unwrap_or_default();
            let recorded =
                |slug: &str| log.contains(&format!("\"from\":\"{slug}\",\"type\":\"journal\""));
            let of = |slugs: &[&str]| slugs.iter().filter(|slug| recorded(slug)).count();
            assert_eq!(home.entries("own.md"), 1 + of(&["maria"]), "killed at {at}");
            assert_eq!(home.entries("shared.md"), 2 + of(&["sam", "zoe"]), "killed at {at}");
            home.has_no_strange_file();
        }
    }

    /// As on a file system without them.
    #[cfg(target_os = "linux")]
    #[test]
    fn without_extended_attributes_a_torn_entry_is_cut_when_its_scene_is_resumed() {
        for at in 0.. {
            let (home, saved) = (Home(tempfile::tempdir().unwrap()), Saved::default());
            if until(at, home.scene("scene", &saved).run()).is_some() {
                break;
            }
            for journal in ["own.md", "shared.md"] {
                if let Ok(file) = fs::File::open(home.journal(journal)) {
                    for name in ["user.dirigent.begun", "user.dirigent.whole"] {
                        let _ = rustix::fs::fremovexattr(&file, name);
                    }
                }
            }
            match until(NEVER, home.scene("scene", &saved).resume()).unwrap() {
                Ok(_) => assert_eq!((home.entries("own.md"), home.entries("shared.md")), (1, 2)),
                Err(SceneError::Resume(ResumeError::NoScene(_))) => {}
                Err(error) => panic!("killed at {at}: {error}"),
            }
        }
    }

    /// SC4: a person may change a journal, or empty it.
    #[test]
    fn an_entry_that_was_written_is_not_written_again_if_the_journal_was_changed() {
        let mut changed = 0;
        for at in (0..).step_by(3) {
            let (home, saved) = (Home(tempfile::tempdir().unwrap()), Saved::default());
            if until(at, home.scene("scene", &saved).run()).is_some() {
                break;
            }
            let noted = fs::read_to_string(home.folder("scene").join("resume.jsonl"));
            if noted.is_ok_and(|noted| noted.contains("{\"entered\":{\"slug\":\"maria\"}}\n")) {
                changed += 1;
                fs::write(home.journal("own.md"), "").unwrap();
                until(NEVER, home.scene("scene", &saved).resume()).unwrap().unwrap();
                assert_eq!(home.entries("own.md"), 0, "killed at {at}");
            }
        }
        assert!(changed > 5, "{changed}");
    }

    /// Creates actors that never answer.
    struct Mute;

    #[async_trait]
    impl ActorFactory for Mute {
        async fn spawn(&mut self, _: &CastRole) -> Result<Box<dyn Actor>, ActorError> {
            Ok(Box::new(Self))
        }
    }

    #[async_trait]
    impl Actor for Mute {
        async fn brief(&mut self, _: Briefing) -> Result<(), ActorError> {
            Ok(())
        }

        async fn respond(&mut self, _: Cue) -> Result<Output, ActorError> {
            std::future::pending().await
        }
    }

    /// R236, SC1
    #[test]
    fn killed_at_any_change_on_disk_a_scene_that_timed_out_has_timed_out() {
        for at in 0.. {
            let home = Home(tempfile::tempdir().unwrap());
            let clock = ManualClock::new();
            let scene = || {
                Scene::builder(Isolation::Conversations, CoordinatorRole::Code)
                    .character(Character::new("Maria"))
                    .character(Character::new("Sam"))
                    .actors(Mute)
                    .clock(clock.clone())
                    .folder(home.folder("scene"))
                    .build()
                    .unwrap()
            };
            // Ten minutes pass as soon as the scene waits.
            let in_time =
                |mut work: Pin<Box<dyn Future<Output = Result<Epilogue, SceneError>>>>| {
                    let clock = clock.clone();
                    std::future::poll_fn(move |context| {
                        let first = work.as_mut().poll(context);
                        if first.is_ready() {
                            return first;
                        }
                        clock.advance(std::time::Duration::from_secs(600));
                        work.as_mut().poll(context)
                    })
                };
            let is_killed = until(at, in_time(Box::pin(scene().run()))).is_none();
            if is_killed {
                let resumed = until(NEVER, in_time(Box::pin(scene().resume()))).unwrap();
                if matches!(resumed, Err(SceneError::Resume(ResumeError::NoScene(_)))) {
                    continue;
                }
                assert!(resumed.is_err(), "killed at {at}");
            }
            let log = crate::SceneLog::read(home.folder("scene").join("events.json")).unwrap();
            assert_eq!(log.reason().unwrap().as_str(), "timed-out", "killed at {at}");
            if !is_killed {
                break;
            }
        }
    }
}
