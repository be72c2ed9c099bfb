//! What the fuzzer does with an actor's output. A total function that panics only when a promise is broken; the tests
//! replay the corpus through it.

use dirigent_scene::{CloseSigns, parse_output};

/// An output: malformed, or one block of each, with no tag in what is spoken.
pub(crate) fn scene_output(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    // Whatever is said, deciding whether it closes a scene is total.
    let _ = CloseSigns::default().is_close(&text, "Maria");
    let Ok(parsed) = parse_output(&text) else {
        return;
    };
    let speech = parsed.speech.as_str();
    assert_eq!(speech.trim(), speech, "white space stands around a speech");
    let low = speech.to_ascii_lowercase();
    for tag in ["<thinking>", "</thinking>", "<speech>", "</speech>"] {
        assert_eq!(text.matches(tag).count(), 1, "a tag stands there twice");
        assert!(!low.contains(tag), "a tag is spoken");
    }
    let between = text.split_once("<speech>").and_then(|(_, rest)| rest.split_once("</speech>"));
    assert_eq!(between.map(|(words, _)| words.trim()), Some(speech), "a speech was changed");
    assert!(parse_output(&format!("{text}.")).is_err(), "something behind the speech was taken");
}
