//! Reads the contents of requests. Refusals are problems.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Path, Query};
use http::StatusCode;

use crate::page::problem::Problem;
use crate::page::shared::PageContext;

/// Extractors that refuse with a [`Problem`].
macro_rules! extractor {
    ($(#[$doc:meta])* $name:ident($inner:ident, $rejection:ident): $trait:ident($from:ty) :: $call:ident, $kind:literal) => {
        $(#[$doc])*
        pub(crate) struct $name<T>(pub(crate) T);

        impl<T> $trait<Arc<PageContext>> for $name<T>
        where
            $inner<T>: $trait<Arc<PageContext>, Rejection = $rejection>,
        {
            type Rejection = Problem;

            async fn $call(from: $from, shared: &Arc<PageContext>) -> Result<Self, Problem> {
                match $inner::<T>::$call(from, shared).await {
                    Ok($inner(value)) => Ok(Self(value)),
                    Err(error) => Err(refused(error.status(), $kind, &error.body_text())),
                }
            }
        }
    };
}

extractor! {
    /// A body.
    Sent(Json, JsonRejection): FromRequest(axum::extract::Request)::from_request, "body"
}
extractor! {
    /// A part of the path.
    Named(Path, PathRejection): FromRequestParts(&mut http::request::Parts)::from_request_parts, "path"
}
extractor! {
    /// The query of an address.
    Asked(Query, QueryRejection): FromRequestParts(&mut http::request::Parts)::from_request_parts, "query"
}

/// Returns the problem for a request that cannot be read. It does not repeat the content of the request.
pub(crate) fn refused(status: StatusCode, what: &str, why: &str) -> Problem {
    let why = why.lines().next().unwrap_or_default().to_owned();
    Problem::new(status.as_u16(), &format!("bad-{what}"), why)
}
