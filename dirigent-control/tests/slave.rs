//! A process that only asks has no page.

use axum::body::Body;
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt;
use tower::ServiceExt;

/// R179: every path answers 404, and says where the page is.
#[tokio::test]
async fn a_slave_answers_404_with_a_hint_whatever_is_asked() {
    let router = dirigent_control::on_slave("https://bot.example.org/dirigent");
    for (method, path) in [
        (Method::GET, "/"),
        (Method::GET, "/dirigent/channels/1"),
        (Method::POST, "/dirigent/api/channels/1/stop"),
        (Method::GET, "/dirigent/metrics"),
    ] {
        let request = Request::builder().method(method).uri(path).body(Body::empty()).unwrap();
        let answer = router.clone().oneshot(request).await.unwrap();
        assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{path}");
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        let text = String::from_utf8(body.to_vec()).unwrap();
        assert!(text.contains("https://bot.example.org/dirigent"), "{path}: {text}");
    }
}
