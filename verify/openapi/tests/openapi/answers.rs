//! Answers: what a stand-in for Discord may say.

use check_contract::{Answer, Exchange};

use super::*;

#[track_caller]
fn assert_answer(target: &str, status: u16, json: &str, expected: &[&str]) {
    let answered = Answer { status, body: json.as_bytes().to_vec() };
    let exchange = Exchange { request: request("GET", target), answer: answered };
    let expected: Vec<Place> = expected.iter().map(|pointer| answer(pointer)).collect();
    assert_eq!(places(&document().check_answer(&exchange)), expected, "{status} {json}");
}

#[test]
fn an_answer_as_the_document_says_may_hold_more_than_it_says() {
    let room = "/api/v3/rooms/7";
    assert_answer(room, 200, r#"{"id":"7","type":0,"name":"a"}"#, &[]);
    assert_answer(room, 200, r#"{"id":"7","type":0,"name":"a","new":{"x":1}}"#, &[]);
    assert_answer(room, 200, r#"{"id":"7","type":1,"name":5}"#, &[]);
    assert_answer(
        &format!("{room}/lines"),
        200,
        r#"[{"id":"1","new":1},{"id":"2","text":""}]"#,
        &[],
    );
}

#[test]
fn an_answer_that_lacks_or_bends_something_is_found() {
    let room = "/api/v3/rooms/7";
    assert_answer(room, 200, r#"{"type":0,"name":"a"}"#, &[""]);
    assert_answer(room, 200, r#"{"id":"7","type":0}"#, &[""]);
    assert_answer(room, 200, r#"{"id":7,"type":0,"name":"a"}"#, &["/id"]);
    assert_answer(room, 200, r#"{"id":"7","type":1.5}"#, &["/type"]);
    assert_answer(room, 200, "", &[""]);
    assert_answer(room, 200, "{", &[""]);
    assert_answer(&format!("{room}/lines"), 200, r#"[{"id":"1"},{"text":""}]"#, &["/1"]);
}

#[test]
fn a_status_is_one_that_the_document_knows() {
    let room = "/api/v3/rooms/7";
    assert_answer(room, 404, r#"{"name":"gone","code":5,"more":1}"#, &[]);
    assert_answer(room, 404, r#"{"name":"gone"}"#, &[""]);
    assert_answer(room, 201, r#"{"id":"7","type":1}"#, &[""]);
    assert_answer(room, 500, "", &[""]);
}

#[test]
fn no_body_comes_where_none_is_said() {
    let put = with_body("PUT", "/api/v3/rooms/7", r#"{"name":"a"}"#);
    for (json, findings) in [("", 0), ("{}", 1)] {
        let answered = Answer { status: 204, body: json.as_bytes().to_vec() };
        let exchange = Exchange { request: put.clone(), answer: answered };
        assert_eq!(document().check_answer(&exchange).len(), findings, "{json}");
    }
}
