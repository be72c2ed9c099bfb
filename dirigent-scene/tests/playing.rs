//! From the first cue to the last journal.

use dirigent_scene::{
    Character, CueKind, EventKind, InterviewError, Prompt, SceneError, Slug, SpeechFrame,
};

use crate::fixture::{Given, Place, files, material, outline, says, turn};

pub(crate) fn kitchen() -> Place {
    Place::new(&[
        ("maria", vec![turn("Him.", "Hello."), turn("Hm.", "Tea?"), turn("Oh.", "Mind the step.")]),
        ("sam", vec![turn("Her.", "It is raining."), turn("No.", "I should head out.")]),
    ])
}

/// R203, R204, R205, R206, R215, R218, C6, C11
#[tokio::test]
async fn a_scene_of_two_from_beginning_to_end() {
    let place = kitchen();
    let epilogue = place.two().build().unwrap().run().await.unwrap();
    assert_eq!(
        outline(&place.log()).join(", "),
        "spawn maria, brief maria, spawn sam, brief sam, \
         think maria, speak maria, route sam, think sam, speak sam, route maria, \
         think maria, speak maria, route sam, think sam, speak sam, route maria, \
         think maria, speak maria, route sam, \
         close coordinator, journal maria, journal sam"
    );
    assert!(place.stage.lock().unwrap().dropped.is_empty(), "actors live until the epilogue ends");
    epilogue.close();
    assert_eq!(place.stage.lock().unwrap().dropped.len(), 2);
}

/// R205, R211, R245, C11, C28
#[tokio::test]
async fn an_actor_hears_what_is_new_once_and_nothing_again() {
    let place = kitchen();
    place.two().build().unwrap().run().await.unwrap();
    let journal = Prompt::Journal.as_str();
    let turn = |text: &str| (CueKind::Turn, text.to_owned());
    assert_eq!(
        place.cues("maria"),
        [
            turn(""),
            turn("It is raining."),
            turn("I should head out."),
            (CueKind::Journal, journal.to_owned())
        ]
    );
    assert_eq!(
        place.cues("sam"),
        [turn("Hello."), turn("Tea?"), (CueKind::Journal, format!("Mind the step.\n\n{journal}"))]
    );
}

/// R218, C13
#[tokio::test]
async fn the_first_speaker_is_the_configured_one() {
    let place = Place::new(&[
        ("maria", vec![says("Safe travels.")]),
        ("sam", vec![says("Hello."), says("Bye.")]),
    ]);
    let scene = place.two().first_speaker(Slug::new("sam").unwrap());
    scene.build().unwrap().run().await.unwrap();
    let spoke: Vec<_> =
        outline(&place.log()).into_iter().filter(|line| line.starts_with("speak")).collect();
    assert_eq!(spoke[0], "speak sam");
}

/// R204, R228, C21
#[tokio::test]
async fn a_briefing_has_its_five_parts_in_order_and_is_given_once() {
    let place = kitchen();
    let maria = Character::new("Maria")
        .profile(material("PROFILE"))
        .journal(material("JOURNAL"))
        .perspective(material("SCENE"));
    let scene = place.empty().system_prompt(material("SYSTEM")).character(maria);
    let sam = Character::new("Sam").system_prompt(material("OWN"));
    scene.character(sam).build().unwrap().run().await.unwrap();
    let instruction = Prompt::Instruction.as_str();
    let briefings = |slug: &str| {
        let given = place.given(slug).into_iter();
        given.filter(|given| matches!(given, Given::Briefing(_))).collect::<Vec<_>>()
    };
    assert_eq!(
        briefings("maria"),
        [Given::Briefing(format!("SYSTEM|PROFILE|JOURNAL|SCENE|{instruction}"))]
    );
    assert_eq!(briefings("sam"), [Given::Briefing(format!("OWN||||{instruction}"))]);
    let brief = place.log().events()[1].clone();
    assert_eq!(&*brief.text, "Sent actor system prompt + profile + journal + scene perspective");
}

