//! Settings in a file: every one has a name, the names are those of the fields, and none is taken for another.

use std::collections::BTreeSet;
use std::time::Duration;

use dirigent::settings::profiles::Profile;
use dirigent::settings::{
    CompletionPolicy, Heartbeat, HumanInterrupt, HumanMarker, InterruptPolicy, LostRuns,
    MentionRule, Pace, Rules, SilencePolicy, TriggerCleanup, WakeRule,
};
use serde_json::{Value, json};

/// Every setting with its default. Whoever changes one changes this file, and sees it.
const DEFAULTS: &str = include_str!("settings.json");

fn written(rules: &Rules) -> Value {
    serde_json::to_value(rules).unwrap()
}

fn read(file: &Value) -> Result<Rules, String> {
    serde_json::from_value(file.clone()).map_err(|error| error.to_string())
}

/// The paths of all settings: of `ceilings.chat.turns` all three parts.
fn paths(of: &Value, above: &str, found: &mut Vec<String>) {
    for (name, value) in of.as_object().unwrap() {
        let path = format!("{above}{name}");
        if value.is_object() {
            paths(value, &format!("{path}."), found);
        } else {
            found.push(path);
        }
    }
}

fn all_paths() -> Vec<String> {
    let mut found = Vec::new();
    paths(&serde_json::from_str(DEFAULTS).unwrap(), "", &mut found);
    found
}

/// A file that names this setting alone.
fn naming(path: &str, value: Value) -> Value {
    path.rsplit('.').fold(value, |inner, name| json!({ name: inner }))
}

fn one(path: &str, value: Value) -> Rules {
    read(&naming(path, value)).unwrap()
}

#[test]
fn the_defaults_are_these_to_the_letter() {
    let mut text = serde_json::to_string_pretty(&Rules::default()).unwrap();
    text.push('\n');
    assert_eq!(text, DEFAULTS);
    assert_eq!(read(&serde_json::from_str(DEFAULTS).unwrap()), Ok(Rules::default()));
    assert_eq!(read(&json!({})), Ok(Rules::default()));
}

/// What the fields are called, by their `Debug`.
fn fields(shown: &str) -> BTreeSet<String> {
    let pairs = shown.lines().filter_map(|line| line.trim().split_once(": "));
    let is_field = |name: &str| name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    pairs.map(|(name, _)| name.to_owned()).filter(|name| is_field(name)).collect()
}

#[test]
fn every_field_has_its_name_in_the_file() {
    let rules = Rules::default();
    let expected = fields(&format!("{:#?}\n{:#?}", rules.config, rules.settings));
    let mut names: BTreeSet<String> =
        all_paths().iter().flat_map(|path| path.split('.').map(str::to_owned)).collect();
    // Its fields are numbers of one setting.
    names.retain(|name| name != "burst" && name != "window");
    let expected: BTreeSet<String> =
        expected.into_iter().filter(|name| name != "burst" && name != "window").collect();
    assert_eq!(names, expected);
}

/// Another value than this one, of its kind.
fn other(path: &str, value: &Value) -> Value {
    match (path, value) {
        ("trigger_cleanup", _) => json!("on_next"),
        ("people.human_interrupt", _) => json!("queue"),
        ("people.mentions", _) => json!("only"),
        ("people.interrupt", _) => json!("advance_normally"),
        ("order.wake_rule", _) => json!("next_after_sender"),
        ("reading.silence", _) => json!("strict"),
        ("reading.completion", _) => json!({ "token": "OVER" }),
        ("reading.human_marker", _) => json!("@human"),
        ("hooks.lost_runs", _) => json!("rerun"),
        ("hooks.heartbeat", _) => json!({ "period": "10s" }),
        (
            "deadlines.turn"
            | "deadlines.slow_after"
            | "ceilings.discussion_time"
            | "discussion.overdue_archive_after",
            _,
        ) => json!("7s"),
        (_, Value::Bool(flag)) => json!(!flag),
        (_, Value::Number(number)) => json!(number.as_u64().unwrap() + 1),
        (_, Value::Array(_)) => json!(["another"]),
        (_, Value::String(text)) if text == "none" => json!(9),
        (_, Value::String(text)) if path.starts_with("texts.") => json!(format!("{text}!")),
        (_, Value::String(_)) if path == "hooks.no_reply_model" => json!("another"),
        (_, Value::String(_)) => json!("2s 500ms"),
        (_, Value::Null | Value::Object(_)) => unreachable!("{path}"),
    }
}

