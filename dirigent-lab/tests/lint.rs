//! Settings that deserve a second look.

use clap::Parser;
use dirigent::prelude::*;
use dirigent::settings::Rules;
use dirigent_lab::program::LintFlags;
use dirigent_lab::{AdviceKind, Assumption, Evening, RuleChoices, lint};

use crate::evenings::hold;

/// What is advised of the key, in a file's own form.
fn advised(toml: &str) -> Vec<(&'static str, AdviceKind)> {
    let rules: Rules = toml::from_str(toml).unwrap();
    lint(&rules, 3).into_iter().map(|advice| (advice.key, advice.kind)).collect()
}

#[test]
fn rules_that_stand_in_the_library_deserve_no_second_look() {
    assert_eq!(lint(&Rules::default(), 60), Vec::new());
}

#[test]
fn each_trouble_is_named_with_its_key_and_without_it_not() {
    use AdviceKind::{Contradicts, Hurts, NoEffect};
    let cases = [
        ("deadlines = { start = '1m', turn = '1m' }", "deadlines.start", NoEffect),
        ("deadlines = { run = '2m', turn = '1m' }", "deadlines.run", NoEffect),
        ("deadlines = { slow_after = '10m' }", "deadlines.slow_after", NoEffect),
        ("deadlines = { start = 'none', turn = '1m' }", "deadlines.retriggers", NoEffect),
        ("deadlines = { start = 'none', retriggers = 0 }", "deadlines.start", Hurts),
        ("deadlines = { run = 'none' }", "deadlines.run", Hurts),
        ("order = { continuations = 5 }", "order.continuations", NoEffect),
        ("time_limits = { backfill = 'none' }", "time_limits.backfill", Hurts),
        ("ceilings = { chat = { turns = 'none', cycles = 'none' } }", "ceilings.chat.turns", Hurts),
        ("ceilings = { chat = { turns = 2, cycles = 1 } }", "ceilings.chat.turns", Hurts),
        ("ceilings = { chat = { turns = 12 } }", "ceilings.chat.cycles", NoEffect),
        ("budget = { turns = 60 }", "ceilings.chat.turns", NoEffect),
        ("people = { settle = '6s' }", "people.settle", NoEffect),
        ("people = { consult_deadline = '10s' }", "people.consult_deadline", NoEffect),
        ("people = { human_interrupt = 'queue' }", "people.human_interrupt", Hurts),
        ("reading = { resume_words = ['stop'] }", "reading.resume_words", Contradicts),
        ("reading = { stop_words = [] }", "reading.stop_words", Hurts),
    ];
    for (toml, key, kind) in cases {
        assert!(advised(toml).contains(&(key, kind)), "{toml}: {:?}", advised(toml));
    }
    let bots = "people = { bots_qualify = true }\nceilings = { chat = { turns = 'none', cycles = 'none' } }";
    assert!(advised(bots).contains(&("people.bots_qualify", Hurts)));
    let sound = [
        "deadlines = { start = '59s', run = '59s', slow_after = '58s', turn = '1m' }",
        "deadlines = { start = 'none', run = 'none', retriggers = 0, turn = '1m' }",
        "order = { continuations = 5 }\nreading = { completion = { token = 'DONE' } }",
        "ceilings = { chat = { turns = 'none', cycles = 'none' } }\nbudget = { turns = 100 }",
        "ceilings = { chat = { turns = 13 } }\nbudget = { turns = 14 }",
        "people = { human_interrupt = 'queue', mentions = 'ignored' }",
        "people = { settle = '5s', consult_deadline = '10s', human_interrupt = 'interrupt' }",
    ];
    let queue: Rules = toml::from_str("people = { human_interrupt = 'queue' }").unwrap();
    assert_eq!(lint(&queue, 2), [], "of two agents the other one is next, and then this one");
    for toml in sound {
        assert_eq!(advised(toml), Vec::new(), "{toml}");
    }
}

/// The machine says so, too: two values of which neither has an effect make the same evening.
#[tokio::test(flavor = "current_thread")]
async fn what_has_no_effect_changes_no_evening() {
    let pairs = [
        ("deadlines.turn=1s", ["deadlines.start=1s", "deadlines.start=45s"]),
        ("deadlines.turn=1s", ["deadlines.run=1s", "deadlines.run=10m"]),
        ("deadlines.run=1s", ["deadlines.slow_after=1s", "deadlines.slow_after=9s"]),
        ("deadlines.start=none", ["deadlines.retriggers=1", "deadlines.retriggers=7"]),
        ("ceilings.chat.turns=4", ["ceilings.chat.cycles=4", "ceilings.chat.cycles=9"]),
        ("budget.turns=9", ["ceilings.chat.turns=9", "ceilings.chat.turns=90"]),
        ("order.continuations=3", ["people.settle=5s", "people.settle=9s"]),
        ("order.shuffle_first=false", ["people.consult_deadline=1s", "people.consult_deadline=9s"]),
        ("order.shuffle_first=false", ["order.continuations=1", "order.continuations=9"]),
    ];
    for name in ["labelled/06-office-plants.txt", "labelled/16-language-table.txt"] {
        let evening = Evening::of(&hold(name, Config::default()).await.recorded).unwrap();
        for (with, [one, other]) in pairs {
            let played = [one, other].map(|choice| {
                let choices: RuleChoices = format!("{with},{choice}").parse().unwrap();
                evening.under(&choices, Assumption::Passes).unwrap()
            });
            assert_eq!(played[0].transitions(), played[1].transitions(), "{with}, {one}");
        }
    }
}

#[derive(Parser)]
struct Program {
    #[command(flatten)]
    flags: LintFlags,
}

#[test]
fn the_command_says_key_trouble_and_story() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("dirigent.toml");
    std::fs::write(&config, "[rules.deadlines]\nturn = \"30s\"\n").unwrap();
    let run = |more: &[&str]| {
        let given = [&["lint", config.to_str().unwrap()], more].concat();
        let mut out = Vec::new();
        let is_well = Program::try_parse_from(given)
            .unwrap()
            .flags
            .run("dirigent.toml".as_ref(), &mut out)
            .unwrap();
        (is_well, String::from_utf8(out).unwrap())
    };
    let (is_well, told) = run(&[]);
    assert!(!is_well);
    let expected =
        "deadlines.start has no effect: a turn has ended by deadlines.turn before (rule 50)\n";
    assert!(told.starts_with(expected), "{told}");
    let mended = ["--set", "deadlines.start=10s", "--set", "deadlines.run=20s"];
    assert_eq!(run(&mended), (true, "nothing deserves a second look\n".to_owned()));
}
