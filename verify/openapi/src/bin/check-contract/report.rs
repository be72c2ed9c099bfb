//! What came of it, in words.

use std::collections::BTreeMap;

use check_contract::{CORRECTIONS, Controls, Document, Exchange, Finding, Place};

use crate::recordings::Recording;

/// How many lines of one kind are shown.
const SHOWN: usize = 40;

/// Checks everything. Returns the report, and whether all is as it should be.
pub(crate) fn of(document: &Document, fixed: &Recording, loopback: &Recording) -> (String, bool) {
    let mut text = String::new();
    line(&mut text, &document.title());
    for correction in CORRECTIONS {
        line(&mut text, &format!("  corrected at {}:\n    {}", correction.at, correction.because));
    }
    let controls = Controls::run(document, &fixed.exchanges);
    let proven = tell_controls(&mut text, &controls);
    line(&mut text, "\n== the adapter, with fixed answers");
    let fits = tell_recording(&mut text, document, fixed);
    line(&mut text, "\n== the adapter and the kit's Discord on loopback");
    let fits_too = tell_recording(&mut text, document, loopback);
    (text, proven && fits && fits_too)
}

fn tell_recording(text: &mut String, document: &Document, recording: &Recording) -> bool {
    let exchanges = recording.exchanges.as_slice();
    tell_operations(text, document, exchanges);
    let called = tell(text, "calls that did not end as they should", &recording.failures);
    let found: Vec<Finding> =
        exchanges.iter().flat_map(|exchange| document.check(&exchange.request)).collect();
    let asked = tell(text, "findings in requests", &counted(&found));
    let found: Vec<Finding> =
        exchanges.iter().flat_map(|exchange| document.check_answer(exchange)).collect();
    let answered = tell(text, "findings in answers", &counted(&found));
    called && asked && answered
}

/// Tells of the negative controls; whether each was tried and noticed.
fn tell_controls(text: &mut String, controls: &Controls) -> bool {
    let count: usize = controls.noticed.values().sum();
    let all = count + controls.missed.len();
    line(text, &format!("\n{count} of {all} faults made on purpose were noticed"));
    for (wrong, count) in &controls.noticed {
        line(text, &format!("{count:>7}  {wrong}"));
    }
    let missed: Vec<String> = controls
        .missed
        .iter()
        .map(|one| format!("{}, {}, in {}", one.wrong, one.place, one.request))
        .collect();
    let untried: Vec<String> = controls
        .untried()
        .iter()
        .map(|wrong| format!("{wrong}: nothing was sent that could be spoilt so"))
        .collect();
    let noticed = tell(text, "faults that were not noticed", &missed);
    tell(text, "faults that were not tried", &untried) && noticed
}

fn tell_operations(text: &mut String, document: &Document, exchanges: &[Exchange]) {
    let mut operations: BTreeMap<String, usize> = BTreeMap::new();
    for Exchange { request, .. } in exchanges {
        let unknown = || format!("{} {} (no operation)", request.method(), request.path());
        *operations.entry(document.operation_of(request).unwrap_or_else(unknown)).or_default() += 1;
    }
    line(text, &format!("\n{} requests, {} operations", exchanges.len(), operations.len()));
    for (operation, count) in operations {
        line(text, &format!("{count:>7}  {operation}"));
    }
}

/// Each finding once, with how often it was made. The items of a list are all alike.
fn counted(findings: &[Finding]) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for finding in findings {
        let place = match &finding.place {
            Place::Body(pointer) => Place::Body(any_item(pointer)),
            Place::Answer(pointer) => Place::Answer(any_item(pointer)),
            other
            @ (Place::Operation | Place::Path(_) | Place::Query(_) | Place::Header(_) | _) => {
                other.clone()
            }
        };
        let alike = Finding { place, ..finding.clone() };
        *counts.entry(alike.to_string()).or_default() += 1;
    }
    let lines = counts.into_iter().map(|(finding, count)| match count {
        1 => finding,
        _ => format!("{finding} ({count} times)"),
    });
    lines.collect()
}

/// `/items/*/id` for `/items/3/id`.
fn any_item(pointer: &str) -> String {
    let is_index = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts = pointer.split('/').map(|part| if is_index(part) { "*" } else { part });
    parts.collect::<Vec<_>>().join("/")
}

/// Tells of what should not be; whether there is nothing of it.
fn tell(text: &mut String, what: &str, lines: &[String]) -> bool {
    if lines.is_empty() {
        line(text, &format!("\n{what}: none"));
        return true;
    }
    line(text, &format!("\n{what}: {}", lines.len()));
    for one in lines.iter().take(SHOWN) {
        line(text, &format!("  {one}"));
    }
    if lines.len() > SHOWN {
        line(text, &format!("  and {} more", lines.len() - SHOWN));
    }
    false
}

fn line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}
