//! Every entry stands in its journal once; the transcript grows with its scene. Kills at every change on disk are tried
//! within the crate (`src/kills.rs`).

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use dirigent_scene::{
    Character, Direction, Director, Moment, Outlet, SceneBuilder, ShowError, Slug, SpokenLine,
    async_trait,
};

use crate::fixture::{Place, files, says};

fn place() -> Place {
    Place::new(&[
        ("maria", vec![says("Safe travels."), "Dear diary.".into()]),
        ("sam", vec![says("Bye."), "Dear diary.".into()]),
    ])
}

/// A short scene, with Maria's journal here.
fn scene(place: &Place, journal: &Path) -> SceneBuilder {
    let maria = Character::new("Maria").journal_file(journal);
    place.empty().character(maria).character(Character::new("Sam"))
}

fn run(scene: SceneBuilder) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(scene.build().unwrap().run()).unwrap();
}

/// Plays it in a folder of this name.
fn play(place: &Place, name: &str, journal: &Path) {
    run(scene(place, journal).folder(place.home.path().join(name)));
}

fn entries(journal: &Path) -> usize {
    std::fs::read_to_string(journal).unwrap().matches("\n\nDear diary.\n").count()
}

/// R241, SC4
#[test]
fn three_scenes_of_a_day_write_three_entries_also_where_they_are_alike() {
    let place = place();
    let journal = place.home.path().join("maria.md");
    for (name, count) in [("one", 1), ("two", 2), ("three", 3)] {
        play(&place, name, &journal);
        assert_eq!(entries(&journal), count);
    }
    let section = "## 2025-06-15 — Scene 001 — Morning kitchen\n\nDear diary.\n";
    assert_eq!(std::fs::read_to_string(&journal).unwrap(), [section; 3].join("\n"));
}

/// SC4: a character that plays in several scenes at once loses no entry.
#[cfg(unix)]
#[test]
fn scenes_that_end_at_the_same_moment_all_write_their_entries() {
    let home = tempfile::tempdir().unwrap();
    let journal: Arc<PathBuf> = Arc::new(home.path().join("maria.md"));
    let scenes: Vec<_> = (0..8)
        .map(|_| {
            let journal = Arc::clone(&journal);
            std::thread::spawn(move || {
                let place = place();
                for number in 0..4 {
                    play(&place, &number.to_string(), &journal);
                }
            })
        })
        .collect();
    for scene in scenes {
        scene.join().unwrap();
    }
    assert_eq!(entries(&journal), 32);
}

/// SC4, SC5: a process that is killed while it writes its journal.
#[cfg(target_os = "linux")]
#[test]
fn a_killed_process_leaves_no_part_file_and_its_entry_is_there_once() {
    const HOME: &str = "DIRIGENT_SCENE_KILLED";
    let place = place();
    if let Ok(home) = std::env::var(HOME) {
        let (journal, folder) =
            (Path::new(&home).join("maria.md"), Path::new(&home).join("killed"));
        return run(scene(&place, &journal).folder(folder));
    }
    let home = place.home.path();
    let journal = home.join("maria.md");
    let noted = home.join("killed/resume.jsonl");
    let this = "journals::a_killed_process_leaves_no_part_file_and_its_entry_is_there_once";
    let is_killed = (0..100).any(|_| {
        _ = std::fs::remove_file(&journal);
        _ = std::fs::remove_dir_all(home.join("killed"));
        let mut process = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", this])
            .env(HOME, home)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let has_begun = || std::fs::read_to_string(&noted).unwrap_or_default().contains("entering");
        while process.try_wait().unwrap().is_none() && !has_begun() {
            std::hint::spin_loop();
        }
        process.kill().unwrap();
        process.wait().unwrap();
        has_begun()
    });
    assert!(is_killed, "a hundred processes were too fast");
    assert!(!files(home).concat().contains(".part"), "{:?}", files(home));
    // The same day, with the same title and words.
    run(scene(&place, &journal).folder(home.join("next")));
    let killed = scene(&place, &journal).folder(home.join("killed")).build().unwrap();
    killed.abandon().unwrap();
    let section = "## 2025-06-15 — Scene 001 — Morning kitchen\n\nDear diary.\n";
    assert_eq!(std::fs::read_to_string(&journal).unwrap(), [section; 2].join("\n"));
    assert!(!files(home).concat().contains(".part"), "{:?}", files(home));
}

