//! What a suite found.

use std::error::Error;
use std::fmt;

use dirigent::ports::{ApiError, Certainty, ErrorKind};

/// What one check found: nothing, or what is wrong.
pub(super) type Outcome = Result<(), String>;

/// Which checks of a suite passed. A suite hands one out only when none failed.
///
/// ```
/// use dirigent_testkit::contract::ContractReport;
///
/// fn print(report: &ContractReport) -> String {
///     format!("{}: {} passed, {} left out", report.suite(), report.passed().len(), report.left_out().len())
/// }
/// ```
#[derive(Debug)]
pub struct ContractReport {
    /// The suite's name.
    suite: &'static str,
    /// The checks that held.
    passed: Vec<&'static str>,
    /// The checks for which the harness offers no means.
    left_out: Vec<&'static str>,
    /// The checks that did not hold.
    failed: Vec<Failure>,
}

impl ContractReport {
    pub(super) const fn new(suite: &'static str) -> Self {
        Self { suite, passed: Vec::new(), left_out: Vec::new(), failed: Vec::new() }
    }

    pub(super) fn record(&mut self, check: &'static str, outcome: Outcome) {
        match outcome {
            Ok(()) => self.passed.push(check),
            Err(reason) => self.failed.push(Failure { check, reason }),
        }
    }

    pub(super) fn leave_out(&mut self, check: &'static str) {
        self.left_out.push(check);
    }

    pub(super) fn finish(self) -> Result<Self, Failures> {
        if self.failed.is_empty() {
            Ok(self)
        } else {
            Err(Failures { suite: self.suite, failures: self.failed })
        }
    }

    /// The suite's name.
    pub const fn suite(&self) -> &'static str {
        self.suite
    }

    /// The checks that held, by name.
    pub fn passed(&self) -> &[&'static str] {
        &self.passed
    }

    /// The checks for which the harness offers no means, by name.
    pub fn left_out(&self) -> &[&'static str] {
        &self.left_out
    }
}

/// One check that did not hold.
///
/// ```
/// use dirigent_testkit::contract::Failure;
///
/// fn name(failure: &Failure) -> &'static str {
///     failure.check()
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    check: &'static str,
    reason: String,
}

impl Failure {
    /// The check's name.
    pub const fn check(&self) -> &'static str {
        self.check
    }

    /// What was wrong.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.check, self.reason)
    }
}

/// The checks of a suite that did not hold. `Debug` is as readable as `Display`, so that
/// unwrapping it in a test says all.
///
/// ```
/// use dirigent_testkit::contract::Failures;
///
/// fn first(failures: &Failures) -> Option<&str> {
///     failures.all().first().map(|failure| failure.check())
/// }
/// ```
pub struct Failures {
    suite: &'static str,
    failures: Vec<Failure>,
}

impl Failures {
    /// All of them, in the order in which they were tried.
    pub fn all(&self) -> &[Failure] {
        &self.failures
    }
}

impl fmt::Display for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the contract {} is broken:", self.suite)?;
        for failure in &self.failures {
            write!(f, "\n  {failure}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for Failures {}

/// Fails with this reason unless the condition holds.
pub(super) fn ensure(condition: bool, reason: &str) -> Outcome {
    if condition { Ok(()) } else { Err(reason.to_owned()) }
}

/// Fails unless what was found is what was expected.
pub(super) fn equal<T: PartialEq + fmt::Debug>(what: &str, found: &T, expected: &T) -> Outcome {
    if found == expected {
        Ok(())
    } else {
        Err(format!("{what}: expected {expected:?}, found {found:?}"))
    }
}

/// The value, or a failure that says what went wrong.
pub(super) fn works<T, E: fmt::Display>(what: &str, result: Result<T, E>) -> Result<T, String> {
    result.map_err(|error| format!("{what} failed: {error}"))
}

/// Fails unless it failed with this kind, which leaves no doubt that nothing was done.
pub(super) fn is_refused<T>(what: &str, result: Result<T, ApiError>, kind: ErrorKind) -> Outcome {
    match result {
        Ok(_) => Err(format!("{what} worked; expected {kind:?}")),
        Err(error) => {
            equal(&format!("{what}: the error's kind"), &error.kind(), &kind)?;
            let certainty = error.certainty();
            equal(&format!("{what}: what is certain"), &certainty, &Certainty::NotDone)
        }
    }
}

/// Runs these checks, each a function of the harness, and reports them under their names.
macro_rules! checks {
    ($report:expr, $harness:expr; $($check:ident),+ $(,)?) => {
        $($report.record(stringify!($check), $check($harness).await);)+
    };
}

/// Reports these checks as left out.
macro_rules! left_out {
    ($report:expr; $($check:ident),+ $(,)?) => {
        $($report.leave_out(stringify!($check));)+
    };
}

pub(super) use {checks, left_out};
