//! Who may come in, and who may change anything.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use dirigent::{Clock, Mode};
use dirigent_control::{Check, Control, ControlBuildError, VisitorRole};
use dirigent_testkit::ManualClock;
use http::{Method, Request, StatusCode, header};
use serde_json::json;

use crate::fixture::{Fixture, OPERATOR, VIEWER, request};
use crate::live::Stream;

const PATHS: [&str; 11] = [
    "/dirigent",
    "/dirigent/channels/1574839134399234058",
    "/dirigent/registry",
    "/dirigent/replay",
    "/dirigent/metrics",
    "/dirigent/live",
    "/dirigent/assets/control.css",
    "/dirigent/assets/control.js",
    "/dirigent/api/channels",
    "/dirigent/api/openapi.json",
    "/dirigent/nowhere",
];

fn sign_in(token: &str) -> Request<Body> {
    let body = Body::from(format!("token={token}"));
    let mut request = request(Method::POST, "/dirigent/sign-in", "", body);
    let form = "application/x-www-form-urlencoded".parse().unwrap();
    request.headers_mut().insert(header::CONTENT_TYPE, form);
    request
}

/// R157, D92
#[tokio::test]
async fn every_path_answers_401_without_a_token_and_nothing_happens() {
    let fixture = Fixture::open().await;
    let channel = fixture.chat("den").await;
    for path in PATHS {
        for token in ["", "wrong"] {
            let answer = fixture.get(path, token).await;
            assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{path}");
            assert!(answer.header(header::WWW_AUTHENTICATE).starts_with("Bearer"));
            assert!(!answer.text.contains("den"), "{path}: nothing of what is inside is told");
        }
        if path == "/dirigent/replay" {
            break; // Ten failures bar the address.
        }
    }
    let fixture = Fixture::open().await;
    for path in PATHS {
        for method in [Method::POST, Method::PUT, Method::DELETE, Method::OPTIONS, Method::HEAD] {
            let answer = fixture.ask(request(method, path, "", Body::empty())).await;
            assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{path}");
        }
    }
    let order = fixture.order(channel, "", &json!({ "order": "stop" })).await;
    assert_eq!(order.status, StatusCode::UNAUTHORIZED);
}

/// R157
#[tokio::test]
async fn the_sign_in_form_is_the_body_of_the_401_and_needs_no_other_path() {
    let fixture = Fixture::open().await;
    let answer = fixture.page("/dirigent", "").await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    assert!(answer.text.contains("action=\"/dirigent/sign-in\""));
    for other in ["<link", "<script", "src="] {
        assert!(!answer.text.contains(other), "{other}");
    }
    let policy = answer.header(header::CONTENT_SECURITY_POLICY);
    assert!(policy.contains("style-src 'sha256-") && !policy.contains("unsafe"), "{policy}");
}

/// R157, D92
#[tokio::test]
async fn a_session_is_a_cookie_that_scripts_and_other_sites_never_see() {
    let fixture = Fixture::open().await;
    let answer = fixture.ask(sign_in(OPERATOR)).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    let cookie = answer.header(header::SET_COOKIE);
    for part in ["; HttpOnly", "; SameSite=Strict", "; Path=/dirigent", "; Max-Age=43200"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains("Secure"), "on this machine browsers keep it without TLS");
    assert!(!cookie.contains(OPERATOR));
    let mut elsewhere = sign_in(OPERATOR);
    elsewhere.headers_mut().insert(header::HOST, "control.example.org".parse().unwrap());
    assert!(fixture.ask(elsewhere).await.header(header::SET_COOKIE).ends_with("; Secure"));

    let session = cookie.split(';').next().unwrap().to_owned();
    let mut asked = request(Method::GET, "/dirigent", "", Body::empty());
    asked.headers_mut().insert(header::COOKIE, format!("theme=dark; {session}").parse().unwrap());
    assert_eq!(fixture.ask(asked).await.status, StatusCode::OK);
}

