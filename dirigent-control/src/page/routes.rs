//! All routes, and the check in front of them.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Redirect, Response};
use http::Method;
use tower_http::csrf::CsrfLayer;
use tower_http::timeout::RequestBodyDeadlineLayer;

use crate::page::access::{admit, protect, wants_page};
use crate::page::problem::Problem;
use crate::page::shared::PageContext;
use crate::page::{api, live, pages, sign_in};

/// The largest body of a request that is not a recording, in bytes.
const BODY_MAX: usize = 64 * 1024;
/// The longest time until a whole body has arrived.
const BODY_TIME: Duration = Duration::from_secs(20);

/// Returns all routes behind the check.
pub(crate) fn guarded(shared: &Arc<PageContext>) -> Router {
    let (api, document) = api::routes();
    let document = api::served(document);
    let routes = Router::new()
        .merge(pages::routes())
        .merge(sign_in::routes())
        .merge(live::routes())
        .nest("/api", api.merge(document))
        .fallback(nowhere)
        .method_not_allowed_fallback(not_so);
    routes
        .layer(DefaultBodyLimit::max(BODY_MAX))
        .layer(RequestBodyDeadlineLayer::new(BODY_TIME))
        .layer(CsrfLayer::new().with_rejection_response(|_| {
            Problem::new(403, "cross-site", "the request comes from another site").into_response()
        }))
        .layer(from_fn_with_state(Arc::clone(shared), door))
        .with_state(Arc::clone(shared))
}

/// Redirects a path with a slash at its end to the path without it.
async fn nowhere(State(shared): State<Arc<PageContext>>, request: Request) -> Response {
    let uri = request.uri();
    let is_asked = matches!(*request.method(), Method::GET | Method::HEAD);
    match uri.path().strip_suffix('/').filter(|_| is_asked) {
        // A path that starts with our own path cannot lead to another host.
        Some(path) => {
            let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
            Redirect::permanent(&format!("{}{path}{query}", shared.base)).into_response()
        }
        None => Problem::not_found("page").into_response(),
    }
}

async fn not_so() -> Problem {
    Problem::new(405, "method-not-allowed", "this cannot be asked for in that way")
}

/// Judges a request, and lets it in with its role.
async fn door(State(shared): State<Arc<PageContext>>, request: Request, next: Next) -> Response {
    let wants_page = wants_page(request.uri().path(), request.headers());
    let mut response = admit(&shared, request, next).await.unwrap_or_else(|refused| refused);
    if wants_page && response.extensions().get::<Problem>().is_some() {
        response = pages::problem_page(&shared, response);
    }
    protect(response.headers_mut());
    response
}
