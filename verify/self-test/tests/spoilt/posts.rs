//! Discords whose posts and whose history are not as assumed.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dirigent_loopback::RestRoute as E;
use serde_json::{Value, json};

use super::{Spoilt, answers, earlier, events, nonce, posts, requests};

pub(super) const SPOILT: &[Spoilt] = &[
    ("a nonce is not enforced", "post 1", |scene| {
        posts(scene, |body| body["enforce_nonce"] = false.into());
    }),
    ("a second post's answer names another message", "post 1", |scene| {
        let count = Mutex::new(0);
        let first = scene.first;
        answers(scene, E::CreateMessage, move |answer| {
            let is_first = answer.account == Some(first);
            if is_first && answer.body["nonce"] == nonce(&answer.body, "00") {
                let mut count = count.lock().unwrap();
                *count += 1;
                if *count == 2 {
                    earlier(&mut answer.body, 1);
                }
            }
        });
    }),
    ("an equal nonce of another account gives the first one's message", "post 3", |scene| {
        let first = Mutex::new(None);
        let second = scene.second;
        answers(scene, E::CreateMessage, move |answer| {
            let id = first.lock().unwrap().get_or_insert(answer.body["id"].clone()).clone();
            if answer.account == Some(second) && answer.body["nonce"] == nonce(&answer.body, "00") {
                answer.body["id"] = id;
            }
        });
    }),
    ("the author's event has no nonce", "post 5", |scene| {
        let first = scene.first;
        events(scene, "MESSAGE_CREATE", move |event| {
            if event.account == first {
                event.data.as_object_mut().unwrap().remove("nonce");
            }
            true
        });
    }),
    ("another account's event has the nonce", "post 5", |scene| {
        let second = scene.second;
        events(scene, "MESSAGE_CREATE", move |event| {
            if event.account == second {
                event.data["nonce"] = "x".into();
            }
            true
        });
    }),
    ("an emoji counts as two characters", "post 6", |scene| {
        posts(scene, |body| {
            let text = body["content"].as_str().unwrap();
            if text.encode_utf16().count() > 2_000 {
                body["content"] = "x".repeat(2_001).into();
            }
        });
    }),
    ("whom a post may ping is not looked at", "post 7", |scene| {
        posts(scene, |body| drop(body.as_object_mut().unwrap().remove("allowed_mentions")));
    }),
    ("an answer to a deleted message is refused", "post 8", |scene| {
        posts(scene, |body| {
            if let Some(reference) = body.get_mut("message_reference") {
                reference["fail_if_not_exists"] = true.into();
            }
        });
    }),
    ("an answer to a deleted message names it", "post 8", |scene| {
        answers(scene, E::CreateMessage, |answer| {
            if answer.body["content"].as_str().unwrap_or_default().ends_with("an answer") {
                answer.body["message_reference"] = json!({ "message_id": "1" });
            }
        });
    }),
    ("a second deletion succeeds", "post 9", |scene| {
        answers(scene, E::DeleteMessage, |answer| {
            if answer.status == 404 {
                (answer.status, answer.body) = (204, Value::Null);
            }
        });
    }),
    ("`after` gives the newest messages", "history 1", |scene| {
        requests(scene, E::ListMessages, |request| {
            if request.query.get("limit").is_some_and(|limit| limit == "2") {
                request.query.remove("after");
            }
        });
    }),
    ("`after` gives the oldest message first", "history 1", |scene| {
        answers(scene, E::ListMessages, |answer| {
            if let Some(page) = answer.body.as_array_mut().filter(|page| page.len() == 2) {
                page.reverse();
            }
        });
    }),
    ("an id is lower than the one before", "history 2", |scene| {
        answers(scene, E::CreateMessage, |answer| {
            if answer.body["content"].as_str().unwrap_or_default().ends_with("post 6") {
                earlier(&mut answer.body, 3_000);
            }
        });
    }),
    ("an id has another time than its message", "history 2", |scene| {
        answers(scene, E::CreateMessage, |answer| {
            if answer.body["content"].as_str().unwrap_or_default().ends_with("post 5") {
                answer.body["timestamp"] = "2025-06-15T15:06:40.001000+00:00".into();
            }
        });
    }),
    ("the clocks are a minute apart", "history 3", |scene| {
        scene.ahead = Duration::from_secs(60);
    }),
    ("the history lags behind", "history 5", |scene| {
        let is_first = AtomicBool::new(true);
        answers(scene, E::ListMessages, move |answer| {
            if is_first.swap(false, Ordering::Relaxed) {
                answer.body = json!([]);
            }
        });
    }),
];
