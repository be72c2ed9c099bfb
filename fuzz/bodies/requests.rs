//! What the fuzzer does with what another process writes. A total function that panics only when a promise is broken; the tests replay the
//! corpus through it.

use dirigent::ports::{ApiError, ChannelAnswer, ChannelRequest, GatewayEvent, Post};
use dirigent::{ChatMessage, Reply};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Bytes of another process: refused, or a value that is written and read again as the same one.
pub(crate) fn requests(bytes: &[u8]) {
    same::<ChannelRequest>(bytes);
    same::<ChannelAnswer>(bytes);
    same::<Reply>(bytes);
    if let Some(post) = same::<Post>(bytes) {
        checked_nonce(post.nonce.as_str());
    }
    if let Some(event) = same::<GatewayEvent>(bytes) {
        assert_ne!(event.channel().get(), 0);
        if let GatewayEvent::MessageCreated(message) | GatewayEvent::MessageUpdated(message) = event
        {
            checked(&message);
        }
    }
    if let Some(message) = same::<ChatMessage>(bytes) {
        checked(&message);
    }
    if let Ok(error) = serde_json::from_slice::<ApiError>(bytes) {
        let written = serde_json::to_vec(&error).expect("what was read can be written");
        let again: ApiError = serde_json::from_slice(&written).expect("it can be read again");
        assert_eq!(serde_json::to_vec(&again).ok(), Some(written), "writing twice gives the same");
    }
}

/// A message has what its constructors check.
fn checked(message: &ChatMessage) {
    assert_ne!(message.channel.get(), 0, "no id is zero");
    assert_ne!(message.author.get(), 0, "no id is zero");
    if let Some(nonce) = &message.nonce {
        checked_nonce(nonce.as_str());
    }
}

fn checked_nonce(nonce: &str) {
    assert!((1..=25).contains(&nonce.len()), "{nonce}");
    assert!(
        nonce.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase()),
        "{nonce}"
    );
}

fn same<T: Serialize + DeserializeOwned + PartialEq>(bytes: &[u8]) -> Option<T> {
    let value: T = serde_json::from_slice(bytes).ok()?;
    let written = serde_json::to_vec(&value).expect("what was read can be written");
    let again: T = serde_json::from_slice(&written).expect("what was written can be read");
    assert!(again == value, "it changed its meaning when it was written again");
    assert_eq!(serde_json::to_vec(&again).ok(), Some(written), "writing twice gives the same");
    Some(value)
}
