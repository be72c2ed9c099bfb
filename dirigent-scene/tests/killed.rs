//! Scenes whose process dies: readable at any point, and resumed from what their actors saved.

use std::collections::BTreeMap;
use std::fs;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use dirigent_scene::{
    Audience, Character, CueKind, Direction, Director, Moment, Outlet, ResumeError, SceneBuilder,
    SceneError, SceneLog, ShowError, Slug, SpokenLine, async_trait,
};

use crate::fixture::{Given, Place, files, outline, says};

/// Polls a future this often; none if it has not ended then.
fn poll<T>(work: impl Future<Output = T>, times: usize) -> Option<T> {
    let mut work = pin!(work);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..times {
        if let Poll::Ready(done) = work.as_mut().poll(&mut context) {
            return Some(done);
        }
    }
    None
}

/// Zoe enters after two speeches, Sam leaves after six; what begins with a star is for Zoe.
struct Evening;

impl Director for Evening {
    fn before_turn(&mut self, moment: &Moment) -> Vec<Direction> {
        match moment.speeches {
            2 => vec![Direction::Enter(Slug::new("zoe").unwrap())],
            6 => vec![Direction::Leave(Slug::new("sam").unwrap())],
            _ => Vec::new(),
        }
    }

    fn audience(&mut self, line: &SpokenLine, _: &Moment) -> Audience {
        let is_whisper = line.speech.as_str().starts_with('~');
        if is_whisper {
            Audience::Only(vec![Slug::new("zoe").unwrap()])
        } else {
            Audience::Everyone
        }
    }
}

fn place() -> Place {
    let place = Place::new(&[
        (
            "maria",
            vec![
                says("M1"),
                "malformed".into(),
                says("M2"),
                says("~M3"),
                says("M4"),
                says("M5"),
                says("M6"),
            ],
        ),
        ("sam", vec![says("S1"), says("S2"), says("S3"), says("S4")]),
        ("zoe", vec![says("Z1"), says("Z2"), says("Z3"), says("Z4"), says("Z5")]),
    ]);
    place.stage.lock().unwrap().is_saving = true;
    place
}

fn evening(place: &Place) -> SceneBuilder {
    place.two().waiting(Character::new("Zoe")).director(Evening).caps(3, 5)
}

/// What a scene comes to, its times aside.
fn result(place: &Place) -> (Vec<String>, String, BTreeMap<String, String>) {
    let log = SceneLog::read(place.folder().join("events.json")).unwrap();
    let texts = log.events().iter().map(|event| event.text.to_string());
    let lines = outline(&log).into_iter().zip(texts).map(|(line, text)| format!("{line} {text}"));
    let journals = ["maria", "sam", "zoe"]
        .map(|slug| (slug.to_owned(), place.read(&format!("{slug}/journal.md"))));
    (lines.collect(), place.read("transcript.md"), journals.into())
}

/// The cues of an actor that it answered, each once: one that was asked again because its answer was lost with the
/// process counts once.
fn answered(place: &Place, slug: &str) -> Vec<(CueKind, String)> {
    let mut cues = place.cues(slug);
    cues.dedup();
    cues
}

