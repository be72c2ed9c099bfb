//! The results of a suite.

use std::error::Error;
use std::fmt;

use dirigent::ports::{ApiError, Certainty, ErrorKind};

/// The result of one check, with the reason if it failed.
pub(super) type Outcome = Result<(), String>;

/// The checks of a suite that passed. You get it only if none failed.
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
    /// The checks that passed.
    passed: Vec<&'static str>,
    /// The checks that the harness does not support.
    left_out: Vec<&'static str>,
    /// The checks that failed.
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

    /// Returns the suite's name.
    pub const fn suite(&self) -> &'static str {
        self.suite
    }

    /// Returns the names of the checks that passed.
    pub fn passed(&self) -> &[&'static str] {
        &self.passed
    }

    /// Returns the names of the checks that were left out, because the harness does not support them.
    pub fn left_out(&self) -> &[&'static str] {
        &self.left_out
    }
}

/// A check that failed.
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
    /// Returns the name of the check.
    pub const fn check(&self) -> &'static str {
        self.check
    }

    /// Returns why it failed.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.check, self.reason)
    }
}

/// The checks of a suite that failed. `Debug` is as readable as `Display`, so you can unwrap it in a test.
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
    /// Returns all failures, in the order of the checks.
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

/// Fails with this reason unless the condition is true.
pub(super) fn ensure(condition: bool, reason: &str) -> Outcome {
    if condition { Ok(()) } else { Err(reason.to_owned()) }
}

/// Fails unless `found` equals `expected`.
pub(super) fn equal<T: PartialEq + fmt::Debug>(what: &str, found: &T, expected: &T) -> Outcome {
    if found == expected {
        Ok(())
    } else {
        Err(format!("{what}: expected {expected:?}, found {found:?}"))
    }
}

/// Returns the value, or a failure that says what went wrong.
pub(super) fn works<T, E: fmt::Display>(what: &str, result: Result<T, E>) -> Result<T, String> {
    result.map_err(|error| format!("{what} failed: {error}"))
}

/// Fails unless the result is an error of this kind that proves that the request was not performed.
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

/// Runs these checks, each of them a function of the harness, and reports them by name.
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
