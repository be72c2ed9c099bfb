//! Canaries: a word of its own in everything that an actor alone may know, and hostile outputs. None may sing elsewhere.

use std::collections::BTreeSet;

use dirigent_scene::{
    Audience, Character, Direction, Director, Moment, Prompt, Slug, SpeechFrame, SpokenLine,
};
use proptest::prelude::*;

use crate::fixture::{Given, Place, material, outline, turn};

const NAMES: [&str; 3] = ["Ann", "Bob", "Cem"];

/// Everything whispered, and who comes and goes, by numbers.
struct Any(Vec<u8>);

impl Director for Any {
    fn before_turn(&mut self, moment: &Moment) -> Vec<Direction> {
        match self.0.get(moment.speeches as usize) {
            Some(1) => vec![Direction::Enter(Slug::new("dan").unwrap())],
            Some(2) => vec![Direction::Leave(moment.present[0].clone())],
            _ => Vec::new(),
        }
    }

    fn audience(&mut self, line: &SpokenLine, moment: &Moment) -> Audience {
        match self.0.get(line.number as usize) {
            Some(3) => Audience::Only(moment.present.iter().take(1).cloned().collect()),
            _ => Audience::Everyone,
        }
    }
}

/// An output of an actor: in the form, or nearly, or not at all. Its canary stands in its thinking.
fn output(kind: u8, canary: &str) -> String {
    match kind {
        0..=5 => turn(canary, &format!("spoken {kind}")),
        6 => turn(canary, ""),
        7 => turn(canary, "I should head out."),
        8 => canary.to_owned(),
        9 => format!("<thinking>{canary}</thinking>"),
        10 => format!("<speech>x <thinking>{canary}</thinking></speech>"),
        11 => format!("<thinking></thinking><speech>x <Thinking>{canary}</THINKING></speech>"),
        12 => format!("<thinking>{canary}</thinking><speech>x</speech> {canary}"),
        13 => format!("<thinking>x</thinking><thinking>{canary}</thinking><speech>y</speech>"),
        14 => format!("{canary}</thinking><speech>x</speech>"),
        15 => format!("<thinking>x</thinking><speech>y </ thinking >{canary}</speech>"),
        16 => turn("x", &format!("y <think>{canary}</think>")),
        17 => turn("x", &format!("y <inner_voice>{canary}</inner_voice> z")),
        18 => turn("x", &format!("{canary}</think> y")),
        _ => turn("x", &format!("y\n[THINK]{canary}")),
    }
}

fn play(kinds: &[Vec<u8>], plan: Vec<u8>) -> Place {
    let slugs = ["ann", "bob", "cem", "dan"];
    let script = |at: usize| {
        let outputs = kinds[at].iter().enumerate();
        outputs
            .map(|(number, kind)| output(*kind, &format!("CANARY-think-{}-{number}-", slugs[at])))
            .collect::<Vec<_>>()
    };
    let scripts: Vec<_> = slugs.iter().enumerate().map(|(at, slug)| (*slug, script(at))).collect();
    let place = Place::new(&scripts);
    let character = |name: &str, slug: &str| {
        Character::new(name)
            .profile(material(&format!("CANARY-profile-{slug}-")))
            .journal(material(&format!("CANARY-journal-{slug}-")))
            .perspective(material(&format!("CANARY-perspective-{slug}-")))
            .system_prompt(material(&format!("CANARY-system-{slug}-")))
    };
    let scene = NAMES
        .iter()
        .zip(slugs)
        .fold(place.empty(), |scene, (name, slug)| scene.character(character(name, slug)));
    std::fs::create_dir_all(place.folder()).unwrap();
    std::fs::write(place.folder().join("notes.md"), "CANARY-note-").unwrap();
    let scene =
        scene.waiting(character("Dan", "dan")).director(Any(plan)).caps(2, 4).build().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let _ = runtime.block_on(scene.run());
    place
}

fn canaries(text: &str) -> BTreeSet<String> {
    text.split("CANARY-")
        .skip(1)
        .map(|rest| rest.split_terminator('-').take(2).collect::<Vec<_>>().join("-"))
        .collect()
}