/// Each setting is read, into its own place, and written from there.
#[test]
fn each_setting_is_read_and_nothing_else_changes() {
    let defaults: Value = serde_json::from_str(DEFAULTS).unwrap();
    for path in all_paths() {
        let pointer = format!("/{}", path.replace('.', "/"));
        let value = other(&path, defaults.pointer(&pointer).unwrap());
        let rules = one(&path, value.clone());
        assert_ne!(rules, Rules::default(), "{path} is read");
        let mut expected = defaults.clone();
        *expected.pointer_mut(&pointer).unwrap() = value;
        let mut back = written(&rules);
        if path == "hooks.heartbeat" || path == "reading.completion" {
            // What was not named of it is as by default.
            let part = back.pointer_mut(&pointer).unwrap().as_object_mut().unwrap();
            part.retain(|name, _| name == "period" || name == "token");
        }
        assert_eq!(back, expected, "{path} alone is written");
        assert_eq!(read(&written(&rules)), Ok(rules), "{path} comes back");
    }
}

#[test]
fn what_is_no_setting_is_refused_with_all_that_encloses_it() {
    for path in all_paths() {
        let misspelt = format!("{path}x");
        let error = read(&naming(&misspelt, json!(1))).unwrap_err();
        assert!(error.starts_with(&format!("{misspelt}: unknown field")), "{error}");
    }
    let error = read(&json!({ "limits": { "creatons": "none" } })).unwrap_err();
    assert!(error.starts_with("limits.creatons: unknown field `creatons`"), "{error}");
    let within = read(&json!({ "hooks": { "heartbeat": { "perod": "1s" } } })).unwrap_err();
    assert!(within.starts_with("hooks.heartbeat.perod: unknown field"), "{within}");
    for old in ["turns_max", "stop_words", "pacing", "profile"] {
        let error = read(&json!({ old: 1 })).unwrap_err();
        assert!(error.starts_with(&format!("{old}: unknown field")), "{error}");
    }
}

