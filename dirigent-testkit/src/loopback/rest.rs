//! Discord's REST API.

use http::{Request, Response};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};

use super::server::Cut;
use super::state::State;

/// Answers a request.
pub(super) async fn answer(
    state: &State,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Cut> {
    let _ = (state, request);
    Err(Cut)
}
