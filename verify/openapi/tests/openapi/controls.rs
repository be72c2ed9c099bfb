//! The negative controls.

use check_contract::{Answer, Controls, Exchange, Wrong};

use super::*;

/// Exchanges with something of everything in them.
fn exchanges() -> Vec<Exchange> {
    let full = r#"{"name":"a","kind":5,"topic":"b","size":9,"locked":true,
        "guests":[{"id":"1","role":"reader"},{"id":"2"}],"theme":{"type":"painted","colour":1}}"#;
    let put = with_body("PUT", "/api/v3/rooms/7", full).header("X-Audit-Log-Reason", "why not");
    let lines = request("GET", "/api/v3/rooms/7/lines?limit=50&after=3&whole=true");
    let with = |request, status, json: &str| {
        let answer = Answer { status, body: json.as_bytes().to_vec() };
        Exchange { request, answer }
    };
    vec![
        with(put, 204, ""),
        with(lines, 200, r#"[{"id":"1","text":"a"},{"id":"2"}]"#),
        with(request("GET", "/api/v3/rooms/7"), 200, r#"{"id":"7","type":0,"name":"a"}"#),
        with(request("GET", "/api/v3/rooms/@home"), 200, "{}"),
    ]
}

#[test]
fn every_fault_is_tried_and_noticed() {
    let exchanges = exchanges();
    for exchange in &exchanges {
        assert_fits(&exchange.request);
        assert_eq!(document().check_answer(exchange), []);
    }
    let controls = Controls::run(&document(), &exchanges);
    assert_eq!(controls.missed, []);
    assert_eq!(controls.untried(), []);
    assert!(controls.noticed[&Wrong::UnknownKey] >= 9, "{controls:?}");
}

#[test]
fn a_fault_that_nothing_shows_is_told_as_untried() {
    let controls = Controls::run(&document(), &exchanges()[1..]);
    assert_eq!(controls.missed, []);
    let untried = controls.untried();
    for wrong in [Wrong::UnknownKey, Wrong::AuditReason, Wrong::ContentType, Wrong::TooLong] {
        assert!(untried.contains(&wrong), "{wrong}");
    }
    assert!(!untried.contains(&Wrong::PathId));
}

/// Here the document is read in two ways: what the controls take for a limit of every item does not hold for
/// the first one.
#[test]
fn a_checker_that_does_not_notice_is_found_out() {
    let narrow = r##""items": {"$ref": "#/components/schemas/Guest"}"##;
    assert!(SMALL.contains(narrow));
    let text = SMALL.replace(narrow, &format!(r#""prefixItems": [true], {narrow}"#));
    let blind = Document::read(&text, &[]).unwrap();
    let controls = Controls::run(&blind, &exchanges());
    let missed: Vec<_> = controls.missed.iter().map(|one| (one.wrong, &one.place)).collect();
    assert!(missed.contains(&(Wrong::UnknownKey, &body("/guests/0"))), "{missed:?}");
    assert!(missed.contains(&(Wrong::BodyId, &body("/guests/0/id"))), "{missed:?}");
    assert!(missed.iter().all(|(_, place)| place.to_string().contains("/guests/0")), "{missed:?}");
}

#[test]
fn what_was_wrong_before_proves_nothing() {
    let mut exchange = exchanges().remove(0);
    exchange.request = exchange.request.without_header("user-agent");
    let controls = Controls::run(&document(), &[exchange]);
    assert_eq!(controls.missed, []);
    assert!(controls.untried().contains(&Wrong::UserAgent));
    assert!(!controls.untried().contains(&Wrong::Authorization));
}
