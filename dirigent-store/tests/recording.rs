//! Recordings as files: they come back as they were, and tell who was asked, who was denied, and why.

use std::path::Path;
use std::sync::Arc;

use dirigent::hooks::{Outcome, RunId};
use dirigent::operate::WakeCause;
use dirigent::ports::Timestamp;
use dirigent::replay::{Input, RecordedChannel, TraceEvent};
use dirigent::settings::MentionRule;
use dirigent::snapshot::{AgentKey, Snapshot};
use dirigent::{ChannelId, Config, MessageId, Mode};
use dirigent_core::{Author, Creation, Message, MessageKind, Settlement, Tail, Ticket};
use dirigent_store::{BadFile, ChannelRecording};

fn example(file: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/pm_and_dev");
    std::fs::read_to_string(folder.join(file)).unwrap()
}

/// F10: what the examples' page shows is what the tool tells.
#[test]
fn the_recorded_example_is_told_as_the_page_shows_it() {
    let recording = ChannelRecording::parse(&example("hello.jsonl")).unwrap();
    let trace = recording.trace().unwrap();
    assert_eq!(trace.to_string(), example("hello.txt"));
    assert_eq!(trace.mermaid(), example("hello.mmd"));
    let denied =
        trace.entries().iter().filter(|entry| matches!(entry.event, TraceEvent::Denied(_)));
    assert_eq!(denied.count(), 1);
}

/// One of each, and of each that holds a choice all of its choices.
fn all_inputs() -> Vec<Input> {
    let (a, b) = (AgentKey::new(0), AgentKey::new(1));
    let (id, run) = (MessageId::new(u64::MAX), Some(RunId::new(u64::MAX)));
    let tail = Tail::of("the end of it");
    let settled = [
        Settlement::Done { message: None },
        Settlement::Done { message: Some(id) },
        Settlement::Failed { retry_at: Some(Timestamp::from_millis(3)) },
        Settlement::Doubtful,
        Settlement::Dropped,
    ];
    let mut inputs = vec![
        Input::Create(Creation { mode: Mode::Discussion, members: vec![a, b], initiator: Some(a) }),
        Input::SetMode(Mode::Report),
        Input::Gate { agent: Some(a), run, latest: Some(id) },
        Input::Gate { agent: None, run: None, latest: None },
        Input::Receipt { agent: b, run, messages: vec![id] },
        Input::Receipt { agent: b, run: None, messages: Vec::new() },
        Input::Chat { away: true },
        Input::Chat { away: false },
        Input::MessageEdited { id, author: Author::Human, tail },
        Input::Members { ticket: Ticket::new(4), agents: vec![b, a] },
        Input::MemberJoined(b),
        Input::MemberLeft(b),
        Input::Wake { first: Some(b), cause: WakeCause::Guide },
        Input::Wake { first: None, cause: WakeCause::Operator },
        Input::Wake { first: None, cause: WakeCause::Result },
        Input::Conclude { by: a },
        Input::Archive,
        Input::Stop,
        Input::EditedToStop(id),
        Input::Deleted(id),
        Input::Hold,
        Input::Resume,
        Input::Mute(b),
        Input::Unmute(b),
        Input::SpeakNext(b),
        Input::Finish,
        Input::Offline(b),
        Input::Online(b),
        Input::Assign(b),
        Input::Spent { cost: u64::MAX },
        Input::ResetBudget,
        Input::TriggerAgain,
        Input::RunsLost { rerun: true },
        Input::RunsLost { rerun: false },
        Input::Reconfigure(Arc::new(Config::message_flow())),
        Input::Tick,
    ];
    let ticket = Ticket::new(9);
    inputs.extend(settled.map(|settlement| Input::Settled { ticket, settlement }));
    inputs.extend(messages());
    inputs.extend(ends_of_runs());
    inputs
}

/// Messages of every author and kind, read as they came or later, to all or to some.
fn messages() -> Vec<Input> {
    let (a, b) = (AgentKey::new(0), AgentKey::new(1));
    let (id, tail) = (MessageId::new(u64::MAX), Tail::of("the end of it"));
    let kinds = [
        MessageKind::Conversation,
        MessageKind::System,
        MessageKind::StopWord,
        MessageKind::ResumeWord,
    ];
    let authors = [Author::Human, Author::Agent(b), Author::Bot, Author::Moderator];
    let mut inputs = Vec::new();
    for (author, kind) in kinds.into_iter().flat_map(|kind| authors.map(|author| (author, kind))) {
        for backfilled in [false, true] {
            let message = Message { id, author, kind, tail, backfilled };
            inputs.push(Input::Message(message));
            inputs.push(Input::Addressed { message, agents: vec![b, a] });
        }
    }
    inputs
}

/// Every end of a run and of its reply, of a run that is known and of one that is not.
fn ends_of_runs() -> Vec<Input> {
    let (a, b) = (AgentKey::new(0), AgentKey::new(1));
    let tail = Tail::of("the end of it");
    let outcomes = [
        Outcome::Pass,
        Outcome::Failed,
        Outcome::Spoke { tail },
        Outcome::Unfinished { tail },
        Outcome::AwaitsHuman { tail },
    ];
    let mut inputs = Vec::new();
    for run in [None, Some(RunId::new(u64::MAX))] {
        inputs.extend(outcomes.map(|outcome| Input::RunEnded { agent: a, run, outcome }));
        inputs.push(Input::Replied { agent: b, run, next: None });
        inputs.extend([true, false].map(|posted| Input::Undelivered { agent: b, run, posted }));
    }
    inputs
}