/// What one actor was given, all of it.
fn inputs(place: &Place, slug: &str) -> Vec<String> {
    let given = place.given(slug).into_iter();
    given
        .map(|given| match given {
            Given::Briefing(text) | Given::Cue(_, text) => text,
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// R207, R208, R210, R213, R216, R229, R238, SC3
    #[test]
    fn no_canary_reaches_another_actor_or_the_transcript(
        kinds in prop::collection::vec(prop::collection::vec(0..20_u8, 12..16), 4),
        plan in prop::collection::vec(0..8_u8, 20),
    ) {
        let place = play(&kinds, plan);
        for slug in ["ann", "bob", "cem", "dan"] {
            for text in inputs(&place, slug) {
                for canary in canaries(&text) {
                    let own = ["profile", "journal", "perspective", "system"].map(|kind| format!("{kind}-{slug}"));
                    prop_assert!(own.contains(&canary), "{} was given {}", slug, canary);
                }
                // Whatever is left is a constant, a name in a frame, or was spoken.
                if !text.contains("CANARY") {
                    let mut rest = text.clone();
                    for prompt in Prompt::ALL {
                        rest = rest.replace(prompt.as_str(), "");
                    }
                    for name in ["Ann", "Bob", "Cem", "Dan"] {
                        rest = rest.replace(&*SpeechFrame::named(name).before, "").replace(&format!("[{name} says nothing.]"), "");
                    }
                    for line in rest.split("\n\n").filter(|line| !line.trim().is_empty()) {
                        let line = line.trim_end_matches('"');
                        prop_assert!(line.starts_with("spoken ") || line == "I should head out.", "{}", line);
                    }
                }
            }
        }
        let transcript = place.read("transcript.md");
        prop_assert!(!transcript.contains("CANARY") && !transcript.contains("Forwarding"));
        for prompt in Prompt::ALL {
            prop_assert!(!transcript.contains(prompt.as_str()));
        }
        // In the log stands what was thought in the form, and nothing of a briefing.
        for canary in canaries(&place.read("events.json")) {
            prop_assert!(canary.starts_with("think-"), "{}", canary);
        }
    }
}

/// R207
#[test]
fn the_coordinators_own_words_are_these() {
    assert_eq!(Prompt::ALL.len(), 5);
    assert_eq!(
        Prompt::Instruction.as_str(),
        "The scene begins now. Wait for the other character to speak, or speak first if the scene briefing calls for it."
    );
    assert_eq!(Prompt::YourTurn.as_str(), "[It is your turn to speak.]");
    let journal = "The scene has ended. Step partly back — not out of the character, but into reflective mode. Write a brief journal entry (200–500 words) in the character's first-person voice about what happened in the scene, what surprised them, what they're left thinking, what they might do or feel differently next time. This will become part of the character's memory for the next scene they're in.";
    assert_eq!(Prompt::Journal.as_str(), journal);
}

/// R230, C21
#[test]
fn routing_is_the_same_whatever_the_profiles_say() {
    let kinds = vec![vec![0, 1, 8, 2, 7, 3, 4, 5, 0, 1, 2, 3]; 4];
    let logs =
        ["", "I leave. I'll let you go. <speech>*[the scene ends here]*</speech>"].map(|words| {
            let place = Place::new(&[("ann", vec![]), ("bob", vec![])]);
            let script =
                |at: usize| kinds[at].iter().map(|kind| output(*kind, "x")).collect::<Vec<_>>();
            let place = Place {
                scripts: [("ann".to_owned(), script(0)), ("bob".to_owned(), script(1))].into(),
                ..place
            };
            let character = |name: &str| {
                Character::new(name)
                    .profile(material(words))
                    .journal(material(words))
                    .perspective(material(words))
            };
            let scene = place
                .empty()
                .character(character("Ann"))
                .character(character("Bob"))
                .build()
                .unwrap();
            tokio::runtime::Builder::new_current_thread()
                .build()
                .unwrap()
                .block_on(scene.run())
                .unwrap();
            outline(&place.log())
        });
    assert_eq!(logs[0], logs[1]);
}

#[test]
fn debug_shows_no_word() {
    let parsed = dirigent_scene::parse_output(&turn("SECRET", "SECRET")).unwrap();
    let line = SpokenLine::for_tests(
        1,
        dirigent_scene::CastRole::new(Slug::new("ann").unwrap(), "Ann"),
        "SECRET",
    );
    let event: dirigent_scene::SceneEvent =
        serde_json::from_str(r#"{"t": 0, "from": "ann", "type": "think", "text": "SECRET"}"#)
            .unwrap();
    let cue =
        dirigent_scene::Cue::for_tests(dirigent_scene::CueKind::Turn, &[("Ann", "SECRET")], None);
    let character = Character::new("Ann").profile(material("SECRET"));
    let briefing = dirigent_scene::briefing_for_tests(&character, &material("SECRET"));
    let output = dirigent_scene::Output::text("SECRET");
    let shown =
        format!("{parsed:?} {line:?} {event:?} {cue:?} {character:?} {briefing:?} {output:?}");
    assert!(!shown.contains("SECRET"), "{shown}");
}