/// R236, R245, C22, C28
#[test]
fn a_scene_killed_at_any_point_and_resumed_comes_to_what_it_would_have_come_to() {
    let whole = place();
    let scene = evening(&whole).build().unwrap();
    poll(scene.run(), 1_000).expect("it ends").unwrap();
    let (expected, transcript, journals) = result(&whole);
    assert!(expected.iter().any(|line| line.starts_with("spawn zoe")));
    assert!(expected.iter().filter(|line| line.starts_with("journal sam")).count() == 1);
    let mut kills = 0;
    for at in 1.. {
        let place = place();
        if let Some(done) = poll(evening(&place).build().unwrap().run(), at) {
            done.unwrap();
            break;
        }
        kills += 1;
        // Killed: what is there can be read, and is a beginning of what there would be.
        let log = SceneLog::read(place.folder().join("events.jsonl")).unwrap();
        assert!(expected.len() >= log.events().len());
        // And killed again, once more, while it goes on.
        let again = poll(evening(&place).build().unwrap().resume(), at % 5);
        let resumed = again.unwrap_or_else(|| {
            poll(evening(&place).build().unwrap().resume(), 1_000).expect("it ends")
        });
        if let Err(error) = resumed {
            let left = place.read("events.jsonl") + &place.read("resume.jsonl");
            panic!("killed at {at}: {error}\n{left}");
        }
        let (lines, words, entries) = result(&place);
        assert_eq!(lines, expected, "killed at {at}");
        assert_eq!(words, transcript, "killed at {at}");
        assert_eq!(entries, journals, "killed at {at}");
        for slug in ["maria", "sam", "zoe"] {
            assert_eq!(answered(&place, slug), answered(&whole, slug), "{slug}, killed at {at}");
        }
        assert!(!files(&place.folder()).concat().contains(".jsonl"), "killed at {at}");
    }
    assert!(kills > 30, "{kills}");
}

/// R236, R245
#[test]
fn a_log_cut_at_any_byte_is_resumed_too() {
    let whole = place();
    poll(evening(&whole).build().unwrap().run(), 1_000).unwrap().unwrap();
    let expected = result(&whole).0;
    // Killed late, so that the log is long.
    let killed = place();
    assert!(poll(evening(&killed).build().unwrap().run(), 30).is_none());
    let log = fs::read(killed.folder().join("events.jsonl")).unwrap();
    let answers = fs::read(killed.folder().join("resume.jsonl")).unwrap();
    let saved = killed.stage.lock().unwrap().saved.clone();
    let mut resumed = 0;
    for end in (0..=log.len()).step_by(7) {
        let place = place();
        fs::create_dir_all(place.folder()).unwrap();
        fs::write(place.folder().join("events.jsonl"), &log[..end]).unwrap();
        fs::write(place.folder().join("resume.jsonl"), &answers).unwrap();
        place.stage.lock().unwrap().saved.clone_from(&saved);
        let scene = evening(&place).build().unwrap();
        match poll(scene.resume(), 1_000).expect("it ends") {
            Ok(_) => {
                resumed += 1;
                assert_eq!(result(&place).0, expected, "cut at {end}");
            }
            // The actors remember more than the log: a disk that lost more than a process can lose.
            Err(SceneError::Resume(ResumeError::OutOfStep { .. })) => {
                assert_eq!(
                    fs::read(place.folder().join("events.jsonl")).unwrap(),
                    &log[..end],
                    "nothing was changed"
                );
            }
            Err(error) => panic!("cut at {end}: {error}"),
        }
    }
    assert!(resumed > 0);
}

/// R245, C28
#[test]
fn without_saved_state_a_scene_is_not_resumed_and_can_be_abandoned() {
    let place = place();
    place.stage.lock().unwrap().is_saving = false;
    assert!(poll(evening(&place).build().unwrap().run(), 8).is_none());
    let before = place.read("events.jsonl");
    assert!(!place.cues("maria").is_empty());
    let given = place.stage.lock().unwrap().given.clone();
    let error = poll(evening(&place).build().unwrap().resume(), 1_000).unwrap().unwrap_err();
    assert!(matches!(error, SceneError::Resume(ResumeError::NoSavedState { .. })), "{error}");
    assert_eq!(place.read("events.jsonl"), before);
    assert_eq!(place.stage.lock().unwrap().given, given, "no actor was told anything");
    let report = evening(&place).build().unwrap().abandon().unwrap();
    assert_eq!(report.reason.as_str(), "aborted");
    assert!(
        place.read("transcript.md").contains("**MARIA:** M1")
            && place.read("transcript.md").contains("Close reason: aborted")
    );
    assert_eq!(files(&place.folder()), ["events.json", "notes.md", "transcript.md"]);
    assert!(evening(&place).build().unwrap().abandon().is_err(), "it is over");
}

