//! The stylesheet, the scripts and the Grafana board. They are compiled into the program.

use std::sync::OnceLock;

use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header;
use sha2::{Digest, Sha256};

use crate::page::problem::Problem;

/// The page's own stylesheet. It follows the stylesheet of scores.
const OWN: &str = include_str!("../../assets/control.css");
const SCRIPT: &str = include_str!("../../assets/control.js");
const ICON: &str = include_str!("../../assets/icon.svg");
const BOARD: &str = include_str!("../../grafana/dirigent.json");

/// Returns the name of an inline text for a content security policy.
pub(crate) fn source_of(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}

pub(crate) async fn asset(Path(name): Path<String>) -> Response {
    let (kind, text) = match name.as_str() {
        "control.css" => {
            let all = [crate::drawing::TOKENS, crate::drawing::STYLE, OWN].concat();
            ("text/css; charset=utf-8", all)
        }
        "control.js" => ("text/javascript; charset=utf-8", SCRIPT.to_owned()),
        "replay.js" => ("text/javascript; charset=utf-8", crate::drawing::SCRIPT.to_owned()),
        "icon.svg" => ("image/svg+xml", ICON.to_owned()),
        "grafana.json" => ("application/json", BOARD.to_owned()),
        _ => return Problem::not_found("asset").into_response(),
    };
    // A day would be longer than the time to the next update, and another request costs little.
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "private, max-age=60")], text)
        .into_response()
}

/// The style of the sign-in form. It is inside the page, because every other path asks for a token.
pub(crate) fn sign_in_style() -> &'static str {
    static STYLE: OnceLock<String> = OnceLock::new();
    STYLE
        .get_or_init(|| [crate::drawing::TOKENS, include_str!("../../assets/sign-in.css")].concat())
}
