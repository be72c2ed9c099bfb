//! Everything that a channel may be comes back from its file.

use std::collections::BTreeSet;
use std::sync::Arc;

use dirigent::hooks::{RunId, TurnId};
use dirigent::ports::{
    AllowedMentions, Embed, EmbedAuthor, EmbedField, EmbedFooter, Extras, GuildId, Nonce, RoleId,
    Timestamp,
};
use dirigent::snapshot::Snapshot;
use dirigent::store::{
    ChannelRecord, Discussion, GapFrom, OutboxKind, OutboxMessage, Outgoing, OutgoingPart,
    ReadMark, ReplyEnd, Revision, Writer,
};
use dirigent::{ChannelId, Config, MessageId, UserId};
use dirigent_core::view::{Budget, Span};
use dirigent_core::{AgentKey, Creation, Input, Mode, Settlement, Ticket, TurnMachine, WakeCause};
use dirigent_store::{BadFile, ParsedChannel, parse_channel};
use dirigent_testkit::Random;
use dirigent_verify::check::Step;
use dirigent_verify::fuzzing::forged_snapshot;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use serde_json::Value;

fn record() -> impl Strategy<Value = ChannelRecord> {
    let snapshot = prop::collection::vec(any::<u8>(), 0..400);
    let reply = (prop::collection::vec(part(), 0..4), prop::option::of(extras()));
    let texts = (".{0,200}", reply);
    let discussion = prop::option::of((any::<u64>(), any::<Option<u64>>(), ".{0,80}"));
    let times = any::<(Option<u64>, Option<u64>)>();
    let marks = any::<(Option<u64>, Option<u64>, Option<Option<u64>>, Option<(u64, u64)>)>();
    let numbers = (any::<u64>(), 0_u8..16, times, marks);
    (snapshot, texts, discussion, numbers).prop_map(
        |(snapshot, (text, (parts, extras)), discussion, (number, which, times, marks))| {
            let message = OutboxMessage {
                kind: if which & 1 == 0 { OutboxKind::Guide } else { OutboxKind::Result },
                to: ChannelId::new(number),
                after: (which & 2 == 0).then(|| MessageId::new(number)),
                at: Timestamp::from_millis(number),
                tried: which & 1 == 0,
                parts: parts.clone(),
            };
            let outgoing = Outgoing {
                agent: AgentKey::new(u32::from(which)),
                turn: TurnId::new(number),
                run: RunId::from_text(&text),
                end: [ReplyEnd::Finished, ReplyEnd::Unfinished, ReplyEnd::AwaitsHuman]
                    [usize::from(which % 3)],
                parts,
                after: (which & 2 == 0).then(|| MessageId::new(number)),
                composed_at: times.0.map(Timestamp::from_millis),
                doubt_since: times.0.map(Timestamp::from_millis),
                waiting_since: times.1.map(Timestamp::from_millis),
                extras: extras.map(Arc::new),
            };
            let (heard, verified, gap, writer) = marks;
            let span = Span { first: MessageId::new(number), last: MessageId::new(u64::MAX) };
            let handed = ReadMark {
                agent: AgentKey::new(u32::from(which)),
                until: heard.map(MessageId::new),
                owed: vec![span; usize::from(which % 4)],
                ahead: vec![MessageId::new(number); usize::from(which % 2)],
            };
            ChannelRecord {
                snapshot: forged_snapshot(&snapshot),
                discussion: discussion.map(|(callback, guild, guide)| {
                    let callback_guild = guild.map(GuildId::new);
                    Discussion { callback: ChannelId::new(callback), callback_guild, guide }.into()
                }),
                outbox: vec![message; usize::from(which % 3)],
                outgoing: (which & 4 == 0).then(|| Arc::new(outgoing)),
                handed: vec![handed; usize::from(which / 4 % 3)],
                unserved: (which & 8 == 0).then_some(span),
                heard: heard.map(MessageId::new),
                verified: verified.map(MessageId::new),
                known: vec![MessageId::new(number); usize::from(which % 3)],
                gap_from: gap.map(|from| {
                    from.map_or(GapFrom::Start, |from| GapFrom::After(MessageId::new(from)))
                }),
                commanded_at: heard.map(Timestamp::from_millis),
                writer: writer.map(|(process, count)| Writer { process, count }),
            }
        },
    )
}

