//! Answers made wrong.

use serde_json::Value;

use super::body::{bent_at, first_items};
use super::{Spoilt, Wrong};
use crate::document::Document;
use crate::exchange::{Answer, Exchange};
use crate::finding::Place;
use crate::landmark::landmarks;
use crate::operation::Operation;

pub(super) fn spoil(
    document: &Document,
    operation: &Operation,
    exchange: &Exchange,
) -> Vec<Spoilt<Exchange>> {
    let one = |wrong, status: u16, body: Vec<u8>, pointer: &str| {
        let sent = Exchange { request: exchange.request.clone(), answer: Answer { status, body } };
        Spoilt { wrong, sent, place: Place::Answer(pointer.to_owned()) }
    };
    let (status, body) = (exchange.answer.status, &exchange.answer.body);
    let mut spoilt = Vec::new();
    for other in [203, 302, 500] {
        if operation.answer(other).is_none() {
            spoilt.push(one(Wrong::Status, other, body.clone(), ""));
        }
    }
    let Some(Some(rule)) = operation.answer(status) else {
        spoilt.push(one(Wrong::AnswerBody, status, b"{}".to_vec(), ""));
        return spoilt;
    };
    let cut = body.split_last().map(|(_, rest)| rest.to_vec()).unwrap_or_default();
    for broken in [Vec::new(), cut, b"<html>".to_vec()] {
        spoilt.push(one(Wrong::AnswerBody, status, broken, ""));
    }
    let Ok(value) = serde_json::from_slice::<Value>(body) else {
        return spoilt;
    };
    let value = first_items(value);
    for landmark in landmarks(&document.root, &rule.schema, &value) {
        for (wrong, bad) in bent_at(&landmark, &value) {
            // An answer may hold more than the document knows.
            if wrong == Wrong::UnknownKey {
                continue;
            }
            let is_key = wrong == Wrong::MissingKey;
            let wrong = if is_key { Wrong::AnswerKey } else { Wrong::AnswerValue };
            spoilt.push(one(wrong, status, bad.to_string().into_bytes(), &landmark.pointer));
        }
    }
    spoilt
}