/// R212, R213, R239, C10, C29
#[tokio::test]
async fn a_malformed_output_is_corrected_and_only_the_corrected_one_is_routed() {
    let maria = vec![
        "LEAK <thinking>SECRET".to_owned(),
        "<speech>LEAK</speech>".to_owned(),
        says("Hello."),
    ];
    let place = Place::new(&[("maria", maria), ("sam", vec![says("I should head out.")])]);
    place.stage.lock().unwrap().fails_at.insert("maria".into(), 3);
    let error = place.two().build().unwrap().run().await.unwrap_err();
    assert!(matches!(error, SceneError::Actor { .. }), "{error}");
    let exact = "Your last response did not use <thinking> and <speech> tags. Please reformat without changing the content.";
    let corrected = (CueKind::Correction, exact.to_owned());
    assert_eq!(place.cues("maria")[1..3], [corrected.clone(), corrected]);
    assert_eq!(place.cues("sam")[0].1, "Hello.");
    let log = place.log();
    let corrections: Vec<_> =
        log.events().iter().filter(|event| event.kind == EventKind::Correct).collect();
    assert_eq!(corrections.len(), 2);
    assert!(corrections.iter().all(|event| &*event.text == exact && event.raw.is_none()));
    for file in ["events.json", "transcript.md"] {
        assert!(
            !place.read(file).contains("LEAK") && !place.read(file).contains("SECRET"),
            "{file}"
        );
    }
    assert!(place.read("transcript.md").contains("correction prompts issued: 2"));
}

/// C10
#[tokio::test]
async fn malformed_outputs_are_kept_where_the_host_wants_it() {
    let place = Place::new(&[
        ("maria", vec!["raw".into(), says("Safe travels.")]),
        ("sam", vec![says("Bye.")]),
    ]);
    place.two().keep_raw(true).build().unwrap().run().await.unwrap();
    let log = place.log();
    let raw: Vec<_> = log.events().iter().filter_map(|event| event.raw.as_deref()).collect();
    assert_eq!(raw, ["raw"]);
}

/// R214, C9
#[tokio::test]
async fn corrections_are_bounded_and_then_the_scene_is_aborted_with_its_files() {
    for (most, outputs) in [(3, 4), (0, 1), (1, 2)] {
        let place = Place::new(&[("maria", vec!["no".into(); 9]), ("sam", vec![])]);
        let error = place.two().corrections_max(most).build().unwrap().run().await.unwrap_err();
        let SceneError::Protocol { slug, outputs: given } = error else { panic!("{error}") };
        assert_eq!((slug.as_str(), given), ("maria", outputs));
        assert_eq!(place.cues("maria").len(), usize::try_from(outputs).unwrap());
        let log = place.log();
        assert_eq!(log.reason().unwrap().as_str(), "aborted");
        assert_eq!(
            log.events().iter().filter(|event| event.kind == EventKind::Correct).count(),
            usize::try_from(most).unwrap()
        );
        assert_eq!(files(&place.folder()), ["events.json", "notes.md", "transcript.md"]);
        assert!(place.cues("sam").is_empty(), "no journal is asked for");
    }
}

/// C8
#[tokio::test]
async fn a_turn_without_words_is_a_turn() {
    let place = Place::new(&[
        ("maria", vec![says(""), says("Safe travels.")]),
        ("sam", vec![says("Maria?"), says("Bye.")]),
    ]);
    place.two().build().unwrap().run().await.unwrap();
    assert_eq!(place.cues("sam")[0].1, "[Maria says nothing.]");
    assert_eq!(place.read("transcript.md").matches("**MARIA:**").count(), 1);
    assert!(place.read("transcript.md").contains("Turn count: 4 (Maria: 2, Sam: 2)"));
}

/// R217, C11, C12
#[tokio::test]
async fn among_three_a_speech_is_framed_with_the_speakers_name_and_nothing_else() {
    let scripts = [
        ("ann", vec![says("One \"a\"."), says("Bye.")]),
        ("bob", vec![says("Two."), says("Bye.")]),
        ("cem", vec![says("Safe travels."), says("Bye.")]),
    ];
    let place = Place::new(&scripts);
    let three = || {
        let names = ["Ann", "Bob", "Cem"];
        names.into_iter().fold(place.empty(), |scene, name| scene.character(Character::new(name)))
    };
    three().build().unwrap().run().await.unwrap();
    assert_eq!(place.cues("bob")[0].1, "[Ann, speaking]: \"One \"a\".\"");
    assert_eq!(
        place.cues("cem")[0].1,
        "[Ann, speaking]: \"One \"a\".\"\n\n[Bob, speaking]: \"Two.\""
    );

    std::fs::remove_dir_all(place.folder()).unwrap();
    place.stage.lock().unwrap().given.clear();
    let custom = three().frame(|speaker, listener| {
        Some(SpeechFrame {
            before: format!("{speaker} to {listener}: ").into(),
            behind: " /".into(),
        })
    });
    custom.build().unwrap().run().await.unwrap();
    assert_eq!(place.cues("bob")[0].1, "Ann to Bob: One \"a\". /");
}

