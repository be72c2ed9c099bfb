//! Machine and model side by side, step for step.
//!
//! [`check`] feeds the same steps to a [`Channel`](dirigent_core::TurnMachine) and to the
//! [`Model`](crate::model::Model), and compares after every one of them what they answer, what they
//! emit and how they look. It also audits the machine, restores copies of it and watches that a copy
//! reacts as the original does. What disagrees is a [`Failure`], whose text names the step and
//! prints the whole way there.

mod brief;
mod bytes;
mod compare;
mod pair;
mod plausible;
mod report;
mod shrink;
mod step;
mod trace;
mod twice;
mod walk;

use std::fmt;
use std::sync::Arc;

use dirigent_core::Config;

pub use self::bytes::config_from_bytes;
use self::pair::Pair;
pub use self::report::Report;
pub use self::shrink::minimize;
pub use self::step::{Act, EndOutcome, Step};
use self::trace::Trace;
pub use self::twice::check_twice;

/// Machine and rules disagree.
///
/// ```
/// use dirigent_verify::check::Failure;
/// fn is_error<T: std::error::Error + Send + Sync + 'static>() {}
/// is_error::<Failure>();
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// Which check failed.
    pub harness: &'static str,
    /// The machine's seed.
    pub seed: u64,
    /// The number of the step, from 0.
    pub step: usize,
    /// What disagrees.
    pub what: String,
    /// The steps up to there, one a line.
    pub trace: Vec<String>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (harness, seed) = (self.harness, self.seed);
        writeln!(
            f,
            "machine and rules differ in step {} ({harness}, seed {seed}): {}",
            self.step + 1,
            self.what
        )?;
        for (number, line) in self.trace.iter().enumerate() {
            match number {
                0 => writeln!(f, "{line}")?, // the settings
                _ => writeln!(f, "{number:4}. {line}")?,
            }
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}

/// Runs the steps on machine and model and compares them after each.
///
/// # Errors
///
/// The first difference.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use dirigent_core::{Config, Input, Mode};
/// use dirigent_verify::check::{Step, check};
///
/// let steps = [Step::input(0, Input::SetMode(Mode::Chat)), Step::DeadlineTick];
/// let report = check(&Arc::new(Config::default()), 1, &steps).expect("no difference");
/// assert_eq!(report.count("effect", "fetch-members"), 1);
/// ```
pub fn check(config: &Arc<Config>, seed: u64, steps: &[Step]) -> Result<Report, Failure> {
    trace::only_failures(|trace| attempt(config, seed, steps, trace))
}

/// One check, with or without a trace.
fn attempt(
    config: &Arc<Config>,
    seed: u64,
    steps: &[Step],
    trace: Trace,
) -> Result<Report, Failure> {
    let mut pair = Pair::new(config, seed, trace);
    for (number, step) in steps.iter().enumerate() {
        if let Err(what) = pair.step(step, number) {
            return Err(Failure {
                harness: "check",
                seed,
                step: number,
                what,
                trace: pair.into_trace(),
            });
        }
    }
    Ok(pair.report())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use dirigent_core::{Input, Mode, WakeCause};

    use super::*;
    use crate::model::Model;

    #[test]
    fn a_model_with_other_rules_is_found_out() {
        let rules = Arc::new(Config::default());
        let mut others = Config::default();
        others.members.refresh_deadline = Duration::from_secs(11);
        let mut pair = Pair::new(&rules, 1, Trace::on());
        pair.replace_model(Model::new(Arc::new(others)));
        let chat = Step::input(0, Input::SetMode(Mode::Chat));
        let what = pair.step(&chat, 0).unwrap_err();
        assert!(what.starts_with("how the channel looks\n  machine: "), "{what}");
        assert!(pair.into_trace()[1].contains("an operator sets the mode to chat"));
    }

    #[test]
    fn a_failure_names_the_step_first_and_then_the_way() {
        let failure = Failure {
            harness: "check",
            seed: 7,
            step: 1,
            what: "answer\n  machine: a\n  rules:   b".to_owned(),
            trace: vec![
                "Settings: the defaults.".to_owned(),
                "0.000 s: the clock ticks".to_owned(),
            ],
        };
        let text = failure.to_string();
        let first = "machine and rules differ in step 2 (check, seed 7): answer\n  machine: a\n  rules:   b";
        assert_eq!(
            text,
            format!("{first}\nSettings: the defaults.\n   1. 0.000 s: the clock ticks\n")
        );
    }

    #[test]
    fn an_act_knows_what_is_going_on() {
        let wake = Input::Wake { first: None, cause: WakeCause::Operator };
        let creation = dirigent_core::Creation {
            mode: Mode::Chat,
            members: [1, 2].map(dirigent_core::AgentKey::new).to_vec(),
            initiator: None,
        };
        let steps = [
            Step::input(0, Input::Create(creation)),
            Step::input(0, wake),
            Step::act(0, Act::GateAnew),
            Step::act(0, Act::End { outcome: EndOutcome::Pass }),
        ];
        let report = check(&Arc::new(Config::default()), 1, &steps).unwrap();
        assert_eq!(report.count("cause", "passed"), 1);
    }
}