fn part() -> impl Strategy<Value = OutgoingPart> {
    let numbers = (any::<u64>(), any::<u64>(), any::<u64>());
    (".{0,200}", numbers, any::<Option<u64>>()).prop_map(|(content, (a, b, c), posted)| {
        let nonce = Nonce::from_parts(a, b, c);
        OutgoingPart { content: content.into(), nonce, posted: posted.map(MessageId::new) }
    })
}

/// Whatever a reply may have besides its text, acceptable or not.
fn extras() -> impl Strategy<Value = Extras> {
    let ids = || prop::collection::vec(any::<u64>(), 0..3);
    let mentions = (ids(), ids(), any::<(bool, bool)>());
    let embeds = prop::collection::vec(embed(), 0..3);
    (any::<Option<u64>>(), mentions, embeds).prop_map(
        |(reply_to, (users, roles, flags), embeds)| {
            let mentions = AllowedMentions {
                users: users.into_iter().map(UserId::new).collect(),
                roles: roles.into_iter().map(RoleId::new).collect(),
                everyone: flags.0,
                replied_user: flags.1,
            };
            Extras { embeds, reply_to: reply_to.map(MessageId::new), mentions, ..Extras::default() }
        },
    )
}

fn embed() -> impl Strategy<Value = Embed> {
    let text = || prop::option::of(".{0,20}");
    let texts = (text(), text(), text(), text(), text());
    let footer = prop::option::of((".{0,20}", text()));
    let author = prop::option::of((".{0,20}", text(), text()));
    let fields = prop::collection::vec((".{0,20}", ".{0,20}", any::<bool>()), 0..3);
    let numbers = any::<(Option<u32>, Option<u64>)>();
    (texts, footer, author, fields, numbers).prop_map(|(texts, footer, author, fields, numbers)| {
        let (title, description, url, image, thumbnail) = texts;
        let field = |(name, value, inline)| EmbedField { name, value, inline };
        Embed {
            title,
            description,
            url,
            colour: numbers.0,
            timestamp: numbers.1.map(Timestamp::from_millis),
            footer: footer.map(|(text, icon_url)| EmbedFooter { text, icon_url }),
            image,
            thumbnail,
            author: author.map(|(name, url, icon_url)| EmbedAuthor { name, url, icon_url }),
            fields: fields.into_iter().map(field).collect(),
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// R046, R143, R154, F27, D77
    #[test]
    fn every_record_comes_back_whole(
        record in record(), channel: u64, revision in 0..u64::MAX, name in ".{1,20}",
    ) {
        let mut file = ParsedChannel::new(ChannelId::new(channel), Revision::new(revision), record);
        file.agents.insert(AgentKey::new(3), name.as_str().into());
        let json = file.to_json().unwrap();
        prop_assert_eq!(parse_channel(&json).unwrap(), file);
    }

    /// F26
    #[test]
    fn whatever_bytes_say_they_are_taken_or_refused(bytes: Vec<u8>) {
        prop_assert!(parse_channel(&bytes).is_err());
    }

    /// F26
    #[test]
    fn a_file_that_was_changed_is_never_taken_for_another(
        record in record(), at: prop::sample::Index, with: Vec<u8>, cut in 0_usize..8,
    ) {
        let file = ParsedChannel::new(ChannelId::new(7), Revision::new(8), record);
        let mut json = file.to_json().unwrap();
        let from = at.index(json.len());
        let to = json.len().min(from + cut);
        json.splice(from..to, with);
        if let Ok(taken) = parse_channel(&json) {
            prop_assert_eq!(taken, file);
        }
    }
}

/// F27: every name and every word that stands in a channel's file, as this version writes them.
#[test]
fn files_that_were_written_before_are_read_and_written_again_to_the_byte() {
    let files = include_str!("../written/channels.jsonl");
    for (number, file) in files.lines().enumerate() {
        let file: String = serde_json::from_str(file).unwrap();
        let parsed = parse_channel(file.as_bytes()).unwrap();
        assert_eq!(String::from_utf8(parsed.to_json().unwrap()).unwrap(), file, "line {number}");
    }
}

/// D77
#[test]
fn what_a_machine_went_through_comes_back_whole() {
    let mut random = Random::new(0x5eed);
    let mut kinds = BTreeSet::new();
    for round in 0..300 {
        let mut channel = TurnMachine::new(Config::default().into(), round);
        let mut effects = Vec::new();
        let mut now = Timestamp::from_millis(1_700_000_000_000);
        for step in Step::sequence(&mut random, 40) {
            let Step::Input { input, .. } = step else { continue };
            let _ = channel.handle(now, &input, &mut effects);
            let newest = effects.drain(..).find_map(|effect| effect.ticket());
            if let Some(ticket) = newest {
                let agents = [0, 1, 2].map(AgentKey::new).to_vec();
                let _ = channel.handle(now, &Input::Members { ticket, agents }, &mut effects);
                let settlement = Settlement::Done { message: Some(MessageId::new(ticket.get())) };
                let _ = channel.handle(now, &Input::Settled { ticket, settlement }, &mut effects);
            }
            now = channel.next_deadline().map_or(now, |deadline| deadline.at);
            let mut record = ChannelRecord::default();
            record.snapshot.clone_from(channel.snapshot());
            kinds.insert(format!("{:?}", channel.view().turn_state()));
            let file = ParsedChannel::new(ChannelId::new(7), Revision::new(round), record);
            let again = parse_channel(&file.to_json().unwrap()).unwrap();
            assert_eq!(again, file);
            let twin = TurnMachine::restore(Config::default().into(), &again.record.snapshot);
            assert!(twin.is_ok(), "{twin:?}");
        }
    }
    assert!(kinds.len() >= 4, "only {kinds:?}");
}

/// F27
#[test]
fn a_channel_that_uses_no_option_is_written_as_before_there_were_any() {
    let mut channel = TurnMachine::new(Config::default().into(), 1);
    let members = [0, 1, 2].map(AgentKey::new).to_vec();
    let create = Creation { mode: Mode::Chat, members, initiator: None };
    let wake = Input::Wake { first: None, cause: WakeCause::Guide };
    // The agent was told of its turn.
    let told =
        Input::Settled { ticket: Ticket::new(0), settlement: Settlement::Done { message: None } };
    for input in [Input::Create(create), wake, told] {
        channel.handle(Timestamp::from_millis(1), &input, &mut Vec::new()).unwrap();
    }
    let mut record = ChannelRecord::default();
    record.snapshot.clone_from(channel.snapshot());
    let file = ParsedChannel::new(ChannelId::new(7), Revision::new(1), record);
    let json = String::from_utf8(file.to_json().unwrap()).unwrap();
    for newer in ["terms", "plans", "budget", "passed", "\"heard", "verified", "gapFrom", "writer"]
    {
        assert!(!json.contains(newer), "{json}");
    }
}

/// F27
#[test]
fn a_file_from_before_the_marks_and_the_writer_were_stored_has_none() {
    let part =
        OutgoingPart { content: "x".into(), nonce: Nonce::from_parts(1, 2, 3), posted: None };
    let outgoing = Outgoing {
        agent: AgentKey::new(0),
        turn: TurnId::new(1),
        run: RunId::new(1),
        end: ReplyEnd::Finished,
        parts: vec![part],
        after: Some(MessageId::new(3)),
        composed_at: Some(Timestamp::from_millis(4)),
        doubt_since: Some(Timestamp::from_millis(5)),
        waiting_since: Some(Timestamp::from_millis(6)),
        extras: Some(Arc::new(Extras { reply_to: Some(MessageId::new(2)), ..Extras::default() })),
    };
    let now = ChannelRecord {
        outgoing: Some(outgoing.clone().into()),
        heard: Some(MessageId::new(7)),
        verified: Some(MessageId::new(6)),
        gap_from: Some(GapFrom::After(MessageId::new(8))),
        commanded_at: Some(Timestamp::from_millis(7)),
        writer: Some(Writer { process: u64::MAX, count: 9 }),
        ..ChannelRecord::default()
    };
    let file = ParsedChannel::new(ChannelId::new(7), Revision::new(1), now.clone());
    let json = String::from_utf8(file.to_json().unwrap()).unwrap();
    assert_eq!(parse_channel(json.as_bytes()).unwrap().record, now);
    let mut old = json;
    for field in [
        "\n      \"after\": \"3\",",
        "\n      \"composedAt\": 4,",
        "\n      \"doubtSince\": 5,",
        "\n      \"waitingSince\": 6,",
        "\n      \"extras\": {\n        \"replyTo\": \"2\"\n      },",
        ",\n    \"heard\": \"7\"",
        ",\n    \"verified\": \"6\"",
        ",\n    \"gapFrom\": {\n      \"after\": \"8\"\n    }",
        ",\n    \"commandedAt\": 7",
        ",\n    \"writer\": {\n      \"process\": \"18446744073709551615\",\n      \"count\": \"9\"\n    }",
    ] {
        assert!(old.contains(field), "{field} is not in {old}");
        old = old.replacen(field, "", 1);
    }
    let (after, composed_at, doubt_since, waiting_since) = (None, None, None, None);
    let before =
        Outgoing { after, composed_at, doubt_since, waiting_since, extras: None, ..outgoing };
    let before = ChannelRecord { outgoing: Some(before.into()), ..ChannelRecord::default() };
    assert_eq!(parse_channel(with_checksum(&old).as_bytes()).unwrap().record, before);
}

/// F26
#[test]
fn what_a_channel_steers_by_is_refused_where_it_is_no_such_thing() {
    let mut snapshot = Snapshot::default();
    let (first, last) = (MessageId::new(3), MessageId::new(5));
    snapshot.state.words.queue = Some(Span { first, last }).into();
    snapshot.state.quota.budget = Budget { cost: 7, ..Budget::default() }.into();
    let record = ChannelRecord { snapshot, ..ChannelRecord::default() };
    let file = ParsedChannel::new(ChannelId::new(7), Revision::new(8), record);
    let json = String::from_utf8(file.to_json().unwrap()).unwrap();
    let changed = |from: &str, to: &str| {
        assert!(json.contains(from), "{json}");
        parse_channel(with_checksum(&json.replacen(from, to, 1)).as_bytes())
    };
    assert_eq!(changed("\"3\"", "\"4\"").unwrap().agents, file.agents);
    for (from, to) in [("\"3\"", "3"), ("\"3\"", "\"03\""), ("\"7\", \"ann", "7, \"ann")] {
        let refused = changed(from, to).unwrap_err();
        assert_eq!(refused, BadFile::UnknownValue, "{to}");
    }
}

/// F27
#[test]
fn what_a_newer_version_wrote_is_written_again_as_it_was() {
    let callback = ChannelId::new(1);
    let terms = Discussion { callback, callback_guild: None, guide: "x".into() };
    let record = ChannelRecord { discussion: Some(terms.into()), ..ChannelRecord::default() };
    let file = ParsedChannel::new(ChannelId::new(7), Revision::new(8), record);
    let json = String::from_utf8(file.to_json().unwrap()).unwrap();
    let extra = r#""later": [123456789012345678901234567890, {"b": 1, "a": "\u00e4"}]"#;
    // Into the record, the snapshot and the discussion; then the checksum is theirs.
    let json = json
        .replacen("\"mode\"", &format!("{extra},\n    \"mode\""), 1)
        .replacen(
            "\"version\": 2,\n      \"now\"",
            &format!("{extra}, \"version\": 2,\n      \"now\""),
            1,
        )
        .replacen("\"callback\"", &format!("{extra}, \"callback\""), 1)
        .replacen("\n}\n", &format!(",\n  {extra}\n}}\n"), 1);
    let json = with_checksum(&json);
    let newer = parse_channel(json.as_bytes()).unwrap();
    assert_eq!(newer.record, file.record);
    let again = String::from_utf8(newer.to_json().unwrap()).unwrap();
    assert_eq!(again.matches(extra).count(), 4, "{again}");
    assert_eq!(parse_channel(again.as_bytes()).unwrap(), newer);
}

/// The same file with the checksum that it must have.
pub(crate) fn with_checksum(json: &str) -> String {
    let record = json.split_once("\"record\": ").unwrap().1;
    let mut values = serde_json::Deserializer::from_str(record).into_iter::<Value>();
    values.next().unwrap().unwrap();
    let record = &record[..values.byte_offset()];
    let value = serde_json::from_str::<Value>(json).unwrap();
    let (channel, revision) = (value["channel"].as_str().unwrap(), &value["revision"]);
    let sum =
        crc32fast::hash(format!("{} {channel} {revision} {record}", value["version"]).as_bytes());
    json.replacen(value["checksum"].as_str().unwrap(), &format!("{sum:08x}"), 1)
}

/// R046
#[test]
fn a_person_finds_the_mode_and_the_discussion_in_front() {
    let record = crate::channels::place::marked(7);
    let file = ParsedChannel::new(ChannelId::new(42), Revision::new(8), record);
    let json = String::from_utf8(file.to_json().unwrap()).unwrap();
    let lines: Vec<_> = json.lines().collect();
    assert_eq!(lines[1..4], ["  \"version\": 2,", "  \"channel\": \"42\",", "  \"revision\": 8,"]);
    assert_eq!(lines[5..7], ["  \"record\": {", "    \"mode\": \"none\","]);
    assert_eq!(
        lines[7..9],
        ["    \"discussion\": {", "      \"callback\": \"100000000000000002\","]
    );
}

/// F26
#[test]
fn what_contradicts_itself_is_for_the_machine_to_refuse() {
    let mut snapshot = Snapshot::default();
    snapshot.state.roster.muted = vec![AgentKey::new(2), AgentKey::new(1)].into();
    let record = ChannelRecord { snapshot, ..ChannelRecord::default() };
    let file = ParsedChannel::new(ChannelId::new(7), Revision::new(8), record);
    let again = parse_channel(&file.to_json().unwrap()).unwrap();
    assert!(TurnMachine::restore(Config::default().into(), &again.record.snapshot).is_err());
    let mut last = file;
    last.revision = Revision::new(u64::MAX);
    let refused = parse_channel(&last.to_json().unwrap()).unwrap_err();
    assert_eq!(refused, BadFile::UnknownValue);
}

/// A field that no version knows yet, put into each object in turn: where it is passed over it is written again.
fn with_unknown_fields(value: &Value, path: &str, bent: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(fields) => {
            let mut more = fields.clone();
            more.insert("later".to_owned(), serde_json::json!({"x": [1, "2"]}));
            bent.push((path.to_owned(), Value::Object(more)));
            for (name, inner) in fields {
                let mut found = Vec::new();
                with_unknown_fields(inner, &format!("{path}/{name}"), &mut found);
                bent.extend(found.into_iter().map(|(path, inner)| {
                    let mut fields = fields.clone();
                    fields.insert(name.clone(), inner);
                    (path, Value::Object(fields))
                }));
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                let mut found = Vec::new();
                with_unknown_fields(item, &format!("{path}/*"), &mut found);
                bent.extend(found.into_iter().map(|(path, item)| {
                    let mut items = items.clone();
                    items[at] = item;
                    (path, Value::Array(items))
                }));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn without_checksum(file: &[u8]) -> Value {
    let mut value: Value = serde_json::from_slice(file).unwrap();
    value.as_object_mut().unwrap().remove("checksum");
    value
}

/// F27, at every level. What says which of several forms a value has takes no other field: another one there is a form
/// that is not known, and the record is left alone.
#[test]
fn unknown_fields_survive_at_every_level_of_a_record() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut kept, mut refused) = (BTreeSet::new(), BTreeSet::new());
    for _ in 0..60 {
        let record = record().new_tree(&mut runner).unwrap().current();
        let file =
            ParsedChannel::new(ChannelId::new(7), Revision::new(3), record).to_json().unwrap();
        let mut bent = Vec::new();
        with_unknown_fields(&serde_json::from_slice(&file).unwrap(), "", &mut bent);
        for (path, bent) in bent {
            let text = with_checksum(&serde_json::to_string_pretty(&bent).unwrap());
            match parse_channel(text.as_bytes()) {
                Ok(parsed) => {
                    let again = parsed.to_json().unwrap();
                    assert_eq!(
                        without_checksum(&again),
                        without_checksum(text.as_bytes()),
                        "{path}"
                    );
                    assert!(!format!("{parsed:?}").contains("later"));
                    kept.insert(path);
                }
                Err(error) => {
                    assert_eq!(error, BadFile::UnknownValue, "{path}");
                    refused.insert(path);
                }
            }
        }
    }
    for path in [
        "",
        "/record",
        "/record/discussion",
        "/record/snapshot",
        "/record/snapshot/state",
        "/record/snapshot/state/standing",
        "/record/snapshot/state/roster/list/*",
        "/record/outbox/*",
        "/record/outbox/*/parts/*",
        "/record/outgoing",
        "/record/outgoing/parts/*",
        "/record/handed/*",
        "/record/handed/*/owed/*",
        "/record/writer",
        "/record/snapshot/state/floor/terms",
        "/record/snapshot/state/cycle/plans",
        "/record/snapshot/state/quota/hourly",
        "/record/snapshot/state/seen/recent",
        "/record/snapshot/state/delivery",
        "/record/snapshot/state/delivery/pieces/*",
        "/record/snapshot/state/reminders/permit",
        "/record/snapshot/pending/effects/*",
    ] {
        assert!(kept.contains(path), "{path} is not among {kept:?}");
    }
    let forms = [
        "phase",
        "refreshing",
        "wake",
        "run",
        "effect",
        "gapFrom",
        "notice",
        "from",
        "end",
        "interval",
        "agents",
    ];
    for path in &refused {
        let name = path.rsplit('/').next().unwrap();
        assert!(forms.contains(&name), "{path} takes no unknown field");
    }
}
