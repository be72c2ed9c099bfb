//! Lines that processes write to each other: `tests/golden.jsonl` has every request and every answer. A line changes
//! only with a decision that processes of two versions do not understand each other.

mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use dirigent::ports::{ChannelAnswer, ChannelRequest, GatewayEvent};
use dirigent_relay::parts::UseTool;
use dirigent_relay::rules::{CheckTurn, GetChannelState, GetIdentity, TurnComplete};
use dirigent_relay::{Refused, RelayQuestion, parts};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::rules::{AskChannel, HeardElsewhere};

const GOLDEN: &str = include_str!("tests/golden.jsonl");

/// One line of the file.
#[derive(Debug, PartialEq)]
pub(crate) struct Line {
    rule: &'static str,
    /// `question`, `answer` or `refusal`.
    what: &'static str,
    value: Value,
}

fn line<T: Serialize>(rule: &'static str, what: &'static str, value: &T) -> Line {
    Line { rule, what, value: serde_json::to_value(value).unwrap() }
}

/// Each question of a rule, and each answer.
pub(crate) fn lines_of<Q: RelayQuestion>(questions: &[Q], answers: &[Q::Answer]) -> Vec<Line> {
    let questions = questions.iter().map(|question| line(Q::RULE, "question", question));
    questions.chain(answers.iter().map(|answer| line(Q::RULE, "answer", answer))).collect()
}

/// Today's values in today's form.
fn today() -> Vec<Line> {
    let all = [
        lines_of::<AskChannel>(&values::requests(), &values::answers()),
        lines_of::<HeardElsewhere>(&[values::heard()], &[values::not_ours()]),
        lines_of::<CheckTurn>(&values::checks(), &[values::check_answer()]),
        lines_of::<TurnComplete>(&values::ends(), &[values::complete_answer()]),
        lines_of::<GetIdentity>(&[values::get_identity()], &[None, Some(values::identity())]),
        lines_of::<GetChannelState>(&[values::get_state()], &[values::state()]),
        lines_of::<UseTool>(&values::use_tools(), &values::tool_answers()),
        values::refusals().iter().map(|refused| line("any", "refusal", refused)).collect(),
        #[cfg(feature = "control")]
        crate::page::tests::lines(),
    ];
    all.into_iter().flatten().collect()
}

/// Reads the lines of the file: rule, kind and value.
fn written() -> impl Iterator<Item = (String, String, Value)> {
    GOLDEN.lines().filter(|line| !line.is_empty()).map(|line| {
        let line: BTreeMap<String, Value> = serde_json::from_str(line).unwrap();
        let rule = line["rule"].as_str().unwrap().to_owned();
        let (what, value) = line.into_iter().find(|(name, _)| name != "rule").unwrap();
        (rule, what, value)
    })
}

#[test]
fn what_is_written_today_is_what_was_written_once() {
    let mut golden = written().filter(|(rule, ..)| rule != "page" || cfg!(feature = "control"));
    for Line { rule, what, value } in today() {
        let line = format!(r#"{{"rule":"{rule}","{what}":{value}}}"#);
        let once = golden.next().unwrap_or_else(|| panic!("not in tests/golden.jsonl: {line}"));
        assert_eq!((rule.to_owned(), what.to_owned(), value), once);
    }
    assert_eq!(golden.next(), None, "it is written no more");
}

/// Reads a line as a process of this version does, and writes it again.
fn read_again(rule: &str, what: &str, value: &Value) -> Result<Value, Refused> {
    fn of<Q: RelayQuestion>(what: &str, bytes: &[u8]) -> Result<Value, Refused> {
        fn again<T: Serialize + DeserializeOwned>(bytes: &[u8]) -> Result<Value, Refused> {
            parts::read::<T>(bytes).map(|value| serde_json::to_value(value).unwrap())
        }
        if what == "question" { again::<Q>(bytes) } else { again::<Q::Answer>(bytes) }
    }
    let bytes = value.to_string().into_bytes();
    macro_rules! rules {
        ($($question:ty),+) => {
            match rule {
                "any" => parts::read::<Refused>(&bytes).map(|it| serde_json::to_value(it).unwrap()),
                $(<$question>::RULE => of::<$question>(what, &bytes),)+
                #[cfg(feature = "control")]
                "page" => of::<crate::page::AskPage>(what, &bytes),
                _ => Err(Refused::UnknownRule),
            }
        };
    }
    rules!(
        AskChannel,
        HeardElsewhere,
        CheckTurn,
        TurnComplete,
        GetIdentity,
        GetChannelState,
        UseTool
    )
}

#[test]
fn what_was_written_once_is_understood_today_and_written_the_same() {
    for (rule, what, value) in
        written().filter(|(rule, ..)| rule != "page" || cfg!(feature = "control"))
    {
        assert_eq!(read_again(&rule, &what, &value), Ok(value.clone()), "{rule} {what} {value}");
    }
}

/// Reads one value of a line as it was written, and compares it with the one that was written.
fn same<T: Serialize + DeserializeOwned + PartialEq + Debug>(values: impl IntoIterator<Item = T>) {
    for value in values {
        let text = serde_json::to_string(&value).unwrap();
        assert_eq!(serde_json::from_str::<T>(&text).unwrap(), value, "{text}");
    }
}

#[test]
fn what_is_read_is_what_was_meant() {
    same(values::requests());
    same(values::answers());
    same([values::heard()]);
    same(values::checks());
    same(values::ends());
}

/// Names each variant of an enum, so that a new one does not compile here, and returns the names.
macro_rules! variants {
    ($name:ident: $enum:ident { $($variant:ident),+ $(,)? }) => {
        fn $name<'v>(values: impl IntoIterator<Item = &'v $enum>) -> BTreeSet<&'static str> {
            let name = |value: &'v $enum| match value {
                $($enum::$variant { .. } => stringify!($variant),)+
            };
            let named: BTreeSet<_> = values.into_iter().map(name).collect();
            let all = BTreeSet::from([$(stringify!($variant)),+]);
            all.difference(&named).copied().collect()
        }
    };
}

