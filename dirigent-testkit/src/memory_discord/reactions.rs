//! What a message was reacted to with, and by whom.

use std::collections::BTreeSet;

use dirigent::UserId;

use super::emoji::Emoji;

/// The reactions to a message, in the order in which each emoji was first used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reactions {
    by_emoji: Vec<(Emoji, BTreeSet<UserId>)>,
}

impl Reactions {
    /// Adds an account's reaction; says whether it was not there.
    pub fn add(&mut self, emoji: &Emoji, user: UserId) -> bool {
        if let Some((_, users)) = self.by_emoji.iter_mut().find(|(known, _)| known.is(emoji)) {
            return users.insert(user);
        }
        self.by_emoji.push((emoji.clone(), BTreeSet::from([user])));
        true
    }

    /// Takes an account's reaction away; says whether it was there.
    pub fn remove(&mut self, emoji: &Emoji, user: UserId) -> bool {
        let found = self.by_emoji.iter_mut().find(|(known, _)| known.is(emoji));
        let removed = found.is_some_and(|(_, users)| users.remove(&user));
        self.by_emoji.retain(|(_, users)| !users.is_empty());
        removed
    }

    /// Takes away all reactions with an emoji, or with `None` all; says whether there were any.
    pub fn clear(&mut self, emoji: Option<&Emoji>) -> bool {
        let before = self.by_emoji.len();
        self.by_emoji.retain(|(known, _)| emoji.is_some_and(|emoji| !known.is(emoji)));
        self.by_emoji.len() < before
    }

    /// Who reacted with an emoji.
    pub fn users(&self, emoji: &Emoji) -> Option<&BTreeSet<UserId>> {
        self.iter().find(|(known, _)| known.is(emoji)).map(|(_, users)| users)
    }

    /// Each emoji with those who reacted with it.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Emoji, &BTreeSet<UserId>)> {
        self.by_emoji.iter().map(|(emoji, users)| (emoji, users))
    }
}