/// R157
#[tokio::test]
async fn a_wrong_token_at_the_form_is_answered_with_the_form_and_ten_with_429() {
    let clock = ManualClock::new();
    let time: Arc<dyn Clock> = Arc::new(clock.clone());
    let fixture = Fixture::open_with(|builder| builder.clock(time)).await;
    let session = fixture.ask(sign_in(OPERATOR)).await;
    let session = session.header(header::SET_COOKIE).split(';').next().unwrap().to_owned();
    for _ in 0..10 {
        let answer = fixture.ask(sign_in("guess")).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
        assert!(answer.text.contains("This token is not known.") && !answer.text.contains("guess"));
    }
    let from = clock.now();
    for (passed, wait) in [(0, "60"), (1, "60"), (1_000, "59"), (59_999, "1")] {
        clock.set(from + Duration::from_millis(passed));
        let barred = fixture.ask(sign_in(OPERATOR)).await;
        assert_eq!(barred.status, StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(barred.header(header::RETRY_AFTER), wait, "after {passed} ms");
    }
    let mut asked = request(Method::GET, "/dirigent", "", Body::empty());
    asked.headers_mut().insert(header::COOKIE, session.parse().unwrap());
    assert_eq!(fixture.ask(asked).await.status, StatusCode::OK, "sessions are unaffected");
    clock.set(from + Duration::from_secs(60));
    assert_eq!(fixture.ask(sign_in(OPERATOR)).await.status, StatusCode::SEE_OTHER);
}

/// R157
#[tokio::test]
async fn a_viewer_sees_everything_and_changes_nothing() {
    let fixture = Fixture::open().await;
    let channel = fixture.chat("den").await;
    for path in ["/dirigent", "/dirigent/registry", "/dirigent/api/channels", "/dirigent/metrics"] {
        assert_eq!(fixture.get(path, VIEWER).await.status, StatusCode::OK, "{path}");
    }
    for order in [json!({ "order": "stop" }), json!({ "order": "set-mode", "mode": "none" })] {
        let answer = fixture.order(channel, VIEWER, &order).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN);
        assert_eq!(answer.json()["type"], "urn:dirigent:problem:read-only");
    }
    let path = "/dirigent/api/identities/poet";
    let gone = fixture.ask(request(Method::DELETE, path, VIEWER, Body::empty())).await;
    assert_eq!(gone.status, StatusCode::FORBIDDEN);
    let status = fixture.dirigent.channel(channel).status().await.unwrap().unwrap();
    assert_eq!((status.mode, status.rest), (Mode::Chat, None));
    for path in [
        "/dirigent".to_owned(),
        format!("/dirigent/channels/{channel}"),
        "/dirigent/registry".to_owned(),
    ] {
        let page = fixture.page(&path, VIEWER).await.text;
        for control in ["data-order", "name=\"order\"", "name=\"do\""] {
            assert!(!page.contains(control), "{path} shows {control}");
        }
    }
}

/// R157: a forged request of another site changes nothing, whatever it brings along.
#[tokio::test]
async fn a_request_from_another_site_changes_nothing() {
    let fixture = Fixture::open().await;
    let channel = fixture.chat("den").await;
    let path = format!("/dirigent/channels/{channel}");
    let forged = [
        vec![("sec-fetch-site", "cross-site"), ("origin", "https://evil.example")],
        vec![("sec-fetch-site", "same-site"), ("origin", "http://other.127.0.0.1")],
        vec![("origin", "https://evil.example")],
        vec![("origin", "null")],
        vec![("origin", "http://127.0.0.1:81")],
    ];
    for headers in forged {
        let mut asked = request(Method::POST, &path, OPERATOR, Body::from("order=stop"));
        let form = "application/x-www-form-urlencoded".parse().unwrap();
        asked.headers_mut().insert(header::CONTENT_TYPE, form);
        for (name, value) in &headers {
            let name = header::HeaderName::from_static(name);
            asked.headers_mut().insert(name, value.parse().unwrap());
        }
        assert_eq!(fixture.ask(asked).await.status, StatusCode::FORBIDDEN, "{headers:?}");
    }
    let mut signing = sign_in(OPERATOR);
    signing.headers_mut().insert("sec-fetch-site", "cross-site".parse().unwrap());
    let signed = fixture.ask(signing).await;
    assert_eq!(signed.status, StatusCode::FORBIDDEN);
    assert!(signed.headers.get(header::SET_COOKIE).is_none());
    let status = fixture.dirigent.channel(channel).status().await.unwrap().unwrap();
    assert_eq!(status.rest, None);
}

struct ByHeader;

#[dirigent::async_trait]
impl Check for ByHeader {
    async fn role(&self, request: &http::request::Parts) -> Option<VisitorRole> {
        let group = request.headers.get("x-group")?.to_str().ok()?;
        (group == "ops").then_some(VisitorRole::Viewer)
    }
}

