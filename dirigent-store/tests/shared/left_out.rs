//! Tests that cannot be run here say so where it is seen.

use std::io::Write;

use dirigent_testkit::told;

/// Says that this test is left out, and why: past the capture of the runner, which shows nothing of a
/// test that passes. With `DIRIGENT_NOTHING_LEFT_OUT=1` leaving a test out fails it.
pub(crate) fn left_out(why: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let is_allowed = told("DIRIGENT_NOTHING_LEFT_OUT").unwrap_or(0_u64) == 0;
    assert!(is_allowed, "left out: {why}");
    let _ = writeln!(std::io::stderr(), "test {test} ... LEFT OUT: {why}");
}
