//! Who is present, and who hears what.

use dirigent_scene::{
    Audience, BadDirection, Character, Direction, Director, EventKind, Moment, SceneBuilder,
    SceneError, Slug, SpokenLine,
};

use crate::fixture::{Given, Place, material, outline, says};

fn slug(name: &str) -> Slug {
    Slug::new(name).unwrap()
}

type Refusals = std::sync::Arc<std::sync::Mutex<Vec<(Direction, BadDirection)>>>;

/// Directs by the number of speeches, and whispers what begins with a name and a colon.
struct Plan {
    at: Vec<(u32, Direction)>,
    refused: Refusals,
}

impl Director for Plan {
    fn before_turn(&mut self, moment: &Moment) -> Vec<Direction> {
        let now = self.at.iter().filter(|(at, _)| *at == moment.speeches);
        now.map(|(_, direction)| direction.clone()).collect()
    }

    fn audience(&mut self, line: &SpokenLine, _: &Moment) -> Audience {
        match line.speech.as_str().split_once(':') {
            Some((names, _)) => Audience::Only(names.split('+').map(slug).collect()),
            None => Audience::Everyone,
        }
    }

    fn refused(&mut self, direction: &Direction, why: BadDirection) {
        self.refused.lock().unwrap().push((direction.clone(), why));
    }
}

fn place(lines: &[(&str, &[&str])]) -> Place {
    let scripts: Vec<_> = lines
        .iter()
        .map(|(slug, lines)| (*slug, lines.iter().map(|line| says(line)).collect()))
        .collect();
    Place::new(&scripts)
}

fn directed(scene: SceneBuilder, at: Vec<(u32, Direction)>) -> (SceneBuilder, Refusals) {
    let refused = Refusals::default();
    (scene.director(Plan { at, refused: refused.clone() }), refused)
}

fn heard(place: &Place, who: &str, word: &str) -> bool {
    place.cues(who).iter().any(|(_, text)| text.contains(word))
}

fn three(place: &Place) -> SceneBuilder {
    ["Ann", "Bob", "Cem"]
        .into_iter()
        .fold(place.empty(), |scene, name| scene.character(Character::new(name)))
}

/// R205, R211, R234
#[tokio::test]
async fn a_whisper_is_a_speech_that_only_its_audience_hears() {
    let place = place(&[
        ("ann", &["bob: WHISPER", "Bye."]),
        ("bob", &["LOUD", "Bye."]),
        ("cem", &["Safe travels.", "Bye."]),
    ]);
    directed(three(&place), vec![]).0.build().unwrap().run().await.unwrap();
    assert!(
        heard(&place, "bob", "[Ann, speaking]: \"bob: WHISPER\"")
            && !heard(&place, "cem", "WHISPER")
    );
    assert!(heard(&place, "ann", "LOUD") && heard(&place, "cem", "LOUD"));
    assert!(place.read("transcript.md").contains("**ANN:** bob: WHISPER"));
    let log = place.log();
    let speeches: Vec<_> =
        log.events().iter().filter(|event| event.kind == EventKind::Speak).collect();
    assert_eq!(speeches[0].audience.as_deref(), Some(&[slug("bob")][..]));
    assert!(speeches[1..].iter().all(|event| event.audience.is_none()));
    assert_eq!(outline(&log)[8..10], ["route bob", "think bob"]);
}

#[tokio::test]
async fn a_whisper_to_those_who_are_not_there_reaches_no_one() {
    let place = place(&[
        ("ann", &["zoe+ann: WHISPER", "Bye."]),
        ("bob", &["Safe travels."]),
        ("cem", &["Bye.", "Bye."]),
    ]);
    directed(three(&place), vec![]).0.build().unwrap().run().await.unwrap();
    assert!(["ann", "bob", "cem"].iter().all(|who| !heard(&place, who, "WHISPER")));
    assert_eq!(place.cues("bob")[0].1, "", "it speaks first, as far as it knows");
    let log = place.log();
    let whisper = log.events().iter().find(|event| event.kind == EventKind::Speak).unwrap();
    assert_eq!(whisper.audience.as_deref(), Some(&[][..]));
}