/// R157
#[tokio::test]
async fn a_host_may_plug_in_its_own_check() {
    let fixture = Fixture::open_with(|builder| builder.check(ByHeader)).await;
    let mut asked = request(Method::GET, "/dirigent", "", Body::empty());
    asked.headers_mut().insert("x-group", "ops".parse().unwrap());
    assert_eq!(fixture.ask(asked).await.status, StatusCode::OK);
    assert_eq!(fixture.get("/dirigent", "").await.status, StatusCode::UNAUTHORIZED);
    let mut asked = request(Method::DELETE, "/dirigent/api/identities/poet", "", Body::empty());
    asked.headers_mut().insert("x-group", "ops".parse().unwrap());
    assert_eq!(fixture.ask(asked).await.status, StatusCode::FORBIDDEN, "as a viewer");
}

#[tokio::test]
async fn weak_and_equal_tokens_and_equal_names_are_refused() {
    let fixture = Fixture::open().await;
    let builder = || {
        let chat = Arc::new(fixture.discord.account(fixture.moderator));
        Control::builder(fixture.dirigent.clone(), chat, fixture.identities.clone())
    };
    assert_eq!(builder().build().unwrap_err(), ControlBuildError::NoToken);
    assert_eq!(
        builder().operator_token("short").build().unwrap_err(),
        ControlBuildError::ShortToken
    );
    let same = builder().operator_token(OPERATOR).viewer_token(OPERATOR).build();
    assert_eq!(same.unwrap_err(), ControlBuildError::SameToken);
    let twice = builder().operator("anna", OPERATOR).operator("anna", VIEWER).build();
    assert_eq!(twice.unwrap_err(), ControlBuildError::SameName);
    let twice = builder().operator("operator", OPERATOR).operator_token(VIEWER).build();
    assert_eq!(twice.unwrap_err(), ControlBuildError::SameName);
    for path in ["dirigent", "/", "/a/", "/a b", "/<script>"] {
        let built = builder().operator_token(OPERATOR).path(path).build();
        assert_eq!(built.unwrap_err(), ControlBuildError::BadPath, "{path}");
    }
}

/// R157, PG8: whatever the guesses are brought as, and whatever headers come with them, they count for the address together. A cookie
/// of a token that was replaced is no guess.
#[tokio::test]
async fn guesses_as_bearer_and_at_the_form_count_together_and_for_their_address_only() {
    let by_header =
        |parts: &http::request::Parts| parts.headers.get("x-peer")?.to_str().ok()?.parse().ok();
    let fixture = Fixture::open_with(|builder| builder.address(by_header)).await;
    let from = |mut asked: Request<Body>, peer: &str| {
        asked.headers_mut().insert("x-peer", peer.parse().unwrap());
        asked.headers_mut().insert("x-forwarded-for", "203.0.113.9".parse().unwrap());
        fixture.ask(asked)
    };
    let cookie = |value: &str| {
        let mut asked = request(Method::GET, "/dirigent", "", Body::empty());
        asked.headers_mut().insert(header::COOKIE, value.parse().unwrap());
        asked
    };
    let signed = from(sign_in(OPERATOR), "192.0.2.3").await;
    let name = signed.header(header::SET_COOKIE).split('=').next().unwrap().to_owned();
    for _ in 0..5 {
        from(request(Method::GET, "/dirigent/api/channels", "guess", Body::empty()), "192.0.2.1")
            .await;
        for stale in [format!("{name}=o.99999999999999.AAAA"), format!("{name}=")] {
            let answer = from(cookie(&stale), "192.0.2.1").await;
            assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "the form, whatever was guessed");
        }
        from(sign_in("guess"), "192.0.2.1").await;
    }
    for token in [OPERATOR, VIEWER, "guess"] {
        let barred = from(sign_in(token), "192.0.2.1").await;
        assert_eq!(barred.status, StatusCode::TOO_MANY_REQUESTS);
        assert!(barred.headers.get(header::SET_COOKIE).is_none());
    }
    let bearer = request(Method::GET, "/dirigent/api/channels", OPERATOR, Body::empty());
    assert_eq!(from(bearer, "192.0.2.1").await.status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(from(sign_in(OPERATOR), "192.0.2.2").await.status, StatusCode::SEE_OTHER);
    let prometheus = || request(Method::GET, "/dirigent/metrics", VIEWER, Body::empty());
    for _ in 0..30 {
        let mut stale = cookie(&format!("{name}=x; {name}=y; other=z"));
        stale.headers_mut().append(header::COOKIE, format!("{name}=w").parse().unwrap());
        assert_eq!(from(stale, "192.0.2.3").await.status, StatusCode::UNAUTHORIZED);
    }
    assert_eq!(from(prometheus(), "192.0.2.3").await.status, StatusCode::OK);
    assert_eq!(from(sign_in(OPERATOR), "192.0.2.3").await.status, StatusCode::SEE_OTHER);
}

