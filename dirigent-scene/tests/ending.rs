//! How scenes end.

use dirigent_scene::{CloseSigns, CueKind, EventKind, Prompt, SceneBuildError};

use crate::fixture::{Place, outline, says};

fn closes(speech: &str) -> bool {
    CloseSigns::default().is_close(speech, "Maria Stern")
}

/// R219, C15, C16
#[test]
fn each_phrase_closes_in_any_case_and_with_any_quotes() {
    for phrase in CloseSigns::PHRASES {
        for said in [
            phrase.to_owned(),
            phrase.to_uppercase(),
            phrase.replace('\'', "’"),
            phrase.to_lowercase(),
        ] {
            for speech in [
                said.clone(),
                format!("Well. {said}."),
                format!("*[smiles]* {said}, Maria! *[waves]*"),
                format!("One. Two. Three. {said}. Take care."),
                format!("If you don't mind, {said}."),
                format!("“{said}.”"),
            ] {
                assert!(closes(&speech), "{speech}");
            }
        }
    }
    assert!(closes("Thank you both, this was generous."));
    assert!(closes("I should let you get on with your day."));
}

/// R222, C16
#[test]
fn a_phrase_elsewhere_closes_nothing() {
    for speech in [
        "Thank you both. That is kind. But why did you come?",
        "He said safe travels. Then he stayed. For years.",
        "I'll let you go first.",
        "I don't think I should head out.",
        "Should I say thank you both?",
        "I should head outside with the dog.",
        "Not before I should head out.",
        "I'll let you. Go on.",
        "",
        "?!",
    ] {
        assert!(!closes(speech), "{speech}");
    }
}

/// The table of speeches, with whether the scene closes and their line.
fn table() -> impl Iterator<Item = (usize, bool, &'static str, &'static str)> {
    let lines = (1..).zip(include_str!("leaving.tsv").lines());
    lines.filter(|(_, line)| !line.starts_with('#')).map(|(number, line)| {
        let [verdict, language, speech] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        assert!(matches!(verdict, "close" | "on"), "line {number}");
        (number, verdict == "close", language, speech)
    })
}

/// R220, C15, SC5
#[test]
fn leaving_closes_a_scene_and_being_right_back_does_not() {
    let wrong: Vec<_> =
        table().filter(|(_, is_close, _, speech)| closes(speech) != *is_close).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    for (language, least) in [("en", 60), ("de", 10), ("zh", 10)] {
        let count = table().filter(|(_, _, other, _)| *other == language).count();
        assert!(count >= least, "{language}: {count}");
    }
    // How it is typed makes no difference.
    for (number, is_close, _, speech) in table() {
        for other in [
            speech.replace('\'', "’"),
            format!(" {speech} "),
            speech.replace("*[", "[").replace("]*", "]"),
        ] {
            assert_eq!(closes(&other), is_close, "line {number}: {other}");
        }
    }
}

/// R220, C15
#[test]
fn an_exit_is_what_the_speaker_does_last() {
    for speech in [
        "*[leaves]*",
        "*[She leaves the room.]*",
        "*[Maria leaves]*",
        "[exits]",
        "*[walks out without looking back]*",
        "*[takes his coat and heads out]* Good night.",
        "Good night. *[goes out into the rain]*",
        "*[quietly closes the door behind her]*",
        "*[turns, slowly walks out]*",
        "*[leaves quietly]*",
    ] {
        assert!(closes(speech), "{speech}");
    }
    for speech in [
        "*[rakes the leaves]*",
        "*[leaves the cup on the table]* So?",
        "*[walks out, returns with two cups]*",
        "*[walks out]* One. Two. Three.",
        "*[exits]* Wait. *[comes back]* I forgot my hat.",
        "He leaves. He always leaves the room.",
        "*[nearly leaves]*",
        "*[leaves",
    ] {
        assert!(!closes(speech), "{speech}");
    }
}

#[test]
fn the_signs_are_the_hosts() {
    let signs = CloseSigns::new(["good night"], ["jumps…"]);
    assert!(signs.is_close("Good night!", "Sam") && signs.is_close("*[jumps out]*", "Sam"));
    assert!(!signs.is_close("Safe travels.", "Sam") && !signs.is_close("*[exits]*", "Sam"));
    assert!(!CloseSigns::new([""], [""]).is_close("Anything.", "Sam"));
}

fn place(maria: &[&str], sam: &[&str]) -> Place {
    let says = |lines: &[&str]| lines.iter().map(|line| says(line)).collect();
    Place::new(&[("maria", says(maria)), ("sam", says(sam))])
}

