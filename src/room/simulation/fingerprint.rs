//! Whether two worlds are in the same state, whatever names their actions got on the way there.

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::world::World;

/// Counters that only ever rise, and mean nothing by themselves.
const COUNTERS: [&str; 6] =
    ["revision: ", "machine: ", "count: ", "written: ", "next_action: ", "Revision("];

/// A number for the state of a world at a moment in which the driver has nothing to do.
///
/// Two states with the same number go on alike: numbers of actions and of changes are replaced by their
/// order.
pub(super) fn fingerprint(world: &World, text: &mut String) -> u64 {
    text.clear();
    let World { now, room, chat, flights, plans, asking, books, store, .. } = world;
    let _ = write!(text, "{now:?}{room:?}{flights:?}{plans:?}{asking:?}{:?}", books.words);
    let _ = write!(text, "{:?}", store.record);
    for message in &chat.said {
        let _ = write!(text, "{:?}{:?}", message.id, message.author);
    }
    for message in &chat.events {
        let _ = write!(text, "{:?}", message.id);
    }
    let stamps = sorted_numbers(text, "Stamp(");
    let actions = sorted_numbers(text, "ActionId(");
    let mut hasher = DefaultHasher::new();
    let mut rest = text.as_str();
    while let Some(digit) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, after) = rest.split_at(digit);
        let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        let number: u64 = after[..end].parse().unwrap_or(u64::MAX);
        let known = if before.ends_with("Stamp(") {
            stamps.binary_search(&number).unwrap_or_default() as u64
        } else if before.ends_with("ActionId(") {
            actions.binary_search(&number).unwrap_or_default() as u64
        } else if COUNTERS.iter().any(|name| before.ends_with(name)) {
            0
        } else {
            number
        };
        before.hash(&mut hasher);
        known.hash(&mut hasher);
        rest = &after[end..];
    }
    rest.hash(&mut hasher);
    hasher.finish()
}

/// The numbers that follow this name, each once, in order.
fn sorted_numbers(text: &str, name: &str) -> Vec<u64> {
    let mut numbers: Vec<u64> =
        text.split(name).skip(1).filter_map(|rest| rest[..rest.find(')')?].parse().ok()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}
