//! What is wrong with a scene is said before anything is begun, and nothing is left half-written.

use std::fs;

use dirigent_scene::{
    Character, CoordinatorRole, Isolation, Material, Scene, SceneBuildError, SceneError, Slug,
    Unreadable,
};

use crate::fixture::{Place, files, says};
use crate::playing::kitchen;

#[test]
fn a_cast_that_cannot_be_told_apart_is_refused() {
    let place = Place::new(&[]);
    let built = |names: &[&str]| {
        let scene =
            names.iter().fold(place.empty(), |scene, name| scene.character(Character::new(*name)));
        scene.build().map(drop).unwrap_err()
    };
    assert_eq!(built(&[]), SceneBuildError::NoCharacters);
    assert_eq!(built(&["Maria"]), SceneBuildError::OneCharacter);
    assert_eq!(built(&["Maria", "MARIA"]), SceneBuildError::SameName { name: "MARIA".into() });
    assert_eq!(
        built(&["Maria S", "Maria-S"]),
        SceneBuildError::SameSlug { slug: Slug::new("maria-s").unwrap() }
    );
    assert_eq!(built(&["Maria", ""]), SceneBuildError::BadName { number: 2 });
    assert_eq!(built(&["Maria", "Sam\n**MARIA:** No"]), SceneBuildError::BadName { number: 2 });
    assert_eq!(built(&["Maria", " Sam"]), SceneBuildError::BadName { number: 2 });
    assert_eq!(
        built(&["Zoe", "Zoë"]),
        SceneBuildError::SameSlug { slug: Slug::new("zoe").unwrap() }
    );
    assert_eq!(built(&["Maria", "…"]), SceneBuildError::BadSlug { name: "…".into() });
    assert_eq!(
        built(&["Maria", "Sam\u{2028}**MARIA:** No"]),
        SceneBuildError::BadName { number: 2 }
    );
    assert_eq!(
        built(&["Maria", "Coordinator"]),
        SceneBuildError::BadSlug { name: "Coordinator".into() }
    );
    let many: Vec<String> = (0..65).map(|number| format!("C{number}")).collect();
    assert_eq!(
        built(&many.iter().map(String::as_str).collect::<Vec<_>>()),
        SceneBuildError::TooManyCharacters { count: 65 }
    );
    let waiting = place.two().waiting(Character::new("Sam")).build().map(drop);
    assert_eq!(waiting, Err(SceneBuildError::SameName { name: "Sam".into() }));
    let nobody = Slug::new("zoe").unwrap();
    let first =
        place.two().waiting(Character::new("Zoe")).first_speaker(nobody.clone()).build().map(drop);
    assert_eq!(first, Err(SceneBuildError::NoFirstSpeaker { slug: nobody }));
    assert_eq!(
        place.two().title("").build().map(drop),
        Err(SceneBuildError::BadText { field: "title" })
    );
    assert_eq!(
        place.two().setting("a\nb").build().map(drop),
        Err(SceneBuildError::BadText { field: "setting" })
    );
    assert_eq!(files(place.home.path()), Vec::<String>::new());
}

/// R198
#[test]
fn a_scene_without_a_folder_or_actors_is_refused() {
    let two = || {
        Scene::builder(Isolation::SubAgents, CoordinatorRole::Code)
            .character(Character::new("Maria"))
            .character(Character::new("Sam"))
    };
    assert_eq!(two().build().map(drop), Err(SceneBuildError::NoFolder));
    assert_eq!(two().folder("x").build().map(drop), Err(SceneBuildError::NoActors));
}

#[test]
fn a_profile_that_cannot_be_read_is_named() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("maria");
    let read = || Character::from_folder("Maria", &folder).map(drop).unwrap_err();
    assert!(matches!(read().why, Unreadable::Io(_)) && read().to_string().contains("profile.md"));
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("profile.md"), b"\xff SECRET").unwrap();
    assert!(
        matches!(read().why, Unreadable::NotUtf8) && !format!("{:?}", read()).contains("SECRET")
    );
    fs::write(folder.join("profile.md"), "A doctor.").unwrap();
    Character::from_folder("Maria", &folder).unwrap();
    fs::create_dir(folder.join("journal.md")).unwrap();
    assert!(read().to_string().contains("journal.md"));
    let large = fs::File::create(home.path().join("large")).unwrap();
    large.set_len(Material::FILE_MAX + 1).unwrap();
    assert!(matches!(
        Material::read(home.path().join("large")).unwrap_err().why,
        Unreadable::TooLarge
    ));
}

