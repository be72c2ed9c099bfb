//! The answer at the page's address in a process that only asks a relay.

use axum::Router;
use axum::response::{IntoResponse, Response};

use crate::page::problem::Problem;

/// Returns a router for a process without state, which is a slave of a relay. Every path answers with the status 404
/// and says where the page is. Nest it instead of [`Control`](crate::Control)'s router.
///
/// ```
/// let router = dirigent_control::on_slave("https://bot.example.org/dirigent");
/// # let _: axum::Router = router;
/// ```
pub fn on_slave(page_at: impl Into<String>) -> Router {
    let hint =
        format!("this process is a slave and has no page; the master's is at {}", page_at.into());
    Router::new().fallback(async move || not_here(&hint))
}

fn not_here(hint: &str) -> Response {
    Problem::new(404, "not-master", hint).into_response()
}
