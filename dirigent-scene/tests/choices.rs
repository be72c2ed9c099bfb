//! The two choices, and the notes.

use dirigent_scene::{
    Character, Choices, CoordinatorRole, Isolation, Judge, JudgeError, Judgement, Scene,
    SceneBuildError, SpokenLine, async_trait, present_choices,
};

use crate::fixture::{Place, files, says};

/// Finds that a scene has ended after so many speeches.
pub(crate) struct After(pub(crate) u32);

#[async_trait]
impl Judge for After {
    async fn has_ended(&mut self, line: &SpokenLine) -> Result<Judgement, JudgeError> {
        match line.number {
            number if number == self.0 => Ok(Judgement::Ended),
            1 => Err(JudgeError::new("offline")),
            _ => Ok(Judgement::GoesOn),
        }
    }
}

fn kitchen() -> Place {
    Place::new(&[
        ("maria", vec![says("Hello."), says("Bye.")]),
        ("sam", vec![says("I should head out.")]),
    ])
}

/// R199, C1, C2
#[test]
fn both_choices_are_there_to_be_presented_with_their_trade_offs() {
    let text = present_choices();
    for option in Isolation::ALL {
        assert_eq!(Isolation::from_letter(option.letter()), Some(option));
        for part in [option.name(), option.meaning(), option.requires(), option.trade_off()] {
            assert!(!part.is_empty() && text.contains(part), "{part}");
        }
    }
    for option in CoordinatorRole::ALL {
        assert_eq!(CoordinatorRole::from_letter(option.letter()), Some(option));
        assert!(text.contains(option.name()) && text.contains(option.trade_off()));
    }
    assert_eq!(Isolation::ALL.map(Isolation::letter), ['a', 'b']);
    assert_eq!(CoordinatorRole::ALL.map(CoordinatorRole::letter), ['A', 'B', 'C']);
    assert_eq!((Isolation::from_letter('c'), CoordinatorRole::from_letter('d')), (None, None));
}

/// R198, R200, C4
#[test]
fn the_notes_begin_with_both_choices_in_their_layout() {
    for isolation in Isolation::ALL {
        for role in CoordinatorRole::ALL {
            let text = Choices { isolation, role }.to_string();
            let [first, second] = text.lines().collect::<Vec<_>>().try_into().unwrap();
            assert_eq!(
                first,
                format!("Isolation:        ({}) — {}", isolation.letter(), isolation.name())
            );
            assert_eq!(second, format!("Coordinator role: {}  — {}", role.letter(), role.name()));
        }
    }
}

/// R201, C1
#[tokio::test]
async fn the_notes_are_on_disk_before_an_actor_exists() {
    let place = kitchen();
    place.two().build().unwrap().run().await.unwrap();
    let spawned = place.stage.lock().unwrap().spawned.clone();
    assert_eq!(spawned, [("maria".to_owned(), true), ("sam".to_owned(), true)]);
    assert!(place.read("notes.md").starts_with("Isolation:        (b) — "));
}

/// R200, C4
#[tokio::test]
async fn notes_that_are_there_stay_below_the_choices() {
    let place = kitchen();
    std::fs::create_dir_all(place.folder()).unwrap();
    std::fs::write(place.folder().join("notes.md"), "# Mine\nkept").unwrap();
    place.two().build().unwrap().run().await.unwrap();
    let choices =
        Choices { isolation: Isolation::Conversations, role: CoordinatorRole::Code }.to_string();
    assert_eq!(place.read("notes.md"), format!("{choices}\n# Mine\nkept"));
}

/// R202
#[tokio::test]
async fn without_notes_no_actor_is_created() {
    let place = kitchen();
    std::fs::create_dir_all(place.folder().join("notes.md")).unwrap();
    let error = place.two().build().unwrap().run().await.unwrap_err();
    assert!(error.to_string().contains("notes.md"), "{error}");
    assert!(place.stage.lock().unwrap().spawned.is_empty());
    assert_eq!(files(&place.folder()), Vec::<String>::new());

    let place = kitchen();
    std::fs::write(place.folder(), "a file").unwrap();
    place.two().build().unwrap().run().await.unwrap_err();
    assert!(place.stage.lock().unwrap().spawned.is_empty());
}

/// R198, C3
#[test]
fn a_role_that_needs_a_judge_has_one_and_the_other_has_none() {
    let place = kitchen();
    for role in CoordinatorRole::ALL {
        let builder = || {
            Scene::builder(Isolation::SubAgents, role)
                .character(Character::new("Maria"))
                .character(Character::new("Sam"))
                .actors(place.players())
                .folder(place.folder())
        };
        let without = builder().build().map(drop);
        let with = builder().judge(After(1)).build().map(drop);
        if role.wants_judge() {
            assert_eq!((without, with), (Err(SceneBuildError::JudgeMissing { role }), Ok(())));
        } else {
            assert_eq!((without, with), (Ok(()), Err(SceneBuildError::JudgeUnwanted { role })));
        }
    }
}

/// C3, R219, R221
#[tokio::test]
async fn a_judge_ends_a_scene_and_its_failure_does_not() {
    let maria = ["One.", "Three.", "Five."].map(says).to_vec();
    let sam = ["Two.", "Four.", "Six."].map(says).to_vec();
    let place = Place::new(&[("maria", maria), ("sam", sam)]);
    let scene = Scene::builder(Isolation::SubAgents, CoordinatorRole::Parent)
        .character(Character::new("Maria"))
        .character(Character::new("Sam"))
        .actors(place.players())
        .judge(After(3))
        .clock(std::sync::Arc::clone(&place.clock))
        .folder(place.folder());
    let epilogue = scene.build().unwrap().run().await.unwrap();
    let report = epilogue.report();
    assert_eq!((report.reason.as_str(), report.summary.turns()), ("natural", 4));
}
