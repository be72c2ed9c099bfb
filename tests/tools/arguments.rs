//! What models write into a call, and what becomes of it before anything is done.

use dirigent::tools::{
    CreateChatChannel, CreateDiscussionChannel, DirigentRegister, ToolCall, ToolError, definitions,
    parse,
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::assert_refused;

const ID: &str = "123456789012345678";

/// Good arguments of every tool.
fn good() -> Vec<(&'static str, Value)> {
    vec![
        ("create-chat-channel", json!({ "name": "tea", "participants": [ID] })),
        ("create-report-channel", json!({ "name": "nightly", "members": [ID] })),
        ("create-work-channel", json!({ "name": "bench", "members": [ID] })),
        (
            "create-discussion-channel",
            json!({
                "callback-guild": ID,
                "callback-channel": ID,
                "discussion-guide": "Which plan?",
                "participants": [ID],
            }),
        ),
        ("discussion-complete", json!({ "discussion-channel": ID, "summary": "a.md" })),
        ("dirigent-register", json!({ "discordUserId": ID, "agentName": "Poet" })),
    ]
}

/// The same arguments with one of them exchanged, or left out.
fn with(arguments: &Value, name: &str, value: Option<Value>) -> Value {
    let mut changed = arguments.as_object().unwrap().clone();
    match value {
        Some(value) => changed.insert(name.to_owned(), value),
        None => changed.remove(name),
    };
    Value::Object(changed)
}

fn required(tool: &str) -> Vec<String> {
    let definition = definitions().into_iter().find(|definition| definition.name == tool).unwrap();
    serde_json::from_value(definition.parameters["required"].clone()).unwrap()
}

/// R057, D23
#[test]
fn there_are_exactly_six_tools_with_the_parameters_of_the_seed_and_a_summarys_text() {
    let pinned = definitions().into_iter().map(|tool| {
        let Value::Object(properties) = &tool.parameters["properties"] else {
            panic!("{} has no parameters", tool.name);
        };
        let names: Vec<_> = properties
            .iter()
            .map(|(name, schema)| format!("{name}: {}", schema["type"].as_str().unwrap()))
            .collect();
        let needed = required(tool.name).join(", ");
        format!("{} ({}) needs {needed}", tool.name, names.join(", "))
    });
    assert_eq!(
        pinned.collect::<Vec<_>>(),
        [
            "create-chat-channel (name: string, participants: array) needs name",
            "create-report-channel (members: array, name: string) needs name",
            "create-work-channel (members: array, name: string) needs name",
            "create-discussion-channel (callback-channel: string, callback-guild: string, \
             discussion-guide: string, participants: array) needs callback-guild, \
             callback-channel, discussion-guide, participants",
            "discussion-complete (discussion-channel: string, summary: string, \
             summary-text: string) needs discussion-channel",
            "dirigent-register (agentName: string, discordUserId: string) needs discordUserId",
        ]
    );
}

/// R057
#[test]
fn every_schema_is_one_plain_object_that_any_model_takes() {
    fn check(schema: &Value, is_argument: bool) {
        let schema = schema.as_object().unwrap();
        for word in ["$ref", "$schema", "$defs", "anyOf", "oneOf", "title", "default", "format"] {
            assert!(!schema.contains_key(word), "{word} in {schema:?}");
        }
        assert!(schema["type"].is_string(), "{schema:?}");
        if is_argument {
            let description = schema["description"].as_str().unwrap();
            assert!(description.len() > 20 && !description.contains('\n'), "{description}");
        }
        if let Some(Value::Object(properties)) = schema.get("properties") {
            properties.values().for_each(|property| check(property, true));
        }
        if let Some(items) = schema.get("items") {
            check(items, false);
            assert_eq!(items["pattern"], "^[0-9]{15,20}$");
        }
    }
    for tool in definitions() {
        check(&tool.parameters, false);
        assert_eq!(tool.parameters["type"], "object");
        assert!(tool.description.len() > 80, "{} says too little", tool.name);
        let told = serde_json::to_value(&tool).unwrap();
        assert_eq!(told["name"], tool.name);
    }
}

#[test]
fn every_tool_reads_what_its_schema_says() {
    for (tool, arguments) in good() {
        parse(tool, &arguments).unwrap();
        let only_needed: Map<String, Value> = arguments
            .as_object()
            .unwrap()
            .iter()
            .filter(|(name, _)| required(tool).contains(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        parse(tool, &Value::Object(only_needed)).unwrap();
        for name in required(tool) {
            let message =
                assert_refused(parse(tool, &with(&arguments, &name, None)), "missing-argument");
            assert!(message.contains(&name), "{message}");
            let null = with(&arguments, &name, Some(Value::Null));
            assert_refused(parse(tool, &null), "missing-argument");
        }
    }
}

/// R010
#[test]
fn arguments_that_a_tool_does_not_have_are_ignored() {
    for (tool, arguments) in good() {
        let mut more = with(&arguments, "agentId", Some(json!("somebody-else")));
        more = with(&more, "initiator", Some(json!("somebody-else")));
        more = with(&more, "mood", Some(json!({ "deep": [null, 1.5e300] })));
        assert_eq!(parse(tool, &more).unwrap(), parse(tool, &arguments).unwrap());
    }
}

/// R057, D23
#[test]
fn each_argument_may_be_spelt_in_both_ways_and_not_in_both_at_once() {
    let pairs = [
        ("create-discussion-channel", "callback-guild", "callbackGuild"),
        ("create-discussion-channel", "callback-channel", "callbackChannel"),
        ("create-discussion-channel", "discussion-guide", "discussionGuide"),
        ("discussion-complete", "discussion-channel", "discussionChannel"),
        ("dirigent-register", "discordUserId", "discord-user-id"),
        ("dirigent-register", "agentName", "agent-name"),
    ];
    for (tool, name, alias) in pairs {
        let (_, arguments) = good().into_iter().find(|(other, _)| *other == tool).unwrap();
        let value = arguments[name].clone();
        let renamed = with(&with(&arguments, name, None), alias, Some(value.clone()));
        assert_eq!(parse(tool, &renamed).unwrap(), parse(tool, &arguments).unwrap());
        let twice = with(&arguments, alias, Some(value));
        let message = assert_refused(parse(tool, &twice), "argument-twice");
        assert!(message.contains(name));
        let one_is_null = with(&arguments, alias, Some(Value::Null));
        parse(tool, &one_is_null).unwrap();
    }
    let other_case = json!({ "Name": "tea" });
    assert_refused(parse("create-chat-channel", &other_case), "missing-argument");
}

#[test]
fn arguments_that_are_no_object_are_refused() {
    for (tool, _) in good() {
        for value in [json!(null), json!(true), json!(7), json!("{}"), json!([]), json!([{}])] {
            assert_refused(parse(tool, &value), "not-an-object");
        }
    }
}

#[test]
fn a_tool_of_another_name_is_refused_and_the_six_are_named() {
    for name in ["", "create-chat", "CREATE-CHAT-CHANNEL", "dirigent_register", "x\u{0}"] {
        let message = assert_refused(parse(name, &json!({ "name": "tea" })), "unknown-tool");
        for tool in definitions() {
            assert!(message.contains(tool.name));
        }
    }
}

/// R013, R056
#[test]
fn every_argument_refuses_every_other_kind_of_value() {
    let id_fields = ["callback-guild", "callback-channel", "discussion-channel", "discordUserId"];
    let id_lists = ["participants", "members"];
    for (tool, arguments) in good() {
        for name in arguments.as_object().unwrap().keys() {
            let refuse = |value: Value, code: &str| {
                let message =
                    assert_refused(parse(tool, &with(&arguments, name, Some(value))), code);
                assert!(message.contains(name.as_str()), "{message}");
            };
            let number = json!(123_456_789_012_345_678_u64);
            refuse(json!({}), "wrong-kind");
            refuse(json!(false), "wrong-kind");
            if id_lists.contains(&name.as_str()) {
                refuse(json!(ID), "wrong-kind");
                refuse(number.clone(), "wrong-kind");
                refuse(json!([number]), "id-as-number");
                for entry in [json!(null), json!(true), json!([]), json!({ "id": ID })] {
                    refuse(json!([ID, entry]), "wrong-kind");
                }
                refuse(json!([ID, ""]), "bad-id");
            } else if id_fields.contains(&name.as_str()) {
                refuse(number, "id-as-number");
                refuse(json!([ID]), "wrong-kind");
                refuse(json!(1.5), "id-as-number");
            } else {
                refuse(number, "wrong-kind");
                refuse(json!(["tea"]), "wrong-kind");
            }
        }
    }
}

/// R013, R056, D8
#[test]
fn a_text_that_is_no_snowflake_is_refused() {
    let bad = [
        "",
        " ",
        "0",
        "000000000000000000",
        "012345678901234567",
        "12345678901234",
        "123456789012345678901",
        "18446744073709551616",
        "-123456789012345678",
        "+12345678901234567",
        "1234567890123456.0",
        "0x1234567890123456",
        "<@123456789012345678>",
        "@poet",
        "1234567890 12345678",
        "１２３４５６７８９０１２３４５６７８",
        "123456789012345678\u{0}",
    ];
    for text in bad {
        assert_refused(parse("dirigent-register", &json!({ "discordUserId": text })), "bad-id");
        let list = json!({ "name": "tea", "participants": [ID, text] });
        assert_refused(parse("create-chat-channel", &list), "bad-id");
    }
    let around = json!({ "discordUserId": " 123456789012345678\n" });
    parse("dirigent-register", &around).unwrap();
}

/// R013
#[test]
fn the_refusal_of_a_number_says_why() {
    let number = json!({ "discordUserId": 123_456_789_012_345_678_u64 });
    let message = assert_refused(parse("dirigent-register", &number), "id-as-number");
    assert!(message.contains("string") && message.contains("last digits"), "{message}");
}

/// R056
#[test]
fn names_are_one_to_a_hundred_visible_characters_in_one_line() {
    let tools = [
        ("create-chat-channel", "name"),
        ("create-report-channel", "name"),
        ("create-work-channel", "name"),
        ("dirigent-register", "agentName"),
    ];
    for (tool, argument) in tools {
        let (_, arguments) = good().into_iter().find(|(other, _)| *other == tool).unwrap();
        let read = |name: &str| parse(tool, &with(&arguments, argument, Some(json!(name))));
        let hundred = "é".repeat(100);
        for good in ["x", "七つ", "a b", &hundred, &format!("  {hundred}\n")] {
            read(good).unwrap();
        }
        for good in ["👩‍🚀", "❤️‍🔥 club", "می‌خواهم", "क्‍ष"] {
            read(good).unwrap();
        }
        let many = "é".repeat(101);
        let very_many = "x".repeat(1_000_000);
        let bad = [
            "",
            " ",
            "\t\n",
            "\u{200B}\u{FEFF}",
            "a\nb",
            "a\rb",
            "a\u{0}b",
            "a\u{1B}[0m",
            "a\u{85}b",
            "a\u{2028}b",
            "a\u{202E}b",
            "a\u{2066}b",
            "a\u{E0068}\u{E0069}b",
            "\u{E0068}\u{E0069}",
            "\u{3164}",
            "a\u{200B}b",
            "😀\u{FE01}\u{FE02}",
            &many,
            &very_many,
        ];
        for name in bad {
            let message = assert_refused(read(name), "bad-name");
            assert!(message.contains(argument) && message.len() < 300);
        }
    }
    let ToolCall::CreateChatChannel(call) =
        parse("create-chat-channel", &json!({ "name": "\u{3000}tea room " })).unwrap()
    else {
        panic!("another tool");
    };
    assert_eq!(call.name, "tea room", "white space around it is no part of a name");
}

/// R141
#[test]
fn a_guide_is_visible_and_at_most_sixteen_thousand_characters_long() {
    let (tool, arguments) = good().into_iter().nth(3).unwrap();
    let read = |guide: &str| parse(tool, &with(&arguments, "discussion-guide", Some(json!(guide))));
    read("x").unwrap();
    read("Goals:\n\n1. one\n2. two\n").unwrap();
    read(&"é".repeat(16_000)).unwrap();
    for empty in ["", " \n\t ", "\u{200B}\u{200D}", "\u{0}\u{1}", "\u{E0041}"] {
        assert_refused(read(empty), "guide-empty");
    }
    assert_refused(read(&"é".repeat(16_001)), "guide-too-long");
}

#[test]
fn arguments_are_deserialised_as_they_are_parsed() {
    let text = r#"{ "discordUserId": 123456789012345678 }"#;
    let error = serde_json::from_str::<DirigentRegister>(text).unwrap_err();
    assert!(error.to_string().contains("must be strings"), "{error}");
    let chat: CreateChatChannel = serde_json::from_value(json!({ "name": " tea " })).unwrap();
    assert_eq!(
        parse("create-chat-channel", &json!({ "name": "tea" })).unwrap(),
        ToolCall::CreateChatChannel(chat)
    );
    let (_, arguments) = good().into_iter().nth(3).unwrap();
    let open: CreateDiscussionChannel = serde_json::from_value(arguments).unwrap();
    assert!(!format!("{open:?}").contains("plan"), "the guide is no part of Debug");
}

#[test]
fn no_refusal_repeats_what_was_written() {
    let secret = format!("hunter2{}", "z".repeat(5_000));
    for (tool, arguments) in good() {
        for name in arguments.as_object().unwrap().keys() {
            for value in [json!(secret), json!([secret]), json!({ secret.as_str(): 1 })] {
                if let Err(error) = parse(tool, &with(&arguments, name, Some(value))) {
                    let (shown, debug) = (error.to_string(), format!("{error:?}"));
                    assert!(!shown.contains("hunter2") && !debug.contains("hunter2"), "{shown}");
                }
            }
        }
    }
    let error = parse(&secret, &json!({})).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("hunter2"));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[0-9]{14,21}".prop_map(Value::from),
    ];
    let key = prop_oneof![
        any::<String>(),
        prop::sample::select(vec![
            "name",
            "participants",
            "members",
            "callback-guild",
            "callbackChannel",
            "discussion-guide",
            "discussion-channel",
            "summary",
            "summary-text",
            "discordUserId",
            "agent-name",
        ])
        .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(4, 48, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::btree_map(key.clone(), inner, 0..10)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    /// R056
    #[test]
    fn any_json_for_any_tool_is_read_or_refused_in_one_sentence(
        which in 0_usize..7,
        arguments in any_json(),
    ) {
        let tool = definitions().get(which).map_or("no-such-tool", |tool| tool.name);
        match parse(tool, &arguments) {
            Err(ToolError::UnknownTool) => prop_assert_eq!(which, 6),
            Err(error) => prop_assert!(error.to_string().len() < 400),
            Ok(call) => prop_assert_eq!(parse(tool, &arguments).unwrap(), call),
        }
    }
}
