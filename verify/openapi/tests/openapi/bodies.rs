//! Bodies, and above all keys that nobody names.

use super::*;

const ROOM: &str = "/api/v3/rooms/7";

#[track_caller]
fn assert_taken(json: &str) {
    assert_fits(&with_body("PUT", ROOM, json));
}

#[track_caller]
fn assert_refused(json: &str, expected: &[&str]) {
    let expected: Vec<Place> = expected.iter().map(|pointer| body(pointer)).collect();
    assert_found(&with_body("PUT", ROOM, json), &expected);
}

#[test]
fn a_body_as_the_document_says_is_taken() {
    assert_taken(r#"{"name":"a"}"#);
    assert_taken(r#"{"name":"üüüüüüüüüü","kind":5,"topic":null,"size":99,"locked":null}"#);
    assert_taken(r#"{"name":"a","guests":[{"id":"0"},{"id":"1","role":"writer"}],"kind":null}"#);
    assert_taken(r#"{"name":"a","theme":{"type":"plain","dark":true}}"#);
    assert_taken(r#"{"name":"a","theme":{"type":"painted","colour":-1}}"#);
}

#[test]
fn a_key_that_nobody_names_is_refused_wherever_it_stands() {
    assert_refused(r#"{"name":"a","more":1}"#, &[""]);
    assert_refused(r#"{"name":"a","Name":"a"}"#, &[""]);
    assert_refused(r#"{"name":"a","more":null}"#, &[""]);
    assert_refused(r#"{"name":"a","guests":[{"id":"0"},{"id":"1","more":1}]}"#, &["/guests/1"]);
    assert_refused(r#"{"name":"a","theme":{"type":"plain","more":1}}"#, &["/theme"]);
}

#[test]
fn a_key_of_one_alternative_is_no_excuse_for_another() {
    assert_refused(r#"{"name":"a","theme":{"type":"plain","colour":1}}"#, &["/theme"]);
    assert_refused(
        r#"{"name":"a","theme":{"type":"painted","colour":1,"dark":true}}"#,
        &["/theme"],
    );
}

#[test]
fn what_is_open_stays_open() {
    assert_taken(r#"{"name":"a","labels":{"any":"thing"},"notes":{"all":{"is":["well"]}}}"#);
    assert_refused(r#"{"name":"a","labels":{"any":1}}"#, &["/labels/any"]);
}

#[test]
fn parts_of_one_object_know_its_keys_together() {
    let person = |json| with_body("POST", "/api/v3/people?as=guest", json);
    assert_fits(&person(r#"{"name":"a","age":1}"#));
    assert_fits(&person(r#"{"name":"a"}"#));
    assert_found(&person(r#"{"name":"a","age":1,"more":1}"#), &[body("")]);
    assert_found(&person(r#"{"age":1}"#), &[body("")]);
    // A part that does not fit names no keys to the whole.
    let age = [body("/age"), body("")];
    assert_found(&person(r#"{"name":"a","age":2147483648}"#), &age);
    assert_found(&person(r#"{"name":"a","age":-2147483649}"#), &age);
}

#[test]
fn types_limits_and_lists_of_values_hold() {
    for (json, pointer) in [
        (r#"{"name":5}"#, "/name"),
        (r#"{"name":null}"#, "/name"),
        (r#"{"name":""}"#, "/name"),
        (r#"{"name":"üüüüüüüüüüü"}"#, "/name"),
        ("{}", ""),
        ("[]", ""),
        ("null", ""),
        (r#"{"name":"a","kind":1}"#, "/kind"),
        (r#"{"name":"a","kind":"0"}"#, "/kind"),
        (r#"{"name":"a","size":100}"#, "/size"),
        (r#"{"name":"a","size":-1}"#, "/size"),
        (r#"{"name":"a","size":1.5}"#, "/size"),
        (r#"{"name":"a","locked":0}"#, "/locked"),
        (r#"{"name":"a","guests":{}}"#, "/guests"),
        (r#"{"name":"a","guests":[{}]}"#, "/guests/0"),
        (r#"{"name":"a","guests":[{"id":7}]}"#, "/guests/0/id"),
        (r#"{"name":"a","guests":[{"id":"18446744073709551616"}]}"#, "/guests/0/id"),
        (r#"{"name":"a","guests":[{"id":"1"},{"id":"1"}]}"#, "/guests"),
        (r#"{"name":"a","guests":[{"id":"1"},{"id":"2"},{"id":"3"},{"id":"4"}]}"#, "/guests"),
        (r#"{"name":"a","guests":[{"id":"1","role":"guest"}]}"#, "/guests/0/role"),
        (r#"{"name":"a","theme":{"type":"painted"}}"#, "/theme"),
        (r#"{"name":"a","theme":{"type":"painted","colour":"red"}}"#, "/theme/colour"),
        (r#"{"name":"a","theme":[]}"#, "/theme"),
    ] {
        assert_refused(json, &[pointer]);
    }
}

#[test]
fn a_body_is_there_where_it_must_be_and_says_what_it_is() {
    let put = with_body("PUT", ROOM, r#"{"name":"a"}"#);
    let kind = [header("content-type")];
    assert_found(&put.clone().without_header("content-type"), &kind);
    for other in ["text/plain", "application/jsonp", "", "json"] {
        assert_found(&put.clone().header("content-type", other), &kind);
    }
    for broken in ["multipart/form-data", "multipart/form-data; boundary=x"] {
        assert_found(&put.clone().header("content-type", broken), &[body("")]);
    }
    assert_fits(&put.clone().header("content-type", "Application/JSON; charset=utf-8"));
    assert_found(&put.clone().body(""), &[body("")]);
    assert_found(&put.clone().body("{"), &[body("")]);
    assert_found(&put.body(&b"{\"name\":\"\xff\"}"[..]), &[body("")]);
    assert_found(&with_body("GET", ROOM, "{}"), &[body("")]);
    assert_fits(&request("POST", "/api/v3/people?as=guest"));
}

#[test]
fn the_json_in_a_form_is_held_against_the_document() {
    let part = |head: &str, text: &str| {
        format!("--x\r\nContent-Disposition: form-data; {head}\r\n\r\n{text}\r\n")
    };
    let sent = |parts: &[String]| {
        let form = with_body("PUT", ROOM, &format!("{}--x--\r\n", parts.concat()));
        form.header("content-type", "multipart/form-data; boundary=x")
    };
    let json = |text| part("name=\"payload_json\"", text);
    let file = |number: u32| {
        part(&format!("name=\"files[{number}]\"; filename=\"{number}.txt\""), "bytes")
    };
    let whole = json(r#"{"name":"a"}"#);
    assert_fits(&sent(std::slice::from_ref(&whole)));
    assert_fits(&sent(&[whole.clone(), file(0), file(1)]));
    assert_found(&sent(&[json(r#"{"name":5}"#), file(0)]), &[body("/name")]);
    let too_many: Vec<String> = [whole.clone()].into_iter().chain((0..=10).map(file)).collect();
    for wrong in [
        vec![json("{"), file(0)],
        vec![file(0)],
        vec![whole.clone(), whole.clone()],
        vec![whole.clone(), file(1)],
        vec![whole.clone(), part("name=\"files[0]\"", "bytes")],
        vec![whole.clone(), part("name=\"note\"", "bytes")],
        too_many,
    ] {
        assert_found(&sent(&wrong), &[body("")]);
    }
    for spoilt in document().spoil(&sent(&[whole, file(0)])) {
        let places = places(&document().check(&spoilt.sent));
        assert!(places.contains(&spoilt.place), "{}: {places:?}", spoilt.wrong);
    }
}
