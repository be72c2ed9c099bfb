//! Keeps the pages under `docs/`, the tables under `verify/` and the tests together.
#![cfg(test)]

#[path = "pages/assumptions.rs"]
mod assumptions;
#[path = "pages/bad_input.rs"]
mod bad_input;
#[path = "pages/findings.rs"]
mod findings;
#[path = "pages/first_page.rs"]
mod first_page;
#[path = "pages/forgotten.rs"]
mod forgotten;
#[path = "pages/glossary.rs"]
mod glossary;
#[path = "pages/links.rs"]
mod links;
#[path = "pages/names.rs"]
mod names;
#[path = "pages/performance.rs"]
mod performance;
#[path = "pages/questions.rs"]
mod questions;
#[path = "pages/requirements.rs"]
mod requirements;
#[path = "pages/rules.rs"]
mod rules;
#[path = "pages/source.rs"]
mod source;
