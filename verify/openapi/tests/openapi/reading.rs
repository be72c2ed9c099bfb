//! Documents: which are taken, and how they are corrected.

use check_contract::{Correction, DocumentError};

use super::*;

const LIMIT: Correction = Correction {
    at: "/paths/~1rooms~1{room_id}~1lines/get/parameters/0/schema/maximum",
    from: "100",
    to: "50",
    because: "a test says so",
};

#[test]
fn what_is_no_openapi_document_is_refused() {
    for text in ["", "{", "\u{feff}{}", "{\"openapi\":\"3.1.0\",\"paths\":{}}x"] {
        let error = Document::read(text, &[]).unwrap_err();
        assert!(matches!(error, DocumentError::NotJson(_)), "{text}: {error}");
    }
    for text in [
        "[]",
        "{}",
        "null",
        r#"{"openapi":"3.1.0"}"#,
        r#"{"openapi":"3.0.3","paths":{}}"#,
        r#"{"openapi":3.1,"paths":{}}"#,
        r#"{"openapi":"3.1.0","paths":[]}"#,
        r##"{"openapi":"3.1.0","paths":{"/a":{"get":{"parameters":[{"$ref":"#/nowhere"}]}}}}"##,
        r#"{"openapi":"3.1.0","paths":{"/a":{"get":{"parameters":[{"in":"query"}]}}}}"#,
        r#"{"openapi":"3.1.0","paths":{"/a":{"get":{"requestBody":{}}}}}"#,
    ] {
        let error = Document::read(text, &[]).unwrap_err();
        assert!(matches!(error, DocumentError::NotOpenApi(_)), "{text}: {error}");
    }
}

#[test]
fn references_that_lead_in_a_circle_lead_nowhere() {
    let text = r##"{"openapi":"3.1.0","paths":{"/a":{"get":{"requestBody":{"$ref":"#/b"}}}},
        "b":{"$ref":"#/c"},"c":{"$ref":"#/b"}}"##;
    assert!(matches!(Document::read(text, &[]), Err(DocumentError::NotOpenApi(_))));
}

/// A schema that cannot be used refuses everything, and says why.
#[test]
fn a_schema_that_leads_nowhere_takes_nothing() {
    let text = SMALL.replace("#/components/schemas/Guest\"", "#/components/schemas/Gone\"");
    let document = Document::read(&text, &[]).unwrap();
    let found = document.check(&with_body("PUT", "/api/v3/rooms/7", r#"{"name":"a"}"#));
    assert_eq!(places(&found), [body("")]);
    let text = SMALL.replace("#/components/schemas/Guest\"", "https://chat.example/guest.json\"");
    let document = Document::read(&text, &[]).unwrap();
    let found = document.check(&with_body("PUT", "/api/v3/rooms/7", r#"{"name":"a"}"#));
    assert_eq!(places(&found), [body("")], "nothing is fetched from anywhere");
}

#[test]
fn a_correction_is_what_counts() {
    let corrected = Document::read(SMALL, &[LIMIT]).unwrap();
    let asked = |limit| request("GET", &format!("/api/v3/rooms/7/lines?limit={limit}"));
    assert!(corrected.check(&asked(50)).is_empty());
    assert_eq!(places(&corrected.check(&asked(51))), [query("limit")]);
}

#[test]
fn a_correction_that_no_longer_fits_is_an_error() {
    for stale in [
        Correction { from: "99", ..LIMIT },
        Correction { at: "/paths/~1nowhere", ..LIMIT },
        Correction { to: "{", ..LIMIT },
    ] {
        let refused = Document::read(SMALL, &[stale]);
        assert!(matches!(refused, Err(DocumentError::Correction { at, .. }) if at == stale.at));
    }
}