variants!(missing_requests: ChannelRequest {
    Register, MayConclude, Conclude, WakeForResult, Command, SetMode, Stop, Hold, Resume, Finish, Wake, SpeakNext, Mute, Unmute,
    Assign, ResetBudget, Archive, RetryPosts, DismissResult, SendResult, CheckTurn, TurnComplete, State, Explain,
});
variants!(missing_answers: ChannelAnswer {
    Done, Concluded, Command, Turn, Ended, State, Explained, Refused, UnknownAgent, UnknownChannel,
});
variants!(missing_events: GatewayEvent {
    MessageCreated, MessageUpdated, MessageDeleted, TypingStarted, MemberJoined, MemberLeft, NewestMessage, ThreadSeen, ChannelDeleted,
});

#[test]
fn every_request_answer_and_event_is_in_the_file() {
    let (requests, answers) = (values::requests(), values::answers());
    let heard = values::heard();
    assert_eq!(missing_requests(requests.iter().map(|asked| &asked.request)), BTreeSet::new());
    assert_eq!(missing_answers(&answers), BTreeSet::new());
    assert_eq!(missing_events(&heard.events), BTreeSet::new());
    for asked in &requests {
        let written = serde_json::to_value(&asked.request).unwrap();
        let tag = written.as_str().or_else(|| Some(written.as_object()?.keys().next()?.as_str()));
        assert_eq!(tag, Some(asked.request.name()));
    }
}

/// A question with another form, or with a value that its constructor would refuse, is refused as a whole.
#[test]
fn a_value_that_its_constructor_would_refuse_is_refused() {
    let ask = |request: Value| json!({ "channelId": "100000000000000001", "withinMs": 9, "request": request });
    let message = |field: &str, value: Value| {
        let mut said = serde_json::to_value(&values::said()[1]).unwrap();
        said[field] = value;
        json!({ "missed": false, "events": [{ "message-created": said }] })
    };
    let (check, end) = ("check-turn", "turn-complete");
    let agent = json!({ "agentId": "poet", "channelId": "100000000000000001", "isEmpty": true });
    let with = |field: &str, value: Value| {
        let mut end = agent.clone();
        end[field] = value;
        end
    };
    let (asks, tells) = ("channel-request", "gateway-events");
    let refused = [
        (asks, ask(json!({ "set-mode": { "mode": "loud" } }))),
        (asks, ask(json!({ "register": { "mode": "Chat", "members": [] } }))),
        (
            asks,
            ask(
                json!({ "command": { "command": "dance", "invoker": { "permissions": 0 }, "input": "" } }),
            ),
        ),
        (asks, ask(json!("unheard-of"))),
        (
            asks,
            ask(
                json!({ "turn-complete": { "agentId": "poet", "isEmpty": true, "outcome": "unfinished" } }),
            ),
        ),
        (
            asks,
            ask(
                json!({ "turn-complete": { "agentId": "poet", "isEmpty": false, "outcome": "failed" } }),
            ),
        ),
        (asks, json!({ "channelId": "012345678901234567", "withinMs": 9, "request": "stop" })),
        (asks, json!({ "channelId": "12", "withinMs": 9, "request": "stop" })),
        (
            asks,
            json!({ "channelId": 100_000_000_000_000_001_u64, "withinMs": 9, "request": "stop" }),
        ),
        (asks, json!({ "channelId": "100000000000000001", "request": "stop" })),
        (tells, message("nonce", json!("UPPER"))),
        (tells, message("nonce", json!(""))),
        (tells, message("nonce", json!("a".repeat(26)))),
        (tells, message("id", json!("x"))),
        (tells, message("id", json!(7))),
        (tells, message("replyTo", json!("-1"))),
        (tells, message("author", json!("0"))),
        (tells, message("authorKind", json!("ghost"))),
        (tells, message("kind", json!("poem"))),
        (tells, message("embeds", json!(256))),
        (tells, message("sentAt", json!(-1))),
        (check, json!({ "agentId": "poet", "channelId": "0" })),
        (end, with("outcome", json!("awaits-human"))),
        (end, with("outcome", json!("bored"))),
        (end, with("deliveredMessageIds", json!(["7", "seven"]))),
        (end, json!({ "agentId": "poet", "channelId": "100000000000000001" })),
    ];
    let answers =
        [(asks, json!({ "refused": "unwilling" })), (asks, json!({ "concluded": "somewhere" }))];
    let questions = refused.into_iter().map(|(rule, question)| (rule, "question", question));
    let answers = answers.into_iter().map(|(rule, answer)| (rule, "answer", answer));
    let is_taken = |(rule, what, value): &(&str, &str, Value)| {
        !matches!(read_again(rule, what, value), Err(Refused::BadQuestion { .. }))
    };
    let taken: Vec<_> = questions.chain(answers).filter(is_taken).collect();
    assert_eq!(taken, []);
}