/// R157: every path that changes anything, by every kind of request that browsers of other sites can be made to send.
#[tokio::test]
async fn no_path_takes_a_change_from_another_site() {
    let fixture =
        Fixture::open_with(|builder| builder.recordings(|_: &str| Err("unread".to_owned()))).await;
    let channel = fixture.chat("den").await;
    let form = "application/x-www-form-urlencoded";
    let session = fixture.ask(sign_in(OPERATOR)).await;
    let session = session.header(header::SET_COOKIE).split(';').next().unwrap().to_owned();
    for (method, path, kind, body) in [
        (Method::POST, format!("/dirigent/channels/{channel}"), form, "order=stop"),
        (Method::POST, format!("/dirigent/channels/{channel}"), "text/plain", "order=stop"),
        (Method::POST, "/dirigent/registry".to_owned(), form, "do=remove&agent=poet"),
        (Method::POST, "/dirigent/registry".to_owned(), form, "do=scan"),
        (Method::POST, "/dirigent/sign-out".to_owned(), form, ""),
        (Method::POST, "/dirigent/api/replay".to_owned(), "text/plain", "x"),
        (
            Method::POST,
            format!("/dirigent/api/channels/{channel}/orders"),
            "text/plain",
            "{\"order\":\"stop\"}",
        ),
        (Method::DELETE, "/dirigent/api/identities/poet".to_owned(), form, ""),
    ] {
        for (name, value) in [
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "same-site"),
            ("origin", "https://evil.example"),
        ] {
            let mut asked = request(method.clone(), &path, "", Body::from(body));
            let headers = asked.headers_mut();
            headers.insert(header::COOKIE, session.parse().unwrap());
            headers.insert(header::CONTENT_TYPE, kind.parse().unwrap());
            headers.insert(name, value.parse().unwrap());
            let answer = fixture.ask(asked).await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{method} {path} {name}");
            assert!(answer.headers.get(header::SET_COOKIE).is_none());
        }
    }
    assert_eq!(fixture.dirigent.channel(channel).status().await.unwrap().unwrap().rest, None);
    let all = dirigent::IdentityStore::all(&fixture.identities).await.unwrap();
    assert_eq!(all.len(), 2);
}

/// A form that is sent again is an order that is given again: it changes nothing that was not asked for.
#[tokio::test]
async fn a_form_that_is_sent_twice_does_no_more_than_once() {
    let fixture = Fixture::open().await;
    let channel = fixture.chat("den").await;
    let path = format!("/dirigent/channels/{channel}");
    let send = async |form: &'static str| {
        let mut asked = request(Method::POST, &path, OPERATOR, Body::from(form));
        let kind = "application/x-www-form-urlencoded".parse().unwrap();
        asked.headers_mut().insert(header::CONTENT_TYPE, kind);
        fixture.ask(asked).await.status
    };
    for form in ["order=mute&agent=poet", "order=hold", "order=archive&sure=yes"] {
        assert_eq!(send(form).await, StatusCode::SEE_OTHER);
        let once = fixture.dirigent.channel(channel).status().await.unwrap();
        let twice = send(form).await;
        assert!(twice == StatusCode::SEE_OTHER || twice == StatusCode::CONFLICT, "{form}: {twice}");
        let status = fixture.dirigent.channel(channel).status().await.unwrap();
        let facts = |status: Option<dirigent::operate::Status>| {
            status.map(|status| (status.mode, status.turn_state, status.rest, status.list))
        };
        assert_eq!(facts(status), facts(once), "{form}");
    }
}

