//! What stands in the files when a scene has ended.

use std::fmt::Write as _;
use std::time::Duration;

use dirigent_scene::{Character, EventKind, Source, Transcript};
use serde_json::Value;

use crate::fixture::{Place, files, says};
use crate::playing::kitchen;

/// R231, R234, C22, C23
#[tokio::test]
async fn the_log_is_an_array_of_objects_with_the_fields_of_the_schema() {
    let place = kitchen();
    place.two().build().unwrap().run().await.unwrap();
    let events: Vec<Value> = serde_json::from_str(&place.read("events.json")).unwrap();
    let kinds = ["spawn", "brief", "think", "speak", "route", "correct", "journal", "close"];
    for event in &events {
        let fields = event.as_object().unwrap();
        let kind = fields["type"].as_str().unwrap();
        assert!(kinds.contains(&kind) && fields["t"].is_number() && fields["text"].is_string());
        assert_eq!(
            fields.contains_key("target"),
            matches!(kind, "spawn" | "brief" | "route" | "correct"),
            "{kind}"
        );
        assert_eq!(fields.contains_key("reason"), kind == "close");
        let known = ["t", "from", "type", "target", "text", "reason"];
        assert!(fields.keys().all(|field| known.contains(&field.as_str())));
    }
    let texts: Vec<_> = events.iter().map(|event| event["text"].as_str().unwrap()).collect();
    assert_eq!(texts[0], "Spawning actor for character maria");
    assert_eq!(texts[6], "Forwarding Maria's speech to Sam");
    assert_eq!(
        files(&place.folder()),
        ["events.json", "maria/journal.md", "notes.md", "sam/journal.md", "transcript.md"]
    );
}

/// R210, R233
#[tokio::test]
async fn each_event_comes_from_whom_it_must() {
    let place = kitchen();
    place.two().build().unwrap().run().await.unwrap();
    let log = place.log();
    for event in log.events() {
        let is_character =
            matches!(event.kind, EventKind::Think | EventKind::Speak | EventKind::Journal);
        assert_eq!(matches!(event.from, Source::Character(_)), is_character);
    }
    let thoughts: Vec<_> =
        log.events().iter().filter(|event| event.kind == EventKind::Think).collect();
    assert_eq!(
        (thoughts.len(), &*thoughts[0].text, thoughts[0].from.as_str()),
        (5, "Him.", "maria")
    );
    assert!(!place.read("transcript.md").contains("Him."));
}

/// R232, C23
#[tokio::test]
async fn times_are_seconds_since_the_first_event_and_never_go_back() {
    let place = kitchen();
    let (clock, scene) = (std::sync::Arc::clone(&place.clock), place.two().build().unwrap());
    let passing = async {
        for _ in 0..200 {
            clock.advance(Duration::from_millis(77));
            tokio::task::yield_now().await;
        }
    };
    let (epilogue, ()) = tokio::join!(scene.run(), passing);
    epilogue.unwrap();
    let events: Vec<Value> = serde_json::from_str(&place.read("events.json")).unwrap();
    let times: Vec<f64> = events.iter().map(|event| event["t"].as_f64().unwrap()).collect();
    assert!(times[0] == 0.0 && times.is_sorted() && times[times.len() - 1] > 0.5, "{times:?}");
    assert!(times.iter().all(|time| (time * 1_000.0).fract().abs() < 1e-6));
}

/// R237, R239, C24, C25
#[tokio::test]
async fn the_transcript_has_its_layout() {
    let place = kitchen();
    place.two().build().unwrap().run().await.unwrap();
    let expected = "# Scene 001 — Morning kitchen\n\n**Date:** 2025-06-15\n**Duration:** 0 minutes (real-time generation)\n\
        **Participants:** Maria, Sam\n**Setting:** A kitchen\n\n---\n\n**MARIA:** Hello.\n\n**SAM:** It is raining.\n\n\
        **MARIA:** Tea?\n\n**SAM:** I should head out.\n\n**MARIA:** Mind the step.\n\n*[end of scene]*\n\n---\n\n\
        ## Post-scene notes\n- Close reason: natural\n- Turn count: 5 (Maria: 3, Sam: 2)\n\
        - Coordinator's correction prompts issued: 0\n";
    assert_eq!(place.read("transcript.md"), expected);
}

/// R235, R238, R239
#[tokio::test]
async fn the_speeches_of_the_log_are_the_lines_of_the_transcript() {
    let place = Place::new(&[
        ("maria", vec![says("A.\n\nB."), "bad".into(), says(""), says("Safe travels.")]),
        ("sam", vec![says("*[laughs]*"), says("C."), says("D.")]),
    ]);
    let scene = place
        .empty()
        .character(Character::new("Maria Stern").slug("maria"))
        .character(Character::new("Sam"));
    scene.build().unwrap().run().await.unwrap();
    let (log, transcript) = (place.log(), place.read("transcript.md"));
    let mut lines = String::new();
    let spoken = log.events().iter().filter(|event| event.kind == EventKind::Speak);
    for event in spoken.filter(|event| !event.text.is_empty()) {
        let name = if event.from.as_str() == "maria" { "MARIA STERN" } else { "SAM" };
        let said = event.text.replace("\n\n", "\n>\n> ");
        writeln!(lines, "\n**{name}:** {said}").unwrap();
    }
    let body =
        transcript.split_once("\n---\n").unwrap().1.split_once("\n*[end of scene]*").unwrap().0;
    assert_eq!(body, lines);
    assert!(transcript.contains(
        "- Turn count: 6 (Maria Stern: 3, Sam: 3)\n- Coordinator's correction prompts issued: 1\n"
    ));
    let again = Transcript::new("x", []).render(log.events());
    assert!(again.contains("**MARIA:** Safe travels."), "a log alone is enough");
}

#[tokio::test]
async fn the_picture_holds_all_events_and_reaches_for_no_network() {
    let place = Place::new(&[
        ("maria", vec![says("</script><img src=x onerror=alert(1)>"), says("Bye.")]),
        ("sam", vec![says("Safe travels.")]),
    ]);
    place.two().picture(true).build().unwrap().run().await.unwrap();
    let html = place.read("scene.html");
    assert_eq!(html.matches("</script>").count(), 1);
    assert!(!html.contains("<img") && html.contains("default-src 'none'"));
    for reach in ["http:", "https:", "src=", "href=", "@import", "url(", "fetch(", "import("] {
        let own = html.replace("http://www.w3.org/2000/svg", "").replace("img src=x", "");
        assert!(!own.contains(reach), "{reach}");
    }
    let data = html.split_once("const EVENTS = ").unwrap().1.split_once(";\n").unwrap().0;
    let events: Vec<Value> = serde_json::from_str(data).unwrap();
    assert_eq!(events.len(), place.log().events().len());
}