/// Inputs that the recording that was written before does not have.
fn newer_inputs() -> [Input; 6] {
    let agent = AgentKey::new(1);
    let until = Some(Timestamp::from_millis(9));
    let (id, author, kind) = (MessageId::new(5), Author::Agent(agent), MessageKind::Unasked);
    let unasked = Message { id, author, kind, tail: Tail::of("the end of it"), backfilled: false };
    [
        Input::Message(unasked),
        Input::Message(Message { kind: MessageKind::OutOfTurn, ..unasked }),
        Input::Removed(agent),
        Input::MayNotWrite { agent, until: None },
        Input::MayNotWrite { agent, until },
        Input::MayWrite(agent),
    ]
}

/// As this version writes it.
#[test]
fn a_recording_that_was_written_before_is_read_and_written_again_to_the_byte() {
    let file = include_str!("written/recording.jsonl");
    let recording = ChannelRecording::parse(file).unwrap();
    // What was not a rule then is off.
    let mut rules = Config::message_flow();
    (rules.order.skip_last_speaker, rules.people.mentions) = (false, MentionRule::Ignored);
    let mut expected = all_inputs();
    let configs = expected.iter_mut().filter(|input| matches!(input, Input::Reconfigure(_)));
    configs.for_each(|input| *input = Input::Reconfigure(Arc::new(rules.clone())));
    let inputs = recording.recorded.inputs.iter().map(|(_, input)| input.clone());
    assert_eq!(inputs.collect::<Vec<_>>(), expected);
    assert_eq!(recording.to_text().unwrap(), file);
}

#[test]
fn every_input_comes_back_as_it_was() {
    let mut recorded = RecordedChannel::new(Arc::new(Config::message_flow()), Snapshot::default());
    let times = (1..).map(Timestamp::from_millis);
    recorded.inputs = times.zip(all_inputs().into_iter().chain(newer_inputs())).collect();
    let agents = vec!["a".into(), "b\n; #1".into()];
    let recording = ChannelRecording::new(ChannelId::new(7), agents, recorded.clone());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one.jsonl");
    recording.save(&path).unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    let again = ChannelRecording::parse(&text).unwrap();
    assert_eq!(again.recorded.inputs, recorded.inputs);
    assert_eq!(again.recorded.config, recorded.config);
    assert_eq!(again.recorded.start, recorded.start);
    assert_eq!((again.channel, &again.agents), (recording.channel, &recording.agents));
    // A name cannot break out of its place.
    let mermaid = again.trace().unwrap().mermaid();
    assert!(mermaid.contains("participant A1 as b-- -1\n"), "{mermaid}");
}

#[test]
fn what_was_cut_off_is_left_out_and_what_is_damaged_is_refused() {
    let text = example("hello.jsonl");
    let whole = ChannelRecording::parse(&text).unwrap().recorded.inputs.len();
    let cut = text.get(..text.len() - 5).unwrap();
    assert_eq!(ChannelRecording::parse(cut).unwrap().recorded.inputs.len(), whole - 1);
    for end in (0..text.len()).step_by(7) {
        // Never a panic, whatever is left.
        let _ = ChannelRecording::parse(text.get(..end).unwrap_or_default());
    }
    for bad in ["", "{}\n", "no json\n", "{\"recording\":1}\n"] {
        let refused = ChannelRecording::parse(bad);
        assert!(matches!(refused, Err(BadFile::WrongShape { .. })), "{bad}: {refused:?}");
    }
    let damaged = text.replacen("\"input\":{", "\"input\":[", 1);
    assert!(ChannelRecording::parse(&damaged).is_err());
    let older = text.replacen("\"recording\":2", "\"recording\":1", 1);
    let refused = ChannelRecording::parse(&older);
    assert!(matches!(refused, Err(BadFile::OtherVersion { found: 1, reads: 2 })), "{refused:?}");
    let newer = text.replacen("\"recording\":2", "\"recording\":3", 1);
    let refused = ChannelRecording::parse(&newer);
    assert!(matches!(refused, Err(BadFile::OtherVersion { found: 3, reads: 2 })), "{refused:?}");
}

/// A rule that is left out of account would make the replay another one.
#[test]
fn rules_that_are_not_known_are_refused() {
    let whole = include_str!("written/recording.jsonl");
    let parsed = ChannelRecording::parse(&whole.replacen("\"wake_rule\"", "\"wake_rules\"", 1));
    assert!(matches!(parsed, Err(BadFile::WrongShape { .. })), "{parsed:?}");
    let flat = whole.replacen("\"config\":{", "\"config\":{\"fingerprintLength\":40,", 1);
    assert!(matches!(ChannelRecording::parse(&flat), Err(BadFile::WrongShape { .. })));
    let later =
        whole.replacen("\"reconfigure\":{", "\"reconfigure\":{\"fingerprintLength\":40,", 1);
    assert!(matches!(ChannelRecording::parse(&later), Err(BadFile::WrongShape { .. })));
}
