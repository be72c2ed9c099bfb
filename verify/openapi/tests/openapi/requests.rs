//! Paths, queries and headers.

use super::*;

#[test]
fn a_request_as_the_document_says_has_no_findings() {
    for target in [
        "/api/v3/rooms/7",
        "/api/v3/rooms/%37",
        "/api/v3/rooms/18446744073709551615",
        "/api/v3/rooms/@home",
        "/api/v3/rooms/7/lines",
        "/api/v3/rooms/7/lines?limit=1&after=0&whole=true",
        "/api/v3/rooms/7/lines?limit=100&whole=false",
        "/api/v3/rooms/7/lines?kind=a&kind=b",
        "/api/v3/rooms/7/lines?kind=7",
    ] {
        assert_fits(&request("GET", target));
    }
}

#[test]
fn what_the_document_has_no_operation_for_is_found() {
    for (method, target) in [
        ("GET", "/api/v3/room/7"),
        ("GET", "/api/v3/rooms"),
        ("GET", "/api/v3/rooms/"),
        ("GET", "/api/v3/rooms/7/"),
        ("GET", "/api/v3/rooms/7/lines/8"),
        ("GET", "/rooms/7"),
        ("GET", "/api/v2/rooms/7"),
        ("POST", "/api/v3/rooms/7"),
        ("get", "/api/v3/rooms/7"),
    ] {
        assert_found(&request(method, target), &[Place::Operation]);
    }
}

#[test]
fn of_several_paths_the_most_literal_one_is_meant() {
    let document = document();
    let meant = |target| document.operation_of(&request("GET", target)).unwrap();
    assert_eq!(meant("/api/v3/rooms/@home"), "GET /rooms/@home");
    assert_eq!(meant("/api/v3/rooms/1"), "GET /rooms/{room_id}");
    let put = with_body("PUT", "/api/v3/rooms/@home", r#"{"name":"a"}"#);
    assert_found(&put, &[Place::Operation]);
}

#[test]
fn an_id_in_a_path_is_a_number_of_64_bits() {
    for id in ["a", "-1", "07", "+7", "1.0", "0x7", "18446744073709551616", "%20", "7%00"] {
        let found = document().check(&request("GET", &format!("/api/v3/rooms/{id}")));
        assert!(places(&found).contains(&path("room_id")), "{id}: {found:?}");
    }
}

#[test]
fn a_query_is_held_to_its_parameters() {
    let lines = "/api/v3/rooms/7/lines";
    for (wrong, place) in [
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("limit=many", "limit"),
        ("limit=1.5", "limit"),
        ("limit=", "limit"),
        ("limit", "limit"),
        ("limit=1e1", "limit"),
        ("limit=+5", "limit"),
        ("limit=05", "limit"),
        ("limit=1&limit=2", "limit"),
        ("after=07", "after"),
        ("whole=yes", "whole"),
        ("whole=1", "whole"),
        ("kind=a&kind=b&kind=c", "kind"),
        ("unknown=1", "unknown"),
        ("Limit=1", "Limit"),
        ("", ""),
    ] {
        assert_found(&request("GET", &format!("{lines}?{wrong}")), &[query(place)]);
    }
    assert_found(&request("GET", &format!("{lines}?limit=%zz")), &[query("")]);
    assert_found(&request("POST", "/api/v3/people"), &[query("as")]);
    assert_fits(&request("POST", "/api/v3/people?as=guest"));
}

#[test]
fn a_token_is_sent_where_it_is_wanted() {
    let wanted = request("GET", "/api/v3/rooms/7");
    let token = [header("authorization")];
    assert_found(&wanted.clone().without_header("authorization"), &token);
    for value in ["", "Bot", "Bot ", "a.b.c", "Bearer a.b.c", "bot a.b.c", "Bot a b", "Bot \u{fc}"]
    {
        assert_found(&wanted.clone().header("authorization", value), &token);
    }
    let optional = request("GET", "/api/v3/rooms/7/lines");
    assert_fits(&optional.clone().without_header("authorization"));
    assert_found(&optional.header("authorization", "Bearer a"), &token);
    assert_found(&request("GET", "/api/v3/people"), &token);
}

#[test]
fn every_request_says_who_sends_it_as_discord_wants_it() {
    let request = request("GET", "/api/v3/rooms/7");
    let agent = [header("user-agent")];
    assert_found(&request.clone().without_header("user-agent"), &agent);
    for value in ["curl/8", "DiscordBot", "DiscordBot (x, 1)", "DiscordBot (https://x.example)"] {
        assert_found(&request.clone().header("user-agent", value), &agent);
    }
    let reasoned = |length| request.clone().header("X-Audit-Log-Reason", &"x".repeat(length));
    assert_fits(&reasoned(512));
    assert_found(&reasoned(513), &[header("x-audit-log-reason")]);
    assert_found(&reasoned(0), &[header("x-audit-log-reason")]);
}

#[test]
fn neither_token_nor_body_is_shown() {
    let request = with_body("PUT", "/api/v3/rooms/7", r#"{"name":"a very confidential name"}"#);
    let found = document().check(&request);
    let shown = format!("{request:?} {found:?}");
    assert_eq!(places(&found), [body("/name")]);
    assert!(!shown.contains("confidential") && !shown.contains("a.b.c"), "{shown}");
}