/// R241
#[tokio::test]
async fn a_character_from_its_folder_keeps_its_journal_there() {
    let place = kitchen();
    let folder = place.home.path().join("characters/maria");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("profile.md"), "PROFILE").unwrap();
    fs::write(folder.join("journal.md"), "Earlier.\n").unwrap();
    let maria = Character::from_folder("Maria", &folder).unwrap();
    place
        .empty()
        .character(maria)
        .character(Character::new("Sam"))
        .build()
        .unwrap()
        .run()
        .await
        .unwrap();
    let journal = fs::read_to_string(folder.join("journal.md")).unwrap();
    assert!(journal.starts_with("Earlier.\n\n## 2025-06-15 — Scene 001"), "{journal}");
    assert!(!place.folder().join("maria").exists());
}

#[tokio::test]
async fn a_folder_with_a_scene_is_left_as_it_is() {
    let place = kitchen();
    place.two().build().unwrap().run().await.unwrap();
    let before: Vec<_> =
        files(&place.folder()).into_iter().map(|file| (place.read(&file), file)).collect();
    let error = place.two().build().unwrap().run().await.unwrap_err();
    assert!(
        matches!(&error, SceneError::FolderInUse { file } if file.ends_with("events.json")),
        "{error}"
    );
    let after: Vec<_> =
        files(&place.folder()).into_iter().map(|file| (place.read(&file), file)).collect();
    assert_eq!(after, before);
    for name in ["events.jsonl", "resume.jsonl", "transcript.md", "scene.html"] {
        let place = kitchen();
        fs::create_dir_all(place.folder().join(name)).unwrap();
        let error = place.two().build().unwrap().run().await.unwrap_err();
        assert!(matches!(error, SceneError::FolderInUse { .. }), "{name}: {error}");
        assert!(!place.folder().join("notes.md").exists());
    }
}

/// A file that cannot be replaced stands for a disk that takes nothing more: what was recorded stays, and the scene is
/// made final when there is room again.
#[tokio::test]
async fn a_scene_whose_files_cannot_be_made_final_can_be_made_final_later() {
    let place = kitchen();
    place.stage.lock().unwrap().is_saving = true;
    let journal = place.folder().join("sam/journal.md");
    fs::create_dir_all(&journal).unwrap();
    let error = place.two().build().unwrap().run().await.unwrap_err();
    assert!(matches!(error, SceneError::File(_)), "{error}");
    assert!(!files(&place.folder()).concat().contains(".part"));
    assert!(
        !place.folder().join("events.json").exists()
            && place.folder().join("events.jsonl").exists()
    );
    fs::remove_dir(&journal).unwrap();
    place.two().build().unwrap().resume().await.unwrap();
    assert!(place.read("sam/journal.md").contains("Dear diary"));
    assert_eq!(place.read("maria/journal.md").matches("Dear diary").count(), 1);
    assert!(
        !place.folder().join("events.jsonl").exists()
            && place.folder().join("transcript.md").exists()
    );
}

/// Files of this process's child end at a few kilobytes, which says `EFBIG` where a disk says `ENOSPC`.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_whole_lines_and_a_scene_that_goes_on_when_there_is_room() {
    const ROLE: &str = "DIRIGENT_SCENE_FULL_DISK";
    let script: Vec<String> =
        (0..40).map(|number| says(&format!("{number} {}", "x".repeat(200)))).collect();
    let place = Place::new(&[("maria", script.clone()), ("sam", script)]);
    place.stage.lock().unwrap().is_saving = true;
    let runtime = || tokio::runtime::Builder::new_current_thread().build().unwrap();
    if let Ok(folder) = std::env::var(ROLE) {
        let scene = place.two().caps(5, 20).folder(folder).build().unwrap();
        let error = runtime().block_on(scene.run()).unwrap_err();
        assert!(matches!(error, SceneError::File(_)), "{error}");
        return;
    }
    let folder = place.folder();
    let this =
        "bad_input::a_full_disk_leaves_whole_lines_and_a_scene_that_goes_on_when_there_is_room";
    let status = std::process::Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", this, "--nocapture"])
        .env(ROLE, &folder)
        .output()
        .unwrap();
    assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stdout));
    let left = fs::read_to_string(folder.join("events.jsonl")).unwrap();
    assert!(left.len() > 1_000 && left.ends_with('\n'), "the lines are whole");
    assert_eq!(files(&folder), ["events.jsonl", "notes.md", "resume.jsonl", "transcript.md"]);
    let report = place.two().caps(5, 20).build().unwrap().abandon().unwrap();
    assert_eq!(report.reason.as_str(), "aborted");
    assert_eq!(files(&folder), ["events.json", "notes.md", "transcript.md"]);
}
