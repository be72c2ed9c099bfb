//! Sign-in with a token, and sign-out.

use std::sync::{Arc, PoisonError};

use askama::Template;
use axum::Router;
use axum::extract::{Form, Request, State};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::post;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde::Deserialize;

use crate::page::access::{refuse, sessions};
use crate::page::assets::{sign_in_style, source_of};
use crate::page::auth::{Credential, EndedSession, Judgement, SESSION_SECONDS};
use crate::page::pages::drawn;
use crate::page::shared::PageContext;
use crate::page::visitor::Way;

pub(crate) fn routes() -> Router<Arc<PageContext>> {
    Router::new().route("/sign-in", post(sign_in)).route("/sign-out", post(sign_out))
}

/// The form for signing in.
#[derive(Template)]
#[template(path = "sign-in.html")]
struct SignInPage<'a> {
    base: &'a str,
    style: &'static str,
    said: Option<&'a str>,
    /// The address to which the visitor goes after the sign-in.
    to: &'a str,
}

pub(crate) struct SignIn {
    pub(crate) said: Option<String>,
    /// The address that the visitor asked for. Empty for the overview.
    pub(crate) to: String,
}

#[derive(Deserialize)]
struct Token {
    token: String,
    #[serde(default)]
    to: String,
}

/// The refusal of a sign-in over a connection that others can read.
pub(crate) const NEEDS_TLS: &str = "This page needs https: over http a browser keeps no session, since others could read it. Put a proxy \
                         with TLS in front, or open the page on its own machine, for example through ssh -L.";

async fn sign_in(State(shared): State<Arc<PageContext>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let address = (shared.address)(&parts);
    let way = Way::of(&parts.headers);
    let request = Request::from_parts(parts, body);
    let form = axum::RequestExt::extract::<Form<Token>, _>(request).await;
    let Ok(Form(Token { token, to })) = form else {
        let (said, to) = (Some("Give a token.".to_owned()), String::new());
        return sign_in_page(&shared, StatusCode::BAD_REQUEST, &SignIn { said, to });
    };
    if way == Way::Open {
        let said = Some(NEEDS_TLS.to_owned());
        return sign_in_page(&shared, StatusCode::FORBIDDEN, &SignIn { said, to });
    }
    let signed = {
        let mut auth = shared.auth.lock().unwrap_or_else(PoisonError::into_inner);
        auth.sign_in(shared.clock.now(), address, token.trim())
    };
    match signed {
        Ok(session) => {
            let to = own_place(&shared, &to).unwrap_or(&shared.base);
            let mut response = Redirect::to(to).into_response();
            set_cookie(&mut response, &shared, &session, way);
            response
        }
        Err(Judgement::Unknown) => {
            let said = Some("This token is not known.".to_owned());
            sign_in_page(&shared, StatusCode::UNAUTHORIZED, &SignIn { said, to })
        }
        Err(judged) => refuse(&shared, judged, Some(&to), way),
    }
}

/// Returns the address if it is one of this page, because a form must not lead to another site.
fn own_place<'a>(shared: &PageContext, to: &'a str) -> Option<&'a str> {
    let rest = to.strip_prefix(&*shared.base)?;
    let is_plain =
        to.len() <= 2_000 && to.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let path = rest.split(['?', '#']).next().unwrap_or_default();
    let stays = !path.split('/').any(leads_away);
    (is_plain && stays && (rest.is_empty() || rest.starts_with(['/', '?']))).then_some(to)
}

/// Returns true if a browser treats this part of a path as a step to another folder. Such parts are `.` and `..`, also
/// in the form `%2e`.
fn leads_away(part: &str) -> bool {
    matches!(&*part.to_ascii_lowercase().replace("%2e", "."), "." | "..")
}

async fn sign_out(State(shared): State<Arc<PageContext>>, headers: HeaderMap) -> Response {
    let ended: Vec<_> = {
        let auth = shared.auth.lock().unwrap_or_else(PoisonError::into_inner);
        let own = sessions(&shared, &headers)
            .filter_map(|session| auth.session_of(Credential::Session(session)));
        own.map(EndedSession).collect()
    };
    let silent = shared.sign_out(ended).await;
    let mut response = if silent.is_empty() {
        Redirect::to(&shared.base).into_response()
    } else {
        let (who, does, takes, them) = match &*silent {
            [one] => (one.clone(), "does", "takes", "it"),
            several => (several.join(", "), "do", "take", "them"),
        };
        let said = format!(
            "You are signed out here, and {who} {does} not answer. Until this process can reach {them} again, \
             {who} still {takes} a copy of your session's cookie."
        );
        let sign_in = SignIn { said: Some(said), to: String::new() };
        sign_in_page(&shared, StatusCode::OK, &sign_in)
    };
    set_cookie(&mut response, &shared, "", Way::of(&headers));
    response
}

/// Sets the cookie of a session. An empty session ends the present one.
fn set_cookie(response: &mut Response, shared: &PageContext, session: &str, way: Way) {
    let age = if session.is_empty() { 0 } else { SESSION_SECONDS };
    let secure = if way == Way::Here { "" } else { "; Secure" };
    let (name, path) = (&shared.cookie, &shared.base);
    let cookie =
        format!("{name}={session}; Path={path}; Max-Age={age}; HttpOnly; SameSite=Strict{secure}");
    if let Ok(value) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, value);
    }
}

/// Draws the form for signing in. It contains its style, because every other path needs a token.
pub(crate) fn sign_in_page(shared: &PageContext, status: StatusCode, sign_in: &SignIn) -> Response {
    let style = sign_in_style();
    let said = sign_in.said.as_deref();
    let to = own_place(shared, &sign_in.to).unwrap_or_default();
    let html = drawn(&SignInPage { base: &shared.base, style, said, to }).unwrap_or_default();
    let policy = format!(
        "default-src 'none'; style-src {}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        source_of(style)
    );
    let mut response = (status, Html(html)).into_response();
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}
