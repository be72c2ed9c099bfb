//! The checker of requests and answers, on a small document of its own: whoever has no copy of Discord's
//! tests the checker all the same.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use check_contract::{Document, Finding, Place, Request};

#[path = "openapi/answers.rs"]
mod answers;
#[path = "openapi/bodies.rs"]
mod bodies;
#[path = "openapi/controls.rs"]
mod controls;
#[path = "openapi/program.rs"]
mod program;
#[path = "openapi/reading.rs"]
mod reading;
#[path = "openapi/requests.rs"]
mod requests;

const SMALL: &str = include_str!("openapi/small.json");
const AGENT: &str = "DiscordBot (https://bot.example, 0.1.0)";

fn document() -> Document {
    Document::read(SMALL, &[]).unwrap()
}

/// A request with the headers that each has.
fn request(method: &str, target: &str) -> Request {
    Request::new(method, target).header("User-Agent", AGENT).header("Authorization", "Bot a.b.c")
}

/// The same with a body.
fn with_body(method: &str, target: &str, body: &str) -> Request {
    request(method, target).header("Content-Type", "application/json").body(body)
}

/// Where something was found; several things at one place count once.
fn places(findings: &[Finding]) -> Vec<Place> {
    let mut places: Vec<Place> = findings.iter().map(|finding| finding.place.clone()).collect();
    places.dedup();
    places
}

fn path(name: &str) -> Place {
    Place::Path(name.to_owned())
}

fn query(name: &str) -> Place {
    Place::Query(name.to_owned())
}

fn header(name: &str) -> Place {
    Place::Header(name.to_owned())
}

fn body(pointer: &str) -> Place {
    Place::Body(pointer.to_owned())
}

fn answer(pointer: &str) -> Place {
    Place::Answer(pointer.to_owned())
}

#[track_caller]
fn assert_fits(request: &Request) {
    let found = document().check(request);
    assert!(found.is_empty(), "{request:?}: {found:?}");
}

#[track_caller]
fn assert_found(request: &Request, expected: &[Place]) {
    assert_eq!(places(&document().check(request)), expected, "{request:?}");
}