/// A viewer may have a recording answered, since nothing is kept of it; everything else stays refused.
#[tokio::test]
async fn a_viewer_may_replay_a_file_and_post_nothing_else() {
    let fixture = Fixture::open_with(|builder| {
        builder.recordings(|_: &str| Err("this is no recording".to_owned()))
    })
    .await;
    let mut asked = request(Method::POST, "/dirigent/api/replay", VIEWER, Body::from("?"));
    asked.headers_mut().insert(header::CONTENT_TYPE, "text/plain".parse().unwrap());
    let answer = fixture.ask(asked).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(answer.json()["detail"], "this is no recording");
    assert!(fixture.page("/dirigent", VIEWER).await.text.contains("href=\"/dirigent/replay\""));
    assert!(fixture.page("/dirigent/replay", VIEWER).await.text.contains("type=\"file\""));
    for path in [
        "/dirigent/api/replay/",
        "/dirigent/api//replay",
        "/dirigent/api/replay/../channels/1/orders",
        "/dirigent/registry",
    ] {
        let asked = request(Method::POST, path, VIEWER, Body::empty());
        assert_eq!(fixture.ask(asked).await.status, StatusCode::FORBIDDEN, "{path}");
    }
    for method in [Method::PUT, Method::DELETE, Method::PATCH] {
        let asked = request(method, "/dirigent/api/replay", VIEWER, Body::empty());
        assert_eq!(fixture.ask(asked).await.status, StatusCode::FORBIDDEN);
    }
    let nothing = request(Method::POST, "/dirigent/api/replay", "", Body::from("?"));
    assert_eq!(fixture.ask(nothing).await.status, StatusCode::UNAUTHORIZED);
}

/// The session that an answer gives, as a browser sends it along.
fn cookie_of(answer: &crate::fixture::Answer) -> String {
    answer.header(header::SET_COOKIE).split(';').next().unwrap().to_owned()
}

fn with_cookie(method: Method, path: &str, cookie: &str) -> Request<Body> {
    let mut asked = request(method, path, "", Body::empty());
    asked.headers_mut().insert(header::COOKIE, cookie.parse().unwrap());
    asked.headers_mut().insert(header::ACCEPT, "text/html".parse().unwrap());
    asked
}

/// PG8: a copy of the cookie opens nothing after its owner has signed out. Other sessions go on.
#[tokio::test]
async fn signing_out_ends_the_session() {
    let fixture = Fixture::open().await;
    let (ends, stays) =
        (fixture.ask(sign_in(OPERATOR)).await, fixture.ask(sign_in(OPERATOR)).await);
    let (ends, stays) = (cookie_of(&ends), cookie_of(&stays));
    assert_ne!(ends, stays);
    let status = async |cookie: &str| {
        fixture.ask(with_cookie(Method::GET, "/dirigent", cookie)).await.status
    };
    assert_eq!((status(&ends).await, status(&stays).await), (StatusCode::OK, StatusCode::OK));
    let out = fixture.ask(with_cookie(Method::POST, "/dirigent/sign-out", &ends)).await;
    assert!(out.header(header::SET_COOKIE).contains("Max-Age=0"));
    assert_eq!(status(&ends).await, StatusCode::UNAUTHORIZED);
    assert_eq!(status(&stays).await, StatusCode::OK);
}

/// PG8: browsers do not tell the ports of a machine apart, and send both cookies to both bots.
#[tokio::test]
async fn two_bots_on_a_machine_keep_their_own_sessions() {
    let one = Fixture::open().await;
    let other = Fixture::open_with(|builder| builder.operator_token("another-operator-1")).await;
    let first = cookie_of(&one.ask(sign_in(OPERATOR)).await);
    let second = cookie_of(&other.ask(sign_in("another-operator-1")).await);
    assert_ne!(first.split('=').next(), second.split('=').next());
    let both = format!("{first}; {second}");
    for fixture in [&one, &other] {
        let answer = fixture.ask(with_cookie(Method::GET, "/dirigent", &both)).await;
        assert_eq!(answer.status, StatusCode::OK);
    }
}

