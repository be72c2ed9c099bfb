//! What the chunks of a stream have in common: mostly only their words differ, and reading those alone costs little.

use std::borrow::Cow;

use crate::client::wire::{Completion, Field};

/// The JSON of the newest chunk, without its words. A chunk with the same JSON around other words says nothing but these.
#[derive(Default)]
pub(crate) struct Shape {
    before: String,
    after: String,
}

/// Where the words of a chunk stand in its JSON, and in which of several answers.
pub(crate) struct Place {
    pub(crate) choice: u64,
    start: usize,
    end: usize,
}

impl Shape {
    /// The words of a chunk of this shape.
    pub(crate) fn words_of<'a>(&self, data: &'a str) -> Option<&'a str> {
        if self.before.is_empty() {
            return None;
        }
        let words = data.strip_prefix(&*self.before)?.strip_suffix(&*self.after)?;
        // Anything else could end the text, and say more.
        let is_plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
        words.bytes().all(is_plain).then_some(words)
    }

    /// From now on chunks are compared with this one.
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
    /// Where the words of this chunk stand, if it has words without escapes in one answer, and does nothing that must not be
    /// done again with the next.
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
        // A finish counts where it stands, and not with the words after it.
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
