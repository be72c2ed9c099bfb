//! What the fuzzer does with an event log. A total function that panics only when a promise is broken; the tests replay
//! the corpus through it.

use dirigent_scene::{Comparison, Picture, Playback, SceneLog, Transcript};

/// A log: refused, or written again to something that says the same; and whatever it says, it can be shown.
pub(crate) fn scene_log(bytes: &[u8]) {
    let Ok(log) = SceneLog::parse(bytes) else {
        return;
    };
    let mut lines = Vec::new();
    for event in log.events() {
        serde_json::to_writer(&mut lines, event).expect("what was read can be written");
        lines.push(b'\n');
    }
    let again = SceneLog::parse(&lines).expect("what was written can be read");
    assert_eq!(
        again.events(),
        log.events(),
        "the log changed its meaning when it was written again"
    );
    assert!(!again.is_cut(), "whole lines are cut");
    let steps = Playback::scaled(3.0).steps(&log).count();
    assert_eq!(steps, log.events().len());
    assert!(Comparison::of(&log, &again).is_same());
    let html = Picture::of("Scene", &log).render(log.events());
    assert_eq!(html.matches("</script>").count(), 1, "a text ends the script");
    let _ = Transcript::new("Scene", []).render(log.events());
}
