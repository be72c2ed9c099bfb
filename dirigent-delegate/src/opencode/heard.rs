//! Reads the model's answer from the events.

use std::collections::HashSet;

use super::wire::Event;

/// The most bytes of an answer that are stored.
const HEARD: usize = 1_024 * 1_024;

/// The answer so far. The person's own message also comes as events, and is ignored.
#[derive(Default)]
pub(super) struct Heard {
    /// The ids of the model's messages.
    answers: HashSet<String>,
    /// The texts of the parts by id. The part that began first comes first.
    parts: Vec<(String, String)>,
    len: usize,
}

impl Heard {
    /// Reads an event. Returns true if the model has said more.
    pub(super) fn hear(&mut self, event: &Event) -> bool {
        match &*event.kind {
            "message.updated" => {
                if let (Some("assistant"), Some(id)) =
                    (event.text("/info/role"), event.text("/info/id"))
                {
                    self.answers.insert(id.to_owned());
                }
                false
            }
            "message.part.updated" => self.hear_part(event).is_some(),
            "message.part.delta" => self.hear_delta(event).is_some(),
            _ => false,
        }
    }

    /// Reads a whole part, which comes at its beginning and at its end.
    fn hear_part(&mut self, event: &Event) -> Option<()> {
        let (id, text) = (event.text("/part/id")?, event.text("/part/text")?);
        let is_said = event.text("/part/type") == Some("text");
        if !is_said || !self.answers.contains(event.text("/part/messageID")?) {
            return None;
        }
        let known = self.parts.iter().position(|(part, _)| part == id);
        let at = known.unwrap_or_else(|| {
            self.parts.push((id.to_owned(), String::new()));
            self.parts.len() - 1
        });
        let (_, said) = self.parts.get_mut(at)?;
        let len = self.len - said.len() + text.len();
        if len > HEARD || said == text {
            return None;
        }
        text.clone_into(said);
        self.len = len;
        Some(())
    }

    /// Appends to a part that has begun. Reasoning comes in the same way, but its parts are unknown
    /// here.
    fn hear_delta(&mut self, event: &Event) -> Option<()> {
        let (id, more) = (event.text("/partID")?, event.text("/delta")?);
        if event.text("/field") != Some("text") || self.len + more.len() > HEARD {
            return None;
        }
        let (_, said) = self.parts.iter_mut().find(|(part, _)| part == id)?;
        said.push_str(more);
        self.len += more.len();
        Some(())
    }

    /// Returns what the model says at the moment, which is the part that it began last.
    pub(super) fn latest(&self) -> &str {
        self.parts.last().map_or("", |(_, said)| said)
    }

    /// Returns everything that the model has said.
    pub(super) fn said(&self) -> String {
        let texts = self.parts.iter().map(|(_, said)| said.trim());
        let texts: Vec<&str> = texts.filter(|said| !said.is_empty()).collect();
        texts.join("\n\n")
    }
}