/// R240, R241, R242, C26, C27
#[tokio::test]
async fn journals_are_asked_for_apart_and_one_that_fails_does_not_stop_the_others() {
    let place = kitchen();
    place.stage.lock().unwrap().fails_at.insert("maria".into(), 3);
    let journal = place.folder().join("sam/journal.md");
    std::fs::create_dir_all(journal.parent().unwrap()).unwrap();
    std::fs::write(&journal, b"earlier \xff bytes").unwrap();
    let epilogue = place.two().build().unwrap().run().await.unwrap();
    let missing = &epilogue.report().missing_entries;
    assert_eq!((missing.len(), missing[0].0.as_str()), (1, "maria"));
    assert!(missing[0].1.as_ref().unwrap().contains("the context is full"));
    let written = std::fs::read(&journal).unwrap();
    let entry = "\n\n## 2025-06-15 — Scene 001 — Morning kitchen\n\nDear diary, this was sam.\n";
    assert_eq!(written, [b"earlier \xff bytes", entry.as_bytes()].concat());
    assert!(!place.folder().join("maria").exists());
    assert_eq!(epilogue.report().unusual_entries, [(Slug::new("sam").unwrap(), 5)]);
}

/// R241, C26, SC3
#[tokio::test]
async fn an_entry_is_plain_or_a_block_of_speech_and_nothing_else_is_taken() {
    let entry = |text: &str| {
        vec![
            says("Safe travels."),
            text.to_owned(),
            "<speech>".into(),
            "<speech>".into(),
            "<speech>".into(),
        ]
    };
    let cases = [
        ("Plain.", Some("Plain.")),
        ("<thinking>SECRET</thinking><speech>Tagged.</speech>", Some("Tagged.")),
        ("<thinking>SECRET", None),
        ("Dear diary. <think>SECRET</think>", None),
        ("<musing>SECRET</musing>Dear diary.", None),
        ("", None),
    ];
    for (text, expected) in cases {
        let place = Place::new(&[("maria", entry(text)), ("sam", vec![says("Bye.")])]);
        let epilogue = place.two().build().unwrap().run().await.unwrap();
        let written = place.read("maria/journal.md");
        assert!(!written.contains("SECRET"));
        if let Some(words) = expected {
            assert!(written.ends_with(&format!("\n\n{words}\n")), "{text}: {written}");
        } else {
            assert_eq!(written, "", "{text}");
            assert_eq!(epilogue.report().missing_entries.len(), 1);
        }
    }
}

/// R206, R238
#[tokio::test]
async fn an_actor_is_interviewed_after_its_journal_and_apart_from_the_scene() {
    let place = kitchen();
    place.stage.lock().unwrap().fails_at.insert("sam".into(), 2);
    place
        .stage
        .lock()
        .unwrap()
        .answers
        .insert("maria".into(), turn("SECRET", "I kept his records."));
    let mut epilogue = place.two().build().unwrap().run().await.unwrap();
    let before = [place.read("events.json"), place.read("transcript.md")];
    let answer = epilogue.interview("maria", "QUESTION?").await.unwrap();
    assert_eq!(&*answer, "I kept his records.");
    epilogue.interview("maria", "QUESTION?").await.unwrap();
    let section = "**Question:** QUESTION?\n\n**MARIA:** I kept his records.\n";
    assert_eq!(place.read("maria/interview.md"), format!("{section}\n{section}"));
    assert_eq!([place.read("events.json"), place.read("transcript.md")], before);
    let error = epilogue.interview("sam", "And you?").await.unwrap_err();
    assert!(matches!(error, InterviewError::NoEntry), "{error}");
    assert!(matches!(epilogue.interview("zoe", "?").await, Err(InterviewError::Unknown)));
    place.stage.lock().unwrap().answers.insert("maria".into(), "<thinking>SECRET".into());
    assert!(matches!(epilogue.interview("maria", "?").await, Err(InterviewError::NoAnswer)));
    assert!(!place.cues("sam").iter().any(|(_, text)| text.contains("QUESTION")));
    assert!(!place.read("maria/interview.md").contains("SECRET"));
}

#[tokio::test]
async fn an_actor_that_fails_aborts_the_scene_with_what_was_said() {
    let place = kitchen();
    place.stage.lock().unwrap().fails_at.insert("sam".into(), 1);
    let error = place.two().build().unwrap().run().await.unwrap_err();
    assert_eq!(error.to_string(), "the actor of sam failed while answering: the context is full");
    assert!(place.read("transcript.md").contains("**MARIA:** Tea?"));
    assert_eq!(place.log().reason().unwrap().as_str(), "aborted");
    assert_eq!(place.stage.lock().unwrap().dropped.len(), 2);

    let place = kitchen();
    place.stage.lock().unwrap().fails_to_spawn = Some("sam".into());
    let error = place.two().build().unwrap().run().await.unwrap_err();
    assert_eq!(error.to_string(), "the actor of sam failed while being created: no room");
    assert_eq!(outline(&place.log()), ["spawn maria", "brief maria", "close coordinator"]);
}