/// A person writes into a journal in which a scene was about to write: none of it is cut.
#[cfg(target_os = "linux")]
#[test]
fn what_a_person_writes_where_a_scene_was_about_to_write_stays() {
    let place = place();
    let journal = place.home.path().join("maria.md");
    let pending = br#"{"id":"1","start":6,"end":600,"opening":"\n## 2025-06-15"}"#;
    for words in ["Mine.\n", "Mine.\n\nMy own words.\n", "Mi"] {
        std::fs::write(&journal, words).unwrap();
        let file = std::fs::File::options().write(true).open(&journal).unwrap();
        let flags = rustix::fs::XattrFlags::empty();
        rustix::fs::fsetxattr(&file, "user.dirigent.begun", pending, flags).unwrap();
        run(scene(&place, &journal).folder(place.home.path().join(format!("{}", words.len()))));
        let text = std::fs::read_to_string(&journal).unwrap();
        assert!(text.starts_with(words) && !text.contains('\0'), "{text}");
        assert_eq!(entries(&journal), 1);
    }
}

/// R241
#[cfg(unix)]
#[test]
fn a_journal_keeps_its_rights_and_a_link_to_it_stays_a_link() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = place();
    let (real, link) = (place.home.path().join("real.md"), place.home.path().join("link.md"));
    std::fs::write(&real, "Mine.\n").unwrap();
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    play(&place, "one", &link);
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(entries(&real), 1);
    assert_eq!(std::fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o600);
}

/// Reads the transcript whenever something is said.
#[derive(Clone)]
struct Reader(PathBuf, Arc<Mutex<Vec<String>>>);

#[async_trait]
impl Outlet for Reader {
    async fn show(&mut self, _: &SpokenLine, _: bool) -> Result<(), ShowError> {
        self.1.lock().unwrap().push(std::fs::read_to_string(&self.0).unwrap());
        Ok(())
    }
}

/// R237, SC5
#[tokio::test]
async fn the_transcript_grows_with_the_scene() {
    let place = Place::new(&[
        ("maria", vec![says("One."), says("Three.\n\nStill three."), says("Bye.")]),
        ("sam", vec![says("Two."), says("Safe travels.")]),
    ]);
    let reader = Reader(place.folder().join("transcript.md"), Arc::default());
    place.two().outlet(reader.clone()).build().unwrap().run().await.unwrap();
    let seen = reader.1.lock().unwrap().clone();
    let begin = "# Scene 001 — Morning kitchen\n\n**Date:** 2025-06-15\n**Duration:** not over yet\n\
        **Participants:** Maria, Sam\n**Setting:** A kitchen\n\n---\n\n**MARIA:** One.\n";
    assert_eq!(seen[0], begin);
    assert_eq!(
        seen[2],
        format!("{begin}\n**SAM:** Two.\n\n**MARIA:** Three.\n>\n> Still three.\n")
    );
    assert!(seen.windows(2).all(|pair| pair[1].starts_with(&pair[0])));
    let body = |text: &str| text.split_once("\n---\n").unwrap().1.to_owned();
    assert!(body(&place.read("transcript.md")).starts_with(&body(&seen[4])));
}

/// Zoe enters after two speeches.
struct Visit;

impl Director for Visit {
    fn before_turn(&mut self, moment: &Moment) -> Vec<Direction> {
        let zoe = || Direction::Enter(Slug::new("zoe").unwrap());
        if moment.speeches == 2 { vec![zoe()] } else { Vec::new() }
    }
}

/// R237, SC5
#[tokio::test]
async fn who_enters_stands_above_the_growing_transcript_at_once() {
    let place = Place::new(&[
        ("maria", vec![says("One."), says("Three."), says("Bye.")]),
        ("sam", vec![says("Two."), says("Safe travels."), says("Bye.")]),
        ("zoe", vec![says("Hi."), says("Bye.")]),
    ]);
    let reader = Reader(place.folder().join("transcript.md"), Arc::default());
    let scene = place.two().waiting(Character::new("Zoe")).director(Visit).outlet(reader.clone());
    scene.build().unwrap().run().await.unwrap();
    let seen = reader.1.lock().unwrap().clone();
    assert!(seen[1].contains("Participants:** Maria, Sam\n"), "{}", seen[1]);
    assert!(seen[2].contains("Participants:** Maria, Sam, Zoe\n"), "{}", seen[2]);
    assert!(
        seen[2].ends_with("**MARIA:** One.\n\n**SAM:** Two.\n\n**MARIA:** Three.\n"),
        "{}",
        seen[2]
    );
}
