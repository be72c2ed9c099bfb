//! The turn machine against the rules, by property tests: plain `cargo test` runs them.
//!
//! The rules are the model in `verify/src/model`, written from `docs/rules` and not from the machine. Each case is a list of
//! inputs; machine and model get the same ones and must answer, do and look the same after each. proptest draws the cases
//! (new ones in every run) and shrinks one that fails to a short list, which the failure tells in sentences beside the two
//! answers. The failing case is written to `tests/properties.regressions` and tried first from then on.
//!
//! `DIRIGENT_CASES` sets how many cases each test tries.

mod strategies;

use std::sync::Arc;

use dirigent_core::Config;
use dirigent_testkit::told;
use dirigent_verify::check::{Failure, Report, Step, check, check_twice, minimize};
use proptest::prelude::*;
use proptest::test_runner::{FileFailurePersistence, RngAlgorithm, TestError, TestRng, TestRunner};

use self::strategies::Case;

/// All tests together stay below 20 seconds with these cases.
fn cases() -> ProptestConfig {
    let regressions = concat!(env!("CARGO_MANIFEST_DIR"), "/properties.regressions");
    ProptestConfig {
        cases: told("DIRIGENT_CASES").unwrap_or(2_000),
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(regressions))),
        ..ProptestConfig::default()
    }
}

/// A comparison of machine and rules, by settings, the seed of what is drawn, and steps.
type Check = fn(&Arc<Config>, u64, &[Step]) -> Result<Report, Failure>;

/// Tries cases of these steps. One that fails was shrunk by proptest; what it then still does not need is left out, too.
fn shortest<F: ToString>(
    mut runner: TestRunner,
    steps: impl Strategy<Value = Vec<Step>>,
    fails: impl Fn(&Arc<Config>, u64, &[Step]) -> Option<F>,
) -> Option<(Vec<Step>, F)> {
    let outcome = runner.run(&Case::of(steps), |case| {
        let failure = fails(&case.config, case.seed, &case.steps);
        failure.map_or(Ok(()), |failure| Err(TestCaseError::fail(failure.to_string())))
    });
    match outcome {
        Ok(()) => None,
        Err(TestError::Fail(why, Case { config, seed, steps })) => {
            let shortest = minimize(&config, seed, &steps, fails);
            let (_, steps, failure) = shortest.unwrap_or_else(|| panic!("fails no more: {why}"));
            Some((steps, failure))
        }
        Err(aborted @ TestError::Abort(_)) => panic!("{aborted}"),
    }
}

/// No case of these steps fails.
fn hold(steps: impl Strategy<Value = Vec<Step>>, check: Check) {
    let differs = |config: &_, seed, steps: &_| check(config, seed, steps).err();
    if let Some((_, failure)) = shortest(TestRunner::new(cases()), steps, differs) {
        panic!(
            "{failure}The rules are in docs/rules: either dirigent-core/src/machine or verify/src/model breaks them."
        );
    }
}

/// SD1
#[test]
fn machine_and_rules_agree_on_conversations() {
    hold(strategies::conversation(), check);
}

/// SD1
#[test]
fn machine_and_rules_agree_on_nonsense() {
    hold(strategies::nonsense(), check);
}

/// SD1
#[test]
fn machine_and_rules_agree_on_any_bytes() {
    hold(strategies::any_bytes(), check);
}

#[test]
fn every_input_of_a_conversation_may_be_delivered_twice() {
    hold(strategies::conversation(), check_twice);
}

/// SD1: a refusal stands for the break here. A chat, a mute, and an order to the muted agent are all that it takes. If that agent
/// is not there yet, the list of members must be read as well, and what makes the machine read it.
#[test]
fn cases_that_fail_shrink_to_a_few_inputs() {
    let is_refused = |config: &_, seed, steps: &_| {
        let report = check(config, seed, steps).ok()?;
        (report.count("refusal", "muted") > 0).then_some("refused")
    };
    let shortest_of = |seed| {
        let config = ProptestConfig { failure_persistence: None, ..cases() };
        let same_cases = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
        let runner = TestRunner::new_with_rng(config, same_cases);
        shortest(runner, strategies::conversation(), is_refused).expect("a case is refused").0
    };
    let mut all: Vec<_> = (1..=10).map(shortest_of).collect();
    all.sort_by_key(Vec::len);
    assert!(all.iter().take(9).all(|steps| steps.len() <= 5), "{all:#?}");
    assert!(all.iter().all(|steps| steps.len() <= 8), "{all:#?}");
}
