//! The reactions to a message.

use std::collections::BTreeSet;

use dirigent::UserId;

use super::emoji::Emoji;

/// The reactions to a message. Each emoji stands in the order of its first use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reactions {
    by_emoji: Vec<(Emoji, BTreeSet<UserId>)>,
}

impl Reactions {
    /// Adds an account's reaction. Returns true if it is new.
    pub fn add(&mut self, emoji: &Emoji, user: UserId) -> bool {
        if let Some((_, users)) = self.by_emoji.iter_mut().find(|(known, _)| known.is(emoji)) {
            return users.insert(user);
        }
        self.by_emoji.push((emoji.clone(), BTreeSet::from([user])));
        true
    }

    /// Removes an account's reaction. Returns true if it existed.
    pub fn remove(&mut self, emoji: &Emoji, user: UserId) -> bool {
        let found = self.by_emoji.iter_mut().find(|(known, _)| known.is(emoji));
        let removed = found.is_some_and(|(_, users)| users.remove(&user));
        self.by_emoji.retain(|(_, users)| !users.is_empty());
        removed
    }

    /// Removes all reactions with an emoji, or with `None` all reactions. Returns true if there
    /// were any.
    pub fn clear(&mut self, emoji: Option<&Emoji>) -> bool {
        let before = self.by_emoji.len();
        self.by_emoji.retain(|(known, _)| emoji.is_some_and(|emoji| !known.is(emoji)));
        self.by_emoji.len() < before
    }

    /// Returns the accounts that reacted with an emoji.
    pub fn users(&self, emoji: &Emoji) -> Option<&BTreeSet<UserId>> {
        self.iter().find(|(known, _)| known.is(emoji)).map(|(_, users)| users)
    }

    /// Returns each emoji with the accounts that reacted with it.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Emoji, &BTreeSet<UserId>)> {
        self.by_emoji.iter().map(|(emoji, users)| (emoji, users))
    }
}
