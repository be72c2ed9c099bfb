//! The negative controls, and how they went.

use std::collections::BTreeMap;

use super::{Spoilt, Wrong};
use crate::openapi::document::Document;
use crate::openapi::exchange::Request;

/// How the checker did with spoilt requests.
///
/// ```
/// use dirigent_testkit::openapi::{Controls, Document, Request};
///
/// let text = r#"{"openapi": "3.1.0", "paths": {"/rooms": {"get": {}}}}"#;
/// let document = Document::read(text, &[]).unwrap();
/// let controls = Controls::run(&document, &[Request::new("GET", "/rooms")]);
/// assert!(controls.missed.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Controls {
    /// How many requests were spoilt in each way, and found.
    pub found: BTreeMap<Wrong, usize>,
    /// Those that the checker took for right.
    pub missed: Vec<Spoilt>,
}

impl Controls {
    /// Spoils every request in every way and looks whether the checker says so, at the right place. A
    /// fault that the request had before does not count.
    pub fn run(document: &Document, requests: &[Request]) -> Self {
        let mut controls = Self::default();
        for request in requests {
            let before = document.check(request);
            for spoilt in document.spoil(request) {
                let found = document.check(&spoilt.request);
                let mut new = found.iter().filter(|found| !before.contains(found));
                if new.any(|found| found.place == spoilt.place) {
                    *controls.found.entry(spoilt.wrong).or_default() += 1;
                } else {
                    controls.missed.push(spoilt);
                }
            }
        }
        controls
    }

    /// What no request could be spoilt with, so that nothing is known about it.
    pub fn untried(&self) -> Vec<Wrong> {
        let tried = |wrong: &Wrong| {
            self.found.contains_key(wrong) || self.missed.iter().any(|one| one.wrong == *wrong)
        };
        Wrong::ALL.into_iter().filter(|wrong| !tried(wrong)).collect()
    }
}