#[test]
fn a_value_of_the_wrong_kind_is_refused_with_the_name() {
    let defaults: Value = serde_json::from_str(DEFAULTS).unwrap();
    for path in all_paths() {
        let pointer = format!("/{}", path.replace('.', "/"));
        let wrong =
            if defaults.pointer(&pointer).unwrap().is_array() { json!(1) } else { json!([]) };
        let error = read(&naming(&path, wrong)).unwrap_err();
        assert!(error.starts_with(&format!("{path}: ")), "{path}: {error}");
    }
    let unit = read(&json!({ "deadlines": { "run": 45 } })).unwrap_err();
    assert!(unit.starts_with("deadlines.run: ") && unit.contains("with its unit"), "{unit}");
    let twice = serde_json::from_str::<Rules>(r#"{ "typing": true, "typing": false }"#);
    assert!(twice.unwrap_err().to_string().contains("duplicate field `typing`"));
}

#[test]
fn a_value_that_cannot_be_obeyed_is_refused_with_the_name() {
    let counts = [
        "ceilings.chat.turns",
        "ceilings.chat.cycles",
        "ceilings.discussion.turns",
        "ceilings.discussion.cycles",
        "budget.turns",
        "budget.cycles",
        "budget.cost",
        "budget.agent_turns_per_hour",
    ];
    for path in counts {
        let error = read(&naming(path, json!(0))).unwrap_err();
        assert!(error.starts_with(&format!("{path} must be at least 1")), "{error}");
    }
    let waits = [
        "confirmation.delivery_timeout",
        "confirmation.poll_first",
        "confirmation.poll_interval",
        "members.refresh_deadline",
        "members.recount_interval",
        "members.forget_after",
        "people.consult_deadline",
        "deadlines.outage_max",
        "deadlines.start",
        "deadlines.run",
        "deadlines.turn",
        "deadlines.slow_after",
        "ceilings.discussion_time",
        "discussion.overdue_archive_after",
    ];
    for path in waits {
        let error = read(&naming(path, json!("999us"))).unwrap_err();
        assert!(error.starts_with(&format!("{path} must be at least one millisecond")), "{error}");
    }
    let long = read(&naming("confirmation.fingerprint_length", json!(65))).unwrap_err();
    assert!(long.starts_with("confirmation.fingerprint_length must be at most 64"), "{long}");
    let slow = read(&naming("confirmation.poll_interval", json!("1h"))).unwrap_err();
    assert!(slow.starts_with("confirmation.poll_interval_max must not be below"), "{slow}");
}

/// The file of a host, in the format that hosts write.
#[test]
fn a_toml_file_is_read() {
    let file = r#"
        typing = true
        trigger_cleanup = "3s"

        [deadlines]
        start = "none"
        run = "1h 30m"

        [ceilings.chat]
        turns = 20

        [limits]
        creations = { burst = 2 }
        pacing = { channel = "none" }

        [hooks]
        heartbeat = {}

        [reading]
        completion = { token = "OVER" }
        stop_words = ["halt"]
    "#;
    let mut expected = Rules::default();
    let Rules { config, settings } = &mut expected;
    config.trigger_cleanup = TriggerCleanup::After(Duration::from_secs(3));
    (config.deadlines.start, config.deadlines.run) = (None, Some(Duration::from_secs(5_400)));
    config.ceilings.chat.turns = Some(20);
    settings.typing = true;
    settings.limits.creations = Some(Pace { burst: 2, window: Duration::from_secs(3_600) });
    settings.limits.pacing.channel = None;
    settings.hooks.heartbeat = Some(Heartbeat::default());
    settings.reading.completion =
        CompletionPolicy::Signal(dirigent::hooks::Signal::with_token("OVER"));
    settings.reading.stop_words = vec!["halt".to_owned()];
    assert_eq!(toml::from_str::<Rules>(file).unwrap(), expected);
    let misspelt = toml::from_str::<Rules>("[limits]\ncreatons = 3").unwrap_err().to_string();
    assert!(
        misspelt.contains("limits.creatons: ") && misspelt.contains("unknown field"),
        "{misspelt}"
    );
    let zero = toml::from_str::<Rules>("[ceilings.chat]\nturns = 0").unwrap_err().to_string();
    assert!(zero.contains("ceilings.chat.turns must be at least 1"), "{zero}");
}

/// The profiles, and every choice by its name, come back as they were.
#[test]
fn profiles_and_choices_come_back() {
    for profile in [Profile::Dirigent, Profile::SeedLiteral, Profile::MessageFlow] {
        let rules = Rules::from(profile);
        assert_eq!(read(&written(&rules)), Ok(rules), "{profile:?}");
    }
    let mut rules = Rules::default();
    let same = |rules: &Rules| assert_eq!(read(&written(rules)).as_ref(), Ok(rules));
    for choice in [TriggerCleanup::Immediate, TriggerCleanup::OnNext, TriggerCleanup::Never] {
        rules.config.trigger_cleanup = choice;
        same(&rules);
    }
    for choice in [MentionRule::First, MentionRule::Only, MentionRule::Ignored] {
        rules.config.people.mentions = choice;
        same(&rules);
    }
    for choice in [HumanInterrupt::Inject, HumanInterrupt::Queue, HumanInterrupt::Interrupt] {
        rules.config.people.human_interrupt = choice;
        same(&rules);
    }
    for choice in [InterruptPolicy::RestartCycle, InterruptPolicy::AdvanceNormally] {
        rules.config.people.interrupt = choice;
        same(&rules);
    }
    for choice in [WakeRule::FirstInList, WakeRule::NextAfterSender] {
        rules.config.order.wake_rule = choice;
        same(&rules);
    }
    let silences = [
        SilencePolicy::Tolerant,
        SilencePolicy::Strict,
        SilencePolicy::OpenClaw,
        SilencePolicy::LastLine,
    ];
    for choice in silences {
        rules.settings.reading.silence = choice;
        same(&rules);
    }
    for choice in [LostRuns::Skip, LostRuns::Rerun, LostRuns::Keep] {
        rules.settings.hooks.lost_runs = choice;
        same(&rules);
    }
    rules.settings.reading.human_marker = Some(HumanMarker::default());
    (rules.config.deadlines.run, rules.config.budget.cost) = (Some(Duration::MAX), Some(u64::MAX));
    same(&rules);
}

/// R118, R119, R197, R261: each default that the specification calls configurable is.
#[test]
fn what_is_called_configurable_is() {
    let configurable = [
        ("fingerprint length", "confirmation.fingerprint_length", json!(40)),
        ("delivery timeout", "confirmation.delivery_timeout", json!("15s")),
        ("messages per poll", "limits.poll_limit", json!(20)),
        ("first poll", "confirmation.poll_first", json!("300ms")),
        ("poll interval", "confirmation.poll_interval", json!("1s")),
        ("what it grows to", "confirmation.poll_interval_max", json!("3s")),
        ("quiet period", "confirmation.quiet_period", json!("1s 500ms")),
        ("confirmation by any message", "confirmation.any_message_fallback", json!(true)),
        ("start deadline", "deadlines.start", json!("45s")),
        ("re-triggers", "deadlines.retriggers", json!(1)),
        ("run deadline", "deadlines.run", json!("10m")),
        ("late-fragment grace", "confirmation.late_grace", json!("30s")),
        ("member refresh deadline", "members.refresh_deadline", json!("10s")),
        ("member cache", "members.list_fresh", json!("1m")),
        ("trigger template", "texts.trigger_template", json!("<@{discordUserId}>{identifier}")),
        ("trigger identifier", "texts.trigger_identifier", json!("➡️")),
        ("trigger clean-up", "trigger_cleanup", json!("immediate")),
        ("silence policy", "reading.silence", json!("tolerant")),
        ("interrupt policy", "people.interrupt", json!("restart_cycle")),
        ("wake rule", "order.wake_rule", json!("first_in_list")),
        ("wake policy", "people.bots_qualify", json!(false)),
        ("human interrupt mode", "people.human_interrupt", json!("inject")),
        ("completion policy", "reading.completion", json!("run_end")),
        ("timeout notice", "announce_timeouts", json!(false)),
        (
            "its words",
            "texts.timeout_notice",
            json!("⏱️ {agent} turn timed out, moving to next agent"),
        ),
        ("disconnect notice", "announce_offline", json!(false)),
        ("its words", "texts.disconnect_notice", json!("⚠️ {agent} disconnected")),
        (
            "archived notice",
            "texts.archived_notice",
            json!("This channel is archived and no longer active."),
        ),
        ("discussion notice", "texts.closed_notice", json!("This discussion is closed.")),
        (
            "idle reminder",
            "texts.idle_reminder",
            json!("Discussion is idle. Please summarize and call discussion-complete."),
        ),
        ("turns since a person", "ceilings.chat.turns", json!(60)),
        ("cycles since a person", "ceilings.chat.cycles", json!(12)),
        ("trigger pace: posts", "limits.pacing.agent.burst", json!(15)),
        ("trigger pace: time", "limits.pacing.agent.window", json!("1m")),
        ("send pace: posts", "limits.pacing.channel.burst", json!(5)),
        ("send pace: time", "limits.pacing.channel.window", json!("5s")),
        ("dormancy before a channel is forgotten", "members.forget_after", json!("10m")),
        ("first list shuffled", "order.shuffle_first", json!(false)),
        ("agents that passed are left out", "order.skip_passed", json!(false)),
        ("agents that come back are assigned", "order.auto_requeue", json!(false)),
        ("time between reminders", "discussion.reminder_interval", json!("10m")),
        ("age of what wakes after a restart", "time_limits.missed_wake_max", json!("15m")),
        ("looking for what no event told of", "time_limits.backfill", json!("5m")),
        ("threads take over a mode", "inherit_parent_mode", json!(false)),
        ("stop words", "reading.stop_words", json!(["stop", "停", "停止"])),
    ];
    let defaults = written(&Rules::default());
    for (what, path, default) in configurable {
        let pointer = format!("/{}", path.replace('.', "/"));
        assert_eq!(defaults.pointer(&pointer), Some(&default), "{what}");
        assert_ne!(one(path, other(path, &default)), Rules::default(), "{what}");
    }
}