fn end(place: &Place) -> (String, usize) {
    let log = place.log();
    let turns = log.events().iter().filter(|event| event.kind == EventKind::Speak).count();
    (log.reason().unwrap().to_string(), turns)
}

/// R219, R220, R221, C14
#[tokio::test]
async fn after_a_close_one_reply_follows_and_the_number_is_the_hosts() {
    for (replies, turns) in [(1, 3), (0, 2), (2, 4), (3, 5)] {
        for close in ["I should head out.", "*[exits]*"] {
            let place =
                place(&["Hello.", "So soon?", "Well."], &[close, "I'll let you go.", "Bye."]);
            place.two().closing_replies(replies).build().unwrap().run().await.unwrap();
            assert_eq!(end(&place), ("natural".into(), turns), "{close}");
        }
    }
}

/// R223, C17
#[tokio::test]
async fn the_explicit_signal_ends_at_once_and_is_not_routed() {
    for signal in
        ["*[the scene ends here]*", " *[the scene ends here]*. ", "*[the scene ends here.]*"]
    {
        let place = place(&["Hello.", "More."], &[signal, "More."]);
        place.two().build().unwrap().run().await.unwrap();
        assert_eq!(end(&place), ("explicit".into(), 2), "{signal}");
        assert!(place.read("transcript.md").contains("**SAM:** *[the scene ends here"));
        let outline = outline(&place.log());
        assert_eq!(outline.iter().filter(|line| *line == "route maria").count(), 0);
        assert!(!place.cues("maria").iter().any(|(_, text)| text.contains("ends here")));
    }
    let place = place(&["Say *[the scene ends here]* now.", "Safe travels."], &["No.", "Bye."]);
    place.two().build().unwrap().run().await.unwrap();
    assert_eq!(end(&place).0, "natural");
}

/// R224, R225, C18, C19
#[tokio::test]
async fn at_the_soft_cap_the_next_actor_is_told_once_and_a_close_has_that_reason() {
    let place = place(&["1", "3", "5", "Safe travels."], &["2", "4", "6", "Bye."]);
    place.two().caps(2, 9).build().unwrap().run().await.unwrap();
    assert_eq!(end(&place), ("soft-cap".into(), 8));
    let exact = "You sense the natural end of this conversation approaching. Bring it to a close in your own way over the next 2–3 turns.";
    assert_eq!(Prompt::WindDown.as_str(), exact);
    assert_eq!(place.cues("maria")[2], (CueKind::Turn, format!("4\n\n{exact}")));
    let told =
        |slug: &str| place.cues(slug).iter().filter(|(_, text)| text.contains(exact)).count();
    assert_eq!((told("maria"), told("sam")), (1, 0));
    let log = place.log();
    let nudges: Vec<_> = log.events().iter().filter(|event| &*event.text == exact).collect();
    assert_eq!(
        (nudges.len(), nudges[0].kind, nudges[0].target.as_ref().unwrap().as_str()),
        (1, EventKind::Brief, "maria")
    );
    assert!(!place.read("transcript.md").contains(exact));
}

/// R226, C20
#[tokio::test]
async fn at_the_hard_cap_the_scene_ends_without_a_word() {
    let place = place(&["1", "3", "5", "7"], &["2", "4", "6", "8"]);
    place.two().caps(2, 3).build().unwrap().run().await.unwrap();
    assert_eq!(end(&place), ("hard-cap".into(), 6));
    let last = place.cues("maria").pop().unwrap();
    assert_eq!(last, (CueKind::Journal, format!("6\n\n{}", Prompt::Journal.as_str())));
}

/// R224, R226, R227
#[tokio::test]
async fn the_caps_are_forty_and_sixty_for_each_unless_set() {
    let many: Vec<String> = (0..70).map(|number| says(&number.to_string())).collect();
    let place = Place::new(&[("maria", many.clone()), ("sam", many)]);
    place.stage.lock().unwrap().fails_at.insert("maria".into(), 60);
    place.two().build().unwrap().run().await.unwrap();
    assert_eq!(end(&place), ("hard-cap".into(), 120));
    let log = place.log();
    let nudged =
        log.events().iter().position(|event| &*event.text == Prompt::WindDown.as_str()).unwrap();
    let before =
        log.events()[..nudged].iter().filter(|event| event.kind == EventKind::Speak).count();
    assert_eq!(before, 80);

    let caps = |soft, hard| place.two().caps(soft, hard).build().map(drop);
    assert_eq!(caps(61, 60), Err(SceneBuildError::BadCaps { soft: 61, hard: 60 }));
    assert_eq!(caps(0, 0), Err(SceneBuildError::BadCaps { soft: 0, hard: 0 }));
    assert_eq!(caps(60, 60), Ok(()));
}