/// PG8: over http from elsewhere a browser would drop the session, and lead back to the form without a word.
#[tokio::test]
async fn over_http_from_elsewhere_the_form_says_that_it_needs_https() {
    let fixture = Fixture::open().await;
    let from = |origin: &str, host: &str| {
        let mut asked = sign_in(OPERATOR);
        asked.headers_mut().insert(header::HOST, host.parse().unwrap());
        asked.headers_mut().insert(header::ORIGIN, origin.parse().unwrap());
        if origin.starts_with("https") {
            // As a browser does; nginx passes its own name as the host by default.
            asked.headers_mut().insert("sec-fetch-site", "same-origin".parse().unwrap());
        }
        fixture.ask(asked)
    };
    let visit = async |host: &str, is_safe: bool| {
        let mut asked = request(Method::GET, "/dirigent", "", Body::empty());
        asked.headers_mut().insert(header::HOST, host.parse().unwrap());
        asked.headers_mut().insert(header::ACCEPT, "text/html".parse().unwrap());
        if is_safe {
            asked.headers_mut().insert("sec-fetch-site", "none".parse().unwrap());
        }
        let form = fixture.ask(asked).await;
        assert_eq!(form.status, StatusCode::UNAUTHORIZED);
        form.text.contains("needs https")
    };
    assert!(visit("bot.example:8130", false).await, "before the token is sent");
    assert!(!visit("bot.example", true).await && !visit("localhost:8130", false).await);
    let open = from("http://bot.example:8130", "bot.example:8130").await;
    assert_eq!(open.status, StatusCode::FORBIDDEN);
    assert!(
        open.text.contains("needs https") && open.text.contains("action=\"/dirigent/sign-in\"")
    );
    assert!(open.headers.get(header::SET_COOKIE).is_none());
    let proxied = from("https://bot.example", "127.0.0.1:8130").await;
    assert_eq!(proxied.status, StatusCode::SEE_OTHER);
    assert!(
        proxied.header(header::SET_COOKIE).ends_with("; Secure"),
        "whatever the proxy calls it"
    );
    let here = from("http://localhost:8130", "localhost:8130").await;
    assert_eq!(here.status, StatusCode::SEE_OTHER);
    assert!(!here.header(header::SET_COOKIE).contains("Secure"));
}

/// PG8, PG11: who follows a link and has to sign in first comes where the link leads, and nowhere else.
#[tokio::test]
async fn a_link_leads_to_its_page_after_signing_in() {
    let fixture = Fixture::open().await;
    let asked = fixture.page("/dirigent?show=needs&find=a%22b", "").await;
    assert!(
        asked.text.contains("name=\"to\" value=\"/dirigent?show=needs&#38;find=a%22b\""),
        "{}",
        asked.text
    );
    let go = async |to: &str| {
        let mut asked = sign_in(OPERATOR);
        let to: String = form_urlencoded::byte_serialize(to.as_bytes()).collect();
        *asked.body_mut() = Body::from(format!("token={OPERATOR}&to={to}"));
        fixture.ask(asked).await.header(header::LOCATION).to_owned()
    };
    let link = "/dirigent/channels/1?x=%2F";
    assert_eq!(go(link).await, link);
    let dots = "/dirigent/agents/a..b?find=../x";
    assert_eq!(go(dots).await, dots, "dots of a name lead nowhere else");
    for elsewhere in [
        "https://evil.example/dirigent",
        "//evil.example",
        "/dirigent.evil.example",
        "/elsewhere",
        "/dirigent/\\evil",
        "/dirigent/../x",
        "/dirigent/channels/..",
        "/dirigent/./x",
        "/dirigent/%2e%2E/x",
        "/dirigent/.%2e?x=1",
        "/dirigent/\r\nset-cookie: a=b",
        "",
    ] {
        assert_eq!(go(elsewhere).await, "/dirigent", "{elsewhere:?}");
    }
    let wrong = {
        let mut asked = sign_in("guess");
        *asked.body_mut() = Body::from("token=guess&to=%2Fdirigent%2Fregistry");
        fixture.ask(asked).await
    };
    assert!(wrong.text.contains("value=\"/dirigent/registry\""), "a wrong token loses no link");
}

/// PG11: a slash at the end is no other page.
#[tokio::test]
async fn an_address_with_a_slash_at_its_end_leads_to_the_page() {
    let fixture = Fixture::open().await;
    for (path, to) in [
        ("/dirigent/", "/dirigent"),
        ("/dirigent/?show=live", "/dirigent?show=live"),
        ("/dirigent/registry/", "/dirigent/registry"),
    ] {
        let answer = fixture.page(path, VIEWER).await;
        assert_eq!(answer.status, StatusCode::PERMANENT_REDIRECT, "{path}");
        assert_eq!(answer.header(header::LOCATION), to);
    }
    let inside = fixture.page("/dirigent/registry/", "").await;
    assert_eq!(inside.status, StatusCode::UNAUTHORIZED);
    let odd = fixture.page("/dirigent//evil.example/", VIEWER).await;
    assert!(odd.header(header::LOCATION).starts_with("/dirigent/"), "no other host");
    assert_eq!(fixture.page("/dirigent/nowhere", VIEWER).await.status, StatusCode::NOT_FOUND);
}

