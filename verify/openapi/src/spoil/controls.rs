//! The negative controls, and how they went.

use std::collections::{BTreeMap, BTreeSet};

use super::{Spoilt, Wrong};
use crate::document::Document;
use crate::exchange::Exchange;
use crate::finding::{Finding, Place};

/// How the checker did with what was spoilt on purpose.
///
/// ```
/// use check_contract::{Answer, Controls, Document, Exchange, Request};
///
/// let text = r#"{"openapi": "3.1.0", "paths": {"/rooms": {"get": {"responses": {"204": {}}}}}}"#;
/// let document = Document::read(text, &[]).unwrap();
/// let request = Request::new("GET", "/rooms");
/// let exchange = Exchange { request, answer: Answer { status: 204, body: Vec::new() } };
/// let controls = Controls::run(&document, &[exchange]);
/// assert!(controls.missed.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Controls {
    /// How often the checker noticed each kind of fault.
    pub noticed: BTreeMap<Wrong, usize>,
    /// Those that it took for right.
    pub missed: Vec<Missed>,
}

/// A fault that the checker did not notice where it was.
///
/// ```
/// # use check_contract::Missed;
/// fn tell(missed: &Missed) -> String {
///     format!("{}, {}, in {}", missed.wrong, missed.place, missed.request)
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Missed {
    /// What was made wrong.
    pub wrong: Wrong,
    /// Where.
    pub place: Place,
    /// In which request: its method and path.
    pub request: String,
}

impl Controls {
    /// Spoils every request and every answer in every way, and looks whether the checker says so, at the
    /// right place. Where something was wrong before, nothing is proven and nothing tried. Of answers that are
    /// alike, one is taken.
    pub fn run(document: &Document, exchanges: &[Exchange]) -> Self {
        let mut controls = Self::default();
        let mut answers = BTreeSet::new();
        for exchange in exchanges {
            let request = &exchange.request;
            let before = document.check(request);
            for spoilt in document.spoil(request) {
                let found = document.check(&spoilt.sent);
                let sent = &spoilt.sent;
                let request = format!("{} {}", sent.method(), sent.path());
                controls.count(&spoilt, &before, &found, request);
            }
            let answer = &exchange.answer;
            let alike = (document.operation_of(request), answer.status, answer.body.clone());
            if !answers.insert(alike) {
                continue;
            }
            let before = document.check_answer(exchange);
            for spoilt in document.spoil_answer(exchange) {
                let found = document.check_answer(&spoilt.sent);
                let request = format!("{} {}", request.method(), request.path());
                controls.count(&spoilt, &before, &found, request);
            }
        }
        controls
    }

    fn count<T>(
        &mut self,
        spoilt: &Spoilt<T>,
        before: &[Finding],
        found: &[Finding],
        request: String,
    ) {
        let is_there = |finding: &Finding| finding.place == spoilt.place;
        if before.iter().any(is_there) {
            return;
        }
        if found.iter().any(is_there) {
            *self.noticed.entry(spoilt.wrong).or_default() += 1;
        } else {
            let (wrong, place) = (spoilt.wrong, spoilt.place.clone());
            self.missed.push(Missed { wrong, place, request });
        }
    }

    /// The kinds of faults that nothing could be spoilt with, so that nothing is known about them.
    pub fn untried(&self) -> Vec<Wrong> {
        let tried = |wrong: &Wrong| {
            self.noticed.contains_key(wrong) || self.missed.iter().any(|one| one.wrong == *wrong)
        };
        Wrong::ALL.into_iter().filter(|wrong| !tried(wrong)).collect()
    }
}
