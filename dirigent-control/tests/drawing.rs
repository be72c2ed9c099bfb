//! A recording that was made by a real room is drawn as a score, and can be scrubbed.

use dirigent::AgentId;
use dirigent::replay::Trace;
use dirigent::snapshot::AgentKey;
use dirigent_control::drawing::{NoteKind, Replay, Score};
use dirigent_store::ChannelRecording;

/// Two agents, a message in between, a denial, an end by an operator.
fn hello() -> ChannelRecording {
    ChannelRecording::parse(include_str!("../../examples/pm_and_dev/hello.jsonl")).unwrap()
}

fn names(agents: &[AgentId]) -> impl Fn(AgentKey) -> Option<AgentId> {
    |key| agents.get(usize::try_from(key.get()).ok()?).cloned()
}

fn score() -> Score {
    let recording = hello();
    let trace = Trace::of(&recording.recorded, names(&recording.agents)).unwrap();
    Score::of(trace.entries(), names(&recording.agents), None)
}

#[test]
fn a_score_has_a_stave_for_each_agent_with_speech_rests_and_denials() {
    let score = score();
    let staves: Vec<_> = score.staves.iter().map(|stave| stave.name.as_str()).collect();
    assert_eq!(staves, ["pm", "dev"]);
    let of = |name: &str, is: fn(&NoteKind) -> bool| {
        let stave = score.staves.iter().find(|stave| stave.name == name).unwrap();
        stave.notes.iter().filter(|note| is(&note.kind)).count()
    };
    let speech = |kind: &NoteKind| matches!(kind, NoteKind::Speech);
    assert_eq!(of("pm", speech), 2);
    assert_eq!(of("dev", speech), 1, "a turn with two messages is one bar");
    assert_eq!(of("dev", |kind| matches!(kind, NoteKind::Denied(why) if why == "not its turn")), 1);
    assert_eq!(of("dev", |kind| matches!(kind, NoteKind::Rest(why) if why == "finished")), 1);
    assert_eq!(score.words.len(), 2);
    assert!(score.barlines.iter().any(|line| line.is_end && line.why == "finished"));
    assert!(score.barlines.iter().any(|line| !line.is_end && line.why == "cycle boundary"));
}

#[test]
fn bars_of_one_agent_do_not_overlap_and_speech_takes_its_time() {
    for stave in score().staves {
        let mut before = None;
        for note in stave.notes.iter().filter(|note| note.kind == NoteKind::Speech) {
            assert!(note.to.since(note.from).as_millis() >= 300, "{note:?}");
            assert!(before.is_none_or(|before| before <= note.from));
            before = Some(note.to);
        }
    }
}

/// PG11: programs without custom properties draw what they do not know black.
#[test]
fn a_saved_score_has_plain_colours() {
    let file = score().file();
    assert!(!file.contains("var(") && !file.contains("--") && !file.contains("@media"), "{file}");
    for rule in [".speech rect { fill: #0a6871", ".paper { fill: #ffffff", "font-size: 11px"] {
        assert!(file.contains(rule), "{rule}: {file}");
    }
}

/// A browser takes 758.2 pixels for 758, and librsvg for 759.
#[test]
fn a_saved_score_is_whole_pixels_wide() {
    use dirigent_control::drawing::Note;
    for millis in (100_000..101_000).step_by(37) {
        let mut score = score();
        let (note, at) = (score.staves[0].notes[0].clone(), score.staves[0].notes[0].to);
        let later = (1..60).map(|step| {
            let at = at + std::time::Duration::from_millis(step * millis / 60);
            Note { from: at, to: at, kind: note.kind.clone() }
        });
        score.staves[0].notes.extend(later);
        let file = score.file();
        let width = file.split("width=\"").nth(1).unwrap().split('"').next().unwrap();
        assert!(width.ends_with(".0") && width != "640.0", "{width}");
    }
}

