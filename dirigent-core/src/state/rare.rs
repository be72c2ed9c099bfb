//! A state that takes one word while it has its default value, as it mostly does.

use alloc::boxed::Box;
use core::fmt;

/// The state of a topic that most channels never use, such as budgets or queued words.
///
/// Reading it does not allocate. It allocates when it is first changed, and frees that only in `release`, because a
/// channel in use must not allocate again in every turn. Two of them are equal if their values are, whether they have
/// allocated or not.
///
/// ```
/// use dirigent_core::snapshot::Rare;
/// let rare = Rare::from(7);
/// assert_eq!(rare.get(), Some(&7));
/// assert_eq!(Rare::from(0), Rare::default());
/// ```
pub struct Rare<T>(Option<Box<T>>);

impl<T: fmt::Debug + Default + PartialEq> fmt::Debug for Rare<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.get() {
            // A value that is its default again looks like one that was never changed.
            Some(value) if *value != T::default() => value.fmt(f),
            _ => f.write_str("-"),
        }
    }
}

impl<T: Clone> Clone for Rare<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }

    #[inline]
    fn clone_from(&mut self, from: &Self) {
        // Both are empty in most channels, and this runs for each topic with every commit.
        if self.0.is_some() || from.0.is_some() {
            self.0.clone_from(&from.0);
        }
    }
}

impl<T: Default + PartialEq> PartialEq for Rare<T> {
    fn eq(&self, other: &Self) -> bool {
        match (self.get(), other.get()) {
            (Some(ours), Some(theirs)) => ours == theirs,
            // One of them was changed, and changed back.
            (Some(kept), None) | (None, Some(kept)) => *kept == T::default(),
            (None, None) => true,
        }
    }
}

impl<T: Default + Eq> Eq for Rare<T> {}

impl<T> Default for Rare<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Rare<T> {
    /// Returns the state. It returns `None` if the state was never changed, or if it has its default value again and
    /// its memory was freed.
    pub fn get(&self) -> Option<&T> {
        self.0.as_deref()
    }

    /// Returns the state for a change, if it was ever changed before.
    pub(crate) fn existing(&mut self) -> Option<&mut T> {
        self.0.as_deref_mut()
    }
}

impl<T: Clone + Default + PartialEq> Rare<T> {
    /// Returns the state for a change.
    pub(crate) fn edit(&mut self) -> &mut T {
        self.0.get_or_insert_default()
    }

    /// Returns a copy of the state, or its default value if it was never changed.
    pub fn value(&self) -> T {
        self.get().cloned().unwrap_or_default()
    }

    /// Frees the memory if the state has its default value again.
    pub(crate) fn release(&mut self) {
        // Not with each change, because a channel in use would allocate again in every turn.
        if self.get().is_some_and(|state| *state == T::default()) {
            self.0 = None;
        }
    }
}

impl<T: Clone + Default + PartialEq> From<T> for Rare<T> {
    fn from(state: T) -> Self {
        let mut rare = Self(Some(Box::new(state)));
        rare.release();
        rare
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_one_word_until_it_is_changed_and_after_it_is_released() {
        let mut rare = Rare::<[u64; 8]>::default();
        assert_eq!(size_of_val(&rare), size_of::<usize>());
        assert_eq!((rare.get(), rare.value()), (None, [0; 8]));
        rare.edit()[3] = 1;
        rare.release();
        assert_eq!(rare.get(), Some(&[0, 0, 0, 1, 0, 0, 0, 0]), "it is in use");
        rare.edit()[3] = 0;
        assert_eq!(rare, Rare::default(), "what it keeps is no difference");
        assert!(rare.existing().is_some(), "what may be used again is kept");
        rare.release();
        assert_eq!(rare, Rare::default());
    }
}
