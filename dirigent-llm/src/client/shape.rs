//! Recognises chunks that differ only in their words. Most chunks of a stream do, and reading only the words is cheap.

use std::borrow::Cow;

use crate::client::wire::{Completion, Field};

/// The JSON of the newest chunk without its words. Another chunk with the same JSON around its words says only those.
#[derive(Default)]
pub(crate) struct Shape {
    before: String,
    after: String,
}

/// The place of a chunk's words in its JSON, and the number of its answer.
pub(crate) struct Place {
    pub(crate) choice: u64,
    start: usize,
    end: usize,
}

impl Shape {
    /// Returns the words of a chunk that has this shape.
    pub(crate) fn words_of<'a>(&self, data: &'a str) -> Option<&'a str> {
        if self.before.is_empty() {
            return None;
        }
        let words = data.strip_prefix(&*self.before)?.strip_suffix(&*self.after)?;
        // Any other byte could end the text and say more.
        let is_plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
        words.bytes().all(is_plain).then_some(words)
    }

    /// Compares later chunks with this one.
    pub(crate) fn set(&mut self, data: &str, place: &Place) {
        let around = data.get(..place.start).zip(data.get(place.end..));
        let (before, after) = around.unwrap_or_default();
        self.before.clear();
        self.before.push_str(before);
        self.after.clear();
        self.after.push_str(after);
    }
}

impl Place {
    /// Returns the place of this chunk's words. It returns `None` unless the chunk has words without escapes, in one
    /// answer, and nothing that must not be repeated with the next chunk.
    pub(crate) fn of(completion: &Completion<'_>, data: &str) -> Option<Self> {
        let [choice] = completion.choices.0.as_slice() else {
            return None;
        };
        let (Some(delta), None) = (&choice.delta, &choice.message) else {
            return None;
        };
        let Some(Field::Text(Cow::Borrowed(words))) = delta.content else {
            return None;
        };
        // A finish counts once, and not again with the words that follow.
        let is_finish = choice.finish_reason.as_ref().and_then(Field::as_str).is_some();
        let has_calls = delta.tool_calls.is_some() || delta.function_call.is_some();
        if is_finish || has_calls || delta.has_beside() {
            return None;
        }
        let start = words.as_ptr().addr().checked_sub(data.as_ptr().addr())?;
        let end = start.checked_add(words.len())?;
        (data.get(start..end)? == words).then(|| Self { choice: choice.index(), start, end })
    }
}
