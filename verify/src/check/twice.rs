//! Whatever is delivered twice counts once.

use std::sync::Arc;

use dirigent_core::{Config, Input, TurnMachine};

use super::compare;
use super::trace::{self, Trace};
use super::walk::Walk;
use super::{Failure, Report, Step};

/// Delivers every input once to one machine and twice to another, which must do the same
/// (D78). `Wake` and `Removed` are left out, because they carry nothing by which a repetition could be known.
///
/// # Errors
///
/// The first difference.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use dirigent_core::Config;
/// use dirigent_testkit::Random;
/// use dirigent_verify::check::{Step, check_twice};
/// let steps = Step::sequence(&mut Random::new(3), 20);
/// assert!(check_twice(&Arc::new(Config::default()), 1, &steps).is_ok());
/// ```
pub fn check_twice(config: &Arc<Config>, seed: u64, steps: &[Step]) -> Result<Report, Failure> {
    trace::only_failures(|trace| attempt(config, seed, steps, trace))
}

/// One check, with or without a trace.
fn attempt(
    config: &Arc<Config>,
    seed: u64,
    steps: &[Step],
    trace: Trace,
) -> Result<Report, Failure> {
    let mut walk = Walk::new(config, seed, trace);
    let mut twin = TurnMachine::new(Arc::clone(config), seed);
    for (number, step) in steps.iter().enumerate() {
        let outcome = walk.next_input(step).and_then(|input| match input {
            Some(input) => twice(&mut walk, &mut twin, &input),
            None => Ok(()),
        });
        if let Err(what) = outcome {
            return Err(Failure {
                harness: "check_twice",
                seed,
                step: number,
                what,
                trace: walk.trace.into_lines(),
            });
        }
    }
    Ok(walk.report)
}

/// One input, once and twice.
fn twice(walk: &mut Walk, twin: &mut TurnMachine, input: &Input) -> Result<(), String> {
    let adds = matches!(
        input,
        Input::Wake { .. }
            | Input::SpeakNext(_)
            | Input::Spent { .. }
            | Input::ResetBudget
            | Input::TriggerAgain
            | Input::Removed(_)
    );
    // The host does not give a message that was read late twice (rule 73).
    let late = matches!(
        input,
        Input::Message(message) | Input::Addressed { message, .. } if message.backfilled
    );
    if adds || late {
        return Ok(());
    }
    let (answer, effects) = walk.feed(input);
    let mut first = Vec::new();
    let first_answer = twin.handle(walk.now, input, &mut first);
    compare::same("answer to the first delivery", &first_answer, &answer)?;
    compare::same("effects of the first delivery", &first, &effects)?;
    let mut second = Vec::new();
    let _ = twin.handle(walk.now, input, &mut second);
    compare::same("effects of the second delivery", &second, &Vec::new())?;
    let (mut ours, theirs) = (twin.snapshot().clone(), walk.machine.snapshot());
    ours.revision = theirs.revision; // counts deliveries that changed nothing, too
    compare::snapshots("state after the second delivery", &ours, theirs)
}