/// PG11: at 3 and at 100 messages each label has at least 11 px, and none lies over another one.
#[test]
fn labels_of_a_score_never_overlap() {
    use dirigent::ports::Timestamp;
    use dirigent_control::drawing::{Barline, Note};
    let sizes = include_str!("../assets/score.css").split("font-size: ").skip(1);
    for size in sizes.map(|size| size.split("px").next().unwrap().parse::<f64>().unwrap()) {
        assert!(size >= 11.0, "{size}");
    }
    for count in [3_u64, 100] {
        let mut score = score();
        let at = |millis: u64| Timestamp::from_millis(1_800_000_000_000 + millis);
        for (row, stave) in (0_u64..).zip(&mut score.staves) {
            let note = |turn: u64| {
                let from =
                    turn * 700 + row * 300 + if turn.is_multiple_of(9) { turn * 40_000 } else { 0 };
                let kind = NoteKind::Rest("its reply was not delivered".into());
                Note { from: at(from), to: at(from + 250), kind }
            };
            stave.notes = (0..count).map(note).collect();
        }
        let why = || "the member list is unknown".to_owned();
        let line = |turn: u64| Barline { at: at(turn * 1_500), is_end: true, why: why() };
        score.barlines = (0..count).map(line).collect();
        let svg = score.svg();
        let mut rows = std::collections::BTreeMap::<String, Vec<(f64, f64)>>::new();
        for text in svg.split("<text ").skip(1).filter(|text| text.contains("\"middle\"")) {
            let of = |name: &str| {
                text.split(&format!("{name}=\"")).nth(1).unwrap().split('"').next().unwrap()
            };
            let label = text.split_once('>').unwrap().1.split('<').next().unwrap();
            // What a browser needs for 11 px in a wide typeface.
            let half = label.chars().map(|_| 6.4).sum::<f64>() / 2.0;
            let middle: f64 = of("x").parse().unwrap();
            rows.entry(of("y").to_owned()).or_default().push((middle - half, middle + half));
        }
        assert!(rows.len() >= 4, "{rows:?}");
        let width: f64 =
            svg.split("width=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
        let cut = rows.values().flatten().find(|(from, to)| *from < 0.0 || *to > width);
        assert_eq!(cut, None, "{count} within {width}");
        let times = &rows["15"];
        assert!(times.len() >= 2 && times.len() <= 100, "{count}: {times:?}");
        for (y, labels) in rows {
            assert!(
                labels.windows(2).all(|pair| pair[0].1 < pair[1].0),
                "{count} at {y}: {labels:?}"
            );
        }
    }
}

fn times_of(svg: &str) -> Vec<(u64, String)> {
    let texts = svg.split("class=\"time").skip(1).map(|it| it.split("</text>").next().unwrap());
    let time = |text: &str| {
        let at = text.split("data-at=\"").nth(1).unwrap().split('"').next().unwrap();
        (at.parse().unwrap(), text.rsplit('>').next().unwrap().to_owned())
    };
    texts.map(time).collect()
}

/// A reader sees when something happened: a few times, from the oldest to the newest, with their day and zone.
#[test]
fn a_score_has_a_clock() {
    use dirigent::ports::Timestamp;
    use dirigent_control::drawing::{Note, NoteKind};
    let mut score = score();
    // 15 January 2027, 08:00:00 UTC.
    let at = |seconds: u64| Timestamp::from_millis((1_800_000_000 + seconds) * 1_000);
    let speech = |from| Note { from: at(from), to: at(from + 2), kind: NoteKind::Speech };
    (score.words, score.barlines) = (Vec::new(), Vec::new());
    score.staves[0].notes = [0, 10, 3_600].map(speech).to_vec();
    score.staves[1].notes = [1, 20, 3_610].map(speech).to_vec();
    for svg in [score.svg(), score.file()] {
        let times = times_of(&svg);
        let of = |seconds: u64| at(seconds).as_millis();
        assert_eq!(times.first().unwrap(), &(of(0), "08:00:00".to_owned()));
        assert_eq!(times.last().unwrap(), &(of(3_612), "09:00:12".to_owned()));
        assert!(times.contains(&(of(3_600), "09:00:00".to_owned())), "after the fold: {times:?}");
        assert!(times.is_sorted() && (3..=8).contains(&times.len()), "{times:?}");
        assert!(svg.contains(">15 Jan 2027, UTC</text>"), "{svg}");
    }
    // No time stands twice.
    let mut short = score.clone();
    short.staves[0].notes = vec![Note { from: at(0), to: at(0), kind: NoteKind::Speech }];
    let later = Timestamp::from_millis(at(0).as_millis() + 300);
    short.staves[1].notes = vec![Note { from: later, to: later, kind: NoteKind::Speech }];
    assert_eq!(times_of(&short.file()).len(), 1);
    // A score of several days names them.
    score.staves[1].notes = [1, 20, 100_000].map(speech).to_vec();
    let svg = score.file();
    let times = times_of(&svg);
    assert_eq!(times.first().unwrap().1, "15 Jan, 08:00");
    assert_eq!(times.last().unwrap().1, "16 Jan, 11:46");
    assert!(svg.contains(">UTC</text>"), "{svg}");
    assert!(times_of(&Score::of(&[], |_| None, None).svg()).is_empty());
}

/// The names of agents in any script stand whole beside their lines, or are cut between characters.
#[test]
fn names_in_any_script_stay_within_their_column() {
    let mut score = score();
    let family = "👩\u{200d}👩\u{200d}👧\u{200d}👦";
    for (name, shown) in [
        ("編集長", "編集長"),
        ("編集長と詩人と批評家", "編集長と詩人と…"),
        ("क्षत्रिय कवि", "क्षत्रिय कवि"),
        ("🚀🚀🚀🚀🚀🚀🚀🚀", "🚀🚀🚀🚀🚀…"),
        (&*family.repeat(7), &*format!("{}…", family.repeat(5))),
        ("🇩🇪🇯🇵🇫🇷🇧🇷🇮🇳🇰🇷🇨🇦", "🇩🇪🇯🇵🇫🇷🇧🇷🇮🇳…"),
    ] {
        score.staves[0].name = name.to_owned();
        let file = score.file();
        let names: Vec<_> = file.split("class=\"name\"").skip(1).collect();
        let first = names[1].split_once('>').unwrap().1.split('<').next().unwrap();
        assert_eq!(first, shown);
        assert!(score.sheet().contains(&format!("<span dir=\"auto\">{name}</span>")));
    }
}

/// Of two ends that stand close together the newer one is labelled: it says why the channel is silent.
#[test]
fn the_newest_end_is_labelled_first() {
    use dirigent::ports::Timestamp;
    use dirigent_control::drawing::Barline;
    let mut score = score();
    let at = |millis: u64| Timestamp::from_millis(1_800_000_000_000 + millis);
    let end = |millis, why: &str| Barline { at: at(millis), is_end: true, why: why.to_owned() };
    score.barlines = vec![end(0, "mode changed"), end(900, "an agent asked for a person")];
    let svg = score.svg();
    let texts = svg.split("<text ").skip(1).filter(|it| it.contains("\"middle\""));
    let labels: Vec<_> = texts.map(|it| it.split("</text>").next().unwrap()).collect();
    assert!(labels.iter().any(|it| it.ends_with(">an agent asked for a person")), "{labels:?}");
    assert!(!labels.iter().any(|it| it.ends_with(">mode changed")), "there is no room for both");
    // Where there is room each has its label.
    score.barlines = vec![end(0, "one"), end(20_000, "two"), end(40_000, "three")];
    let svg = score.svg();
    let is_labelled = |why: &str| svg.contains(&format!("text-anchor=\"middle\">{why}</text>"));
    assert!(["one", "two", "three"].into_iter().all(is_labelled), "{svg}");
}

/// PG11: beside a ring of whatever size no name or state lies over another one.
#[test]
fn labels_of_a_ring_never_overlap() {
    for count in 1..=20 {
        let seat = |at: usize| dirigent_control::drawing::RingSeat {
            name: format!("A long name {at:02}"),
            mark: dirigent_control::drawing::SeatMark::Speaks,
        };
        let (middle, below) = ("Poet".to_owned(), "is thinking".to_owned());
        let svg = dirigent_control::drawing::Ring {
            seats: (0..count).map(seat).collect(),
            middle,
            below,
        };
        let svg = svg.svg();
        let mut boxes: Vec<[f64; 4]> = Vec::new();
        for text in svg.split("<text ").skip(1) {
            let of = |name: &str| {
                text.split(&format!("{name}=\"")).nth(1).unwrap().split('"').next().unwrap()
            };
            // What a browser needs for 13 and 11 px in a wide typeface.
            let (wide, high) = if of("class") == "name" { (7.2, 10.0) } else { (6.2, 8.5) };
            let label = text.split_once('>').unwrap().1.split('<').next().unwrap();
            let width = label.chars().map(|_| wide).sum::<f64>();
            let (x, y): (f64, f64) = (of("x").parse().unwrap(), of("y").parse().unwrap());
            let left = match of("text-anchor") {
                "start" => x,
                "end" => x - width,
                _ => x - width / 2.0,
            };
            boxes.push([left, left + width, y - high, y + 2.5]);
        }
        assert!(boxes.len() == 2 + 2 * count || count > 12, "{count} have their names");
        for (at, one) in boxes.iter().enumerate() {
            for other in boxes.iter().skip(at + 1) {
                let over = one[0] < other[1]
                    && other[0] < one[1]
                    && one[2] < other[3]
                    && other[2] < one[3];
                assert!(!over, "{count}: {one:?} and {other:?}");
            }
        }
    }
}

#[test]
fn an_svg_is_the_same_text_each_time_and_needs_nothing_from_elsewhere() {
    let (page, file) = (score().svg(), score().file());
    assert_eq!(page, score().svg());
    assert!(file.contains("<style>") && !page.contains("<style>"));
    for svg in [&page, &file] {
        assert!(
            svg.contains(
                "aria-label=\"Score of the channel. People wrote 2 times. pm spoke 2 times"
            )
        );
        assert!(!svg.contains(" style=") && !svg.contains("url(") && !svg.contains("href"));
        let elsewhere = svg.matches("http").count();
        assert_eq!(elsewhere, 1, "the namespace only");
    }
}

/// R165, D95
#[test]
fn names_are_escaped_wherever_they_stand() {
    let recording = hello();
    let evil: AgentId = "</script><img src=x onerror=alert(1)>\u{1b}\"'&".into();
    let name = |_| Some(evil.clone());
    let trace = Trace::of(&recording.recorded, name).unwrap();
    let svg = Score::of(trace.entries(), name, None).file();
    assert!(!svg.contains("<img") && !svg.contains("</script") && !svg.contains('\u{1b}'));
    assert!(svg.contains("&lt;/script&gt;"));
    let html = Replay::of(&recording.recorded, name).unwrap().html("<b>\"title\"</b>");
    assert!(!html.contains("<img") && !html.contains("<b>\"title"));
    assert_eq!(html.matches("</script").count(), 2, "only our own elements end");
}

#[test]
fn a_replay_says_at_each_step_who_was_asked_who_was_denied_and_why() {
    let recording = hello();
    let replay = Replay::of(&recording.recorded, names(&recording.agents)).unwrap();
    let denied =
        replay.frames.iter().find(|frame| frame.events.iter().any(|event| event.kind == "denied"));
    let denied = denied.unwrap();
    assert_eq!(denied.events[0].agent.as_deref(), Some("dev"));
    assert_eq!(denied.events[0].words, "denied: pm has the floor");
    let state = &replay.states[denied.state];
    assert_eq!((state.phase, state.speaker.as_deref()), ("running", Some("pm")));
    let told = replay.frames.iter().flat_map(|frame| &frame.events);
    assert!(told.into_iter().any(|event| event.words == "is told: your turn"));
    let dev = state.agents.iter().find(|agent| agent.name == "dev").unwrap();
    assert!(!dev.may_speak);
    assert_eq!(dev.why, "another agent has the floor");
    let last = &replay.states[replay.frames.last().unwrap().state];
    assert_eq!((last.phase, last.pause), ("dormant", Some("finished")));
    assert!(replay.states.len() < replay.frames.len(), "each state is kept once");
}

#[test]
fn the_frames_of_a_replay_go_from_left_to_right() {
    let recording = hello();
    let replay = Replay::of(&recording.recorded, names(&recording.agents)).unwrap();
    let places: Vec<f64> = replay.frames.iter().map(|frame| frame.x).collect();
    assert!(places.is_sorted() && places.last() > places.first(), "{places:?}");
}

#[test]
fn a_file_asks_no_network_for_anything() {
    let recording = hello();
    let html = Replay::of(&recording.recorded, names(&recording.agents)).unwrap().html("hello");
    assert!(html.contains("default-src 'none'"));
    for asks in ["fetch(", "XMLHttp", "src=", "import(", "@import", "url("] {
        assert!(!html.contains(asks), "{asks}");
    }
}

/// Whatever a recording holds, what is made of it has a bound, and says how much is left out.
#[test]
fn a_recording_without_an_end_is_shown_up_to_a_bound() {
    let recording = hello();
    let mut recorded = recording.recorded.clone();
    let asks = recorded
        .inputs
        .iter()
        .rfind(|(_, input)| matches!(input, dirigent::replay::Input::Gate { .. }));
    let asks = asks.unwrap().clone();
    let whole = Replay::of(&recorded, names(&recording.agents)).unwrap();
    assert_eq!(whole.left_out, 0);
    recorded.inputs.resize(20_123, asks);
    let replay = Replay::of(&recorded, names(&recording.agents)).unwrap();
    assert_eq!(replay.left_out, 123);
    assert!(replay.frames.len() <= 20_000);
}

#[test]
fn a_sheet_has_the_names_beside_the_score_once_more_for_those_who_scroll() {
    let sheet = score().sheet();
    let names = sheet.split("</div>").next().unwrap();
    assert!(names.contains(">People</span>") && names.contains(">pm</span>"), "{names}");
    assert!(names.contains("aria-hidden=\"true\""), "the score has them for those who hear it");
    assert!(sheet.contains("<svg "));
    let empty = Score::of(&[], |_| None, None).sheet();
    assert_eq!(empty, "<p class=\"no-score\">No agent has had a turn yet.</p>");
}
