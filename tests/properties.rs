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

/// Tries cases of these steps. One that fails was shrunk by proptest; steps that it then still does not need are left out.
fn hold(steps: impl Strategy<Value = Vec<Step>>, check: Check) {
    let outcome = TestRunner::new(cases()).run(&Case::of(steps), |case| {
        let outcome = check(&case.config, case.seed, &case.steps);
        outcome.map(drop).map_err(|failure| TestCaseError::fail(failure.to_string()))
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(told, Case { config, seed, steps })) => {
            let shortest =
                minimize(&config, seed, &steps).map(|(_, _, failure)| failure.to_string());
            let told = shortest.unwrap_or(told.to_string());
            panic!(
                "{told}The rules are in docs/rules: either dirigent-core/src/machine or verify/src/model breaks them."
            );
        }
        Err(aborted @ TestError::Abort(_)) => panic!("{aborted}"),
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

/// SD1: a refusal stands for the break here. A chat of two, a mute, and an order to the muted agent are all that it takes.
#[test]
fn a_case_that_fails_shrinks_to_a_few_inputs() {
    let config = ProptestConfig { failure_persistence: None, ..cases() };
    let same_cases = TestRng::from_seed(RngAlgorithm::ChaCha, &[8; 32]);
    let mut runner = TestRunner::new_with_rng(config, same_cases);
    let failed = runner.run(&Case::of(strategies::conversation()), |case| {
        let report = check(&case.config, case.seed, &case.steps);
        let is_refused = report.is_ok_and(|report| report.count("refusal", "muted") > 0);
        if is_refused { Err(TestCaseError::fail("refused")) } else { Ok(()) }
    });
    let Err(TestError::Fail(_, case)) = failed else { panic!("no case was refused: {failed:?}") };
    assert!(case.steps.len() <= 4, "{:?}", case.steps);
}