/// PG8: another program on the same host may set a cookie with any bytes, and a browser sends it along; and of several cookies with
/// the name of ours any one opens the page.
#[tokio::test]
async fn a_session_counts_beside_cookies_of_any_bytes_and_behind_stale_ones() {
    let fixture = Fixture::open().await;
    let own = cookie_of(&fixture.ask(sign_in(OPERATOR)).await);
    let name = own.split('=').next().unwrap();
    for text in [
        format!("lang=Zürich; {own}"),
        format!("{own}; lang=Zürich"),
        format!("{name}=stale; {own}"),
        format!("{name}=; {name}=Zürich; {own}"),
    ] {
        let mut asked = request(Method::GET, "/dirigent", "", Body::empty());
        let value = http::HeaderValue::from_bytes(text.as_bytes()).unwrap();
        asked.headers_mut().insert(header::COOKIE, value);
        assert_eq!(fixture.ask(asked).await.status, StatusCode::OK, "{text}");
    }
    let mut out = request(Method::POST, "/dirigent/sign-out", "", Body::empty());
    out.headers_mut().insert(header::COOKIE, format!("{name}=stale; {own}").parse().unwrap());
    fixture.ask(out).await;
    let after = fixture.ask(with_cookie(Method::GET, "/dirigent", &own)).await;
    assert_eq!(after.status, StatusCode::UNAUTHORIZED, "all of them are ended");
}

/// PG8: what a session opened does not outlast it: neither a sign-out nor its twelve hours. A token's stream stays.
#[tokio::test]
async fn a_live_stream_ends_with_its_session() {
    let clock = ManualClock::new();
    let time: Arc<dyn Clock> = Arc::new(clock.clone());
    let fixture = Fixture::open_with(|builder| builder.clock(time)).await;
    let channel = fixture.chat("den").await;
    let began = clock.now();
    let (ends, stays) =
        (fixture.ask(sign_in(OPERATOR)).await, fixture.ask(sign_in(OPERATOR)).await);
    let (ends, stays) = (cookie_of(&ends), cookie_of(&stays));
    let open = async |cookie: Option<&str>, path: &str| {
        let asked = match cookie {
            Some(cookie) => with_cookie(Method::GET, path, cookie),
            None => request(Method::GET, path, VIEWER, Body::empty()),
        };
        let mut stream = Stream::of(fixture.send(asked).await);
        stream.next().await.unwrap();
        stream
    };
    let own = format!("/dirigent/live/channels/{channel}");
    let mut ending = vec![open(Some(&ends), "/dirigent/live").await, open(Some(&ends), &own).await];
    let mut staying = vec![open(Some(&stays), &own).await, open(None, &own).await];
    // Time stands still: what ends, ends at once.
    fixture.ask(with_cookie(Method::POST, "/dirigent/sign-out", &ends)).await;
    for stream in &mut ending {
        assert!(stream.next().await.is_none());
    }
    let hears = async |stream: &mut Stream, so_far: &str| {
        fixture.dirigent.channel(channel).progress("research", so_far);
        let real = dirigent::SystemClock::new();
        let time_goes_by = async {
            loop {
                real.sleep_until(real.now() + Duration::from_millis(20)).await;
                clock.set(clock.now() + Duration::from_millis(200));
            }
        };
        tokio::select! {
            () = time_goes_by => {}
            _ = stream.until("agents", so_far) => {}
        }
    };
    for stream in &mut staying {
        hears(stream, "reads").await;
    }

    let over = began + Duration::from_secs(12 * 3_600);
    clock.set(began + Duration::from_secs(12 * 3_600 - 60));
    let (mut session, mut token) = (open(Some(&stays), &own).await, open(None, &own).await);
    fixture.dirigent.channel(channel).progress("research", "writes");
    clock.set(over + Duration::from_millis(1));
    assert!(session.next().await.is_none(), "not even what was written meanwhile is sent");
    hears(&mut token, "sleeps").await;
}