/// The end of a text is cut as its constructor cuts it: no process makes another keep more.
#[test]
fn a_tail_that_is_too_long_is_cut() {
    let end = |text: &str| {
        json!({ "agentId": "poet", "channelId": "100000000000000001", "isEmpty": false,
            "tail": { "end": text, "length": 3, "attachment": false } })
    };
    let read = read_again("turn-complete", "question", &end(&"ab c".repeat(40))).unwrap();
    let kept = &read["tail"];
    assert_eq!((kept["end"].as_str().unwrap().len(), &kept["length"]), (64, &json!(64)));
}

/// Questions that are cut, bent and mixed: each is refused, or is understood and from then on written unchanged.
#[test]
fn no_bent_question_does_harm() {
    let mut dice = 0x9e37_79b9_7f4a_7c15_u64;
    let mut draw = |below: usize| {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        usize::try_from(dice % u64::try_from(below.max(1)).unwrap()).unwrap()
    };
    let all: Vec<_> = written().collect();
    let strange = [
        json!(null),
        json!(true),
        json!(-1),
        json!(u64::MAX),
        json!(0.5),
        json!(""),
        json!("0"),
        json!([]),
        json!({}),
        json!("loud"),
        json!("\u{0}"),
        json!("99999999999999999999"),
        json!([[]]),
        json!({ "stop": null }),
    ];
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..20_000 {
        let (rule, what, value) = &all[draw(all.len())];
        let mut value = value.clone();
        for _ in 0..=draw(2) {
            let other = match draw(3) {
                0 => all[draw(all.len())].2.clone(),
                _ => strange[draw(strange.len())].clone(),
            };
            bend(&mut value, &other, &mut draw);
        }
        match read_again(rule, what, &value) {
            Ok(once) => {
                assert_eq!(
                    read_again(rule, what, &once),
                    Ok(once.clone()),
                    "{rule} {what} {value}"
                );
                taken += 1;
            }
            Err(Refused::BadQuestion { .. } | Refused::UnknownRule) => refused += 1,
            Err(other) => panic!("{rule} {what} {value}: {other}"),
        }
    }
    assert!(taken > 1_000 && refused > 1_000, "{taken} {refused}");
}

/// Puts another value somewhere, or takes one away.
fn bend(value: &mut Value, other: &Value, draw: &mut impl FnMut(usize) -> usize) {
    match value {
        Value::Object(fields) if !fields.is_empty() && draw(8) > 0 => {
            let key = fields.keys().nth(draw(fields.len())).unwrap().clone();
            match draw(4) {
                0 => drop(fields.remove(&key)),
                1 => drop(fields.insert(key, other.clone())),
                _ => bend(fields.get_mut(&key).unwrap(), other, draw),
            }
        }
        Value::Array(values) if !values.is_empty() && draw(8) > 0 => {
            let at = draw(values.len());
            match draw(4) {
                0 => drop(values.remove(at)),
                1 => values.push(other.clone()),
                _ => bend(&mut values[at], other, draw),
            }
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => *value = other.clone(),
    }
}