/// R203, R204
#[tokio::test]
async fn an_entering_actor_is_created_and_briefed_and_hears_only_what_follows() {
    let place = place(&[
        ("maria", &["EARLY", "LATER", "Bye.", "Bye."]),
        ("sam", &["EARLY TOO", "MORE", "Bye.", "Bye."]),
        ("zoe", &["Safe travels."]),
    ]);
    let zoe = Character::new("Zoe").profile(material("ZOE"));
    let (scene, refused) =
        directed(place.two().waiting(zoe), vec![(2, Direction::Enter(slug("zoe")))]);
    scene.build().unwrap().run().await.unwrap();
    let outline = outline(&place.log());
    let spawn = outline.iter().position(|line| line == "spawn zoe").unwrap();
    assert_eq!((spawn, outline[spawn + 1].as_str()), (10, "brief zoe"));
    assert_eq!(
        outline.iter().filter(|line| *line == "spawn zoe" || *line == "brief zoe").count(),
        2
    );
    assert!(matches!(&place.given("zoe")[0], Given::Briefing(text) if text.contains("ZOE")));
    assert!(!heard(&place, "zoe", "EARLY") && heard(&place, "zoe", "LATER"));
    assert!(place.read("transcript.md").contains("Participants:** Maria, Sam, Zoe"));
    assert!(place.read("zoe/journal.md").contains("Dear diary"));
    assert!(refused.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_character_that_never_enters_is_no_participant() {
    let place = place(&[("maria", &["Hello.", "Bye."]), ("sam", &["Rain.", "Bye."])]);
    let scene = place.two().waiting(Character::new("Zoe")).caps(2, 2);
    scene.build().unwrap().run().await.unwrap();
    let transcript = place.read("transcript.md");
    assert!(transcript.contains("Participants:** Maria, Sam\n"), "{transcript}");
    assert!(!transcript.contains("Zoe"), "{transcript}");
}

/// R206, R242
#[tokio::test]
async fn a_leaving_actor_writes_its_journal_and_hears_no_more() {
    let place = place(&[
        ("ann", &["A1", "A2", "A3", "A4"]),
        ("bob", &["B1", "B2", "B3", "B4"]),
        ("cem", &["C1"]),
    ]);
    // After a round of three Cem goes; Ann and Bob go on alone.
    place.stage.lock().unwrap().fails_at.insert("nobody".into(), 0);
    let (scene, _) = directed(three(&place).caps(3, 3), vec![(3, Direction::Leave(slug("cem")))]);
    scene.build().unwrap().run().await.unwrap();
    let outline = outline(&place.log());
    let journal = outline.iter().position(|line| line == "journal cem").unwrap();
    assert!(!outline[journal..].contains(&"route cem".to_owned()));
    assert!(
        outline[journal..]
            .iter()
            .filter(|line| line.starts_with("speak"))
            .all(|line| line != "speak cem")
    );
    assert_eq!(outline.iter().filter(|line| *line == "journal cem").count(), 1);
    assert!(outline.iter().position(|line| line == "close coordinator").unwrap() > journal);
    // The caps count those present: Ann's and Bob's three each, and what Cem said before does not count.
    let log = place.log();
    assert_eq!(log.reason().unwrap().as_str(), "hard-cap");
    assert_eq!(outline.iter().filter(|line| line.starts_with("speak")).count(), 7);
}

#[tokio::test]
async fn directions_that_cannot_be_carried_out_are_refused_and_change_nothing() {
    let plain = place(&[("maria", &["Hello.", "Bye."]), ("sam", &["Safe travels."])]);
    plain.two().build().unwrap().run().await.unwrap();
    let place = place(&[("maria", &["Hello.", "Bye."]), ("sam", &["Safe travels."])]);
    let directions = [
        (Direction::Leave(slug("maria")), BadDirection::TooFew),
        (Direction::Leave(slug("zoe")), BadDirection::NotPresent),
        (Direction::Leave(slug("nobody")), BadDirection::Unknown),
        (Direction::Enter(slug("maria")), BadDirection::CannotEnter),
        (Direction::Enter(slug("nobody")), BadDirection::Unknown),
    ];
    let at = directions.iter().map(|(direction, _)| (1, direction.clone())).collect();
    let (scene, refused) = directed(place.two().waiting(Character::new("Zoe")), at);
    scene.build().unwrap().run().await.unwrap();
    assert_eq!(*refused.lock().unwrap(), directions);
    assert_eq!(outline(&place.log()), outline(&plain.log()));
}

#[tokio::test]
async fn a_host_stops_a_scene() {
    let place = place(&[("maria", &["Hello.", "Bye."]), ("sam", &["Well."])]);
    let (scene, _) = directed(place.two(), vec![(2, Direction::Stop)]);
    let error = scene.build().unwrap().run().await.unwrap_err();
    assert!(matches!(error, SceneError::Stopped));
    assert_eq!(place.log().reason().unwrap().as_str(), "aborted");
    assert!(place.read("transcript.md").contains("**SAM:** Well."));
}