/// R203, R204
#[test]
fn a_scene_killed_before_anyone_spoke_is_resumed_without_saved_state() {
    for at in 1..4 {
        let place = place();
        place.stage.lock().unwrap().is_saving = false;
        let first = poll(evening(&place).build().unwrap().run(), at);
        assert!(first.is_none());
        let answered =
            place.log_of_the_killed().events().iter().any(|event| event.kind.as_str() == "speak");
        if answered {
            continue;
        }
        place.stage.lock().unwrap().is_saving = true;
        place.stage.lock().unwrap().given.clear();
        poll(evening(&place).build().unwrap().resume(), 1_000).unwrap().unwrap();
        let briefings =
            place.given("maria").iter().filter(|given| matches!(given, Given::Briefing(_))).count();
        assert_eq!(briefings, 1);
        assert_eq!(outline(&place.log()).iter().filter(|line| *line == "brief maria").count(), 1);
    }
}

impl Place {
    fn log_of_the_killed(&self) -> SceneLog {
        SceneLog::read(self.folder().join("events.jsonl")).unwrap()
    }
}

#[test]
fn another_scenes_log_is_not_resumed() {
    let place = place();
    assert!(poll(evening(&place).build().unwrap().run(), 30).is_none());
    let resumed = |scene: SceneBuilder| {
        poll(scene.build().unwrap().resume(), 1_000).unwrap().map(drop).unwrap_err()
    };
    let other = place.empty().character(Character::new("Ann")).character(Character::new("Bob"));
    let error = resumed(other);
    assert!(matches!(error, SceneError::Resume(ResumeError::OtherScene { event: 1 })), "{error}");
    fs::write(
        place.folder().join("resume.jsonl"),
        "{\"scene\":{\"version\":9,\"started_ms\":1}}\n",
    )
    .unwrap();
    assert!(matches!(resumed(evening(&place)), SceneError::Resume(ResumeError::NoAnswers)));
    fs::remove_file(place.folder().join("events.jsonl")).unwrap();
    assert!(matches!(resumed(evening(&place)), SceneError::Resume(ResumeError::NoScene(_))));
}

/// Notes what it is to show, before and after it is shown.
#[derive(Clone, Default)]
struct Screen(Arc<Mutex<Vec<(u32, bool)>>>);

#[async_trait]
impl Outlet for Screen {
    async fn show(&mut self, line: &SpokenLine, is_repeat: bool) -> Result<(), ShowError> {
        self.0.lock().unwrap().push((line.number, is_repeat));
        tokio::task::yield_now().await;
        Ok(())
    }
}

/// R236
#[test]
fn what_may_have_been_shown_before_the_kill_is_shown_as_a_repetition_and_nothing_else_is() {
    let mut repeats = 0;
    for at in 1..60 {
        let (place, screen) = (place(), Screen::default());
        let scene = || evening(&place).outlet(screen.clone()).build().unwrap();
        if poll(scene().run(), at).is_some() {
            break;
        }
        poll(scene().resume(), 1_000).expect("it ends").unwrap();
        let shown = screen.0.lock().unwrap().clone();
        let log = SceneLog::read(place.folder().join("events.json")).unwrap();
        let speeches = log.events().iter().filter(|event| event.kind.as_str() == "speak").count();
        for number in 1..=u32::try_from(speeches).unwrap() {
            let times: Vec<bool> = shown
                .iter()
                .filter(|(line, _)| *line == number)
                .map(|(_, repeat)| *repeat)
                .collect();
            assert!(times == [false] || times == [false, true], "killed at {at}: {times:?}");
            repeats += times.len() - 1;
        }
    }
    assert!(repeats > 5, "{repeats}");
}
